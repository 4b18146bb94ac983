// Any bytes as a recipe: read, reported or refused, and what is resolved reads back.

#include <cstdint>
#include <string>

#include "base/check.h"
#include "base/recipe.h"

namespace {

void ReadAll(hone::Recipe& recipe) {
  double rate = 0.1;
  int64_t steps = 5;
  std::string name = "x";
  std::vector<std::string> tags;
  std::vector<double> betas;
  bool flag = false;
  hone::RecipeTable root = recipe.Root();
  root.Read("rate", &rate, "a rate", hone::Between(0, 1));
  root.Read("steps", &steps, "", hone::AtLeast(1));
  root.Read("flag", &flag, "");
  hone::RecipeTable table = root.Table("train");
  table.Read("tags", &tags, "");
  table.Read("betas", &betas, "", hone::Above(0));
  table.ReadChoice("name", &name, {"x", "yy"}, "");
  for (hone::RecipeTable tool : root.Tables("tool")) tool.Read("name", &name, "");
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  const std::string_view text(reinterpret_cast<const char*>(data), size);
  const size_t cut = text.find('\xFE');  // what follows is an override
  auto recipe = hone::Recipe::Parse(text.substr(0, cut), "fuzz.toml");
  if (!recipe.ok()) return 0;
  if (cut != std::string_view::npos) recipe->Override(text.substr(cut + 1));
  ReadAll(*recipe);
  if (!recipe->Finish().ok()) return 0;
  auto again = hone::Recipe::Parse(recipe->Resolved(), "resolved.toml");
  CHECK(again.ok(), again.ok() ? "" : again.error().message());
  ReadAll(*again);
  CHECK(again->Finish().ok());
  return 0;
}
