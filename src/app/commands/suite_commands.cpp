// hone eval MODEL SUITE.

#include <algorithm>

#include <fmt/format.h>

#include "app/progress_bar.h"
#include "app/suite_model.h"
#include "app/suite_options.h"
#include "app/views/suite_view.h"
#include "base/clock.h"
#include "base/file.h"
#include "base/nearest.h"
#include "evaluate/suites/suite_bfcl.h"
#include "evaluate/suites/suite_changes.h"
#include "evaluate/suites/suite_gsm8k.h"
#include "evaluate/suites/suite_jsonl.h"
#include "evaluate/suites/suite_metatool.h"
#include "evaluate/suites/suite_tasks.h"

namespace hone {
namespace {

Result<Suite> LoadSuite(const SuiteCommand& command) {
  const std::string& named = command.options.suite;
  if (IsFileOfLines(named)) {
    HONE_ASSIGN_OR_RETURN(const bool tasks, IsTaskFile(named));
    return tasks ? LoadTasksAsSuite(named) : LoadSuiteLines(named);
  }
  const size_t colon = named.find(':');
  const std::string kind = named.substr(0, colon);
  const std::vector<std::string> kinds = {"bfcl", "metatool", "gsm8k"};
  if (std::find(kinds.begin(), kinds.end(), kind) == kinds.end()) {
    return Error(ErrorCode::kInvalidArgument,
                 fmt::format("there is no suite \"{}\"{}; name bfcl:FOLDER, metatool:FOLDER, "
                             "gsm8k:FILE or a file of your own that ends in .jsonl",
                             named, DidYouMean(kind, kinds)));
  }
  const std::string path = colon == std::string::npos ? "" : named.substr(colon + 1);
  if (path.empty()) {
    return Error(ErrorCode::kInvalidArgument,
                 fmt::format("where are the files of {0}? Name {0}:PATH (docs/suites.md says where "
                             "they come from)",
                             kind));
  }
  if (kind == "metatool") return LoadMetaTool(path, command.seed);
  if (kind == "gsm8k") return LoadGsm8k(path, command.options.tool);
  return LoadBfcl(path, {.dots_as_underscores = IsEndpoint(command.choice.model),
                         .calls_as_text = command.options.calls == "text",
                         .categories = command.options.categories});
}

Result<std::vector<FaultRule>> ReadFaults(const std::vector<std::string>& given) {
  std::vector<FaultRule> rules;
  for (const std::string& one : given) {
    if (!one.ends_with(".toml")) {
      HONE_ASSIGN_OR_RETURN(FaultRule rule, ParseFaultRule(one));
      rules.push_back(std::move(rule));
      continue;
    }
    HONE_ASSIGN_OR_RETURN(Recipe recipe, Recipe::Load(one));
    for (FaultRule& rule : ReadFaultRules(recipe.Root())) rules.push_back(std::move(rule));
    HONE_RETURN_IF_ERROR(recipe.Finish());
  }
  return rules;
}

// One measurement: the suite as it is, or changed.
struct Guise {
  std::string name;
  std::string key;  // in JSON
  std::shared_ptr<const Suite> suite;
  std::vector<FaultRule> faults;
  std::map<std::string, std::string> names;
};

Result<std::vector<Guise>> GuisesOf(const SuiteCommand& command, Suite plain) {
  const SuiteOptions& options = command.options;
  std::vector<Guise> guises(1);
  guises[0] = {"plain", "plain", std::make_shared<const Suite>(std::move(plain)), {}, {}};
  const std::shared_ptr<const Suite> suite = guises[0].suite;
  const auto shared = [](Suite made) { return std::make_shared<const Suite>(std::move(made)); };
  if (options.rename_tools) {
    Guise renamed{"renamed tools", "renamed_tools", nullptr, {}, {}};
    renamed.suite = shared(WithRenamedTools(*suite, command.seed, &renamed.names));
    guises.push_back(std::move(renamed));
  }
  if (options.change_schemas) {
    guises.push_back({"changed schemas",
                      "changed_schemas",
                      shared(WithChangedSchemas(*suite, command.seed)),
                      {},
                      {}});
  }
  if (options.paraphrase || !options.paraphrases.empty()) {
    std::map<std::string, std::string> rewritten;
    if (!options.paraphrases.empty()) {
      HONE_ASSIGN_OR_RETURN(rewritten, ReadParaphrases(options.paraphrases));
    }
    guises.push_back({"paraphrased",
                      "paraphrased",
                      shared(Paraphrased(*suite, command.seed, rewritten)),
                      {},
                      {}});
  }
  if (!options.faults.empty()) {
    if (suite->tools.empty()) {
      return Error(ErrorCode::kInvalidArgument,
                   fmt::format("--faults changes nothing: no tool answers in {}", suite->name));
    }
    HONE_ASSIGN_OR_RETURN(std::vector<FaultRule> rules, ReadFaults(options.faults));
    guises.push_back({"with faults", "with_faults", suite, std::move(rules), {}});
  }
  return guises;
}

// Whoever does the suite.
class SuiteSubject {
 public:
  static Result<std::unique_ptr<SuiteSubject>> Open(const SuiteCommand& command) {
    auto subject = std::unique_ptr<SuiteSubject>(new SuiteSubject());
    const SuiteOptions& options = command.options;
    subject->temperature_ =
        command.greedy ? 0 : command.temperature.value_or(command.samples > 1 ? 1 : 0);
    if (command.samples > 1 && subject->temperature_ == 0) {
      return Error(ErrorCode::kInvalidArgument,
                   "several samples at temperature 0 are the same; say --temperature, or leave "
                   "--samples out");
    }
    if (!IsEndpoint(command.choice.model)) {
      HONE_ASSIGN_OR_RETURN(subject->model_,
                            OpenSuiteModel(command.choice, options.endpoint.turn_tokens));
      return subject;
    }
    HONE_ASSIGN_OR_RETURN(subject->chat_,
                          OpenEndpoint(command.choice.model, options.endpoint, command.seed));
    subject->endpoint_ = {.temperature = subject->temperature_,
                          .max_tokens = options.endpoint.turn_tokens,
                          .at_once = options.endpoint.at_once};
    return subject;
  }

  Result<SuiteOutcomes> Do(const Guise& guise, SuiteRunOptions options) const {
    options.faults = guise.faults;
    options.names = guise.names;
    if (chat_ != nullptr) return RunSuite(guise.suite, options, endpoint_, chat_.get());
    HONE_ASSIGN_OR_RETURN(const Policy policy, model_->PolicyAt(temperature_));
    return RunSuite(guise.suite, options, policy);
  }

  std::string name() const {
    return chat_ != nullptr ? chat_->name() : model_->place.folder.string();
  }
  double temperature() const { return temperature_; }
  Json ToJson() const {
    if (chat_ != nullptr)
      return Json::Of({{"model", name()}, {"account", chat_->account().ToJson()}});
    return Json::Of({{"model", name()}, {"weights", model_->engine->WeightsHash()}});
  }

 private:
  std::unique_ptr<SuiteModel> model_;
  std::unique_ptr<ChatModel> chat_;
  SuiteEndpointOptions endpoint_;
  double temperature_ = 0;
};

void AppendLines(const Guise& guise, const SuiteOutcomes& outcomes, int64_t samples,
                 std::string* lines) {
  for (size_t i = 0; i < outcomes.size(); ++i) {
    const auto each = static_cast<size_t>(samples);
    Json line =
        OutcomeJson(guise.suite->cases[i / each], static_cast<int64_t>(i % each), outcomes[i]);
    line.Set("guise", guise.key);
    *lines += DumpJson(line) + "\n";
  }
}

}  // namespace

Result<std::string> EvaluateSuite(const SuiteCommand& command, bool json) {
  HONE_ASSIGN_OR_RETURN(Suite plain, LoadSuite(command));
  HONE_RETURN_IF_ERROR(SelectCases({.categories = command.options.categories,
                                    .per_category = command.options.cases,
                                    .seed = command.seed},
                                   &plain));
  HONE_ASSIGN_OR_RETURN(const std::vector<Guise> guises, GuisesOf(command, std::move(plain)));
  HONE_ASSIGN_OR_RETURN(const auto subject, SuiteSubject::Open(command));
  const Rng rng = Rng(0).Split("suite intervals");
  ProgressBar bar(stderr);
  const std::unique_ptr<Clock> clock = NewRealClock();
  std::vector<ShownSuite> shown;
  SuiteOutcomes first;
  std::string lines;
  Json found = Json::Of({{"suite", guises[0].suite->name},
                         {"cases", static_cast<int64_t>(guises[0].suite->cases.size())},
                         {"samples", command.samples},
                         {"seed", command.seed},
                         {"temperature", subject->temperature()}});
  for (const Guise& guise : guises) {
    SuiteRunOptions options{
        .samples = command.samples, .seed = command.seed, .max_turns = command.options.turns};
    options.progress = [&](int64_t ended, int64_t all) { bar.Show(guise.name, ended, all); };
    const Clock::Duration begun = clock->Now();
    HONE_ASSIGN_OR_RETURN(SuiteOutcomes outcomes, subject->Do(guise, std::move(options)));
    AppendLines(guise, outcomes, command.samples, &lines);
    ShownSuite& one = shown.emplace_back();
    one.name = guise.name;
    one.figures = FiguresOf(*guise.suite, outcomes, command.samples, rng);
    one.seconds = std::chrono::duration<double>(clock->Now() - begun).count();
    Json figures = one.figures.ToJson();
    figures.Set("seconds", one.seconds);
    if (shown.size() == 1) {
      first = std::move(outcomes);
    } else {
      one.differences =
          DifferencesOf(*guise.suite, outcomes, first, command.samples, rng.Split(guise.key));
      figures.Set("difference", ToJson(one.differences));
    }
    found.Set(guise.key, std::move(figures));
  }
  bar.Erase();
  const Json who = subject->ToJson();
  for (const auto& [key, value] : who.AsObject()) found.Set(key, value);
  if (!command.out.empty()) HONE_RETURN_IF_ERROR(WriteFileAtomic(command.out, lines));
  if (json) return DumpJson(found) + "\n";
  const Terminal terminal = Terminal::Of(stdout);
  std::string head =
      fmt::format("{} on {}: {} cases", terminal.Bold(subject->name()),
                  terminal.Bold(guises[0].suite->name), guises[0].suite->cases.size());
  if (command.samples > 1) head += fmt::format(", {} samples each", command.samples);
  head += subject->temperature() == 0 ? ", greedy"
                                      : fmt::format(", sampled at {}", subject->temperature());
  return head + "; [95 % intervals over cases]\n" + SuiteView(shown, terminal);
}

}  // namespace hone
