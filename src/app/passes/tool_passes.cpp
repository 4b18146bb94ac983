// check-schema and check-call.

#include "app/passes/passes.h"
#include "evaluate/suites/bfcl_check.h"
#include "tools/json_schema.h"

namespace hone {
namespace {

Result<SchemaDraft> DraftNamed(const Json* name) {
  if (name == nullptr || *name == Json("2020-12")) return SchemaDraft::kDraft2020;
  if (*name == Json("7")) return SchemaDraft::kDraft7;
  return Error(ErrorCode::kInvalidArgument, "\"draft\" must be \"7\" or \"2020-12\"");
}

Result<Json> CheckSchema(const Json& in) {
  const Json *schema = in.Find("schema"), *value = in.Find("value");
  if (schema == nullptr || value == nullptr) {
    return Error(ErrorCode::kInvalidArgument, "the line needs \"schema\" and \"value\"");
  }
  HONE_ASSIGN_OR_RETURN(const SchemaDraft draft, DraftNamed(in.Find("draft")));
  const Json* formats = in.Find("assert_format");
  if (formats != nullptr && !formats->is_bool()) {
    return Error(ErrorCode::kInvalidArgument, "\"assert_format\" must be true or false");
  }
  const bool asserted = formats != nullptr && formats->AsBool();
  HONE_ASSIGN_OR_RETURN(const JsonSchema compiled,
                        JsonSchema::Compile(*schema, {.draft = draft, .assert_format = asserted}));
  Json::Array errors;
  for (const JsonSchema::Problem& problem : compiled.Check(*value)) {
    errors.push_back(problem.Text());
  }
  const bool valid = errors.empty();
  return Json::Of({{"valid", valid}, {"errors", std::move(errors)}});
}

// The final message of the agentic categories.
Result<BfclVerdict> CheckMessage(const Json& message, const Json* accepted) {
  std::vector<std::string> answers;
  if (accepted == nullptr || !accepted->is_array() || !message.is_string()) {
    return Error(ErrorCode::kInvalidArgument,
                 "a \"message\" is a text, and needs \"accepted\", a list of texts");
  }
  for (const Json& answer : accepted->AsArray()) {
    if (!answer.is_string()) {
      return Error(ErrorCode::kInvalidArgument, "\"accepted\" must be a list of texts");
    }
    answers.push_back(answer.AsString());
  }
  return CheckBfclAnswer(message.AsString(), answers);
}

Result<BfclVerdict> VerdictOf(const Json& in) {
  const Json *category = in.Find("category"), *functions = in.Find("functions"),
             *accepted = in.Find("accepted"), *calls = in.Find("calls"),
             *output = in.Find("output"), *message = in.Find("message");
  if (message != nullptr) return CheckMessage(*message, accepted);
  if (category == nullptr || !category->is_string() || (calls == nullptr) == (output == nullptr)) {
    return Error(ErrorCode::kInvalidArgument,
                 "the line needs \"category\" (a string) and one of \"calls\", \"output\" and "
                 "\"message\"");
  }
  const Json decoded = output != nullptr ? DecodeBfclOutput(*output) : *calls;
  const std::string& name = category->AsString();
  if (name.find("relevance") != std::string::npos) {
    return CheckBfclRelevance(name.find("irrelevance") == std::string::npos, decoded);
  }
  if (functions == nullptr || accepted == nullptr) {
    return Error(ErrorCode::kInvalidArgument, "the line needs \"functions\" and \"accepted\"");
  }
  const Json* dots = in.Find("dots_as_underscores");
  return CheckBfclCalls(name, *functions, *accepted, decoded,
                        dots != nullptr && *dots == Json(true));
}

Result<Json> CheckCall(const Json& in) {
  HONE_ASSIGN_OR_RETURN(const BfclVerdict verdict, VerdictOf(in));
  return Json::Of({{"valid", verdict.valid},
                   {"error_type", verdict.valid ? Json() : Json(verdict.error_type)}});
}

Pass CheckCallPass() {
  return {
      .name = "check-call",
      .about =
          "Check an output by the rules of the Berkeley Function-Calling Leaderboard. It checks "
          "calls of single turns (Python, Java and JavaScript categories), relevance and "
          "irrelevance, and the final messages of the agentic categories.",
      .options = {},
      .input_schema = ParseJson(R"({"type": "object", "properties": {
              "category": {"type": "string"}, "functions": {"type": "array"},
              "accepted": {"type": "array"},
              "calls": {"description": "[{\"name\": {arguments}}]; null: could not be read"},
              "output": {"description": "instead of calls: what the model wrote, text with calls in Python or [{\"name\": \"JSON text\"}]"},
              "message": {"description": "instead of both: a final message", "type": "string"},
              "dots_as_underscores": {"type": "boolean", "default": false}}})")
                          .value(),
      .output_schema = ParseJson(R"({"type": "object", "required": ["valid", "error_type"],
              "properties": {"valid": {"type": "boolean"}, "error_type": {"type": ["string", "null"]}}})")
                           .value(),
      .example = R"({"category": "simple_python", "functions": [{"name": "f", "parameters": )"
                 R"({"type": "dict", "properties": {"x": {"type": "integer"}}, )"
                 R"("required": ["x"]}}], "accepted": [{"f": {"x": [1]}}], )"
                 R"("calls": [{"f": {"x": "1"}}]})",
      .open = [](const PassOptions&) -> Result<PassFunction> { return PassFunction(&CheckCall); }};
}

Pass CheckSchemaPass() {
  return {.name = "check-schema",
          .about =
              "Check whether a value fits a JSON Schema, and say what to change. Remote documents, "
              "custom vocabularies and dynamic references are refused.",
          .options = {},
          .input_schema = ParseJson(R"({"type": "object", "required": ["schema", "value"],
               "properties": {"schema": {}, "value": {},
                              "draft": {"enum": ["7", "2020-12"], "default": "2020-12"},
                              "assert_format": {"type": "boolean", "default": false}}})")
                              .value(),
          .output_schema = ParseJson(R"({"type": "object", "required": ["valid", "errors"],
               "properties": {"valid": {"type": "boolean"},
                              "errors": {"type": "array", "items": {"type": "string"}}}})")
                               .value(),
          .example = R"({"schema": {"properties": {"day": {"enum": ["mon", "tue"]}}}, )"
                     R"("value": {"day": "Mondy"}})",
          .open = [](const PassOptions&) -> Result<PassFunction> {
            return PassFunction(&CheckSchema);
          }};
}

}  // namespace

std::vector<Pass> ToolPasses() { return {CheckSchemaPass(), CheckCallPass()}; }

}  // namespace hone
