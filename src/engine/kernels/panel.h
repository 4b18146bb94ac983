#pragma once

#include <cstdint>

// The two inner products that everything heavy is made of, for every instruction set.
//
// A panel is kLanes columns wide. Each output is one chain of operations over k that depends on its
// own row and column alone: not on how many rows are computed together, nor on the instruction set.
// That is what makes the bits equal (docs/engine.md).
//
// This header is seen by files that are compiled for one instruction set, so it includes nothing
// with templates in it: the linker might keep their copy for everybody.

namespace hone {

inline constexpr int kLanes = 16;
inline constexpr int kBf16Block = 32;  // k per block of the bf16 dot product

// Strides are in elements. Row r of `a` begins at a + r * a_row, its k-th element is a_step
// further.
struct PanelArguments {
  const float* a;
  int64_t a_row, a_step;
  int64_t rows;
  const void*
      b;  // f32: float[k][b_row]; bf16: uint32_t[(k + 1) / 2][b_row], even k in the low half
  int64_t b_row;
  int64_t k;
  float* out;  // [rows][out_row], kLanes columns are written
  int64_t out_row;
  bool accumulate;  // go on from what is in `out` instead of from 0
};

// f32: one chain of fused multiply-adds in the order of k.
// bf16: for each 32 consecutive k a chain over the even ones and a chain over the odd ones, each
// from 0; the two added, then added to the accumulator. The values of `a` must be bfloat16 ones.
struct PanelKernels {
  const char* name;
  void (*f32)(const PanelArguments&);
  void (*bf16)(const PanelArguments&);
};

// The kernels of an instruction set, or null where this program or processor lacks it.
const PanelKernels* PlainKernels();
const PanelKernels* Avx2Kernels();
const PanelKernels* Avx512Kernels();

// The fastest that this processor has; HONE_ISA=plain|avx2|avx512 asks for another one.
const PanelKernels& BestKernels();

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
