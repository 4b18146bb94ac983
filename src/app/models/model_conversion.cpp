#include "app/models/model_conversion.h"

#include <optional>
#include <utility>
#include <vector>

#include <fmt/format.h>

#include "app/gguf_conversion.h"
#include "base/file.h"
#include "engine/lora.h"
#include "engine/weights/gguf_model.h"
#include "text/template_dialect.h"

namespace hone {
namespace {

// Everything of a model's folder but its weights and config: tokenizer, generation settings,
// templates.
Result<void> CarryAlong(const std::filesystem::path& from, const std::filesystem::path& to) {
  std::error_code failed;
  for (const auto& entry : std::filesystem::directory_iterator(from, failed)) {
    const std::string name = entry.path().filename().string();
    const bool text = name.ends_with(".json") || name.ends_with(".txt") || name.ends_with(".jinja");
    if (!entry.is_regular_file() || !text || name == "config.json" ||
        name == "model.safetensors.index.json") {
      continue;
    }
    std::filesystem::copy_file(entry.path(), to / name,
                               std::filesystem::copy_options::overwrite_existing, failed);
    if (failed) {
      return Error(ErrorCode::kIo, fmt::format("cannot copy {}: {}", name, failed.message()));
    }
  }
  return {};
}

// The dialect's chat template, where transformers look for it: in a file of its own, and in
// tokenizer_config.json for versions that know only that.
Result<void> WriteChatTemplate(const std::string& name, const std::filesystem::path& folder) {
  HONE_ASSIGN_OR_RETURN(const auto dialect, NewDialect(DialectIn(name, folder.string())));
  const std::string text = dialect->ChatTemplate();
  const auto config_path = folder / "tokenizer_config.json";
  Json config = Json::Of({});
  if (std::error_code ignored; std::filesystem::exists(config_path, ignored)) {
    HONE_ASSIGN_OR_RETURN(const std::string old, ReadFile(config_path));
    Result<Json> read = ParseJson(old);
    if (!read.ok()) return read.error().In(config_path.string());
    if (!read->is_object()) {
      return Error(ErrorCode::kInvalidArgument, config_path.string() + ": an object is wanted");
    }
    config = *std::move(read);
  } else {
    config.Set("tokenizer_class", "PreTrainedTokenizerFast");
  }
  config.Set("chat_template", text);
  HONE_RETURN_IF_ERROR(WriteFileAtomic(folder / "chat_template.jinja", text));
  return WriteFileAtomic(config_path, DumpJson(config, JsonStyle::kPretty) + "\n");
}

// The adapter that is asked for, or the one that lies with the model; empty: none.
std::filesystem::path AdapterOf(const ModelConversion& conversion) {
  if (!conversion.adapter.empty()) return conversion.adapter;
  const auto own = conversion.from / "adapter";
  return Exists(own) ? own : std::filesystem::path();
}

// A reader of a model that is in memory; the model must outlive it.
ParameterReader ReaderOfModel(const Model& model) {
  return [&model](Parameter* parameter) -> Result<void> {
    for (const Parameter& own : model.parameters) {
      if (own.name != parameter->name) continue;
      parameter->value = own.value;
      return {};
    }
    return Error(ErrorCode::kNotFound, fmt::format("tensor {} is missing", parameter->name));
  };
}

// The tokenizer's keys for a GGUF file; none of a model that comes from one.
Result<GgufMetadata> TokenizerKeys(const ModelConversion& conversion, const ModelConfig& config) {
  std::string chat_template;
  if (!conversion.dialect.empty()) {
    HONE_ASSIGN_OR_RETURN(const auto dialect,
                          NewDialect(DialectIn(conversion.dialect, conversion.from.string())));
    chat_template = dialect->ChatTemplate();
  }
  return TokenizerMetadataOf(conversion.from, config, chat_template);
}

Result<void> WriteModel(const ModelConversion& conversion, const ModelConfig& config,
                        const ParameterReader& reader) {
  if (IsGgufName(conversion.to)) {
    HONE_ASSIGN_OR_RETURN(const GgufMetadata tokenizer, TokenizerKeys(conversion, config));
    return WriteGgufModelFrom(config, reader, {GgmlTypeNamed(conversion.type), tokenizer},
                              conversion.to);
  }
  return SaveModelFrom(config, reader, SaveTypeNamed(conversion.type), conversion.to);
}

// A GGUF file into a folder.
Result<ConvertedModel> ConvertGguf(const ModelConversion& conversion) {
  HONE_ASSIGN_OR_RETURN(const GgufFile file, GgufFile::Open(conversion.from));
  HONE_ASSIGN_OR_RETURN(const auto files, TokenizerFilesOf(file));
  HONE_ASSIGN_OR_RETURN(const ModelConfig config, ModelConfigOfGguf(file));
  HONE_ASSIGN_OR_RETURN(ParameterReader reader, ReaderOfGguf(file, config));
  std::optional<Model> merged;
  if (!conversion.adapter.empty()) {
    HONE_ASSIGN_OR_RETURN(merged, ReadModel(config, reader));
    HONE_RETURN_IF_ERROR(LoadLora(conversion.adapter, &*merged));
    MergeLora(&*merged);
    reader = ReaderOfModel(*merged);
  }
  HONE_RETURN_IF_ERROR(WriteModel(conversion, config, reader));
  for (const auto& [name, text] : files) {
    HONE_RETURN_IF_ERROR(WriteFileAtomic(conversion.to / name, text));
  }
  return ConvertedModel{config, conversion.adapter.string()};
}

}  // namespace

Result<ConvertedModel> ConvertModel(const ModelConversion& conversion) {
  ConvertedModel converted;
  if (IsGgufName(conversion.from)) {
    HONE_ASSIGN_OR_RETURN(converted, ConvertGguf(conversion));
  } else {
    HONE_ASSIGN_OR_RETURN(converted.config, LoadModelConfig(conversion.from));
    HONE_ASSIGN_OR_RETURN(ParameterReader reader,
                          ReaderOfFolder(conversion.from, converted.config));
    const std::filesystem::path adapter = AdapterOf(conversion);
    converted.adapter = adapter.string();
    std::optional<Model> merged;
    if (!adapter.empty()) {
      HONE_ASSIGN_OR_RETURN(merged, ReadModel(converted.config, reader));
      HONE_RETURN_IF_ERROR(LoadLora(adapter, &*merged));
      MergeLora(&*merged);
      reader = ReaderOfModel(*merged);
    }
    HONE_RETURN_IF_ERROR(WriteModel(conversion, converted.config, reader));
    if (!IsGgufName(conversion.to))
      HONE_RETURN_IF_ERROR(CarryAlong(conversion.from, conversion.to));
  }
  if (!conversion.dialect.empty() && !IsGgufName(conversion.to)) {
    HONE_RETURN_IF_ERROR(WriteChatTemplate(conversion.dialect, conversion.to));
  }
  return converted;
}

}  // namespace hone
