#include "engine/weights/trained_weights.h"

#include <map>
#include <span>

#include <fmt/format.h>

#include "engine/safetensors.h"

namespace hone {
namespace {

constexpr char kFormat[] = "hone.trained_weights";
constexpr char kVersion[] = "1";

}  // namespace

Result<void> WriteTrainedWeights(const Model& model, const std::filesystem::path& file) {
  std::map<std::string, TensorView> tensors;
  for (const Parameter& parameter : model.parameters) {
    if (!parameter.trained) continue;
    tensors.emplace(parameter.name, TensorView{DType::kF32, parameter.shape,
                                               std::as_bytes(std::span(parameter.value))});
  }
  return WriteSafetensors(file, tensors, {{"format", kFormat}, {"version", kVersion}});
}

Result<void> ReadTrainedWeights(const std::filesystem::path& file, Model* model) {
  HONE_ASSIGN_OR_RETURN(const SafetensorsFile opened, SafetensorsFile::Open(file));
  const auto wrong = [&](const std::string& what) {
    return Error(ErrorCode::kCorrupt, fmt::format("{}: {}", file.string(), what));
  };
  auto metadata = opened.metadata();
  if (metadata["format"] != kFormat || metadata["version"] != kVersion) {
    return wrong(fmt::format("no weights of format {} {}", kFormat, kVersion));
  }
  size_t read = 0;
  for (Parameter& parameter : model->parameters) {
    if (!parameter.trained) continue;
    const TensorView* view = opened.Find(parameter.name);
    if (view == nullptr || view->dtype != DType::kF32 || view->shape != parameter.shape) {
      return wrong(fmt::format("the tensor {} is missing or of another shape", parameter.name));
    }
    CopyAsF32(*view, parameter.value);
    ++read;
  }
  if (read != opened.tensors().size()) return wrong("it has tensors that the model does not train");
  return {};
}

}  // namespace hone
