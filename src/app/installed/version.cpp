#include "app/installed/version.h"

#include <fmt/format.h>

// Made by every build, and new only when the commit is (cmake/HoneCommit.cmake).
#include "app/commit.h"

namespace hone {
namespace {

constexpr std::string_view kCommit = HONE_COMMIT;

}  // namespace

std::string VersionNumber() { return HONE_VERSION; }

std::string VersionLine() {
  if (kCommit.empty()) return "hone " HONE_VERSION;
  return fmt::format("hone {} (commit {}{})", HONE_VERSION, kCommit,
                     HONE_CHANGED ? ", with changes" : "");
}

Json VersionJson() {
  return Json::Of({{"version", HONE_VERSION},
                   {"commit", kCommit.empty() ? Json() : Json(kCommit)},
                   {"changed", HONE_CHANGED}});
}

}  // namespace hone
