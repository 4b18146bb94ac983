#pragma once

#include <cstdint>
#include <optional>

#include <sys/types.h>

#include "tools/sandbox/launch.h"

namespace hone {

// Whom programs run as when we are root: nobody, because the kernel does not count the processes of
// root, and root owns too much. Empty when we are not root, or cannot act for others (a container
// without the capabilities, or without such a user).
std::optional<LaunchOptions::Identity> OrdinaryUser();

// How many processes and threads a user has, as far as we can see.
uint64_t TasksOf(uid_t user);

}  // namespace hone
