#pragma once

#include <compare>
#include <cstdint>
#include <string>
#include <vector>

namespace hone {

// The name of a trajectory in its group: "3" began at the prompt as the fourth, "3/1" is the first
// that parted from it, "3~1" is the first repetition of one that broke. Names are in the order of
// their numbers.
struct TrajectoryPath {
  struct Part {
    int32_t number = 0;
    int32_t repetition = 0;
    auto operator<=>(const Part&) const = default;  // NOLINT: no null is meant
  };
  std::vector<Part> parts;  // empty: the prompt

  TrajectoryPath Child(int32_t number) const;
  TrajectoryPath Again() const;  // not of the prompt
  std::string Text() const;

  auto operator<=>(const TrajectoryPath&) const = default;  // NOLINT: no null is meant
};

}  // namespace hone
