#include "tools/builtin/builtin.h"

#include <cmath>

#include "base/check.h"

namespace hone {

std::vector<ToolSpec> BuiltinSpecs(std::string_view json) {
  const Result<Json> list = ParseJson(json);
  CHECK(list.ok(), list.ok() ? "" : list.error().message());
  Result<std::vector<ToolSpec>> specs = ToolSpecsFromJson(*list);
  CHECK(specs.ok(), specs.ok() ? "" : specs.error().message());
  return *std::move(specs);
}

std::string TextArgument(const Json& arguments, std::string_view key) {
  const Json* value = arguments.Find(key);
  return value != nullptr && value->is_string() ? value->AsString() : std::string();
}

int64_t IntegerArgument(const Json& arguments, std::string_view key, int64_t fallback) {
  const Json* value = arguments.Find(key);
  if (value == nullptr) return fallback;
  if (value->is_integer()) return value->AsInteger();
  // To JSON Schema, 5.0 is an integer too.
  if (!value->is_number()) return fallback;
  const double real = value->AsDouble();
  return real == std::floor(real) && std::abs(real) < 1e15 ? static_cast<int64_t>(real) : fallback;
}

}  // namespace hone
