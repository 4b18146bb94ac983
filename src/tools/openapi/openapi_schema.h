#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "base/json.h"
#include "base/result.h"

namespace hone {

// Looks things up inside one OpenAPI document and writes its schemas out as plain JSON Schema.
class OpenApiSchemas {
 public:
  // `document` must outlive this.
  explicit OpenApiSchemas(const Json& document);

  // The object itself, or what its "$ref" leads to, through any number of them. A reference to
  // another document, to nothing, or in a circle is an error that names it.
  Result<const Json*> Follow(const Json& object) const;

  // The schema without references: each is replaced by what it means. Where a schema contains
  // itself it is cut, and the cut says so in its description. What version 3.0 spells differently
  // from JSON Schema (nullable, a boolean exclusiveMinimum) is translated, numbers and booleans
  // written as texts are read as such, and what only matters to other programs (xml, example,
  // discriminator) is left out. Too large a result is an error.
  Result<Json> WriteOut(const Json& schema) const;

 private:
  struct Writing;
  Result<Json> Write(const Json& schema, Writing* writing) const;
  Result<Json> WriteReference(const Json& schema, const std::string& name, Writing* writing) const;
  Result<const Json*> Target(const std::string& reference) const;

  const Json& document_;
  bool old_;  // version 3.0
};

}  // namespace hone
