// Filters that make text and numbers.

#include <algorithm>
#include <array>
#include <charconv>
#include <cmath>

#include <fmt/format.h>

#include "base/utf8.h"
#include "text/jinja/jinja_access.h"
#include "text/jinja/jinja_filters.h"
#include "text/jinja/jinja_format.h"
#include "text/jinja/jinja_methods.h"
#include "text/jinja/jinja_operators.h"
#include "text/jinja/jinja_print.h"
#include "text/jinja/jinja_split.h"

namespace hone {
namespace {

using Arguments = JinjaArguments;
using Value = JinjaValue;
using Kind = JinjaValue::Kind;
using Bound = std::vector<std::optional<Value>>;

bool IsTrue(const std::optional<Value>& value) { return value && value->IsTrue(); }

Result<int64_t> WantInteger(const std::optional<Value>& value, int64_t otherwise) {
  if (!value || value->is_none()) return otherwise;
  if (value->is_undefined()) return BadJinja(value->Why());
  if (!value->AsInteger()) return BadJinja("wants a whole number, not '" + value->TypeName() + "'");
  return *value->AsInteger();
}

// The value as text, with the work of going through it paid.
Result<JinjaText> TextOfValue(JinjaRun* run, const Value& value) {
  HONE_ASSIGN_OR_RETURN(JinjaText text, ToText(run, value));
  HONE_RETURN_IF_ERROR(run->ChargeText(text.size()));
  return text;
}

// The method of that name of the value as text.
Result<Value> AsMethod(JinjaRun* run, std::string_view name, const Value& value,
                       const Arguments& arguments) {
  HONE_ASSIGN_OR_RETURN(JinjaText text, ToText(run, value));
  return FindJinjaTextMethod(name)(run, Value(std::move(text)), arguments);
}

Result<Value> Upper(JinjaRun* run, const Value& value, const Arguments& arguments) {
  return AsMethod(run, "upper", value, arguments);
}
Result<Value> Lower(JinjaRun* run, const Value& value, const Arguments& arguments) {
  return AsMethod(run, "lower", value, arguments);
}
Result<Value> Capitalize(JinjaRun* run, const Value& value, const Arguments& arguments) {
  return AsMethod(run, "capitalize", value, arguments);
}
Result<Value> Trim(JinjaRun* run, const Value& value, const Arguments& arguments) {
  return AsMethod(run, "strip", value, arguments);
}

Result<Value> Replace(JinjaRun* run, const Value& value, const Arguments& arguments) {
  HONE_ASSIGN_OR_RETURN(const Bound bound,
                        BindArguments("replace", arguments, {"old", "new", "count"}, 2));
  Arguments texts;
  for (size_t i = 0; i < 2; ++i) {
    HONE_ASSIGN_OR_RETURN(JinjaText text, ToText(run, *bound[i]));
    texts.positional.emplace_back(std::move(text));
  }
  if (bound[2] && !bound[2]->is_none()) texts.positional.push_back(*bound[2]);
  return AsMethod(run, "replace", value, texts);
}

Result<Value> Center(JinjaRun* run, const Value& value, const Arguments& arguments) {
  HONE_ASSIGN_OR_RETURN(const Bound bound, BindArguments("center", arguments, {"width"}, 0));
  return AsMethod(run, "center", value, {{bound[0].value_or(Value(80))}, {}});
}

// Every word, as cut at white space and opening brackets, begins upper case.
Result<Value> Title(JinjaRun* run, const Value& value, const Arguments& arguments) {
  HONE_RETURN_IF_ERROR(BindArguments("title", arguments, {}, 0));
  HONE_ASSIGN_OR_RETURN(const JinjaText text, TextOfValue(run, value));
  std::string title;
  bool first = true;
  for (size_t at = 0; at < text.size();) {
    const size_t begin = at;
    const uint32_t c = NextCodePoint(text.view(), &at);
    const std::string_view character = text.view().substr(begin, at - begin);
    const bool cuts =
        IsPythonSpace(c) || std::string_view("-({[<").find(character) != std::string_view::npos;
    title += cuts ? std::string(character) : first ? UpperCase(character) : LowerCase(character);
    first = cuts;
  }
  return Value(text.Became(std::move(title)));
}

Result<Value> String(JinjaRun* run, const Value& value, const Arguments& arguments) {
  HONE_RETURN_IF_ERROR(BindArguments("string", arguments, {}, 0));
  HONE_ASSIGN_OR_RETURN(JinjaText text, TextOfValue(run, value));
  return Value(std::move(text));
}

Result<Value> Safe(JinjaRun* run, const Value& value, const Arguments& arguments) {
  HONE_RETURN_IF_ERROR(BindArguments("safe", arguments, {}, 0));
  HONE_ASSIGN_OR_RETURN(const JinjaText text, TextOfValue(run, value));
  return Value(text.WithMarkup(true));
}

Result<Value> Escape(JinjaRun* run, const Value& value, const Arguments& arguments) {
  HONE_RETURN_IF_ERROR(BindArguments("escape", arguments, {}, 0));
  HONE_ASSIGN_OR_RETURN(const JinjaText text, TextOfValue(run, value));
  return Value(EscapedForHtml(text));
}

Result<Value> ForceEscape(JinjaRun* run, const Value& value, const Arguments& arguments) {
  HONE_RETURN_IF_ERROR(BindArguments("forceescape", arguments, {}, 0));
  HONE_ASSIGN_OR_RETURN(const JinjaText text, TextOfValue(run, value));
  return Value(EscapedForHtml(text.WithMarkup(false)));
}

Result<Value> StripTags(JinjaRun* run, const Value& value, const Arguments& arguments) {
  HONE_RETURN_IF_ERROR(BindArguments("striptags", arguments, {}, 0));
  HONE_ASSIGN_OR_RETURN(const JinjaText text, TextOfValue(run, value));
  std::string plain;
  for (size_t at = 0; at < text.size();) {
    const size_t open = std::min(text.view().find('<', at), text.size());
    plain += text.view().substr(at, open - at);
    const size_t close = text.view().find('>', open);
    if (close == std::string_view::npos) {
      plain += text.view().substr(open);
      break;
    }
    at = close + 1;
  }
  std::string joined;
  for (const ByteRange& word : SplitText(plain, std::nullopt, -1)) {
    if (!joined.empty()) joined += ' ';
    joined += std::string_view(plain).substr(word.begin, word.end - word.begin);
  }
  return Value(text.Became(std::move(joined)));
}

Result<Value> Indent(JinjaRun* run, const Value& value, const Arguments& arguments) {
  HONE_ASSIGN_OR_RETURN(const Bound bound,
                        BindArguments("indent", arguments, {"width", "first", "blank"}, 0));
  HONE_ASSIGN_OR_RETURN(JinjaText text, TextOfValue(run, value));
  JinjaText indentation;
  if (bound[0] && bound[0]->is_text()) {
    indentation = bound[0]->AsText();
  } else {
    HONE_ASSIGN_OR_RETURN(const int64_t width, WantInteger(bound[0], 4));
    HONE_RETURN_IF_ERROR(run->Charge(std::max<int64_t>(width, 0)));
    indentation = JinjaText(std::string(static_cast<size_t>(std::max<int64_t>(width, 0)), ' '));
  }
  text.Append("\n");  // so that a last line that is empty counts as one
  const std::vector<ByteRange> lines = SplitLines(text.view(), false);
  HONE_RETURN_IF_ERROR(run->ChargeText(lines.size() * (indentation.size() + 16)));
  JinjaText out;
  if (IsTrue(bound[1])) out.Append(indentation);
  for (size_t i = 0; i < lines.size(); ++i) {
    if (i > 0) out.Append("\n");
    const bool empty = lines[i].begin == lines[i].end;
    if (i > 0 && (!empty || IsTrue(bound[2]))) out.Append(indentation);
    out.Append(text.Part(lines[i]));
  }
  return Value(std::move(out));
}

Result<Value> Truncate(JinjaRun* run, const Value& value, const Arguments& arguments) {
  HONE_ASSIGN_OR_RETURN(
      const Bound bound,
      BindArguments("truncate", arguments, {"length", "killwords", "end", "leeway"}, 0));
  HONE_ASSIGN_OR_RETURN(const JinjaText text, TextOfValue(run, value));
  HONE_ASSIGN_OR_RETURN(const int64_t length, WantInteger(bound[0], 255));
  HONE_ASSIGN_OR_RETURN(const int64_t leeway, WantInteger(bound[3], 5));
  JinjaText end("...");
  if (bound[2]) {
    HONE_ASSIGN_OR_RETURN(end, ToText(run, *bound[2]));
  }
  const auto characters = [](const JinjaText& t) {
    return static_cast<int64_t>(CountCharacters(t.view()));
  };
  if (length < characters(end) || leeway < 0) return BadJinja("truncate wants a larger length");
  if (characters(text) <= length || characters(text) - length <= leeway) return Value(text);
  JinjaText cut =
      text.Part(0, CharacterOffset(text.view(), static_cast<size_t>(length - characters(end))));
  if (!IsTrue(bound[1])) {
    const size_t blank = cut.view().rfind(' ');
    if (blank != std::string_view::npos) cut = cut.Part(0, blank);
  }
  cut.Append(end);
  return Value(std::move(cut));
}

Result<Value> WordCount(JinjaRun* run, const Value& value, const Arguments& arguments) {
  HONE_RETURN_IF_ERROR(BindArguments("wordcount", arguments, {}, 0));
  HONE_ASSIGN_OR_RETURN(const JinjaText text, TextOfValue(run, value));
  int64_t words = 0;
  bool inside = false;
  for (size_t at = 0; at < text.size();) {
    const uint32_t c = NextCodePoint(text.view(), &at);
    const bool word = c == '_' || IsLetter(c) || IsNumeric(c);
    words += word && !inside ? 1 : 0;
    inside = word;
  }
  return Value(words);
}

std::string Quoted(std::string_view text, std::string_view safe) {
  std::string quoted;
  for (const char c : text) {
    const bool plain = (c >= '0' && c <= '9') || (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') ||
                       std::string_view("_.-~").find(c) != std::string_view::npos ||
                       safe.find(c) != std::string_view::npos;
    quoted += plain ? std::string(1, c) : fmt::format("%{:02X}", static_cast<unsigned char>(c));
  }
  return quoted;
}

Result<Value> UrlEncode(JinjaRun* run, const Value& value, const Arguments& arguments) {
  HONE_RETURN_IF_ERROR(BindArguments("urlencode", arguments, {}, 0));
  if (!value.is_dict()) {
    HONE_ASSIGN_OR_RETURN(const JinjaText text, TextOfValue(run, value));
    return Value(text.Became(Quoted(text.view(), "/")));
  }
  std::string query;
  for (const auto& [key, member] : value.AsDict().members) {
    HONE_ASSIGN_OR_RETURN(const JinjaText name, TextOfValue(run, key));
    HONE_ASSIGN_OR_RETURN(const JinjaText text, TextOfValue(run, member));
    if (!query.empty()) query += '&';
    query += Quoted(name.view(), " ") + "=" + Quoted(text.view(), " ");
  }
  std::replace(query.begin(), query.end(), ' ', '+');
  return Value(JinjaText::Foreign(std::move(query)));
}

Result<Value> Format(JinjaRun* run, const Value& value, const Arguments& arguments) {
  HONE_ASSIGN_OR_RETURN(const JinjaText text, TextOfValue(run, value));
  if (arguments.named.empty()) {
    HONE_ASSIGN_OR_RETURN(const Value values, Value::Tuple(arguments.positional));
    return FormatPercent(run, text, values);
  }
  if (!arguments.positional.empty())
    return BadJinja("format wants arguments with names or without");
  JinjaDict dict;
  for (const auto& [name, argument] : arguments.named) dict.Set(Value::Text(name), argument);
  HONE_ASSIGN_OR_RETURN(const Value values, Value::Dict(std::move(dict)));
  return FormatPercent(run, text, values);
}

Result<Value> Default(JinjaRun*, const Value& value, const Arguments& arguments) {
  HONE_ASSIGN_OR_RETURN(const Bound bound,
                        BindArguments("default", arguments, {"default_value", "boolean"}, 0));
  if (value.is_undefined() || (IsTrue(bound[1]) && !value.IsTrue())) {
    return bound[0].value_or(Value::Text(""));
  }
  return value;
}

Result<Value> ToJson(JinjaRun* run, const Value& value, const Arguments& arguments) {
  HONE_ASSIGN_OR_RETURN(
      const Bound bound,
      BindArguments("tojson", arguments, {"ensure_ascii", "indent", "separators", "sort_keys"}, 0));
  JinjaJsonStyle style{.ensure_ascii = IsTrue(bound[0]), .sort_keys = IsTrue(bound[3])};
  if (bound[1] && !bound[1]->is_none()) {
    if (bound[1]->is_text()) {
      style.indent = bound[1]->AsText().bytes();
    } else {
      HONE_ASSIGN_OR_RETURN(const int64_t width, WantInteger(bound[1], 0));
      HONE_RETURN_IF_ERROR(run->Charge(std::max<int64_t>(width, 0)));
      style.indent = std::string(static_cast<size_t>(std::max<int64_t>(width, 0)), ' ');
    }
    style.item_separator = ",";
  }
  if (bound[2] && !bound[2]->is_none()) {
    const bool pair = bound[2]->is(Kind::kTuple) || bound[2]->is(Kind::kList);
    if (!pair || bound[2]->Items().size() != 2 || !bound[2]->Items()[0].is_text() ||
        !bound[2]->Items()[1].is_text()) {
      return BadJinja("tojson wants two separators");
    }
    style.item_separator = bound[2]->Items()[0].AsText().bytes();
    style.key_separator = bound[2]->Items()[1].AsText().bytes();
  }
  HONE_ASSIGN_OR_RETURN(JinjaText text, ToJsonText(run, value, style));
  return Value(std::move(text));
}

// --- numbers -------------------------------------------------------------------------------------

Result<Value> Abs(JinjaRun*, const Value& value, const Arguments& arguments) {
  HONE_RETURN_IF_ERROR(BindArguments("abs", arguments, {}, 0));
  if (value.is_undefined()) return BadJinja(value.Why());
  if (!value.is_number()) return BadJinja("abs wants a number, not '" + value.TypeName() + "'");
  if (value.is(Kind::kReal)) return Value(std::abs(*value.AsReal()));
  const bool negative = value.is(Kind::kBigInteger) ? value.AsBigInteger().digits.starts_with('-')
                                                    : *value.AsInteger() < 0;
  return negative ? Negative(value) : Positive(value);
}

// What float() reads.
std::optional<double> RealOf(std::string_view text) {
  const ByteRange inside = Stripped(text, std::nullopt, {});
  std::string digits(text.substr(inside.begin, inside.end - inside.begin));
  std::erase(digits, '_');
  std::string_view rest = digits;
  if (rest.starts_with('+')) rest.remove_prefix(1);
  double value = 0;
  const auto read = std::from_chars(rest.data(), rest.data() + rest.size(), value);
  if (rest.empty() || read.ec != std::errc() || read.ptr != rest.data() + rest.size()) {
    return std::nullopt;
  }
  return value;
}

// What int() reads in a base.
std::optional<Value> WholeOf(std::string_view text, int base) {
  const ByteRange inside = Stripped(text, std::nullopt, {});
  std::string digits(text.substr(inside.begin, inside.end - inside.begin));
  std::erase(digits, '_');
  const bool negative = digits.starts_with('-');
  if (negative || digits.starts_with('+')) digits.erase(0, 1);
  const std::string prefix = LowerCase(std::string_view(digits).substr(0, 2));
  if ((base == 16 && prefix == "0x") || (base == 8 && prefix == "0o") ||
      (base == 2 && prefix == "0b")) {
    digits.erase(0, 2);
  }
  if (digits.empty() || digits[0] == '-') return std::nullopt;
  digits.insert(0, negative ? "-" : "");
  int64_t value = 0;
  const auto read = std::from_chars(digits.data(), digits.data() + digits.size(), value, base);
  if (read.ptr != digits.data() + digits.size()) return std::nullopt;
  if (read.ec == std::errc()) return Value(value);
  if (read.ec != std::errc::result_out_of_range || base != 10) return std::nullopt;
  const Result<Json> large = ParseJson(digits);
  if (!large.ok() || large->kind() != Json::Kind::kBigInteger) return std::nullopt;
  return Value(BigInteger{digits});
}

Result<Value> Int(JinjaRun* run, const Value& value, const Arguments& arguments) {
  HONE_ASSIGN_OR_RETURN(const Bound bound, BindArguments("int", arguments, {"default", "base"}, 0));
  HONE_ASSIGN_OR_RETURN(const int64_t base, WantInteger(bound[1], 10));
  if (base < 2 || base > 36) return BadJinja("int wants a base from 2 to 36");
  const Value otherwise = bound[0].value_or(Value(0));
  if (value.is_undefined()) return BadJinja(value.Why());
  if (value.AsInteger()) return Value(*value.AsInteger());
  if (value.is(Kind::kBigInteger)) return value;
  std::optional<double> real = value.AsReal();
  if (value.is_text()) {
    HONE_RETURN_IF_ERROR(run->ChargeText(value.AsText().size()));
    if (const auto whole = WholeOf(value.AsText().view(), static_cast<int>(base))) return *whole;
    real = RealOf(value.AsText().view());
  }
  if (!real || !std::isfinite(*real)) return otherwise;
  if (std::abs(*real) >= 9.2e18) return BadJinja("int wants a number of 64 bits");
  return Value(static_cast<int64_t>(*real));
}

Result<Value> Float(JinjaRun* run, const Value& value, const Arguments& arguments) {
  HONE_ASSIGN_OR_RETURN(const Bound bound, BindArguments("float", arguments, {"default"}, 0));
  if (value.is_undefined()) return BadJinja(value.Why());
  if (const std::optional<double> real = value.AsReal()) return Value(*real);
  if (value.is_text()) {
    HONE_RETURN_IF_ERROR(run->ChargeText(value.AsText().size()));
    if (const std::optional<double> real = RealOf(value.AsText().view())) return Value(*real);
  }
  return bound[0].value_or(Value(0.0));
}

Result<Value> Round(JinjaRun*, const Value& value, const Arguments& arguments) {
  HONE_ASSIGN_OR_RETURN(const Bound bound,
                        BindArguments("round", arguments, {"precision", "method"}, 0));
  if (value.is_undefined()) return BadJinja(value.Why());
  if (!value.is_number()) return BadJinja("round wants a number, not '" + value.TypeName() + "'");
  HONE_ASSIGN_OR_RETURN(const int64_t wanted, WantInteger(bound[0], 0));
  const int precision = static_cast<int>(std::clamp<int64_t>(wanted, -300, 300));
  const std::string method =
      bound[1] && bound[1]->is_text() ? bound[1]->AsText().bytes() : "common";
  const double scale = std::pow(10.0, precision), real = *value.AsReal();
  if (method == "ceil") return Value(std::ceil(real * scale) / scale);
  if (method == "floor") return Value(std::floor(real * scale) / scale);
  if (method != "common") return BadJinja("round wants the method common, ceil or floor");
  const bool whole = !value.is(Kind::kReal);
  if (whole && precision >= 0) return Positive(value);
  if (!std::isfinite(real)) return Value(real);
  if (precision < 0) {
    const double tens = std::pow(10.0, -precision);
    const double rounded = std::nearbyint(real / tens) * tens;
    if (!whole) return Value(rounded);
    if (std::abs(rounded) >= 9.2e18) return BadJinja("round wants a number of 64 bits");
    return Value(static_cast<int64_t>(rounded));
  }
  // The decimal digits are rounded exactly, halves to even, as Python does.
  return Value(*RealOf(fmt::format("{:.{}f}", real, precision)));
}

Result<Value> FileSize(JinjaRun* run, const Value& value, const Arguments& arguments) {
  HONE_ASSIGN_OR_RETURN(const Bound bound,
                        BindArguments("filesizeformat", arguments, {"binary"}, 0));
  HONE_ASSIGN_OR_RETURN(const Value number, Float(run, value, {}));
  const bool binary = IsTrue(bound[0]);
  const double base = binary ? 1024 : 1000, bytes = *number.AsReal();
  if (bytes == 1) return Value::Text("1 Byte");
  if (bytes < base) return Value::Text(fmt::format("{:.0f} Bytes", std::trunc(bytes)));
  static constexpr std::string_view kPrefixes = "kMGTPEZY";
  double unit = base;
  size_t i = 0;
  while (i + 1 < kPrefixes.size() && bytes >= unit * base) unit *= base, ++i;
  const char prefix = binary && i == 0 ? 'K' : kPrefixes[i];
  return Value::Text(fmt::format("{:.1f} {}{}B", bytes / unit, prefix, binary ? "i" : ""));
}

struct Named {
  std::string_view name;
  JinjaFilter filter;
};

constexpr Named kFilters[] = {
    {"abs", Abs},
    {"capitalize", Capitalize},
    {"center", Center},
    {"d", Default},
    {"default", Default},
    {"e", Escape},
    {"escape", Escape},
    {"filesizeformat", FileSize},
    {"float", Float},
    {"forceescape", ForceEscape},
    {"format", Format},
    {"indent", Indent},
    {"int", Int},
    {"lower", Lower},
    {"replace", Replace},
    {"round", Round},
    {"safe", Safe},
    {"string", String},
    {"striptags", StripTags},
    {"title", Title},
    {"tojson", ToJson},
    {"trim", Trim},
    {"truncate", Truncate},
    {"upper", Upper},
    {"urlencode", UrlEncode},
    {"wordcount", WordCount},
};

}  // namespace

JinjaFilter FindJinjaTextFilter(std::string_view name) {
  const auto* found = std::find_if(std::begin(kFilters), std::end(kFilters),
                                   [&](const Named& filter) { return filter.name == name; });
  return found == std::end(kFilters) ? nullptr : found->filter;
}

}  // namespace hone
