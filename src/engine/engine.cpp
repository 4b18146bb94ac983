#include "engine/engine.h"

#include <algorithm>
#include <charconv>
#include <cmath>
#include <map>
#include <thread>

#include <fmt/format.h>

#include "base/file.h"
#include "base/hash.h"
#include "engine/device/device_runner.h"
#include "engine/processor_runner.h"
#include "engine/safetensors.h"
#include "engine/token_check.h"
#include "engine/weights/model_match.h"

namespace hone {
namespace {

constexpr char kStateFile[] = "training_state.safetensors";
constexpr char kStateFormat[] = "hone.training_state";
constexpr char kStateVersion[] = "1";

int ThreadsOf(int asked) {
  return asked > 0 ? asked : std::max(1, static_cast<int>(std::thread::hardware_concurrency()));
}

TensorView ViewOf(std::span<const float> values, const std::vector<int64_t>& shape) {
  return {DType::kF32, shape, std::as_bytes(values)};
}

Result<void> ReadPart(const SafetensorsFile& file, const std::string& name,
                      const std::vector<int64_t>& shape, std::span<float> values) {
  const TensorView* view = file.Find(name);
  if (view == nullptr || view->dtype != DType::kF32 || view->shape != shape) {
    return Error(
        ErrorCode::kCorrupt,
        fmt::format("tensor {} is missing or of another shape; the state cannot be resumed", name));
  }
  CopyAsF32(*view, values);
  if (!std::all_of(values.begin(), values.end(), [](float x) { return std::isfinite(x); })) {
    return Error(ErrorCode::kCorrupt,
                 fmt::format("tensor {} holds a number that is not finite", name));
  }
  return {};
}

std::unique_ptr<ModelRunner> NewRunner(Model* model, const Engine::Options& options,
                                       std::shared_ptr<Device> device, ThreadPool* pool) {
  if (device == nullptr) {
    return std::make_unique<ProcessorRunner>(
        model, DecoderOptions{options.precision, options.recompute_activations, options.forbidden},
        pool);
  }
  return std::make_unique<DeviceRunner>(
      model,
      DeviceRunnerOptions{options.precision, options.recompute_activations, options.small_moments,
                          options.forbidden},
      std::move(device));
}

// A whole number from 0 on.
bool ReadCount(const std::string& text, int64_t* count) {
  const char* end = text.data() + text.size();
  const auto [stop, failed] = std::from_chars(text.data(), end, *count);
  return failed == std::errc() && stop == end && *count >= 0;
}

}  // namespace

Engine::Engine(Model model, Options options)
    : model_(std::move(model)),
      options_(std::move(options)),
      pool_(std::make_unique<ThreadPool>(ThreadsOf(options_.threads))) {
  Result<std::shared_ptr<Device>> device = Device::Open(options_.device);
  if (!device.ok()) throw DeviceError(DeviceError::Kind::kLost, device.error().message());
  const Result<void> supported = DeviceRunner::Supports(model_.config);
  if (*device != nullptr && !supported.ok() && options_.device != DeviceKind::kAuto) {
    throw DeviceError(DeviceError::Kind::kLost, supported.error().message());
  }
  if (!supported.ok()) *device = nullptr;
  if (*device != nullptr) model_.config.max_positions = DeviceRunner::PositionsOf(model_.config);
  runner_ = NewRunner(&model_, options_, *std::move(device), pool_.get());
}

Result<std::unique_ptr<Engine>> Engine::Open(const std::filesystem::path& folder, Options options) {
  HONE_ASSIGN_OR_RETURN(Model model, LoadModelWithAdapters(folder));
  for (const TokenId token : options.forbidden) {
    if (token < 0 || token >= model.config.vocab) {
      return Error(ErrorCode::kInvalidArgument,
                   fmt::format("the forbidden token {} is not one of the model's vocabulary of {}",
                               token, model.config.vocab));
    }
  }
  return std::make_unique<Engine>(std::move(model), std::move(options));
}

const Model& Engine::model() const {
  runner_->BringWeights(&model_);
  return model_;
}

Result<void> CheckTokens(const ModelConfig& config, std::span<const TokenId> tokens) {
  if (static_cast<int64_t>(tokens.size()) > config.max_positions) {
    return Error(ErrorCode::kInvalidArgument,
                 fmt::format("{} tokens are more than the model's {} positions", tokens.size(),
                             config.max_positions));
  }
  for (const TokenId token : tokens) {
    if (token < 0 || token >= config.vocab) {
      return Error(
          ErrorCode::kInvalidArgument,
          fmt::format("{} is not a token of the model's vocabulary of {}", token, config.vocab));
    }
  }
  return {};
}

Result<void> Engine::CheckTokens(std::span<const TokenId> tokens) const {
  return hone::CheckTokens(config(), tokens);
}

Result<void> Engine::CheckTree(const Tree& tree) const {
  std::vector<int64_t> ends(tree.nodes.size());
  for (size_t n = 0; n < tree.nodes.size(); ++n) {
    const Node& node = tree.nodes[n];
    auto wrong = [&](const std::string& what) {
      return Error(ErrorCode::kInvalidArgument, fmt::format("node {}: {}", n, what));
    };
    if (Result<void> tokens = CheckTokens(node.tokens); !tokens.ok()) {
      return wrong(tokens.error().message());
    }
    const int64_t begin = node.parent == kNoNode ? 0 : ends[static_cast<size_t>(node.parent)];
    ends[n] = begin + static_cast<int64_t>(node.tokens.size());
    if (ends[n] > config().max_positions) {
      return wrong(fmt::format("its path of {} tokens is longer than the model's {} positions",
                               ends[n], config().max_positions));
    }
    if (!node.supports.empty() && node.supports.size() != node.tokens.size()) {
      return wrong("its supports are not one per token");
    }
    for (const Support& support : node.supports) {
      const bool fits = support.kept.empty() ||
                        (support.kept.front() >= 0 && support.kept.back() < config().vocab);
      if (!fits || !std::is_sorted(support.kept.begin(), support.kept.end())) {
        return wrong("a support is not of this model's vocabulary");
      }
    }
    if (node.sampling.forbidden_set != 0 && options_.forbidden.empty()) {
      return wrong("it names a forbidden set that the engine was not given");
    }
  }
  return {};
}

Result<std::vector<SampleResult>> Engine::Sample(std::span<const SampleRequest> requests) {
  return DrawSamples(runner_.get(), options_.sampler, requests);
}

std::unique_ptr<Sampler> Engine::NewSampler() {
  return std::make_unique<Sampler>(runner_.get(), options_.sampler);
}

std::vector<TreeLogprobs> Engine::LogProbs(std::span<const Tree> trees, Weights weights) {
  runner_->UseAdapters(weights == Weights::kCurrent);
  std::vector<TreeLogprobs> logprobs = runner_->LogProbs(trees);
  runner_->UseAdapters(true);
  return logprobs;
}

std::vector<TreeLogprobs> Engine::LogProbsWith(const Adapters& adapters,
                                               std::span<const Tree> trees) {
  Adapters other = adapters;
  runner_->BringWeights(&model_);
  SwapAdapters(&other, &model_);
  runner_->TakeAdapters();
  std::vector<TreeLogprobs> logprobs = runner_->LogProbs(trees);
  SwapAdapters(&other, &model_);
  runner_->TakeAdapters();
  return logprobs;
}

void Engine::Accumulate(std::span<const Tree> trees, const Loss& loss, SharedTokens shared) {
  runner_->Accumulate(trees, loss, shared);
  accumulated_ |= !trees.empty();
}

double Engine::Step(const OptimizerOptions& options) {
  accumulated_ = false;
  return runner_->Step(options);
}

void Engine::ForgetGradients() {
  runner_->ForgetGradients();
  accumulated_ = false;
}

Gradients Engine::TakeGradients() {
  accumulated_ = false;
  return runner_->TakeGradients();
}

void Engine::PutGradients(Gradients gradients) {
  accumulated_ |= !gradients.empty();
  runner_->PutGradients(std::move(gradients));
}

std::vector<size_t> Engine::GradientSizes() const {
  std::vector<size_t> sizes;
  for (const Parameter& parameter : model_.parameters) {
    sizes.push_back(parameter.trained ? parameter.value.size() : 0);
  }
  return sizes;
}

void Engine::MixIn(const Model& other, double share) {
  CHECK(other.parameters.size() == model_.parameters.size(), "the weights of another model");
  runner_->BringWeights(&model_);
  for (size_t p = 0; p < other.parameters.size(); ++p) {
    MixNumbers(other.parameters[p].value, share, &model_.parameters[p].value);
  }
  runner_->TakeWeights();
}

Result<void> Engine::Become(Model other) {
  HONE_RETURN_IF_ERROR(CheckSameDecoder(model_.config, other));
  HONE_ASSIGN_OR_RETURN(std::shared_ptr<Device> device, Device::Open(options_.device));
  if (!DeviceRunner::Supports(model_.config).ok()) device = nullptr;
  runner_.reset();  // it holds the old weights
  // All but the configuration, which others may be reading.
  model_.parameters = std::move(other.parameters);
  model_.layers = std::move(other.layers);
  model_.lora = std::move(other.lora);
  model_.embedding = other.embedding;
  model_.final_norm = other.final_norm;
  model_.head = other.head;
  model_.scalar_head = other.scalar_head;
  runner_ = NewRunner(&model_, options_, std::move(device), pool_.get());
  accumulated_ = false;
  return {};
}

std::vector<std::pair<std::string, int64_t>> Engine::Memory() const {
  int64_t weights = 0;
  for (const Parameter& parameter : model_.parameters) {
    weights += static_cast<int64_t>(parameter.value.size() * sizeof(float));
  }
  std::vector<std::pair<std::string, int64_t>> memory = {{"weights", weights}};
  for (auto& part : runner_->Memory()) memory.push_back(std::move(part));
  return memory;
}

Optimizer Engine::Moments() const {
  Optimizer optimizer(model_);
  if (runner_->HasMoments()) runner_->BringMoments(&optimizer);
  return optimizer;
}

Result<void> Engine::Save(const std::filesystem::path& given, SaveType type,
                          const std::string& base) const {
  CHECK(!accumulated_, "a state is saved between steps");
  const Model& model = this->model();
  // "dir/" is "dir".
  const std::filesystem::path folder = given.has_filename() ? given : given.parent_path();
  const std::filesystem::path aside = folder.string() + ".writing";
  std::error_code ignored;
  std::filesystem::remove_all(aside, ignored);
  HONE_RETURN_IF_ERROR(SaveModel(model, type, aside));
  if (!model.lora.empty()) {
    HONE_RETURN_IF_ERROR(
        SaveLora(model, base.empty() ? folder.string() : base, aside / kAdapterFolder));
  }
  const Optimizer optimizer = Moments();
  std::map<std::string, TensorView> tensors;
  for (size_t p = 0; p < model.parameters.size(); ++p) {
    const Parameter& parameter = model.parameters[p];
    tensors.emplace("master." + parameter.name, ViewOf(parameter.value, parameter.shape));
    if (!parameter.trained) continue;
    tensors.emplace("adam.first." + parameter.name,
                    ViewOf(optimizer.first_moments[p], parameter.shape));
    tensors.emplace("adam.second." + parameter.name,
                    ViewOf(optimizer.second_moments[p], parameter.shape));
  }
  std::map<std::string, std::string> metadata = {{"format", kStateFormat},
                                                 {"version", kStateVersion},
                                                 {"steps", std::to_string(optimizer.steps)}};
  if (optimizer.head_steps != optimizer.steps) {
    metadata["head_steps"] = std::to_string(optimizer.head_steps);
  }
  HONE_RETURN_IF_ERROR(WriteSafetensors(aside / kStateFile, tensors, metadata));
  return ReplaceDirectory(aside, folder);
}

bool Engine::HasState(const std::filesystem::path& folder) {
  std::error_code ignored;
  return std::filesystem::exists(folder / kStateFile, ignored);
}

Result<std::unique_ptr<Engine>> Engine::Load(const std::filesystem::path& folder, Options options) {
  HONE_ASSIGN_OR_RETURN(std::unique_ptr<Engine> engine, Open(folder, options));
  const auto path = folder / kStateFile;
  HONE_ASSIGN_OR_RETURN(const SafetensorsFile file, SafetensorsFile::Open(path));
  auto metadata = file.metadata();
  if (metadata["format"] != kStateFormat || metadata["version"] != kStateVersion) {
    return Error(ErrorCode::kVersion, fmt::format("{}: not a training state of version {}",
                                                  path.string(), kStateVersion));
  }
  Optimizer optimizer(engine->model_);
  const bool counted = ReadCount(metadata["steps"], &optimizer.steps);
  optimizer.head_steps = optimizer.steps;
  if (!counted || (metadata.contains("head_steps") &&
                   !ReadCount(metadata["head_steps"], &optimizer.head_steps))) {
    return Error(ErrorCode::kCorrupt,
                 fmt::format("{}: its metadata does not say how many steps were taken; the state "
                             "cannot be resumed",
                             path.string()));
  }
  for (size_t p = 0; p < engine->model_.parameters.size(); ++p) {
    Parameter& parameter = engine->model_.parameters[p];
    std::vector<std::pair<std::string, std::span<float>>> parts = {{"master.", parameter.value}};
    if (parameter.trained) {
      parts.emplace_back("adam.first.", optimizer.first_moments[p]);
      parts.emplace_back("adam.second.", optimizer.second_moments[p]);
    }
    for (const auto& [part, values] : parts) {
      if (Result<void> read = ReadPart(file, part + parameter.name, parameter.shape, values);
          !read.ok()) {
        return read.error().In(path.string());
      }
    }
  }
  engine->runner_->TakeWeights();
  engine->runner_->TakeMoments(std::move(optimizer));
  return engine;
}

std::string Engine::WeightsHash() const {
  std::string bytes;
  for (const Parameter& parameter : model().parameters) {
    bytes.append(reinterpret_cast<const char*>(parameter.value.data()),
                 parameter.value.size() * sizeof(float));
  }
  return Sha256Hex(bytes);
}

}  // namespace hone
