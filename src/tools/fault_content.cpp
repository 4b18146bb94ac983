#include "tools/fault_content.h"

#include <vector>

#include "base/json.h"
#include "base/utf8.h"

namespace hone {
namespace {

// Every value inside (and including) this one.
void Collect(Json* value, std::vector<Json*>* all) {
  all->push_back(value);
  if (value->is_array()) {
    for (Json& item : value->AsArray()) Collect(&item, all);
  } else if (value->is_object()) {
    for (Json::Member& member : value->AsObject()) Collect(&member.second, all);
  }
}

Json OfAnotherType(const Json& value) {
  switch (value.kind()) {
    case Json::Kind::kNull: return Json("null");
    case Json::Kind::kBool: return Json(value.AsBool() ? "yes" : "no");
    case Json::Kind::kString: return Json(Json::Array{value});
    case Json::Kind::kArray: return Json::Of({{"items", value}});
    case Json::Kind::kObject: return Json(Json::Array{value});
    default: return Json(DumpJson(value));  // numbers
  }
}

// new_name -> newName, name -> name_v2: the ways APIs drift.
std::string Renamed(const std::string& name) {
  const size_t underscore = name.find('_', 1);
  if (underscore == std::string::npos || underscore + 1 >= name.size()) return name + "_v2";
  std::string out = name.substr(0, underscore) + name.substr(underscore + 1);
  out[underscore] = static_cast<char>(std::toupper(static_cast<unsigned char>(out[underscore])));
  return out;
}

}  // namespace

std::string Truncated(std::string_view content, Rng rng) {
  if (content.size() < 2) return "";
  size_t size = 1 + rng.Below(content.size() - 1);
  size -= Utf8IncompleteSuffix(content.substr(0, size));
  return std::string(content.substr(0, size));
}

std::string WithWrongType(std::string_view content, Rng rng) {
  Result<Json> parsed = ParseJson(content);
  if (!parsed.ok()) return "null";
  std::vector<Json*> values;
  Collect(&*parsed, &values);
  // Of a structure, something inside it; the rest should look as it always did.
  const size_t first = values.size() > 1 ? 1 : 0;
  Json* value = values[first + rng.Below(values.size() - first)];
  *value = OfAnotherType(*value);
  return DumpJson(*parsed);
}

std::string WithRenamedField(std::string_view content, Rng rng) {
  Result<Json> parsed = ParseJson(content);
  if (!parsed.ok()) return DumpJson(Json::Of({{"result", content}}));
  std::vector<Json*> values;
  Collect(&*parsed, &values);
  std::vector<std::pair<Json*, size_t>> members;
  for (Json* value : values) {
    if (!value->is_object()) continue;
    for (size_t i = 0; i < value->AsObject().size(); ++i) members.emplace_back(value, i);
  }
  if (members.empty()) return DumpJson(Json::Of({{"result", *parsed}}));
  const auto [object, index] = members[rng.Below(members.size())];
  std::string& name = object->AsObject()[index].first;
  std::string renamed = Renamed(name);
  while (object->Find(renamed) != nullptr) renamed += "_v2";
  name = renamed;
  return DumpJson(*parsed);
}

std::string WithInstruction(std::string_view content, std::string_view instruction) {
  Result<Json> parsed = ParseJson(content);
  if (parsed.ok() && parsed->is_object() && parsed->Find("note") == nullptr) {
    parsed->Set("note", instruction);
    return DumpJson(*parsed);
  }
  return std::string(content) + "\n\n" + std::string(instruction);
}

}  // namespace hone
