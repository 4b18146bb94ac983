#pragma once

#include <map>
#include <memory>
#include <string>
#include <vector>

#include "data/conversation_mixture.h"
#include "learn/imitation_check.h"
#include "train/stage.h"
#include "train/stage_context.h"

// Conversations in files as what a stage imitates.

namespace hone {

// `data` and what goes with it, of a stage of imitation.
struct SftDataOptions {
  MixtureOptions mixture;
  bool skip_too_long = false;
  int64_t held_out_every = 0;    // steps between measurements on held-out rows; 0: at the end
  int64_t held_out_turns = 256;  // of each file, that are drawn to see what is called, at most
  std::shared_ptr<const ConversationMixture> rows;  // null: there is no `data`
};
// Problems of the files, each with its line, are the recipe's.
SftDataOptions ReadSftData(RecipeTable* table);

// A row in a model's tokens: a conversation, or a text in segments of `positions` (0: no limit).
Result<Tree> RowTree(const TurnCodec& codec, const ConversationRow& row, int64_t positions);

// The conversations of a stage in the tokens of its model, all of them at once, so that what does
// not fit is known before anything is computed.
class SftData {
 public:
  // An error names the row that cannot be spelled, or does not fit the model. `note` is told how
  // much there is, and what is left out.
  static Result<SftData> Open(const SftDataOptions& options, const StageContext& context);

  // The n-th conversation of the run; null: one that is left out because it is too long.
  const Tree* At(uint64_t position);
  Result<StepValues> Measure(const StageContext& context, int64_t call_tokens) const;
  bool has_held_out() const { return !held_out_.empty(); }

 private:
  SftData(const SftDataOptions& options, uint64_t seed)
      : options_(options), order_(options.rows.get(), Rng(seed).Split("conversations")) {}

  SftDataOptions options_;
  ConversationOrder order_;
  std::vector<std::vector<Tree>> trees_;               // by file and row; without nodes: left out
  std::map<std::string, std::vector<Tree>> held_out_;  // by kind
};

}  // namespace hone
