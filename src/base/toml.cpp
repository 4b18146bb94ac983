#include "base/toml.h"

#include <algorithm>
#include <charconv>
#include <limits>
#include <optional>

#include <fmt/format.h>

#include "base/strings.h"
#include "base/utf8.h"

namespace hone {
namespace {

constexpr int kDeepestToml = 100;

bool IsBareKeyChar(char c) {
  return IsDigit(c) || (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || c == '_' || c == '-';
}

// A character that may stand nowhere in a document, or nothing.
std::optional<size_t> ControlCharacter(std::string_view text) {
  for (size_t i = 0; i < text.size(); ++i) {
    const auto c = static_cast<uint8_t>(text[i]);
    const bool line_end = c == '\n' || (c == '\r' && i + 1 < text.size() && text[i + 1] == '\n');
    if ((c < 0x20 && c != '\t' && !line_end) || c == 0x7F) return i;
  }
  return std::nullopt;
}

class TomlParser {
 public:
  explicit TomlParser(std::string_view text) : text_(text) {}

  bool Document(TomlValue* root) {
    if (!CheckCharacters()) return false;
    root->origin = TomlValue::Origin::kHeader;
    TomlValue* table = root;
    while (true) {
      SkipBlankLines();
      if (AtEnd()) return true;
      if (Peek() == '[') {
        if (!Header(root, &table)) return false;
      } else if (!KeyValue(table)) {
        return false;
      }
      if (!EndOfLine()) return false;
    }
  }

  bool SingleValue(TomlValue* value) {
    if (!CheckCharacters()) return false;
    SkipSpace();
    if (!Value(value, 0)) return false;
    SkipSpace();
    return AtEnd() || Fail("more text after the value");
  }

  // The line of the current position. Positions only grow, so each line end is counted once.
  int line() {
    for (; counted_ < at_; ++counted_) line_ += text_[counted_] == '\n' ? 1 : 0;
    return line_;
  }
  const std::string& problem() const { return problem_; }

 private:
  using Path = std::vector<std::string>;

  bool Fail(std::string problem) {
    problem_ = std::move(problem);
    return false;
  }

  bool AtEnd() const { return at_ >= text_.size(); }
  char Peek() const { return AtEnd() ? '\0' : text_[at_]; }
  bool Starts(std::string_view word) const { return text_.substr(at_).starts_with(word); }
  bool Take(char c) {
    if (Peek() != c || AtEnd()) return false;
    ++at_;
    return true;
  }

  bool CheckCharacters() {
    if (const size_t valid = Utf8ValidPrefix(text_); valid < text_.size()) {
      at_ = valid;
      return Fail("the text is not UTF-8");
    }
    if (const auto control = ControlCharacter(text_)) {
      at_ = *control;
      return Fail(fmt::format("a control character (0x{:02x})", static_cast<uint8_t>(text_[at_])));
    }
    return true;
  }

  void SkipSpace() {
    while (Peek() == ' ' || Peek() == '\t') ++at_;
  }
  void SkipComment() {
    if (Peek() == '#') at_ = std::min(text_.find('\n', at_), text_.size());
  }
  bool SkipLineEnd() {
    if (Starts("\r\n")) at_ += 1;
    return Take('\n');
  }
  void SkipBlankLines() {
    do {
      SkipSpace();
      SkipComment();
    } while (SkipLineEnd());
  }
  bool EndOfLine() {
    SkipSpace();
    SkipComment();
    return AtEnd() || SkipLineEnd() || Fail("the line goes on after its end; one key per line");
  }

  // --- keys --------------------------------------------------------------------------------------

  bool Key(Path* path) {
    while (true) {
      SkipSpace();
      std::string part;
      if (Peek() == '"' || Peek() == '\'') {
        if (Starts("\"\"\"") || Starts("'''")) return Fail("a key cannot span lines");
        if (!String(&part)) return false;
      } else {
        while (!AtEnd() && IsBareKeyChar(Peek())) part += text_[at_++];
        if (part.empty()) return Fail("a key is missing");
      }
      path->push_back(std::move(part));
      SkipSpace();
      if (!Take('.')) return true;
    }
  }

  static std::string Joined(const Path& path) { return fmt::format("{}", fmt::join(path, ".")); }

  // The table `key` of `table`, made when absent. An array of tables stands for its last element.
  TomlValue* Descend(TomlValue* table, const std::string& key, TomlValue::Origin origin) {
    TomlValue* next = table->Find(key);
    if (next == nullptr) {
      TomlValue made;
      made.line = line();
      made.origin = origin;
      return table->Add(key, std::move(made));
    }
    if (next->kind == TomlValue::Kind::kArray && next->origin == TomlValue::Origin::kHeader) {
      next = &next->elements.back();
    }
    return next->kind == TomlValue::Kind::kTable ? next : nullptr;
  }

  bool Header(TomlValue* root, TomlValue** table) {
    ++at_;
    const bool array = Take('[');
    Path path;
    if (!Key(&path)) return false;
    if (!Take(']') || (array && !Take(']'))) return Fail("a table's header is not closed");
    if (path.size() > kDeepestToml) return Fail("nested too deeply");
    TomlValue* at = root;
    for (size_t i = 0; i + 1 < path.size(); ++i) {
      at = Descend(at, path[i], TomlValue::Origin::kImplicit);
      if (at == nullptr || at->origin == TomlValue::Origin::kInline) return Taken(path);
    }
    return array ? ArrayHeader(at, path, table) : TableHeader(at, path, table);
  }

  bool Taken(const Path& path) {
    return Fail(fmt::format("\"{}\" is defined already", Joined(path)));
  }

  bool TableHeader(TomlValue* parent, const Path& path, TomlValue** table) {
    TomlValue* found = parent->Find(path.back());
    if (found != nullptr &&
        (found->kind != TomlValue::Kind::kTable || found->origin != TomlValue::Origin::kImplicit)) {
      return Taken(path);
    }
    *table = Descend(parent, path.back(), TomlValue::Origin::kHeader);
    (*table)->origin = TomlValue::Origin::kHeader;
    (*table)->line = line();
    return true;
  }

  bool ArrayHeader(TomlValue* parent, const Path& path, TomlValue** table) {
    TomlValue* found = parent->Find(path.back());
    if (found == nullptr) {
      TomlValue made;
      made.kind = TomlValue::Kind::kArray;
      made.origin = TomlValue::Origin::kHeader;
      made.line = line();
      found = parent->Add(path.back(), std::move(made));
    } else if (found->kind != TomlValue::Kind::kArray ||
               found->origin != TomlValue::Origin::kHeader) {
      return Taken(path);
    }
    TomlValue element;
    element.origin = TomlValue::Origin::kHeader;
    element.line = line();
    *table = &found->elements.emplace_back(std::move(element));
    return true;
  }

  bool KeyValue(TomlValue* table, int depth = 0) {
    const int at_line = line();
    Path path;
    if (!Key(&path)) return false;
    if (path.size() > kDeepestToml) return Fail("nested too deeply");
    if (!Take('=')) return Fail("an '=' is missing after the key");
    SkipSpace();
    TomlValue value;
    if (!Value(&value, depth)) return false;
    value.line = at_line;
    for (size_t i = 0; i + 1 < path.size(); ++i) {
      const bool is_new = table->Find(path[i]) == nullptr;
      TomlValue* next = Descend(table, path[i], TomlValue::Origin::kDotted);
      // Only tables that dotted keys made here may be added to.
      if (next == nullptr || (!is_new && next->origin != TomlValue::Origin::kDotted))
        return Taken(path);
      table = next;
    }
    if (table->Find(path.back()) != nullptr) return Taken(path);
    table->Add(path.back(), std::move(value));
    return true;
  }

  // --- values ------------------------------------------------------------------------------------

  bool Value(TomlValue* value, int depth) {
    if (depth > kDeepestToml) return Fail("nested too deeply");
    value->line = line();
    value->kind = TomlValue::Kind::kScalar;
    switch (Peek()) {
      case '"':
      case '\'': {
        std::string text;
        if (!String(&text)) return false;
        value->scalar = std::move(text);
        return true;
      }
      case '[': return Array(value, depth);
      case '{': return InlineTable(value, depth);
      default: return WordOrNumber(value);
    }
  }

  bool Array(TomlValue* value, int depth) {
    ++at_;
    value->kind = TomlValue::Kind::kArray;
    value->origin = TomlValue::Origin::kInline;
    while (true) {
      SkipBlankLines();
      if (Take(']')) return true;
      if (!Value(&value->elements.emplace_back(), depth + 1)) return false;
      SkipBlankLines();
      if (Take(']')) return true;
      if (!Take(',')) return Fail("a ',' or ']' is missing");
    }
  }

  bool InlineTable(TomlValue* value, int depth) {
    ++at_;
    value->kind = TomlValue::Kind::kTable;
    value->origin = TomlValue::Origin::kDotted;  // open to its own dotted keys until it is closed
    SkipSpace();
    if (!Take('}')) {
      while (true) {
        if (!KeyValue(value, depth + 1)) return false;
        SkipSpace();
        if (Take('}')) break;
        if (!Take(',')) return Fail("a ',' or '}' is missing (an inline table stands on one line)");
      }
    }
    Close(value);
    return true;
  }

  static void Close(TomlValue* table) {
    table->origin = TomlValue::Origin::kInline;
    for (auto& [key, member] : table->members) {
      if (member.kind == TomlValue::Kind::kTable) Close(&member);
    }
  }

  bool WordOrNumber(TomlValue* value) {
    const size_t end = std::min(text_.find_first_of(" \t\r\n,]}#", at_), text_.size());
    const std::string_view token = text_.substr(at_, end - at_);
    if (token.empty()) return Fail("a value is missing");
    std::optional<Json> scalar = Meaning(token);
    if (!scalar) {
      const bool date =
          token.size() >= 5 && IsDigit(token[0]) && (token[4] == '-' || token[2] == ':');
      return Fail(date ? "dates and times are not taken; write them as a string"
                       : fmt::format("\"{}\" is not a value (strings stand in quotes)", token));
    }
    value->scalar = std::move(*scalar);
    at_ = end;
    return true;
  }

  static std::optional<Json> Meaning(std::string_view token) {
    if (token == "true") return Json(true);
    if (token == "false") return Json(false);
    std::string_view rest = token;
    const bool negative = rest.starts_with('-');
    if (negative || rest.starts_with('+')) rest.remove_prefix(1);
    const double sign = negative ? -1 : 1;
    if (rest == "inf") return Json(sign * std::numeric_limits<double>::infinity());
    if (rest == "nan") return Json(std::numeric_limits<double>::quiet_NaN());
    if (rest.size() > 2 && rest[0] == '0' && rest.size() == token.size()) {
      const std::string_view bases = "xob";
      constexpr int kBases[] = {16, 8, 2};
      if (const size_t base = bases.find(rest[1]); base != std::string_view::npos) {
        return Integer(rest.substr(2), false, kBases[base]);
      }
    }
    if (rest.find_first_of(".eE") == std::string_view::npos) {
      if (rest.size() > 1 && rest[0] == '0') return std::nullopt;
      return Integer(rest, negative, 10);
    }
    return Real(rest, negative);
  }

  // The digits without their underscores, each of which must stand between two digits.
  static std::optional<std::string> WithoutUnderscores(std::string_view digits) {
    std::string out;
    for (size_t i = 0; i < digits.size(); ++i) {
      if (digits[i] != '_') {
        out += digits[i];
        continue;
      }
      const bool between = i > 0 && i + 1 < digits.size() &&
                           std::isxdigit(static_cast<uint8_t>(digits[i - 1])) &&
                           std::isxdigit(static_cast<uint8_t>(digits[i + 1]));
      if (!between) return std::nullopt;
    }
    return out;
  }

  static std::optional<Json> Integer(std::string_view digits, bool negative, int base) {
    const auto plain = WithoutUnderscores(digits);
    if (!plain || plain->empty() || !std::isxdigit(static_cast<uint8_t>((*plain)[0])))
      return std::nullopt;
    const std::string text = (negative ? "-" : "") + *plain;
    int64_t value = 0;
    const auto [end, status] = std::from_chars(text.data(), text.data() + text.size(), value, base);
    if (status != std::errc() || end != text.data() + text.size()) return std::nullopt;
    return Json(value);
  }

  // Digits, then a fraction with digits on both sides of its point, an exponent, or both.
  static std::optional<Json> Real(std::string_view token, bool negative) {
    const auto plain = WithoutUnderscores(token);
    if (!plain) return std::nullopt;
    size_t at = 0;
    auto digits = [&] {
      const size_t begin = at;
      while (at < plain->size() && IsDigit((*plain)[at])) ++at;
      return at - begin;
    };
    const size_t whole = digits();
    if (whole == 0 || (whole > 1 && (*plain)[0] == '0')) return std::nullopt;
    if (at < plain->size() && (*plain)[at] == '.') {
      ++at;
      if (digits() == 0) return std::nullopt;
    }
    if (at < plain->size() && ((*plain)[at] == 'e' || (*plain)[at] == 'E')) {
      ++at;
      if (at < plain->size() && ((*plain)[at] == '+' || (*plain)[at] == '-')) ++at;
      if (digits() == 0) return std::nullopt;
    }
    if (at != plain->size()) return std::nullopt;
    double value = 0;
    const auto [end, status] = std::from_chars(plain->data(), plain->data() + plain->size(), value);
    if (status != std::errc()) return std::nullopt;  // beyond what a double can hold
    return Json(negative ? -value : value);
  }

  // --- strings -----------------------------------------------------------------------------------

  bool String(std::string* out) {
    const char quote = Peek();
    const std::string triple(3, quote);
    if (Starts(triple)) {
      at_ += 3;
      SkipLineEnd();
      return MultiLineString(quote, out);
    }
    ++at_;
    while (true) {
      if (AtEnd() || Peek() == '\n' || Peek() == '\r') return Fail("a string is not closed");
      if (Take(quote)) return true;
      if (quote == '"' && Peek() == '\\') {
        if (!Escape(out)) return false;
      } else {
        *out += text_[at_++];
      }
    }
  }

  bool MultiLineString(char quote, std::string* out) {
    const std::string triple(3, quote);
    while (true) {
      if (AtEnd()) return Fail("a string is not closed");
      if (Starts(triple)) {
        // Up to two quotes may stand directly before the closing three.
        at_ += 3;
        for (int extra = 0; extra < 2 && Take(quote); ++extra) *out += quote;
        return true;
      }
      if (quote == '"' && Peek() == '\\') {
        if (SkipLineContinuation()) continue;
        if (!Escape(out)) return false;
      } else if (Starts("\r\n")) {
        at_ += 2;
        *out += '\n';
      } else {
        *out += text_[at_++];
      }
    }
  }

  // A backslash at the end of a line takes all white space up to the next character with it.
  bool SkipLineContinuation() {
    size_t next = at_ + 1;
    while (next < text_.size() && (text_[next] == ' ' || text_[next] == '\t')) ++next;
    if (next >= text_.size() || (text_[next] != '\n' && text_[next] != '\r')) return false;
    at_ = std::min(text_.find_first_not_of(" \t\r\n", next), text_.size());
    return true;
  }

  bool Escape(std::string* out) {
    constexpr std::string_view kKinds = "btnfr\"\\", kMeanings = "\b\t\n\f\r\"\\";
    const char kind = at_ + 1 < text_.size() ? text_[at_ + 1] : '\0';
    if (kind == 'u' || kind == 'U') {
      const std::string_view digits = text_.substr(at_ + 2, kind == 'u' ? 4 : 8);
      uint32_t code_point = 0;
      const auto [end, status] =
          std::from_chars(digits.data(), digits.data() + digits.size(), code_point, 16);
      if (digits.size() != (kind == 'u' ? 4u : 8u) || end != digits.data() + digits.size() ||
          status != std::errc() || code_point > 0x10FFFF ||
          (code_point >= 0xD800 && code_point <= 0xDFFF)) {
        return Fail("a \\u escape that is no character");
      }
      AppendUtf8(code_point, out);
      at_ += 2 + digits.size();
      return true;
    }
    const size_t index = kKinds.find(kind);
    if (kind == '\0' || index == std::string_view::npos)
      return Fail("an unknown escape in a string");
    *out += kMeanings[index];
    at_ += 2;
    return true;
  }

  std::string_view text_;
  size_t at_ = 0;
  size_t counted_ = 0;
  int line_ = 1;
  std::string problem_;
};

}  // namespace

TomlValue* TomlValue::Find(std::string_view key) {
  const auto found = index_.find(key);
  return found == index_.end() ? nullptr : &members[found->second].value;
}

TomlValue* TomlValue::Add(std::string key, TomlValue value) {
  index_[key] = members.size();
  return &members.emplace_back(TomlMember{std::move(key), std::move(value)}).value;
}

std::string_view TomlValue::KindName() const {
  switch (kind) {
    case Kind::kTable: return "a table";
    case Kind::kArray: return "an array";
    case Kind::kScalar: return scalar.KindName();
  }
  return "unknown";
}

Result<TomlValue> ParseToml(std::string_view text, std::string_view file_name) {
  TomlParser parser(text);
  TomlValue root;
  if (parser.Document(&root)) return root;
  return Error(ErrorCode::kParse,
               fmt::format("{}:{}: not TOML: {}", file_name, parser.line(), parser.problem()));
}

Result<TomlValue> ParseTomlValue(std::string_view text) {
  TomlParser parser(text);
  TomlValue value;
  if (parser.SingleValue(&value)) return value;
  return Error(ErrorCode::kParse, fmt::format("not a TOML value: {}", parser.problem()));
}

}  // namespace hone
