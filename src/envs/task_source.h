#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"
#include "record/task.h"

namespace hone {

// Which tasks. Choices are made on dev; nothing is chosen on the last three.
enum class Split {
  kTrain,
  kDev,            // combinations of entities that training never has
  kTest,           // others
  kUnseenKinds,    // those of test, in kinds of task that training never has
  kUnseenPhrases,  // those of test, in words that training never has
};
std::string_view SplitName(Split split);
std::vector<std::string> SplitNames();
Result<Split> SplitFromName(std::string_view name);
inline constexpr Split kAllSplits[] = {Split::kTrain, Split::kDev, Split::kTest,
                                       Split::kUnseenKinds, Split::kUnseenPhrases};

// Tasks by number. Immutable and thread-safe.
class TaskSource {
 public:
  virtual ~TaskSource() = default;

  // How many there are; nothing: as many as one likes.
  virtual std::optional<uint64_t> count(Split split) const = 0;
  // The same task for the same number, always. `index` is less than count(split).
  virtual Task Make(Split split, uint64_t index) const = 0;

  // The number of the training task at this place of an endless source: of several environments
  // in one (envs/mixture.h) each comes as often as it is wanted.
  virtual uint64_t NumberAt(uint64_t place) const { return place; }
  // The numbers of the tasks that stand for a split when it is measured: the first `tasks`, or as
  // many as there are; of several environments in one, of each.
  virtual std::vector<uint64_t> Measured(Split split, uint64_t tasks) const;
};

// What a task says of itself for the sake of splits, under "metadata".
struct SplitMarks {
  std::string kind;
  std::string phrase;             // which wording
  std::vector<std::string> keys;  // combinations of entities that its solution is about
};
SplitMarks SplitMarksOf(const Task& task);

// Everything in which the splits overlap where they must not, in words, looking at the first
// `per_split` tasks of each: keys between train, dev and the test splits; the kinds of unseen-kinds
// and the phrases of unseen-phrases anywhere else. Tasks without keys (what a model knows by heart)
// are in all splits alike.
std::vector<std::string> SplitProblems(const TaskSource& source, uint64_t per_split);

}  // namespace hone
