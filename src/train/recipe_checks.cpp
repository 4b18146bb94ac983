#include "train/recipe_checks.h"

#include <algorithm>
#include <filesystem>

#include <fmt/format.h>

#include "base/nearest.h"
#include "credit/methods.h"
#include "credit/short_form.h"
#include "credit/term_needs.h"
#include "record/reward_terms.h"
#include "rewards/given_terms.h"
#include "rewards/presets.h"
#include "rollout/policy.h"
#include "rollout/thought_limits.h"
#include "text/bpe_trainer.h"
#include "text/template_dialect.h"
#include "train/backend.h"
#include "train/folder/model_place.h"
#include "train/folder/run_inputs.h"

namespace hone {
namespace {

// Terms with this value, of all that the method needs.
Json TermsFor(const Method& method, double value) {
  Json terms = Json::Of({});
  for (const TermNeed& need : NeedsOf(method)) {
    for (std::string name : need.terms.names) {
      if (name.ends_with('*')) name.back() = '1';  // any name that begins so
      terms.Set(name, value);
    }
  }
  return terms;
}

// Whether this method leaves a trajectory without credit because it has no siblings. Asked of the
// method itself, so that no list has to be kept.
bool NeedsSiblings(const Method& method) {
  Json one = *ParseJson(
      R"({"turns": [{"tokens": 6, "calls": [{"begin": 1, "end": 4, "terms": {"call": 1}}]},
                    {"tokens": 2, "author": "tool"}, {"tokens": 3}]})");
  one.Set("terms", TermsFor(method, 1));
  const ShortGroup group = ReadShortForm(Json::Of({{"group", Json::Array{one}}})).value();
  const Result<Credit> credit = AssignCredit(method, group.record);
  if (!credit.ok()) return false;
  return std::any_of(credit->notes.begin(), credit->notes.end(),
                     [](const Note& note) { return note.kind == NoteKind::kGroupOfOne; });
}

// Why the method drops every group that is drawn as training draws, at a temperature above 0 and
// with different outcomes; absent: it does not.
std::optional<std::string> DropsAllThatIsDrawn(const Method& method) {
  if (method.needs_greedy) return std::nullopt;  // training draws that one beside the others
  Json::Array drawn;
  for (const double reward : {1.0, 0.0}) {
    Json one = *ParseJson(R"({"turns": [{"tokens": 3}]})");
    one.Set("terms", TermsFor(method, reward));
    drawn.push_back(std::move(one));
  }
  const ShortGroup group = ReadShortForm(Json::Of({{"group", std::move(drawn)}})).value();
  Method unfiltered = method;  // how far rewards spread is not known here
  unfiltered.filters = {};
  const Result<Credit> credit = AssignCredit(unfiltered, group.record);
  if (!credit.ok()) return std::nullopt;
  for (const Note& note : credit->notes) {
    if (note.kind == NoteKind::kGroupDropped) return note.text;
  }
  return std::nullopt;
}

void CheckTokenizer(const PolicyModelOptions& model, const Dialect& dialect, RecipeTable* table) {
  const Result<Tokenizer> tokenizer = Tokenizer::Load(model.folder);
  if (!tokenizer.ok()) return table->Problem("folder", tokenizer.error().message());
  const Result<ModelConfig> config = LoadModelConfig(model.folder);
  if (config.ok() && tokenizer->vocab_size() > config->vocab) {
    table->Problem("folder", fmt::format("the tokenizer of {} has {} tokens, its model only {}",
                                         model.folder, tokenizer->vocab_size(), config->vocab));
  }
  if (const auto fits = CheckMarkers(*tokenizer, dialect, model.folder); !fits.ok()) {
    table->Problem("dialect", fits.error().message());
  }
}

// The first few of many names.
std::string Some(const std::vector<std::string>& names) {
  constexpr size_t kShown = 8;
  if (names.empty()) return "none";
  std::string text = fmt::format(
      "{}", fmt::join(names.begin(), names.begin() + std::min(names.size(), kShown), ", "));
  if (names.size() > kShown) text += fmt::format(" and {} more", names.size() - kShown);
  return text;
}

std::vector<std::string> PresetsFor(const Method& method) {
  std::vector<std::string> names;
  for (const Preset& preset : BuiltInPresets()) {
    if (OpenNeeds(method, *GivenTerms({.preset = preset.name})).empty())
      names.push_back(preset.name);
  }
  return names;
}

std::vector<std::string> MethodsFor(const std::vector<std::string>& given) {
  std::vector<std::string> names;
  for (const std::string& name : MethodNames()) {
    if (OpenNeeds(NewMethod(name).value(), given).empty()) names.push_back(name);
  }
  return names;
}

// The terms of the run's scores, as far as they are known before it: the reward's and the KL's.
std::optional<std::vector<std::string>> TermsOfRun(const TrainingRecipe& recipe) {
  const Result<RewardOptions> rewards = RewardOptionsFromJson(recipe.rewards, "rewards");
  if (!rewards.ok()) return std::nullopt;
  std::optional<std::vector<std::string>> given = GivenTerms(*rewards);
  if (given && recipe.objective.NeedsReference() && recipe.objective.kl.place == KlPlace::kReward) {
    given->push_back(kKlTerm);
  }
  return given;
}

void CheckNames(const std::vector<std::string>& names, const std::vector<std::string>& given,
                const char* key, RecipeTable table) {
  for (const std::string& name : names) {
    if (std::find(given.begin(), given.end(), name) != given.end()) continue;
    table.Problem(key, fmt::format("the reward gives no term \"{}\"{}; it gives {}", name,
                                   DidYouMean(name, given), Some(given)));
  }
}

}  // namespace

Result<void> CheckMarkers(const Tokenizer& tokenizer, const Dialect& dialect,
                          const std::string& folder) {
  for (size_t i = 0; i < dialect.traits().specials; ++i) {
    const std::string& marker = dialect.traits().markers[i];
    if (tokenizer.FindAdded(marker)) continue;
    return Error(ErrorCode::kInvalidArgument,
                 fmt::format("the tokenizer of {} does not have {}, which {} needs; choose the "
                             "dialect that the model was made for (docs/dialects.md)",
                             folder, marker, dialect.traits().name));
  }
  return {};
}

int64_t PositionsOf(const PolicyModelOptions& model) {
  if (model.folder.empty()) return model.fresh.max_positions;
  const Result<ModelConfig> config = LoadModelConfig(model.folder);
  return config.ok() ? config->max_positions : 0;
}

void CheckModel(const PolicyModelOptions& model, RecipeTable* table) {
  const Result<std::unique_ptr<Dialect>> dialect =
      NewDialect(DialectIn(model.dialect, model.folder));
  if (!dialect.ok()) {
    table->Problem("dialect", dialect.error().message());
  } else {
    const Tokenizer bytes = TrainBpe({"a"}, {.vocab_size = 256}).value();
    if (const auto codec = TurnCodec::New(dialect->get(), &bytes); !codec.ok()) {
      table->Problem("dialect", codec.error().message());
    }
  }
  if (model.folder.empty()) return;
  std::error_code ignored;
  if (!std::filesystem::exists(model.folder, ignored)) {
    return table->Problem("folder", fmt::format("there is no folder {}; {}", model.folder,
                                                HowToGetModel(model.folder)));
  }
  if (const Result<ModelConfig> config = LoadModelConfig(model.folder); !config.ok()) {
    return table->Problem("folder", config.error().message());
  }
  if (dialect.ok()) CheckTokenizer(model, **dialect, table);
}

void CheckThoughts(const TrainingRecipe& recipe, RecipeTable rollout) {
  const ThoughtLimits& limits = recipe.rollout.policy.thoughts;
  if (!limits.any()) return;
  const auto dialect = NewDialect(DialectIn(recipe.model.dialect, recipe.model.folder));
  if (!dialect.ok()) return;  // said elsewhere
  const Tokenizer bytes = TrainBpe({"a"}, {.vocab_size = 256}).value();
  if (const auto limiter = ThoughtLimiter::New(**dialect, bytes, limits); !limiter.ok()) {
    rollout.Problem(limits.tokens ? "thought_tokens" : "thought_repeats",
                    limiter.error().message());
  }
}

// What a tool reads must not be what the run writes.
void CheckInputs(const TrainingRecipe& recipe, RecipeTable* root) {
  std::error_code ignored;
  for (const RecipePath& path : recipe.paths) {
    if (path.use != PathUse::kInput || !std::filesystem::is_directory(path.place, ignored))
      continue;
    if (!LiesIn(recipe.Folder(), path.place)) continue;
    root->Problem("run", fmt::format("its folder {} lies in {}, which a tool reads; name a folder "
                                     "of texts alone there, or another run.out",
                                     recipe.Folder().string(), path.written));
  }
}

void CheckGroup(const TrainingRecipe& recipe, int64_t group, RecipeTable* table) {
  const Method& method = recipe.method;
  if (group > 1) return;
  // Tree-GRPO has a number of leaves of its own.
  if (recipe.rollout.strategy != nullptr && recipe.rollout.strategy->traits().returns) return;
  if (recipe.dynamic_sampling.on) {
    table->Problem("group",
                   "dynamic_sampling keeps groups whose rewards differ, which those of a "
                   "group of 1 never do; write 4 or more");
  }
  if (!NeedsSiblings(method)) return;
  table->Problem("group",
                 fmt::format("{} compares the trajectories of a group, and a group of 1 has "
                             "nobody to compare with; write 4 or more",
                             method.name));
}

void CheckCredit(const TrainingRecipe& recipe, RecipeTable* root) {
  const Method& method = recipe.method;
  if (const auto why = DropsAllThatIsDrawn(method)) {
    root->Table("credit").Problem(
        "method", fmt::format("{} would drop every group that training draws ({}); choose another "
                              "method (hone credit methods)",
                              method.name, *why));
  }
  if (method.needs_greedy && recipe.rollout.strategy != nullptr &&
      recipe.rollout.strategy->traits().branches()) {
    root->Table("rollout").Problem(
        "strategy", fmt::format("{} compares with a greedy trajectory, which only \"chains\" draws",
                                method.name));
  }
  if (const auto given = TermsOfRun(recipe)) {
    if (const std::vector<std::string> open = OpenNeeds(method, *given); !open.empty()) {
      root->Table("credit").Problem(
          "method",
          fmt::format(
              "{} needs {}, which the reward cannot give: it gives {}. Presets that do: {}; "
              "a program can give any (rewards.command). Methods that fit this reward: {}; "
              "which terms a method reads can be set (docs/algorithms/{}.md)",
              method.name, fmt::join(open, " and "), Some(*given), Some(PresetsFor(method)),
              Some(MethodsFor(*given)), method.name));
    }
  }
  const KlOptions& kl = recipe.objective.kl;
  if (recipe.objective.NeedsReference() && kl.place == KlPlace::kReward &&
      !method.reads.Has(kKlTerm)) {
    root->Table("objective")
        .Table("kl")
        .Problem(
            "place",
            fmt::format(
                "the KL is made a reward term \"kl\", which {} does not read; write place = "
                "\"loss\", or let the method read it (credit.method = \"{}:terms=outcome+kl\")",
                method.name, method.name));
  }
}

void CheckTerms(const TrainingRecipe& recipe, RecipeTable* root) {
  const auto given = TermsOfRun(recipe);
  if (!given) return;
  CheckNames(recipe.reward_scale.terms, *given, "terms", root->Table("rewards").Table("normalise"));
  const std::string& metric = recipe.dynamic_sampling.metric;
  if (metric != kTotalMetric && metric != kSuccessMetric) {
    CheckNames({metric}, *given, "metric", root->Table("dynamic_sampling"));
  }
  std::vector<std::string> weighed;
  for (const Phase& phase : recipe.curriculum.phases) {
    for (const auto& [term, weight] : phase.rewards) weighed.push_back(term);
  }
  CheckNames(weighed, *given, "phase", root->Table("curriculum"));
}

void CheckAnswers(const TrainingRecipe& recipe, RecipeTable* root) {
  const ToolMode mode = recipe.answers.mode;
  const bool looked_up = mode == ToolMode::kReplay || mode == ToolMode::kReplayElseSimulate ||
                         (mode == ToolMode::kSimulate && recipe.answers.simulator &&
                          recipe.answers.simulator->shows_record());
  if (recipe.JournalsItself() && !looked_up) {
    root->Problem("answers",
                  "calls are recorded that nobody looks up; write mode = \"replay\" or "
                  "\"replay-else-simulate\", or let a language model play that is shown them");
  }
  // Who describes a simulator and forgets the mode would train against the real tools unawares.
  if (root->Has("simulator") && !root->Table("answers").Has("mode")) {
    root->Problem("simulator",
                  "nothing says whether it is asked in training; write answers.mode = "
                  "\"simulate\", or \"live\" for the tools themselves");
  }
  if (!recipe.answers.conditions.empty() && !HasToolsInProcess(recipe)) {
    root->Problem("conditions",
                  "are of tools that are part of Hone, which cost nothing and answer at once; "
                  "these tools have prices and latencies of their own");
  }
  if (recipe.LearnsSimulator() && !recipe.Simulates()) {
    root->Problem("answers", "a simulator is made that nobody asks; write mode = \"simulate\"");
  }
  if (recipe.LearnsSimulator() && recipe.answers.simulator->kind != "learned") {
    root->Problem("simulator",
                  "a stage makes a learned simulator, but the recipe asks another one");
  }
}

void CheckRemote(const TrainingRecipe& recipe, RecipeTable* root) {
  if (!recipe.policy.on) return;
  RecipeTable table = root->Table("policy"), rollout = root->Table("rollout");
  const bool draws = std::any_of(recipe.stages.begin(), recipe.stages.end(),
                                 [](const auto& stage) { return stage->traits().practice; });
  if (!draws) {
    table.Problem("kind",
                  "an endpoint draws the turns of practice, and no [[stage]] practises; "
                  "leave it out");
  }
  if (recipe.rollout.ahead > 0) {
    rollout.Problem("ahead",
                    "is of the run's own engines so far; leave it out, or policy.kind = "
                    "\"endpoint\"");
  }
  if (const ThoughtLimits& thoughts = recipe.rollout.policy.thoughts; thoughts.any()) {
    rollout.Problem(thoughts.tokens ? "thought_tokens" : "thought_repeats",
                    "is of turns that the run's own engine draws; leave it out, or policy.kind = "
                    "\"endpoint\"");
  }
  const Sampling& sampling = recipe.rollout.policy.sampling;
  if (sampling.top_k > 0 || sampling.top_p < 1 || sampling.min_p > 0) {
    rollout.Problem(sampling.top_k > 0   ? "top_k"
                    : sampling.top_p < 1 ? "top_p"
                                         : "min_p",
                    "an endpoint does not say which tokens could have been drawn, which training "
                    "needs to know; let it draw from all of them");
  }
  if (recipe.rollout.strategy != nullptr && recipe.rollout.strategy->traits().reads_entropies) {
    rollout.Problem("strategy",
                    fmt::format("{} branches by entropies, which an endpoint does not tell; use "
                                "chains or tree-grpo",
                                recipe.rollout.strategy->traits().name));
  }
  if (recipe.replay.on) {
    root->Problem("replay",
                  "is of what the run's own engine drew so far; leave it out, or policy.kind = "
                  "\"endpoint\"");
  }
}

void CheckRules(const TrainingRecipe& recipe, RecipeTable* root) {
  CheckInputs(recipe, root);
  CheckThoughts(recipe, root->Table("rollout"));
  if (recipe.environment.kind == kNoEnvironment) return;  // nobody acts
  if (recipe.rollout.ahead > 0 && recipe.replay.on) {
    root->Table("rollout").Problem(
        "ahead",
        "and replay are two ways to train on what earlier weights drew, which are not "
        "told apart; leave one of them out");
  }
  const int64_t positions = PositionsOf(recipe.model);
  const std::optional<int64_t>& context = recipe.environment.rules.budgets.context_tokens;
  if (positions > 0 && recipe.rollout.policy.max_turn_tokens > positions) {
    root->Table("rollout").Problem("turn_tokens",
                                   fmt::format("{} tokens do not fit the model's context of {}",
                                               recipe.rollout.policy.max_turn_tokens, positions));
  }
  if (positions > 0 && context && *context > positions) {
    root->Problem("environment",
                  fmt::format("rules.context_tokens of {} is more than the model's context of {}",
                              *context, positions));
  }
}

}  // namespace hone
