#include "serve/turn_deltas.h"

#include <algorithm>
#include <memory>
#include <utility>

#include "base/strings.h"
#include "base/utf8.h"

namespace hone {
namespace {

void AppendBytes(const Tokenizer& tokenizer, std::span<const TokenId> tokens, std::string* bytes) {
  for (const TokenId token : tokens) {
    if (tokenizer.IsToken(token)) *bytes += tokenizer.TokenBytes(token);
  }
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

TurnDelta ServedTurn::Feed(std::span<const TokenId> tokens) {
  std::string bytes;
  AppendBytes(*tokenizer_, tokens, &bytes);
  return flow_.Feed(bytes);
}

TurnDelta ServedTurn::Finish(bool stopped) {
  const std::string_view text = flow_.Text();
  const TurnEnd end = stopped ? TurnEnd::kEnded : TurnEnd::kCut;
  parsed_ = dialect_->Parse(text, end);
  told_ = ReadServedText(*dialect_, text, flow_.stops(), flow_.options(), end);
  parsed_.calls = told_.calls;
  const auto behind = [](const std::string& all, size_t told) {
    return all.size() > told ? all.substr(told) : std::string();
  };
  TurnDelta news;
  news.content = behind(told_.content, flow_.content_told());
  news.reasoning = behind(told_.reasoning, flow_.reasoning_told());
  for (size_t i = flow_.calls_told(); i < told_.calls.size(); ++i) {
    news.calls.push_back(told_.calls[i]);
  }
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
  const std::string_view text = std::string_view(bytes_).substr(0, stops_seen_.First(bytes_));
  size_t held = 0;
  for (const std::string& stop : stops_) held = std::max(held, PartialSuffix(text, stop));
  const std::string_view whole = text.substr(0, text.size() - held);
  return News(whole.substr(0, whole.size() - Utf8IncompleteSuffix(whole)));
}

std::string PlainTurn::Finish() {
  return News(std::string_view(bytes_).substr(0, stops_seen_.First(bytes_)));
}

}  // namespace hone
