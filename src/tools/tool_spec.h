#pragma once

#include <optional>
#include <string>
#include <vector>

#include "base/json.h"
#include "base/result.h"
#include "tools/json_schema.h"

namespace hone {

// What a call does to the world outside: what may be repeated, retried and simulated follows from
// it.
enum class Effect {
  kPure,          // nothing, and the answer depends on the arguments alone
  kReads,         // nothing, but the answer depends on the world
  kWrites,        // changes something that can be changed back
  kIrreversible,  // changes something for good: never retried, may need a person's consent
};
std::string_view EffectName(Effect effect);
std::optional<Effect> EffectFromName(std::string_view name);

// A tool as the agent is told of it, and as the rest of Hone needs to know it.
struct ToolSpec {
  std::string name;
  std::string description;
  Json parameters;                 // JSON Schema of the arguments, an object
  std::optional<Json> output;      // JSON Schema of what it returns
  Effect effect = Effect::kReads;  // what nothing is said of may depend on the world
  std::string resource;            // what it reads or writes; empty: the world as a whole
  // Texts in arguments and results must have the `format` that the schemas name.
  bool assert_format = false;
  bool computable = false;  // pure and exact: its answer can be computed without it
  double price = 0;         // per call
  int64_t typical_latency_ms = 0;

  // The schema of a chat API, nested under "function" as OpenAI has it, with all of the above that
  // such schemas have no place for under "x-hone".
  Json ToJson() const;
};

// From {"type": "function", "function": {...}} or the flat {"name", "description", "parameters"};
// Hone's own keys stand under "x-hone" of either. The error names the key.
Result<ToolSpec> ToolSpecFromJson(const Json& json);

// A list of them; names must differ.
Result<std::vector<ToolSpec>> ToolSpecsFromJson(const Json& json);

// Checks the arguments of calls. Immutable and thread-safe.
class ArgumentChecker {
 public:
  static Result<ArgumentChecker> For(const ToolSpec& spec);

  // What is wrong, one line per problem, which a model can act on.
  struct Verdict {
    std::string problem;     // empty: the arguments fit
    bool undecided = false;  // it is the schema, not the arguments: see JsonSchema::Problem
  };
  Verdict Check(const Json& arguments) const;
  // What the agent is to blame for; nothing when the arguments fit, or when nobody can tell.
  std::optional<std::string> Problem(const Json& arguments) const;

 private:
  explicit ArgumentChecker(JsonSchema schema) : schema_(std::move(schema)) {}

  JsonSchema schema_;
};

}  // namespace hone
