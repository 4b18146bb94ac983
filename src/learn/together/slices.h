#pragma once

#include <cstdint>
#include <functional>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "base/result.h"
#include "base/thread_pool.h"
#include "cluster/cluster.h"
#include "engine/buffer.h"
#include "engine/engine.h"

// A gradient in slices, so that several processes may compute it: a sum of float32 numbers depends
// on its order, and the order must not depend on how many there are.
//
// A mini-batch is cut into `count` slices. Each one's gradient is accumulated from zero. Slices are
// added in pairs that follow from their number alone: [0, n) is [0, n/2) + [n/2, n). One slice is
// accumulated as if there were none.

namespace hone {

// The items [first, second) of so many that are of one of `count` even parts.
std::pair<size_t, size_t> PartOf(size_t items, int64_t count, int64_t part);

// Slices [begin, end) that are added up.
struct SliceRange {
  int64_t begin = 0, end = 0;
  bool operator==(const SliceRange&) const = default;
};
// Of `processes` that compute `count` slices together: which slices one of them computes, none
// where there are fewer; and the sums of the tree, as large as they can be, that it makes of them
// alone and sends to whoever adds up the rest.
SliceRange SlicesOfProcess(int64_t count, int processes, int rank);
std::vector<SliceRange> SumsOfProcess(int64_t count, int processes, int rank);

class Slices {
 public:
  // In one process.
  explicit Slices(int64_t count = 1) : count_(count) {}
  // The processes of a cluster compute them together: each a run of neighbours. It must outlive
  // this.
  Slices(int64_t count, Cluster* cluster) : count_(count), cluster_(cluster) {}

  int64_t count() const { return count_; }
  // Those of this process; none where there are fewer slices than processes.
  std::pair<int64_t, int64_t> mine() const {
    const SliceRange range = SlicesOfProcess(count_, processes(), rank());
    return {range.begin, range.end};
  }
  bool IsMine(int64_t slice) const { return mine().first <= slice && slice < mine().second; }

  // What the processes say of their slices, brought together: every process gets all of it, in the
  // order of the slices. Where one of them has an error, all have it.
  std::vector<std::string> Share(std::vector<std::string> of_mine) const;
  Result<std::vector<std::string>> Share(Result<std::vector<std::string>> of_mine) const;

  // Lets `accumulate` add the gradient of each slice of this process to the engine's, and leaves
  // the sum of all slices there: in every process the same, or where the engine shares its steps
  // (learn/together/shared_step.h), that of the tensors that the process has.
  void Accumulate(Engine* engine, const std::function<void(int64_t slice)>& accumulate) const;

 private:
  int rank() const { return cluster_ == nullptr ? 0 : cluster_->rank(); }
  int processes() const { return cluster_ == nullptr ? 1 : cluster_->size(); }

  int64_t count_;
  Cluster* cluster_ = nullptr;
};

}  // namespace hone
