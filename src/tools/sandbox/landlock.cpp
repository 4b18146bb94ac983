#include "tools/sandbox/landlock.h"

#include <cstdint>

#include <fcntl.h>
#include <linux/landlock.h>
#include <sys/stat.h>
#include <sys/syscall.h>

#include "base/file.h"

namespace hone {
namespace {

// Debian 12's header knows version 2; the kernel may be newer.
constexpr uint64_t kTruncate = 1ULL << 14;       // version 3
constexpr uint64_t kDeviceControl = 1ULL << 15;  // version 5
constexpr uint64_t kBindAndConnect = 3;          // version 4
constexpr uint64_t kSocketsAndSignals = 3;       // version 6

struct RulesetAttributes {
  uint64_t files = 0, network = 0, scopes = 0;
};

constexpr uint64_t kReadFile = LANDLOCK_ACCESS_FS_READ_FILE | LANDLOCK_ACCESS_FS_EXECUTE;
constexpr uint64_t kRead = kReadFile | LANDLOCK_ACCESS_FS_READ_DIR;
constexpr uint64_t kFileRights = kReadFile | LANDLOCK_ACCESS_FS_WRITE_FILE | kTruncate;

// All rights to files that this version knows.
uint64_t AllRights(int version) {
  uint64_t rights = (LANDLOCK_ACCESS_FS_MAKE_SYM << 1) - 1;
  if (version >= 2) rights |= LANDLOCK_ACCESS_FS_REFER;
  if (version >= kLandlockTruncates) rights |= kTruncate;
  if (version >= 5) rights |= kDeviceControl;
  return rights;
}

size_t AttributesSize(int version) {
  return version >= 6 ? sizeof(RulesetAttributes) : version >= 4 ? 16 : 8;
}

Result<void> AllowBeneath(int ruleset, const std::string& path, uint64_t rights) {
  const Descriptor opened(::open(path.c_str(), O_PATH | O_CLOEXEC));
  if (!opened.ok()) return ErrnoError(path);
  struct stat info {};
  if (::fstat(opened.get(), &info) != 0) return ErrnoError(path);
  if (!S_ISDIR(info.st_mode)) rights &= kFileRights;
  landlock_path_beneath_attr rule{};
  rule.allowed_access = rights;
  rule.parent_fd = opened.get();
  if (::syscall(SYS_landlock_add_rule, ruleset, LANDLOCK_RULE_PATH_BENEATH, &rule, 0) != 0) {
    return ErrnoError("a Landlock rule for " + path);
  }
  return {};
}

}  // namespace

int LandlockVersion() {
  const long version =
      ::syscall(SYS_landlock_create_ruleset, nullptr, 0, LANDLOCK_CREATE_RULESET_VERSION);
  return version < 0 ? 0 : static_cast<int>(version);
}

Result<Descriptor> NewLandlockRuleset(const LandlockRules& rules) {
  const int version = LandlockVersion();
  if (version == 0) {
    return Error(ErrorCode::kUnsupported,
                 "this kernel has no Landlock (version 5.13 or later, with landlock among its "
                 "security modules)");
  }
  const uint64_t all = AllRights(version);
  RulesetAttributes attributes;
  attributes.files = all;
  if (version >= 4) attributes.network = kBindAndConnect;
  if (version >= kLandlockSignals) attributes.scopes = kSocketsAndSignals;
  Descriptor ruleset(static_cast<int>(
      ::syscall(SYS_landlock_create_ruleset, &attributes, AttributesSize(version), 0)));
  if (!ruleset.ok()) return ErrnoError("cannot create a Landlock ruleset");
  for (const std::string& path : rules.readable) {
    if (::access(path.c_str(), F_OK) != 0) continue;
    HONE_RETURN_IF_ERROR(AllowBeneath(ruleset.get(), path, kRead));
  }
  for (const std::string& path : rules.devices) {
    if (::access(path.c_str(), F_OK) != 0) continue;
    HONE_RETURN_IF_ERROR(AllowBeneath(ruleset.get(), path, kFileRights & all));
  }
  for (const std::string& path : rules.writable) {
    // Everything but device files, which no program here has a use for.
    HONE_RETURN_IF_ERROR(AllowBeneath(
        ruleset.get(), path,
        all & ~(LANDLOCK_ACCESS_FS_MAKE_CHAR | LANDLOCK_ACCESS_FS_MAKE_BLOCK | kDeviceControl)));
  }
  return ruleset;
}

}  // namespace hone
