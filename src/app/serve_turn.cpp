#include "app/serve_turn.h"

#include <algorithm>
#include <memory>

#include "base/strings.h"
#include "base/utf8.h"

namespace hone {
namespace {

void AppendBytes(const Tokenizer& tokenizer, std::span<const TokenId> tokens, std::string* bytes) {
  for (const TokenId token : tokens) {
    if (tokenizer.IsToken(token)) *bytes += tokenizer.TokenBytes(token);
  }
}

// How much of the text no further text can change: not the beginning of a word that would be taken
// out of it, no blanks that may be trimmed.
size_t Certain(std::string_view text,
               std::initializer_list<const std::vector<std::string>*> words) {
  size_t held = 0;
  for (const auto* list : words) {
    for (const std::string& word : *list) held = std::max(held, PartialSuffix(text, word));
  }
  text.remove_suffix(held);
  return TrimRight(text).size();
}

}  // namespace

std::function<bool(std::span<const TokenId>)> StopAtText(const Tokenizer* tokenizer,
                                                         std::vector<std::string> stops) {
  if (stops.empty()) return nullptr;
  size_t longest = 0;
  for (const std::string& stop : stops) longest = std::max(longest, stop.size());
  struct State {
    std::string tail;
    size_t tokens = 0;
  };
  return [tokenizer, stops = std::move(stops), longest,
          state = std::make_shared<State>()](std::span<const TokenId> tokens) {
    if (state->tail.size() > longest) state->tail.erase(0, state->tail.size() - longest);
    AppendBytes(*tokenizer, tokens.subspan(state->tokens), &state->tail);
    state->tokens = tokens.size();
    return std::any_of(stops.begin(), stops.end(), [&](const std::string& stop) {
      return state->tail.find(stop) != std::string::npos;
    });
  };
}

std::string_view BeforeStop(std::string_view text, const std::vector<std::string>& stops) {
  size_t end = text.size();
  for (const std::string& stop : stops) end = std::min(end, text.find(stop));
  return text.substr(0, end);
}

TurnDelta ServedTurn::Feed(std::span<const TokenId> tokens) {
  AppendBytes(*tokenizer_, tokens, &bytes_);
  std::string_view text = BeforeStop(bytes_, stops_);
  text.remove_suffix(Utf8IncompleteSuffix(text));  // a dialect would read half a character as none
  ParsedTurn parsed = dialect_->Parse(text, TurnEnd::kUnknown);
  return News({parsed.answer ? *std::move(parsed.answer) : std::move(parsed.content),
               std::move(parsed.reasoning), std::move(parsed.calls)},
              false);
}

TurnDelta ServedTurn::Finish(bool stopped) {
  const std::string_view text = BeforeStop(bytes_, stops_);
  parsed_ = dialect_->Parse(text, stopped ? TurnEnd::kEnded : TurnEnd::kCut);
  told_ = {parsed_.content, parsed_.reasoning, parsed_.calls};
  if (parsed_.answer) told_.content = *parsed_.answer;
  if (!parsed_.answer && parsed_.calls.empty() && !parsed_.faults.empty()) {
    // Nothing of it is lost to the client, the markers that make no sense included.
    told_.content = Utf8Lossy(BeforeStop(text, dialect_->traits().stops));
    told_.reasoning.clear();
  }
  return News(told_, true);
}

TurnDelta ServedTurn::News(TurnDelta all, bool final) {
  const std::vector<std::string>& markers = dialect_->traits().markers;
  const std::vector<std::string>& ends = dialect_->traits().stops;
  const auto part = [&](const std::string& text, size_t* told) {
    const size_t size = final ? text.size() : Certain(text, {&markers, &ends, &stops_});
    if (size <= *told) return std::string();
    const std::string fresh = text.substr(*told, size - *told);
    *told = size;
    return fresh;
  };
  TurnDelta news;
  news.content = part(all.content, &content_);
  news.reasoning = part(all.reasoning, &reasoning_);
  for (; calls_ < all.calls.size(); ++calls_) news.calls.push_back(std::move(all.calls[calls_]));
  return news;
}

std::string PlainTurn::News(std::string_view certain) {
  if (certain.size() <= bytes_told_) return "";
  std::string news = Utf8Lossy(certain.substr(bytes_told_));
  bytes_told_ = certain.size();
  told_ += news;
  return news;
}

std::string PlainTurn::Feed(std::span<const TokenId> tokens) {
  const auto end = std::find_if(tokens.begin(), tokens.end(), [&](TokenId token) {
    return std::find(stop_tokens_.begin(), stop_tokens_.end(), token) != stop_tokens_.end();
  });
  AppendBytes(*tokenizer_, {tokens.begin(), end}, &bytes_);
  const std::string_view text = BeforeStop(bytes_, stops_);
  size_t held = 0;
  for (const std::string& stop : stops_) held = std::max(held, PartialSuffix(text, stop));
  const std::string_view whole = text.substr(0, text.size() - held);
  return News(whole.substr(0, whole.size() - Utf8IncompleteSuffix(whole)));
}

std::string PlainTurn::Finish() { return News(BeforeStop(bytes_, stops_)); }

}  // namespace hone
