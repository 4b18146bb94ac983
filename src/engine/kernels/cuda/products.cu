// Products of matrices: cuBLASLt's and our own where a row's bits do not depend on the number of
// rows, which is checked before one is used; a plain kernel for float32 and where there is no such
// way.

#include <algorithm>
#include <cstdio>
#include <mutex>
#include <utility>

#include "engine/kernels/cuda/cublas_lt.h"
#include "engine/kernels/cuda/numbers.cuh"
#include "engine/kernels/cuda/product_trial.h"

namespace hone::cuda {
namespace {

constexpr int64_t kMostRows = 8192;  // of a row class

// A product as the plain kernel takes it: strides are of (row, k) of a and (column, k) of b.
template <typename In, typename Out>
struct PlainView {
  int64_t m, n, k;
  const In* a;
  int64_t a_row, a_step;
  const In* b;
  int64_t b_column, b_step;
  const Out* addend;  // null: none
  Out* out;
  int64_t out_row;
  float scale;
};

// The rows from `first` on.
template <typename In, typename Out>
PlainView<In, Out> PlainRows(const DeviceProduct& p, int64_t first, int64_t rows) {
  using Form = DeviceProduct::Form;
  PlainView<In, Out> view;
  view.m = rows;
  view.n = p.n;
  view.k = p.k;
  view.a_row = p.form == Form::kWeight ? 1 : p.a_row;
  view.a_step = p.form == Form::kWeight ? p.a_row : 1;
  view.a = static_cast<const In*>(p.a) + first * view.a_row;
  view.b = static_cast<const In*>(p.b);
  view.b_column = p.form == Form::kForward ? p.b_row : 1;
  view.b_step = p.form == Form::kForward ? 1 : p.b_row;
  view.addend = p.addend ? static_cast<const Out*>(p.addend) + first * p.out_row : nullptr;
  view.out = static_cast<Out*>(p.out) + first * p.out_row;
  view.out_row = p.out_row;
  view.scale = p.scale;
  return view;
}

// out [m][n] = scale * a b (+ addend), one chain of fused multiply-adds in the order of k for each
// output.
template <typename In, typename Out>
__global__ void PlainProduct(const PlainView<In, Out> p) {
  constexpr int kTile = 16;
  __shared__ float left[kTile][kTile + 1], right[kTile][kTile + 1];
  const int64_t row = int64_t{blockIdx.y} * kTile + threadIdx.y;
  const int64_t column = int64_t{blockIdx.x} * kTile + threadIdx.x;
  const int64_t loaded = int64_t{blockIdx.x} * kTile + threadIdx.y;
  float sum = 0;
  for (int64_t at = 0; at < p.k; at += kTile) {
    const int64_t step = at + threadIdx.x;
    left[threadIdx.y][threadIdx.x] =
        row < p.m && step < p.k ? ToFloat(p.a[row * p.a_row + step * p.a_step]) : 0.0f;
    right[threadIdx.y][threadIdx.x] =
        loaded < p.n && step < p.k ? ToFloat(p.b[loaded * p.b_column + step * p.b_step]) : 0.0f;
    __syncthreads();
    for (int i = 0; i < kTile; ++i) {
      sum = fmaf(left[threadIdx.y][i], right[threadIdx.x][i], sum);
    }
    __syncthreads();
  }
  if (row >= p.m || column >= p.n) return;
  float value = p.scale * sum;
  if (p.addend != nullptr) value += ToFloat(p.addend[row * p.out_row + column]);
  p.out[row * p.out_row + column] = FromFloat<Out>(value);
}

}  // namespace

void PlainProductOf(DeviceContext* context, const DeviceProduct& p) {
  constexpr int64_t kMostBlocks = 65535;  // of the second dimension of a grid
  for (int64_t first = 0; first < p.m; first += kMostBlocks * 16) {
    const int64_t rows = std::min(p.m - first, kMostBlocks * 16);
    const dim3 grid(static_cast<unsigned>((p.n + 15) / 16),
                    static_cast<unsigned>((rows + 15) / 16));
    WithElement(p.input, [&](auto* in) {
      WithElement(p.output, [&](auto* out) {
        using In = std::remove_pointer_t<decltype(in)>;
        using Out = std::remove_pointer_t<decltype(out)>;
        PlainProduct<In, Out>
            <<<grid, dim3(16, 16), 0, context->stream>>>(PlainRows<In, Out>(p, first, rows));
      });
    });
  }
  Launched(context, "product");
}

namespace {

// What was chosen before, by all contexts of this process: a model that is opened again finds it.
struct Choices {
  std::mutex mutex;
  std::map<std::pair<int, Products::ShapeKey>, std::vector<RowClass>> of;  // by device
};
Choices& AllChoices() {
  static Choices choices;
  return choices;
}

std::string Describe(const Library& library, const RowClass& of) {
  char text[80];
  if (of.way.few_rows) {
    std::snprintf(text, sizeof text, "%lld:own/%d/%d", static_cast<long long>(of.rows),
                  of.way.plan.columns, of.way.plan.stage_steps);
    return text;
  }
  int32_t id = 0;
  uint32_t tile = 0, stages = 0;
  size_t written = 0;
  const cublasLtMatmulAlgo_t* algorithm = &of.way.algorithm;
  library.algo_get(algorithm, CUBLASLT_ALGO_CONFIG_ID, &id, sizeof id, &written);
  library.algo_get(algorithm, CUBLASLT_ALGO_CONFIG_TILE_ID, &tile, sizeof tile, &written);
  library.algo_get(algorithm, CUBLASLT_ALGO_CONFIG_STAGES_ID, &stages, sizeof stages, &written);
  std::snprintf(text, sizeof text, "%lld:%d/%u/%u", static_cast<long long>(of.rows), id, tile,
                stages);
  return text;
}

// The row classes of a shape for up to `most` rows: known already, or found now. Null, with error
// set, when there is no memory to find them in.
const std::vector<RowClass>* ClassesOf(DeviceContext* context, const DeviceProductShape& shape,
                                       int64_t most) {
  const Products::ShapeKey key{shape.n, shape.k, shape.output, shape.addend};
  std::vector<RowClass>& classes = context->products->forward[key];
  Choices& choices = AllChoices();
  const std::lock_guard lock(choices.mutex);
  std::vector<RowClass>& before = choices.of[{context->index, key}];
  if (!before.empty() && before.back().rows >= most) classes = before;
  if (classes.empty() || classes.back().rows < most) {
    DeviceProductShape tried = shape;
    tried.most_rows = most;
    Trial trial(context, tried);
    if (!trial.ok()) {
      context->error = "product: no memory to try algorithms in";
      return nullptr;
    }
    classes = before = ChooseClasses(&trial);
  }
  return &classes;
}

// How so many rows are computed, at most those of the last class.
const RowClass& ClassFor(const std::vector<RowClass>& classes, int64_t rows) {
  size_t c = 0;
  while (classes[c].rows < rows) ++c;
  return classes[c];
}

// A product of a prepared shape, in pieces that the classes have.
void RunClasses(DeviceContext* context, const DeviceProduct& p,
                const std::vector<RowClass>& classes) {
  const int parts = PartsOf({p.n, p.k, p.input, p.output, p.addend != nullptr, 0});
  DeviceProduct part = p;
  for (int64_t first = 0; first < p.m; first += part.m) {
    const int64_t out_at = first * p.out_row * BytesOf(p.output);
    part.m = std::min(p.m - first, classes.back().rows);
    part.a = static_cast<const char*>(p.a) + first * p.a_row * BytesOf(p.input);
    part.out = static_cast<char*>(p.out) + out_at;
    if (p.addend != nullptr) part.addend = static_cast<const char*>(p.addend) + out_at;
    if (!RunWay(context, part, ClassFor(classes, part.m).way, parts)) {
      context->error = "product: what was chosen for this shape is refused now";
      return;
    }
  }
}

}  // namespace

Products* OpenProducts(DeviceContext* /*context*/, std::string* error) {
  auto* products = new Products;
  if (!OpenLibrary(&products->library, error)) {
    delete products;
    return nullptr;
  }
  if (products->library.create(&products->handle) != CUBLAS_STATUS_SUCCESS ||
      cudaMalloc(&products->workspace, kWorkspace) != cudaSuccess) {
    *error = "cuBLASLt could not be started: is the driver that of CUDA 13 or later?";
    CloseProducts(products);
    return nullptr;
  }
  return products;
}

void CloseProducts(Products* products) {
  if (products == nullptr) return;
  if (products->handle) products->library.destroy(products->handle);
  cudaFree(products->workspace);
  delete products;
}

int64_t ProductLibraryVersion(const Products* products) {
  return static_cast<int64_t>(products->library.version());
}

bool PrepareProduct(DeviceContext* context, const DeviceProductShape& shape, char* chosen,
                    int64_t room) {
  int64_t most = kFewestRows;
  while (most < std::min(shape.most_rows, kMostRows)) most *= 2;
  std::string text = "plain";
  if (shape.input == Element::kBf16) {
    const std::vector<RowClass>* classes = ClassesOf(context, shape, most);
    if (classes == nullptr) return false;
    if (!classes->empty()) text.clear();
    for (const RowClass& of : *classes) text += Describe(context->products->library, of) + " ";
  }
  if (chosen != nullptr && room > 0) {
    std::snprintf(chosen, static_cast<size_t>(room), "%lldx%lld%s%s %s",
                  static_cast<long long>(shape.n), static_cast<long long>(shape.k),
                  shape.output == Element::kF32 ? " f32" : " bf16", shape.addend ? " +" : "",
                  text.c_str());
  }
  return context->error.empty();
}

void Product(DeviceContext* context, const DeviceProduct& p) {
  if (p.m == 0 || p.n == 0 || !context->error.empty()) return;
  const Products& products = *context->products;
  if (p.input == Element::kF32) return PlainProductOf(context, p);
  if (p.form != DeviceProduct::Form::kForward) return FreeProduct(context, p);
  const auto found = products.forward.find({p.n, p.k, p.output, p.addend != nullptr});
  if (found == products.forward.end()) {
    context->error = "product: this shape was not prepared";
  } else if (found->second.empty()) {
    PlainProductOf(context, p);
  } else {
    RunClasses(context, p, found->second);
  }
}

void ProductSwiGlu(DeviceContext* context, const DeviceProduct& p, const DeviceSwiGlu& swiglu) {
  const auto found = context->products->forward.find({p.n, p.k, p.output, false});
  const bool few = p.m > 0 && p.m <= kFewRows && p.input == Element::kBf16 &&
                   p.output == Element::kBf16 && p.addend == nullptr &&
                   found != context->products->forward.end() && !found->second.empty();
  if (few && found->second.back().rows >= p.m && context->error.empty()) {
    const Way& way = ClassFor(found->second, p.m).gated;
    if (way.few_rows && RunFewRowsGated(context, p, way.plan, swiglu.activated)) return;
  }
  Product(context, p);
  SwiGlu(context, swiglu);
}

}  // namespace hone::cuda
