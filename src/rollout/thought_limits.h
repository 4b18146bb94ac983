#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "base/result.h"
#include "record/sampling.h"
#include "text/dialect.h"
#include "text/tokenizer.h"

// How long a policy may think in one turn, and what closes a thought that goes on.

namespace hone {

struct ThoughtLimits {
  // The most tokens between the markers of a turn's thoughts, all together; absent: no limit. What
  // may become the closing marker does not count until it is something else. A thought that the
  // policy opens when they are spent is closed at once.
  std::optional<int64_t> tokens;
  // A thought is closed when the same run of tokens stands at its end so many times in a row; 0:
  // never. A run has kShortestRun tokens or more, so that a row of digits is none.
  int32_t repeats = 0;

  bool any() const { return tokens.has_value() || repeats > 0; }
  bool operator==(const ThoughtLimits&) const = default;
};
inline constexpr int64_t kShortestRun = 4;

// Whether a prompt ends with an opened thought.
bool EndsInThought(const Dialect& dialect, const Tokenizer& tokenizer,
                   std::span<const TokenId> prompt);

// Keeps the thoughts of turns within limits. Where one is reached, the closing marker is all that
// may follow, token by token: each is drawn from a support of one, so its log-probability is 0 now
// and in training, and nothing is learned from it. Immutable; cheap to copy.
class ThoughtLimiter {
 public:
  // Fails for a dialect without markers around thoughts. The tokenizer must outlive it.
  static Result<ThoughtLimiter> New(const Dialect& dialect, const Tokenizer& tokenizer,
                                    const ThoughtLimits& limits);

  // For TurnRequest::allow of a turn behind these tokens, which may have opened its thought.
  std::function<std::vector<TokenId>(std::span<const TokenId>)> Allow(
      std::span<const TokenId> before) const;
  // How many thoughts of a turn that was drawn so were closed by a limit.
  int32_t ClosedIn(std::span<const TokenId> turn, std::span<const TokenId> before) const;

 private:
  struct Rules {
    const Tokenizer* tokenizer = nullptr;
    ThoughtLimits limits;
    std::string open, close;
    bool thinks_again = false;  // then a thought may begin anywhere before one of these:
    std::vector<std::string> acts;
    std::vector<TokenId> closing;  // how the tokenizer spells `close`
  };
  class Turn;

  explicit ThoughtLimiter(std::shared_ptr<const Rules> rules) : rules_(std::move(rules)) {}
  Turn Begin(std::span<const TokenId> before) const;

  std::shared_ptr<const Rules> rules_;
};

}  // namespace hone
