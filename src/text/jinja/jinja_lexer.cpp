#include "text/jinja/jinja_lexer.h"

#include <algorithm>
#include <array>
#include <charconv>

#include <fmt/format.h>

#include "base/strings.h"
#include "base/utf8.h"
#include "text/jinja/jinja_text.h"

namespace hone {
namespace {

using TokenKind = JinjaToken::Kind;

constexpr size_t kLargestTemplate = 4u << 20;  // bytes

bool IsNameByte(char c) {
  return IsDigit(c) || (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || c == '_' ||
         static_cast<unsigned char>(c) >= 0x80;
}

// Line breaks of every kind become "\n", and the last one goes.
std::string WithPlainLines(std::string_view source) {
  std::string plain;
  plain.reserve(source.size());
  for (size_t i = 0; i < source.size(); ++i) {
    if (source[i] == '\r') {
      plain += '\n';
      if (i + 1 < source.size() && source[i + 1] == '\n') ++i;
    } else {
      plain += source[i];
    }
  }
  if (plain.ends_with('\n')) plain.pop_back();
  return plain;
}

size_t SkipSpace(std::string_view text, size_t at) {
  return at + Stripped(text.substr(at), std::nullopt, {.right = false}).begin;
}

std::string_view WithoutTrailingSpace(std::string_view text) {
  return text.substr(0, Stripped(text, std::nullopt, {.left = false}).end);
}

class Lexer {
 public:
  explicit Lexer(std::string_view source) : source_(source) {}

  Result<std::vector<JinjaToken>> Run() {
    while (at_ < source_.size()) HONE_RETURN_IF_ERROR(Outside());
    Add(TokenKind::kEnd, at_, "");
    return std::move(tokens_);
  }

 private:
  JinjaPlace PlaceOf(size_t at) {
    // Places are asked for in ascending order, near enough to each other.
    if (at < placed_) placed_ = 0, place_ = {};
    for (; placed_ < at; ++placed_) {
      if (source_[placed_] == '\n') {
        ++place_.line;
        place_.column = 1;
      } else if ((static_cast<unsigned char>(source_[placed_]) & 0xC0) != 0x80) {
        ++place_.column;
      }
    }
    return place_;
  }

  Error Bad(size_t at, std::string_view problem) { return JinjaErrorAt(PlaceOf(at), problem); }

  void Add(TokenKind kind, size_t at, std::string text, Json number = {}) {
    tokens_.push_back({kind, std::move(text), std::move(number), PlaceOf(at)});
  }

  // Text up to the next tag, and the tag.
  Result<void> Outside() {
    const size_t begin = at_;
    size_t tag = begin;
    do {
      tag = source_.find('{', tag);
    } while (tag != source_.npos && !IsTagAt(tag) && ++tag > 0);
    if (tag == source_.npos) {
      AddData(begin, source_.size());
      at_ = source_.size();
      return {};
    }
    const char kind = source_[tag + 1];
    size_t inside = tag + 2;
    const char sign = inside < source_.size() ? source_[inside] : '\0';
    const bool signed_tag = sign == '-' || sign == '+';
    AddData(begin, EndOfData(begin, tag, sign, kind != '{'));
    if (signed_tag) ++inside;
    if (kind == '#') return Comment(tag, inside);
    if (kind == '%') {
      if (const size_t body = RawBody(inside); body != source_.npos) return Raw(tag, body);
    }
    Add(kind == '%' ? TokenKind::kTagBegin : TokenKind::kPrintBegin, tag, "");
    at_ = inside;
    return Inside(tag, kind == '%');
  }

  bool IsTagAt(size_t at) const {
    if (at + 1 >= source_.size()) return false;
    const char kind = source_[at + 1];
    return kind == '%' || kind == '{' || kind == '#';
  }

  void AddData(size_t begin, size_t end) {
    if (begin < end) Add(TokenKind::kData, begin, std::string(source_.substr(begin, end - begin)));
  }

  // Where the text before a tag ends once white space has been taken off.
  size_t EndOfData(size_t begin, size_t tag, char sign, bool strips_line) const {
    const std::string_view text = source_.substr(begin, tag - begin);
    if (sign == '-') return begin + WithoutTrailingSpace(text).size();
    if (sign == '+' || !strips_line) return tag;
    const size_t line_break = text.rfind('\n');
    const size_t line = line_break == text.npos ? 0 : line_break + 1;
    if (line == 0 && !line_starting_) return tag;
    const bool blank = SkipSpace(text, line) == text.size();
    return blank ? begin + line : tag;
  }

  // Goes behind the end of a tag whose first byte behind `-`, `+` or nothing is `close`.
  bool TagEndsAt(size_t at, std::string_view close, bool trims, bool takes_plus, size_t* next) {
    const std::string_view rest = source_.substr(at);
    const bool minus = rest.starts_with('-'), plus = takes_plus && rest.starts_with('+');
    if (!rest.substr(minus || plus ? 1 : 0).starts_with(close)) return false;
    *next = at + close.size() + (minus || plus ? 1 : 0);
    if (minus) {
      *next = SkipSpace(source_, *next);
    } else if (!plus && trims && *next < source_.size() && source_[*next] == '\n') {
      ++*next;
    }
    line_starting_ = source_[*next - 1] == '\n';
    return true;
  }

  Result<void> Comment(size_t tag, size_t inside) {
    for (size_t at = inside; at < source_.size(); ++at) {
      // The shortest comment: `-#}` is seen before `#}`.
      if (TagEndsAt(at, "#}", true, true, &at_)) return {};
    }
    return Bad(tag, "the comment {# is not closed with #}");
  }

  // Where the text of {% raw %} begins, from behind the opening; npos when it is another tag.
  size_t RawBody(size_t inside) {
    const size_t name = SkipSpace(source_, inside);
    if (!source_.substr(name).starts_with("raw")) return source_.npos;
    size_t body = 0;
    const size_t end = SkipSpace(source_, name + 3);
    return TagEndsAt(end, "%}", false, false, &body) ? body : source_.npos;
  }

  Result<void> Raw(size_t tag, size_t body) {
    for (size_t at = source_.find("{%", body); at != source_.npos;
         at = source_.find("{%", at + 1)) {
      const char sign = at + 2 < source_.size() ? source_[at + 2] : '\0';
      const size_t name = SkipSpace(source_, at + 2 + (sign == '-' || sign == '+' ? 1 : 0));
      if (!source_.substr(name).starts_with("endraw")) continue;
      const size_t end = EndOfData(body, at, sign, true);
      if (!TagEndsAt(SkipSpace(source_, name + 6), "%}", true, true, &at_)) continue;
      AddData(body, end);
      return {};
    }
    return Bad(tag, "{% raw %} is not closed with {% endraw %}");
  }

  Result<void> Inside(size_t tag, bool is_tag) {
    std::string open;  // brackets that are not closed
    while (true) {
      at_ = SkipSpace(source_, at_);
      if (at_ >= source_.size()) {
        return Bad(tag, is_tag ? "the tag {% is not closed with %}" : "{{ is not closed with }}");
      }
      size_t next = 0;
      const size_t begin = at_;
      if (open.empty() && TagEndsAt(at_, is_tag ? "%}" : "}}", is_tag, is_tag, &next)) {
        Add(is_tag ? TokenKind::kTagEnd : TokenKind::kPrintEnd, begin, "");
        at_ = next;
        return {};
      }
      HONE_RETURN_IF_ERROR(Expression(&open));
    }
  }

  // One token of an expression.
  Result<void> Expression(std::string* open) {
    const char c = source_[at_];
    if (IsDigit(c)) return Number();
    if (IsNameByte(c)) {
      const size_t begin = at_;
      while (at_ < source_.size() && IsNameByte(source_[at_])) ++at_;
      Add(TokenKind::kName, begin, std::string(source_.substr(begin, at_ - begin)));
      return {};
    }
    if (c == '\'' || c == '"') return String(c);
    static constexpr std::array<std::string_view, 25> kLexedOperators = {
        "//", "**", "==", "!=", ">=", "<=", "+", "-", "/", "*", "%", "~", "[",
        "]",  "(",  ")",  "{",  "}",  ">",  "<", "=", ".", ":", "|", ","};
    for (const std::string_view op : kLexedOperators) {
      if (!source_.substr(at_).starts_with(op)) continue;
      HONE_RETURN_IF_ERROR(Balance(op[0], open));
      Add(TokenKind::kOperator, at_, std::string(op));
      at_ += op.size();
      return {};
    }
    return Bad(at_, fmt::format("unexpected character '{}'", c >= ' ' ? c : '?'));
  }

  Result<void> Balance(char c, std::string* open) {
    if (c == '(' || c == '[' || c == '{') open->push_back(c);
    if (c != ')' && c != ']' && c != '}') return {};
    const char wanted = c == ')' ? '(' : c == ']' ? '[' : '{';
    if (open->empty() || open->back() != wanted) {
      return Bad(at_, fmt::format("'{}' closes nothing", c));
    }
    open->pop_back();
    return {};
  }

  // digits(_digits)*
  size_t Digits(size_t at) const {
    while (at < source_.size() &&
           (IsDigit(source_[at]) || (source_[at] == '_' && at > 0 && IsDigit(source_[at - 1]) &&
                                     at + 1 < source_.size() && IsDigit(source_[at + 1])))) {
      ++at;
    }
    return at;
  }

  Result<void> Number() {
    const size_t begin = at_;
    for (const auto& [prefix, base] :
         {std::pair("0x", 16), std::pair("0o", 8), std::pair("0b", 2)}) {
      if (LowerCase(source_.substr(begin, 2)) == prefix) return Based(base);
    }
    size_t end = Digits(begin);
    const bool after_dot = begin > 0 && source_[begin - 1] == '.';
    const auto digit_at = [&](size_t at) { return at < source_.size() && IsDigit(source_[at]); };
    bool real = false;
    if (!after_dot && end < source_.size() && source_[end] == '.' && digit_at(end + 1)) {
      end = Digits(end + 1);
      real = true;
    }
    if (!after_dot && end < source_.size() && (source_[end] == 'e' || source_[end] == 'E')) {
      const bool sign =
          end + 1 < source_.size() && (source_[end + 1] == '+' || source_[end + 1] == '-');
      if (const size_t digits = end + (sign ? 2 : 1); digit_at(digits)) {
        end = Digits(digits);
        real = true;
      }
    }
    std::string digits(source_.substr(begin, end - begin));
    std::erase(digits, '_');
    if (!real && digits.size() > 1 && digits[0] == '0') {
      if (digits.find_first_not_of('0') != digits.npos) return Bad(begin, "a number begins with 0");
      digits = "0";
    }
    // Its spelling is JSON's now, so that large ones stay exact.
    const Result<Json> number = ParseJson(digits);
    if (!number.ok()) return Bad(begin, fmt::format("the number {} cannot be read", digits));
    at_ = end;
    Add(real ? TokenKind::kReal : TokenKind::kInteger, begin, digits,
        real ? Json(number->AsDouble()) : *number);
    return {};
  }

  Result<void> Based(int base) {
    const size_t begin = at_;
    at_ += 2;
    std::string digits;
    for (; at_ < source_.size() && IsNameByte(source_[at_]); ++at_) {
      if (source_[at_] != '_') digits += source_[at_];
    }
    int64_t value = 0;
    const auto read = std::from_chars(digits.data(), digits.data() + digits.size(), value, base);
    if (read.ec != std::errc() || read.ptr != digits.data() + digits.size()) {
      return Bad(begin, "the number cannot be read");
    }
    Add(TokenKind::kInteger, begin, digits, Json(value));
    return {};
  }

  Result<void> String(char quote) {
    const size_t begin = at_++;
    std::string text;
    while (at_ < source_.size() && source_[at_] != quote) {
      if (source_[at_] == '\\') {
        HONE_RETURN_IF_ERROR(Escape(&text));
      } else {
        text += source_[at_++];
      }
    }
    if (at_ >= source_.size()) return Bad(begin, "the string is not closed");
    ++at_;
    Add(TokenKind::kString, begin, std::move(text));
    return {};
  }

  // As in a Python string.
  Result<void> Escape(std::string* text) {
    const size_t begin = at_++;
    if (at_ >= source_.size()) return Bad(begin, "the string is not closed");
    const char c = source_[at_];
    static constexpr std::string_view kShort = "\\'\"abfnrtv", kMeant = "\\'\"\a\b\f\n\r\t\v";
    if (const size_t found = kShort.find(c); found != kShort.npos) {
      *text += kMeant[found];
      ++at_;
    } else if (c == '\n') {
      ++at_;
    } else if (c >= '0' && c <= '7') {
      uint32_t code = 0;
      for (int i = 0; i < 3 && at_ < source_.size() && source_[at_] >= '0' && source_[at_] <= '7';
           ++i) {
        code = code * 8 + static_cast<uint32_t>(source_[at_++] - '0');
      }
      AppendUtf8(code, text);
    } else if (c == 'x' || c == 'u' || c == 'U') {
      const size_t length = c == 'x' ? 2 : c == 'u' ? 4 : 8;
      const std::string_view digits = source_.substr(at_ + 1, length);
      uint32_t code = 0;
      const auto read = std::from_chars(digits.data(), digits.data() + digits.size(), code, 16);
      if (digits.size() != length || read.ec != std::errc() ||
          read.ptr != digits.data() + digits.size() || code > 0x10FFFF) {
        return Bad(begin,
                   fmt::format("\\{} wants {} hexadecimal digits of a character", c, length));
      }
      // Half a surrogate pair is no character.
      AppendUtf8(code >= 0xD800 && code <= 0xDFFF ? 0xFFFD : code, text);
      at_ += 1 + length;
    } else {
      *text += '\\';
    }
    return {};
  }

  const std::string_view source_;
  size_t at_ = 0;
  bool line_starting_ = true;  // what comes next begins a line
  size_t placed_ = 0;          // place_ is the place of this byte
  JinjaPlace place_;
  std::vector<JinjaToken> tokens_;
};

}  // namespace

Error JinjaErrorAt(JinjaPlace place, std::string_view problem, ErrorCode code) {
  return Error(code, fmt::format("line {}, column {}: {}", place.line, place.column, problem));
}

Result<std::vector<JinjaToken>> LexJinja(std::string_view source) {
  if (source.size() > kLargestTemplate) {
    return Error(ErrorCode::kUnsupported,
                 fmt::format("a template of {} bytes is too large", source.size()));
  }
  if (const size_t valid = Utf8ValidPrefix(source); valid != source.size()) {
    return Error(ErrorCode::kParse, fmt::format("byte {} of the template is not UTF-8", valid));
  }
  const std::string plain = WithPlainLines(source);
  return Lexer(plain).Run();
}

}  // namespace hone
