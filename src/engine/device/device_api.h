#pragma once

#include <cstdint>

// Everything that computes on an accelerator, behind one table of functions.
//
// The table lives in a shared object that is opened at run time (device.h), so that one program
// runs with and without a GPU. kernels/cuda has the one for NVIDIA's; reference_device.cpp is the
// same in plain C++: the definition that the others are compared with, and what tests of the host
// side run on where there is no GPU.
//
// The contract of all that computes rows forward: what a row becomes depends on its own inputs
// alone, not on how many rows are computed with it nor on where it stands among them. On one kind
// of device, these are the same bits in sampling, scoring and training.
//
// All work of a context runs on one stream, in the order of the calls. Calls return before it is
// done; Download and Synchronize wait. A failure of the device is kept and told by them. Pointers
// named `*_at` or described as the host's are the host's; all others are the device's.
//
// This header is read by nvcc: it includes nothing with templates in it.

#ifdef __CUDACC__
#define HONE_HOST_DEVICE __host__ __device__
#else
#define HONE_HOST_DEVICE
#endif

namespace hone {

inline constexpr uint32_t kDeviceApiVersion = 4;

// Positions of a page of keys and values, and keys per block of a device's attention.
inline constexpr int kDevicePage = 64;
// Rows of queries (one per position and query head of a group) of a tile of attention.
inline constexpr int kDeviceTileRows = 64;

// What activations and operands are. Residual stream, sums, statistics, gradients of weights,
// master weights and moments are float32 in both.
enum class Element : int32_t { kF32, kBf16 };
inline constexpr int64_t BytesOf(Element element) { return element == Element::kF32 ? 4 : 2; }

struct DeviceContext;  // the shared object's own

struct DeviceInfo {
  char name[128];
  int32_t capability;  // 90: Hopper
  int32_t multiprocessors;
  int64_t memory, free_memory;  // bytes
  int32_t driver, runtime;      // CUDA versions, 13000 for 13.0
  int64_t product_library;      // cuBLASLt's version; 0: none
};

// out [m][n] = scale * a b (+ addend). Rows are `*_row` elements apart.
//   kForward: a [m][k], b [n][k]: y = x W^T. The rows' bits do not depend on m; (n, k, output,
//             addend or not) must have been given to prepare_product.
//   kInput:   a [m][k], b [k][n]: dx = dy W.
//   kWeight:  a [k][m], b [k][n]: dW = dy^T x.
// The last two give the same bits for the same call, no more.
struct DeviceProduct {
  enum class Form : int32_t { kForward, kInput, kWeight };
  Form form = Form::kForward;
  int64_t m = 0, n = 0, k = 0;
  const void* a = nullptr;
  const void* b = nullptr;
  void* out = nullptr;
  const void* addend = nullptr;  // [m][n] of the output's type and out_row; may be `out` itself
  int64_t a_row = 0, b_row = 0, out_row = 0;
  Element input = Element::kBf16, output = Element::kF32;
  float scale = 1;
};

// The shape of products of kForward, for prepare_product.
struct DeviceProductShape {
  int64_t n = 0, k = 0;
  Element input = Element::kBf16, output = Element::kF32;
  bool addend = false;
  int64_t most_rows = 0;  // of one product; more are cut
};

// The first `bytes` of each of some rows, which are `row_bytes` apart.
struct DeviceRows {
  const void* from = nullptr;
  int64_t row_bytes = 0, rows = 0, bytes = 0;
};

// x [rows][width] float32 = row `tokens[r]` of the embedding, which is in `element`.
struct DeviceEmbedding {
  int64_t rows = 0, width = 0;
  const int32_t* tokens = nullptr;
  Element element = Element::kBf16;
  const void* embedding = nullptr;
  float* x = nullptr;
};

// out[r] = weight * (x[row] * scale) in `element`, scale = 1 / sqrt(mean(x²) + eps), where row is
// row_of[r], or r where row_of is null.
struct DeviceNorm {
  int64_t rows = 0, width = 0;
  const float* x = nullptr;
  const int32_t* row_of = nullptr;
  const float* weight = nullptr;
  float eps = 0;
  Element element = Element::kBf16;
  void* out = nullptr;
  float* scale = nullptr;  // [rows]; null: not kept
};

// dx[r] += the gradient of the norm's input, from its forward's x and scale and from dy, float32.
// The gradient of the weight goes to partial [SlicesOf(rows)][width], set.
struct DeviceNormBackward {
  int64_t rows = 0, width = 0;
  const float *x = nullptr, *scale = nullptr, *dy = nullptr, *weight = nullptr;
  float *dx = nullptr, *partial = nullptr;
  // In `element`; null: not wanted.
  void* rounded = nullptr;  // dx after the addition once more
  void* normed = nullptr;   // what forward gave for x
  Element element = Element::kBf16;
};

// Sums over rows are made of slices of so many, each in the order of its rows or in another that is
// always the same: partial sums [SlicesOf(rows)][...], which add_partials joins.
inline constexpr int kSliceRows = 64;
inline constexpr int64_t SlicesOf(int64_t rows) { return (rows + kSliceRows - 1) / kSliceRows; }

// Pages of keys and values: [page][layer][kv_head][keys, values][kDevicePage][head_dim].
struct DevicePageMemory {
  void* base = nullptr;
  int64_t layers = 0, kv_heads = 0, head_dim = 0;
  Element element = Element::kBf16;

  HONE_HOST_DEVICE int64_t HeadElements() const { return 2 * kDevicePage * head_dim; }
  HONE_HOST_DEVICE int64_t PageElements() const { return layers * kv_heads * HeadElements(); }
};

// Where the row of a token stands: its position on its path, and the slot of its key and value,
// page * kDevicePage + slot; -1 (a row that only fills up a batch) writes none.
struct RowPlace {
  int32_t position;
  int32_t slot;
};

// From the output of the projection to queries, keys and values: biases, norms of heads, rotation,
// one rounding. `raw` [rows][heads + 2 kv_heads][head_dim] is float32; `qkv` gets the same shape in
// `element`, and keys and values also go to their pages.
struct DeviceQkv {
  int64_t rows = 0;
  int32_t heads = 0, kv_heads = 0, head_dim = 0, layer = 0;
  Element element = Element::kBf16;
  const float* raw = nullptr;
  const float *q_bias = nullptr, *k_bias = nullptr, *v_bias = nullptr;  // null: none
  const float *q_norm = nullptr, *k_norm = nullptr;                     // null: none
  float norm_eps = 0;
  const float *cosines = nullptr, *sines = nullptr;  // [positions][head_dim / 2]
  const RowPlace* places = nullptr;
  DevicePageMemory pages;
  // The keys and values of some rows go to further slots: a node that does not begin with a page
  // has a copy of what its page begins with.
  const int32_t *copied_row = nullptr, *copied_slot = nullptr;
  int64_t copies = 0;
  void* qkv = nullptr;
  // For backward, where heads have norms: [rows][heads + kv_heads]; null: not kept.
  float* head_scale = nullptr;
};

// Its gradient. `dqkv` float32, of the rotated queries and keys and of the values; `draw` gets the
// gradient of `raw`, in `element`. Norm gradients (of one head) go, summed over rows and heads, to
// q_partial and k_partial [SlicesOf(rows)][head_dim]; null: not wanted.
struct DeviceQkvBackward {
  DeviceQkv forward;  // `raw` with its bias added is computed again; `qkv` and pages are not read
  const float* dqkv = nullptr;
  void* draw = nullptr;
  float *q_partial = nullptr, *k_partial = nullptr;
};

// Some consecutive positions of one path: rows `row`, `row` + 1, ... of a batch. Its pages are
// tables[table ...]. At most kDeviceTileRows / group positions, at least one; 0: none, a filler.
struct AttentionTile {
  int32_t row, position, count, table;
};

// Causal grouped-query attention over paged keys. Keys are seen in blocks of kDevicePage aligned to
// the absolute position, with a running maximum of each query; weights are rounded to `element`
// before they multiply values (the sum of weights is of unrounded ones); one division at the end.
// q: `qkv`, [rows][heads + 2 kv_heads][head_dim]; out [rows][heads][head_dim] in `element`;
// lse [rows][heads], the logarithm of the sum of exponentials of scaled scores.
struct DeviceAttention {
  int64_t tiles = 0;
  const AttentionTile* tile = nullptr;
  const int32_t* tables = nullptr;
  int32_t heads = 0, kv_heads = 0, head_dim = 0, layer = 0;
  Element element = Element::kBf16;
  DevicePageMemory pages;
  const void* qkv = nullptr;
  void* out = nullptr;
  float* lse = nullptr;
  bool one_position = false;  // every tile has at most one
  // And the keys before it were there before this pass: a step of drawing.
  bool earlier_keys = false;
};

// Up to kDevicePage consecutive keys of one node: rows `row` ..., and the queries that see them,
// spans[first] to spans[last - 1]: those of the node itself and of all below it.
struct KeyTile {
  int32_t row, position, count, first, last;
};
struct QuerySpan {
  int32_t row, position, count;
};

// The gradient of the same. `dout` like `out`. dqkv [rows][heads + 2 kv_heads][head_dim] float32 is
// set: queries by the tiles of forward, keys and values by key tiles, which read keys and values
// from `qkv`. `inner` [rows][heads] is room for the sums of dout * out. No order depends on timing.
struct DeviceAttentionBackward {
  DeviceAttention forward;
  int64_t rows = 0;
  const void* dout = nullptr;
  float* dqkv = nullptr;
  float* inner = nullptr;
  int64_t key_tiles = 0;
  const KeyTile* key_tile = nullptr;
  const QuerySpan* spans = nullptr;
};

// gate_up [rows][2 ffn] -> activated [rows][ffn], both in `element`.
struct DeviceSwiGlu {
  int64_t rows = 0, ffn = 0;
  Element element = Element::kBf16;
  const void* gate_up = nullptr;
  void* activated = nullptr;
};

// d is of `activated`; gate_up's gradient is set, and `activated` computed again.
struct DeviceSwiGluBackward {
  DeviceSwiGlu forward;
  const void* d = nullptr;
  void* dgate_up = nullptr;
};

// Logits [rows][vocab] float32 of predictions, with the tokens they are about. Over the tokens
// kept[kept_first ...], ascending, kept_count of them; 0: the whole vocabulary.
struct PredictionRule {
  int32_t token;
  float inverse_temperature;
  int32_t forbidden;  // 1: the run's forbidden tokens have probability 0
  int32_t kept_first, kept_count;
};
struct DeviceDistribution {
  int64_t rows = 0, vocab = 0;
  float* logits = nullptr;  // forbidden ones are masked in place, by score and draw
  const int32_t* forbidden = nullptr;
  int64_t forbidden_count = 0;
  const PredictionRule* rules = nullptr;
  const int32_t* kept = nullptr;
  float *logprob = nullptr, *entropy = nullptr, *log_sum = nullptr;  // [rows]
};

// dlogits [rows][vocab] in `element` = the gradient of dlogprob * logprob + dentropy * entropy.
struct DeviceDistributionBackward {
  DeviceDistribution forward;  // with what it gave
  // Of the rows row_of[r] of `forward`, or of row r where it is null: `count` of them.
  const int32_t* row_of = nullptr;
  int64_t count = 0;
  const float *dlogprob = nullptr, *dentropy = nullptr;  // [count]
  void* dlogits = nullptr;                               // [count][vocab]
  Element element = Element::kBf16;
};

// How the token after a row of logits is drawn. temperature 0: the likeliest, the lower id of
// several; its log-probability is told at temperature 1, over all that may follow.
struct DrawRule {
  double u;  // in [0, 1)
  float temperature, top_p, min_p;
  int32_t top_k;
  int32_t forbidden;                     // as above
  int32_t allowed_first, allowed_count;  // only allowed[...] may follow, ascending; 0: all may
  int32_t likeliest;                     // so many likely tokens are told, at most kMostLikely
  int32_t skip;                          // 1: a row that only fills up a batch
};
inline constexpr int kMostLikely = 64;
struct DrawnRow {
  int32_t token;
  float logprob, entropy;
  int32_t kept;       // how many tokens could have been drawn; 0: the whole vocabulary
  int32_t likeliest;  // how many of `likely` are set
};
struct DeviceDraw {
  int64_t rows = 0, vocab = 0;
  float* logits = nullptr;  // [rows][vocab], masked in place
  const int32_t* forbidden = nullptr;
  int64_t forbidden_count = 0;
  const DrawRule* rules = nullptr;
  const int32_t* allowed = nullptr;
  DrawnRow* drawn = nullptr;
  int32_t* kept = nullptr;    // [rows][vocab]: the tokens that could have been drawn, ascending
  int32_t* likely = nullptr;  // [rows][kMostLikely], the likeliest first; ties: the lower id
  float* likely_logprob = nullptr;
  bool plain = false;  // no rule has top_k, top_p, min_p, allowed or likeliest
};

// values[r] = the inner product of hidden[r] (in `element`) and weight.
struct DeviceDots {
  int64_t rows = 0, width = 0;
  Element element = Element::kBf16;
  const void* hidden = nullptr;
  const float* weight = nullptr;
  float* values = nullptr;
};

// Its gradient: dhidden[r] += dvalues[r] * weight, partial [SlicesOf(rows)][width] = sums of
// dvalues * hidden. `forward.values` is not read.
struct DeviceDotsBackward {
  DeviceDots forward;
  const float* dvalues = nullptr;
  float *dhidden = nullptr, *partial = nullptr;
};

// to[place[i]] [width] += the sum of from[list[j]], j from first[i] to first[i + 1] - 1, in that
// order: the gradient of rows that were read several times. Places are different.
struct DeviceRowList {
  int64_t places = 0, width = 0;
  const float* from = nullptr;
  const int32_t *place = nullptr, *first = nullptr, *list = nullptr;
  float* to = nullptr;
};

// partial [SlicesOf(rows)][n] = sums of slices of rows of y (in `element`), which are y_row
// elements apart.
struct DeviceRowSums {
  int64_t rows = 0, n = 0, y_row = 0;
  Element element = Element::kBf16;
  const void* y = nullptr;
  float* partial = nullptr;
};

// to [n] += the partial sums [count][n], in their order; or = them. Partial sums are `row` numbers
// apart, or n where that is 0.
struct DevicePartials {
  const float* partial = nullptr;
  int64_t count = 0, n = 0;
  float* to = nullptr;
  bool add = true;
  int64_t row = 0;
};

// One step of AdamW. Weights [n] float32 and their copy in bfloat16; `gradient` is multiplied by
// *scale (the device's) first. While *scale is not finite, weights and moments stay as they are.
struct DeviceAdamW {
  int64_t n = 0;
  float beta1 = 0, rest1 = 0, beta2 = 0, rest2 = 0, step_size = 0, second_scale = 0, eps = 0,
        decay = 0;
  const float* scale = nullptr;
  const float* gradient = nullptr;
  float* value = nullptr;
  uint16_t* rounded = nullptr;  // null: none
  // Moments in float32, or in 8 bits: a code per number and a float32 scale per block of
  // kMomentBlock, the largest magnitude of the block.
  float *first = nullptr, *second = nullptr;
  uint8_t *first_code = nullptr, *second_code = nullptr;
  float *first_scale = nullptr, *second_scale_of = nullptr;
};
inline constexpr int kMomentBlock = 256;

// Muon: moment = momentum * moment + gradient * *scale; step = gradient * *scale + momentum *
// moment. All [n]; neither moment nor step changes while *scale is not finite.
struct DeviceMomentum {
  int64_t n = 0;
  const float* scale = nullptr;
  float momentum = 0;
  const float* gradient = nullptr;
  float *moment = nullptr, *step = nullptr;
};

// Replaces step [rows][columns] by an orthogonal one (orthogonal.h); then value = decay * value -
// size * step, unless *scale is not finite.
struct DeviceOrthogonal {
  int64_t rows = 0, columns = 0;
  const float* scale = nullptr;
  float* step = nullptr;  // what is left in it is of no use
  void* room = nullptr;   // orthogonal_room bytes
  float decay = 0, size = 0;
  float* value = nullptr;
  uint16_t* rounded = nullptr;  // null: none
};

// value [n] = (1 - share) of itself and `share` of the others.
struct DeviceMix {
  int64_t n = 0;
  double share = 0;
  const float* others = nullptr;
  float* value = nullptr;
};

struct DeviceApi {
  uint32_t version;
  const char* name;  // "cuda", "reference"

  // A context on a device of this machine, or null with a sentence in `error` that says what to do.
  DeviceContext* (*open)(int32_t index, char* error, int64_t room);
  void (*close)(DeviceContext*);
  void (*info)(DeviceContext*, DeviceInfo*);

  // Null when there is not so much memory.
  void* (*allocate)(DeviceContext*, int64_t bytes);
  void (*release)(DeviceContext*, void*);
  // Memory of the host that transfers can use without waiting.
  void* (*allocate_host)(DeviceContext*, int64_t bytes);
  void (*release_host)(DeviceContext*, void*);
  // From the host: from pageable memory the call returns when `from_at` may be changed; from
  // allocate_host's memory it may still be read until the next Synchronize.
  void (*upload)(DeviceContext*, const void* from_at, int64_t bytes, void* to);
  // To the host: waits. False when the device has failed; `error` says how.
  bool (*download)(DeviceContext*, const void* from, int64_t bytes, void* to_at);
  void (*download_later)(DeviceContext*, const void* from, int64_t bytes, void* to_at);
  // What is taken of the rows lies together on the host. Waits.
  bool (*download_rows)(DeviceContext*, const DeviceRows&, void* to_at);
  void (*copy)(DeviceContext*, const void* from, int64_t bytes, void* to);
  void (*fill)(DeviceContext*, void* to, uint8_t value, int64_t bytes);
  bool (*synchronize)(DeviceContext*);
  const char* (*error)(DeviceContext*);  // empty while all is well

  // What is called between the two is recorded instead of run, and run by launch; null where the
  // device cannot record. No transfers from pageable memory, allocation or waiting in between.
  void (*begin_recording)(DeviceContext*);
  void* (*end_recording)(DeviceContext*);
  void (*launch)(DeviceContext*, void* recording);
  void (*forget)(DeviceContext*, void* recording);

  // Nothing is called for now, and the host waits later: for busy_seconds, the work ends where what
  // was called so far does.
  void (*end_work)(DeviceContext*);

  // Chooses how products of this shape are computed so that a row's bits do not depend on the
  // number of rows, and checks it. False, with error set, when no way is found. `chosen` gets a
  // description, for the record of a run.
  bool (*prepare_product)(DeviceContext*, const DeviceProductShape&, char* chosen, int64_t room);
  void (*product)(DeviceContext*, const DeviceProduct&);
  // The product, whose output is swiglu's gate_up, and swiglu of it: the same bits. gate_up need
  // not be written.
  void (*product_swiglu)(DeviceContext*, const DeviceProduct&, const DeviceSwiGlu&);

  void (*embed)(DeviceContext*, const DeviceEmbedding&);
  void (*rms_norm)(DeviceContext*, const DeviceNorm&);
  void (*rms_norm_backward)(DeviceContext*, const DeviceNormBackward&);
  void (*finish_qkv)(DeviceContext*, const DeviceQkv&);
  void (*finish_qkv_backward)(DeviceContext*, const DeviceQkvBackward&);
  void (*attend)(DeviceContext*, const DeviceAttention&);
  void (*attend_backward)(DeviceContext*, const DeviceAttentionBackward&);
  // x [rows][n] float32 += bias.
  void (*add_bias)(DeviceContext*, const float* bias, int64_t rows, int64_t n, float* x);
  void (*swiglu)(DeviceContext*, const DeviceSwiGlu&);
  void (*swiglu_backward)(DeviceContext*, const DeviceSwiGluBackward&);

  void (*score)(DeviceContext*, const DeviceDistribution&);
  void (*score_backward)(DeviceContext*, const DeviceDistributionBackward&);
  void (*draw)(DeviceContext*, const DeviceDraw&);
  void (*row_dots)(DeviceContext*, const DeviceDots&);
  void (*row_dots_backward)(DeviceContext*, const DeviceDotsBackward&);

  void (*add_rows)(DeviceContext*, const DeviceRowList&);
  void (*sum_rows)(DeviceContext*, const DeviceRowSums&);
  void (*add_partials)(DeviceContext*, const DevicePartials&);
  // To bfloat16, or copied where element is float32.
  void (*convert)(DeviceContext*, const float* from, int64_t n, Element element, void* to);

  // squares [1] (double) = the sum of squares of x [n] added to it; the same bits for the same x.
  void (*add_squares)(DeviceContext*, const float* x, int64_t n, double* squares);
  // norm [1] = sqrt(squares); scale [1] = 1, or most / (norm + 1e-6) where most > 0 and the norm is
  // larger; not-a-number where the norm is not finite.
  void (*norm_scale)(DeviceContext*, const double* squares, double most, double* norm,
                     float* scale);
  void (*adamw)(DeviceContext*, const DeviceAdamW&);
  void (*momentum)(DeviceContext*, const DeviceMomentum&);
  int64_t (*orthogonal_room)(int64_t rows, int64_t columns);  // bytes
  void (*orthogonal_step)(DeviceContext*, const DeviceOrthogonal&);
  void (*mix)(DeviceContext*, const DeviceMix&);

  // Seconds since the context was opened in which the device was at work for it: the sum of spans
  // that begin when the first call reaches a device that has none, and end when everything that
  // the host then waits for is done, or what was called before end_work. Measured by the device's
  // clock. What the host does while
  // nothing is under way is no part of it; where the device waits for the next call within a span,
  // that is. Transfers are work, prepare_product is not. A span that is not over is not counted.
  double (*busy_seconds)(DeviceContext*);
};

// What the shared object exports under this name; null for a version that it does not have.
extern "C" using HoneDeviceApiFunction = const DeviceApi * (*)(uint32_t version);
inline constexpr char kDeviceApiSymbol[] = "hone_device_api";

}  // namespace hone
