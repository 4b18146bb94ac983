// hone recipes: the recipes, examples and comparisons that come with Hone.

#include <algorithm>

#include <fmt/format.h>

#include "app/command_line.h"
#include "app/commands.h"
#include "app/installed/shipped_files.h"
#include "app/report.h"
#include "app/terminal.h"
#include "base/file.h"

namespace hone {
namespace {

struct ShippedRecipe {
  std::string name;   // "recipes/grpo.toml", as commands take it
  std::string about;  // the first sentence of its comment
};

// The first paragraph of the comment at the top, or its first sentence if that is shorter.
std::string AboutOf(std::string_view toml) {
  std::string about;
  while (toml.starts_with("# ")) {
    const size_t end = std::min(toml.find('\n'), toml.size());
    about += (about.empty() ? "" : " ") + std::string(toml.substr(2, end - 2));
    toml.remove_prefix(std::min(end + 1, toml.size()));
  }
  for (const char* stop : {". ", "; "}) about = about.substr(0, about.find(stop));
  if (about.ends_with('.')) about.pop_back();
  return about;
}

Result<std::filesystem::path> ShippedPlace() {
  std::filesystem::path folder = ShippedFolder();
  if (!folder.empty()) return folder;
  return Error(ErrorCode::kNotFound,
               "the files that come with Hone are not beside the program (../share/hone); install "
               "it with cmake --install or from its package (docs/install.md)");
}

Result<std::vector<ShippedRecipe>> ListRecipes() {
  HONE_ASSIGN_OR_RETURN(const std::filesystem::path folder, ShippedPlace());
  std::vector<ShippedRecipe> recipes;
  for (const char* part : {"recipes", "comparisons"}) {
    std::vector<ShippedRecipe> found;
    std::error_code ignored;
    for (const auto& file : std::filesystem::directory_iterator(folder / part, ignored)) {
      if (file.path().extension() != ".toml") continue;
      HONE_ASSIGN_OR_RETURN(const std::string text, ReadFile(file.path()));
      found.push_back({fmt::format("{}/{}", part, file.path().filename().string()), AboutOf(text)});
    }
    std::sort(found.begin(), found.end(),
              [](const auto& one, const auto& other) { return one.name < other.name; });
    recipes.insert(recipes.end(), found.begin(), found.end());
  }
  return recipes;
}

Result<std::string> ListShipped(bool json) {
  HONE_ASSIGN_OR_RETURN(const std::vector<ShippedRecipe> recipes, ListRecipes());
  if (json) {
    Json::Array list;
    for (const ShippedRecipe& recipe : recipes) {
      list.push_back(Json::Of({{"name", recipe.name}, {"about", recipe.about}}));
    }
    return DumpJson(
               Json::Of({{"folder", ShippedFolder().string()}, {"recipes", std::move(list)}})) +
           "\n";
  }
  const Terminal terminal = Terminal::Of(stdout);
  std::string text;
  for (const ShippedRecipe& recipe : recipes) {
    text += fmt::format("{:<42} {}\n", recipe.name, terminal.Dim(recipe.about));
  }
  return text + fmt::format(
                    "\nThey lie in {}. These names work from any folder:\n"
                    "  hone train recipes/quickstart.toml\n"
                    "To change one, take them along:\n  hone recipes copy .\n",
                    ShippedFolder().string());
}

// Files that are there already stay: a person may have changed them.
Result<std::string> CopyShipped(const std::string& out, bool json) {
  HONE_ASSIGN_OR_RETURN(const std::filesystem::path folder, ShippedPlace());
  int64_t copied = 0, kept = 0;
  for (const char* part : {"recipes", "comparisons", "examples"}) {
    std::error_code ignored;
    for (const auto& file : std::filesystem::recursive_directory_iterator(folder / part, ignored)) {
      if (!file.is_regular_file()) continue;
      const std::filesystem::path to = out / file.path().lexically_relative(folder);
      if (Exists(to)) {
        ++kept;
        continue;
      }
      std::error_code error;
      std::filesystem::create_directories(to.parent_path(), error);
      if (!error) std::filesystem::copy_file(file.path(), to, error);
      if (error) {
        return Error(ErrorCode::kIo,
                     fmt::format("cannot write {}: {}", to.string(), error.message()));
      }
      ++copied;
    }
  }
  if (json) return DumpJson(Json::Of({{"copied", copied}, {"kept", kept}})) + "\n";
  return fmt::format("{} files copied to {}{}\n", copied, out,
                     kept == 0 ? "" : fmt::format("; {} were there and stay", kept));
}

}  // namespace

void AddRecipes(Command program, std::shared_ptr<CommandContext> context) {
  Command group = program.AddCommand("recipes", "List and copy the recipes that come with Hone");
  group.NeedsCommand();
  group.Footer("Example:\n  hone recipes list\n");
  Command list = group.AddCommand("list", "List recipes and comparisons with what they are for");
  list.Footer("Example:\n  hone recipes list\n");
  list.Action([=] { Finish(context.get(), ListShipped(context->json)); });
  auto out = std::make_shared<std::string>(".");
  Command copy = group.AddCommand("copy", "Copy recipes, comparisons and examples to a folder");
  copy.AddOption("folder", out.get(), "where to; what is there already stays").ShowDefault();
  copy.Footer("Example:\n  hone recipes copy mine\n");
  copy.Action([=] { Finish(context.get(), CopyShipped(*out, context->json)); });
}

}  // namespace hone
