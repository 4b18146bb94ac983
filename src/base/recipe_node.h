#pragma once

#include <filesystem>
#include <map>
#include <set>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "base/json.h"
#include "base/result.h"
#include "base/toml.h"

// What a recipe says, value by value, with the place of each: the inside of base/recipe.h.

namespace hone::internal {

// A value of a file or of an override, with the place it came from.
struct RecipeNode {
  TomlValue::Kind kind = TomlValue::Kind::kTable;
  Json scalar;
  std::map<std::string, RecipeNode, std::less<>> members;
  std::vector<RecipeNode> elements;
  std::string where;                         // "recipe.toml:12" or "override train.lr=2"
  std::string folder;                        // of the file that says it; empty: no file does
  int order = 0;                             // for sorting problems: file by file, line by line
  std::set<std::string, std::less<>> known;  // keys that were asked for (tables)
  bool passed_over = false;                  // what is in it is somebody else's

  bool Is(TomlValue::Kind other) const { return kind == other; }
  std::string_view KindName() const;
  // The element of an array (of which there may be none) that a key of digits names, from 0.
  RecipeNode* Element(std::string_view key);
  std::string NoElement(std::string_view key) const;  // what is wrong with such a key
};

struct RecipeProblem {
  int order = 0;
  std::string text;  // with its place in front
};

// `where`, if any, goes before the place that file and line give. `depth`: how many files extend
// this one.
RecipeNode NodeOf(TomlValue value, const std::string& file, const std::string* where,
                  int depth = 0);

// The recipe of a file over the one that it extends, if it extends one, over the one that this
// extends, and so on. Tables are merged key by key; everything else that is said again is replaced,
// arrays as a whole. A table over an array changes single elements: [stage.1] over [[stage]]. The
// key `extends` is gone. An error is a file that is not there or not TOML, or one that extends
// itself; elements that are not there go to *problems.
Result<RecipeNode> LoadRecipeNode(const std::filesystem::path& path,
                                  std::vector<RecipeProblem>* problems);

}  // namespace hone::internal
