#include "serve/turn_reading.h"

#include <algorithm>
#include <utility>

#include "base/json.h"
#include "base/strings.h"
#include "base/utf8.h"

namespace hone {
namespace {

// Where the first of the words stands; at the end when none does.
size_t FirstOf(std::string_view text, const std::vector<std::string>& words) {
  size_t first = text.size();
  for (const std::string& word : words) first = std::min(first, text.find(word));
  return first;
}

// Each in lines of its own.
void AddThought(std::string_view thought, std::string* reasoning) {
  const std::string words = Utf8Lossy(Trim(thought));
  if (!reasoning->empty() && !words.empty()) *reasoning += "\n";
  *reasoning += words;
}

// One reading of one text.
class TurnReading {
 public:
  TurnReading(const Dialect& dialect, const TurnReadingOptions& options, std::optional<TurnEnd> end)
      : dialect_(dialect), marks_(dialect.traits().marks), options_(options), end_(end) {}

  TurnDelta Read(std::string_view text) const {
    TurnDelta told;
    const size_t at = ReadThoughts(text, &told);
    if (at == text.size()) return told;
    const std::string_view rest = text.substr(at);
    ParsedTurn parsed =
        dialect_.Parse(BehindThought(rest, marks_), end_.value_or(TurnEnd::kUnknown));
    if (!options_.may_call) parsed.calls.clear();
    told.content = ContentOf(rest, parsed);
    // A thought without marks of its own is one where an action follows it.
    if (end_ && marks_.think_open.empty() && (parsed.answer || !parsed.calls.empty())) {
      told.reasoning = parsed.reasoning;
    }
    told.calls = CallsBehind(parsed, at, marks_, options_.may_call);
    return told;
  }

 private:
  // Reads thoughts off the beginning and returns where the rest begins.
  size_t ReadThoughts(std::string_view text, TurnDelta* told) const {
    if (marks_.think_open.empty()) return 0;
    bool inside = options_.thinking, by_prompt = options_.thinking;
    for (size_t at = 0;;) {
      const size_t next = std::min(text.find_first_not_of(kBlanks, at), text.size());
      if (text.substr(next).starts_with(marks_.think_open)) {
        inside = true;
        at = next + marks_.think_open.size();
      }
      if (!inside) return at;
      const size_t close = text.find(marks_.think_close, at);
      if (close == text.npos) {
        std::string_view thought = text.substr(at);
        // A model may go from the prompt's thought to its calls without a word.
        if (by_prompt && end_ && options_.may_call) {
          told->calls = dialect_.Parse(text, *end_).calls;
          if (!told->calls.empty()) thought = text.substr(at, told->calls[0].range.begin - at);
        } else if (by_prompt) {
          thought = thought.substr(0, FirstOf(thought, marks_.call_opens));
          if (MayBeBareCall(thought, marks_)) thought = {};
        }
        AddThought(thought, &told->reasoning);
        return text.size();
      }
      AddThought(text.substr(at, close - at), &told->reasoning);
      at = close + marks_.think_close.size();
      inside = by_prompt = false;
    }
  }

  std::string ContentOf(std::string_view rest, const ParsedTurn& parsed) const {
    const bool whole = end_.has_value();
    if (marks_.whole_only) {
      if (!whole) return "";
      if (parsed.answer) return *parsed.answer;
    }
    size_t call = FirstOf(rest, marks_.call_opens);
    const size_t answer = marks_.answer_open.empty() ? rest.npos : rest.find(marks_.answer_open);
    if (answer < call) {
      const size_t begin = answer + marks_.answer_open.size();
      const size_t close = rest.find(marks_.answer_close, begin);
      return Utf8Lossy(Trim(rest.substr(begin, close == rest.npos ? close : close - begin)));
    }
    // Text beside a call that can be read; else everything, as it stands.
    if (whole)
      return parsed.calls.empty() ? Utf8Lossy(Trim(rest)) : std::string(Trim(parsed.content));
    // Before an answer it is not told, before a call it is.
    if (!marks_.answer_open.empty()) return "";
    if (const std::string_view begun = TrimLeft(rest);
        marks_.json_calls && begun.starts_with('{')) {
      if (!parsed.calls.empty() || ParseJsonPrefix(begun).cut) call = 0;
    }
    return Utf8Lossy(Trim(rest.substr(0, call)));
  }

  const Dialect& dialect_;
  const TurnMarks& marks_;
  const TurnReadingOptions& options_;
  const std::optional<TurnEnd> end_;
};

}  // namespace

std::string_view BeforeStop(std::string_view text, const std::vector<std::string>& stops) {
  return text.substr(0, FirstOf(text, stops));
}

std::string_view CertainText(std::string_view text, const TurnMarks& marks,
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

bool MayBeBareCall(std::string_view text, const TurnMarks& marks) {
  const std::string_view begun = TrimLeft(text);
  if (!marks.bare_calls || begun.empty()) return false;
  return marks.bare_first.empty() || marks.bare_first.find(begun[0]) != std::string::npos;
}

std::string BehindThought(std::string_view rest, const TurnMarks& marks) {
  return marks.think_open + marks.think_close + std::string(rest);
}

std::vector<ParsedCall> CallsBehind(const ParsedTurn& parsed, size_t at, const TurnMarks& marks,
                                    bool may_call) {
  if (!may_call) return {};
  std::vector<ParsedCall> calls = parsed.calls;
  const size_t before = marks.think_open.size() + marks.think_close.size();
  for (ParsedCall& call : calls) {
    for (ByteRange* range : {&call.range, &call.name_range, &call.arguments_range}) {
      if (range->end == 0) continue;  // not told
      *range = {range->begin + at - before, range->end + at - before};
    }
  }
  return calls;
}

TurnDelta ReadServedText(const Dialect& dialect, std::string_view text,
                         const std::vector<std::string>& stops, const TurnReadingOptions& options,
                         std::optional<TurnEnd> end) {
  const TurnMarks& marks = dialect.traits().marks;
  text = BeforeStop(text, marks.ends);
  if (!end) text = CertainText(text, marks, stops);
  return TurnReading(dialect, options, end).Read(text);
}

}  // namespace hone
