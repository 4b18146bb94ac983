#include "engine/engine.h"

#include <algorithm>
#include <map>
#include <thread>

#include <fmt/format.h>

#include "base/file.h"
#include "base/hash.h"
#include "engine/safetensors.h"

namespace hone {
namespace {

constexpr char kStateFile[] = "training_state.safetensors";
constexpr char kStateFormat[] = "hone.training_state";
constexpr char kStateVersion[] = "1";

int ThreadsOf(int asked) {
  return asked > 0 ? asked : std::max(1, static_cast<int>(std::thread::hardware_concurrency()));
}

TensorView ViewOf(const std::vector<float>& values, const std::vector<int64_t>& shape) {
  return {DType::kF32, shape, std::as_bytes(std::span(values))};
}

Result<void> ReadPart(const SafetensorsFile& file, const std::string& name,
                      const std::vector<int64_t>& shape, std::vector<float>* values) {
  const TensorView* view = file.Find(name);
  if (view == nullptr || view->dtype != DType::kF32 || view->shape != shape) {
    return Error(
        ErrorCode::kCorrupt,
        fmt::format("tensor {} is missing or of another shape; the state cannot be resumed", name));
  }
  CopyAsF32(*view, *values);
  return {};
}

}  // namespace

Engine::Engine(Model model, Options options)
    : model_(std::move(model)),
      options_(options),
      pool_(std::make_unique<ThreadPool>(ThreadsOf(options.threads))),
      optimizer_(model_) {
  for (const Parameter& parameter : model_.parameters) {
    gradients_.push_back(PaddedBuffer(static_cast<int64_t>(parameter.value.size())));
  }
  Repack();
}

Result<std::unique_ptr<Engine>> Engine::Open(const std::filesystem::path& folder, Options options) {
  HONE_ASSIGN_OR_RETURN(Model model, LoadModel(folder));
  return std::make_unique<Engine>(std::move(model), options);
}

void Engine::Repack() {
  decoder_ = std::make_unique<Decoder>(&model_, options_.precision, pool_.get());
}

Result<void> Engine::CheckTokens(std::span<const TokenId> tokens) const {
  if (static_cast<int64_t>(tokens.size()) > config().max_positions) {
    return Error(ErrorCode::kInvalidArgument,
                 fmt::format("{} tokens are more than the model's {} positions", tokens.size(),
                             config().max_positions));
  }
  for (const TokenId token : tokens) {
    if (token < 0 || token >= config().vocab) {
      return Error(
          ErrorCode::kInvalidArgument,
          fmt::format("{} is not a token of the model's vocabulary of {}", token, config().vocab));
    }
  }
  return {};
}

std::vector<SampleResult> Engine::Sample(std::span<const SampleRequest> requests) const {
  return DrawSamples(*decoder_, requests);
}

void Engine::LogProbs(std::span<Decoder::Sequence> sequences) const {
  decoder_->Accumulate(
      sequences, [](std::span<Decoder::Sequence>) {}, nullptr);
}

void Engine::Accumulate(std::span<Decoder::Sequence> sequences,
                        const std::function<void(std::span<Decoder::Sequence>)>& loss) {
  decoder_->Accumulate(sequences, loss, &gradients_);
  accumulated_ = true;
}

double Engine::Step(const AdamWOptions& options) {
  const double norm = optimizer_.Step(options, gradients_, &model_, pool_.get());
  ForgetGradients();
  Repack();
  return norm;
}

void Engine::ForgetGradients() {
  for (std::vector<float>& gradient : gradients_) std::fill(gradient.begin(), gradient.end(), 0.0f);
  accumulated_ = false;
}

Result<void> Engine::Save(const std::filesystem::path& folder, SaveType type) const {
  CHECK(!accumulated_, "a state is saved between steps");
  const std::filesystem::path aside = folder.string() + ".writing", old = folder.string() + ".old";
  std::error_code failed;
  std::filesystem::remove_all(aside, failed);
  HONE_RETURN_IF_ERROR(SaveModel(model_, type, aside));
  std::map<std::string, TensorView> tensors;
  for (size_t p = 0; p < model_.parameters.size(); ++p) {
    const Parameter& parameter = model_.parameters[p];
    tensors.emplace("master." + parameter.name, ViewOf(parameter.value, parameter.shape));
    tensors.emplace("adam.first." + parameter.name,
                    ViewOf(optimizer_.first_moments[p], parameter.shape));
    tensors.emplace("adam.second." + parameter.name,
                    ViewOf(optimizer_.second_moments[p], parameter.shape));
  }
  HONE_RETURN_IF_ERROR(WriteSafetensors(aside / kStateFile, tensors,
                                        {{"format", kStateFormat},
                                         {"version", kStateVersion},
                                         {"steps", std::to_string(optimizer_.steps)}}));
  std::filesystem::remove_all(old, failed);
  if (std::filesystem::exists(folder, failed)) std::filesystem::rename(folder, old, failed);
  if (!failed) std::filesystem::rename(aside, folder, failed);
  if (failed) {
    return Error(ErrorCode::kIo,
                 fmt::format("cannot write {}: {}", folder.string(), failed.message()));
  }
  std::filesystem::remove_all(old, failed);
  return {};
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
  engine->optimizer_.steps = std::atoll(metadata["steps"].c_str());
  for (size_t p = 0; p < engine->model_.parameters.size(); ++p) {
    Parameter& parameter = engine->model_.parameters[p];
    const std::string where = path.string();
    for (const auto& [part, values] :
         {std::pair(std::string("master."), &parameter.value),
          std::pair(std::string("adam.first."), &engine->optimizer_.first_moments[p]),
          std::pair(std::string("adam.second."), &engine->optimizer_.second_moments[p])}) {
      if (Result<void> read = ReadPart(file, part + parameter.name, parameter.shape, values);
          !read.ok()) {
        return read.error().In(where);
      }
    }
  }
  engine->Repack();
  return engine;
}

std::string Engine::WeightsHash() const {
  std::string bytes;
  for (const Parameter& parameter : model_.parameters) {
    bytes.append(reinterpret_cast<const char*>(parameter.value.data()),
                 parameter.value.size() * sizeof(float));
  }
  return Sha256Hex(bytes);
}

}  // namespace hone
