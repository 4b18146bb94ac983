#include "app/played_runs.h"

#include <fmt/format.h>

#include "app/records.h"
#include "base/file.h"
#include "data/played_conversation.h"
#include "record/final_state.h"
#include "text/template_dialect.h"
#include "train/backend.h"
#include "train/training_recipe.h"

namespace hone {
namespace {

bool IsWanted(const ScoredTree& record, size_t leaf, const PlayedChoice& choice) {
  if (choice.all) return true;
  std::optional<double> reward;
  for (const Score& score : record.scores) {
    if (static_cast<size_t>(score.leaf) == leaf) reward = Total(score);
  }
  if (choice.at_least) return reward && *reward >= *choice.at_least;
  const FinalState state(record.tree.leaves[leaf].final_state);
  if (state.has_verdict()) return state.is_right().value_or(false);
  return reward && *reward > 0;
}

// What the agent sees first, by task: as the environment shows it, or as it was recorded.
class Openings {
 public:
  static Result<Openings> Of(const std::filesystem::path& run) {
    Openings openings;
    if (!Exists(run / "recipe.toml")) return openings;
    HONE_ASSIGN_OR_RETURN(TrainingRecipe recipe, ReadTrainedRecipe(run));
    BackendOptions in_earnest = recipe.answers;
    in_earnest.mode = ToolMode::kLive;
    HONE_ASSIGN_OR_RETURN(std::shared_ptr<const Toolbox> tools,
                          MakeTools(in_earnest, recipe.tools));
    HONE_ASSIGN_OR_RETURN(openings.loaded_, recipe.environment.make(std::move(tools)));
    return openings;
  }

  Result<Opening> For(const Tree& tree) const {
    if (!loaded_) {
      return Opening{.messages = tree.task.messages, .tools = tree.task.tools};
    }
    HONE_ASSIGN_OR_RETURN(const auto episode, loaded_->environment->Open(tree.task, tree.seed));
    return episode->opening();
  }

 private:
  std::optional<LoadedEnvironment> loaded_;
};

}  // namespace

Result<PlayedRun> ConversationsOfRun(const std::filesystem::path& run, const PlayedChoice& choice) {
  HONE_ASSIGN_OR_RETURN(const Records records, Records::Open(run));
  HONE_ASSIGN_OR_RETURN(const std::unique_ptr<Tokenizer> tokenizer, TokenizerOfRecords(run, {}));
  if (tokenizer == nullptr) {
    return Error(ErrorCode::kNotFound,
                 fmt::format("{} has no tokenizer.json to read its records with", run.string()));
  }
  std::string name = choice.dialect;
  if (name.empty() && Exists(run / "recipe.toml")) {
    HONE_ASSIGN_OR_RETURN(const PolicyModelOptions model, ReadTrainedModel(run));
    name = DialectIn(model.dialect, model.folder);
  }
  if (name.empty()) {
    return Error(ErrorCode::kInvalidArgument,
                 fmt::format("{} does not say how its model spells calls; name it with --dialect",
                             run.string()));
  }
  HONE_ASSIGN_OR_RETURN(const std::unique_ptr<Dialect> dialect, NewDialect(name));
  HONE_ASSIGN_OR_RETURN(const Openings openings, Openings::Of(run));
  HONE_ASSIGN_OR_RETURN(const int64_t count, records.Count());
  HONE_ASSIGN_OR_RETURN(const auto summaries, records.List(count));
  PlayedRun played;
  for (const RunStore::TreeSummary& summary : summaries) {
    HONE_ASSIGN_OR_RETURN(const ScoredTree record, records.Read(summary.id));
    HONE_ASSIGN_OR_RETURN(const Opening opening, openings.For(record.tree));
    for (size_t leaf = 0; leaf < record.tree.leaves.size(); ++leaf) {
      ++played.trajectories;
      if (!IsWanted(record, leaf, choice)) {
        ++played.unwanted;
        continue;
      }
      Result<Json> conversation = PlayedConversation(
          record.tree, record.tree.leaves[leaf],
          {.messages = opening.messages, .tools = opening.tools}, *dialect, *tokenizer);
      if (conversation.ok()) {
        played.conversations.push_back(*std::move(conversation));
      } else {
        ++played.unreadable;
      }
    }
  }
  return played;
}

}  // namespace hone
