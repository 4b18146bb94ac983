#pragma once

#include <memory>
#include <string>
#include <vector>

#include "base/json.h"
#include "base/result.h"

namespace hone {

enum class SchemaDraft { kDraft7, kDraft2020 };

struct SchemaOptions {
  SchemaDraft draft = SchemaDraft::kDraft2020;  // of schemas without "$schema"
  // Texts must have the `format` that their schema names, where it is one that can be told
  // (tools/formats/formats.h). False: formats are annotations, as both drafts have it.
  bool assert_format = false;
};

// A JSON Schema (drafts 4, 6, 7 or 2020-12), ready to check values. Immutable and thread-safe.
//
// Everything that looks at values is there; contents are annotations, and formats unless they are
// asserted. What needs more than the schema itself is refused when it is compiled, with a sentence
// that says so: remote documents, custom vocabularies, dynamic references.
class JsonSchema {
 public:
  // A schema with "$schema" says its own draft.
  static Result<JsonSchema> Compile(const Json& schema, const SchemaOptions& options);
  static Result<JsonSchema> Compile(const Json& schema) { return Compile(schema, SchemaOptions()); }

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
