#include "text/turn_text.h"

#include <algorithm>

#include <fmt/format.h>

#include "base/strings.h"
#include "base/utf8.h"

namespace hone {

TurnText WithoutEndMarkers(std::string_view turn, const std::vector<std::string>& markers,
                           TurnEnd end) {
  size_t cut = turn.size(), after = turn.size();
  for (const std::string& marker : markers) {
    const size_t at = turn.find(marker);
    if (at < cut) cut = at, after = at + marker.size();
  }
  const bool marked = cut < turn.size();
  return {turn.substr(0, cut), marked || end == TurnEnd::kEnded, !Trim(turn.substr(after)).empty()};
}

ByteRange RangeIn(std::string_view whole, std::string_view part) {
  const auto begin = static_cast<size_t>(part.data() - whole.data());
  return {begin, begin + part.size()};
}

void AddTrailingFault(std::string_view turn, const TurnText& text, ParsedTurn* parsed) {
  if (!text.trailing) return;
  parsed->faults.push_back({FaultKind::kUnexpectedText,
                            "text after the end of the turn",
                            {text.text.size(), turn.size()}});
  parsed->answer.reset();
}

void AddCutFault(const TurnText& text, TurnEnd end, const std::vector<std::string_view>& markers,
                 ParsedTurn* parsed) {
  const bool incomplete =
      std::any_of(parsed->faults.begin(), parsed->faults.end(),
                  [](const ParsedFault& fault) { return fault.kind == FaultKind::kIncomplete; });
  if (text.ended || incomplete) return;
  size_t partial = 0;
  for (const std::string_view marker : markers) {
    partial = std::max(partial, PartialSuffix(text.text, marker));
  }
  if (end == TurnEnd::kCut || partial > 0) {
    parsed->faults.push_back({FaultKind::kIncomplete,
                              "the turn was cut off before its end",
                              {text.text.size() - partial, text.text.size()}});
  }
}

void ReadNamedCall(std::string_view text, size_t open, std::string_view open_tag,
                   std::string_view close_tag, size_t* next, ParsedTurn* parsed) {
  const EnclosedJson json = ReadEnclosedJson(text, open + open_tag.size(), close_tag);
  const ByteRange range{open, json.end};
  *next = json.end;
  auto fault = [&](FaultKind kind, std::string_view problem) {
    parsed->faults.push_back({kind, fmt::format("{}: {}", open_tag, problem), range});
  };
  if (!json.value) return fault(json.fault, json.problem);
  const Json *name = json.value->Find("name"), *arguments = json.value->Find("arguments");
  if (name == nullptr || !name->is_string() || name->AsString().empty()) {
    return fault(FaultKind::kBadCall, "\"name\" must be the name of a tool");
  }
  if (arguments == nullptr || !arguments->is_object()) {
    return fault(FaultKind::kBadCall, "\"arguments\" must be an object");
  }
  parsed->calls.push_back({name->AsString(), *arguments, range});
}

std::string Readable(std::string_view bytes) {
  return IsUtf8(bytes) ? std::string(bytes) : Utf8Lossy(bytes);
}

EnclosedJson ReadEnclosedJson(std::string_view text, size_t begin, std::string_view close) {
  EnclosedJson enclosed;
  const JsonPrefix json = ParseJsonPrefix(text.substr(begin));
  size_t at = begin + json.end;
  if (json.value) {
    const size_t next = text.find_first_not_of(kBlanks, at);
    const std::string_view rest =
        next == std::string_view::npos ? std::string_view() : text.substr(next);
    if (rest.starts_with(close)) {
      enclosed.value = json.value;
      enclosed.end = next + close.size();
      return enclosed;
    }
    if (close.starts_with(rest)) {  // nothing, or the beginning of the marker
      enclosed.fault = FaultKind::kIncomplete;
      enclosed.problem = fmt::format("the text ends before {}", close);
      enclosed.end = text.size();
      return enclosed;
    }
    enclosed.problem = fmt::format("{} must follow the JSON", close);
  } else {
    enclosed.fault = json.cut ? FaultKind::kIncomplete : FaultKind::kBadJson;
    enclosed.problem = fmt::format("not JSON: {}", json.problem);
  }
  // Go on behind the closing marker, if there is one further on.
  const size_t closing = text.find(close, at);
  enclosed.end = closing == std::string_view::npos ? text.size() : closing + close.size();
  // An open string swallows the closing marker: then the text does not end, the JSON is just wrong.
  const size_t swallowed = text.find(close, begin);
  if (enclosed.fault == FaultKind::kIncomplete && swallowed != std::string_view::npos) {
    enclosed.fault = FaultKind::kBadJson;
    enclosed.end = swallowed + close.size();
  }
  return enclosed;
}

}  // namespace hone
