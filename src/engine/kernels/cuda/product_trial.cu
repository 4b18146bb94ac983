#include "engine/kernels/cuda/product_trial.h"

#include <cuda_bf16.h>

#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <utility>

#include "engine/kernels/cuda/early.cuh"

namespace hone::cuda {
namespace {

constexpr int kTimedRuns = 6;

// Numbers in (-1, 1) that look random.
__global__ void FillForTrial(__nv_bfloat16* to, int64_t n, uint32_t seed) {
  for (int64_t i = int64_t{blockIdx.x} * blockDim.x + threadIdx.x; i < n;
       i += int64_t{gridDim.x} * blockDim.x) {
    uint32_t x = static_cast<uint32_t>(i) * 2654435761u ^ seed;
    x ^= x >> 16;
    x *= 0x85ebca6bu;
    x ^= x >> 13;
    x *= 0xc2b2ae35u;
    x ^= x >> 16;
    to[i] = __float2bfloat16_rn(static_cast<int32_t>(x) * (1.0f / 2147483648.0f));
  }
}

// *differs = 1 where the bytes of two results are not the same.
__global__ void CompareResults(const uint16_t* x, const uint16_t* y, int64_t n, int* differs) {
  for (int64_t i = int64_t{blockIdx.x} * blockDim.x + threadIdx.x; i < n;
       i += int64_t{gridDim.x} * blockDim.x) {
    if (x[i] != y[i]) *differs = 1;
  }
}

// Does nothing for about as long as a norm takes, on all multiprocessors.
__global__ void Pause() {
  LetNextKernelStart();
  WaitForKernelBefore();
  constexpr int64_t kCycles = 4000;
  for (const int64_t start = clock64(); clock64() - start < kCycles;) {
  }
}

}  // namespace

void FillMadeUp(DeviceContext* context, void* bfloat16s, int64_t count, uint32_t seed) {
  FillForTrial<<<1024, 256, 0, context->stream>>>(static_cast<__nv_bfloat16*>(bfloat16s), count,
                                                  seed);
  Launched(context, "product");
}

bool SameBytes(DeviceContext* context, const void* x, const void* y, int64_t bytes, int* differs) {
  cudaMemsetAsync(differs, 0, sizeof(int), context->stream);
  CompareResults<<<1024, 256, 0, context->stream>>>(
      static_cast<const uint16_t*>(x), static_cast<const uint16_t*>(y), bytes / 2, differs);
  int seen = 1;
  cudaMemcpyAsync(&seen, differs, sizeof seen, cudaMemcpyDeviceToHost, context->stream);
  return cudaStreamSynchronize(context->stream) == cudaSuccess && seen == 0;
}

float TimeOf(DeviceContext* context, cudaEvent_t begin, cudaEvent_t end,
             const std::function<void(int)>& run) {
  cudaGraph_t graph = nullptr;
  cudaGraphExec_t recording = nullptr;
  if (cudaStreamBeginCapture(context->stream, cudaStreamCaptureModeThreadLocal) != cudaSuccess) {
    return kNever;
  }
  for (int i = 0; i < kTimedRuns; ++i) run(i);
  const bool recorded = cudaStreamEndCapture(context->stream, &graph) == cudaSuccess &&
                        cudaGraphInstantiate(&recording, graph, 0) == cudaSuccess;
  if (graph != nullptr) cudaGraphDestroy(graph);
  if (!recorded) {
    cudaGetLastError();  // such a way is not used
    return kNever;
  }
  float best = kNever;
  for (int round = 0; round < 3; ++round) {
    cudaEventRecord(begin, context->stream);
    cudaGraphLaunch(recording, context->stream);
    cudaEventRecord(end, context->stream);
    cudaEventSynchronize(end);
    float elapsed = kNever;
    cudaEventElapsedTime(&elapsed, begin, end);
    best = std::min(best, elapsed);
  }
  cudaGraphExecDestroy(recording);
  return best;
}

int PartsOf(const DeviceProductShape& shape) {
  constexpr int64_t kLong = 4096, kNarrow = 4096;
  const bool halves = shape.input == Element::kBf16 && shape.output == Element::kF32 &&
                      shape.addend && shape.k >= kLong && shape.n <= kNarrow && shape.k % 128 == 0;
  return halves ? 2 : 1;
}

bool RunWay(DeviceContext* context, const DeviceProduct& p, const Way& way, int parts) {
  if (way.few_rows) return RunFewRows(context, p, way.plan, parts);
  DeviceProduct part = p;
  part.k = p.k / parts;
  const Description description(context->products->library, part);
  for (int i = 0; i < parts; ++i) {
    const int64_t at = i * part.k * BytesOf(p.input);
    part.a = static_cast<const char*>(p.a) + at;
    part.b = static_cast<const char*>(p.b) + at;
    if (i > 0) part.addend = p.out;
    if (RunAlgorithm(context, description, part, way.algorithm) != CUBLAS_STATUS_SUCCESS) {
      return false;
    }
  }
  return true;
}

Trial::Trial(DeviceContext* context, const DeviceProductShape& shape)
    : context_(context), shape_(shape), parts_(PartsOf(shape)) {
  const int64_t rows = shape.most_rows, n = shape.n, k = shape.k;
  copies_ = ProductTrialCopies(shape);
  ok_ = cudaMalloc(&x_, rows * k * 2) == cudaSuccess &&
        cudaMalloc(&weight_, copies_ * n * k * 2) == cudaSuccess &&
        cudaMalloc(&result_, rows * n * BytesOf(shape.output)) == cudaSuccess &&
        cudaMalloc(&differs_, sizeof(int)) == cudaSuccess &&
        cudaEventCreate(&begin_) == cudaSuccess && cudaEventCreate(&end_) == cudaSuccess;
  cudaGetLastError();  // a failure to get memory is told by ok()
  if (!ok_) return;
  FillMadeUp(context, x_, rows * k, 1);
  FillMadeUp(context, weight_, copies_ * n * k, 2);
}

Trial::~Trial() {
  for (void* memory : {x_, weight_, result_, static_cast<void*>(differs_)}) cudaFree(memory);
  for (void* memory : expected_) cudaFree(memory);
  if (begin_) cudaEventDestroy(begin_);
  if (end_) cudaEventDestroy(end_);
}

DeviceProduct Trial::Rows(int64_t rows, int64_t from, void* out) const {
  DeviceProduct p;
  p.m = rows;
  p.n = shape_.n;
  p.k = shape_.k;
  p.a = static_cast<const char*>(x_) + from * shape_.k * 2;
  p.b = weight_;
  p.out = out;
  p.addend = shape_.addend ? out : nullptr;
  p.a_row = p.b_row = shape_.k;
  p.out_row = shape_.n;
  p.output = shape_.output;
  return p;
}

std::vector<Way> Trial::For(int64_t rows) const {
  DeviceProduct part = Rows(rows, 0, result_);
  part.k /= parts_;
  const Description description(context_->products->library, part);
  std::vector<Way> ways;
  for (const cublasLtMatmulAlgo_t& algorithm :
       Algorithms(*context_->products, description, false)) {
    ways.push_back({false, {}, algorithm});
  }
  if (rows > kFewRows) return ways;
  for (const FewRowsTiling& plan : FewRowsTilings(context_, shape_, parts_)) {
    ways.push_back({true, plan, {}});
  }
  return ways;
}

bool Trial::Compute(const Way& way, int64_t rows, int64_t from, void* out) {
  const DeviceProduct p = Rows(rows, from, out);
  cudaMemsetAsync(out, 0, rows * shape_.n * BytesOf(shape_.output), context_->stream);
  return RunWay(context_, p, way, parts_);
}

int Trial::ClassOf(const Way& way) {
  std::string name(reinterpret_cast<const char*>(&way.algorithm), sizeof way.algorithm);
  name.append(reinterpret_cast<const char*>(&way.plan), sizeof way.plan);
  const auto [found, fresh] = class_of_.emplace(name, -1);
  if (fresh) found->second = FindClass(way);
  return found->second;
}

bool Trial::SameBits(const Way& way, int64_t rows, int64_t from, int of) {
  rows = std::min(rows, shape_.most_rows - from);
  if (rows <= 0) return true;
  return Compute(way, rows, from, result_) && Equal(expected_[static_cast<size_t>(of)], from, rows);
}

float Trial::Milliseconds(const Way& way, int64_t rows) {
  DeviceProduct p = Rows(rows, 0, result_);
  const dim3 blocks(static_cast<unsigned>(context_->properties.multiProcessorCount));
  return TimeOf(context_, begin_, end_, [&](int run) {
    // A step of drawing has small kernels between its products, which may start beside these.
    if (rows <= kFewRows) LaunchEarly(context_, {"product", blocks, dim3(32)}, Pause);
    p.b = static_cast<const char*>(weight_) + run % copies_ * shape_.n * shape_.k * 2;
    RunWay(context_, p, way, parts_);
  });
}

int Trial::FindClass(const Way& way) {
  const int64_t rows = way.few_rows ? std::min(kFewRows, shape_.most_rows) : shape_.most_rows;
  if (!Compute(way, rows, 0, result_)) return -1;
  for (size_t i = 0; i < expected_.size(); ++i) {
    if (Equal(expected_[i], 0, rows)) return static_cast<int>(i);
  }
  if (rows < shape_.most_rows) return -1;
  void* memory = nullptr;
  const int64_t bytes = shape_.most_rows * shape_.n * BytesOf(shape_.output);
  if (expected_.size() == kMostClasses || cudaMalloc(&memory, bytes) != cudaSuccess) {
    cudaGetLastError();
    return -1;
  }
  cudaMemcpyAsync(memory, result_, bytes, cudaMemcpyDeviceToDevice, context_->stream);
  expected_.push_back(memory);
  return static_cast<int>(expected_.size()) - 1;
}

bool Trial::Equal(const void* expected, int64_t from, int64_t rows) {
  const int64_t row = shape_.n * BytesOf(shape_.output);
  return SameBytes(context_, result_, static_cast<const char*>(expected) + from * row, rows * row,
                   differs_);
}

namespace {

// One class of bits: the fastest of its ways for each size, and the time of that; kNever
// where there is none.
struct Candidate {
  std::vector<RowClass> chosen;
  std::vector<float> time;
  float own_time = kNever;  // of our own kernels, for the last size

  void AddSize(int64_t rows) {
    chosen.push_back({rows, {}, {}});
    time.push_back(kNever);
    own_time = kNever;
  }
  void Add(const Way& way, float milliseconds) {
    if (milliseconds < time.back()) {
      time.back() = milliseconds;
      chosen.back().way = way;
    }
    if (way.few_rows && milliseconds < own_time) {
      own_time = milliseconds;
      chosen.back().gated = way;
    }
  }
  void EndSize() {
    constexpr float kSwiGluShare = 1.15f;  // what a kernel for swiglu alone would add
    if (own_time > kSwiGluShare * time.back()) chosen.back().gated = chosen.back().way;
  }
};

// A way for more rows also does for fewer, and is sometimes the better one.
std::vector<Way> WaysFor(const Trial& trial, int64_t rows) {
  std::vector<Way> ways;
  for (int64_t more = rows; more <= std::min(trial.rows(), 8 * rows); more *= 2) {
    for (const Way& way : trial.For(more)) {
      const bool known = std::any_of(ways.begin(), ways.end(), [&](const Way& other) {
        return other.few_rows == way.few_rows && other.plan.columns == way.plan.columns &&
               other.plan.stage_steps == way.plan.stage_steps &&
               std::memcmp(&other.algorithm, &way.algorithm, sizeof way.algorithm) == 0;
      });
      if (!known) ways.push_back(way);
    }
  }
  return ways;
}

// For those who look for the fastest way: what each took, where HONE_CUDA_TRIALS is set.
void SayTrial(const Trial& trial, int64_t rows, const Way& way, float milliseconds) {
  static const bool wanted = std::getenv("HONE_CUDA_TRIALS") != nullptr;
  if (!wanted) return;
  std::fprintf(stderr, "product %ldx%ld of %ld rows: %.2f us, %s", long{trial.shape().n},
               long{trial.shape().k}, long{rows}, 1000 * milliseconds / kTimedRuns,
               way.few_rows ? "own" : "cuBLASLt\n");
  if (way.few_rows) {
    std::fprintf(stderr, " of %d columns, %d steps\n", way.plan.columns, way.plan.stage_steps);
  }
}

// Tries all ways for the last of the sizes, which all candidates have.
void TrySize(const std::vector<int64_t>& sizes, Trial* trial, std::vector<Candidate>* candidates) {
  const int64_t rows = sizes.back();
  for (const Way& way : WaysFor(*trial, rows)) {
    const int of = trial->ClassOf(way);
    if (of < 0) continue;
    while (static_cast<int>(candidates->size()) < trial->classes()) {
      candidates->emplace_back();  // none of the sizes before this one had it
      for (const int64_t size : sizes) candidates->back().AddSize(size);
    }
    // Whole and ragged numbers of rows, alone and elsewhere among the others.
    if (!trial->SameBits(way, rows, 0, of) || !trial->SameBits(way, rows / 2 + 1, 5, of) ||
        !trial->SameBits(way, 1, 3, of)) {
      continue;
    }
    const float time = trial->Milliseconds(way, rows);
    SayTrial(*trial, rows, way, time);
    (*candidates)[static_cast<size_t>(of)].Add(way, time);
  }
  for (Candidate& candidate : *candidates) candidate.EndSize();
}

// Of all sizes together, each as a multiple of the best; kNever or more where one is lacking.
float LossOf(const Candidate& candidate, const std::vector<Candidate>& candidates) {
  float loss = 0;
  for (size_t i = 0; i < candidate.time.size(); ++i) {
    float fastest = kNever;
    for (const Candidate& other : candidates) fastest = std::min(fastest, other.time[i]);
    loss += candidate.time[i] == kNever ? kNever : candidate.time[i] / fastest;
  }
  return loss;
}

}  // namespace

std::vector<RowClass> ChooseClasses(Trial* trial) {
  std::vector<int64_t> sizes;
  std::vector<Candidate> candidates;
  for (int64_t rows = kFewestRows; rows <= trial->rows(); rows *= 2) {
    sizes.push_back(rows);
    for (Candidate& candidate : candidates) candidate.AddSize(rows);
    TrySize(sizes, trial, &candidates);
  }
  std::vector<RowClass> best;
  float least = kNever;
  for (const Candidate& candidate : candidates) {
    const float loss = LossOf(candidate, candidates);
    if (loss >= least) continue;
    least = loss;
    best = candidate.chosen;
  }
  return best;
}

}  // namespace hone::cuda
