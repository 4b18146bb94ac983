#include "app/failure.h"

#include <cstdlib>
#include <new>
#include <string_view>
#include <system_error>

#include <unistd.h>

#include "cluster/transport.h"
#include "engine/device/device.h"

namespace hone {
namespace {

constexpr std::string_view kNoMemory =
    "the memory does not suffice for this; free some or raise its limit (ulimit -v), or ask for "
    "less: a smaller model or batch, fewer rollouts at a time";
constexpr std::string_view kNoThread =
    "no further thread can be started; raise the limit of processes (ulimit -u) or of memory "
    "(ulimit -v), or ask for fewer threads (run.threads=N, --threads N)";

// The words for it; empty for what is none of these.
std::string_view WordsFor(const std::exception& thrown) {
  if (dynamic_cast<const std::bad_alloc*>(&thrown) != nullptr) return kNoMemory;
  if (dynamic_cast<const DeviceError*>(&thrown) != nullptr) return thrown.what();
  if (dynamic_cast<const ClusterError*>(&thrown) != nullptr) return thrown.what();
  const auto* refused = dynamic_cast<const std::system_error*>(&thrown);
  const bool thread =
      refused != nullptr && refused->code() == std::errc::resource_unavailable_try_again;
  return thread ? kNoThread : std::string_view();
}

// There may be no memory left to put words together.
void Say(std::string_view words) {
  for (const std::string_view part : {std::string_view("hone: "), words, std::string_view("\n")}) {
    [[maybe_unused]] const ssize_t written = ::write(STDERR_FILENO, part.data(), part.size());
  }
}

[[noreturn]] void EndNow() {
  try {
    if (std::current_exception()) std::rethrow_exception(std::current_exception());
  } catch (const std::exception& thrown) {
    if (const std::string_view words = WordsFor(thrown); !words.empty()) {
      Say(words);
      ::_exit(1);
    }
    Say(thrown.what());
  } catch (...) {
  }
  std::abort();
}

}  // namespace

Error FailureOf(const std::exception& thrown) {
  const std::string_view words = WordsFor(thrown);
  if (dynamic_cast<const ClusterError*>(&thrown) != nullptr) {
    return Error(ErrorCode::kUnavailable, std::string(words));
  }
  return Error(words.empty() ? ErrorCode::kIo : ErrorCode::kFull,
               words.empty() ? std::string(thrown.what()) : std::string(words));
}

void EndInOrder() { std::set_terminate(EndNow); }

}  // namespace hone
