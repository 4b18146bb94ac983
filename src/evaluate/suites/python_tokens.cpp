#include "evaluate/suites/python_tokens.h"

#include <algorithm>
#include <array>
#include <cstdlib>
#include <optional>

#include <fmt/format.h>
#include <utf8proc.h>

#include "base/strings.h"
#include "base/utf8.h"

namespace hone {
namespace {

using TokenKind = PythonToken::Kind;

// Longest first.
constexpr std::array<std::string_view, 36> kSymbols = {
    "...", "**", "//", "<<", ">>", "<=", ">=", "==", "!=", "->", ":=", "+",
    "-",   "*",  "/",  "%",  "@",  "&",  "|",  "^",  "~",  "<",  ">",  "(",
    ")",   "[",  "]",  "{",  "}",  ",",  ":",  ".",  ";",  "=",  "?",  "!"};

int HexValue(char c) {
  if (IsDigit(c)) return c - '0';
  if (c >= 'a' && c <= 'f') return c - 'a' + 10;
  if (c >= 'A' && c <= 'F') return c - 'A' + 10;
  return -1;
}

// A character of a name; the first may be no digit and no mark.
bool IsNameCharacter(uint32_t c, bool first) {
  if (c == '_') return true;
  if (c < 0x80) {
    return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (!first && c >= '0' && c <= '9');
  }
  switch (utf8proc_category(static_cast<utf8proc_int32_t>(c))) {
    case UTF8PROC_CATEGORY_LU:
    case UTF8PROC_CATEGORY_LL:
    case UTF8PROC_CATEGORY_LT:
    case UTF8PROC_CATEGORY_LM:
    case UTF8PROC_CATEGORY_LO:
    case UTF8PROC_CATEGORY_NL: return true;
    case UTF8PROC_CATEGORY_MN:
    case UTF8PROC_CATEGORY_MC:
    case UTF8PROC_CATEGORY_ND:
    case UTF8PROC_CATEGORY_PC: return !first;
    default: return false;
  }
}

class PythonTokenizer {
 public:
  explicit PythonTokenizer(std::string_view source) : source_(source) {}

  Result<std::vector<PythonToken>> Run() {
    if (!IsUtf8(source_) || source_.find('\0') != std::string_view::npos) {
      return Bad("text that is not UTF-8, or holds a zero byte");
    }
    while (true) {
      SkipBlanks();
      if (at_ >= source_.size()) break;
      HONE_RETURN_IF_ERROR(One());
    }
    Add(TokenKind::kEnd, at_);
    return std::move(tokens_);
  }

 private:
  Error Bad(std::string_view what) const {
    return Error(ErrorCode::kInvalidArgument, fmt::format("no Python at byte {}: {}", at_, what));
  }

  char Peek(size_t ahead = 0) const {
    return at_ + ahead < source_.size() ? source_[at_ + ahead] : '\0';
  }

  PythonToken& Add(TokenKind kind, size_t begin) {
    tokens_.push_back({.kind = kind, .begin = begin, .end = at_});
    return tokens_.back();
  }

  void SkipBlanks() {
    while (at_ < source_.size()) {
      const char c = source_[at_];
      if (c == '#') {
        while (at_ < source_.size() && source_[at_] != '\n') ++at_;
      } else if (c == ' ' || c == '\t' || c == '\f') {
        ++at_;
      } else if (brackets_ > 0 && (c == '\n' || c == '\r')) {
        ++at_;
      } else if (c == '\\' && (Peek(1) == '\n' || (Peek(1) == '\r' && Peek(2) == '\n'))) {
        at_ += Peek(1) == '\n' ? 2 : 3;
      } else {
        return;
      }
    }
  }

  Result<void> One() {
    const char c = source_[at_];
    if (c == '\n' || c == '\r') {
      const size_t begin = at_++;
      Add(TokenKind::kNewline, begin);
      return {};
    }
    if (IsDigit(c) || (c == '.' && IsDigit(Peek(1)))) return Number();
    if (c == '"' || c == '\'') return String("");
    size_t end = at_;
    if (IsNameCharacter(NextCodePoint(source_, &end), true)) return Name();
    for (const std::string_view symbol : kSymbols) {
      if (!source_.substr(at_).starts_with(symbol)) continue;
      if (symbol == "?" || symbol == "!" || symbol == ";") break;
      if (symbol == "(" || symbol == "[" || symbol == "{") ++brackets_;
      if (symbol == ")" || symbol == "]" || symbol == "}") --brackets_;
      const size_t begin = at_;
      at_ += symbol.size();
      Add(TokenKind::kSymbol, begin).text = symbol;
      return {};
    }
    return Bad("a character that stands for nothing");
  }

  Result<void> Name() {
    const size_t begin = at_;
    while (at_ < source_.size()) {
      size_t next = at_;
      if (!IsNameCharacter(NextCodePoint(source_, &next), false)) break;
      at_ = next;
    }
    std::string name(source_.substr(begin, at_ - begin));
    if ((Peek() == '"' || Peek() == '\'') && name.size() <= 2) {
      std::string prefix = name;
      std::transform(prefix.begin(), prefix.end(), prefix.begin(),
                     [](char c) { return c >= 'A' && c <= 'Z' ? static_cast<char>(c + 32) : c; });
      for (const char* known : {"r", "u", "b", "f", "br", "rb", "fr", "rf"}) {
        if (prefix == known) return String(prefix);
      }
    }
    Add(TokenKind::kName, begin).text = std::move(name);
    return {};
  }

  // Digits of a base with single underscores between them; false: there are none, or they are
  // spelled wrongly.
  bool Digits(int base, std::string* digits) {
    const size_t before = digits->size();
    while (true) {
      const int value = HexValue(Peek());
      if (value >= 0 && value < base) {
        digits->push_back(source_[at_++]);
      } else if (Peek() == '_' && digits->size() > before) {
        const int next = HexValue(Peek(1));
        if (next < 0 || next >= base) return false;
        ++at_;
      } else {
        return digits->size() > before;
      }
    }
  }

  Result<void> Number() {
    const size_t begin = at_;
    bool real = false, imaginary = false;
    std::string digits;
    const char mark = static_cast<char>(Peek(1) | 0x20);
    if (Peek() == '0' && (mark == 'x' || mark == 'o' || mark == 'b')) {
      at_ += 2;
      if (Peek() == '_') ++at_;
      const int base = mark == 'x' ? 16 : mark == 'o' ? 8 : 2;
      if (!Digits(base, &digits)) return Bad("a number without digits");
      errno = 0;
      const int64_t value = std::strtoll(digits.c_str(), nullptr, base);
      if (errno != 0) return Bad("a number that is too large");
      digits = std::to_string(value);
    } else {
      if (Peek() != '.' && !Digits(10, &digits)) return Bad("a number that is misspelled");
      if (Peek() == '.') {
        real = true;
        digits += source_[at_++];
        if (IsDigit(Peek()) && !Digits(10, &digits)) return Bad("a number that is misspelled");
      }
      if (Peek() == 'e' || Peek() == 'E') {
        const size_t sign = Peek(1) == '+' || Peek(1) == '-' ? 1 : 0;
        if (!IsDigit(Peek(1 + sign))) return Bad("an exponent without digits");
        real = true;
        digits.append(source_.substr(at_, 1 + sign));
        at_ += 1 + sign;
        if (!Digits(10, &digits)) return Bad("a number that is misspelled");
      }
      if (Peek() == 'j' || Peek() == 'J') {
        imaginary = true;
        ++at_;
      }
      const size_t nonzero = digits.find_first_not_of('0');
      if (!real && !imaginary && digits[0] == '0' && nonzero != std::string::npos) {
        return Bad("an integer that begins with 0");
      }
      if (!real && nonzero == std::string::npos) digits = "0";
    }
    size_t next = at_;
    if (at_ < source_.size() && IsNameCharacter(NextCodePoint(source_, &next), false)) {
      return Bad("a number that runs into a name");
    }
    PythonToken& token = Add(imaginary ? TokenKind::kBytes
                             : real    ? TokenKind::kReal
                                       : TokenKind::kInteger,
                             begin);
    if (imaginary) {
      token.text = source_.substr(begin, at_ - begin);
    } else if (real) {
      token.value = Json(std::strtod(digits.c_str(), nullptr));
    } else {
      HONE_ASSIGN_OR_RETURN(token.value, ParseJson(digits));
    }
    return {};
  }

  Result<void> String(std::string_view prefix) {
    const size_t begin = at_ - prefix.size();
    const bool raw = prefix.find('r') != std::string_view::npos;
    const bool bytes = prefix.find('b') != std::string_view::npos;
    const bool format = prefix.find('f') != std::string_view::npos;
    const char quote = source_[at_];
    const bool triple = Peek(1) == quote && Peek(2) == quote;
    at_ += triple ? 3 : 1;
    std::string value;
    while (true) {
      if (at_ >= source_.size()) return Bad("a text without its end");
      const char c = source_[at_];
      if (c == quote && (!triple || (Peek(1) == quote && Peek(2) == quote))) break;
      if (c == '\n' && !triple) return Bad("a text that ends with its line");
      if (c != '\\') {
        value.push_back(c);
        ++at_;
      } else if (raw || bytes || format) {
        value.append(source_.substr(at_, 2));  // a quote behind it does not end the text
        at_ += 2;
      } else {
        HONE_RETURN_IF_ERROR(Escape(&value));
      }
    }
    at_ += triple ? 3 : 1;
    PythonToken& token = Add(bytes    ? TokenKind::kBytes
                             : format ? TokenKind::kFormat
                                      : TokenKind::kString,
                             begin);
    token.text = source_.substr(begin, at_ - begin);
    token.value = Json(Utf8Lossy(value));
    return {};
  }

  Result<void> Escape(std::string* out) {
    const char c = Peek(1);
    at_ += 2;
    constexpr std::string_view kLetters = "\\'\"abfnrtv", kMeant = "\\'\"\a\b\f\n\r\t\v";
    if (const size_t found = kLetters.find(c); c != '\0' && found != std::string_view::npos) {
      out->push_back(kMeant[found]);
    } else if (c == '\n') {
      // The line goes on.
    } else if (c >= '0' && c <= '7') {
      uint32_t value = static_cast<uint32_t>(c - '0');
      for (int i = 0; i < 2 && Peek() >= '0' && Peek() <= '7'; ++i) {
        value = value * 8 + static_cast<uint32_t>(source_[at_++] - '0');
      }
      AppendUtf8(value, out);
    } else if (c == 'x' || c == 'u' || c == 'U') {
      const int digits = c == 'x' ? 2 : c == 'u' ? 4 : 8;
      uint32_t value = 0;
      for (int i = 0; i < digits; ++i) {
        const int digit = HexValue(Peek());
        if (digit < 0) return Bad("an escape without its digits");
        value = value * 16 + static_cast<uint32_t>(digit);
        ++at_;
      }
      if (value > 0x10ffff) return Bad("an escape beyond Unicode");
      // Half a pair stands for nothing that UTF-8 can say.
      AppendUtf8(value >= 0xd800 && value <= 0xdfff ? 0xfffd : value, out);
    } else if (c == 'N') {
      return Bad("an escape by name");
    } else {
      at_ -= 1;  // Python keeps the backslash of what is no escape
      out->push_back('\\');
    }
    return {};
  }

  const std::string_view source_;
  size_t at_ = 0;
  int brackets_ = 0;
  std::vector<PythonToken> tokens_;
};

}  // namespace

Result<std::vector<PythonToken>> PythonTokens(std::string_view source) {
  return PythonTokenizer(source).Run();
}

bool IsPythonKeyword(std::string_view word) {
  constexpr std::array<std::string_view, 35> kKeywords = {
      "False", "None",     "True",  "and",    "as",   "assert", "async",  "await",    "break",
      "class", "continue", "def",   "del",    "elif", "else",   "except", "finally",  "for",
      "from",  "global",   "if",    "import", "in",   "is",     "lambda", "nonlocal", "not",
      "or",    "pass",     "raise", "return", "try",  "while",  "with",   "yield"};
  return std::find(kKeywords.begin(), kKeywords.end(), word) != kKeywords.end();
}

}  // namespace hone
