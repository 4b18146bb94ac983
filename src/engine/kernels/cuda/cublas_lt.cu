#include "engine/kernels/cuda/cublas_lt.h"

#include <dlfcn.h>

#include <cstdlib>
#include <type_traits>

namespace hone::cuda {
namespace {

constexpr int kMostAlgorithms = 24;  // asked of cuBLASLt's heuristic

cudaDataType DataTypeOf(Element element) {
  return element == Element::kF32 ? CUDA_R_32F : CUDA_R_16BF;
}

// What is asked of the heuristic; to be destroyed.
cublasLtMatmulPreference_t PreferenceOf(const Library& library, bool split) {
  cublasLtMatmulPreference_t preference = nullptr;
  library.preference_create(&preference);
  const uint64_t room = kWorkspace;
  const uint32_t schemes =
      split ? CUBLASLT_REDUCTION_SCHEME_COMPUTE_TYPE | CUBLASLT_REDUCTION_SCHEME_OUTPUT_TYPE : 0;
  const uint32_t alignment = 16;
  library.preference_set(preference, CUBLASLT_MATMUL_PREF_MAX_WORKSPACE_BYTES, &room, sizeof room);
  library.preference_set(preference, CUBLASLT_MATMUL_PREF_REDUCTION_SCHEME_MASK, &schemes,
                         sizeof schemes);
  for (const auto attribute :
       {CUBLASLT_MATMUL_PREF_MIN_ALIGNMENT_A_BYTES, CUBLASLT_MATMUL_PREF_MIN_ALIGNMENT_B_BYTES,
        CUBLASLT_MATMUL_PREF_MIN_ALIGNMENT_C_BYTES, CUBLASLT_MATMUL_PREF_MIN_ALIGNMENT_D_BYTES}) {
    library.preference_set(preference, attribute, &alignment, sizeof alignment);
  }
  return preference;
}

// Leaves k in one piece; false where the algorithm cannot.
bool KeepWhole(const Products& products, const Description& description,
               cublasLtMatmulAlgo_t* algorithm) {
  const Library& library = products.library;
  const int32_t parts = 1;
  const uint32_t none = CUBLASLT_REDUCTION_SCHEME_NONE;
  library.algo_set(algorithm, CUBLASLT_ALGO_CONFIG_SPLITK_NUM, &parts, sizeof parts);
  library.algo_set(algorithm, CUBLASLT_ALGO_CONFIG_REDUCTION_SCHEME, &none, sizeof none);
  cublasLtMatmulHeuristicResult_t checked;
  return library.algo_check(products.handle, description.operation, description.a, description.b,
                            description.d, description.d, algorithm,
                            &checked) == CUBLAS_STATUS_SUCCESS &&
         checked.workspaceSize <= kWorkspace;
}

}  // namespace

bool OpenLibrary(Library* library, std::string* error) {
  std::vector<std::string> names;
  if (const char* asked = std::getenv("HONE_CUBLASLT")) names.push_back(asked);
  for (const char* version : {"13", "12"}) {
    const std::string file = std::string("libcublasLt.so.") + version;
    names.push_back(file);
    names.push_back("/usr/local/cuda/lib64/" + file);
    names.push_back(std::string("/usr/local/cuda-") + version + "/lib64/" + file);
    names.push_back("/usr/lib/x86_64-linux-gnu/" + file);
  }
  void* handle = nullptr;
  for (const std::string& name : names) {
    if ((handle = dlopen(name.c_str(), RTLD_NOW | RTLD_LOCAL)) != nullptr) break;
  }
  if (handle == nullptr) {
    *error =
        "libcublasLt.so.13 is not found: install CUDA's cuBLAS, or name the file in HONE_CUBLASLT";
    return false;
  }
  bool all = true;
  auto load = [&](const char* name, auto* function) {
    *function = reinterpret_cast<std::remove_pointer_t<decltype(function)>>(dlsym(handle, name));
    all = all && *function != nullptr;
  };
  load("cublasLtCreate", &library->create);
  load("cublasLtDestroy", &library->destroy);
  load("cublasLtGetVersion", &library->version);
  load("cublasLtMatmul", &library->matmul);
  load("cublasLtMatmulDescCreate", &library->desc_create);
  load("cublasLtMatmulDescDestroy", &library->desc_destroy);
  load("cublasLtMatmulDescSetAttribute", &library->desc_set);
  load("cublasLtMatrixLayoutCreate", &library->layout_create);
  load("cublasLtMatrixLayoutDestroy", &library->layout_destroy);
  load("cublasLtMatmulPreferenceCreate", &library->preference_create);
  load("cublasLtMatmulPreferenceDestroy", &library->preference_destroy);
  load("cublasLtMatmulPreferenceSetAttribute", &library->preference_set);
  load("cublasLtMatmulAlgoGetHeuristic", &library->heuristic);
  load("cublasLtMatmulAlgoConfigSetAttribute", &library->algo_set);
  load("cublasLtMatmulAlgoConfigGetAttribute", &library->algo_get);
  load("cublasLtMatmulAlgoCheck", &library->algo_check);
  if (!all) *error = "libcublasLt lacks a function that Hone needs: install that of CUDA 12 or 13";
  return all;
}

Description::Description(const Library& of, const DeviceProduct& p) : library(of) {
  using Form = DeviceProduct::Form;
  const cublasOperation_t first = p.form == Form::kForward ? CUBLAS_OP_T : CUBLAS_OP_N;
  const cublasOperation_t second = p.form == Form::kWeight ? CUBLAS_OP_T : CUBLAS_OP_N;
  library.desc_create(&operation, CUBLAS_COMPUTE_32F, CUDA_R_32F);
  library.desc_set(operation, CUBLASLT_MATMUL_DESC_TRANSA, &first, sizeof first);
  library.desc_set(operation, CUBLASLT_MATMUL_DESC_TRANSB, &second, sizeof second);
  const auto m = static_cast<uint64_t>(p.m), n = static_cast<uint64_t>(p.n),
             k = static_cast<uint64_t>(p.k);
  const cudaDataType in = DataTypeOf(p.input);
  if (p.form == Form::kForward) {
    library.layout_create(&a, in, k, n, p.b_row);
  } else {
    library.layout_create(&a, in, n, k, p.b_row);
  }
  if (p.form == Form::kWeight) {
    library.layout_create(&b, in, m, k, p.a_row);
  } else {
    library.layout_create(&b, in, k, m, p.a_row);
  }
  library.layout_create(&d, DataTypeOf(p.output), n, m, p.out_row);
}

Description::~Description() {
  library.layout_destroy(a);
  library.layout_destroy(b);
  library.layout_destroy(d);
  library.desc_destroy(operation);
}

cublasStatus_t RunAlgorithm(DeviceContext* context, const Description& description,
                            const DeviceProduct& p, const cublasLtMatmulAlgo_t& algorithm) {
  const Products& products = *context->products;
  const float beta = p.addend == nullptr ? 0.0f : 1.0f;
  return products.library.matmul(
      products.handle, description.operation, &p.scale, p.b, description.a, p.a, description.b,
      &beta, p.addend == nullptr ? p.out : p.addend, description.d, p.out, description.d,
      &algorithm, products.workspace, kWorkspace, context->stream);
}

std::vector<cublasLtMatmulAlgo_t> Algorithms(const Products& products,
                                             const Description& description, bool split) {
  const Library& library = products.library;
  cublasLtMatmulPreference_t preference = PreferenceOf(library, split);
  cublasLtMatmulHeuristicResult_t found[kMostAlgorithms];
  int count = 0;
  library.heuristic(products.handle, description.operation, description.a, description.b,
                    description.d, description.d, preference, kMostAlgorithms, found, &count);
  library.preference_destroy(preference);
  std::vector<cublasLtMatmulAlgo_t> algorithms;
  for (int i = 0; i < count; ++i) {
    if (found[i].state != CUBLAS_STATUS_SUCCESS) continue;
    cublasLtMatmulAlgo_t algorithm = found[i].algo;
    if (!split && !KeepWhole(products, description, &algorithm)) continue;
    algorithms.push_back(algorithm);
  }
  return algorithms;
}

}  // namespace hone::cuda
