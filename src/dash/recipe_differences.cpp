#include "dash/recipe_differences.h"

#include <algorithm>
#include <array>
#include <map>
#include <set>

#include "base/toml.h"

namespace hone {
namespace {

constexpr std::array kOfThePlace = {"run.name",     "run.out",          "run.cache",
                                    "run.resume",   "run.threads",      "answers.journal",
                                    "model.device", "simulator.device", "user.device"};

// Every scalar, and every list of scalars, by its key. `order` keeps the keys as they come.
void FlattenToml(const TomlValue& value, const std::string& key,
                 std::map<std::string, std::string>* flat, std::vector<std::string>* order) {
  const auto below = [&](const std::string& name) { return key.empty() ? name : key + "." + name; };
  if (value.kind == TomlValue::Kind::kTable) {
    for (const TomlMember& member : value.members) {
      FlattenToml(member.value, below(member.key), flat, order);
    }
    return;
  }
  const bool tables =
      value.kind == TomlValue::Kind::kArray &&
      std::any_of(value.elements.begin(), value.elements.end(),
                  [](const TomlValue& element) { return element.kind == TomlValue::Kind::kTable; });
  if (tables) {
    for (size_t i = 0; i < value.elements.size(); ++i) {
      FlattenToml(value.elements[i], below(std::to_string(i)), flat, order);
    }
    return;
  }
  std::string text;
  if (value.kind == TomlValue::Kind::kScalar) {
    text = DumpJson(value.scalar);
  } else {
    Json::Array list;
    for (const TomlValue& element : value.elements) list.push_back(element.scalar);
    text = DumpJson(Json(std::move(list)));
  }
  if (flat->emplace(key, std::move(text)).second) order->push_back(key);
}

}  // namespace

Result<std::vector<RecipeDifference>> DifferencesOf(const std::vector<std::string>& recipes) {
  std::vector<std::map<std::string, std::string>> flat(recipes.size());
  std::vector<std::string> order;
  for (size_t i = 0; i < recipes.size(); ++i) {
    HONE_ASSIGN_OR_RETURN(const TomlValue parsed, ParseToml(recipes[i], "recipe.toml"));
    FlattenToml(parsed, "", &flat[i], &order);
  }
  std::vector<RecipeDifference> differences;
  if (recipes.size() < 2) return differences;
  std::set<std::string> seen;
  for (const std::string& key : order) {
    if (!seen.insert(key).second) continue;
    if (std::find(kOfThePlace.begin(), kOfThePlace.end(), key) != kOfThePlace.end()) continue;
    RecipeDifference difference{.key = key};
    for (const auto& one : flat) {
      const auto found = one.find(key);
      difference.values.push_back(found == one.end() ? "" : found->second);
    }
    const std::vector<std::string>& values = difference.values;
    if (std::equal(values.begin() + 1, values.end(), values.begin())) continue;
    differences.push_back(std::move(difference));
  }
  return differences;
}

Json ToJson(const std::vector<RecipeDifference>& differences) {
  Json::Array list;
  for (const RecipeDifference& difference : differences) {
    list.push_back(
        Json::Of({{"key", difference.key}, {"values", Json::ArrayOf(difference.values)}}));
  }
  return list;
}

}  // namespace hone
