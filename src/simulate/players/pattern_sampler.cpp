#include "simulate/players/pattern_sampler.h"

#include <algorithm>
#include <vector>

namespace hone {
namespace {

constexpr size_t kOpenRepetitions = 3;  // how often more than it must, what may repeat for ever
constexpr size_t kMostRepetitions = 1000;
constexpr int kDeepestGroup = 50;  // groups inside each other

std::string Digits() { return "0123456789"; }
std::string WordCharacters() {
  std::string set = Digits();
  for (char c = 'a'; c <= 'z'; ++c) set += c;
  for (char c = 'A'; c <= 'Z'; ++c) set += c;
  return set;
}

// Reads the expression and writes a match as it goes. Every part is read once for where it ends
// and, when it is repeated, again for each repetition.
class PatternSampler {
 public:
  PatternSampler(std::string_view pattern, Rng* rng) : pattern_(pattern), rng_(rng) {}

  std::optional<std::string> Whole() {
    std::string out = Alternatives(0);
    if (failed_ || at_ != pattern_.size()) return std::nullopt;
    return out;
  }

 private:
  bool AtEnd() const { return failed_ || at_ >= pattern_.size(); }
  char Peek() const { return pattern_[at_]; }
  std::string Fail() {
    failed_ = true;
    return "";
  }

  std::string Alternatives(int depth) {
    if (depth > kDeepestGroup) return Fail();
    std::vector<std::string> options = {Sequence(depth)};
    while (!AtEnd() && Peek() == '|') {
      ++at_;
      options.push_back(Sequence(depth));
    }
    return options[rng_->Below(options.size())];
  }

  std::string Sequence(int depth) {
    std::string out;
    while (!AtEnd() && Peek() != '|' && Peek() != ')') out += Repeated(depth);
    return out;
  }

  std::string Repeated(int depth) {
    const size_t begin = at_;
    std::string once = Atom(depth);
    const size_t after_atom = at_;
    size_t least = 1, most = 1;
    if (!Quantifier(&least, &most)) return once;
    const size_t end = at_;
    const size_t count = least + rng_->Below(most - least + 1);
    std::string out;
    for (size_t i = 0; i < count && !failed_; ++i) {
      at_ = begin;
      out += Atom(depth);
      if (at_ != after_atom) return Fail();
    }
    at_ = end;
    return out;
  }

  // Whether one follows; it is read.
  bool Quantifier(size_t* least, size_t* most) {
    if (AtEnd()) return false;
    const char c = Peek();
    if (c == '?') {
      *least = 0;
      *most = 1;
    } else if (c == '*' || c == '+') {
      *least = c == '+' ? 1 : 0;
      *most = *least + kOpenRepetitions;
    } else if (c == '{') {
      return Braces(least, most);
    } else {
      return false;
    }
    ++at_;
    if (!AtEnd() && Peek() == '?') ++at_;  // lazy: matches the same texts
    return true;
  }

  bool Braces(size_t* least, size_t* most) {
    ++at_;
    const std::optional<size_t> first = Number();
    if (!first) {
      failed_ = true;
      return false;
    }
    *least = *most = *first;
    if (!AtEnd() && Peek() == ',') {
      ++at_;
      const std::optional<size_t> second = Number();
      *most = second.value_or(*first + kOpenRepetitions);
    }
    if (AtEnd() || Peek() != '}' || *most < *least || *most > kMostRepetitions) {
      failed_ = true;
      return false;
    }
    ++at_;
    return true;
  }

  std::optional<size_t> Number() {
    size_t value = 0;
    const size_t begin = at_;
    while (!AtEnd() && Peek() >= '0' && Peek() <= '9' && value <= kMostRepetitions) {
      value = value * 10 + static_cast<size_t>(pattern_[at_++] - '0');
    }
    if (at_ == begin) return std::nullopt;
    return value;
  }

  std::string OneOf(const std::string& set) {
    if (set.empty()) return Fail();
    return std::string(1, set[rng_->Below(set.size())]);
  }

  std::string Atom(int depth) {
    const char c = pattern_[at_++];
    switch (c) {
      case '^':
      case '$': return "";
      case '.': return OneOf(WordCharacters());
      case '[': return OneOf(Class());
      case '\\': return OneOf(Escape());
      case '(': {
        if (pattern_.substr(at_).starts_with("?:")) {
          at_ += 2;
        } else if (!AtEnd() && Peek() == '?') {
          return Fail();
        }
        std::string out = Alternatives(depth + 1);
        if (AtEnd() || Peek() != ')') return Fail();
        ++at_;
        return out;
      }
      case '*':
      case '+':
      case '?':
      case '{': return Fail();
      default: return std::string(1, c);
    }
  }

  // What comes after a backslash, as a set of characters.
  std::string Escape() {
    if (AtEnd()) return Fail();
    const char c = pattern_[at_++];
    switch (c) {
      case 'd': return Digits();
      case 'w': return WordCharacters() + "_";
      case 's': return " ";
      case 'n': return "\n";
      case 't': return "\t";
      default:
        if (WordCharacters().find(c) != std::string::npos) return Fail();
        return std::string(1, c);
    }
  }

  std::string Class() {
    const bool negated = !AtEnd() && Peek() == '^';
    if (negated) ++at_;
    std::string set;
    bool first = true;
    while (!AtEnd() && (Peek() != ']' || first)) {
      first = false;
      char c = pattern_[at_++];
      if (c == '\\') {
        set += Escape();
        continue;
      }
      const bool range = at_ + 1 < pattern_.size() && Peek() == '-' && pattern_[at_ + 1] != ']';
      if (!range) {
        set += c;
        continue;
      }
      const char last = pattern_[at_ + 1];
      at_ += 2;
      if (last < c || c < ' ' || last == '\\') return Fail();
      for (int code = c; code <= last; ++code) set += static_cast<char>(code);
    }
    if (AtEnd()) return Fail();
    ++at_;
    if (!negated) return set;
    std::string others;
    for (const char c : WordCharacters()) {
      if (set.find(c) == std::string::npos) others += c;
    }
    return others;
  }

  const std::string_view pattern_;
  Rng* const rng_;
  size_t at_ = 0;
  bool failed_ = false;
};

}  // namespace

std::optional<std::string> SamplePattern(std::string_view pattern, Rng* rng) {
  return PatternSampler(pattern, rng).Whole();
}

}  // namespace hone
