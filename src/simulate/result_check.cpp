#include "simulate/result_check.h"

#include "tools/json_schema.h"

namespace hone {

struct AnswerChecker::Schema {
  std::optional<JsonSchema> compiled;
  std::string problem;  // why it is not
};

Json ValueOf(const std::string& content) {
  Result<Json> parsed = ParseJson(content);
  return parsed.ok() ? *std::move(parsed) : Json(content);
}

std::optional<std::string> AnswerChecker::Problem(const ToolSpec& spec,
                                                  const std::string& content) {
  if (!spec.output) return std::nullopt;
  std::shared_ptr<const Schema> schema;
  {
    MutexLock lock(mutex_);
    std::shared_ptr<const Schema>& known = schemas_[spec.name];
    if (known == nullptr) {
      auto fresh = std::make_shared<Schema>();
      Result<JsonSchema> compiled =
          JsonSchema::Compile(*spec.output, {.assert_format = spec.assert_format});
      if (compiled.ok()) {
        fresh->compiled = *std::move(compiled);
      } else {
        fresh->problem = "the output schema cannot be checked: " + compiled.error().message();
      }
      known = std::move(fresh);
    }
    schema = known;
  }
  if (!schema->compiled) return schema->problem;
  std::string text;
  const Json value = ValueOf(content);
  std::vector<JsonSchema::Problem> problems = schema->compiled->Check(value);
  // A text that happens to look like JSON, such as a number, is a text as well.
  if (!problems.empty() && !value.is_string() && schema->compiled->Check(Json(content)).empty()) {
    return std::nullopt;
  }
  if (problems.empty()) return std::nullopt;
  for (const JsonSchema::Problem& problem : problems) {
    text += (text.empty() ? "" : "\n") + problem.Text();
  }
  return text;
}

}  // namespace hone
