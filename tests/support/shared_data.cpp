#include "support/shared_data.h"

#include <cstdlib>

namespace hone {

std::optional<std::filesystem::path> SharedData(std::string_view path) {
  const char* set = std::getenv("HONE_SHARED");
  const std::filesystem::path root =
      set != nullptr ? std::filesystem::path(set)
                     : std::filesystem::path(HONE_SOURCE_DIR).parent_path() / "shared";
  std::filesystem::path found = root / path;
  if (!std::filesystem::exists(found)) return std::nullopt;
  return found;
}

}  // namespace hone
