#include "text/vocabulary/oniguruma.h"

#include <cctype>
#include <utility>
#include <vector>

#include <fmt/format.h>

#include "base/utf8.h"
#include "text/vocabulary/oniguruma_names.h"

namespace hone {
namespace {

// One character out of a set, or of those outside of it.
struct CharacterSet {
  std::string members;                // as PCRE2 spells them between brackets
  std::vector<std::string> elements;  // further patterns that match one character each
  bool negated = false;

  // A pattern of PCRE2 that matches one character of the set.
  std::string Atom() const {
    const std::string simple = members.empty() ? "" : "[" + members + "]";
    if (elements.empty()) {
      if (members.empty()) return negated ? "(?s:.)" : "(?!)";
      return negated ? "[^" + members + "]" : simple;
    }
    std::string either = fmt::format("{}", fmt::join(elements, "|"));
    if (!simple.empty()) either = simple + "|" + either;
    return negated ? fmt::format("(?:(?!{})(?s:.))", either) : fmt::format("(?:{})", either);
  }
};

// Reads a pattern by descent and writes it again. Depth is limited: patterns come from files.
class Translator {
 public:
  explicit Translator(std::string_view pattern) : pattern_(pattern) {}

  Result<std::string> Run() {
    HONE_ASSIGN_OR_RETURN(std::string out, Alternatives(0));
    if (at_ < pattern_.size()) return Wrong("a ')' without its '('");
    return out;
  }

 private:
  static constexpr int kDeepest = 100;

  bool AtEnd() const { return at_ >= pattern_.size(); }
  char Peek(size_t ahead = 0) const {
    return at_ + ahead < pattern_.size() ? pattern_[at_ + ahead] : '\0';
  }
  bool Take(std::string_view text) {
    if (pattern_.substr(at_, text.size()) != text) return false;
    at_ += text.size();
    return true;
  }
  Error Wrong(std::string_view what) const {
    return Error(ErrorCode::kParse, fmt::format("the pattern {} has {}", pattern_, what));
  }
  Error Unknown(std::string_view what) const {
    return Error(ErrorCode::kUnsupported, fmt::format("the pattern {} has {}", pattern_, what));
  }

  // A character as it stands, written so that it means itself.
  std::string Literal() {
    const size_t begin = at_;
    const uint32_t c = NextCodePoint(pattern_, &at_);
    const bool plain = c >= 0x80 || (c >= '0' && c <= '9') || (c >= 'A' && c <= 'Z') ||
                       (c >= 'a' && c <= 'z') || c <= ' ';
    return (plain ? "" : "\\") + std::string(pattern_.substr(begin, at_ - begin));
  }

  Result<std::string> Alternatives(int depth) {
    if (depth > kDeepest) return Unknown("too many groups in each other");
    std::string out;
    while (!AtEnd() && Peek() != ')') {
      if (Take("|")) {
        out += '|';
        continue;
      }
      HONE_ASSIGN_OR_RETURN(std::string atom, Atom(depth));
      HONE_ASSIGN_OR_RETURN(atom, Repeated(std::move(atom)));
      out += atom;
    }
    return out;
  }

  Result<std::string> Atom(int depth) {
    switch (Peek()) {
      case '(': return Group(depth);
      case '[': {
        ++at_;
        HONE_ASSIGN_OR_RETURN(const CharacterSet set, Set(depth + 1));
        return set.Atom();
      }
      case '\\': return Escape();
      case '.':
      case '^':
      case '$': return std::string(1, pattern_[at_++]);
      case '*':
      case '+':
      case '?': return Wrong("a repetition of nothing");
      default: return Literal();
    }
  }

  Result<std::string> Group(int depth) {
    for (const std::string_view kind : {"(?:", "(?=", "(?!", "(?<=", "(?<!", "(?>", "(?i:"}) {
      if (Take(kind)) return Closed(std::string(kind), depth);
    }
    if (Take("(?m:")) return Closed("(?s:", depth);  // Oniguruma's m lets the dot match newlines
    // Further in, the two disagree about alternatives that follow.
    if (at_ == 0 && Take("(?i)")) return std::string("(?i)");
    if (Take("(?")) return Unknown(fmt::format("a group \"(?{}\"", Peek()));
    Take("(");
    return Closed("(?:", depth);
  }

  Result<std::string> Closed(std::string open, int depth) {
    HONE_ASSIGN_OR_RETURN(const std::string inside, Alternatives(depth + 1));
    if (!Take(")")) return Wrong("a '(' without its ')'");
    return open + inside + ")";
  }

  // An atom with all that stands behind it. A repetition of a repetition gets a group of its own.
  Result<std::string> Repeated(std::string atom) {
    for (int repeated = 0;; ++repeated) {
      HONE_ASSIGN_OR_RETURN(const std::string how, Repetition());
      if (how.empty()) return atom;
      if (repeated > kDeepest) return Unknown("too many repetitions of each other");
      atom = (repeated > 0 ? "(?:" + atom + ")" : atom) + how;
    }
  }

  // "", or a quantifier with its suffix.
  Result<std::string> Repetition() {
    if (Peek() == '{') return Interval();
    const char c = Peek();
    if (c != '*' && c != '+' && c != '?') return std::string();
    std::string how(1, pattern_[at_++]);
    if (Peek() == '?' || Peek() == '+') how += pattern_[at_++];
    return how;
  }

  // {2}, {2,}, {,3}, {2,3}. A '+' behind it repeats it and does not make it possessive; a '?'
  // behind {2} makes it optional. What is no interval is text.
  Result<std::string> Interval() {
    const size_t begin = at_++;
    const auto number = [&] {
      std::string digits;
      while (Peek() >= '0' && Peek() <= '9') digits += pattern_[at_++];
      return digits;
    };
    std::string low = number(), high = low;
    const bool range = Take(",");
    if (range) high = number();
    if (!Take("}") || (low.empty() && high.empty())) {
      at_ = begin;
      return std::string();
    }
    if (low.size() > 4 || high.size() > 4) return Unknown("an interval of too many repetitions");
    if (low.empty()) low = "0";
    if (!high.empty() && std::stoi(high) < std::stoi(low)) {
      return Unknown("an interval that ends before it begins");
    }
    std::string how = range ? fmt::format("{{{},{}}}", low, high) : fmt::format("{{{}}}", low);
    if (range && Take("?")) how += '?';
    return how;
  }

  Result<std::string> Escape() {
    if (at_ + 1 >= pattern_.size()) return Wrong("a backslash at its end");
    const char c = Peek(1);
    if (std::string_view("AzZNR").find(c) != std::string_view::npos) {
      at_ += 2;
      return std::string("\\") + c;
    }
    if (c == 'O') return at_ += 2, std::string("(?s:.)");
    if (c == 'b' || c == 'B') {
      at_ += 2;
      const std::string word = fmt::format("[{}]", kOnigurumaLoneWord);
      if (c == 'b') return fmt::format("(?:(?<={0})(?!{0})|(?<!{0})(?={0}))", word);
      return fmt::format("(?:(?<={0})(?={0})|(?<!{0})(?!{0}))", word);
    }
    if (Take("\\w")) return fmt::format("[{}]", kOnigurumaLoneWord);
    if (Take("\\W")) return fmt::format("[^{}]", kOnigurumaLoneWord);
    CharacterSet set;
    bool is_character = false;
    HONE_ASSIGN_OR_RETURN(std::string member, Member(&set, &is_character));
    if (is_character) return member;
    return set.Atom();
  }

  // One escape or character of a set. Classes go into the set; a character is returned, so that
  // it can begin a range.
  Result<std::string> Member(CharacterSet* set, bool* is_character) {
    *is_character = false;
    if (Peek() != '\\') {
      *is_character = true;
      return Literal();
    }
    const char c = Peek(1);
    const auto negated = [&](std::string_view members) {
      set->elements.push_back(fmt::format("[^{}]", members));
    };
    at_ += 2;
    switch (c) {
      case 's': set->members += kOnigurumaSpace; return std::string();
      case 'w': set->members += kOnigurumaWord; return std::string();
      case 'd': set->members += "\\p{Nd}"; return std::string();
      case 'h': set->members += "0-9A-Fa-f"; return std::string();
      case 'D': set->members += "\\P{Nd}"; return std::string();
      case 'S': negated(kOnigurumaSpace); return std::string();
      case 'W': negated(kOnigurumaWord); return std::string();
      case 'H': negated("0-9A-Fa-f"); return std::string();
      case 'p':
      case 'P': return Property(c == 'P', set);
      default: at_ -= 2; break;
    }
    *is_character = true;
    return EscapedCharacter();
  }

  Result<std::string> EscapedCharacter() {
    if (at_ + 1 >= pattern_.size()) return Wrong("a backslash at its end");
    const char c = Peek(1);
    at_ += 2;
    if (std::string_view("tnrfae").find(c) != std::string_view::npos) {
      return std::string("\\") + c;
    }
    if (c == 'x') {
      const bool braces = Take("{");
      std::string digits;
      while (std::isxdigit(static_cast<unsigned char>(Peek())) != 0 &&
             digits.size() < (braces ? 8 : 2)) {
        digits += pattern_[at_++];
      }
      if (digits.empty() || (braces && !Take("}"))) return Wrong("a wrong \\x");
      return fmt::format("\\x{{{}}}", digits);
    }
    if (std::isalnum(static_cast<unsigned char>(c)) != 0) {
      return Unknown(fmt::format("the escape \\{}", c));
    }
    --at_;
    return Literal();
  }

  // Behind "\p" or "\P".
  Result<std::string> Property(bool negated, CharacterSet* set) {
    if (!Take("{")) return Unknown("a \\p without its name in braces");
    if (Take("^")) negated = !negated;
    const size_t end = pattern_.find('}', at_);
    if (end == std::string_view::npos) return Wrong("a \\p{ without its end");
    const std::string_view name = pattern_.substr(at_, end - at_);
    at_ = end + 1;
    const std::string members = OnigurumaProperty(name);
    if (members.empty()) return Unknown(fmt::format("the property \\p{{{}}}", name));
    if (!negated) {
      set->members += members;
    } else {
      set->elements.push_back(fmt::format("[^{}]", members));
    }
    return std::string();
  }

  // Behind '['.
  Result<CharacterSet> Set(int depth) {
    if (depth > kDeepest) return Unknown("too many classes in each other");
    const bool negated = Take("^");
    std::vector<CharacterSet> parts;  // what "&&" stands between
    parts.emplace_back();
    for (bool first = true;; first = false) {
      if (AtEnd()) return Wrong("a '[' without its ']'");
      if (Peek() == ']' && !first) break;
      if (Take("&&")) {
        parts.emplace_back();
        continue;
      }
      HONE_RETURN_IF_ERROR(AddToSet(depth, &parts.back()));
    }
    ++at_;
    CharacterSet whole;
    if (parts.size() == 1) {
      whole = std::move(parts[0]);
    } else {
      std::string all = "(?:";
      for (size_t i = 0; i + 1 < parts.size(); ++i) all += "(?=" + parts[i].Atom() + ")";
      whole.elements.push_back(all + parts.back().Atom() + ")");
    }
    whole.negated = negated;
    return whole;
  }

  Result<void> AddToSet(int depth, CharacterSet* set) {
    if (pattern_.substr(at_, 2) == "[:") {
      if (const size_t end = pattern_.find(":]", at_); end != std::string_view::npos) {
        std::string_view name = pattern_.substr(at_ + 2, end - at_ - 2);
        const bool negated = name.starts_with('^');
        if (negated) name.remove_prefix(1);
        const std::string members = OnigurumaProperty(name);
        if (members.empty()) return Unknown(fmt::format("the class [:{}:]", name));
        at_ = end + 2;
        if (negated) {
          set->elements.push_back(fmt::format("[^{}]", members));
        } else {
          set->members += members;
        }
        return {};
      }
    }
    if (Take("[")) {
      HONE_ASSIGN_OR_RETURN(CharacterSet inner, Set(depth + 1));
      if (inner.elements.empty() && !inner.negated) {
        set->members += inner.members;
      } else {
        set->elements.push_back(inner.Atom());
      }
      return {};
    }
    bool is_character = false;
    HONE_ASSIGN_OR_RETURN(const std::string low, Member(set, &is_character));
    if (!is_character) return {};
    if (Peek() != '-' || Peek(1) == ']' || Peek(1) == '\0' || Peek(1) == '[') {
      set->members += low;
      return {};
    }
    ++at_;
    HONE_ASSIGN_OR_RETURN(const std::string high, Member(set, &is_character));
    set->members += is_character ? low + "-" + high : low + "\\-";
    return {};
  }

  std::string_view pattern_;
  size_t at_ = 0;
};

}  // namespace

Result<std::string> OnigurumaToPcre2(std::string_view pattern) {
  if (!IsUtf8(pattern)) return Error(ErrorCode::kParse, "a split pattern that is not UTF-8");
  return Translator(pattern).Run();
}

}  // namespace hone
