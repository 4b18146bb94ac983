#pragma once

#include <functional>
#include <memory>
#include <set>
#include <span>
#include <string>
#include <vector>

#include "envs/environment.h"
#include "record/tree.h"
#include "text/dialect.h"
#include "text/tokenizer.h"

namespace hone {

// Which tools are taken away: a call of each, and of each that stays. None: all are.
struct ToolsAway {
  std::vector<MessageCall> away, others;
};

// Turns from which tools have been taken away: what may be drawn so that no call of them begins,
// and what becomes of a call that is written all the same. Immutable and thread-safe; the tokenizer
// must outlive it.
//
// A call begins where the text of a turn gets one of the dialect's openings (TurnMarks). No token
// may follow that would complete one, be the opening a token of its own or spelled with others. An
// opening that calls of other tools have, too, is none of those.
class NoCalls {
 public:
  // `never` are tokens that cannot be drawn in any case (Engine::forbidden).
  static std::shared_ptr<const NoCalls> Of(const Dialect& dialect, const Tokenizer& tokenizer,
                                           std::span<const TokenId> never,
                                           const ToolsAway& tools = {});

  // Whether that rules out every such call. It does not where a turn can be a call without an
  // opening of its own: then an agent is not shown these tools, and what it calls is denied.
  bool certain() const { return certain_; }

  // The tokens that may follow those that were drawn of a turn (TurnRequest::allow).
  std::vector<TokenId> Allowed(std::span<const TokenId> drawn) const;
  // As a function for it. Where another says what may follow (null: nobody), both must; where it
  // leaves nothing of this, it alone.
  using Allow = std::function<std::vector<TokenId>(std::span<const TokenId>)>;
  static Allow Within(std::shared_ptr<const NoCalls> no_calls, Allow other);

  // Takes the tools out of those that an agent is shown, where nothing else helps.
  void Hide(Json* tools) const;
  // A turn with calls of these tools becomes one that cannot be read; none: of all tools.
  static void Deny(AgentTurn* turn, const std::set<std::string>& tools);
  const std::set<std::string>& tools() const { return tools_; }

 private:
  // Tokens that complete an opening behind a text that ends with the rest of it.
  struct Completion {
    std::string before;
    std::vector<TokenId> tokens;  // ascending
  };

  const Tokenizer* tokenizer_ = nullptr;
  bool certain_ = false;
  std::set<std::string> tools_;  // empty: all
  std::vector<TokenId> usual_;   // that may follow anything but the beginning of an opening
  std::vector<Completion> completions_;
  size_t longest_ = 0;  // bytes that decide
};

}  // namespace hone
