#include "train/folder/run_inputs.h"

#include <set>

#include <fmt/format.h>

#include "base/file.h"
#include "base/json.h"

namespace hone {
namespace {

Error CannotCopy(const std::filesystem::path& from, const std::filesystem::path& to,
                 const std::error_code& why) {
  return Error(ErrorCode::kIo,
               fmt::format("cannot copy {} to {}: {}", from.string(), to.string(), why.message()));
}

// The file's name, or with a number before its ending where another has it.
std::string FreeName(const std::filesystem::path& file, std::set<std::string>* taken) {
  std::string name = file.filename().string();
  for (int number = 2; !taken->insert(name).second; ++number) {
    name = fmt::format("{}-{}{}", file.stem().string(), number, file.extension().string());
  }
  return name;
}

}  // namespace

Result<void> CopyFolder(const std::filesystem::path& from, const std::filesystem::path& to) {
  std::error_code failed;
  if (!std::filesystem::is_directory(from, failed)) return {};
  std::filesystem::copy(
      from, to,
      std::filesystem::copy_options::recursive | std::filesystem::copy_options::overwrite_existing,
      failed);
  if (failed) return CannotCopy(from, to, failed);
  return {};
}

Result<void> KeepInputs(std::span<const RecipePath> paths, const std::filesystem::path& folder,
                        int64_t largest) {
  const std::filesystem::path inputs = folder / "inputs";
  Json places = Json::Object();
  std::set<std::string> taken;
  std::error_code failed;
  for (const RecipePath& path : paths) {
    const bool small =
        std::filesystem::is_regular_file(path.place, failed) &&
        static_cast<int64_t>(std::filesystem::file_size(path.place, failed)) <= largest;
    if (path.use == PathUse::kPlace || !small) {
      const auto whole = std::filesystem::absolute(path.place).lexically_normal();
      places.Set(path.written, whole.string());
      continue;
    }
    const std::string name = FreeName(path.place, &taken);
    // A run that goes on from its own folder has it already.
    if (!std::filesystem::equivalent(path.place, inputs / name, failed)) {
      std::filesystem::create_directories(inputs, failed);
      std::filesystem::copy_file(path.place, inputs / name,
                                 std::filesystem::copy_options::overwrite_existing, failed);
      if (failed) return CannotCopy(path.place, inputs / name, failed);
    }
    places.Set(path.written, "inputs/" + name);
  }
  if (places.AsObject().empty()) return {};
  return WriteFileAtomic(folder / kPlacesFile, DumpJson(places, JsonStyle::kPretty) + "\n");
}

Result<void> KeepModelFiles(const std::filesystem::path& model,
                            const std::filesystem::path& folder) {
  std::error_code failed;
  const std::filesystem::path kept = folder / kModelFiles;
  for (const char* name : {"tokenizer_config.json", "generation_config.json", "chat_template.jinja",
                           "chat_template.json", "special_tokens_map.json", "added_tokens.json"}) {
    if (!Exists(model / name)) continue;
    std::filesystem::create_directories(kept, failed);
    std::filesystem::copy_file(model / name, kept / name,
                               std::filesystem::copy_options::overwrite_existing, failed);
    if (failed) return CannotCopy(model / name, kept / name, failed);
  }
  constexpr char kMoreTemplates[] = "additional_chat_templates";
  if (!Exists(model / kMoreTemplates)) return {};
  std::filesystem::create_directories(kept, failed);
  return CopyFolder(model / kMoreTemplates, kept / kMoreTemplates);
}

}  // namespace hone
