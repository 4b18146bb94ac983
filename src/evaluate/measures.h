#pragma once

#include <map>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "base/json.h"
#include "base/result.h"
#include "evaluate/statistics.h"
#include "record/tree.h"
#include "rewards/trajectory_view.h"

namespace hone {

// What one trajectory shows of its agent, as far as the labels of its task say. Counts are kept
// apart, so that shares over many trajectories can be formed later.
struct Measures {
  std::string task;    // its id
  std::string family;  // metadata.family and .kind; empty: not said
  std::string kind;
  std::string environment;  // metadata.environment; empty: not said
  Ending ending = Ending::kAnswered;
  Blame blame = Blame::kNone;
  bool counts = true;           // false: others' fault ended it; it says nothing about the agent
  std::optional<bool> success;  // the environment's verdict; absent: it has none

  // When. Both absent: the task does not say whether a tool is needed.
  std::optional<bool> tool_needed;
  bool called = false;
  // Which and how.
  int64_t calls = 0;
  std::optional<int64_t> gold_calls;  // absent: unknown
  int64_t matched = 0;                // calls that stand for a gold call (same tool)
  int64_t right = 0;                  // of them, with right arguments
  double argument_score = 0;          // sum over the matched ones
  int64_t repeats = 0;                // calls equal to an earlier one of the trajectory
  int64_t unreadable = 0;             // actions that could not be read
  int64_t misfits = 0;                // calls of unknown tools, or with arguments that do not fit
  int64_t judged = 0;                 // calls of which it is known whether they ran
  int64_t ran = 0;                    // of them
  std::map<std::string, int64_t> calls_of;  // by tool
  // Calls of which it is known whether they brought something that the task needs, and those that
  // brought nothing (CallsThatHelped).
  int64_t weighed = 0;
  int64_t unused = 0;
  std::string gold_tool;   // of tasks of one gold call; empty for others
  std::string first_tool;  // that was called first; empty: none

  int64_t turns = 0;             // of the agent
  int64_t tokens = 0;            // that it wrote
  double entropy = 0;            // of them, in nats; 0 where nobody measured it
  int64_t thought_tokens = 0;    // of them, those of its thoughts
  int64_t thoughtful_turns = 0;  // with a thought
  int64_t thoughts = 0;
  int64_t closed_thoughts = 0;  // that a limit closed
  int64_t latency_us = 0;
  double money = 0;

  bool operator==(const Measures&) const = default;
};

// The tree must be valid (record/validate.h). The error names a task whose labels cannot be read.
Result<std::vector<Measures>> MeasureTree(const Tree& tree);

// Of each call of a trajectory, whether it brought something that the task needs: as the
// environment says (final_state.call_scores), else whether it is a gold call with right arguments.
// Absent: neither is known.
std::optional<std::vector<bool>> CallsThatHelped(const TrajectoryView& trajectory,
                                                 const Labels& labels);

// The figures that there are, in a fixed order. A share is between 0 and 1; a cost is per task.
struct FigureInfo {
  std::string name;   // "success", "needless_calls"
  std::string part;   // "outcome", "when", "which", "how" and "thought" are shares; "cost" is not
  std::string about;  // one line
};
std::vector<FigureInfo> KnownFigures();

// A figure over many trajectories, with its interval.
struct Figure {
  std::string name;
  std::string about;
  std::optional<Interval> value;  // absent: nothing to count
  int64_t units = 0;              // trajectories that say something about it
};

// All figures, in a fixed order. Trajectories of the same task are resampled together.
std::vector<Figure> FiguresOf(std::span<const Measures> measures, Rng rng,
                              const BootstrapOptions& options = {});
Json ToJson(std::span<const Figure> figures);

// One of them without its interval, which is cheap. Absent: nothing to count. The name is that of a
// figure (CHECK).
std::optional<double> ValueOf(std::span<const Measures> measures, std::string_view name);
// On how many trajectories it rests (Figure::units).
int64_t UnitsOf(std::span<const Measures> measures, std::string_view name);

// Trajectories by what `group` says of them, by name.
using GroupFunction = std::string (*)(const Measures&);
std::map<std::string, std::vector<Measures>> GroupedBy(std::span<const Measures> measures,
                                                       GroupFunction group);

// The success of each group, by name.
struct GroupSuccess {
  std::string name;
  int64_t trajectories = 0;
  std::optional<Interval> success;
};
std::vector<GroupSuccess> SuccessBy(std::span<const Measures> measures, GroupFunction group,
                                    Rng rng, const BootstrapOptions& options = {});

// Which tool was called first where which was right, over the tasks of one gold call.
struct Confusion {
  std::vector<std::string> tools;            // of rows and columns
  std::vector<std::vector<int64_t>> counts;  // [gold][made]; the last column: none was called
};
Confusion ConfusionOf(std::span<const Measures> measures);

}  // namespace hone
