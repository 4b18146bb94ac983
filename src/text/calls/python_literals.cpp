#include "text/calls/python_literals.h"

#include <algorithm>
#include <charconv>
#include <limits>

#include "base/strings.h"
#include "base/utf8.h"

namespace hone {
namespace {

constexpr int kDeepestLiteral = 100;

bool IsPythonName(char c) {
  return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || c == '_' ||
         static_cast<unsigned char>(c) >= 0x80;
}

}  // namespace

void PythonLiterals::SkipBlanks() {
  at_ = std::min(text_.find_first_not_of(kBlanks, at_), text_.size());
}

bool PythonLiterals::Skip(char c) {
  if (AtEnd() || text_[at_] != c) return false;
  ++at_;
  return true;
}

std::string_view PythonLiterals::Name() {
  const size_t begin = at_;
  while (!AtEnd() && (IsPythonName(text_[at_]) || text_[at_] == '.')) ++at_;
  return text_.substr(begin, at_ - begin);
}

std::optional<Json> PythonLiterals::Value(int depth) {
  SkipBlanks();
  if (AtEnd()) return Cut();
  if (depth > kDeepestLiteral) return std::nullopt;
  const char c = text_[at_];
  if (c == '[') return Items(']', depth);
  if (c == '(') return Items(')', depth);
  if (c == '{') return Dictionary(depth);
  if (c == '"' || c == '\'') return Text();
  if (c == '-' || c == '+' || c == '.' || (c >= '0' && c <= '9')) return Number();
  const size_t begin = at_;
  const std::string_view word = Name();
  if (AtEnd()) return Cut();  // more letters may follow
  if (word == "True" || word == "true") return Json(true);
  if (word == "False" || word == "false") return Json(false);
  if (word == "None" || word == "null") return Json();
  at_ = begin;
  return std::nullopt;
}

std::optional<Json> PythonLiterals::Items(char close, int depth) {
  ++at_;
  Json::Array items;
  bool comma = false;
  while (true) {
    SkipBlanks();
    if (AtEnd()) return Cut();
    if (Skip(close)) break;
    if (!items.empty() && !comma) return std::nullopt;
    std::optional<Json> item = Value(depth + 1);
    if (!item) return std::nullopt;
    items.push_back(*std::move(item));
    SkipBlanks();
    comma = Skip(',');
  }
  // (1) is 1.
  if (close == ')' && items.size() == 1 && !comma) return std::move(items[0]);
  return Json(std::move(items));
}

std::optional<Json> PythonLiterals::Dictionary(int depth) {
  ++at_;
  Json members = Json::Object();
  bool comma = true;
  while (true) {
    SkipBlanks();
    if (AtEnd()) return Cut();
    if (Skip('}')) return members;
    if (!comma) return std::nullopt;
    const std::optional<Json> key = Value(depth + 1);
    if (!key || key->is_array() || key->is_object()) return std::nullopt;
    SkipBlanks();
    if (AtEnd()) return Cut();
    if (!Skip(':')) return std::nullopt;
    std::optional<Json> value = Value(depth + 1);
    if (!value) return std::nullopt;
    members.Set(key->is_string() ? key->AsString() : DumpJson(*key), *std::move(value));
    SkipBlanks();
    comma = Skip(',');
  }
}

std::optional<Json> PythonLiterals::Number() {
  const size_t begin = at_;
  at_ = std::min(text_.find_first_not_of("0123456789abcdefABCDEFxXoO_.+-", at_), text_.size());
  if (AtEnd()) return Cut();  // more digits may follow
  std::string digits(text_.substr(begin, at_ - begin));
  digits.erase(std::remove(digits.begin(), digits.end(), '_'), digits.end());
  const bool negative = digits.starts_with('-');
  if (negative || digits.starts_with('+')) digits.erase(0, 1);
  if (digits.starts_with("0x") || digits.starts_with("0X")) {
    uint64_t value = 0;  // so that no second sign is read
    const auto read = std::from_chars(digits.data() + 2, digits.data() + digits.size(), value, 16);
    if (read.ec != std::errc() || read.ptr != digits.data() + digits.size()) return std::nullopt;
    if (value > static_cast<uint64_t>(std::numeric_limits<int64_t>::max())) return std::nullopt;
    return Json(negative ? -static_cast<int64_t>(value) : static_cast<int64_t>(value));
  }
  // What Python allows and JSON does not: a dot at either end.
  if (digits.starts_with('.')) digits.insert(0, "0");
  if (digits.ends_with('.')) digits += '0';
  Result<Json> json = ParseJson((negative ? "-" : "") + digits);
  if (!json.ok() || !json->is_number()) return std::nullopt;
  return *std::move(json);
}

bool PythonLiterals::Escape(std::string* value) {
  const char kind = text_[at_++];
  constexpr std::string_view kPlain = "\\'\"abfnrtv", kMeant = "\\'\"\a\b\f\n\r\t\v";
  if (const size_t plain = kPlain.find(kind); plain != kPlain.npos) {
    *value += kMeant[plain];
    return true;
  }
  if (kind == '\n') return true;
  const size_t length = kind == 'x' ? 2 : kind == 'u' ? 4 : kind == 'U' ? 8 : 0;
  if (length == 0) {  // Python keeps what it does not know
    *value += '\\';
    *value += kind;
    return true;
  }
  if (at_ + length > text_.size()) return Cut(), false;
  uint32_t code = 0;
  const char* begin = text_.data() + at_;
  const auto read = std::from_chars(begin, begin + length, code, 16);
  if (read.ec != std::errc() || read.ptr != begin + length) return false;
  at_ += length;
  const bool high = code >= 0xD800 && code < 0xDC00;
  if (high && text_.substr(at_).starts_with("\\u") && at_ + 6 <= text_.size()) {
    uint32_t low = 0;
    const auto more = std::from_chars(begin + length + 2, begin + length + 6, low, 16);
    if (more.ptr == begin + length + 6 && low >= 0xDC00 && low < 0xE000) {
      code = 0x10000 + ((code - 0xD800) << 10) + (low - 0xDC00);
      at_ += 6;
    }
  }
  if (code > 0x10FFFF || (code >= 0xD800 && code < 0xE000)) return false;
  AppendUtf8(code, value);
  return true;
}

std::optional<Json> PythonLiterals::Text() {
  std::string value;
  while (true) {
    const char quote = text_[at_];
    const std::string_view one = text_.substr(at_, 1);
    const bool triple = text_.substr(at_).starts_with(std::string(3, quote));
    const std::string close = triple ? std::string(3, quote) : std::string(one);
    at_ += close.size();
    while (!text_.substr(at_).starts_with(close)) {
      if (AtEnd()) return Cut();
      if (text_[at_] != '\\') {
        value += text_[at_++];
        continue;
      }
      ++at_;
      if (AtEnd()) return Cut();
      if (!Escape(&value)) return std::nullopt;
    }
    at_ += close.size();
    if (AtEnd()) return Cut();  // "" may become """, and another text may follow
    const size_t end = at_;
    SkipBlanks();
    const bool another = !AtEnd() && (text_[at_] == '"' || text_[at_] == '\'');
    if (another) continue;  // texts that stand behind each other are one
    if (AtEnd()) return Cut();
    at_ = end;
    return Json(IsUtf8(value) ? std::move(value) : Utf8Lossy(value));
  }
}

}  // namespace hone
