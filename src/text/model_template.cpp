#include "text/model_template.h"

#include <algorithm>
#include <cstdint>

#include <fmt/format.h>

#include "base/file.h"
#include "base/json.h"

namespace hone {
namespace {

namespace fs = std::filesystem;

// An empty object when there is no such file.
Result<Json> ReadObject(const fs::path& path) {
  if (!Exists(path)) return Json(Json::Object());
  HONE_ASSIGN_OR_RETURN(const std::string text, ReadFile(path));
  Result<Json> json = ParseJson(text);
  if (!json.ok()) return json.error().In(path.string());
  if (!json->is_object()) {
    return Error(ErrorCode::kParse, fmt::format("{}: an object is wanted", path.string()));
  }
  return json;
}

// "</s>", or {"content": "</s>", ...}.
const std::string* TokenText(const Json& value) {
  const Json* text = value.is_object() ? value.Find("content") : &value;
  return text != nullptr && text->is_string() ? &text->AsString() : nullptr;
}

void AddTokens(const Json& config, std::map<std::string, std::string>* tokens) {
  for (const auto& [key, value] : config.AsObject()) {
    const std::string* text = key.ends_with("_token") ? TokenText(value) : nullptr;
    if (text != nullptr) tokens->emplace(key, *text);
  }
}

Result<void> AddSources(const Json& chat_template, const fs::path& path, ModelTemplate* model) {
  const auto bad = [&] {
    return Error(ErrorCode::kParse,
                 fmt::format("{}: chat_template wants text, or a list of {{name, template}}",
                             path.string()));
  };
  if (chat_template.is_string()) {
    model->sources.emplace_back("default", chat_template.AsString());
    return {};
  }
  if (!chat_template.is_array()) return bad();
  for (const Json& named : chat_template.AsArray()) {
    const Json *name = named.Find("name"), *text = named.Find("template");
    if (name == nullptr || !name->is_string() || text == nullptr || !text->is_string()) {
      return bad();
    }
    model->sources.emplace_back(name->AsString(), text->AsString());
  }
  return {};
}

Result<void> AddFiles(const fs::path& folder, ModelTemplate* model) {
  const fs::path own = folder / "chat_template.jinja";
  if (!Exists(own)) return {};
  HONE_ASSIGN_OR_RETURN(std::string text, ReadFile(own));
  model->sources.emplace_back("default", std::move(text));
  std::error_code ignored;
  std::vector<fs::path> more;
  for (const auto& entry : fs::directory_iterator(folder / "additional_chat_templates", ignored)) {
    if (entry.path().extension() == ".jinja") more.push_back(entry.path());
  }
  std::sort(more.begin(), more.end());
  for (const fs::path& path : more) {
    HONE_ASSIGN_OR_RETURN(std::string named, ReadFile(path));
    model->sources.emplace_back(path.stem().string(), std::move(named));
  }
  return {};
}

// eos_token_id of generation_config.json is a number or a list of them.
std::vector<int64_t> StopIdsIn(const Json& generation) {
  std::vector<int64_t> ids;
  const Json* named = generation.Find("eos_token_id");
  if (named == nullptr) return ids;
  if (named->is_integer()) ids.push_back(named->AsInteger());
  if (named->is_array()) {
    for (const Json& id : named->AsArray()) {
      if (id.is_integer()) ids.push_back(id.AsInteger());
    }
  }
  return ids;
}

// The added token of this id by added_tokens_decoder of tokenizer_config.json, or by the list of
// tokenizer.json; null when neither has it.
const std::string* AddedTokenText(const Json& config, const Json& tokenizer, int64_t id) {
  if (const Json* decoder = config.Find("added_tokens_decoder");
      decoder != nullptr && decoder->is_object()) {
    if (const Json* token = decoder->Find(std::to_string(id))) return TokenText(*token);
  }
  const Json* added = tokenizer.Find("added_tokens");
  if (added == nullptr || !added->is_array()) return nullptr;
  for (const Json& token : added->AsArray()) {
    const Json* its = token.Find("id");
    if (its != nullptr && *its == Json(id)) return TokenText(token);
  }
  return nullptr;
}

Result<void> AddStops(const fs::path& folder, const Json& config, ModelTemplate* model) {
  HONE_ASSIGN_OR_RETURN(const Json generation, ReadObject(folder / "generation_config.json"));
  const std::vector<int64_t> ids = StopIdsIn(generation);
  Json tokenizer{Json::Object()};
  for (const int64_t id : ids) {
    // The file with the vocabulary is large; most folders name their added tokens twice.
    if (AddedTokenText(config, tokenizer, id) == nullptr && tokenizer.AsObject().empty()) {
      HONE_ASSIGN_OR_RETURN(tokenizer, ReadObject(folder / "tokenizer.json"));
    }
    const std::string* text = AddedTokenText(config, tokenizer, id);
    if (text != nullptr && !text->empty()) model->stops.push_back(*text);
  }
  return {};
}

}  // namespace

const std::string* ModelTemplate::Find(std::string_view name) const {
  for (const auto& [known, source] : sources) {
    if (known == name) return &source;
  }
  return nullptr;
}

Result<ModelTemplate> LoadModelTemplate(const fs::path& path) {
  std::error_code ignored;
  const bool is_folder = fs::is_directory(path, ignored);
  if (!is_folder && !Exists(path)) {
    return Error(ErrorCode::kNotFound,
                 fmt::format("{}: no such folder or file; name a model's folder or its "
                             "chat_template.jinja",
                             path.string()));
  }
  const fs::path folder = is_folder ? path : path.parent_path();
  ModelTemplate model;
  model.where = path.string();
  const fs::path config_path = folder / "tokenizer_config.json";
  HONE_ASSIGN_OR_RETURN(const Json config, ReadObject(config_path));
  HONE_ASSIGN_OR_RETURN(const Json map, ReadObject(folder / "special_tokens_map.json"));
  AddTokens(config, &model.tokens);
  AddTokens(map, &model.tokens);
  HONE_RETURN_IF_ERROR(AddStops(folder, config, &model));
  if (!is_folder) {
    HONE_ASSIGN_OR_RETURN(std::string text, ReadFile(path));
    model.sources.emplace_back("default", std::move(text));
    return model;
  }
  HONE_RETURN_IF_ERROR(AddFiles(folder, &model));
  if (const Json* text = config.Find("chat_template");
      model.sources.empty() && text != nullptr && !text->is_null()) {
    HONE_RETURN_IF_ERROR(AddSources(*text, config_path, &model));
  }
  const fs::path processor_path = folder / "chat_template.json";
  HONE_ASSIGN_OR_RETURN(const Json processor, ReadObject(processor_path));
  if (const Json* text = processor.Find("chat_template");
      model.sources.empty() && text != nullptr) {
    HONE_RETURN_IF_ERROR(AddSources(*text, processor_path, &model));
  }
  if (model.sources.empty()) {
    return Error(ErrorCode::kNotFound,
                 fmt::format("{} has no chat template (chat_template.jinja, or chat_template in "
                             "tokenizer_config.json): choose a built-in dialect, such as hermes",
                             path.string()));
  }
  return model;
}

}  // namespace hone
