#include "rollout/trajectory_path.h"

#include <fmt/format.h>

#include "base/check.h"

namespace hone {

TrajectoryPath TrajectoryPath::Child(int32_t number) const {
  TrajectoryPath child = *this;
  child.parts.push_back({number, 0});
  return child;
}

TrajectoryPath TrajectoryPath::Again() const {
  CHECK(!parts.empty(), "a prompt is not repeated");
  TrajectoryPath again = *this;
  ++again.parts.back().repetition;
  return again;
}

std::string TrajectoryPath::Text() const {
  std::string text;
  for (const Part& part : parts) {
    if (!text.empty()) text += '/';
    text += std::to_string(part.number);
    if (part.repetition > 0) text += fmt::format("~{}", part.repetition);
  }
  return text;
}

}  // namespace hone
