#pragma once

#include <filesystem>
#include <limits>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "base/result.h"
#include "base/sqlite.h"
#include "record/score.h"

namespace hone {

// What a run writes down as it goes (docs/formats/store.md): metrics, trees, scores, advantages.
//
// One SQLite file in WAL mode: one process writes, others may read meanwhile. A call that returned
// success has committed; after a kill at any moment the store opens and holds all of it. A full
// disk is kFull and leaves what was committed untouched. Not synchronised: one thread per object.
class RunStore {
 public:
  static constexpr int kSchemaVersion = 2;

  // Opens the store for writing, creating it when absent and migrating it when it is older.
  static Result<std::unique_ptr<RunStore>> Open(const std::filesystem::path& file);
  // Opens an existing store for reading only.
  static Result<std::unique_ptr<RunStore>> OpenForReading(const std::filesystem::path& file);
  ~RunStore();
  RunStore(const RunStore&) = delete;
  RunStore& operator=(const RunStore&) = delete;

  // Adds a record of a training step and returns its id; ids ascend. Refuses an invalid record.
  Result<int64_t> AddTree(int64_t step, const ScoredTree& record);
  // A record that has grown takes the place of what was written of it before, scores included.
  Result<void> ReplaceTree(int64_t id, const ScoredTree& record);
  // Replaces what was said of a tree. Refuses what does not fit the tree.
  Result<void> SetScores(int64_t id, const std::vector<Score>& scores);
  Result<void> SetAdvantages(int64_t id, const std::vector<Advantages>& advantages);
  Result<void> AddMetrics(int64_t step, const std::map<std::string, double>& values);
  // Forgets everything of the steps from `step` on: a resumed run derives them again.
  Result<void> DropStepsFrom(int64_t step);

  // Makes everything until Commit one unit that happens wholly or not at all. Without it every call
  // is a unit of its own. Dropped unfinished, it takes back what was done.
  class Transaction {
   public:
    Transaction(Transaction&& other) noexcept;
    ~Transaction();
    Result<void> Commit();

   private:
    friend class RunStore;
    explicit Transaction(RunStore* store) : store_(store) {}
    RunStore* store_;
  };
  Result<Transaction> Begin();

  struct TreeSummary {
    int64_t id = 0;
    int64_t step = 0;
    std::string task;
    int32_t nodes = 0;
    int32_t leaves = 0;
    int64_t tokens = 0;
    std::optional<double> mean_reward;  // over the leaves that were scored
  };
  // In order of id, from `first_id` on.
  Result<std::vector<TreeSummary>> ListTrees(int64_t first_id = 0, int64_t limit = 1000) const;
  // The same a page at a time, by step and id, within bounded work: a store of any size is listed
  // in pieces. Takes the rows between `first_step` and `last_step` whose reward is in bounds.
  struct TreePlace {
    int64_t step = 0, id = 0;
  };
  struct TreeQuery {
    int64_t first_step = 0, last_step = std::numeric_limits<int64_t>::max();
    std::optional<double> least_reward, most_reward;  // of the mean; the unscored then leave
    bool newest_first = true;
    std::optional<TreePlace> behind;  // goes on behind this one
    int64_t limit = 100;              // trees on the page
    int64_t look_at = 20000;          // rows that are read for it, at most
  };
  struct TreePage {
    std::vector<TreeSummary> trees;
    std::optional<TreePlace> next;  // `behind` of the next page; absent: that was all
  };
  Result<TreePage> PageTrees(const TreeQuery& query) const;
  Result<int64_t> CountTrees() const;
  // A tree whose parts do not fit each other is kCorrupt; what is returned is valid.
  Result<ScoredTree> ReadTree(int64_t id) const;
  // The values of one metric by step.
  Result<std::map<int64_t, double>> ReadMetric(const std::string& name) const;
  Result<std::vector<std::string>> MetricNames() const;

 private:
  explicit RunStore(std::unique_ptr<SqliteFile> file) : file_(std::move(file)) {}

  Result<void> WriteScores(int64_t id, const std::vector<Score>& scores);
  Result<void> WriteAdvantages(int64_t id, const std::vector<Advantages>& advantages);

  std::unique_ptr<SqliteFile> file_;
  bool in_transaction_ = false;
};

}  // namespace hone
