#pragma once

#include <memory>
#include <string>
#include <vector>

#include "base/json.h"
#include "base/result.h"

namespace hone {

enum class SchemaDraft { kDraft7, kDraft2020 };

// A JSON Schema (drafts 4, 6, 7 or 2020-12), ready to check values. Immutable and thread-safe.
//
// Everything that looks at values is there; formats and contents are annotations, as both drafts
// have it. What needs more than the schema itself is refused when it is compiled, with a sentence
// that says so: remote documents, custom vocabularies, dynamic references.
class JsonSchema {
 public:
  // A schema with "$schema" says its own draft; `draft` is for those without.
  static Result<JsonSchema> Compile(const Json& schema,
                                    SchemaDraft draft = SchemaDraft::kDraft2020);

  // A way in which a value does not fit.
  struct Problem {
    std::string path;     // "day", "items[2].name"; empty: the value itself
    std::string message;  // "expected one of "mon", "tue", got "Mondy""
    // Whether the value fits could not be found out: a pattern of the schema takes too long on it.
    // That is the only problem then, and not the value's.
    bool undecided = false;
    // "`day`: expected ..., got ...": what a model can act on.
    std::string Text() const;
  };
  // All of them, at most 20; none when the value is valid.
  std::vector<Problem> Check(const Json& value) const;

 private:
  struct Document;
  std::shared_ptr<const Document> document_;
};

}  // namespace hone
