// check-schema.

#include "app/passes.h"
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
  HONE_ASSIGN_OR_RETURN(const JsonSchema compiled, JsonSchema::Compile(*schema, draft));
  Json::Array errors;
  for (const JsonSchema::Problem& problem : compiled.Check(*value)) {
    errors.push_back(problem.Text());
  }
  const bool valid = errors.empty();
  return Json::Of({{"valid", valid}, {"errors", std::move(errors)}});
}

}  // namespace

std::vector<Pass> ToolPasses() {
  return {{.name = "check-schema",
           .about =
               "Whether a value fits a JSON Schema, and if not, what to change. Remote documents, "
               "custom vocabularies and dynamic references are refused.",
           .options = {},
           .input_schema = ParseJson(R"({"type": "object", "required": ["schema", "value"],
               "properties": {"schema": {}, "value": {},
                              "draft": {"enum": ["7", "2020-12"], "default": "2020-12"}}})")
                               .value(),
           .output_schema = ParseJson(R"({"type": "object", "required": ["valid", "errors"],
               "properties": {"valid": {"type": "boolean"},
                              "errors": {"type": "array", "items": {"type": "string"}}}})")
                                .value(),
           .example = R"({"schema": {"properties": {"day": {"enum": ["mon", "tue"]}}}, )"
                      R"("value": {"day": "Mondy"}})",
           .open = [](const PassOptions&) -> Result<PassFunction> {
             return PassFunction(&CheckSchema);
           }}};
}

}  // namespace hone
