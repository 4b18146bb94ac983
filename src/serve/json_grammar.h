#pragma once

#include "base/json.h"
#include "base/result.h"
#include "text/grammar/grammar.h"

namespace hone {

// What becomes of what a schema says and a grammar cannot (`pattern`, `minimum`, `oneOf`, ...).
enum class SchemaForm {
  kStrict,  // it is an error that names it
  kLoose,   // it is passed over: the form is right, the value may be refused by whoever gets it
};

// Texts of JSON values that fit a JSON schema: type (one or several), properties, required,
// additionalProperties, items, minItems, maxItems, minLength, maxLength, enum, const, anyOf and
// $ref within the schema. Members come in the order of the properties. At most one blank stands
// behind a comma and a colon, and none elsewhere. Numbers have at most 18 digits before the point.
Result<Grammar::Rule> JsonTexts(const Json& schema, SchemaForm form, Grammar* grammar);

// Texts of any JSON object.
Grammar::Rule JsonObjectTexts(Grammar* grammar);

}  // namespace hone
