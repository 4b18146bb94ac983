#include "tools/tool_spec.h"

#include <array>
#include <set>

#include <fmt/format.h>

#include "base/json_fields.h"

namespace hone {
namespace {

constexpr char kOwnKey[] = "x-hone";
constexpr std::array<std::string_view, 4> kEffects = {"pure", "reads", "writes", "irreversible"};

// What Hone adds to a chat API's schema.
void ReadOwn(const Json& own, JsonErrors* errors, ToolSpec* spec) {
  JsonFields fields(own, kOwnKey, errors);
  std::string effect(EffectName(spec->effect));
  Json output;
  fields.Optional("output", &output);
  if (!output.is_null()) spec->output = std::move(output);
  fields.Optional("effect", &effect);
  fields.Optional("resource", &spec->resource);
  fields.Optional("assert_format", &spec->assert_format);
  fields.Optional("computable", &spec->computable);
  fields.Optional("price", &spec->price);
  fields.Optional("typical_latency_ms", &spec->typical_latency_ms);
  if (const std::optional<Effect> known = EffectFromName(effect)) {
    spec->effect = *known;
  } else {
    errors->Add(std::string(kOwnKey) + ".effect",
                fmt::format("\"{}\" is not one of {}", effect, fmt::join(kEffects, ", ")));
  }
}

}  // namespace

std::string_view EffectName(Effect effect) { return kEffects[static_cast<size_t>(effect)]; }

std::optional<Effect> EffectFromName(std::string_view name) {
  for (size_t i = 0; i < kEffects.size(); ++i) {
    if (kEffects[i] == name) return static_cast<Effect>(i);
  }
  return std::nullopt;
}

Json ToolSpec::ToJson() const {
  Json own = Json::Of({{"effect", EffectName(effect)}});
  if (output) own.Set("output", *output);
  if (!resource.empty()) own.Set("resource", resource);
  if (assert_format) own.Set("assert_format", true);
  if (computable) own.Set("computable", true);
  if (price != 0) own.Set("price", price);
  if (typical_latency_ms != 0) own.Set("typical_latency_ms", typical_latency_ms);
  return Json::Of(
      {{"type", "function"},
       {"function",
        Json::Of({{"name", name}, {"description", description}, {"parameters", parameters}})},
       {kOwnKey, std::move(own)}});
}

Result<ToolSpec> ToolSpecFromJson(const Json& json) {
  if (!json.is_object()) {
    return Error(ErrorCode::kInvalidArgument, "the schema of a tool is an object");
  }
  const Json* nested = json.Find("function");
  const Json& function = nested != nullptr && nested->is_object() ? *nested : json;
  ToolSpec spec;
  auto text = [&](const char* key) {
    const Json* value = function.Find(key);
    return value != nullptr && value->is_string() ? value->AsString() : std::string();
  };
  spec.name = text("name");
  if (spec.name.empty()) {
    return Error(ErrorCode::kInvalidArgument, "name: a tool needs one, a text that is not empty");
  }
  spec.description = text("description");
  const Json* parameters = function.Find("parameters");
  if (parameters == nullptr || parameters->is_null()) {
    spec.parameters = Json::Of({{"type", "object"}, {"properties", Json::Of({})}});
  } else if (parameters->is_object()) {
    spec.parameters = *parameters;
  } else {
    return Error(ErrorCode::kInvalidArgument,
                 fmt::format("{}: parameters: wants a JSON Schema, an object", spec.name));
  }
  const Json* own = json.Find(kOwnKey) != nullptr ? json.Find(kOwnKey) : function.Find(kOwnKey);
  if (own != nullptr) {
    JsonErrors errors;
    ReadOwn(*own, &errors, &spec);
    if (Result<void> read = errors.Check(); !read.ok()) return read.error().In(spec.name);
  }
  if (spec.computable && spec.effect != Effect::kPure) {
    return Error(ErrorCode::kInvalidArgument,
                 fmt::format("{}: x-hone.computable: only a pure tool is computable", spec.name));
  }
  if (spec.price < 0 || spec.typical_latency_ms < 0) {
    return Error(ErrorCode::kInvalidArgument,
                 fmt::format("{}: x-hone: price and latency are at least 0", spec.name));
  }
  return spec;
}

Result<std::vector<ToolSpec>> ToolSpecsFromJson(const Json& json) {
  if (!json.is_array()) return Error(ErrorCode::kInvalidArgument, "tools: a list is wanted");
  std::vector<ToolSpec> specs;
  std::set<std::string> names;
  for (size_t i = 0; i < json.AsArray().size(); ++i) {
    Result<ToolSpec> spec = ToolSpecFromJson(json.AsArray()[i]);
    if (!spec.ok()) return spec.error().In(fmt::format("tools[{}]", i));
    if (!names.insert(spec->name).second) {
      return Error(ErrorCode::kInvalidArgument,
                   fmt::format("tools[{}]: there is a tool {} already", i, spec->name));
    }
    specs.push_back(*std::move(spec));
  }
  return specs;
}

Result<ArgumentChecker> ArgumentChecker::For(const ToolSpec& spec) {
  Result<JsonSchema> schema =
      JsonSchema::Compile(spec.parameters, {.assert_format = spec.assert_format});
  if (!schema.ok()) return schema.error().In(spec.name + ".parameters");
  return ArgumentChecker(*std::move(schema));
}

ArgumentChecker::Verdict ArgumentChecker::Check(const Json& arguments) const {
  if (!arguments.is_object()) return {"the arguments must be an object", false};
  Verdict verdict;
  for (const JsonSchema::Problem& problem : schema_.Check(arguments)) {
    verdict.problem += (verdict.problem.empty() ? "" : "\n") + problem.Text();
    verdict.undecided |= problem.undecided;
  }
  return verdict;
}

std::optional<std::string> ArgumentChecker::Problem(const Json& arguments) const {
  Verdict verdict = Check(arguments);
  if (verdict.problem.empty() || verdict.undecided) return std::nullopt;
  return std::move(verdict.problem);
}

}  // namespace hone
