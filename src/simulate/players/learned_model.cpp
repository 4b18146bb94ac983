#include "simulate/players/learned_model.h"

#include <set>

#include <fmt/format.h>

#include "base/file.h"
#include "base/hash.h"
#include "base/json_fields.h"
#include "simulate/players/call_text.h"

namespace hone {
namespace {

constexpr std::string_view kFormat = "hone-learned-simulator";
constexpr int64_t kFormatVersion = 1;

std::vector<AnswerExample> ExamplesOf(const JournaledCalls& recorded, const Tokenizer& tokenizer,
                                      int64_t positions, TrainingReport* report) {
  std::vector<AnswerExample> examples;
  for (const RecordedCall& call : recorded.calls) {
    AddExample(CallTokens(tokenizer, call.tool, call.arguments, call.writes, call.known),
               AnswerTokens(tokenizer, call.answer), positions, &examples, report);
  }
  return examples;
}

// Whose answers the calls of each tool come with, in one of twenty or more.
std::map<std::string, std::vector<std::string>> ShownIn(const JournaledCalls& recorded) {
  std::map<std::string, int64_t> calls;
  std::map<std::string, std::map<std::string, int64_t>> seen;
  for (const RecordedCall& call : recorded.calls) {
    ++calls[call.tool];
    std::set<std::string> tools;
    for (const KnownResult& known : call.known) tools.insert(known.tool);
    for (const std::string& tool : tools) ++seen[call.tool][tool];
  }
  std::map<std::string, std::vector<std::string>> shown;
  for (const auto& [tool, known] : seen) {
    for (const auto& [name, count] : known) {
      if (20 * count >= calls[tool]) shown[tool].push_back(name);
    }
  }
  return shown;
}

}  // namespace

Result<LearnedModel> TrainLearnedModel(
    const JournaledCalls& recorded, const LearnedOptions& options, TrainingReport* report,
    const std::function<void(const TrainingProgress&)>& progress) {
  if (recorded.calls.empty()) {
    return Error(ErrorCode::kInvalidArgument,
                 "there are no recorded calls of these tools to learn from; record some first");
  }
  LearnedModel learned;
  learned.effects = LearnEffects(recorded.calls);
  learned.shown = ShownIn(recorded);
  learned.rules = LearnAnswerRules(recorded.calls);
  HONE_ASSIGN_OR_RETURN(Tokenizer tokenizer,
                        TrainCallTokenizer(recorded, static_cast<int32_t>(options.vocabulary)));
  learned.tokenizer = std::make_unique<Tokenizer>(std::move(tokenizer));
  const std::vector<AnswerExample> examples =
      ExamplesOf(recorded, *learned.tokenizer, options.positions, report);
  HONE_ASSIGN_OR_RETURN(learned.engine, TrainOnAnswers(examples, learned.tokenizer->vocab_size(),
                                                       options, report, progress));
  return learned;
}

Json ShownJson(const std::map<std::string, std::vector<std::string>>& shown) {
  Json json = Json::Object();
  for (const auto& [tool, names] : shown) json.Set(tool, Json::ArrayOf(names));
  return json;
}

Result<void> LearnedModel::Save(const std::filesystem::path& folder) const {
  HONE_RETURN_IF_ERROR(SaveModel(engine->model(), SaveType::kF32, folder));
  HONE_RETURN_IF_ERROR(WriteFileAtomic(folder / "tokenizer.json", tokenizer->ToJson()));
  return WriteFileAtomic(folder / "simulator.json",
                         DumpJson(Json::Of({{"format", kFormat},
                                            {"version", kFormatVersion},
                                            {"effects", effects.ToJson()},
                                            {"shown", ShownJson(shown)},
                                            {"rules", rules.ToJson()}}),
                                  JsonStyle::kPretty) +
                             "\n");
}

Result<LearnedModel> LearnedModel::Load(const std::filesystem::path& folder, int threads) {
  HONE_ASSIGN_OR_RETURN(const std::string text, ReadFile(folder / "simulator.json"));
  const Result<Json> about = ParseJson(text);
  if (!about.ok()) return about.error().In((folder / "simulator.json").string());
  std::string format;
  int64_t version = 0;
  Json effects, views, read_rules = ResultRules().ToJson();
  LearnedModel learned;
  JsonErrors errors;
  {
    JsonFields fields(*about, "", &errors);
    fields.Required("format", &format);
    fields.Required("version", &version);
    fields.Optional("effects", &effects);
    fields.Optional("shown", &views);
    if (views.is_object()) {
      for (const auto& [tool, names] : views.AsObject()) {
        ReadJson(names, "shown." + tool, &errors, &learned.shown[tool]);
      }
    }
    fields.Optional("rules", &read_rules);
  }
  if (const Result<void> read = errors.Check(); !read.ok()) {
    return read.error().In((folder / "simulator.json").string());
  }
  if (format != kFormat || version != kFormatVersion || !views.is_object()) {
    return Error(ErrorCode::kVersion,
                 fmt::format("{}: {} {} is not a learned simulator that this program reads ({} {})",
                             folder.string(), format, version, kFormat, kFormatVersion));
  }
  HONE_ASSIGN_OR_RETURN(learned.effects, WriteEffects::FromJson(effects));
  HONE_ASSIGN_OR_RETURN(learned.rules, ResultRules::FromJson(read_rules));
  HONE_ASSIGN_OR_RETURN(Tokenizer tokenizer, Tokenizer::Load(folder));
  learned.tokenizer = std::make_unique<Tokenizer>(std::move(tokenizer));
  HONE_ASSIGN_OR_RETURN(learned.engine, Engine::Open(folder, {.threads = threads}));
  if (learned.tokenizer->vocab_size() != learned.engine->config().vocab ||
      !learned.tokenizer->FindAdded("<|end|>")) {
    return Error(ErrorCode::kInvalidArgument,
                 folder.string() + ": the tokenizer is not the one the model was trained with");
  }
  return learned;
}

}  // namespace hone
