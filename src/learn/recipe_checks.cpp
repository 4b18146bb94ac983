#include "learn/recipe_checks.h"

#include <algorithm>
#include <filesystem>

#include <fmt/format.h>

#include "credit/short_form.h"
#include "rollout/policy.h"
#include "text/bpe_trainer.h"
#include "text/template_dialect.h"

namespace hone {
namespace {

// Whether this method leaves a trajectory without credit because it has no siblings. Asked of the
// method itself, so that no list has to be kept.
bool NeedsSiblings(const Method& method) {
  const Json one = *ParseJson(
      R"({"group": [{"terms": {"outcome": 1, "call": 1},
                     "turns": [{"tokens": 6, "calls": [{"begin": 1, "end": 4, "terms": {"call": 1}}]},
                               {"tokens": 2, "author": "tool"}, {"tokens": 3}]}]})");
  const ShortGroup group = ReadShortForm(one).value();
  const Result<Credit> credit = AssignCredit(method, group.record);
  if (!credit.ok()) return false;
  return std::any_of(credit->notes.begin(), credit->notes.end(),
                     [](const Note& note) { return note.kind == NoteKind::kGroupOfOne; });
}

// Why the method drops every group that is drawn as training draws, at a temperature above 0 and
// with different outcomes; absent: it does not.
std::optional<std::string> DropsAllThatIsDrawn(const Method& method) {
  const Json drawn = *ParseJson(
      R"({"group": [{"terms": {"outcome": 1, "call": 1}, "turns": [{"tokens": 3}]},
                    {"terms": {"outcome": 0, "call": 0}, "turns": [{"tokens": 3}]}]})");
  const ShortGroup group = ReadShortForm(drawn).value();
  Method unfiltered = method;  // how far rewards spread is not known here
  unfiltered.filters = {};
  const Result<Credit> credit = AssignCredit(unfiltered, group.record);
  if (!credit.ok()) return std::nullopt;
  for (const Note& note : credit->notes) {
    if (note.kind == NoteKind::kGroupDropped) return note.text;
  }
  return std::nullopt;
}

void CheckTokenizer(const PolicyModelSettings& model, const Dialect& dialect, RecipeTable* table) {
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

int64_t PositionsOf(const PolicyModelSettings& model) {
  if (model.folder.empty()) return model.fresh.max_positions;
  const Result<ModelConfig> config = LoadModelConfig(model.folder);
  return config.ok() ? config->max_positions : 0;
}

void CheckModel(const PolicyModelSettings& model, RecipeTable* table) {
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
    return table->Problem(
        "folder",
        fmt::format("there is no folder {0}; get a model (hf download "
                    "Qwen/Qwen2.5-0.5B-Instruct --local-dir {0}) or make a small one (hone model "
                    "new --help)",
                    model.folder));
  }
  if (const Result<ModelConfig> config = LoadModelConfig(model.folder); !config.ok()) {
    return table->Problem("folder", config.error().message());
  }
  if (dialect.ok()) CheckTokenizer(model, **dialect, table);
}

void CheckGroup(const TrainingRecipe& recipe, int64_t group, RecipeTable* table) {
  const Method& method = recipe.method;
  if (group > 1 || !NeedsSiblings(method)) return;
  // Tree-GRPO has a number of leaves of its own.
  if (recipe.rollout.strategy != nullptr && recipe.rollout.strategy->traits().returns) return;
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
  const KlOptions& kl = recipe.objective.kl;
  if (recipe.objective.NeedsReference() && kl.place == KlPlace::kReward &&
      !method.reads.Has("kl")) {
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

void CheckAnswers(const TrainingRecipe& recipe, RecipeTable* root) {
  const ToolMode mode = recipe.answers.mode;
  if (recipe.RecordsItself() && mode != ToolMode::kReplay &&
      mode != ToolMode::kReplayElseSimulate) {
    root->Problem("answers",
                  "calls are recorded that nobody looks up; write mode = \"replay\" or "
                  "\"replay-else-simulate\"");
  }
  // Who describes a simulator and forgets the mode would train against the real tools unawares.
  if (root->Has("simulator") && !root->Table("answers").Has("mode")) {
    root->Problem("simulator",
                  "nothing says whether it is asked in training; write answers.mode = "
                  "\"simulate\", or \"live\" for the tools themselves");
  }
  if (recipe.LearnsSimulator() && !recipe.Simulates()) {
    root->Problem("answers", "a simulator is made that nobody asks; write mode = \"simulate\"");
  }
  if (recipe.LearnsSimulator() && recipe.answers.simulator->kind != "learned") {
    root->Problem("simulator",
                  "a stage makes a learned simulator, but the recipe asks another one");
  }
}

void CheckRules(const TrainingRecipe& recipe, RecipeTable* root) {
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
