// Products of gradients: the same bits for the same call. Large outputs keep the GPU busy without a
// split of k, and then cuBLASLt's algorithms give the same bits: the fastest is looked for when a
// shape comes for the first time, on made-up numbers. What is compared depends on the shape alone,
// so the bits do not depend on timing nor on what came before. Other products are left to
// cuBLASLt's first choice.

#include "engine/kernels/cuda/product_trial.h"

namespace hone::cuda {
namespace {

// The product that stands for all of its kind, with the rows of GradientTrialRows.
DeviceProduct KindOf(const DeviceProduct& p) {
  DeviceProduct kind = p;
  (p.form == DeviceProduct::Form::kWeight ? kind.k : kind.m) = GradientTrialRows(p);
  return kind;
}

// Memory and events for trying, given back at the end.
class Room {
 public:
  Room(DeviceContext* context, const DeviceProduct& kind) {
    const int64_t a =
        (kind.form == DeviceProduct::Form::kWeight ? kind.k : kind.m) * kind.a_row * 2;
    const int64_t b = kind.k * kind.b_row * 2;
    result_bytes = kind.m * kind.out_row * BytesOf(kind.output);
    if (GradientTrialBytes(kind) == 0 || cudaEventCreate(&begin) != cudaSuccess ||
        cudaEventCreate(&end) != cudaSuccess) {
      return;
    }
    ok_ = Take(a, &operand_a) && Take(b, &operand_b) && Take(result_bytes, &addend) &&
          Take(result_bytes, &result) && Take(result_bytes, &expected) &&
          Take(sizeof(int), &differs);
    cudaGetLastError();  // a failure to get memory is told by ok()
    if (!ok_) return;
    FillMadeUp(context, operand_a, a / 2, 1);
    FillMadeUp(context, operand_b, b / 2, 2);
    FillMadeUp(context, addend, result_bytes / 2, 3);
  }
  ~Room() {
    for (void* memory : taken_) cudaFree(memory);
    if (begin != nullptr) cudaEventDestroy(begin);
    if (end != nullptr) cudaEventDestroy(end);
  }
  Room(const Room&) = delete;
  Room& operator=(const Room&) = delete;
  bool ok() const { return ok_; }

  int64_t result_bytes = 0;
  void *operand_a = nullptr, *operand_b = nullptr, *addend = nullptr, *result = nullptr,
       *expected = nullptr, *differs = nullptr;
  cudaEvent_t begin = nullptr, end = nullptr;

 private:
  bool Take(int64_t bytes, void** memory) {
    if (cudaMalloc(memory, static_cast<size_t>(bytes)) != cudaSuccess) return false;
    taken_.push_back(*memory);
    return true;
  }

  std::vector<void*> taken_;
  bool ok_ = false;
};

// Of algorithms that do not split k, the fastest that has the bits of the first.
cublasLtMatmulAlgo_t Fastest(DeviceContext* context, const DeviceProduct& kind,
                             const std::vector<cublasLtMatmulAlgo_t>& algorithms) {
  const Room room(context, kind);
  if (!room.ok()) return algorithms[0];
  const Description description(context->products->library, kind);
  DeviceProduct tried = kind;
  tried.a = room.operand_a;
  tried.b = room.operand_b;
  if (kind.addend != nullptr) tried.addend = room.addend;
  auto compute = [&](const cublasLtMatmulAlgo_t& algorithm, void* out) {
    cudaMemsetAsync(out, 0, static_cast<size_t>(room.result_bytes), context->stream);
    tried.out = out;
    return RunAlgorithm(context, description, tried, algorithm) == CUBLAS_STATUS_SUCCESS;
  };
  if (!compute(algorithms[0], room.expected)) return algorithms[0];
  size_t best = 0;
  float least = kNever;
  for (size_t i = 0; i < algorithms.size(); ++i) {
    if (!compute(algorithms[i], room.result) ||
        !SameBytes(context, room.result, room.expected, room.result_bytes,
                   static_cast<int*>(room.differs))) {
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

// The algorithm of a call, chosen when the first of its kind comes; false where there is none.
bool AlgorithmOf(DeviceContext* context, const DeviceProduct& p, cublasLtMatmulAlgo_t* algorithm) {
  Products& products = *context->products;
  const bool large = IsLargeGradient(p);
  const DeviceProduct kind = large ? KindOf(p) : p;
  const Products::CallKey key{static_cast<int>(p.form),
                              kind.m,
                              kind.n,
                              kind.k,
                              p.a_row,
                              p.b_row,
                              p.out_row,
                              static_cast<int>(p.output),
                              p.addend != nullptr};
  const auto found = products.others.find(key);
  if (found != products.others.end()) {
    *algorithm = found->second;
    return true;
  }
  const Description description(products.library, kind);
  const auto algorithms = Algorithms(products, description, !large);
  if (algorithms.empty()) return false;
  *algorithm = large ? Fastest(context, kind, algorithms) : algorithms[0];
  products.others.emplace(key, *algorithm);
  return true;
}

}  // namespace

void FreeProduct(DeviceContext* context, const DeviceProduct& p) {
  cublasLtMatmulAlgo_t algorithm;
  if (!AlgorithmOf(context, p, &algorithm)) return PlainProductOf(context, p);
  const Description description(context->products->library, p);
  if (RunAlgorithm(context, description, p, algorithm) == CUBLAS_STATUS_SUCCESS) return;
  // What serves the kind does not serve this number of rows: cuBLASLt's first choice for it does.
  const auto others = Algorithms(*context->products, description, false);
  if (others.empty() || RunAlgorithm(context, description, p, others[0]) != CUBLAS_STATUS_SUCCESS) {
    context->error = "product: cuBLASLt failed";
  }
}

}  // namespace hone::cuda
