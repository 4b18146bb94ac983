#include "app/models/model_get.h"

#include <fmt/format.h>

#include "app/models/catalogue.h"
#include "app/models/known_model.h"
#include "app/models/licence.h"
#include "app/models/mirror.h"
#include "base/file.h"
#include "base/file_lock.h"
#include "base/hash.h"
#include "base/json.h"
#include "base/nearest.h"
#include "base/strings.h"

namespace hone {
namespace {

namespace fs = std::filesystem;

constexpr char kOrigin[] = "origin.json";

// What a folder was made of, to be found there: the same again need not be made.
Json KnownOrigin(const ModelGetOptions& options, const KnownModel& known) {
  Json::Array packages;
  for (const KnownPackage& package : known.packages) {
    packages.push_back(Json::Of(
        {{"name", package.name}, {"version", package.version}, {"integrity", package.integrity}}));
  }
  return Json::Of({{"model", known.name},
                   {"licence", known.licence},
                   {"source", known.source},
                   {"type", options.type.empty() ? known.type : options.type},
                   {"packages", std::move(packages)},
                   {"weights_sha256", known.weights_sha256}});
}

bool IsMadeOf(const fs::path& folder, const Json& origin) {
  const auto text = ReadFile(folder / kOrigin);
  if (!text.ok()) return false;
  const auto json = ParseJson(*text);
  return json.ok() && DumpJson(*json) == DumpJson(origin);
}

Result<void> WriteOrigin(const fs::path& folder, const Json& origin) {
  return WriteFileAtomic(folder / kOrigin, DumpJson(origin, JsonStyle::kPretty) + "\n");
}

Result<bool> IsThereAlready(const fs::path& folder, const Json& origin) {
  if (!Exists(folder)) return false;
  if (IsMadeOf(folder, origin)) return true;
  std::error_code ignored;
  if (fs::is_directory(folder, ignored) && fs::is_empty(folder, ignored)) return false;
  return Error(ErrorCode::kInvalidArgument,
               fmt::format("{} is there already and holds something else; it is not touched. Name "
                           "another folder with --to",
                           folder.string()));
}

Error NoSuchModel(const ModelGetOptions& options) {
  std::vector<std::string> names;
  for (const KnownModel& model : options.catalogue) names.emplace_back(model.name);
  return Error(ErrorCode::kNotFound,
               fmt::format("there is no known model \"{}\"{}; hone model list shows them, and what "
                           "has a slash is a mirror of your own",
                           options.name, DidYouMean(options.name, names)));
}

// The line on the licence of what a mirror has: its own file says it.
std::string MirroredLicence(const fs::path& folder) {
  for (const char* name : {"LICENSE", "LICENCE", "LICENSE.txt", "LICENSE.md"}) {
    if (Exists(folder / name)) return fmt::format("licence: see {}", (folder / name).string());
  }
  return "the mirror has no LICENSE: ask whoever keeps it";
}

// Behind a slash, FOLDER.part would lie inside of its own target.
fs::path WithoutSlash(const fs::path& folder) {
  const std::string text = folder.string();
  const std::string_view name = TrimRight(text, "/");
  return name.empty() ? folder : fs::path(name);
}

// A full disk is the reader's to empty.
Error WithNextStep(const Error& error) {
  constexpr std::string_view kStep = "make room and run the same command again";
  if (error.code() != ErrorCode::kFull || error.message().ends_with(kStep)) return error;
  return Error(error.code(), fmt::format("{}; {}", error.message(), kStep));
}

}  // namespace

fs::path CacheFolder(const EnvironmentVariable& variable) {
  if (const std::string own = variable("HONE_CACHE"); !own.empty()) return own;
  if (const std::string cache = variable("XDG_CACHE_HOME"); !cache.empty()) {
    return fs::path(cache) / "hone";
  }
  const std::string home = variable("HOME");
  return (home.empty() ? fs::temp_directory_path() : fs::path(home) / ".cache") / "hone";
}

Result<GotModel> GetModel(const ModelGetOptions& given) {
  ModelGetOptions options = given;
  const bool mirrored = IsMirrorName(options.name);
  const KnownModel* known = mirrored ? nullptr : FindKnownModel(options.catalogue, options.name);
  if (known == nullptr && !mirrored) return NoSuchModel(options);
  GotModel got;
  got.name = mirrored ? NameOnMirror(options.name) : std::string(known->name);
  got.folder = options.to.empty() ? fs::path("models") / got.name : WithoutSlash(options.to);
  if (options.cache.empty()) options.cache = CacheFolder(options.variable);

  const fs::path part = got.folder.string() + ".part";
  const std::string place = fs::absolute(got.folder).lexically_normal().string();
  HONE_ASSIGN_OR_RETURN(const FileLock lock,
                        FileLock::Take(options.cache / "locks" / Sha256Hex(place)));
  MirroredModel mirror;
  if (mirrored) {
    HONE_ASSIGN_OR_RETURN(mirror, FindMirroredModel(options));
  }
  const Json origin = mirrored ? MirroredOrigin(mirror, options) : KnownOrigin(options, *known);
  HONE_ASSIGN_OR_RETURN(got.was_there, IsThereAlready(got.folder, origin));
  if (!got.was_there) {
    std::error_code failed;
    // What is left of another model, or of another list, would be taken for a part of this one.
    if (!mirrored || !IsMadeOf(part, origin)) fs::remove_all(part, failed);
    fs::create_directories(part, failed);
    if (failed) {
      return Error(ErrorCode::kIo,
                   fmt::format("cannot create {}: {}", part.string(), failed.message()));
    }
    HONE_RETURN_IF_ERROR(WriteOrigin(part, origin));
    const Result<void> made =
        mirrored ? MakeMirroredModel(mirror, options, part) : MakeKnownModel(*known, options, part);
    if (!made.ok()) {
      if (!mirrored) fs::remove_all(part, failed);
      return WithNextStep(made.error());
    }
    HONE_RETURN_IF_ERROR(ReplaceDirectory(part, got.folder));
  }
  got.licence = known != nullptr ? LicenceLine(*known) : MirroredLicence(got.folder);
  return got;
}

}  // namespace hone
