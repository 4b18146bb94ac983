#pragma once

#include <cstdint>

// Everything that computes, for every instruction set, behind one table of functions.
//
// The contract of all of them: each output is one chain of operations that depends on its own
// inputs alone, not on what is computed beside it nor on the instruction set. That is what makes
// the bits equal (docs/engine.md). Plain C++ is the definition; the others are compared with it.
//
// This header is seen by files that are compiled for one instruction set, so it includes nothing
// with templates in it: the linker might keep their copy for everybody.

namespace hone {

inline constexpr int kLanes = 16;      // columns of a panel; partial sums of a strided sum
inline constexpr int kBf16Block = 32;  // k per block of the bf16 inner product
inline constexpr int kKeyBlock = 32;   // keys per block of attention

// How weights and activations enter a product: as float32, or rounded to bfloat16. Sums, the
// residual stream and the master weights are float32 in both.
enum class Precision { kF32, kBf16 };

// out[rows][columns] = a[rows][k] * b[k][columns], or added to what is in `out`.
//
// The right operand lies in panels of kLanes columns. f32: float[k][kLanes], one row `b_row`
// floats after the other. bf16: uint32_t[k / 2][kLanes], even k in the low half, odd k in the high
// half, zeros up to a whole block of 32 k. Panels are `b_panel` elements (floats, pairs) apart.
//
// f32: one chain of fused multiply-adds in the order of k.
// bf16: for each 32 consecutive k a chain over the even ones and a chain over the odd ones, each
// from 0; the two added, then added to the accumulator. The values of `a` must be bfloat16 ones.
struct Product {
  const float* a = nullptr;
  int64_t a_row = 0;
  int64_t a_step = 1;  // from k to k + 1; bf16: 1
  int64_t rows = 0;
  const void* b = nullptr;
  int64_t b_row = kLanes, b_panel = 0;
  int64_t k = 0;
  int64_t columns = 0;
  float* out = nullptr;
  int64_t out_row = 0;
  bool accumulate = false;
};

// The keys of a block that a query sees: first, ..., end - 1; none where end <= first.
struct SeenKeys {
  int32_t first, end;
};

struct GateGradient {
  float *gate, *up;
};

// A matrix whose rows are `row` floats apart.
struct FloatRows {
  const float* data;
  int64_t row, rows, columns;
};

// One step of AdamW on some weights; `gradient` is multiplied by `scale` first.
struct AdamWUpdate {
  float scale, beta1, rest1, beta2, rest2, step_size, second_scale, eps, decay;
};

// What the bf16 products of an instruction set are measured against: floating-point operations of a
// loop that does nothing else. AMX: four tile products on four tiles from the first-level cache;
// else fused multiply-adds or dot products of pairs on registers. Returns how many operations
// `rounds` rounds did.
using PeakLoop = double (*)(int64_t rounds);

// Sums over i are strided: 16 partial sums (i mod 16), joined in one fixed tree.
struct Kernels {
  const char* name;

  void (*product_f32)(const Product&);
  void (*product_bf16)(const Product&);

  // Each value becomes the nearest that bfloat16 can hold, ties to even.
  void (*round_bf16)(float* x, int64_t n);
  // A panel of the right operand from kLanes columns of `k` rows, which are `row` floats apart.
  void (*pack_panel_bf16)(const float* rows, int64_t row, int64_t k, uint32_t* pairs);
  // The same from `wide` columns, at most kLanes, whose k lie side by side; `column` floats apart.
  void (*pack_columns_bf16)(const float* columns, int64_t column, int64_t wide, int64_t k,
                            uint32_t* pairs);
  // to[c][r] = from[r][c].
  void (*transpose)(const FloatRows& from, float* to, int64_t to_row);
  void (*add)(const float* y, int64_t n, float* x);                      // x += y
  void (*add_scaled)(const float* y, float scale, int64_t n, float* x);  // x += scale * y
  float (*dot)(const float* x, const float* y, int64_t n);

  // y = weight * (x * scale) with scale = 1 / sqrt(mean(x²) + eps), which is returned.
  float (*rms_norm)(const float* x, const float* weight, int64_t n, float eps, float* y);
  // y = weight * (x * scale): the same again.
  void (*scale_by)(const float* x, const float* weight, float scale, int64_t n, float* y);
  // dx += its gradient; dweight += dy * (x * scale).
  void (*rms_norm_backward)(const float* x, const float* weight, float scale, const float* dy,
                            int64_t n, float* dx, float* dweight);

  // y = silu(gate) * up; gelu(gate) * up, approximated by tanh as Gemma does; and as gpt-oss has
  // it: with g = min(gate, 7) and u = up within 7 of 0, y = g sigmoid(1.702 g) (u + 1). Backward
  // sets the gradients of both.
  using Gate = void (*)(const float* gate, const float* up, int64_t n, float* y);
  using GateBackward = void (*)(const float* gate, const float* up, const float* dy, int64_t n,
                                GateGradient);
  Gate swiglu;
  GateBackward swiglu_backward;
  Gate geglu;
  GateBackward geglu_backward;
  Gate clamped_glu;
  GateBackward clamped_glu_backward;
  // x = cap * tanh(x / cap); d *= its slope, from what it gave.
  void (*soft_cap)(float cap, int64_t n, float* x);
  void (*soft_cap_backward)(const float* y, float cap, int64_t n, float* d);

  // y = x times the normal distribution's mass below x: the exact GELU of encoders.
  void (*gelu)(const float* x, int64_t n, float* y);

  // Rotates the pairs (x[i], x[half + i]) by angles; sign -1 turns them back.
  void (*rotate)(const float* cosines, const float* sines, float sign, int64_t half, float* x);

  // One block of keys for some queries: scores[rows][kKeyBlock] become exp(score * scale - top), 0
  // where seen[r] does not see the key; top and sum of each row go on, and shrink is what sums and
  // outputs so far were multiplied by. Where nothing was seen yet, top is minus infinity. `round`
  // rounds the weights to bfloat16 afterwards.
  void (*softmax_block)(float* scores, int64_t rows, const SeenKeys* seen, float scale, bool round,
                        float* top, float* sum, float* shrink);
  // out[r] = out[r] * shrink[r] + more[r].
  void (*rescale_add)(const float* more, int64_t more_row, const float* shrink, int64_t rows,
                      int64_t n, float* out, int64_t out_row);
  // Backward of the same: scores become p = exp(score * scale - lse), dp becomes
  // p * (dp - inner) * scale; both 0 where seen[r] does not see the key.
  void (*softmax_block_backward)(float* scores, float* dp, int64_t rows, const SeenKeys* seen,
                                 float scale, const float* lse, const float* inner);

  // Of a row of logits z = logit * inverse_temperature: the largest z; the sum of exp(z - top);
  // the sum of -p log p with log p = min(z - log_sum, 0); all p.
  float (*largest)(const float* logits, int64_t n, float inverse_temperature);
  float (*exp_sum)(const float* logits, int64_t n, float inverse_temperature, float top);
  float (*entropy)(const float* logits, int64_t n, float inverse_temperature, float log_sum);
  void (*probabilities)(const float* logits, int64_t n, float inverse_temperature, float log_sum,
                        float* p);
  // dlogits = inverse_temperature * (-dlogprob p - dentropy p (log p + entropy)).
  void (*distribution_backward)(const float* logits, int64_t n, float inverse_temperature,
                                float log_sum, float entropy, float dlogprob, float dentropy,
                                float* dlogits);

  void (*adamw)(const AdamWUpdate&, const float* gradient, int64_t n, float* value, float* first,
                float* second);

  PeakLoop peak;
};

// The kernels of an instruction set, or null where this processor lacks it.
const Kernels* PlainKernels();
const Kernels* Avx2Kernels();
const Kernels* Avx512Kernels();
const Kernels* Avx512Bf16Kernels();
const Kernels* AmxKernels();

// All that this processor has, the fastest first.
struct KernelList {
  const Kernels* all[5];
  int count;
  const Kernels* const* begin() const { return all; }
  const Kernels* const* end() const { return all + count; }
};
KernelList AvailableKernels();

// The fastest of them; HONE_ISA=plain|avx2|avx512|avx512_bf16|amx asks for another one (hone doctor
// says which runs). Asking for what the processor lacks, or for an unknown one, gives the plain
// ones; CheckAskedKernels (asked.h) tells.
const Kernels& BestKernels();

// While it lives, this thread rounds to nearest and treats numbers too small for the normal range
// as zero, on input and output. Every thread that computes needs one.
class FloatMode {
 public:
  FloatMode();
  ~FloatMode();
  FloatMode(const FloatMode&) = delete;
  FloatMode& operator=(const FloatMode&) = delete;

 private:
  unsigned saved_;
};

}  // namespace hone
