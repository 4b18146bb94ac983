#include "train/folder/run_inputs.h"

#include <optional>
#include <set>

#include <fmt/format.h>

#include "base/file.h"
#include "base/file_hash.h"
#include "base/json.h"

namespace hone {
namespace {

Error CannotCopy(const std::filesystem::path& from, const std::filesystem::path& to,
                 const std::error_code& why) {
  return Error(ErrorCode::kIo,
               fmt::format("cannot copy {} to {}: {}", from.string(), to.string(), why.message()));
}

// The bytes of a file, or of all files of a folder; nothing where it is neither, or cannot be read.
std::optional<int64_t> SizeOf(const std::filesystem::path& input) {
  std::error_code failed;
  if (std::filesystem::is_regular_file(input, failed)) {
    const auto size = static_cast<int64_t>(std::filesystem::file_size(input, failed));
    return failed ? std::nullopt : std::optional(size);
  }
  if (!std::filesystem::is_directory(input, failed)) return std::nullopt;
  const auto files = FilesIn(input);
  if (!files.ok()) return std::nullopt;
  int64_t size = 0;
  for (const auto& [name, file] : *files) {
    size += static_cast<int64_t>(std::filesystem::file_size(file, failed));
    if (failed) return std::nullopt;
  }
  return size;
}

Result<void> CopyInput(const std::filesystem::path& from, const std::filesystem::path& to) {
  std::error_code failed;
  std::filesystem::create_directories(to.parent_path(), failed);
  if (std::filesystem::is_directory(from, failed)) {
    std::filesystem::remove_all(to, failed);  // what is no longer there is not kept
    HONE_ASSIGN_OR_RETURN(const auto files, FilesIn(from));
    for (const auto& [name, file] : files) HONE_RETURN_IF_ERROR(CopyInput(file, to / name));
    return {};
  }
  std::filesystem::copy_file(from, to, std::filesystem::copy_options::overwrite_existing, failed);
  if (failed) return CannotCopy(from, to, failed);
  return {};
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

bool LiesIn(const std::filesystem::path& inner, const std::filesystem::path& outer) {
  std::error_code ignored;
  const auto below = std::filesystem::weakly_canonical(inner, ignored)
                         .lexically_relative(std::filesystem::weakly_canonical(outer, ignored));
  return !below.empty() && *below.begin() != "..";
}

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
    const std::filesystem::path from = (std::filesystem::path(path.place) / "").parent_path();
    const std::optional<int64_t> size = path.use == PathUse::kInput ? SizeOf(from) : std::nullopt;
    if (!size || *size > largest || LiesIn(folder, from)) {
      const auto whole = std::filesystem::absolute(path.place).lexically_normal();
      places.Set(path.written, whole.string());
      continue;
    }
    const std::string name = FreeName(from, &taken);
    // A run that goes on from its own folder has it already.
    if (!std::filesystem::equivalent(from, inputs / name, failed)) {
      HONE_RETURN_IF_ERROR(CopyInput(from, inputs / name));
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
