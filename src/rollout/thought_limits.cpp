#include "rollout/thought_limits.h"

#include <algorithm>

#include <fmt/format.h>

#include "base/strings.h"

namespace hone {
namespace {

// Whether the last tokens are one run, `times` times in a row.
bool GoesRound(std::span<const TokenId> tokens, int32_t times) {
  const auto size = static_cast<int64_t>(tokens.size());
  for (int64_t run = kShortestRun; run * times <= size; ++run) {
    const int64_t same = run * (times - 1);  // tokens that equal the one a run before
    int64_t i = 0;
    while (i < same && tokens[size - 1 - i] == tokens[size - 1 - i - run]) ++i;
    if (i == same) return true;
  }
  return false;
}

bool OpensThought(const std::string& open, const Tokenizer& tokenizer,
                  std::span<const TokenId> prompt) {
  if (open.empty()) return false;
  // Enough for the mark letter by letter, with some blanks behind it.
  std::string tail;
  for (const TokenId token : prompt.last(std::min(prompt.size(), open.size() + 8))) {
    if (tokenizer.IsToken(token)) tail += tokenizer.TokenBytes(token);
  }
  return TrimRight(tail).ends_with(open);
}

}  // namespace

bool EndsInThought(const Dialect& dialect, const Tokenizer& tokenizer,
                   std::span<const TokenId> prompt) {
  return OpensThought(dialect.traits().marks.think_open, tokenizer, prompt);
}

// A turn while it is drawn. It sees bytes, as the dialect's reader does: a marker can be spelled
// with other tokens than its own.
class ThoughtLimiter::Turn {
 public:
  Turn(std::shared_ptr<const Rules> rules, bool inside)
      : rules_(std::move(rules)), place_(inside ? Place::kInside : Place::kBefore) {
    if (inside) LookForClosing();  // there may be no tokens for it
  }

  // Reads what was drawn since it was asked last.
  void Read(std::span<const TokenId> drawn) {
    for (; read_ < drawn.size(); ++read_) Read(drawn[read_]);
  }
  // What must follow, if anything must.
  std::optional<TokenId> Next() const {
    return closing_ ? std::optional(rules_->closing[*closing_]) : std::nullopt;
  }
  int32_t closed() const { return closed_; }

 private:
  enum class Place { kBefore, kInside, kBehind };

  void Read(TokenId token) {
    if (place_ == Place::kBehind) return;
    text_ += rules_->tokenizer->TokenBytes(token);
    if (closing_) {
      if (++*closing_ < rules_->closing.size()) return;
      ++closed_;
      return Leave("");
    }
    if (place_ == Place::kBefore) return LookForOpening();
    ++spent_;
    thought_.push_back(token);
    LookForClosing();
  }

  // A thought stands at the beginning of a turn or, where there may be several, anywhere before an
  // action or the answer.
  void LookForOpening() {
    if (rules_->thinks_again) return LookForOpeningAnywhere();
    const std::string_view begun = TrimLeft(text_);
    if (begun.empty()) return;
    if (begun.starts_with(rules_->open)) {
      place_ = Place::kInside;
      text_ = std::string(begun.substr(rules_->open.size()));
      thought_.clear();
      LookForClosing();
    } else if (!rules_->open.starts_with(begun)) {
      place_ = Place::kBehind;
    }
  }

  void LookForOpeningAnywhere() {
    const size_t at = text_.find(rules_->open);
    size_t act = text_.npos, longest = rules_->open.size();
    for (const std::string& one : rules_->acts) {
      act = std::min(act, text_.find(one));
      longest = std::max(longest, one.size());
    }
    if (act < at) {
      place_ = Place::kBehind;
    } else if (at == text_.npos) {
      // What could be the beginning of a marker stays.
      if (text_.size() >= longest) text_.erase(0, text_.size() - longest + 1);
    } else {
      place_ = Place::kInside;
      text_.erase(0, at + rules_->open.size());
      thought_.clear();
      LookForClosing();
    }
  }

  void LookForClosing() {
    if (const size_t at = text_.find(rules_->close); at != text_.npos) {
      spent_ -= LastTokens(text_.size() - at);
      return Leave(text_.substr(at + rules_->close.size()));
    }
    // What could be the beginning of the marker stays.
    if (text_.size() >= rules_->close.size()) {
      text_.erase(0, text_.size() - rules_->close.size() + 1);
    }
    const ThoughtLimits& limits = rules_->limits;
    const size_t begun = BegunMarker();  // the policy closes it, as far as that can be seen
    const int64_t spent = spent_ - static_cast<int64_t>(begun);
    if ((limits.tokens && spent >= *limits.tokens) ||
        (limits.repeats > 0 && GoesRound(thought_, limits.repeats))) {
      closing_ = begun;
      spent_ = spent;
    }
  }

  // How many of the last tokens are the first ones of the closing marker.
  size_t BegunMarker() const {
    const std::vector<TokenId>& closing = rules_->closing;
    for (size_t count = std::min(closing.size() - 1, thought_.size()); count > 0; --count) {
      if (std::equal(thought_.end() - static_cast<std::ptrdiff_t>(count), thought_.end(),
                     closing.begin())) {
        return count;
      }
    }
    return 0;
  }

  // Of the thought, those that hold its last bytes.
  int64_t LastTokens(size_t bytes) const {
    size_t held = 0, count = 0;
    while (held < bytes && count < thought_.size()) {
      held += rules_->tokenizer->TokenBytes(thought_[thought_.size() - ++count]).size();
    }
    return static_cast<int64_t>(count);
  }

  void Leave(std::string rest) {
    place_ = rules_->thinks_again ? Place::kBefore : Place::kBehind;
    text_ = std::move(rest);
    closing_.reset();
    if (place_ == Place::kBefore && !text_.empty()) LookForOpening();
  }

  std::shared_ptr<const Rules> rules_;
  Place place_;
  size_t read_ = 0;                // tokens
  std::string text_;               // not yet told apart
  int64_t spent_ = 0;              // tokens between markers
  std::vector<TokenId> thought_;   // of the one that is open
  std::optional<size_t> closing_;  // how much of the closing marker is written, where it must be
  int32_t closed_ = 0;
};

Result<ThoughtLimiter> ThoughtLimiter::New(const Dialect& dialect, const Tokenizer& tokenizer,
                                           const ThoughtLimits& limits) {
  const TurnMarks& marks = dialect.traits().marks;
  if (marks.think_open.empty() || marks.think_close.empty()) {
    return Error(
        ErrorCode::kUnsupported,
        fmt::format("the dialect {} has no markers around thoughts, so their length cannot be "
                    "limited: leave the limit out, or choose a dialect that has some, such as "
                    "tagged:tapo or hermes:qwen3",
                    dialect.traits().name));
  }
  auto rules = std::make_shared<Rules>(Rules{.tokenizer = &tokenizer,
                                             .limits = limits,
                                             .open = marks.think_open,
                                             .close = marks.think_close,
                                             .thinks_again = marks.thinks_again,
                                             .acts = marks.call_opens,
                                             .closing = {}});
  if (!marks.answer_open.empty()) rules->acts.push_back(marks.answer_open);
  // Behind other tokens: some vocabularies put a space before a text.
  const std::vector<TokenId> words = tokenizer.Encode("a");
  const Piece marker{.author = Author::kPolicy, .text = rules->close};
  rules->closing = EncodePiece(tokenizer, marker, words);
  return ThoughtLimiter(std::move(rules));
}

ThoughtLimiter::Turn ThoughtLimiter::Begin(std::span<const TokenId> before) const {
  return {rules_, OpensThought(rules_->open, *rules_->tokenizer, before)};
}

std::function<std::vector<TokenId>(std::span<const TokenId>)> ThoughtLimiter::Allow(
    std::span<const TokenId> before) const {
  return [turn = Begin(before)](std::span<const TokenId> drawn) mutable {
    turn.Read(drawn);
    const std::optional<TokenId> next = turn.Next();
    return next ? std::vector<TokenId>{*next} : std::vector<TokenId>();
  };
}

int32_t ThoughtLimiter::ClosedIn(std::span<const TokenId> turn,
                                 std::span<const TokenId> before) const {
  Turn read = Begin(before);
  read.Read(turn);
  return read.closed();
}

}  // namespace hone
