#pragma once

#include <cstdint>
#include <deque>
#include <optional>
#include <string>

namespace hone {

// "3 h 12 min", "4 min 5 s", "9 s".
std::string DurationText(double seconds);

// How long steps take, by the last ones: what is left can be told from it.
class StepPace {
 public:
  // Seconds of a step that is done.
  void Add(double seconds);
  // Of so many more; nothing before some have been seen.
  std::optional<double> Seconds(int64_t steps) const;

 private:
  std::deque<double> last_;
};

}  // namespace hone
