#include "engine/benchmark.h"

#include <algorithm>
#include <chrono>
#include <thread>

#include <dlfcn.h>
#include <sys/resource.h>

#include <fmt/format.h>

#include "base/check.h"
#include "base/rng.h"
#include "engine/device/device_memory.h"
#include "engine/engine.h"
#include "engine/matrix.h"
#include "engine/memory.h"

namespace hone {
namespace {

// The machine's rate right now, on all threads.
class Scale {
 public:
  Scale(const Kernels& kernels, ThreadPool* pool) : kernels_(kernels), pool_(pool) {
    while (Time() < 2e-3) rounds_ *= 2;  // slices of a few milliseconds
  }

  double Rate() {
    const double seconds = Time();
    const double rate = operations_ / seconds;
    rates_.push_back(rate);
    return rate;
  }
  const std::vector<double>& rates() const { return rates_; }

 private:
  double Time() {
    std::vector<double> done(static_cast<size_t>(pool_->threads()));
    const double start = bench::Now();
    pool_->ParallelFor(done.size(), 1, [&](size_t begin, size_t end) {
      for (size_t i = begin; i < end; ++i) done[i] = kernels_.peak(rounds_);
    });
    const double seconds = bench::Now() - start;
    operations_ = 0;
    for (const double one : done) operations_ += one;
    return seconds;
  }

  const Kernels& kernels_;
  ThreadPool* pool_;
  int64_t rounds_ = 1024;
  double operations_ = 0;
  std::vector<double> rates_;
};

// Work and scale in turns; `work` does `operations` floating-point operations.
Measurement Pairs(std::string name, Scale* scale, double operations, double tokens, int pairs,
                  const std::function<void()>& work) {
  work();  // memory and caches
  // Short work is repeated for some milliseconds, so that the clock does not matter.
  double start = bench::Now();
  work();
  const int repeats = std::max(1, static_cast<int>(5e-3 / std::max(bench::Now() - start, 1e-7)));
  std::vector<double> shares, rates;
  double before = scale->Rate();
  for (int i = 0; i < pairs; ++i) {
    start = bench::Now();
    for (int r = 0; r < repeats; ++r) work();
    const double rate = repeats * operations / (bench::Now() - start);
    const double after = scale->Rate();
    shares.push_back(rate / ((before + after) / 2));
    rates.push_back(rate);
    before = after;
  }
  Measurement m{std::move(name), bench::Median(shares), bench::Median(rates) / 1e9, 0, ""};
  if (tokens > 0) m.per_second = bench::Median(rates) / operations * tokens;
  return m;
}

Floats RandomBf16(uint64_t seed, int64_t count) {
  Rng rng(seed);
  Floats values(static_cast<size_t>(count));
  for (float& value : values) value = static_cast<float>(rng.NextNormal());
  BestKernels().round_bf16(values.data(), count);
  return values;
}

Measurement MeasureGemm(Scale* scale, ThreadPool* pool, int64_t m, int64_t k, int64_t n,
                        int pairs) {
  const Floats a = RandomBf16(1, m * k), b = RandomBf16(2, k * n);
  Panels panels;
  panels.Pack({b.data(), n, 1, k, n}, Precision::kBf16, BestKernels(), pool);
  Floats out(static_cast<size_t>(m * n));
  const double operations =
      2.0 * static_cast<double>(m) * static_cast<double>(k) * static_cast<double>(n);
  return Pairs(fmt::format("product {} x {} x {}", m, k, n), scale, operations, 0, pairs, [&] {
    Multiply({a.data(), k}, panels, {out.data(), m, n}, BestKernels(), pool);
  });
}

// OpenBLAS's sgemm on the same shape, where the library is there.
void CompareWithOpenBlas(Scale* scale, int64_t n, int threads, int pairs,
                         std::vector<Measurement>* out) {
  setenv("OPENBLAS_CORETYPE", "SKYLAKEX", 0);  // what it does not recognise it runs very slowly
  setenv("OPENBLAS_THREAD_TIMEOUT", "4", 0);  // its threads would keep the cores busy between calls
  void* library = dlopen("libopenblas.so.0", RTLD_NOW | RTLD_LOCAL);
  if (library == nullptr) {
    out->push_back({"OpenBLAS sgemm", 0, 0, 0, "not installed (libopenblas0-pthread)"});
    return;
  }
  using Sgemm = void (*)(int, int, int, int, int, int, float, const float*, int, const float*, int,
                         float, float*, int);
  using SetThreads = void (*)(int);
  auto sgemm = reinterpret_cast<Sgemm>(dlsym(library, "cblas_sgemm"));
  auto set_threads = reinterpret_cast<SetThreads>(dlsym(library, "openblas_set_num_threads"));
  if (sgemm == nullptr || set_threads == nullptr) return;
  set_threads(threads);
  const Floats a = RandomBf16(1, n * n), b = RandomBf16(2, n * n);
  Floats c(static_cast<size_t>(n * n));
  const auto size = static_cast<int>(n);
  constexpr int kRowMajor = 101, kNoTranspose = 111;
  const double operations = 2.0 * static_cast<double>(n) * static_cast<double>(n * n);
  out->push_back(Pairs(fmt::format("OpenBLAS sgemm {}", n), scale, operations, 0, pairs, [&] {
    sgemm(kRowMajor, kNoTranspose, kNoTranspose, size, size, size, 1.0f, a.data(), size, b.data(),
          size, 0.0f, c.data(), size);
  }));
}

Measurement MeasureTraining(Scale* scale, int threads, int pairs) {
  Engine engine(bench::RandomModel(6, 384, 1024, 1024), {.threads = threads});
  constexpr int kSequences = 8, kLength = 256;
  std::vector<Tree> trees;
  for (uint64_t i = 0; i < kSequences; ++i) {
    trees.push_back(ChainOf(bench::RandomTokens(i, kLength, engine.config().vocab)));
  }
  const auto parameters = static_cast<double>(engine.config().ParameterCount());
  constexpr double kTokens = kSequences * kLength;
  Measurement m =
      Pairs(fmt::format("training step, {:.1f} M, {} x {}", parameters / 1e6, kSequences, kLength),
            scale, 6 * parameters * kTokens, kTokens, pairs, [&] {
              engine.Accumulate(trees, bench::EqualDerivatives);
              engine.Step({.learning_rate = 1e-6});
            });
  m.note = "by 6 x parameters x tokens";
  return m;
}

void MeasureDecode(Scale* scale, int threads, int pairs, std::vector<Measurement>* out) {
  Engine engine(bench::RandomModel(4, 320, 896, 1024), {.threads = threads});
  const auto parameters = static_cast<double>(engine.config().ParameterCount());
  const auto many = bench::Decoding(&engine, 64), one = bench::Decoding(&engine, 1);
  std::vector<double> shares, rates, ones, manys;
  for (int i = 0; i < pairs; ++i) {
    const double before = scale->Rate();
    manys.push_back(bench::SecondsPerStep(many.get(), 2));
    const double after = scale->Rate();
    ones.push_back(bench::SecondsPerStep(one.get(), 16));
    rates.push_back(2 * parameters * 64 / manys.back());
    shares.push_back(rates.back() / ((before + after) / 2));
  }
  out->push_back(
      {fmt::format("decode, {:.1f} M, 64 live", parameters / 1e6), bench::Median(shares),
       bench::Median(rates) / 1e9, 64 / bench::Median(manys),
       fmt::format("64 rows cost {:.1f} x one row", bench::Median(manys) / bench::Median(ones))});
}

void MeasureTree(Scale* scale, int threads, int pairs, std::vector<Measurement>* out) {
  Engine engine(bench::RandomModel(6, 384, 1024, 1024), {.threads = threads});
  constexpr int64_t kPrompt = 512, kTurn = 64, kLeaves = 16;
  Tree tree;
  tree.nodes.push_back({.tokens = bench::RandomTokens(1, kPrompt, 1024)});
  std::vector<Tree> paths;
  for (int i = 0; i < kLeaves; ++i) {
    tree.nodes.push_back(
        {.parent = 0, .tokens = bench::RandomTokens(2 + static_cast<uint64_t>(i), kTurn, 1024)});
    tree.leaves.push_back({.node = i + 1});
    std::vector<TokenId> tokens = tree.nodes[0].tokens;
    tokens.insert(tokens.end(), tree.nodes.back().tokens.begin(), tree.nodes.back().tokens.end());
    paths.push_back(ChainOf(std::move(tokens)));
  }
  const auto parameters = static_cast<double>(engine.config().ParameterCount());
  constexpr double kTreeTokens = kPrompt + kLeaves * kTurn,
                   kPathTokens = kLeaves * (kPrompt + kTurn);
  Measurement shared =
      Pairs("tree 512 + 16 x 64", scale, 6 * parameters * kTreeTokens, kTreeTokens, pairs, [&] {
        engine.Accumulate({&tree, 1}, bench::EqualDerivatives);
      });
  Measurement apart = Pairs("its 16 paths", scale, 6 * parameters * kPathTokens, kPathTokens,
                            std::max(3, pairs / 4), [&] {
                              for (const Tree& path : paths)
                                engine.Accumulate({&path, 1}, bench::EqualDerivatives);
                            });
  const double faster = (kPathTokens / apart.per_second) / (kTreeTokens / shared.per_second);
  shared.note = fmt::format("{} tokens, {:.2f} TFLOP: {:.1f} x faster than the paths", kTreeTokens,
                            6 * parameters * kTreeTokens / 1e12, faster);
  apart.note =
      fmt::format("{} tokens, {:.2f} TFLOP", kPathTokens, 6 * parameters * kPathTokens / 1e12);
  out->push_back(shared);
  out->push_back(apart);
}

}  // namespace

namespace bench {

double Now() {
  return std::chrono::duration<double>(std::chrono::steady_clock::now().time_since_epoch()).count();
}

double Median(std::vector<double> values) {
  std::nth_element(values.begin(), values.begin() + static_cast<int64_t>(values.size() / 2),
                   values.end());
  return values[values.size() / 2];
}

Model RandomModel(int64_t layers, int64_t width, int64_t ffn, int64_t vocab) {
  ModelConfig config;
  config.layers = layers;
  config.width = width;
  config.head_dim = 32;
  config.heads = width / config.head_dim;
  config.kv_heads = 2;
  config.ffn = ffn;
  config.vocab = vocab;
  config.qk_norm = true;
  Model model = NewModel(config);
  InitializeModel(1, &model);
  return model;
}

std::vector<TokenId> RandomTokens(uint64_t seed, int64_t count, int64_t vocab) {
  Rng rng(seed);
  std::vector<TokenId> tokens(static_cast<size_t>(count));
  for (TokenId& token : tokens)
    token = static_cast<TokenId>(rng.Below(static_cast<uint64_t>(vocab)));
  return tokens;
}

void EqualDerivatives(std::span<TreeTerms> terms) {
  for (TreeTerms& tree : terms) {
    for (PathTerms& path : tree.paths)
      std::fill(path.dlogprobs.begin(), path.dlogprobs.end(), -1e-3f);
  }
}

// A sampler with so many turns under way, their prompts computed.
std::unique_ptr<Sampler> Decoding(Engine* engine, uint64_t live) {
  auto sampler = engine->NewSampler();
  for (uint64_t i = 0; i < live; ++i) {
    const auto id = sampler->Start(RandomTokens(i, 32, engine->config().vocab));
    TurnRequest turn;
    turn.max_new = engine->config().max_positions;
    turn.rng = Rng(i);
    CHECK(sampler->Generate(id, turn).ok());
  }
  while (sampler->counters().drawn < 4 * static_cast<int64_t>(live)) sampler->Step();
  return sampler;
}

double SecondsPerStep(Sampler* sampler, int steps) {
  const double start = Now();
  for (int i = 0; i < steps; ++i) sampler->Step();
  return (Now() - start) / steps;
}

}  // namespace bench

BenchmarkReport MeasureEngine(const BenchmarkOptions& options,
                              const std::function<void(std::string_view)>& progress) {
  const FloatMode mode;
  BenchmarkReport report;
  const Kernels& kernels = BestKernels();
  report.kernels = kernels.name;
  report.threads = options.threads > 0
                       ? options.threads
                       : std::max(1, static_cast<int>(std::thread::hardware_concurrency()));
  ThreadPool pool(report.threads);
  Scale scale(kernels, &pool);
  const int pairs = options.quick ? 15 : 101, few = options.quick ? 3 : 15;
  std::vector<Measurement>& all = report.measurements;
  progress("products");
  for (const int64_t n : {512, 1024, 2048, 4096}) {
    if (options.quick && n > 1024) break;
    all.push_back(MeasureGemm(&scale, &pool, n, n, n, n > 1024 ? few : pairs));
  }
  all.push_back(MeasureGemm(&scale, &pool, 4096, 384, 1152, few));
  progress("training");
  all.push_back(MeasureTraining(&scale, report.threads, few));
  progress("decoding");
  MeasureDecode(&scale, report.threads, pairs, &all);
  progress("trees");
  MeasureTree(&scale, report.threads, std::max(3, few / 2), &all);
  progress("OpenBLAS");
  CompareWithOpenBlas(&scale, 1024, report.threads, pairs, &all);
  report.scale_gflops = bench::Median(scale.rates()) / 1e9;
  return report;
}

Result<ModelCosts> MeasureModel(const std::filesystem::path& folder,
                                const ModelCostOptions& options) {
  ModelCosts costs;
  double start = bench::Now();
  HONE_ASSIGN_OR_RETURN(
      const std::unique_ptr<Engine> engine,
      Engine::Open(folder, {.precision = options.bf16 ? Precision::kBf16 : Precision::kF32,
                            .recompute_activations = options.recompute_activations,
                            .device = options.device}));
  costs.load_seconds = bench::Now() - start;
  const ModelConfig& config = engine->config();
  costs.parameters = config.ParameterCount();
  const int64_t most = config.max_positions;
  auto sampler = engine->NewSampler();
  if (most < 8) return Error(ErrorCode::kInvalidArgument, "a model of fewer than 8 positions");
  const int64_t prompt = std::min(options.prompt, most / 2);
  const auto id = sampler->Start(bench::RandomTokens(1, prompt, config.vocab));
  TurnRequest turn;
  turn.max_new = std::min(options.drawn, most / 2) + 1;
  HONE_RETURN_IF_ERROR(sampler->Generate(id, turn));
  start = bench::Now();
  while (sampler->counters().drawn == 0) sampler->Step();
  costs.prefill_tokens_per_second = static_cast<double>(prompt) / (bench::Now() - start);
  start = bench::Now();
  while (!sampler->idle()) sampler->Step();
  costs.decode_tokens_per_second =
      static_cast<double>(sampler->counters().drawn - 1) / (bench::Now() - start);
  sampler.reset();

  costs.train_tokens = std::min(options.train_tokens, most);
  const Tree tree = ChainOf(bench::RandomTokens(2, costs.train_tokens, config.vocab));
  start = bench::Now();
  engine->LogProbs({&tree, 1});
  costs.score_tokens_per_second = static_cast<double>(costs.train_tokens) / (bench::Now() - start);
  for (double* seconds : {&costs.first_train_seconds, &costs.train_seconds}) {
    start = bench::Now();
    engine->Accumulate({&tree, 1}, bench::EqualDerivatives);
    engine->Step({.learning_rate = 1e-6});
    *seconds = bench::Now() - start;
  }
  costs.memory = engine->Memory();
  rusage usage = {};
  getrusage(RUSAGE_SELF, &usage);
  costs.peak_bytes = usage.ru_maxrss * 1024;
  if (const std::optional<DeviceUse> use = engine->Use()) {
    costs.device = *use;
    costs.derived_bytes =
        DeriveDeviceMemory(engine->model(),
                           {.precision = options.bf16 ? Precision::kBf16 : Precision::kF32,
                            .recompute_activations = options.recompute_activations},
                           {.tokens = costs.train_tokens,
                            .length = costs.train_tokens,
                            .prompt = prompt,
                            .live = 1,
                            .scored = true})
            .peak;
    return costs;
  }
  costs.derived_bytes =
      TotalBytes(TrainingMemory(config, options.bf16 ? Precision::kBf16 : Precision::kF32,
                                costs.train_tokens, options.recompute_activations));
  return costs;
}

}  // namespace hone
