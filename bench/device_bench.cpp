// What a model of a known shape costs on a device, with random weights: drawing, prompts, training,
// shared prefixes, memory. One JSON line per measurement; scripts/compare_gpu.py puts those of
// PyTorch beside them.
//
//   device_bench SHAPE PART...     SHAPE: 41m 0.5b 1.5b 7b; PART: see kParts below

#include <dlfcn.h>

#include <fmt/format.h>

#include <algorithm>
#include <functional>
#include <map>
#include <string>
#include <vector>

#include "base/rng.h"
#include "engine/device/device_memory.h"
#include "engine/engine.h"
#include "engine/lora.h"
#include "made_up_model.h"

namespace hone {
namespace {

void Derivatives(std::span<TreeTerms> all) { SetDerivatives(all, -1e-4f); }

void Say(const std::string& shape, const std::string& part, double value, const std::string& unit,
         const std::string& note = "") {
  fmt::print(
      "{{\"shape\": \"{}\", \"part\": \"{}\", \"value\": {:.6g}, \"unit\": \"{}\", \"note\": "
      "\"{}\"}}\n",
      shape, part, value, unit, note);
  std::fflush(stdout);
}

// What runs between the two is what a profiler looks at that was told to wait for it, as with
// `ncu --profile-from-start off`.
class Profiled {
 public:
  Profiled() { Call("cuProfilerStart"); }
  ~Profiled() { Call("cuProfilerStop"); }

 private:
  static void Call(const char* name) {
    static void* const driver = dlopen("libcuda.so.1", RTLD_NOW);
    if (driver == nullptr) return;
    if (auto* function = reinterpret_cast<int (*)()>(dlsym(driver, name))) function();
  }
};

class Bench {
 public:
  Bench(std::string shape, Engine::Options options) : shape_(std::move(shape)), options_(options) {
    options_.device = DeviceKind::kAuto;
    options_.sampler.memory = int64_t{24} << 30;
    Open(false);
  }

  // Prompts of 256 tokens, 128 new ones each: as transformers' generate counts.
  void Decode(int64_t sequences) {
    double whole = 0, steps = 0, busy = 0;
    for (int round = 0; round < 3; ++round) {  // the first one warms up
      auto sampler = engine_->NewSampler();
      most_live_ = std::max(most_live_, sequences);
      for (int64_t i = 0; i < sequences; ++i) {
        const auto id = sampler->Start(Tokens(static_cast<uint64_t>(i), 256, vocab()));
        TurnRequest turn;
        turn.max_new = 128;
        turn.rng = Rng(static_cast<uint64_t>(i));
        if (!sampler->Generate(id, turn).ok()) std::abort();
      }
      const double start = Now();
      while (sampler->counters().drawn < sequences) sampler->Step();
      const double middle = Now();
      const int64_t before = sampler->counters().drawn;
      const double busy_before = BusySeconds();
      while (!sampler->idle()) sampler->Step();
      busy = (BusySeconds() - busy_before) / (Now() - middle);
      whole = static_cast<double>(sequences * 128) / (Now() - start);
      steps = static_cast<double>(sampler->counters().drawn - before) / (Now() - middle);
    }
    Say(shape_, fmt::format("decode {}", sequences), whole, "tokens/s", "prompts of 256 included");
    Say(shape_, fmt::format("decode {} steps", sequences), steps, "tokens/s");
    Say(shape_, fmt::format("decode {} busy", sequences), busy, "of the steps' time");
    const double bytes = 2.0 * static_cast<double>(engine_->config().ParameterCount());
    Say(shape_, fmt::format("decode {} bandwidth", sequences),
        bytes * steps / static_cast<double>(sequences) / 1e12, "TB/s", "of weights alone");
  }

  // One step of drawing, one of prompts, and one of training, for a profiler.
  void ProfileDecode(int64_t sequences) {
    auto sampler = engine_->NewSampler();
    for (int64_t i = 0; i < sequences; ++i) {
      TurnRequest turn;
      turn.max_new = 64;
      if (!sampler->Generate(sampler->Start(Tokens(static_cast<uint64_t>(i), 256, vocab())), turn)
               .ok()) {
        std::abort();
      }
    }
    while (sampler->counters().drawn < sequences * 20) sampler->Step();
    const Profiled profiled;
    sampler->Step();
  }
  void ProfilePrompt() {
    auto sampler = engine_->NewSampler();
    for (uint64_t i = 0; i < 96; ++i) {
      if (!sampler->Generate(sampler->Start(Tokens(i, 256, vocab())), {.max_new = 1}).ok()) {
        std::abort();
      }
    }
    sampler->Step();
    const Profiled profiled;
    sampler->Step();
  }
  void ProfileTrain() {
    const std::vector<Tree> trees = Sequences();
    for (int round = 0; round < 3; ++round) {
      if (round < 2) {
        TrainOnce(trees);
      } else {
        const Profiled profiled;
        TrainOnce(trees);
      }
    }
  }

  void Prompt() {
    double rate = 0;
    for (int round = 0; round < 3; ++round) {
      auto sampler = engine_->NewSampler();
      most_live_ = std::max<int64_t>(most_live_, 32);
      for (uint64_t i = 0; i < 32; ++i) {
        const auto id = sampler->Start(Tokens(i, 512, vocab()));
        TurnRequest turn;
        turn.max_new = 1;
        if (!sampler->Generate(id, turn).ok()) std::abort();
      }
      const double start = Now();
      while (!sampler->idle()) sampler->Step();
      rate = 32 * 512 / (Now() - start);
    }
    Say(shape_, "prompt", rate, "tokens/s");
    Say(shape_, "prompt rate", rate * 2 * LayerParameters() / 1e12, "TFLOP/s", "of layers");
  }

  // 16 sequences of 512 tokens: forward, backward, AdamW.
  void Train(bool lora) {
    if (lora != lora_) Open(lora);
    const std::vector<Tree> trees = Sequences();
    double best = 1e9, busy = 0;
    for (int round = 0; round < 6; ++round) {
      const double start = Now(), busy_before = BusySeconds();
      TrainOnce(trees);
      const double seconds = Now() - start;
      if (seconds >= best) continue;
      best = seconds;
      busy = (BusySeconds() - busy_before) / seconds;
    }
    const double rate = 16 * 512 / best;
    const std::string name = lora ? "train lora" : "train";
    Say(shape_, name, rate, "tokens/s");
    Say(shape_, name + " busy", busy, "of the step's time");
    const double work = lora ? 4.0 : 6.0;  // no gradients of frozen weights
    Say(shape_, name + " rate",
        rate * work * static_cast<double>(engine_->config().ParameterCount()) / 1e12, "TFLOP/s");
    for (const auto& [part, bytes] : engine_->Memory()) {
      Say(shape_, name + " memory " + part, static_cast<double>(bytes) / (1 << 30), "GiB");
    }
    SayPeak(name);
  }

  void Score() {
    const std::vector<Tree> trees = Sequences();
    double best = 1e9;
    for (int round = 0; round < 4; ++round) {
      const double start = Now();
      engine_->LogProbs(trees);
      best = std::min(best, Now() - start);
    }
    Say(shape_, "score", 16 * 512 / best, "tokens/s");
  }

  // A group of 16 with a prompt of 1,024 and turns of 256, against its paths one by one, and
  // against all of them at once without sharing.
  void Group() {
    const std::vector<TokenId> prompt = Tokens(1, 1024, vocab());
    enum Kind { kShared, kTogether, kOneByOne };
    double seconds[3] = {};
    for (int round = 0; round < 2; ++round) {
      for (const Kind kind : {kShared, kTogether, kOneByOne}) {
        auto sampler = engine_->NewSampler();
        seconds[kind] = 0;
        auto run = [&] {
          const double start = Now();
          while (!sampler->idle()) sampler->Step();
          seconds[kind] += Now() - start;
        };
        Sampler::Id first = -1;
        for (int64_t i = 0; i < 16; ++i) {
          const auto id = kind == kShared && i > 0 ? sampler->Fork(first) : sampler->Start(prompt);
          if (i == 0) first = id;
          TurnRequest turn;
          turn.max_new = 256;
          turn.rng = Rng(static_cast<uint64_t>(i));
          if (!sampler->Generate(id, turn).ok()) std::abort();
          if (kind == kOneByOne) run();
        }
        if (kind != kOneByOne) run();
      }
    }
    Say(shape_, "group sampling", seconds[kOneByOne] / seconds[kShared], "times faster",
        "than path by path");
    Say(shape_, "group sampling together", seconds[kTogether] / seconds[kShared], "times faster",
        "than all paths at once without sharing");
    Tree tree;
    Node root;
    root.tokens = prompt;
    tree.nodes.push_back(root);
    std::vector<Tree> paths;
    for (uint64_t i = 0; i < 16; ++i) {
      Node turn;
      turn.parent = 0;
      turn.tokens = Tokens(100 + i, 256, vocab());
      tree.nodes.push_back(turn);
      tree.leaves.push_back({.node = static_cast<NodeId>(i + 1)});
      std::vector<TokenId> whole = prompt;
      whole.insert(whole.end(), turn.tokens.begin(), turn.tokens.end());
      paths.push_back(ChainOf(whole));
    }
    double one = 1e9, together = 1e9, many = 1e9;
    for (int round = 0; round < 3; ++round) {
      auto seconds_of = [&](std::span<const Tree> trees, bool one_by_one) {
        const double start = Now();
        for (size_t i = 0; one_by_one && i < trees.size(); ++i) {
          engine_->Accumulate(trees.subspan(i, 1), Derivatives);
        }
        if (!one_by_one) engine_->Accumulate(trees, Derivatives);
        BusySeconds();  // waits for the device
        return Now() - start;
      };
      one = std::min(one, seconds_of({&tree, 1}, false));
      together = std::min(together, seconds_of(paths, false));
      many = std::min(many, seconds_of(paths, true));
    }
    engine_->ForgetGradients();
    Say(shape_, "group training", many / one, "times faster", "than path by path");
    Say(shape_, "group training together", together / one, "times faster",
        "than all paths at once without sharing");
  }

 private:
  double BusySeconds() const { return engine_->Use() ? engine_->Use()->busy_seconds : 0; }
  // Of all that this engine did so far: the most that was taken, and what was derived for it.
  void SayPeak(const std::string& name) {
    const std::optional<DeviceUse> use = engine_->Use();
    if (!use) return;
    const DeviceMemory derived =
        DeriveDeviceMemory(engine_->model(),
                           {.recompute_activations = options_.recompute_activations,
                            .small_moments = options_.small_moments},
                           {.tokens = 16 * 512,
                            .length = 512,
                            .prompt = 384,
                            .live = most_live_,
                            .sampler = options_.sampler});
    auto gibibytes = [](int64_t bytes) { return static_cast<double>(bytes) / (1 << 30); };
    Say(shape_, name + " peak", gibibytes(use->peak_bytes), "GiB", "of buffers");
    Say(shape_, name + " peak derived", gibibytes(derived.peak), "GiB");
    Say(shape_, name + " peak ratio", gibibytes(use->peak_bytes) / gibibytes(derived.peak), "");
    Say(shape_, name + " in use", gibibytes(use->memory - use->free_memory), "GiB",
        "of the device, with its libraries");
    Say(shape_, name + " needed derived", gibibytes(derived.Needed()), "GiB",
        "with libraries and the trials of products");
  }
  void Open(bool lora) {
    engine_.reset();
    Model model = RandomModel(Shape(shape_));
    if (lora && !AddLora({.rank = 16}, &model).ok()) std::abort();
    lora_ = lora;
    most_live_ = 0;
    const double start = Now();
    engine_ = std::make_unique<Engine>(std::move(model), options_);
    Say(shape_, "open", Now() - start, "s", engine_->Description());
  }
  std::vector<Tree> Sequences() const {
    std::vector<Tree> trees;
    for (uint64_t i = 0; i < 16; ++i) trees.push_back(ChainOf(Tokens(i, 512, vocab())));
    return trees;
  }
  void TrainOnce(std::span<const Tree> trees) {
    engine_->Accumulate(trees, Derivatives);
    engine_->Step({.learning_rate = 1e-6});
  }
  int64_t vocab() const { return engine_->config().vocab; }
  double LayerParameters() const {
    const ModelConfig& c = engine_->config();
    return static_cast<double>(c.ParameterCount() -
                               (c.tied_embeddings ? 1 : 2) * c.vocab * c.width);
  }

  std::string shape_;
  Engine::Options options_;
  bool lora_ = false;
  int64_t most_live_ = 0;  // sequences that were drawn together
  std::unique_ptr<Engine> engine_;
};

int Run(int count, char** arguments) {
  if (count < 3) {
    fmt::print(stderr,
               "device_bench SHAPE PART...\n  SHAPE: 41m 0.5b 1.5b 7b\n"
               "  PART: decode64 decode256 decode1 prompt score train lora group small recompute\n"
               "        profile-decode64 profile-decode256 profile-prompt profile-train\n");
    return 2;
  }
  Engine::Options options;
  const std::vector<std::string> parts(arguments + 2, arguments + count);
  for (const std::string& part : parts) {
    options.small_moments |= part == "small";
    options.recompute_activations |= part == "recompute";
  }
  Bench bench(arguments[1], options);
  const std::map<std::string, std::function<void()>> kParts = {
      {"decode1", [&] { bench.Decode(1); }},
      {"decode64", [&] { bench.Decode(64); }},
      {"decode256", [&] { bench.Decode(256); }},
      {"prompt", [&] { bench.Prompt(); }},
      {"score", [&] { bench.Score(); }},
      {"train", [&] { bench.Train(false); }},
      {"lora", [&] { bench.Train(true); }},
      {"group", [&] { bench.Group(); }},
      {"profile-decode64", [&] { bench.ProfileDecode(64); }},
      {"profile-decode256", [&] { bench.ProfileDecode(256); }},
      {"profile-prompt", [&] { bench.ProfilePrompt(); }},
      {"profile-train", [&] { bench.ProfileTrain(); }}};
  for (const std::string& part : parts) {
    const auto found = kParts.find(part);
    if (found != kParts.end()) found->second();
  }
  return 0;
}

}  // namespace
}  // namespace hone

int main(int count, char** arguments) { return hone::Run(count, arguments); }
