#pragma once

#include <filesystem>
#include <map>
#include <memory>
#include <string>
#include <vector>

#include "base/json.h"
#include "base/mutex.h"
#include "base/result.h"
#include "dash/dash_metrics.h"
#include "dash/dash_runs.h"
#include "dash/dash_trees.h"
#include "train/folder/run_folder.h"

namespace hone {

// What the dashboard knows of the runs in some folders, as JSON. It only reads: metrics.jsonl on
// from where it ended, the newest checkpoint's training.json, and the store as a reader that no
// writer waits for. A run may be in training, be killed, or go away meanwhile. Thread-safe.
class DashBoard {
 public:
  explicit DashBoard(std::vector<std::filesystem::path> roots);
  ~DashBoard();

  // {"runs": [...]}: one line per run, those that cannot be read with their "problem". `now`:
  // seconds since 1970.
  Json Runs(double now);

  // kNotFound for a run that is not there.
  //
  // The line of one run, with before and after, alarms, totals, recipe and names of metrics.
  Result<Json> Run(const std::string& id, double now);
  // In which keys the recipes of these runs differ (DifferencesOf).
  Result<Json> Differences(const std::vector<std::string>& ids);
  // Columns of numbers (MetricsLog::ToJson). No names: all of them.
  Result<Json> Metrics(const std::string& id, const std::vector<std::string>& names,
                       int64_t generation, int64_t first_row);
  // A page of groups (ListGroups).
  Result<Json> Groups(const std::string& id, const GroupFilter& filter, const GroupPage& page);
  // One group (GroupToJson), with its credit by `method`; empty: the recipe's.
  Result<Json> Group(const std::string& id, int64_t tree, const std::string& method);

 private:
  struct Entry;

  void FindAgain();
  Result<std::shared_ptr<Entry>> Find(const std::string& id);

  const std::vector<std::filesystem::path> roots_;
  Mutex mutex_;
  std::map<std::string, std::shared_ptr<Entry>> entries_ HONE_GUARDED_BY(mutex_);
};

}  // namespace hone
