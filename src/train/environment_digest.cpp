#include "train/environment_digest.h"

#include <algorithm>

#include <fmt/format.h>

#include "base/hash.h"
#include "record/record_json.h"

namespace hone {
namespace {

constexpr uint64_t kTasks = 32;

}  // namespace

Result<std::string> EnvironmentDigest(const LoadedEnvironment& environment, Executor* executor) {
  std::string all = DumpJson(VisibleTools(*environment.environment));
  const uint64_t count = std::min(kTasks, environment.tasks->count(Split::kTrain).value_or(kTasks));
  for (uint64_t i = 0; i < count; ++i) {
    const Task task = environment.tasks->Make(Split::kTrain, i);
    all += DumpJson(TaskToJson(task));
    if (!environment.teacher || executor == nullptr) continue;
    HONE_ASSIGN_OR_RETURN(const auto teacher,
                          environment.teacher(task, 0.5, Rng(i).Split("digest")));
    HONE_ASSIGN_OR_RETURN(const Playthrough played,
                          Play(*environment.environment, task, i, teacher.get(), executor,
                               {.run = "digest", .path = fmt::format("{}", i)}));
    all += DumpJson(MessagesOf(played));
  }
  return Sha256Hex(all);
}

}  // namespace hone
