#include "app/starter.h"

#include <system_error>
#include <vector>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "base/file.h"

// The files are taken in by the assembler, as the dashboard's page is (dash/dash_page.cpp).
#define HONE_STARTER_FILE(symbol, file)                             \
  asm(".section .rodata\n"                                          \
      ".global hone_starter_" #symbol                               \
      "\n"                                                          \
      ".global hone_starter_" #symbol                               \
      "_end\n"                                                      \
      "hone_starter_" #symbol ":\n.incbin \"" HONE_STARTER "/" file \
      "\"\n"                                                        \
      "hone_starter_" #symbol "_end:\n.byte 0\n.previous\n");       \
  extern "C" const char hone_starter_##symbol[];                    \
  extern "C" const char hone_starter_##symbol##_end[];

HONE_STARTER_FILE(readme, "README.md")
HONE_STARTER_FILE(recipe, "recipe.toml")
HONE_STARTER_FILE(tools, "tools.py")
HONE_STARTER_FILE(reward, "reward.py")
HONE_STARTER_FILE(shop, "shop.py")
HONE_STARTER_FILE(data, "make_data.py")
HONE_STARTER_FILE(train, "train.jsonl")
HONE_STARTER_FILE(dev, "dev.jsonl")
HONE_STARTER_FILE(test, "test.jsonl")

#define HONE_STARTER_TEXT(symbol)                                                \
  {                                                                              \
    hone_starter_##symbol,                                                       \
        static_cast<size_t>(hone_starter_##symbol##_end - hone_starter_##symbol) \
  }

namespace hone {

std::span<const StarterFile> StarterFiles() {
  static const StarterFile files[] = {
      {"README.md", HONE_STARTER_TEXT(readme)},  {"recipe.toml", HONE_STARTER_TEXT(recipe)},
      {"tools.py", HONE_STARTER_TEXT(tools)},    {"reward.py", HONE_STARTER_TEXT(reward)},
      {"shop.py", HONE_STARTER_TEXT(shop)},      {"make_data.py", HONE_STARTER_TEXT(data)},
      {"train.jsonl", HONE_STARTER_TEXT(train)}, {"dev.jsonl", HONE_STARTER_TEXT(dev)},
      {"test.jsonl", HONE_STARTER_TEXT(test)},
  };
  return files;
}

Result<void> WriteStarter(const std::filesystem::path& folder) {
  std::vector<std::string_view> there;
  for (const StarterFile& file : StarterFiles()) {
    if (Exists(folder / file.name)) there.push_back(file.name);
  }
  if (!there.empty()) {
    return Error(ErrorCode::kInvalidArgument,
                 fmt::format("{} has {} already, and nothing is overwritten; name another folder",
                             folder.string(), fmt::join(there, ", ")));
  }
  std::error_code failed;
  std::filesystem::create_directories(folder, failed);
  if (failed) {
    return Error(ErrorCode::kIo,
                 fmt::format("cannot make the folder {}: {}", folder.string(), failed.message()));
  }
  for (const StarterFile& file : StarterFiles()) {
    HONE_RETURN_IF_ERROR(WriteFileAtomic(folder / file.name, file.text));
  }
  return {};
}

}  // namespace hone
