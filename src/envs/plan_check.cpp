#include "envs/plan_check.h"

#include <algorithm>

#include <fmt/format.h>

#include "base/nearest.h"

namespace hone {
namespace {

bool HasReference(const Json& form) { return DumpJson(form).find("${") != std::string::npos; }

std::string_view TypeOf(const Json& schema) {
  const Json* type = schema.Find("type");
  return type != nullptr && type->is_string() ? std::string_view(type->AsString()) : "";
}

bool IsNumber(std::string_view text) {
  return !text.empty() &&
         std::all_of(text.begin(), text.end(), [](char c) { return c >= '0' && c <= '9'; });
}

// Where a path leads in a schema: to another schema, to nobody knows where (null), or nowhere, and
// then *problem says why.
const Json* Follow(const Json* schema, const std::vector<std::string>& path, std::string* problem) {
  for (const std::string& part : path) {
    const std::string_view type = TypeOf(*schema);
    const Json* properties = schema->Find("properties");
    const Json* items = schema->Find("items");
    const Json* others = schema->Find("additionalProperties");
    if (type == "array" || (type.empty() && items != nullptr)) {
      if (!IsNumber(part)) {
        *problem = fmt::format("is a list, which has places (0, 1, ...) and no \"{}\"", part);
        return nullptr;
      }
      schema = items != nullptr && items->is_object() ? items : nullptr;
    } else if (type == "object" || (type.empty() && properties != nullptr)) {
      if (properties == nullptr || !properties->is_object()) return nullptr;
      const Json* member = properties->Find(part);
      const bool open = others != nullptr && !(*others == Json(false));
      if (member == nullptr && !open) {
        std::vector<std::string> names;
        for (const auto& [name, unused] : properties->AsObject()) names.push_back(name);
        *problem = fmt::format("has no \"{}\"{}", part, DidYouMean(part, names));
        return nullptr;
      }
      schema = member;
    } else if (type == "string" || type == "number" || type == "integer" || type == "boolean") {
      *problem = fmt::format("is a {} and has no \"{}\"", type, part);
      return nullptr;
    } else {
      return nullptr;
    }
    if (schema == nullptr || !schema->is_object()) return nullptr;
  }
  return schema;
}

bool TypesAgree(std::string_view from, std::string_view to) {
  return from.empty() || to.empty() || from == to || (from == "integer" && to == "number");
}

// The schema of the argument that a reference stands for as a whole; null: it does not.
const Json* ArgumentSchema(const Plan& plan, const PlanReference& reference, const FindSpec& find) {
  if (!reference.whole) return nullptr;
  for (size_t i = 0; i < plan.calls.size(); ++i) {
    const std::string prefix = fmt::format("calls[{}].arguments.", i);
    if (!reference.where.starts_with(prefix)) continue;
    const ToolSpec* spec = find(plan.calls[i].name);
    const Json* properties = spec == nullptr ? nullptr : spec->parameters.Find("properties");
    return properties == nullptr ? nullptr
                                 : properties->Find(reference.where.substr(prefix.size()));
  }
  return nullptr;
}

// The tool's checker with nothing asked of the arguments that are not known yet.
std::optional<std::string> ArgumentProblem(const ToolSpec& spec, const Json& arguments) {
  ToolSpec relaxed = spec;
  const Json* properties = spec.parameters.Find("properties");
  if (properties != nullptr && properties->is_object()) {
    Json::Object wanted;
    for (const auto& [name, schema] : properties->AsObject()) {
      const Json* value = arguments.Find(name);
      const bool unknown = value != nullptr && HasReference(*value);
      wanted.emplace_back(name, unknown ? Json(Json::Object()) : schema);
    }
    relaxed.parameters.Set("properties", Json(std::move(wanted)));
  }
  const Result<ArgumentChecker> checker = ArgumentChecker::For(relaxed);
  return checker.ok() ? checker->Problem(arguments) : std::nullopt;
}

}  // namespace

std::vector<std::string> PlanProblems(const Plan& plan, const FindSpec& find) {
  std::vector<std::string> problems;
  for (size_t i = 0; i < plan.calls.size(); ++i) {
    const ToolSpec* spec = find(plan.calls[i].name);
    if (spec == nullptr) continue;
    if (const auto problem = ArgumentProblem(*spec, plan.calls[i].arguments)) {
      problems.push_back(fmt::format("calls[{}]: {}", i, *problem));
    }
  }
  for (const PlanReference& reference : ReferencesIn(plan)) {
    const std::string& tool = plan.calls[reference.call].name;
    const ToolSpec* spec = find(tool);
    if (spec == nullptr || !spec->output || !spec->output->is_object()) continue;
    std::string problem;
    const Json* there = Follow(&*spec->output, reference.path, &problem);
    if (!problem.empty()) {
      problems.push_back(fmt::format("{}: {} leads nowhere: what {} returns {}", reference.where,
                                     reference.text, tool, problem));
      continue;
    }
    const Json* wanted = ArgumentSchema(plan, reference, find);
    if (there != nullptr && wanted != nullptr && !TypesAgree(TypeOf(*there), TypeOf(*wanted))) {
      problems.push_back(fmt::format("{}: wants type {}, and {} is of type {}", reference.where,
                                     TypeOf(*wanted), reference.text, TypeOf(*there)));
    }
  }
  return problems;
}

}  // namespace hone
