#include "app/installed/shipped_files.h"

#include <array>
#include <string_view>

#include "base/file.h"

namespace hone {

std::filesystem::path ShippedFolder() {
  std::error_code error;
  const std::filesystem::path program = std::filesystem::read_symlink("/proc/self/exe", error);
  if (error) return {};
  for (const char* place : {"../share/hone", "../.."}) {
    const std::filesystem::path folder = (program.parent_path() / place).lexically_normal();
    if (Exists(folder / "recipes" / "quickstart.toml")) return folder;
  }
  return {};
}

std::string NamedFile(const std::string& name) {
  if (Exists(name)) return name;
  for (const std::string_view top : {"recipes/", "examples/", "comparisons/"}) {
    if (!name.starts_with(top)) continue;
    const std::filesystem::path folder = ShippedFolder();
    if (!folder.empty() && Exists(folder / name)) return (folder / name).string();
  }
  return name;
}

Result<Recipe> LoadNamedRecipe(const std::string& name) { return Recipe::Load(NamedFile(name)); }

}  // namespace hone
