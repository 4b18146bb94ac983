#pragma once

#include <optional>
#include <string>

#include "envs/task_source.h"

namespace hone {

// Tasks that go A B C D A B ... by family and 0 1 2 0 ... by level; endless, or as many as asked.
class KindsSource final : public TaskSource {
 public:
  explicit KindsSource(std::optional<uint64_t> tasks = std::nullopt) : tasks_(tasks) {}

  std::optional<uint64_t> count(Split) const override { return tasks_; }
  Task Make(Split, uint64_t index) const override {
    Task task;
    task.id = std::to_string(index);
    task.metadata = Json::Of({{"family", std::string(1, static_cast<char>('A' + index % 4))},
                              {"level", static_cast<int64_t>(index % 3)}});
    return task;
  }

 private:
  std::optional<uint64_t> tasks_;
};

}  // namespace hone
