#include "train/folder/checksums.h"

#include <algorithm>
#include <vector>

#include <fmt/format.h>

#include "base/file.h"
#include "base/file_hash.h"
#include "base/json.h"

namespace hone {
namespace {

constexpr char kChecksumFile[] = "checksums.json", kChecksumFormat[] = "hone-checksums";

// The names of the files, relative to the folder, in an order that is always the same.
Result<std::vector<std::string>> FilesOf(const std::filesystem::path& folder) {
  std::vector<std::string> names;
  std::error_code error;
  for (std::filesystem::recursive_directory_iterator entry(folder, error), end;
       !error && entry != end; entry.increment(error)) {
    const std::string name = entry->path().lexically_relative(folder).string();
    if (!entry->is_regular_file(error) || name == kChecksumFile) continue;
    if (name.ends_with("-wal") || name.ends_with("-shm")) continue;
    names.push_back(name);
  }
  if (error) {
    return Error(ErrorCode::kIo,
                 fmt::format("cannot read {}: {}", folder.string(), error.message()));
  }
  std::sort(names.begin(), names.end());
  return names;
}

}  // namespace

Result<void> WriteChecksums(const std::filesystem::path& folder) {
  HONE_ASSIGN_OR_RETURN(const std::vector<std::string> names, FilesOf(folder));
  Json files = Json::Object();
  for (const std::string& name : names) {
    HONE_ASSIGN_OR_RETURN(std::string hash, HashFile(folder / name));
    files.Set(name, std::move(hash));
  }
  return WriteFileAtomic(
      folder / kChecksumFile,
      DumpJson(Json::Of({{"format", kChecksumFormat}, {"sha256", std::move(files)}}),
               JsonStyle::kPretty) +
          "\n");
}

Result<void> VerifyChecksums(const std::filesystem::path& folder, GoneFiles gone) {
  const std::filesystem::path file = folder / kChecksumFile;
  if (!Exists(file)) return {};
  HONE_ASSIGN_OR_RETURN(const std::string text, ReadFile(file));
  const Result<Json> json = ParseJson(text);
  // Somebody else's, of a folder that Hone did not write.
  if (json.ok() &&
      (json->Find("format") == nullptr || *json->Find("format") != Json(kChecksumFormat))) {
    return {};
  }
  const Json* files = json.ok() ? json->Find("sha256") : nullptr;
  if (files == nullptr || !files->is_object()) {
    return Error(ErrorCode::kCorrupt, fmt::format("{} is damaged", file.string()));
  }
  for (const auto& [name, written] : files->AsObject()) {
    const Result<std::string> is = HashFile(folder / name);
    if (!is.ok() && is.error().code() != ErrorCode::kNotFound) return is.error();
    if (is.ok() ? written == Json(*is) : gone == GoneFiles::kAreFine) continue;
    return Error(
        ErrorCode::kCorrupt,
        fmt::format("{} is damaged: {}", (folder / name).string(),
                    is.ok() ? "its SHA-256 is not the one that was written down" : "it is gone"));
  }
  return {};
}

}  // namespace hone
