// Products of gradients: the same bits for the same call. Large outputs keep the GPU busy without a
// split of k, and then all of cuBLASLt's algorithms give the same bits: the fastest is looked for
// when a shape comes for the first time. Others are left to cuBLASLt's first choice, which does not
// depend on timing.

#include <algorithm>

#include "engine/kernels/cuda/product_trial.h"

namespace hone::cuda {
namespace {

constexpr int64_t kLargeOutput = int64_t{1} << 21;  // numbers: a tile for each multiprocessor

// Memory and events for trying, given back at the end.
class Room {
 public:
  explicit Room(int64_t bytes) {
    ok_ = cudaMalloc(&result, bytes) == cudaSuccess &&
          cudaMalloc(&expected, bytes) == cudaSuccess &&
          cudaMalloc(&differs, sizeof(int)) == cudaSuccess &&
          cudaEventCreate(&begin) == cudaSuccess && cudaEventCreate(&end) == cudaSuccess;
    cudaGetLastError();  // a failure to get memory is told by ok()
  }
  ~Room() {
    for (void* memory : {result, expected, static_cast<void*>(differs)}) cudaFree(memory);
    if (begin != nullptr) cudaEventDestroy(begin);
    if (end != nullptr) cudaEventDestroy(end);
  }
  Room(const Room&) = delete;
  Room& operator=(const Room&) = delete;
  bool ok() const { return ok_; }

  void *result = nullptr, *expected = nullptr;
  int* differs = nullptr;
  cudaEvent_t begin = nullptr, end = nullptr;

 private:
  bool ok_ = false;
};

// Of algorithms that do not split k, the fastest that has the bits of the first. What the product
// has to give is not touched.
cublasLtMatmulAlgo_t Fastest(DeviceContext* context, const DeviceProduct& p,
                             const std::vector<cublasLtMatmulAlgo_t>& algorithms) {
  const int64_t bytes = p.m * p.out_row * BytesOf(p.output);
  const Room room(bytes);
  if (!room.ok()) return algorithms[0];
  const Description description(context->products->library, p);
  DeviceProduct tried = p;
  auto compute = [&](const cublasLtMatmulAlgo_t& algorithm, void* out) {
    cudaMemsetAsync(out, 0, bytes, context->stream);
    tried.out = out;
    return RunAlgorithm(context, description, tried, algorithm) == CUBLAS_STATUS_SUCCESS;
  };
  size_t best = 0;
  float least = kNever;
  for (size_t i = 0; i < algorithms.size(); ++i) {
    const bool computed = compute(algorithms[i], i == 0 ? room.expected : room.result);
    if (!computed && i == 0) return algorithms[0];
    if (!computed ||
        (i > 0 && !SameBytes(context, room.result, room.expected, bytes, room.differs))) {
      continue;
    }
    const float time = TimeOf(context, room.begin, room.end, [&](int) {
      RunAlgorithm(context, description, tried, algorithms[i]);
    });
    if (time >= least) continue;
    least = time;
    best = i;
  }
  return algorithms[best];
}

// What is chosen for a call is kept for all whose number of rows has the same power of two above.
Products::CallKey KeyOf(const DeviceProduct& p, bool large) {
  int64_t m = p.m, k = p.k;
  int64_t& rows = p.form == DeviceProduct::Form::kWeight ? k : m;
  if (large) {
    int64_t up = 64;
    while (up < rows) up *= 2;
    rows = up;
  }
  return {
      static_cast<int>(p.form), m, p.n, k, p.a_row, p.b_row, p.out_row, static_cast<int>(p.output),
      p.addend != nullptr};
}

}  // namespace

void FreeProduct(DeviceContext* context, const DeviceProduct& p) {
  Products& products = *context->products;
  const bool large = p.m * p.n >= kLargeOutput;
  const Products::CallKey key = KeyOf(p, large);
  const Description description(products.library, p);
  auto found = products.others.find(key);
  if (found == products.others.end()) {
    const auto algorithms = Algorithms(products, description, !large);
    if (algorithms.empty()) return PlainProductOf(context, p);
    const cublasLtMatmulAlgo_t chosen = large ? Fastest(context, p, algorithms) : algorithms[0];
    found = products.others.emplace(key, chosen).first;
  }
  if (RunAlgorithm(context, description, p, found->second) != CUBLAS_STATUS_SUCCESS) {
    context->error = "product: cuBLASLt failed";
  }
}

}  // namespace hone::cuda
