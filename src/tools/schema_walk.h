#pragma once

#include <map>
#include <string>
#include <vector>

#include "base/json.h"
#include "tools/json_schema.h"
#include "tools/regex.h"

namespace hone {

// Checking a value against a compiled schema: the half of JsonSchema that looks at values. What
// compiling found out, by the subschema that says it: where a $ref leads, and its expressions.
using SchemaReferences = std::map<const Json*, const Json*>;
using SchemaPatterns = std::map<const Json*, std::map<std::string, Regex>>;

// All problems of a value, at most 20.
std::vector<JsonSchema::Problem> WalkSchema(const SchemaOptions& options,
                                            const SchemaReferences& references,
                                            const SchemaPatterns& patterns, const Json& schema,
                                            const Json& value);

// What both halves ask: an object, true or false; a whole number, 3.0 among them; a value in a
// message, not too long.
bool IsSchema(const Json& json);
bool IsWhole(const Json& value);
std::string Shown(const Json& value);

}  // namespace hone
