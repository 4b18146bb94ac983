#include "text/jinja/jinja_format.h"

#include <algorithm>
#include <charconv>
#include <cmath>

#include <fmt/format.h>

#include "base/strings.h"
#include "base/utf8.h"
#include "text/jinja/jinja_access.h"
#include "text/jinja/jinja_print.h"

namespace hone {
namespace {

using Kind = JinjaValue::Kind;

constexpr int64_t kWidest = 10'000;

// How a value is to be written.
struct Layout {
  std::string fill = " ";
  char align = '\0';  // < > ^ =, or as the value likes
  char sign = '-';
  bool alternative = false, grouped = false;
  int64_t width = 0;
  std::optional<int64_t> precision;
  char type = '\0';
};

// Reads a number at text[*at]; 0 when there is none.
Result<int64_t> ReadNumber(std::string_view text, size_t* at) {
  int64_t number = 0;
  for (; *at < text.size() && IsDigit(text[*at]); ++*at) {
    number = number * 10 + (text[*at] - '0');
    if (number > kWidest) return BadJinja("a width or precision is too large");
  }
  return number;
}

std::string Padded(std::string text, const Layout& layout, char natural) {
  const auto length = static_cast<int64_t>(CountCharacters(text));
  const int64_t missing = std::max<int64_t>(layout.width - length, 0);
  const char align = layout.align == '\0' ? natural : layout.align;
  const int64_t before = align == '>' ? missing : align == '^' ? missing / 2 : 0;
  std::string left, right;
  for (int64_t i = 0; i < before; ++i) left += layout.fill;
  for (int64_t i = before; i < missing; ++i) right += layout.fill;
  if (align == '=') {  // between the sign and the digits
    const size_t sign = text.starts_with('-') || text.starts_with('+') ? 1 : 0;
    return text.substr(0, sign) + right + text.substr(sign);
  }
  return left + text + right;
}

void GroupThousands(std::string* digits) {
  const size_t begin = digits->starts_with('-') ? 1 : 0;
  size_t end = begin;
  while (end < digits->size() && IsDigit((*digits)[end])) ++end;
  while (end > begin + 3) digits->insert(end -= 3, ",");
}

std::string WithSign(std::string digits, const Layout& layout) {
  if (layout.grouped) GroupThousands(&digits);
  if (digits.starts_with('-') || layout.sign == '-') return digits;
  return layout.sign + digits;
}

Result<std::string> WholeNumber(int64_t value, const Layout& layout) {
  switch (layout.type) {
    case 'x':
    case 'X':
    case 'o':
    case 'b': {
      const uint64_t size =
          value < 0 ? 0 - static_cast<uint64_t>(value) : static_cast<uint64_t>(value);
      std::string digits = layout.type == 'x'   ? fmt::format("{:x}", size)
                           : layout.type == 'X' ? fmt::format("{:X}", size)
                           : layout.type == 'o' ? fmt::format("{:o}", size)
                                                : fmt::format("{:b}", size);
      if (layout.alternative) digits = std::string("0") + layout.type + digits;
      return WithSign((value < 0 ? "-" : "") + digits, layout);
    }
    case 'c': {
      if (value < 0 || value > 0x10FFFF || (value >= 0xD800 && value < 0xE000)) {
        return BadJinja("no character has that number");
      }
      std::string character;
      AppendUtf8(static_cast<uint32_t>(value), &character);
      return character;
    }
    default: return WithSign(std::to_string(value), layout);
  }
}

Result<std::string> RealNumber(double value, const Layout& layout) {
  const int precision = static_cast<int>(layout.precision.value_or(6));
  switch (layout.type) {
    case 'f':
    case 'F': return WithSign(fmt::format("{:.{}f}", value, precision), layout);
    case 'e': return WithSign(fmt::format("{:.{}e}", value, precision), layout);
    case 'E': return WithSign(fmt::format("{:.{}E}", value, precision), layout);
    case 'g': return WithSign(fmt::format("{:.{}g}", value, std::max(precision, 1)), layout);
    case 'G': return WithSign(fmt::format("{:.{}G}", value, std::max(precision, 1)), layout);
    case '%': return WithSign(fmt::format("{:.{}f}%", value * 100, precision), layout);
    default:
      if (!layout.precision) return WithSign(RealText(value), layout);
      return WithSign(fmt::format("{:.{}g}", value, std::max(precision, 1)), layout);
  }
}

// What is left of text after a precision.
JinjaText Shortened(const JinjaText& text, const Layout& layout) {
  if (!layout.precision) return text;
  return text.Part(0, CharacterOffset(text.view(), static_cast<size_t>(*layout.precision)));
}

JinjaText PaddedText(const JinjaText& text, const Layout& layout) {
  const JinjaText shown = Shortened(text, layout);
  if (static_cast<int64_t>(CountCharacters(shown.view())) >= layout.width) return shown;
  return shown.Became(Padded(shown.bytes(), layout, '<'));
}

bool IsRealType(char type) {
  return std::string_view("fFeEgG%").find(type) != std::string_view::npos;
}

Result<JinjaText> Written(JinjaRun* run, const JinjaValue& value, const Layout& layout) {
  if (value.is_number() && !(value.is(Kind::kBool) && layout.type == '\0') && layout.type != 's') {
    const std::optional<int64_t> integer = value.AsInteger();
    Result<std::string> digits = std::string();
    if (integer && !IsRealType(layout.type)) {
      digits = WholeNumber(*integer, layout);
    } else if (value.is(Kind::kBigInteger) && !IsRealType(layout.type)) {
      digits = WithSign(value.AsBigInteger().digits, layout);
    } else {
      digits = RealNumber(*value.AsReal(), layout);
    }
    if (!digits.ok()) return digits.error();
    return JinjaText(Padded(*digits, layout, '>'));
  }
  if (layout.type != '\0' && layout.type != 's') {
    return BadJinja(fmt::format("'{}' is no format for '{}'", layout.type, value.TypeName()));
  }
  HONE_ASSIGN_OR_RETURN(const JinjaText text, ToText(run, value));
  return PaddedText(text, layout);
}

// [[fill]align][sign][#][0][width][,][.precision][type]
Result<Layout> ReadLayout(std::string_view spec) {
  Layout layout;
  size_t at = 0;
  const auto is_align = [](std::string_view text) {
    return !text.empty() && std::string_view("<>^=").find(text[0]) != std::string_view::npos;
  };
  if (!spec.empty()) {
    const size_t first = CharacterOffset(spec, 1);
    if (is_align(spec.substr(first))) {
      layout.fill = spec.substr(0, first);
      layout.align = spec[first];
      at = first + 1;
    } else if (is_align(spec)) {
      layout.align = spec[0];
      at = 1;
    }
  }
  const auto skip = [&](char c) { return at < spec.size() && spec[at] == c && ++at > 0; };
  for (const char sign : {'+', '-', ' '}) {
    if (skip(sign)) layout.sign = sign;
  }
  layout.alternative = skip('#');
  if (skip('0') && layout.align == '\0') {
    layout.fill = "0";
    layout.align = '=';
  }
  HONE_ASSIGN_OR_RETURN(layout.width, ReadNumber(spec, &at));
  layout.grouped = skip(',');
  if (skip('.')) {
    HONE_ASSIGN_OR_RETURN(layout.precision, ReadNumber(spec, &at));
  }
  if (at < spec.size()) layout.type = spec[at++];
  if (at != spec.size() ||
      (layout.type != '\0' &&
       std::string_view("sdxXobcfFeEgG%").find(layout.type) == std::string_view::npos)) {
    return BadJinja(fmt::format("'{}' is no format", spec));
  }
  return layout;
}

// "-08.3" of "%-08.3f"; *at is behind it in the end.
Result<Layout> ReadPercentLayout(std::string_view format, size_t* at) {
  Layout layout;
  for (; *at < format.size() && std::string_view("-+ 0#").find(format[*at]) != format.npos; ++*at) {
    const char flag = format[*at];
    if (flag == '-') layout.align = '<';
    if (flag == '0' && layout.align == '\0') layout.fill = "0", layout.align = '=';
    if (flag == '+' || flag == ' ') layout.sign = flag;
    if (flag == '#') layout.alternative = true;
  }
  HONE_ASSIGN_OR_RETURN(layout.width, ReadNumber(format, at));
  if (*at < format.size() && format[*at] == '.') {
    ++*at;
    HONE_ASSIGN_OR_RETURN(layout.precision, ReadNumber(format, at));
  }
  if (*at >= format.size()) return BadJinja("the format ends inside a placeholder");
  return layout;
}

// A value as "%d" has it: cut to a whole number.
Result<JinjaValue> WholeForPercent(const JinjaValue& value) {
  const std::optional<double> real = value.AsReal();
  if (!real) return BadJinja(fmt::format("%d wants a number, not '{}'", value.TypeName()));
  if (value.is(Kind::kBool)) return JinjaValue(*value.AsInteger());
  if (!value.is(Kind::kReal)) return value;
  if (!(std::abs(*real) < 9e18)) return BadJinja("%d wants a number of 64 bits");
  return JinjaValue(static_cast<int64_t>(*real));
}

// One value in the place of "%...type".
Result<JinjaText> WrittenForPercent(JinjaRun* run, JinjaValue value, Layout layout, char type) {
  if (value.is_undefined() && type != 's') return BadJinja(value.Why());
  if (type == 'r' || type == 'a') {
    HONE_ASSIGN_OR_RETURN(JinjaText repr, ToRepr(run, value));
    value = JinjaValue(std::move(repr));
    type = 's';
  }
  if (type == 'i' || type == 'u' || type == 'd') {
    HONE_ASSIGN_OR_RETURN(value, WholeForPercent(value));
    layout.precision.reset();
    type = '\0';
  }
  if (type == 's') {
    if (layout.fill == "0") layout.fill = " ", layout.align = '\0';
    if (layout.align == '\0') layout.align = '>';
  } else if (type != '\0' && std::string_view("xXocfFeEgG").find(type) == std::string_view::npos) {
    return BadJinja(fmt::format("%{} is no format", type));
  } else if (type != '\0' && !value.is_number()) {
    return BadJinja(fmt::format("%{} wants a number, not '{}'", type, value.TypeName()));
  }
  layout.type = type;
  return Written(run, value, layout);
}

}  // namespace

Result<JinjaValue> FormatPercent(JinjaRun* run, const JinjaText& text, const JinjaValue& values) {
  HONE_RETURN_IF_ERROR(run->ChargeText(text.size()));
  const std::string_view format = text.view();
  const bool tuple = values.is(Kind::kTuple);
  size_t used = 0;
  JinjaText out;
  for (size_t at = 0; at < format.size();) {
    const size_t percent = std::min(format.find('%', at), format.size());
    out.Append(text.Part(at, percent));
    if (percent == format.size()) break;
    at = percent + 1;
    std::optional<JinjaValue> named;
    if (at < format.size() && format[at] == '(') {
      const size_t close = format.find(')', at);
      if (close == format.npos) return BadJinja("a name in the format is not closed");
      HONE_ASSIGN_OR_RETURN(
          named, GetItem(run, values,
                         JinjaValue::Text(std::string(format.substr(at + 1, close - at - 1)))));
      at = close + 1;
    }
    HONE_ASSIGN_OR_RETURN(const Layout layout, ReadPercentLayout(format, &at));
    const char type = format[at++];
    if (type == '%') {
      out.Append("%");
      continue;
    }
    if (!named) {
      const size_t given = tuple ? values.Items().size() : 1;
      if (used >= given) return BadJinja("not enough arguments for the format");
      named = tuple ? values.Items()[used] : values;
      ++used;
    }
    HONE_ASSIGN_OR_RETURN(const JinjaText written, WrittenForPercent(run, *named, layout, type));
    HONE_RETURN_IF_ERROR(run->ChargeText(written.size()));
    out.Append(written);
  }
  if (tuple && used < values.Items().size())
    return BadJinja("not all arguments have a place in the format");
  return JinjaValue(std::move(out));
}

namespace {

// The fields of str.format, one run over the text.
class BraceFormatter {
 public:
  BraceFormatter(JinjaRun* run, const JinjaText& text, const JinjaArguments& arguments)
      : run_(run), text_(text), format_(text.view()), arguments_(arguments) {}

  Result<JinjaValue> Run() {
    JinjaText out;
    for (size_t at = 0; at < format_.size();) {
      const size_t brace = std::min(format_.find_first_of("{}", at), format_.size());
      out.Append(text_.Part(at, brace));
      if (brace == format_.size()) break;
      const char c = format_[brace];
      if (brace + 1 < format_.size() && format_[brace + 1] == c) {
        out.Append(text_.Part(brace, brace + 1));
        at = brace + 2;
        continue;
      }
      if (c == '}') return BadJinja("a single '}' stands in the format");
      const size_t close = format_.find('}', brace);
      if (close == format_.npos) return BadJinja("a '{' in the format is not closed");
      HONE_ASSIGN_OR_RETURN(const JinjaText field,
                            Field(format_.substr(brace + 1, close - brace - 1)));
      HONE_RETURN_IF_ERROR(run_->ChargeText(field.size()));
      out.Append(field);
      at = close + 1;
    }
    return JinjaValue(std::move(out));
  }

 private:
  Result<JinjaText> Field(std::string_view field) {
    const size_t colon = field.find(':');
    const std::string_view spec =
        colon == field.npos ? std::string_view() : field.substr(colon + 1);
    std::string_view name = field.substr(0, colon);
    char conversion = '\0';
    if (name.size() >= 2 && name[name.size() - 2] == '!') {
      conversion = name.back();
      name.remove_suffix(2);
    }
    HONE_ASSIGN_OR_RETURN(JinjaValue value, Value(name));
    HONE_ASSIGN_OR_RETURN(const Layout layout, ReadLayout(spec));
    if (conversion == 'r' || conversion == 'a') {
      HONE_ASSIGN_OR_RETURN(JinjaText repr, ToRepr(run_, value));
      return PaddedText(repr, layout);
    }
    if (conversion == 's') {
      HONE_ASSIGN_OR_RETURN(JinjaText text, ToText(run_, value));
      return PaddedText(text, layout);
    }
    return Written(run_, value, layout);
  }

  // name(.member|[item])*
  Result<JinjaValue> Value(std::string_view name) {
    const size_t end = std::min(name.find_first_of(".["), name.size());
    HONE_ASSIGN_OR_RETURN(JinjaValue value, Argument(name.substr(0, end)));
    for (std::string_view rest = name.substr(end); !rest.empty();) {
      const bool item = rest[0] == '[';
      const size_t stop =
          item ? rest.find(']') : std::min(rest.find_first_of(".[", 1), rest.size());
      if (stop == rest.npos) return BadJinja("a '[' in the format is not closed");
      const std::string part(rest.substr(1, stop - 1));
      const bool number =
          !part.empty() && part.size() < 10 && part.find_first_not_of("0123456789") == part.npos;
      if (item) {
        HONE_ASSIGN_OR_RETURN(
            value,
            GetItem(run_, value, number ? JinjaValue(std::stoi(part)) : JinjaValue::Text(part)));
      } else {
        HONE_ASSIGN_OR_RETURN(value, GetMember(run_, value, part));
      }
      rest.remove_prefix(item ? stop + 1 : stop);
    }
    return value;
  }

  Result<JinjaValue> Argument(std::string_view name) {
    const bool number = name.find_first_not_of("0123456789") == name.npos;
    if (!number) {
      for (const auto& [given, value] : arguments_.named) {
        if (given == name) return value;
      }
      return BadJinja(fmt::format("the format asks for '{}', which is not given", name));
    }
    size_t index = next_;
    if (name.empty()) {
      ++next_;
    } else if (name.size() > 9) {
      index = arguments_.positional.size();
    } else {
      std::from_chars(name.data(), name.data() + name.size(), index);
    }
    if (index >= arguments_.positional.size()) {
      return BadJinja(fmt::format("the format asks for argument {}, which is not given", index));
    }
    return arguments_.positional[index];
  }

  JinjaRun* run_;
  const JinjaText& text_;
  const std::string_view format_;
  const JinjaArguments& arguments_;
  size_t next_ = 0;
};

}  // namespace

Result<JinjaValue> FormatBraces(JinjaRun* run, const JinjaText& text,
                                const JinjaArguments& arguments) {
  HONE_RETURN_IF_ERROR(run->ChargeText(text.size()));
  return BraceFormatter(run, text, arguments).Run();
}

}  // namespace hone
