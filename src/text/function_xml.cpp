#include "text/function_xml.h"

#include <algorithm>

#include <fmt/format.h>

#include "base/strings.h"
#include "text/turn_text.h"

namespace hone {
namespace {

constexpr std::string_view kOuterOpen = "<tool_call>", kOuterClose = "</tool_call>";
constexpr std::string_view kFunctionOpen = "<function=", kFunctionClose = "</function>";
constexpr std::string_view kParameterOpen = "<parameter=", kParameterClose = "</parameter>";

Json ValueOf(std::string_view raw) {
  if (raw.starts_with('\n')) raw.remove_prefix(1);
  if (raw.ends_with('\n')) raw.remove_suffix(1);
  const Result<Json> json = ParseJson(Trim(raw));
  return json.ok() && !json->is_string() ? *json : Json(Readable(raw));
}

class Reader {
 public:
  Reader(std::string_view text, ParsedTurn* parsed) : text_(text), parsed_(*parsed) {}

  void Run() {
    if (!Thought()) return;
    std::string content;
    while (at_ < text_.size()) {
      const size_t open = text_.find(kFunctionOpen, at_);
      std::string_view before = text_.substr(at_, open == text_.npos ? open : open - at_);
      const std::string_view outside = TrimRight(before);
      if (outside.ends_with(kOuterOpen))
        before = outside.substr(0, outside.size() - kOuterOpen.size());
      if (!Trim(before).empty()) content += before;
      if (open == text_.npos) {
        if (outside.ends_with(kOuterOpen)) Cut(at_, "the call has not begun");
        break;
      }
      begin_ = RangeIn(text_, before).end;
      at_ = open + kFunctionOpen.size();
      if (!Call()) break;
    }
    parsed_.content = Readable(content);
  }

 private:
  void Fault(FaultKind kind, std::string_view problem, size_t begin, size_t end) {
    parsed_.faults.push_back({kind, fmt::format("<function=>: {}", problem), {begin, end}});
  }
  void Cut(size_t begin, std::string_view problem) {
    Fault(FaultKind::kIncomplete, problem, begin, text_.size());
  }

  // Everything up to </think>, whose opening may stand in the prompt; not behind a call.
  bool Thought() {
    const std::string_view begun = TrimLeft(text_, "\n ");
    const bool opened = begun.starts_with(kThinkOpen);
    const size_t begin = opened ? RangeIn(text_, begun).begin + kThinkOpen.size() : 0;
    const size_t close = text_.find(kThinkClose, begin);
    if (close == text_.npos) {
      if (!opened) return true;
      parsed_.reasoning = Readable(Trim(text_.substr(begin), "\n"));
      parsed_.thoughts.push_back({begin - kThinkOpen.size(), text_.size()});
      Cut(begin, "the thought is not closed with </think>");
      return false;
    }
    if (!opened && text_.find(kFunctionOpen) < close) return true;
    parsed_.reasoning = Readable(Trim(text_.substr(begin, close - begin), "\n"));
    parsed_.thoughts.push_back(
        {opened ? begin - kThinkOpen.size() : 0, close + kThinkClose.size()});
    at_ = std::min(text_.find_first_not_of('\n', close + kThinkClose.size()), text_.size());
    return true;
  }

  // A name up to '>', on one line; nothing when there is none.
  std::string_view Name() {
    const size_t end = text_.find_first_of(">\n", at_);
    if (end == text_.npos || text_[end] != '>') return {};
    const std::string_view name = text_.substr(at_, end - at_);
    at_ = end + 1;
    return name;
  }

  void SkipBlanks() { at_ = std::min(text_.find_first_not_of(kBlanks, at_), text_.size()); }

  bool Skip(std::string_view tag) {
    if (!text_.substr(at_).starts_with(tag)) return false;
    at_ += tag.size();
    return true;
  }

  // From behind "<function="; false when nothing can follow.
  bool Call() {
    const std::string_view name = Name();
    if (name.empty()) return Cut(begin_, "its name is not closed with >"), false;
    Json arguments = Json::Object();
    while (true) {
      SkipBlanks();
      if (Skip(kFunctionClose)) break;
      if (!Skip(kParameterOpen)) return Unreadable();
      const std::string_view key = Name();
      const size_t close = text_.find(kParameterClose, at_);
      if (key.empty() || close == text_.npos) {
        return Cut(begin_, "a parameter is not closed"), false;
      }
      arguments.Set(Readable(key), ValueOf(text_.substr(at_, close - at_)));
      at_ = close + kParameterClose.size();
    }
    const size_t end = at_;
    SkipBlanks();
    if (!Skip(kOuterClose)) at_ = end;
    parsed_.calls.push_back({Readable(name), std::move(arguments), {begin_, at_}});
    return true;
  }

  // Something else stands inside of the call: go on behind it.
  bool Unreadable() {
    const size_t close = text_.find(kFunctionClose, at_);
    const std::string_view rest = text_.substr(at_);
    if (close == text_.npos) {
      const bool cut = kParameterOpen.starts_with(rest) || kFunctionClose.starts_with(rest);
      Fault(cut ? FaultKind::kIncomplete : FaultKind::kBadCall,
            cut ? "the text ends before </function>" : "<parameter=...> is wanted", begin_,
            text_.size());
      return false;
    }
    at_ = close + kFunctionClose.size();
    Fault(FaultKind::kBadCall, "<parameter=...> is wanted", begin_, at_);
    return true;
  }

  const std::string_view text_;
  ParsedTurn& parsed_;
  size_t at_ = 0;
  size_t begin_ = 0;  // of the call that is being read
};

}  // namespace

void ReadFunctionXml(std::string_view text, ParsedTurn* parsed) { Reader(text, parsed).Run(); }

}  // namespace hone
