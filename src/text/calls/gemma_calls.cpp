#include "text/calls/gemma_calls.h"

#include <algorithm>
#include <string>

#include "base/strings.h"
#include "text/calls/call_cursor.h"

namespace hone {
namespace {

constexpr std::string_view kGemmaCall = "call:";
constexpr int kGemmaDeepest = 64;

class GemmaReader {
 public:
  GemmaReader(const GemmaMarks& marks, CallCursor* cursor) : marks_(marks), cursor_(*cursor) {}

  // {key:value,...} from its bracket; nothing, and a fault, when it cannot be read.
  std::optional<Json> Object(int depth) {
    Json members = Json::Object();
    cursor_.Skip("{");
    bool comma = true;
    while (true) {
      cursor_.SkipBlanks();
      if (cursor_.Skip("}")) return members;
      if (cursor_.AtEnd()) return Cut();
      if (!comma) return Bad(", or } is wanted");
      std::string key;
      if (!Key(&key)) return std::nullopt;
      std::optional<Json> value = Value(depth + 1);
      if (!value) return std::nullopt;
      members.Set(key, *std::move(value));
      cursor_.SkipBlanks();
      comma = cursor_.Skip(",");
    }
  }

 private:
  std::nullopt_t Cut() {
    cursor_.Cut("the text ends inside of its arguments");
    return std::nullopt;
  }
  std::nullopt_t Bad(std::string_view problem) {
    if (!cursor_.Until(marks_.close)) cursor_.MoveTo(cursor_.text().size());
    cursor_.Fault(FaultKind::kBadCall, problem, cursor_.at());
    return std::nullopt;
  }

  // A key and its colon.
  bool Key(std::string* key) {
    if (cursor_.Skip(marks_.quote)) {
      const auto quoted = cursor_.Until(marks_.quote);
      if (!quoted) return Cut(), false;
      *key = Readable(*quoted);
      cursor_.SkipBlanks();
      if (cursor_.AtEnd()) return Cut(), false;
      if (!cursor_.Skip(":")) return Bad("a colon must follow a key"), false;
      return true;
    }
    const size_t end = cursor_.text().find_first_of(":,{}[]", cursor_.at());
    if (end == std::string_view::npos) return Cut(), false;
    const std::string_view word = Trim(cursor_.text().substr(cursor_.at(), end - cursor_.at()));
    if (cursor_.text()[end] != ':' || word.empty()) {
      return Bad("a colon must follow a key"), false;
    }
    *key = Readable(word);
    cursor_.MoveTo(end + 1);
    return true;
  }

  std::optional<Json> Value(int depth) {
    cursor_.SkipBlanks();
    if (depth > kGemmaDeepest) return Bad("it is nested too deep");
    if (cursor_.Skip(marks_.quote)) {
      const auto quoted = cursor_.Until(marks_.quote);
      if (!quoted) return Cut();
      return Json(Readable(*quoted));
    }
    if (cursor_.rest().starts_with('{')) return Object(depth);
    if (cursor_.Skip("[")) return List(depth);
    const size_t end = cursor_.text().find_first_of(",}]", cursor_.at());
    if (end == std::string_view::npos) return Cut();
    const std::string_view word = Trim(cursor_.text().substr(cursor_.at(), end - cursor_.at()));
    if (word.empty()) return Bad("a value is missing");
    cursor_.MoveTo(end);
    return UnquotedValue(word);
  }

  std::optional<Json> List(int depth) {
    Json::Array items;
    bool comma = true;
    while (true) {
      cursor_.SkipBlanks();
      if (cursor_.Skip("]")) return Json(std::move(items));
      if (cursor_.AtEnd()) return Cut();
      if (!comma) return Bad(", or ] is wanted");
      std::optional<Json> item = Value(depth + 1);
      if (!item) return std::nullopt;
      items.push_back(*std::move(item));
      cursor_.SkipBlanks();
      comma = cursor_.Skip(",");
    }
  }

  const GemmaMarks& marks_;
  CallCursor& cursor_;
};

}  // namespace

size_t ReadGemmaCall(const GemmaMarks& marks, std::string_view text, size_t open,
                     ParsedTurn* parsed) {
  CallCursor cursor(text, open, parsed);
  cursor.Skip(marks.open);
  cursor.SkipBlanks();
  if (!cursor.Skip(kGemmaCall)) {
    cursor.Unreadable(kGemmaCall, marks.close);
    return cursor.at();
  }
  const size_t begin = cursor.at(), bracket = text.find('{', begin);
  const size_t close = text.find(marks.close, begin);
  if (bracket == text.npos && close == text.npos) {
    return cursor.Cut("the text ends before its arguments"), text.size();
  }
  if (close < bracket) {
    cursor.MoveTo(close + marks.close.size());
    return cursor.Fault(FaultKind::kBadCall, "it has no arguments", cursor.at()), cursor.at();
  }
  const std::string_view name = Trim(text.substr(begin, bracket - begin));
  cursor.MoveTo(bracket);
  std::optional<Json> arguments = GemmaReader(marks, &cursor).Object(0);
  if (!arguments) return cursor.at();
  const size_t end = cursor.at();
  cursor.SkipBlanks();
  if (!cursor.Skip(marks.close)) {
    cursor.Unreadable(marks.close, marks.close);
    return cursor.at();
  }
  const ByteRange name_range = name.empty() ? ByteRange{begin, begin} : RangeIn(text, name);
  cursor.Call(name, *std::move(arguments), name_range, {bracket, end});
  return cursor.at();
}

}  // namespace hone
