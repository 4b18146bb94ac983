#include <algorithm>
#include <charconv>
#include <cmath>
#include <cstdlib>
#include <unordered_set>

#include <fmt/format.h>

#include "base/bytes/byte_order_mark.h"
#include "base/json.h"
#include "base/strings.h"
#include "base/utf8.h"

namespace hone {
namespace {

constexpr int kDeepestJson = 512;

// Recursive descent over one text. The first problem stops everything; `cut_` says that the problem
// is only that the text ends too early.
class JsonParser {
 public:
  explicit JsonParser(std::string_view text) : text_(text) {}

  // True and *value on success; otherwise problem(), position() and cut() say why.
  bool Value(Json* value, int depth = 0) {
    SkipSpace();
    if (AtEnd()) return FailCut("a value is missing");
    switch (text_[at_]) {
      case '{': return ParseObject(value, depth);
      case '[': return ParseArray(value, depth);
      case '"': {
        std::string string;
        if (!ParseString(&string)) return false;
        *value = std::move(string);
        return true;
      }
      case 't': return Word("true", Json(true), value);
      case 'f': return Word("false", Json(false), value);
      case 'n': return Word("null", Json(nullptr), value);
      default: return ParseNumber(value);
    }
  }

  void SkipSpace() {
    while (!AtEnd() &&
           (text_[at_] == ' ' || text_[at_] == '\n' || text_[at_] == '\r' || text_[at_] == '\t')) {
      ++at_;
    }
  }

  bool AtEnd() const { return at_ >= text_.size(); }
  size_t position() const { return at_; }
  bool cut() const { return cut_; }
  const std::string& problem() const { return problem_; }

  bool Fail(std::string problem) {
    problem_ = std::move(problem);
    return false;
  }

 private:
  bool FailCut(std::string problem) {
    cut_ = true;
    return Fail(std::move(problem));
  }

  // Consumes `c`, with a message for when it is not there.
  bool Expect(char c, const char* missing) {
    if (AtEnd()) return FailCut(missing);
    if (text_[at_] != c) return Fail(missing);
    ++at_;
    return true;
  }

  bool Word(std::string_view word, Json meaning, Json* value) {
    const std::string_view here = text_.substr(at_, word.size());
    if (here != word) {
      return at_ + here.size() == text_.size() && word.starts_with(here)
                 ? FailCut("the text ends inside a word")
                 : Fail("not a JSON value");
    }
    at_ += word.size();
    *value = std::move(meaning);
    return true;
  }

  bool ParseObject(Json* value, int depth) {
    if (depth >= kDeepestJson) return Fail("nested too deeply");
    ++at_;
    Json::Object object;
    std::unordered_set<std::string> keys;  // filled only for large objects
    SkipSpace();
    if (!AtEnd() && text_[at_] == '}') {
      ++at_;
      *value = std::move(object);
      return true;
    }
    while (true) {
      SkipSpace();
      if (AtEnd()) return FailCut("an object is not closed");
      if (text_[at_] != '"') return Fail("a key in double quotes is missing");
      const size_t key_at = at_;
      std::string key;
      if (!ParseString(&key)) return false;
      if (IsDuplicate(key, object, &keys)) {
        at_ = key_at;
        return Fail(fmt::format("the key \"{}\" occurs twice", key));
      }
      SkipSpace();
      if (!Expect(':', "a ':' is missing after the key")) return false;
      Json member;
      if (!Value(&member, depth + 1)) return false;
      object.emplace_back(std::move(key), std::move(member));
      SkipSpace();
      if (!AtEnd() && text_[at_] == '}') {
        ++at_;
        *value = std::move(object);
        return true;
      }
      if (!Expect(',', "a ',' or '}' is missing")) return false;
    }
  }

  // Small objects are searched, large ones (vocabularies) get a set.
  static bool IsDuplicate(const std::string& key, const Json::Object& object,
                          std::unordered_set<std::string>* keys) {
    constexpr size_t kSmall = 16;
    if (object.size() < kSmall) {
      return std::any_of(object.begin(), object.end(),
                         [&](const Json::Member& member) { return member.first == key; });
    }
    if (keys->empty()) {
      for (const Json::Member& member : object) keys->insert(member.first);
    }
    return !keys->insert(key).second;
  }

  bool ParseArray(Json* value, int depth) {
    if (depth >= kDeepestJson) return Fail("nested too deeply");
    ++at_;
    Json::Array array;
    SkipSpace();
    if (!AtEnd() && text_[at_] == ']') {
      ++at_;
      *value = std::move(array);
      return true;
    }
    while (true) {
      Json element;
      if (!Value(&element, depth + 1)) return false;
      array.push_back(std::move(element));
      SkipSpace();
      if (!AtEnd() && text_[at_] == ']') {
        ++at_;
        *value = std::move(array);
        return true;
      }
      if (!Expect(',', "a ',' or ']' is missing")) return false;
    }
  }

  bool ParseString(std::string* out) {
    ++at_;
    const size_t begin = at_;
    while (true) {
      // Runs of plain characters are copied whole.
      const size_t run = at_;
      while (!AtEnd() && text_[at_] != '"' && text_[at_] != '\\' &&
             static_cast<uint8_t>(text_[at_]) >= 0x20) {
        ++at_;
      }
      out->append(text_, run, at_ - run);
      if (AtEnd()) return FailCut("a string is not closed");
      if (text_[at_] == '"') break;
      if (text_[at_] != '\\') return Fail("a control character inside a string must be escaped");
      if (!ParseEscape(out)) return false;
    }
    ++at_;
    const size_t valid = Utf8ValidPrefix(text_.substr(begin, at_ - 1 - begin));
    if (begin + valid != at_ - 1) {
      at_ = begin + valid;
      return Fail("a string is not UTF-8");
    }
    return true;
  }

  bool ParseEscape(std::string* out) {
    if (at_ + 1 >= text_.size()) return FailCut("a string is not closed");
    const char kind = text_[at_ + 1];
    if (kind == 'u') return ParseUnicodeEscape(out);
    constexpr std::string_view kKinds = "\"\\/bfnrt";
    constexpr std::string_view kMeanings = "\"\\/\b\f\n\r\t";
    const size_t index = kKinds.find(kind);
    if (index == std::string_view::npos) return Fail("an unknown escape in a string");
    *out += kMeanings[index];
    at_ += 2;
    return true;
  }

  bool ParseUnicodeEscape(std::string* out) {
    uint32_t unit = 0;
    if (!ParseFourDigits(&unit)) return false;
    if (unit >= 0xDC00 && unit <= 0xDFFF) return Fail("a lone surrogate in a string");
    if (unit >= 0xD800 && unit <= 0xDBFF) {
      const std::string_view rest = text_.substr(at_, 2);
      if (rest.size() < 2 && std::string_view("\\u").starts_with(rest)) {
        return FailCut("a string is not closed");
      }
      uint32_t second = 0;
      if (rest != "\\u") return Fail("a lone surrogate in a string");
      if (!ParseFourDigits(&second)) return false;
      if (second < 0xDC00 || second > 0xDFFF) return Fail("a lone surrogate in a string");
      unit = 0x10000 + ((unit - 0xD800) << 10) + (second - 0xDC00);
    }
    AppendUtf8(unit, out);
    return true;
  }

  // Reads \uXXXX at the current position.
  bool ParseFourDigits(uint32_t* unit) {
    const std::string_view digits = text_.substr(std::min(at_ + 2, text_.size()), 4);
    const auto [end, status] =
        std::from_chars(digits.data(), digits.data() + digits.size(), *unit, 16);
    if (end != digits.data() + digits.size() || (digits.size() == 4 && status != std::errc())) {
      return Fail("\\u wants four hexadecimal digits");
    }
    if (digits.size() < 4) return FailCut("a string is not closed");
    at_ += 6;
    return true;
  }

  // Passes over digits; false (with a problem) when there is none.
  bool Digits() {
    if (AtEnd()) return FailCut("a number ends too early");
    if (!IsDigit(text_[at_])) return Fail("not a JSON value");
    while (!AtEnd() && IsDigit(text_[at_])) ++at_;
    return true;
  }

  bool ParseNumber(Json* value) {
    const size_t begin = at_;
    if (text_[at_] == '-') ++at_;
    const bool leading_zero = !AtEnd() && text_[at_] == '0';
    const size_t digits = at_;
    if (!Digits()) return false;
    if (leading_zero && at_ - digits > 1) {
      at_ = digits;
      return Fail("a number with a leading zero");
    }
    bool whole = true;
    if (!AtEnd() && text_[at_] == '.') {
      whole = false;
      ++at_;
      if (!Digits()) return false;
    }
    if (!AtEnd() && (text_[at_] == 'e' || text_[at_] == 'E')) {
      whole = false;
      ++at_;
      if (!AtEnd() && (text_[at_] == '+' || text_[at_] == '-')) ++at_;
      if (!Digits()) return false;
    }
    const std::string_view token = text_.substr(begin, at_ - begin);
    const char *first = token.data(), *last = token.data() + token.size();
    if (whole) {
      int64_t integer = 0;
      if (std::from_chars(first, last, integer).ec == std::errc()) {
        *value = integer;
      } else {
        *value = BigInteger{std::string(token)};
      }
      return true;
    }
    double real = 0;
    // from_chars reports too large and too small alike; strtod gives infinity or the nearest to
    // zero.
    if (std::from_chars(first, last, real).ec != std::errc()) {
      real = std::strtod(std::string(token).c_str(), nullptr);
    }
    if (!std::isfinite(real)) {
      at_ = begin;
      return Fail("a real number too large for 64 bits");
    }
    *value = real;
    return true;
  }

  std::string_view text_;
  size_t at_ = 0;
  bool cut_ = false;
  std::string problem_;
};

std::string LineAndColumn(std::string_view text, size_t position) {
  const std::string_view before = text.substr(0, position);
  const auto line = 1 + std::count(before.begin(), before.end(), '\n');
  const size_t line_start =
      before.rfind('\n') == std::string_view::npos ? 0 : before.rfind('\n') + 1;
  return fmt::format("line {}, column {}", line, position - line_start + 1);
}

}  // namespace

Result<Json> ParseJson(std::string_view text) {
  JsonParser parser(text);
  Json value;
  if (parser.Value(&value)) {
    parser.SkipSpace();
    if (parser.AtEnd()) return value;
    parser.Fail("more text after the JSON value");
  }
  return Error(ErrorCode::kParse,
               fmt::format("{}: {}", LineAndColumn(text, parser.position()), parser.problem()));
}

JsonPrefix ParseJsonPrefix(std::string_view text) {
  JsonParser parser(text);
  Json value;
  if (!parser.Value(&value)) {
    return {std::nullopt, parser.position(), parser.cut(), parser.problem()};
  }
  return {std::move(value), parser.position(), false, ""};
}

Result<std::vector<Json>> ParseJsonLines(std::string_view text) {
  std::vector<Json> values;
  text = WithoutByteOrderMark(text);
  for (size_t line = 1; !text.empty(); ++line) {
    const size_t end = std::min(text.find('\n'), text.size());
    const std::string_view row = text.substr(0, end);
    text.remove_prefix(std::min(end + 1, text.size()));
    if (row.find_first_not_of(" \t\r") == std::string_view::npos) continue;
    Result<Json> value = ParseJson(row);
    if (!value.ok()) return value.error().In(fmt::format("record {}", line));
    values.push_back(std::move(value).value());
  }
  return values;
}

}  // namespace hone
