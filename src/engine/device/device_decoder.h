#pragma once

#include <memory>
#include <string>
#include <vector>

#include "engine/device/device_pages.h"
#include "engine/device/device_weights.h"
#include "engine/rope.h"

namespace hone {

// Rows of logits that are computed at a time, a power of two: 2 to 4 GiB.
inline int64_t LogitRowsOf(int64_t vocab) {
  int64_t rows = 64;
  while (rows < 8192 && 2 * rows * vocab <= int64_t{1} << 30) rows *= 2;
  return rows;
}

// The rows of one pass through the layers, described on the device.
struct DevicePass {
  int64_t rows = 0, tiles = 0, copies = 0;
  const int32_t* tokens = nullptr;
  const RowPlace* places = nullptr;
  const AttentionTile* tile = nullptr;
  const int32_t* tables = nullptr;
  const int32_t *copied_row = nullptr, *copied_slot = nullptr;
  bool one_position = false, earlier_keys = false;  // as in DeviceAttention
  DevicePageMemory pages;
};

// The keys of a pass as backward sees them.
struct DeviceKeys {
  int64_t tiles = 0;
  const KeyTile* tile = nullptr;
  const QuerySpan* spans = nullptr;
};

// Weight matrices of one input, with their adapters, as Projection.
class DeviceProjection {
 public:
  // Where the products go: their type, and whether they are added to rows that are there.
  DeviceProjection(const DeviceWeights* weights, std::vector<int> parts, Element output,
                   bool addend);

  // Has the products prepared that forward needs, for up to so many rows.
  void Prepare(const Device& device, int64_t most_rows, std::vector<std::string>* chosen) const;

  // Whether adapters take part, and room for what lies between the two matrices of one:
  // [rows][rank].
  struct Adapters {
    bool use;
    DeviceBuffer* inner;
  };
  // out = W x (+ addend, which may be `out`). x is an operand, [rows][inputs].
  struct Rows {
    const void* x;
    int64_t rows;
    const void* addend;  // null where the projection was made without
    void* out;
  };
  void Forward(const Device& device, const Rows& rows, const Adapters& adapters) const;
  // Of gate and up: swiglu of what Forward gives, in one go where there are no adapters. rows.out
  // need not be written.
  void ForwardGated(const Device& device, const Rows& rows, const Adapters& adapters,
                    void* activated) const;
  // dx = the gradient of the input, in `output`; dy is an operand, [rows][outputs].
  struct Gradient {
    const void* dy;
    int64_t rows;
    Element output;
    void* dx;
  };
  void BackwardInput(const Device& device, const Gradient& gradient,
                     const Adapters& adapters) const;
  // The gradients of trained weights are added to. x and dy are operands.
  struct Seen {
    const void* x;   // [rows][inputs], as Forward got it
    const void* dy;  // [rows][outputs]
    int64_t rows;
  };
  void AddGradients(const Device& device, const Seen& seen, const Adapters& adapters) const;

  int64_t outputs() const { return outputs_; }

 private:
  struct Part {
    int parameter;
    int64_t offset, outputs;
    const LoraModule* adapter;
  };
  DeviceProduct ProductOf(const Rows& rows) const;  // without adapters
  // Of an adapter: t = A x, and the gradient of t.
  void Inner(const Device& device, const Part& part, const void* x, int64_t rows, void* t) const;
  void InnerGradient(const Device& device, const Part& part, const void* dy, int64_t rows,
                     void* dt) const;
  // The gradient [outputs][inputs] of a matrix (+)= scale dy^T x; null: it is not trained.
  struct Matrix {
    DeviceWeights::Whole gradient;
    int64_t outputs, inputs;
    float scale;
  };
  void AddGradient(const Device& device, const Matrix& matrix, const Seen& seen,
                   int64_t dy_row) const;

  const DeviceWeights* weights_;
  std::vector<Part> parts_;
  int64_t inputs_ = 0, outputs_ = 0;
  Element output_;
  bool addend_;
};

// Forward and backward through the layers of a model, on a device. As Decoder: what a row becomes
// depends on its path alone. Not synchronised.
class DeviceDecoder {
 public:
  // `weights` must outlive it.
  DeviceDecoder(const DeviceWeights* weights, std::shared_ptr<Device> device, bool recompute);

  void UseAdapters(bool use) { use_adapters_ = use; }
  bool use_adapters() const { return use_adapters_; }

  // Room for so many rows, and positions; not while something is recorded. True when buffers moved:
  // what was recorded before is of no use any more.
  bool Reserve(int64_t rows, int64_t positions, bool keep);
  // Embeds the tokens and runs all layers. The residual stream after the last one is in stream();
  // with `keep`, what backward needs is kept.
  void Forward(const DevicePass& pass, bool keep);
  const float* stream() const;
  // The rows `row_of` of the stream (or the first `rows`) after the final norm, as operands;
  // `scale` may be null.
  void FinalNorm(const int32_t* row_of, int64_t rows, void* out, float* scale);
  const DeviceProjection& head() const { return *head_; }
  // As it was asked for, for the head.
  DeviceProjection::Adapters adapters() { return {use_adapters_, &inner_}; }

  // From the gradient of the final norm's output, [rows][width] float32, to the gradients of all
  // that lies below; `scale` is FinalNorm's of all rows. Returns the gradient of the embedded rows.
  const float* Backward(const DevicePass& pass, const DeviceKeys& keys, const float* dhidden,
                        const float* scale);

  int64_t kept_bytes() const;    // of what is kept for backward
  int64_t buffer_bytes() const;  // of all else
  const std::vector<std::string>& products() const { return products_; }
  // Room for partial sums over slices of rows; and adds them to a parameter's gradient.
  float* Partials(int64_t rows, int64_t n);
  void AddPartials(int64_t rows, int64_t n, int parameter, const float* partial);
  // The same where partial sums are `row` numbers apart.
  void AddPartials(const DevicePartials& partials, int parameter);

 private:
  struct Layer {
    DeviceProjection qkv, output, gate_up, down;
  };
  // What backward needs of one layer, [rows][...].
  struct LayerState {
    DeviceBuffer input, input_scale, raw, head_scale, qkv, attended, lse, middle, middle_scale,
        gate_up;
    std::vector<const DeviceBuffer*> All() const {
      return {&input,    &input_scale, &raw,    &head_scale,   &qkv,
              &attended, &lse,         &middle, &middle_scale, &gate_up};
    }
  };
  const ModelConfig& config() const { return weights_->model().config; }
  LayerState NewState() const;
  bool GrowState(int64_t rows, bool raw, LayerState* state);
  bool GrowForBackward(int64_t rows);
  DeviceQkv QkvOf(int64_t layer, const DevicePass& pass, const LayerState& state) const;
  DeviceAttention AttentionOf(int64_t layer, const DevicePass& pass, const LayerState& state) const;
  // The residual stream before a layer, between its halves, and after it. All may be the same.
  struct Stream {
    const float* in;
    float *middle, *out;
    bool kept;  // backward will ask for the layer's state
  };
  void ForwardLayer(int64_t layer, const DevicePass& pass, const Stream& stream, LayerState* state);
  DeviceNorm NormOf(const float* x, int64_t rows, int norm) const;
  void FeedForwardBackward(int64_t layer, int64_t rows, const LayerState& state);
  void AttentionBackward(int64_t layer, const DevicePass& pass, const DeviceKeys& keys,
                         const LayerState& state);
  void NormBackward(const float* x, const float* scale, int64_t rows, int norm, const float* dy);
  void AttendBackward(int64_t layer, const DevicePass& pass, const DeviceKeys& keys,
                      const LayerState& state);
  void AddBiasGradient(DeviceRowSums sums, int bias);

  const DeviceWeights* weights_;
  std::shared_ptr<Device> device_;
  const DeviceApi& api_;
  DeviceContext* context_;
  bool recompute_, use_adapters_ = true;
  std::vector<Layer> layers_;
  std::unique_ptr<DeviceProjection> head_;
  std::vector<std::string> products_;
  // The angles of the layers that turn as rope_theta says, and of those that turn in another way.
  struct Angles {
    LayerTraits::Rope kind;
    RopeTable table;
    DeviceBuffer cosines, sines;
  };
  const Angles& AnglesOf(int64_t layer) const;
  std::vector<Angles> angles_;
  int64_t positions_ = 0;
  // Room for one pass.
  LayerState passing_;
  std::vector<LayerState> states_;  // of a pass that is kept
  DeviceBuffer x_, normed_, activated_, inner_;
  // dx_ is the gradient of the stream so far, and rounded_ the same as an operand.
  DeviceBuffer dx_, rounded_, dactivated_, dgate_up_, dnormed_, dattended_, dqkv_, draw_,
      attention_inner_, partial_;
};

}  // namespace hone
