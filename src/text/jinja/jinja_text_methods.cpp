// What text can do: str's methods.

#include <algorithm>

#include <fmt/format.h>

#include "base/utf8.h"
#include "text/jinja/jinja_access.h"
#include "text/jinja/jinja_format.h"
#include "text/jinja/jinja_methods.h"
#include "text/jinja/jinja_split.h"

namespace hone {
namespace {

using Arguments = JinjaArguments;
using Value = JinjaValue;
using Bound = std::vector<std::optional<Value>>;

// The argument as text; nothing when it is absent or None.
Result<std::optional<JinjaText>> OptionalText(const std::optional<Value>& value) {
  if (!value || value->is_none()) return std::optional<JinjaText>();
  if (value->is_undefined()) return BadJinja(value->Why());
  if (!value->is_text()) return BadJinja(fmt::format("wants text, not '{}'", value->TypeName()));
  return std::optional<JinjaText>(value->AsText());
}

Result<JinjaText> WantText(const std::optional<Value>& value) {
  HONE_ASSIGN_OR_RETURN(const std::optional<JinjaText> text, OptionalText(value));
  if (!text) return BadJinja("wants text, not 'NoneType'");
  return *text;
}

Result<int64_t> WantInteger(const std::optional<Value>& value, int64_t otherwise) {
  if (!value) return otherwise;
  if (value->is_undefined()) return BadJinja(value->Why());
  if (!value->AsInteger()) {
    return BadJinja(fmt::format("wants a whole number, not '{}'", value->TypeName()));
  }
  return *value->AsInteger();
}

// A number of characters; more than anything can have is as good as that.
Result<int64_t> WantWidth(const std::optional<Value>& value) {
  HONE_ASSIGN_OR_RETURN(const int64_t width, WantInteger(value, 0));
  return std::clamp<int64_t>(width, 0, int64_t{1} << 40);
}

// The method's text, with the work of going through it paid.
Result<const JinjaText*> Self(JinjaRun* run, const Value& self) {
  HONE_RETURN_IF_ERROR(run->ChargeText(self.AsText().size()));
  return &self.AsText();
}

Result<Value> Parts(JinjaRun* run, const JinjaText& text, const std::vector<ByteRange>& ranges) {
  HONE_RETURN_IF_ERROR(run->Charge(8 * static_cast<int64_t>(ranges.size())));
  std::vector<Value> parts;
  parts.reserve(ranges.size());
  for (const ByteRange& range : ranges) parts.emplace_back(text.Part(range));
  return Value::List(std::move(parts));
}

std::optional<std::string_view> ViewOf(const std::optional<JinjaText>& text) {
  return text ? std::optional<std::string_view>(text->view()) : std::nullopt;
}

// --- cutting -------------------------------------------------------------------------------------

template <bool kLeft, bool kRight>
Result<Value> Strip(JinjaRun* run, const Value& self, const Arguments& arguments) {
  HONE_ASSIGN_OR_RETURN(const Bound bound, BindArguments("strip", arguments, {"chars"}, 0));
  HONE_ASSIGN_OR_RETURN(const std::optional<JinjaText> characters, OptionalText(bound[0]));
  HONE_ASSIGN_OR_RETURN(const JinjaText* text, Self(run, self));
  return Value(text->Part(Stripped(text->view(), ViewOf(characters), {kLeft, kRight})));
}

template <bool kFromEnd>
Result<Value> Split(JinjaRun* run, const Value& self, const Arguments& arguments) {
  HONE_ASSIGN_OR_RETURN(const Bound bound,
                        BindArguments("split", arguments, {"sep", "maxsplit"}, 0));
  HONE_ASSIGN_OR_RETURN(const std::optional<JinjaText> separator, OptionalText(bound[0]));
  HONE_ASSIGN_OR_RETURN(const int64_t most, WantInteger(bound[1], -1));
  if (separator && separator->empty())
    return BadJinja("split() wants a separator that is not empty");
  HONE_ASSIGN_OR_RETURN(const JinjaText* text, Self(run, self));
  const auto ranges = kFromEnd ? SplitTextFromEnd(text->view(), ViewOf(separator), most)
                               : SplitText(text->view(), ViewOf(separator), most);
  return Parts(run, *text, ranges);
}

Result<Value> Lines(JinjaRun* run, const Value& self, const Arguments& arguments) {
  HONE_ASSIGN_OR_RETURN(const Bound bound, BindArguments("splitlines", arguments, {"keepends"}, 0));
  HONE_ASSIGN_OR_RETURN(const JinjaText* text, Self(run, self));
  const auto ranges = SplitLines(text->view(), bound[0] && bound[0]->IsTrue());
  return Parts(run, *text, ranges);
}

template <bool kFromEnd>
Result<Value> Partition(JinjaRun* run, const Value& self, const Arguments& arguments) {
  HONE_ASSIGN_OR_RETURN(const Bound bound, BindArguments("partition", arguments, {"sep"}, 1));
  HONE_ASSIGN_OR_RETURN(const JinjaText separator, WantText(bound[0]));
  if (separator.empty()) return BadJinja("partition() wants a separator that is not empty");
  HONE_ASSIGN_OR_RETURN(const JinjaText* text, Self(run, self));
  const size_t at =
      kFromEnd ? text->view().rfind(separator.view()) : text->view().find(separator.view());
  if (at == std::string_view::npos) {
    const Value nothing = Value::Text("");
    return kFromEnd ? Value::Tuple({nothing, nothing, *text})
                    : Value::Tuple({*text, nothing, nothing});
  }
  const size_t after = at + separator.size();
  return Value::Tuple({text->Part(0, at), text->Part(at, after), text->Part(after, text->size())});
}

Result<Value> RemovePrefix(JinjaRun* run, const Value& self, const Arguments& arguments) {
  HONE_ASSIGN_OR_RETURN(const Bound bound, BindArguments("removeprefix", arguments, {"prefix"}, 1));
  HONE_ASSIGN_OR_RETURN(const JinjaText prefix, WantText(bound[0]));
  HONE_ASSIGN_OR_RETURN(const JinjaText* text, Self(run, self));
  const bool there = text->view().starts_with(prefix.view());
  return Value(text->Part(there ? prefix.size() : 0, text->size()));
}

Result<Value> RemoveSuffix(JinjaRun* run, const Value& self, const Arguments& arguments) {
  HONE_ASSIGN_OR_RETURN(const Bound bound, BindArguments("removesuffix", arguments, {"suffix"}, 1));
  HONE_ASSIGN_OR_RETURN(const JinjaText suffix, WantText(bound[0]));
  HONE_ASSIGN_OR_RETURN(const JinjaText* text, Self(run, self));
  const bool there = text->view().ends_with(suffix.view());
  return Value(text->Part(0, text->size() - (there ? suffix.size() : 0)));
}

// --- looking -------------------------------------------------------------------------------------

// startswith and endswith, of one text or a tuple of them, perhaps between two characters.
template <bool kAtEnd>
Result<Value> BeginsOrEnds(JinjaRun* run, const Value& self, const Arguments& arguments) {
  HONE_ASSIGN_OR_RETURN(const Bound bound, BindArguments(kAtEnd ? "endswith" : "startswith",
                                                         arguments, {"prefix", "start", "end"}, 1));
  HONE_ASSIGN_OR_RETURN(const Value part, GetSlice(run, self, bound[1].value_or(Value()),
                                                   bound[2].value_or(Value()), Value()));
  const std::vector<Value> wanted =
      bound[0]->is(Value::Kind::kTuple) ? bound[0]->Items() : std::vector<Value>{*bound[0]};
  bool found = false;
  for (const Value& want : wanted) {
    HONE_ASSIGN_OR_RETURN(const JinjaText text, WantText(want));
    found = found || (kAtEnd ? part.AsText().view().ends_with(text.view())
                             : part.AsText().view().starts_with(text.view()));
  }
  return Value(found);
}

enum class Missing { kMinusOne, kError };

template <bool kFromEnd, Missing kMissing>
Result<Value> Find(JinjaRun* run, const Value& self, const Arguments& arguments) {
  HONE_ASSIGN_OR_RETURN(const Bound bound,
                        BindArguments("find", arguments, {"sub", "start", "end"}, 1));
  HONE_ASSIGN_OR_RETURN(const JinjaText part, WantText(bound[0]));
  HONE_ASSIGN_OR_RETURN(const JinjaText* text, Self(run, self));
  const auto size = static_cast<int64_t>(CountCharacters(text->view()));
  HONE_ASSIGN_OR_RETURN(int64_t start, WantInteger(bound[1], 0));
  HONE_ASSIGN_OR_RETURN(int64_t end, WantInteger(bound[2], size));
  start = std::clamp<int64_t>(start < 0 ? start + size : start, 0, size + 1);
  end = std::clamp<int64_t>(end < 0 ? end + size : end, 0, size);
  size_t at = std::string_view::npos;
  if (start <= end) {
    const size_t begin = CharacterOffset(text->view(), static_cast<size_t>(start));
    const size_t stop = CharacterOffset(text->view(), static_cast<size_t>(end));
    const std::string_view within = text->view().substr(begin, stop - begin);
    at = kFromEnd ? within.rfind(part.view()) : within.find(part.view());
    if (at != std::string_view::npos) {
      return Value(start + static_cast<int64_t>(CountCharacters(within.substr(0, at))));
    }
  }
  if (kMissing == Missing::kError) return BadJinja("substring not found");
  return Value(-1);
}

Result<Value> Count(JinjaRun* run, const Value& self, const Arguments& arguments) {
  HONE_ASSIGN_OR_RETURN(const Bound bound,
                        BindArguments("count", arguments, {"sub", "start", "end"}, 1));
  HONE_ASSIGN_OR_RETURN(const JinjaText part, WantText(bound[0]));
  HONE_ASSIGN_OR_RETURN(const Value within, GetSlice(run, self, bound[1].value_or(Value()),
                                                     bound[2].value_or(Value()), Value()));
  return Value(static_cast<int64_t>(FindAll(within.AsText().view(), part.view(), -1).size()));
}

// True when there are characters and `holds` is true of all.
template <bool (*kHolds)(uint32_t)>
Result<Value> All(JinjaRun* run, const Value& self, const Arguments& arguments) {
  HONE_RETURN_IF_ERROR(BindArguments("is", arguments, {}, 0));
  HONE_ASSIGN_OR_RETURN(const JinjaText* text, Self(run, self));
  bool all = !text->empty();
  for (size_t at = 0; at < text->size();) all = kHolds(NextCodePoint(text->view(), &at)) && all;
  return Value(all);
}

bool IsAlphanumeric(uint32_t c) { return IsLetter(c) || IsNumeric(c); }

template <LetterCase kWanted>
Result<Value> IsInCase(JinjaRun* run, const Value& self, const Arguments& arguments) {
  HONE_RETURN_IF_ERROR(BindArguments("is", arguments, {}, 0));
  HONE_ASSIGN_OR_RETURN(const JinjaText* text, Self(run, self));
  bool any = false;
  for (size_t at = 0; at < text->size();) {
    const LetterCase letter = CaseOf(NextCodePoint(text->view(), &at));
    if (letter == LetterCase::kNone) continue;
    if (letter != kWanted) return Value(false);
    any = true;
  }
  return Value(any);
}

Result<Value> IsTitle(JinjaRun* run, const Value& self, const Arguments& arguments) {
  HONE_RETURN_IF_ERROR(BindArguments("istitle", arguments, {}, 0));
  HONE_ASSIGN_OR_RETURN(const JinjaText* text, Self(run, self));
  bool any = false;
  for (size_t at = 0; at < text->size() && !any;) {
    any = CaseOf(NextCodePoint(text->view(), &at)) != LetterCase::kNone;
  }
  return Value(any && TitleCase(text->view()) == text->bytes());
}

Result<Value> IsAscii(JinjaRun* run, const Value& self, const Arguments& arguments) {
  HONE_RETURN_IF_ERROR(BindArguments("isascii", arguments, {}, 0));
  HONE_ASSIGN_OR_RETURN(const JinjaText* text, Self(run, self));
  return Value(std::all_of(text->bytes().begin(), text->bytes().end(),
                           [](char c) { return static_cast<unsigned char>(c) < 0x80; }));
}

// --- making other text ---------------------------------------------------------------------------

template <std::string (*kFunction)(std::string_view)>
Result<Value> Mapped(JinjaRun* run, const Value& self, const Arguments& arguments) {
  HONE_RETURN_IF_ERROR(BindArguments("this method", arguments, {}, 0));
  HONE_ASSIGN_OR_RETURN(const JinjaText* text, Self(run, self));
  return Value(text->Became(kFunction(text->view())));
}

std::string SwapCase(std::string_view text) {
  std::string swapped;
  for (size_t at = 0; at < text.size();) {
    const size_t begin = at;
    const bool upper = CaseOf(NextCodePoint(text, &at)) == LetterCase::kUpper;
    const std::string_view character = text.substr(begin, at - begin);
    swapped += upper ? LowerCase(character) : UpperCase(character);
  }
  return swapped;
}

Result<Value> Replace(JinjaRun* run, const Value& self, const Arguments& arguments) {
  HONE_ASSIGN_OR_RETURN(const Bound bound,
                        BindArguments("replace", arguments, {"old", "new", "count"}, 2));
  HONE_ASSIGN_OR_RETURN(const JinjaText old, WantText(bound[0]));
  HONE_ASSIGN_OR_RETURN(const JinjaText replacement, WantText(bound[1]));
  HONE_ASSIGN_OR_RETURN(const int64_t count, WantInteger(bound[2], -1));
  HONE_ASSIGN_OR_RETURN(const JinjaText* text, Self(run, self));
  const std::vector<ByteRange> places = FindAll(text->view(), old.view(), count);
  HONE_RETURN_IF_ERROR(run->ChargeText(places.size() * (16 + replacement.size())));
  JinjaText out;
  size_t begin = 0;
  for (const ByteRange& place : places) {
    out.Append(text->Part(begin, place.begin));
    out.Append(replacement);
    begin = place.end;
  }
  out.Append(text->Part(begin, text->size()));
  return Value(std::move(out));
}

Result<Value> Join(JinjaRun* run, const Value& self, const Arguments& arguments) {
  HONE_ASSIGN_OR_RETURN(const Bound bound, BindArguments("join", arguments, {"iterable"}, 1));
  HONE_ASSIGN_OR_RETURN(const std::vector<Value> parts, Iterate(run, *bound[0]));
  JinjaText out;
  for (size_t i = 0; i < parts.size(); ++i) {
    HONE_ASSIGN_OR_RETURN(const JinjaText part, WantText(parts[i]));
    HONE_RETURN_IF_ERROR(run->ChargeText(part.size() + self.AsText().size()));
    if (i > 0) out.Append(self.AsText());
    out.Append(part);
  }
  return Value(std::move(out));
}

Result<Value> Format(JinjaRun* run, const Value& self, const Arguments& arguments) {
  return FormatBraces(run, self.AsText(), arguments);
}

// How many characters are put on the left when so many are missing.
enum class Side { kLeft, kRight, kCentre };

template <Side kSide>
Result<Value> Justify(JinjaRun* run, const Value& self, const Arguments& arguments) {
  HONE_ASSIGN_OR_RETURN(const Bound bound,
                        BindArguments("justify", arguments, {"width", "fillchar"}, 1));
  HONE_ASSIGN_OR_RETURN(const int64_t width, WantWidth(bound[0]));
  HONE_ASSIGN_OR_RETURN(const std::optional<JinjaText> fill, OptionalText(bound[1]));
  const JinjaText filler = fill.value_or(JinjaText(" "));
  if (CountCharacters(filler.view()) != 1)
    return BadJinja("the fill character must be one character");
  HONE_ASSIGN_OR_RETURN(const JinjaText* text, Self(run, self));
  const auto length = static_cast<int64_t>(CountCharacters(text->view()));
  const int64_t missing = std::max<int64_t>(width - length, 0);
  HONE_RETURN_IF_ERROR(run->Charge(missing));
  // As Python has it: the odd one goes left when the width is odd.
  const int64_t left = kSide == Side::kLeft    ? 0
                       : kSide == Side::kRight ? missing
                                               : missing / 2 + (missing & width & 1);
  JinjaText out;
  for (int64_t i = 0; i < left; ++i) out.Append(filler);
  out.Append(*text);
  for (int64_t i = left; i < missing; ++i) out.Append(filler);
  return Value(std::move(out));
}

Result<Value> ZeroFill(JinjaRun* run, const Value& self, const Arguments& arguments) {
  HONE_ASSIGN_OR_RETURN(const Bound bound, BindArguments("zfill", arguments, {"width"}, 1));
  HONE_ASSIGN_OR_RETURN(const int64_t width, WantWidth(bound[0]));
  HONE_ASSIGN_OR_RETURN(const JinjaText* text, Self(run, self));
  const auto length = static_cast<int64_t>(CountCharacters(text->view()));
  const int64_t missing = std::max<int64_t>(width - length, 0);
  HONE_RETURN_IF_ERROR(run->Charge(missing));
  const size_t sign = text->view().starts_with('-') || text->view().starts_with('+') ? 1 : 0;
  JinjaText out = text->Part(0, sign);
  out.Append(std::string(static_cast<size_t>(missing), '0'));
  out.Append(text->Part(sign, text->size()));
  return Value(std::move(out));
}

struct Method {
  std::string_view name;
  JinjaFunction::Body body;
};

constexpr Method kMethods[] = {
    {"capitalize", Mapped<Capitalized>},
    {"casefold", Mapped<LowerCase>},
    {"center", Justify<Side::kCentre>},
    {"count", Count},
    {"endswith", BeginsOrEnds<true>},
    {"find", Find<false, Missing::kMinusOne>},
    {"format", Format},
    {"index", Find<false, Missing::kError>},
    {"isalnum", All<IsAlphanumeric>},
    {"isalpha", All<IsLetter>},
    {"isascii", IsAscii},
    {"isdecimal", All<IsDecimal>},
    {"isdigit", All<IsDecimal>},
    {"islower", IsInCase<LetterCase::kLower>},
    {"isnumeric", All<IsNumeric>},
    {"isspace", All<IsPythonSpace>},
    {"istitle", IsTitle},
    {"isupper", IsInCase<LetterCase::kUpper>},
    {"join", Join},
    {"ljust", Justify<Side::kLeft>},
    {"lower", Mapped<LowerCase>},
    {"lstrip", Strip<true, false>},
    {"partition", Partition<false>},
    {"removeprefix", RemovePrefix},
    {"removesuffix", RemoveSuffix},
    {"replace", Replace},
    {"rfind", Find<true, Missing::kMinusOne>},
    {"rindex", Find<true, Missing::kError>},
    {"rjust", Justify<Side::kRight>},
    {"rpartition", Partition<true>},
    {"rsplit", Split<true>},
    {"rstrip", Strip<false, true>},
    {"split", Split<false>},
    {"splitlines", Lines},
    {"startswith", BeginsOrEnds<false>},
    {"strip", Strip<true, true>},
    {"swapcase", Mapped<SwapCase>},
    {"title", Mapped<TitleCase>},
    {"upper", Mapped<UpperCase>},
    {"zfill", ZeroFill},
};

}  // namespace

JinjaFunction::Body FindJinjaTextMethod(std::string_view name) {
  const auto* found = std::find_if(std::begin(kMethods), std::end(kMethods),
                                   [&](const Method& method) { return method.name == name; });
  return found == std::end(kMethods) ? nullptr : found->body;
}

}  // namespace hone
