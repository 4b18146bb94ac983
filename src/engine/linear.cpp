#include "engine/linear.h"

#include <algorithm>

#include "base/check.h"
#include "engine/bfloat16.h"

namespace hone {
namespace {

// Runs one product panel by panel: `panel(p)` gives the arguments of panel p without its output,
// which is the columns [16 p, 16 p + 16) of out [rows][columns]. A last panel that is not full goes
// through a buffer. Where the cuts between panels lie does not depend on the number of threads.
template <typename PanelOf>
void RunPanels(int64_t rows, int64_t columns, float* out, bool accumulate,
               void (*kernel)(const PanelArguments&), ThreadPool* pool, PanelOf panel_of) {
  const int64_t panels = (columns + kLanes - 1) / kLanes;
  pool->ParallelFor(static_cast<size_t>(panels), 1, [&](size_t begin, size_t end) {
    const FloatMode mode;
    for (size_t panel = begin; panel < end; ++panel) {
      const auto first = static_cast<int64_t>(panel) * kLanes;
      PanelArguments arguments = panel_of(static_cast<int64_t>(panel));
      arguments.rows = rows;
      arguments.accumulate = accumulate;
      arguments.out = out + first;
      arguments.out_row = columns;
      const int64_t wide = std::min<int64_t>(kLanes, columns - first);
      if (wide == kLanes) {
        kernel(arguments);
        continue;
      }
      std::vector<float> buffer(static_cast<size_t>(rows) * kLanes, 0.0f);
      arguments.out = buffer.data();
      arguments.out_row = kLanes;
      for (int64_t r = 0; accumulate && r < rows; ++r) {
        std::copy_n(out + r * columns + first, wide, buffer.data() + r * kLanes);
      }
      kernel(arguments);
      for (int64_t r = 0; r < rows; ++r) {
        std::copy_n(buffer.data() + r * kLanes, wide, out + r * columns + first);
      }
    }
  });
}

}  // namespace

PackedLinear::PackedLinear(std::span<const float> weight, int64_t outputs, int64_t inputs,
                           Precision precision)
    : outputs_(outputs), inputs_(inputs), precision_(precision) {
  CHECK(static_cast<int64_t>(weight.size()) == outputs * inputs);
  rows_ = PaddedBuffer(outputs * inputs);
  std::copy(weight.begin(), weight.end(), rows_.begin());
  const int64_t panels = (outputs + kLanes - 1) / kLanes;
  if (precision == Precision::kF32) {
    panels_.assign(static_cast<size_t>(panels * inputs * kLanes), 0.0f);
    for (int64_t n = 0; n < outputs; ++n) {
      float* panel = panels_.data() + n / kLanes * inputs * kLanes + n % kLanes;
      for (int64_t k = 0; k < inputs; ++k) panel[k * kLanes] = weight[n * inputs + k];
    }
    return;
  }
  const int64_t pairs = (inputs + 1) / 2;
  pair_panels_.assign(static_cast<size_t>(panels * pairs * kLanes), 0);
  for (int64_t n = 0; n < outputs; ++n) {
    uint32_t* panel = pair_panels_.data() + n / kLanes * pairs * kLanes + n % kLanes;
    for (int64_t k = 0; k < inputs; ++k) {
      const Bf16 bits = Bf16OfFloat(weight[n * inputs + k]);
      panel[k / 2 * kLanes] |= static_cast<uint32_t>(bits) << (k % 2 == 0 ? 0 : 16);
      rows_[n * inputs + k] = FloatOfBf16(bits);
    }
  }
}

void PackedLinear::Forward(const float* x, int64_t rows, float* y, const PanelKernels& kernels,
                           ThreadPool* pool) const {
  const bool bf16 = precision_ == Precision::kBf16;
  const int64_t pairs = (inputs_ + 1) / 2;
  RunPanels(rows, outputs_, y, false, bf16 ? kernels.bf16 : kernels.f32, pool, [&](int64_t panel) {
    const void* b = bf16 ? static_cast<const void*>(pair_panels_.data() + panel * pairs * kLanes)
                         : panels_.data() + panel * inputs_ * kLanes;
    return PanelArguments{
        .a = x, .a_row = inputs_, .a_step = 1, .b = b, .b_row = kLanes, .k = inputs_};
  });
}

void PackedLinear::BackwardInput(const float* dy, int64_t rows, float* dx,
                                 const PanelKernels& kernels, ThreadPool* pool) const {
  RunPanels(rows, inputs_, dx, true, kernels.f32, pool, [&](int64_t panel) {
    return PanelArguments{.a = dy,
                          .a_row = outputs_,
                          .a_step = 1,
                          .b = rows_.data() + panel * kLanes,
                          .b_row = inputs_,
                          .k = outputs_};
  });
}

void AddWeightGradient(const float* dy, const float* x, int64_t rows, int64_t outputs,
                       int64_t inputs, float* dw, const PanelKernels& kernels, ThreadPool* pool) {
  RunPanels(outputs, inputs, dw, true, kernels.f32, pool, [&](int64_t panel) {
    return PanelArguments{.a = dy,
                          .a_row = 1,
                          .a_step = outputs,
                          .b = x + panel * kLanes,
                          .b_row = inputs,
                          .k = rows};
  });
}

}  // namespace hone
