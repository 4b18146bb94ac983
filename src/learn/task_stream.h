#pragma once

#include <cstdint>
#include <deque>
#include <map>
#include <string>
#include <vector>

#include "base/json.h"
#include "base/result.h"
#include "base/rng.h"
#include "envs/task_source.h"

namespace hone {

// What tasks are told apart by: a member of their metadata ("family", "kind"), as text; "index":
// every task by itself. Tasks without it are of the kind "other".
std::string KindOf(const Task& task, uint64_t index, const std::string& by);

// The training tasks of a source by kind: an endless source in its order; a finite one in epochs,
// each in an order of its own. What it hands out depends on the questions it was asked before and
// on nothing else. Not synchronised.
class TaskStream {
 public:
  // `source` must outlive it, and have a training task.
  TaskStream(const TaskSource* source, std::string by, const Rng& rng);

  // The number of the next task, whatever its kind.
  uint64_t Next();
  // The number of the next task of a kind. Tasks of other kinds that it passes wait for their turn,
  // up to 256 of each kind. Where none is found among the next ten thousand, the next of any kind.
  uint64_t Next(const std::string& kind);

  // The kinds there are, each with its share of the tasks: of all of a finite source, of the first
  // 512 of an endless one.
  std::map<std::string, double> Shares() const;

  Json ToJson() const;
  Result<void> Restore(const Json& state);

 private:
  uint64_t At(uint64_t position) const;

  const TaskSource* source_;
  std::string by_;
  Rng rng_;
  uint64_t position_ = 0;                                // in the stream
  std::map<std::string, std::deque<uint64_t>> waiting_;  // task numbers by kind
  mutable uint64_t epoch_ = 0;                           // whose order is kept
  mutable std::vector<size_t> order_;                    // of a finite source
};

}  // namespace hone
