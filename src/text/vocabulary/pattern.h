#pragma once

#include <memory>
#include <string>
#include <string_view>

#include "base/result.h"

namespace hone {

// A regular expression that cuts text into pieces, as tokenizers do before merging. It is written
// for Oniguruma, as in tokenizer.json, and matched by PCRE2 (oniguruma.h), compiled to machine
// code. Immutable and thread-safe.
class Pattern {
 public:
  // The error quotes the expression and says what is wrong, or what has no counterpart in PCRE2.
  static Result<Pattern> Compile(std::string_view expression);
  // Matches this text literally.
  static Pattern Literal(std::string_view text);

  // The text with every match replaced.
  std::string Replace(std::string_view text, std::string_view content) const;

  const std::string& expression() const { return expression_; }

  // Walks over the matches in a text, left to right. The text must be UTF-8 and outlive the walk.
  class Matches {
   public:
    Matches(const Pattern& pattern, std::string_view text);
    ~Matches();
    Matches(const Matches&) = delete;
    Matches& operator=(const Matches&) = delete;

    // The next match that is not empty; false when there is none, or when finding out would take
    // too long.
    bool Next();
    bool exhausted() const { return exhausted_; }
    size_t begin() const { return begin_; }
    size_t end() const { return end_; }

   private:
    const Pattern& pattern_;
    std::string_view text_;
    void* match_data_;
    size_t begin_ = 0, end_ = 0;
    bool exhausted_ = false;
  };

  // Whether some text could have an empty match, which Oniguruma would count and Matches does not.
  bool CanMatchNothing() const;

  // An error for an expression that takes too long on texts of a hundred characters: those that
  // explode.
  Result<void> TryOut() const;

 private:
  struct Deleter {
    void operator()(void* code) const;
  };
  Pattern() = default;

  std::string expression_;
  std::unique_ptr<void, Deleter> code_;
};

}  // namespace hone
