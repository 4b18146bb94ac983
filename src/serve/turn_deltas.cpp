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

// Where the first of the words stands; at the end when none does.
size_t FirstOf(std::string_view text, const std::vector<std::string>& words) {
  size_t first = text.size();
  for (const std::string& word : words) first = std::min(first, text.find(word));
  return first;
}

// Without an end that may become one of these words.
std::string_view Certain(std::string_view text, const TurnMarks& marks,
                         const std::vector<std::string>& stops) {
  size_t held = 0;
  const auto hold = [&](const std::string& word) {
    if (!word.empty()) held = std::max(held, PartialSuffix(text, word));
  };
  for (const auto* words : {&marks.ends, &marks.call_opens, &stops}) {
    std::for_each(words->begin(), words->end(), hold);
  }
  for (const auto* word :
       {&marks.think_open, &marks.think_close, &marks.answer_open, &marks.answer_close}) {
    hold(*word);
  }
  return text.substr(0, text.size() - held);
}

void AddThought(std::string_view thought, std::string* reasoning) {
  const std::string words = Utf8Lossy(Trim(thought));
  if (!reasoning->empty() && !words.empty()) *reasoning += "\n";
  *reasoning += words;
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

bool EndsInThought(const Dialect& dialect, const Tokenizer& tokenizer,
                   std::span<const TokenId> prompt) {
  const std::string& open = dialect.traits().marks.think_open;
  if (open.empty()) return false;
  // Enough for the mark letter by letter, with some blanks behind it.
  std::string tail;
  AppendBytes(tokenizer, prompt.last(std::min(prompt.size(), open.size() + 8)), &tail);
  return TrimRight(tail).ends_with(open);
}

TurnDelta ServedTurn::Feed(std::span<const TokenId> tokens) {
  AppendBytes(*tokenizer_, tokens, &bytes_);
  std::string_view text = BeforeStop(bytes_, stops_);
  text.remove_suffix(Utf8IncompleteSuffix(text));  // a dialect would read half a character as none
  return News(Read(text, std::nullopt));
}

TurnDelta ServedTurn::Finish(bool stopped) {
  const std::string_view text = BeforeStop(bytes_, stops_);
  const TurnEnd end = stopped ? TurnEnd::kEnded : TurnEnd::kCut;
  parsed_ = dialect_->Parse(text, end);
  told_ = Read(text, end);
  parsed_.calls = told_.calls;
  return News(told_);
}

size_t ServedTurn::ReadThoughts(std::string_view text, std::optional<TurnEnd> end,
                                TurnDelta* told) const {
  const TurnMarks& marks = dialect_->traits().marks;
  if (marks.think_open.empty()) return 0;
  bool inside = options_.thinking, by_prompt = options_.thinking;
  for (size_t at = 0;;) {
    const size_t next = std::min(text.find_first_not_of(kBlanks, at), text.size());
    if (text.substr(next).starts_with(marks.think_open)) {
      inside = true;
      at = next + marks.think_open.size();
    }
    if (!inside) return at;
    const size_t close = text.find(marks.think_close, at);
    if (close == text.npos) {
      std::string_view thought = text.substr(at);
      // A model may go from the prompt's thought to its calls without a word.
      if (by_prompt && end && options_.may_call) {
        told->calls = dialect_->Parse(text, *end).calls;
        if (!told->calls.empty()) thought = text.substr(at, told->calls[0].range.begin - at);
      } else if (by_prompt) {
        thought = thought.substr(0, FirstOf(thought, marks.call_opens));
        if (marks.json_calls && TrimLeft(thought).starts_with('{')) thought = {};
      }
      AddThought(thought, &told->reasoning);
      return text.size();
    }
    AddThought(text.substr(at, close - at), &told->reasoning);
    at = close + marks.think_close.size();
    inside = by_prompt = false;
  }
}

std::string ServedTurn::ContentOf(std::string_view rest, const ParsedTurn& parsed,
                                  bool whole) const {
  const TurnMarks& marks = dialect_->traits().marks;
  if (marks.whole_only) {
    if (!whole) return "";
    if (parsed.answer) return *parsed.answer;
  }
  size_t call = FirstOf(rest, marks.call_opens);
  const size_t answer = marks.answer_open.empty() ? rest.npos : rest.find(marks.answer_open);
  if (answer < call) {
    const size_t begin = answer + marks.answer_open.size();
    const size_t close = rest.find(marks.answer_close, begin);
    return Utf8Lossy(Trim(rest.substr(begin, close == rest.npos ? close : close - begin)));
  }
  // Text beside a call that can be read; else everything, as it stands.
  if (whole)
    return parsed.calls.empty() ? Utf8Lossy(Trim(rest)) : std::string(Trim(parsed.content));
  // Before an answer it is not told, before a call it is.
  if (!marks.answer_open.empty()) return "";
  if (const std::string_view begun = TrimLeft(rest); marks.json_calls && begun.starts_with('{')) {
    if (!parsed.calls.empty() || ParseJsonPrefix(begun).cut) call = 0;
  }
  return Utf8Lossy(Trim(rest.substr(0, call)));
}

TurnDelta ServedTurn::Read(std::string_view text, std::optional<TurnEnd> end) const {
  const TurnMarks& marks = dialect_->traits().marks;
  text = BeforeStop(text, marks.ends);
  if (!end) text = Certain(text, marks, stops_);
  TurnDelta told;
  const size_t at = ReadThoughts(text, end, &told);
  if (at == text.size()) return told;
  const std::string_view rest = text.substr(at);
  // Behind a thought of its own, nothing is read as a thought because of a later closing mark.
  const std::string thought = marks.think_open + marks.think_close;
  ParsedTurn parsed = dialect_->Parse(thought + std::string(rest), end.value_or(TurnEnd::kUnknown));
  if (!options_.may_call) parsed.calls.clear();
  told.content = ContentOf(rest, parsed, end.has_value());
  // A thought without marks of its own is one where an action follows it.
  if (end && marks.think_open.empty() && (parsed.answer || !parsed.calls.empty())) {
    told.reasoning = parsed.reasoning;
  }
  told.calls = std::move(parsed.calls);
  for (ParsedCall& call : told.calls) {
    for (ByteRange* range : {&call.range, &call.name_range, &call.arguments_range}) {
      if (range->end == 0) continue;  // not told
      *range = {range->begin + at - thought.size(), range->end + at - thought.size()};
    }
  }
  return told;
}

TurnDelta ServedTurn::News(const TurnDelta& all) {
  const auto part = [&](const std::string& text, size_t* told) {
    if (text.size() <= *told) return std::string();
    return text.substr(std::exchange(*told, text.size()));
  };
  TurnDelta news;
  news.content = part(all.content, &content_);
  news.reasoning = part(all.reasoning, &reasoning_);
  for (; calls_ < all.calls.size(); ++calls_) news.calls.push_back(all.calls[calls_]);
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
