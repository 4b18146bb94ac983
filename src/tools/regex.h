#pragma once

#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"

namespace hone {

// A regular expression as JSON Schema means it (ECMAScript, Unicode), on PCRE2 with bounded effort.
// Immutable and thread-safe.
class Regex {
 public:
  // The error quotes the expression and says where it is wrong.
  static Result<Regex> Compile(std::string_view expression);

  // Whether the expression matches somewhere in the text; nothing where finding out would take too
  // long.
  std::optional<bool> Finds(std::string_view text) const;

  struct Match {
    size_t begin = 0;
    size_t end = 0;  // just behind
  };
  // Every match that is not empty, from left to right, none overlapping. The text must be UTF-8. A
  // text on which the search would take too long is kDeadline.
  Result<std::vector<Match>> FindAll(std::string_view text) const;

 private:
  std::shared_ptr<void> code_;
};

}  // namespace hone
