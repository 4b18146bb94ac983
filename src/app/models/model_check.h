#pragma once

#include <filesystem>
#include <optional>
#include <string>
#include <vector>

#include "base/result.h"
#include "engine/engine.h"
#include "text/tokenizer.h"

namespace hone {

struct ReadingCheckOptions {
  std::filesystem::path folder;    // of the model: its chat template
  std::vector<TokenId> beginning;  // before bare text
  bool from_nothing = false;       // it may have read nothing but Hone's tasks
};

// How well a model reads some lines of English, in nats per token.
struct ReadingCheck {
  double bare = 0;  // the text alone
  // What the assistant says in the model's own chat template: who was only taught to talk reads
  // bare text worse than a guess. Absent where it has no template that writes such a turn.
  std::optional<double> as_turn;
  double guessing = 0;  // among all tokens alike
  bool broken = false;  // the load looks so: worse than guessing, however it is read
  std::string verdict;  // for people

  double nats() const { return AsTurn() ? *as_turn : bare; }  // of the better one
  bool AsTurn() const { return as_turn && !(*as_turn >= bare); }
};

// An error where the model cannot read these tokens.
Result<ReadingCheck> CheckReading(const ReadingCheckOptions& options, const Tokenizer& tokenizer,
                                  Engine* engine);

}  // namespace hone
