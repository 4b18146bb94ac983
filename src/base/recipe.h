#pragma once

#include <filesystem>
#include <limits>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/json.h"
#include "base/result.h"

namespace hone {

// Recipes: TOML files read into plain structs.
//
//   struct TrainOptions {
//     double learning_rate = 1e-5;  // of AdamW
//     int64_t steps = 100;
//   };
//
//   TrainOptions ReadTrain(RecipeTable table) {
//     TrainOptions config;
//     table.Read("learning_rate", &config.learning_rate, "of AdamW", Above(0.0));
//     table.Read("steps", &config.steps, "optimiser steps", AtLeast(1));
//     return config;
//   }
//
// A file may say only what differs from another one: `extends = "other.toml"`, relative to the
// file. Tables are merged key by key, arrays replaced as a whole; [stage.1] changes the second
// [[stage]].
//
// A problem (wrong type, value out of range, unknown key, bad override) never stops the reading:
// Recipe::Finish reports all of them at once, each with file and line and, for an unknown key, the
// nearest known one. What was read, defaults included, can be written back as the resolved recipe.

// The values a number may take.
struct Range {
  double min = -std::numeric_limits<double>::infinity();
  double max = std::numeric_limits<double>::infinity();
  bool min_excluded = false;
};
inline Range AtLeast(double min) { return {min, std::numeric_limits<double>::infinity(), false}; }
inline Range Above(double min) { return {min, std::numeric_limits<double>::infinity(), true}; }
inline Range Between(double min, double max) { return {min, max, false}; }

// What a path of a recipe leads to.
enum class PathUse {
  kInput,  // a file, or a folder of files, that is read: whoever keeps the recipe keeps a copy of it
  kPlace,  // a folder, a program, or what others write: it stays where it is
};
struct RecipePath {
  std::string written;  // as the recipe has it
  std::string place;    // where it was found
  PathUse use = PathUse::kInput;
};

// The file that says where the paths of a recipe lead which was carried elsewhere.
inline constexpr char kPlacesFile[] = "places.json";

namespace internal {
struct RecipeState;
struct RecipeNode;
}  // namespace internal

// One table of a recipe, to be read key by key. `comment` is what the key means, for the resolved
// recipe. A key that is absent leaves the default in place. Valid as long as its Recipe.
class RecipeTable {
 public:
  void Read(std::string_view key, bool* value, std::string_view comment);
  void Read(std::string_view key, int64_t* value, std::string_view comment, Range range = {});
  void Read(std::string_view key, double* value, std::string_view comment, Range range = {});
  void Read(std::string_view key, std::string* value, std::string_view comment);
  void Read(std::string_view key, std::vector<std::string>* value, std::string_view comment);
  void Read(std::string_view key, std::vector<double>* value, std::string_view comment,
            Range range = {});
  // One of a few words. A misspelt one is a problem and read as the nearest, so that it does not
  // make problems of the keys that hang on it.
  void ReadChoice(std::string_view key, std::string* value, const std::vector<std::string>& choices,
                  std::string_view comment);

  // A path, relative to the file that says it. One that is not there is tried as it is written, in
  // the current folder, which is also what one in an override is relative to. The resolved recipe
  // has what was written.
  void ReadPath(std::string_view key, std::string* value, std::string_view comment, PathUse use);
  void ReadPaths(std::string_view key, std::vector<std::string>* value, std::string_view comment,
                 PathUse use);
  // A program and its arguments. Those that name a file beside the recipe are that file.
  void ReadCommand(std::string_view key, std::vector<std::string>* value, std::string_view comment);
  // Where a path leads that is part of what stands under the key.
  std::string PathAt(std::string_view key, const std::string& written, PathUse use);

  // The sub-table [key]; an empty one when absent.
  RecipeTable Table(std::string_view key);
  // The sub-table [key] of something that is there or not; nothing when it is absent. That it is
  // there is something said (Recipe::Said), even where all in it has its default.
  std::optional<RecipeTable> OptionalTable(std::string_view key);
  // The array of tables [[key]]; empty when absent.
  std::vector<RecipeTable> Tables(std::string_view key);
  // What stands under the key is for somebody else: it is known, and nothing in it is looked at.
  void PassOver(std::string_view key);
  // Whether the recipe says anything under this key. Does not make the key known.
  bool Has(std::string_view key) const;
  // Whether it says a list there: [[key]] and not [key].
  bool HasList(std::string_view key) const;

  // Adds a problem of the caller's own, at the line of `key` (of the table when absent).
  void Problem(std::string_view key, std::string_view text);

 private:
  friend class Recipe;
  RecipeTable(internal::RecipeState* state, internal::RecipeNode* node, std::string path)
      : state_(state), node_(node), path_(std::move(path)) {}

  internal::RecipeNode* Take(std::string_view key);
  std::string Found(const internal::RecipeNode& node, const std::string& written, PathUse use);
  std::string PathOf(std::string_view key) const;
  template <typename T, typename Convert>
  void ReadInto(std::string_view key, T* value, std::string_view comment, Convert convert);

  internal::RecipeState* state_;
  internal::RecipeNode* node_;  // null for a table that is absent
  std::string path_;
};

class Recipe {
 public:
  // An error here is a file (or one that it extends) that cannot be read or is not TOML; everything
  // else waits for Finish. Where a recipe lies in a run's folder, places.json beside it
  // says where its paths lead: {"train.jsonl": "inputs/train.jsonl"}, relative to that folder.
  static Result<Recipe> Load(const std::filesystem::path& path);
  // Text that stands alone: it cannot extend a file.
  static Result<Recipe> Parse(std::string_view toml, std::string file_name);
  ~Recipe();
  Recipe(Recipe&&) noexcept;
  Recipe& operator=(Recipe&&) noexcept;

  // "train.lr=1e-5": sets a value as if the file said so. The right-hand side is a TOML value, or
  // else taken as a string. "stage.0.steps=5" goes into the first [[stage]].
  void Override(std::string_view assignment);

  RecipeTable Root();

  // Success when every key was read and was right; else one error with one line per problem.
  Result<void> Finish();

  // Every path that was read and leads somewhere, once.
  const std::vector<RecipePath>& Paths() const;

  // TOML of every key that was read with the value it got, defaults included.
  std::string Resolved() const;
  // The same as a value: tables are objects, [[tables]] are arrays.
  Json Values() const;
  // Values() without the keys that have their default: what is said stays when the program learns
  // to read another key. Tables without any other are left out, but not elements of [[tables]] and
  // optional tables.
  Json Said() const;

 private:
  Recipe();
  std::unique_ptr<internal::RecipeState> state_;
};

}  // namespace hone
