#pragma once

#include <functional>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "base/json.h"
#include "base/recipe.h"
#include "base/result.h"
#include "tools/regex.h"

namespace hone {

// What counts as a secret (docs/formats/journal.md, "Secrets").
struct RedactionOptions {
  struct Expression {
    std::string name;
    std::string pattern;
  };
  // Values under these keys of objects; case, '-', '_', '.' and ' ' make no difference.
  std::vector<std::string> keys;
  // Variables of the environment whose values are secrets.
  std::vector<std::string> environment;
  std::vector<Expression> expressions;

  // Common names of keys, and the shapes of common tokens.
  static RedactionOptions Default();
};

// From a recipe's table: `defaults` (true), `keys`, `environment` (lists, added to the defaults)
// and [[expressions]] with `name` and `pattern`. A bad expression is a problem of the recipe.
RedactionOptions ReadRedactionOptions(RecipeTable table);

// Takes secrets out of what is written down and shown. A pure function of its input: the same text
// gives the same text. Immutable and thread-safe.
//
// A secret becomes "[redacted:RULE]", where RULE is the key, "env:NAME" or the name of the
// expression. A text on which an expression takes too long is replaced as a whole.
class Redactor {
 public:
  using Environment = std::function<std::optional<std::string>(const std::string& name)>;

  // Reads the variables once. One that is not set is nothing to take out; one whose value is
  // shorter than four bytes cannot be told from ordinary text and is an error.
  static Result<Redactor> Create(const RedactionOptions& options, const Environment& environment);
  // With the environment of this process.
  static Result<Redactor> Create(const RedactionOptions& options);

  Json Arguments(Json arguments) const;
  // Text that is JSON is looked at as such, and keeps its bytes when there is nothing to take out.
  // Bytes that are not UTF-8 become U+FFFD.
  std::string Content(std::string content) const;

 private:
  // The rule of a key that stands for a secret.
  std::optional<std::string> KeyRule(std::string_view key) const;
  Json Value(Json value, int depth) const;
  std::string String(std::string text, int depth) const;
  std::string PlainText(std::string text) const;
  std::string NamedValues(const std::string& text) const;

  std::map<std::string, std::string, std::less<>> keys_;     // reduced spelling to rule
  std::vector<std::pair<std::string, std::string>> values_;  // secret and rule, longest first
  std::vector<std::pair<Regex, std::string>> expressions_;   // and rule
};

}  // namespace hone
