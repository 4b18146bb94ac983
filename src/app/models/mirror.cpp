#include "app/models/mirror.h"

#include <cctype>
#include <set>

#include <fmt/format.h>

#include "app/gguf_conversion.h"
#include "app/models/model_conversion.h"
#include "base/fetch/download.h"
#include "base/fetch/hash_list.h"
#include "base/fetch/web_address.h"
#include "base/file.h"
#include "base/hash.h"
#include "base/strings.h"
#include "engine/safetensors.h"

namespace hone {
namespace {

namespace fs = std::filesystem;

constexpr char kHashList[] = "SHA256SUMS";

// Without slashes at its end.
std::string Trimmed(const std::string& name) { return std::string(TrimRight(name, "/")); }

// What belongs to a model's folder; weights in formats that run code are left where they are.
bool BelongsToModel(const std::string& path) {
  const std::string name = fs::path(path).filename().string();
  if (name.starts_with(".") || name == "origin.json") return false;
  for (const char* end : {".json", ".safetensors", ".txt", ".jinja", ".model", ".md"}) {
    if (name.ends_with(end)) return true;
  }
  for (const char* begin : {"LICENSE", "LICENCE", "NOTICE", "COPYING"}) {
    if (name.starts_with(begin)) return true;
  }
  return false;
}

// Of one path's segment for an address: what is not plain is escaped.
std::string Escaped(const std::string& path) {
  std::string out;
  for (const char c : path) {
    const bool plain = std::isalnum(static_cast<unsigned char>(c)) || c == '/' || c == '-' ||
                       c == '_' || c == '.' || c == '~';
    out += plain ? std::string(1, c) : fmt::format("%{:02X}", static_cast<unsigned char>(c));
  }
  return out;
}

// A folder at an address or on this machine.
class Mirror {
 public:
  Mirror(std::string place, const ModelGetOptions& options)
      : place_(std::move(place)), options_(options) {}

  Result<std::string> HashList() const {
    Result<std::string> text = IsWebAddress(place_)
                                   ? FetchText(place_ + "/" + kHashList, "text/plain")
                                   : ReadFile(fs::path(place_) / kHashList);
    if (text.ok() || text.error().code() != ErrorCode::kNotFound) return text;
    return Error(ErrorCode::kNotFound,
                 fmt::format("{} has no list {} of its files. Whoever keeps it makes one in the "
                             "folder: sha256sum * > {}",
                             place_, kHashList, kHashList));
  }

  // The file with this hash into `folder`.
  Result<void> Take(const std::string& name, const std::string& hash,
                    const fs::path& folder) const {
    DownloadRequest request;
    request.url = place_ + "/" + Escaped(name);
    request.path = folder / name;
    request.hash = "sha256-" + hash;
    request.progress = [&](int64_t done, int64_t all) {
      if (options_.progress) options_.progress(name, done, all);
    };
    std::error_code failed;
    fs::create_directories(request.path.parent_path(), failed);
    if (IsWebAddress(place_)) return Download(request);
    return Copy(name, request);
  }

 private:
  Result<void> Copy(const std::string& name, const DownloadRequest& request) const {
    const fs::path from = fs::path(place_) / name;
    std::error_code failed;
    fs::copy_file(from, request.path, fs::copy_options::overwrite_existing, failed);
    if (failed) {
      return Error(failed == std::errc::no_space_on_device ? ErrorCode::kFull : ErrorCode::kIo,
                   fmt::format("cannot copy {}: {}", from.string(), failed.message()));
    }
    HONE_ASSIGN_OR_RETURN(const bool right, HasHash(request.path, request.hash));
    if (right) return {};
    return Error(ErrorCode::kCorrupt,
                 fmt::format("{}: its hash is not the one that {} has; the file was changed or "
                             "damaged after the list was made",
                             from.string(), kHashList));
  }

  std::string place_;
  const ModelGetOptions& options_;
};

// What a folder must have to be a model's.
Result<void> CheckFolder(const std::string& place, const fs::path& folder) {
  HONE_ASSIGN_OR_RETURN(const std::string text, ReadFile(folder / "config.json"));
  if (const auto config = ParseJson(text); !config.ok()) {
    return config.error().In(place + "/config.json");
  }
  // Opening checks what the files say of themselves, and that no shard is missing.
  const auto tensors = CheckpointTensors::Open(folder);
  return tensors.ok() ? Result<void>() : tensors.error().In(place);
}

Result<void> ConvertTaken(const fs::path& file, const ModelGetOptions& options,
                          const fs::path& folder) {
  std::string type = options.type;
  if (type.empty()) {
    HONE_ASSIGN_OR_RETURN(type, KeepingTypeOf(file));
  }
  const auto converted = ConvertModel({.from = file, .to = folder, .type = type});
  return converted.ok() ? Result<void>() : converted.error();
}

}  // namespace

bool IsMirrorName(const std::string& name) { return name.find('/') != std::string::npos; }

std::string NameOnMirror(const std::string& name) {
  const fs::path last = fs::path(Trimmed(name)).filename();
  return IsGgufName(last) ? last.stem().string() : last.string();
}

Result<MirroredModel> FindMirroredModel(const ModelGetOptions& options) {
  MirroredModel model;
  model.place = Trimmed(options.name);
  model.gguf = IsGgufName(model.place);
  std::string file;
  if (model.gguf) {
    const size_t slash = model.place.rfind('/');
    file = model.place.substr(slash + 1);
    model.place.resize(slash);
  }
  if (model.place.empty()) model.place = "/";
  if (!model.gguf && !options.type.empty()) {
    return Error(ErrorCode::kInvalidArgument,
                 "--type: a folder is taken as it is; hone model convert changes it afterwards");
  }
  HONE_ASSIGN_OR_RETURN(const std::string text, Mirror(model.place, options).HashList());
  const auto list = ParseHashList(text);
  if (!list.ok()) return list.error().In(model.place + "/" + kHashList);
  std::set<std::string> names;
  for (const auto& entry : *list) {
    if (model.gguf ? entry.first != file : !BelongsToModel(entry.first)) continue;
    if (names.insert(entry.first).second) model.files.push_back(entry);
  }
  if (model.gguf && names.empty()) {
    return Error(ErrorCode::kNotFound,
                 fmt::format("{}/{} does not name {}", model.place, kHashList, file));
  }
  const bool weights =
      names.contains("model.safetensors") || names.contains("model.safetensors.index.json");
  if (!model.gguf && (!names.contains("config.json") || !weights)) {
    return Error(ErrorCode::kNotFound,
                 fmt::format("{}: its {} names no config.json with model.safetensors, or with "
                             "model.safetensors.index.json and the shards",
                             model.place, kHashList));
  }
  return model;
}

Json MirroredOrigin(const MirroredModel& model, const ModelGetOptions& options) {
  std::string list;
  for (const auto& [name, hash] : model.files) list += fmt::format("{}  {}\n", hash, name);
  return Json::Of({{"from", Trimmed(options.name)},
                   {"type", options.type.empty() ? Json() : Json(options.type)},
                   {"files_sha256", Sha256Hex(list)}});
}

Result<void> MakeMirroredModel(const MirroredModel& model, const ModelGetOptions& options,
                               const fs::path& folder) {
  const Mirror mirror(model.place, options);
  const fs::path work = folder / "unpacked";
  for (const auto& [name, hash] : model.files) {
    HONE_RETURN_IF_ERROR(mirror.Take(name, hash, model.gguf ? work : folder));
  }
  if (!model.gguf) return CheckFolder(model.place, folder);
  if (options.progress) options.progress("converting", 0, 1);
  HONE_RETURN_IF_ERROR(ConvertTaken(work / model.files[0].first, options, folder));
  std::error_code failed;
  fs::remove_all(work, failed);
  return {};
}

}  // namespace hone
