#pragma once

// cuBLASLt: opened at run time, what it is told of a product, and what it offers for one.

#include <cublasLt.h>

#include <cstdint>
#include <map>
#include <string>
#include <tuple>
#include <vector>

#include "engine/kernels/cuda/context.h"
#include "engine/kernels/cuda/few_rows.h"

namespace hone {
namespace cuda {

// cuBLASLt is opened when a device is: programs that never use one do not need it.
struct Library {
  decltype(&cublasLtCreate) create;
  decltype(&cublasLtDestroy) destroy;
  decltype(&cublasLtGetVersion) version;
  decltype(&cublasLtMatmul) matmul;
  decltype(&cublasLtMatmulDescCreate) desc_create;
  decltype(&cublasLtMatmulDescDestroy) desc_destroy;
  decltype(&cublasLtMatmulDescSetAttribute) desc_set;
  decltype(&cublasLtMatrixLayoutCreate) layout_create;
  decltype(&cublasLtMatrixLayoutDestroy) layout_destroy;
  decltype(&cublasLtMatmulPreferenceCreate) preference_create;
  decltype(&cublasLtMatmulPreferenceDestroy) preference_destroy;
  decltype(&cublasLtMatmulPreferenceSetAttribute) preference_set;
  decltype(&cublasLtMatmulAlgoGetHeuristic) heuristic;
  decltype(&cublasLtMatmulAlgoConfigSetAttribute) algo_set;
  decltype(&cublasLtMatmulAlgoConfigGetAttribute) algo_get;
  decltype(&cublasLtMatmulAlgoCheck) algo_check;
};

// False, with what to do in `error`, where it is not found or lacks something.
bool OpenLibrary(Library* library, std::string* error);

// The descriptors of one product. cuBLASLt thinks in columns: our rows are its columns, so the
// right operand comes first and the result is transposed by the way it is read.
struct Description {
  const Library& library;
  cublasLtMatmulDesc_t operation = nullptr;
  cublasLtMatrixLayout_t a = nullptr, b = nullptr, d = nullptr;

  // The product's shape, types and rows; its addresses are given when it runs.
  Description(const Library& of, const DeviceProduct& p);
  ~Description();
  Description(const Description&) = delete;
  Description& operator=(const Description&) = delete;
};

// How a product may be computed: by our own kernel for few rows, or by an algorithm of cuBLASLt.
struct Way {
  bool few_rows = false;
  FewRowsTiling plan{};
  cublasLtMatmulAlgo_t algorithm{};
};

// Up to `rows` rows are computed in this way. `gated` is for a product with swiglu behind it: our
// own kernel does both, which is worth it where it is not much slower than the fastest.
struct RowClass {
  int64_t rows;
  Way way, gated;
};

// What algorithms may use, in bytes.
inline constexpr int64_t kWorkspace = int64_t{32} << 20;

}  // namespace cuda

// What a context has of cuBLASLt, and what was chosen of it.
struct Products {
  // n, k, output, addend
  using ShapeKey = std::tuple<int64_t, int64_t, Element, bool>;
  // form, m, n, k, strides, output, addend
  using CallKey = std::tuple<int, int64_t, int64_t, int64_t, int64_t, int64_t, int64_t, int, bool>;

  cuda::Library library{};
  cublasLtHandle_t handle = nullptr;
  void* workspace = nullptr;
  std::map<ShapeKey, std::vector<cuda::RowClass>> forward;  // empty: the plain kernel
  std::map<CallKey, cublasLtMatmulAlgo_t> others;
};

namespace cuda {

cublasStatus_t RunAlgorithm(DeviceContext* context, const Description& description,
                            const DeviceProduct& p, const cublasLtMatmulAlgo_t& algorithm);

// What cuBLASLt's heuristic has for a product, the best first. With `split`, k may be cut into
// parts that are added; ways to add them whose order depends on timing are left out.
std::vector<cublasLtMatmulAlgo_t> Algorithms(const Products& products,
                                             const Description& description, bool split);

}  // namespace cuda
}  // namespace hone
