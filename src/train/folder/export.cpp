#include "train/folder/export.h"

#include <algorithm>

#include <fmt/format.h>

#include "base/file.h"
#include "engine/bfloat16.h"
#include "engine/lora.h"
#include "text/dialect.h"
#include "text/template_dialect.h"
#include "train/folder/agent_card.h"
#include "train/folder/checksums.h"
#include "train/folder/run_inputs.h"
#include "train/training_recipe.h"

namespace hone {
namespace {

// A conversation in which everything happens that a template has to spell.
Conversation Sample() {
  Conversation sample;
  sample.messages = {
      {.role = Role::kUser, .content = "How warm is it in Rome?"},
      {.role = Role::kAssistant, .calls = {{"weather", Json::Of({{"city", "Rome"}})}}},
      {.role = Role::kTool, .content = "{\"celsius\": 21}", .name = "weather"},
      {.role = Role::kAssistant, .content = "21 degrees."},
      {.role = Role::kUser, .content = "Thanks!"}};
  sample.add_generation_prompt = true;
  return sample;
}

Result<Json> ReadObject(const std::filesystem::path& file) {
  if (!Exists(file)) return Json(Json::Object());
  HONE_ASSIGN_OR_RETURN(const std::string text, ReadFile(file));
  Result<Json> json = ParseJson(text);
  if (!json.ok()) return json.error().In(file.string());
  if (!json->is_object()) {
    return Error(ErrorCode::kInvalidArgument, file.string() + ": an object is wanted");
  }
  return json;
}

Result<void> WriteObject(const Json& json, const std::filesystem::path& file) {
  return WriteFileAtomic(file, DumpJson(json, JsonStyle::kPretty) + "\n");
}

// The ids of what ends a turn, then those that the model's own files name.
std::vector<TokenId> StopIds(const Dialect& dialect, const Tokenizer& tokenizer,
                             const Json& generation) {
  std::vector<TokenId> ids;
  const auto add = [&](int64_t id) {
    if (std::find(ids.begin(), ids.end(), id) == ids.end()) ids.push_back(static_cast<TokenId>(id));
  };
  for (const std::string& stop : dialect.traits().stops) {
    if (const auto id = tokenizer.FindAdded(stop)) add(*id);
  }
  const Json* named = generation.Find("eos_token_id");
  if (named != nullptr && named->is_integer()) add(named->AsInteger());
  if (named != nullptr && named->is_array()) {
    for (const Json& id : named->AsArray()) {
      if (id.is_integer()) add(id.AsInteger());
    }
  }
  return ids;
}

// Everything that says how the model is talked to, and where it stops.
Result<void> WriteLanguage(const Dialect& dialect, const Tokenizer& tokenizer, int64_t positions,
                           const std::filesystem::path& folder, ExportReport* report) {
  HONE_RETURN_IF_ERROR(WriteFileAtomic(folder / "tokenizer.json", tokenizer.ToJson()));
  HONE_ASSIGN_OR_RETURN(Json generation, ReadObject(folder / "generation_config.json"));
  const std::vector<TokenId> stops = StopIds(dialect, tokenizer, generation);
  std::vector<std::string> spelled;  // those that are no token of their own
  for (const std::string& stop : dialect.traits().stops) {
    if (!tokenizer.FindAdded(stop)) spelled.push_back(stop);
  }
  for (const TokenId id : stops) report->stops.emplace_back(tokenizer.TokenBytes(id));
  for (const std::string& stop : spelled) report->stops.push_back(stop);
  if (!stops.empty()) {
    generation.Set("eos_token_id", stops.size() == 1 ? Json(stops[0]) : Json::ArrayOf(stops));
    if (generation.Find("pad_token_id") == nullptr) generation.Set("pad_token_id", stops.back());
  }
  if (!spelled.empty()) generation.Set("stop_strings", Json::ArrayOf(spelled));
  HONE_RETURN_IF_ERROR(WriteObject(generation, folder / "generation_config.json"));

  HONE_ASSIGN_OR_RETURN(Json config, ReadObject(folder / "config.json"));
  if (!stops.empty()) config.Set("eos_token_id", stops[0]);
  HONE_RETURN_IF_ERROR(WriteObject(config, folder / "config.json"));

  HONE_ASSIGN_OR_RETURN(Json words, ReadObject(folder / "tokenizer_config.json"));
  if (words.Find("tokenizer_class") == nullptr) {
    words.Set("tokenizer_class", "PreTrainedTokenizerFast");
    words.Set("model_max_length", positions);
    words.Set("clean_up_tokenization_spaces", false);
  }
  if (!stops.empty()) {
    words.Set("eos_token", tokenizer.TokenBytes(stops[0]));
    if (const Json* pad = words.Find("pad_token"); pad == nullptr || pad->is_null()) {
      words.Set("pad_token", tokenizer.TokenBytes(stops.back()));
    }
  }
  const std::string text = dialect.ChatTemplate();
  words.Set("chat_template", text);
  HONE_RETURN_IF_ERROR(WriteFileAtomic(folder / "chat_template.jinja", text));
  return WriteObject(words, folder / "tokenizer_config.json");
}

Error Differs(std::string_view what) {
  return Error(ErrorCode::kCorrupt,
               fmt::format("what was exported was loaded again, and {} is not the same; nothing is "
                           "left behind",
                           what));
}

// Reads everything back as another program would.
Result<void> CheckLanguage(const Dialect& dialect, const Tokenizer& tokenizer,
                           const std::filesystem::path& folder) {
  HONE_ASSIGN_OR_RETURN(const Tokenizer read, Tokenizer::Load(folder));
  HONE_ASSIGN_OR_RETURN(const auto templated, NewDialect("template:" + folder.string()));
  const Result<std::vector<Piece>> pieces = dialect.Render(Sample());
  if (!pieces.ok()) return {};  // a dialect without results, or without answers beside calls
  HONE_ASSIGN_OR_RETURN(const std::vector<Piece> again, templated->Render(Sample()));
  if (TextOf(*pieces) != TextOf(again)) return Differs("the text of a conversation");
  if (EncodePieces(tokenizer, *pieces) != EncodePieces(read, *pieces)) {
    return Differs("what the tokenizer makes of it");
  }
  return {};
}

Result<void> CheckWeights(const Model& model, SaveType type, const std::filesystem::path& folder) {
  HONE_ASSIGN_OR_RETURN(const Model read, LoadModel(folder));
  if (read.parameters.size() != model.parameters.size()) return Differs("the number of weights");
  for (size_t p = 0; p < model.parameters.size(); ++p) {
    const auto &wanted = model.parameters[p].value, &found = read.parameters[p].value;
    const bool same = std::equal(wanted.begin(), wanted.end(), found.begin(), found.end(),
                                 [&](float was, float is) {
                                   return is == (type == SaveType::kBf16 ? RoundToBf16(was) : was);
                                 });
    if (!same) return Differs(model.parameters[p].name);
  }
  return {};
}

// The run's dialect, else what the folder says of itself, else its own template.
Result<std::string> DialectFor(const ModelPlace& place, const ExportOptions& options,
                               std::string* base) {
  HONE_ASSIGN_OR_RETURN(const std::optional<AgentCard> card, ReadAgentCard(place.folder));
  std::string name = options.dialect;
  if (!place.run.empty()) {
    HONE_ASSIGN_OR_RETURN(const PolicyModelOptions model, ReadTrainedModel(place.run));
    *base = model.folder;
    if (name.empty()) name = model.dialect;
  }
  if (name.empty() && card) name = card->dialect;
  if (name.empty()) name = "template";
  return DialectIn(name, TemplateFolder(place, *base));
}

// The same dialect by a name that holds wherever the folder lies. One that is described in a file
// takes the file along.
Result<std::string> PortableDialect(const std::string& named, const std::filesystem::path& folder) {
  constexpr std::string_view kTemplate = "template:", kTagged = "tagged:";
  if (named.starts_with(kTemplate)) {
    const size_t settings = named.find('?');
    return "template" + (settings == std::string::npos ? "" : named.substr(settings));
  }
  if (!named.starts_with(kTagged) || !named.ends_with(".toml")) return named;
  HONE_ASSIGN_OR_RETURN(const std::string text, ReadFile(named.substr(kTagged.size())));
  HONE_RETURN_IF_ERROR(WriteFileAtomic(folder / kDialectFile, text));
  return fmt::format("{}{}", kTagged, kDialectFile);
}

Result<void> WriteAll(const ModelPlace& place, const ExportOptions& options,
                      const std::filesystem::path& folder, ExportReport* report) {
  HONE_ASSIGN_OR_RETURN(const std::string named, DialectFor(place, options, &report->base));
  HONE_ASSIGN_OR_RETURN(const auto dialect, NewDialect(named));
  report->dialect =
      named.starts_with("template:") ? "its own chat template" : dialect->traits().name;
  HONE_ASSIGN_OR_RETURN(const Tokenizer tokenizer, Tokenizer::Load(place.folder));
  HONE_ASSIGN_OR_RETURN(const auto engine, OpenModel(place.folder, {.precision = Precision::kF32}));
  Model model = engine->model();
  report->parameters = model.config.ParameterCount();
  std::error_code ignored;
  std::filesystem::create_directories(folder, ignored);
  if (options.adapter) {
    if (model.lora.empty()) {
      return Error(
          ErrorCode::kInvalidArgument,
          fmt::format("{} has no adapters; export it without --adapter", place.folder.string()));
    }
    const auto base = report->base.empty() ? std::filesystem::absolute(place.folder)
                                           : std::filesystem::absolute(report->base);
    report->base = base.lexically_normal().string();
    return SaveLora(model, report->base, folder);
  }
  if (!model.lora.empty()) MergeLora(&model);
  HONE_RETURN_IF_ERROR(SaveModel(model, options.type, folder));
  HONE_RETURN_IF_ERROR(KeepModelFiles(place.folder, folder / "aside"));
  HONE_RETURN_IF_ERROR(CopyFolder(folder / "aside" / kModelFiles, folder));
  std::filesystem::remove_all(folder / "aside", ignored);
  HONE_RETURN_IF_ERROR(
      WriteLanguage(*dialect, tokenizer, model.config.max_positions, folder, report));
  HONE_ASSIGN_OR_RETURN(std::optional<AgentCard> card, ReadAgentCard(place.folder));
  if (!card) card.emplace();
  HONE_ASSIGN_OR_RETURN(card->dialect, PortableDialect(named, folder));
  HONE_RETURN_IF_ERROR(WriteAgentCard(*card, folder));
  HONE_RETURN_IF_ERROR(CheckWeights(model, options.type, folder));
  return CheckLanguage(*dialect, tokenizer, folder);
}

}  // namespace

Json ExportReport::ToJson() const {
  Json json = Json::Of({{"files", Json::ArrayOf(files)},
                        {"dialect", dialect},
                        {"stops", Json::ArrayOf(stops)},
                        {"parameters", parameters}});
  if (!base.empty()) json.Set("base", base);
  return json;
}

Result<ExportReport> ExportModel(const ModelPlace& place, const std::filesystem::path& out,
                                 const ExportOptions& options) {
  std::error_code ignored;
  if (Exists(out) && !std::filesystem::is_empty(out, ignored)) {
    return Error(
        ErrorCode::kInvalidArgument,
        fmt::format("{} is there already; choose another folder, or remove it", out.string()));
  }
  const std::filesystem::path named = out.has_filename() ? out : out.parent_path();
  const std::filesystem::path aside = named.string() + ".writing";
  std::filesystem::remove_all(aside, ignored);
  ExportReport report;
  if (const Result<void> written = WriteAll(place, options, aside, &report); !written.ok()) {
    std::filesystem::remove_all(aside, ignored);
    return written.error();
  }
  for (const auto& entry : std::filesystem::directory_iterator(aside)) {
    report.files.push_back(entry.path().filename().string());
  }
  std::sort(report.files.begin(), report.files.end());
  HONE_RETURN_IF_ERROR(ReplaceDirectory(aside, named));
  return report;
}

}  // namespace hone
