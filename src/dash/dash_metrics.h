#pragma once

#include <cstdint>
#include <filesystem>
#include <map>
#include <string>
#include <vector>

#include "base/json.h"
#include "base/result.h"

namespace hone {

// The numbers of a run's metrics.jsonl as columns. The file is read on from where it ended last
// time, so that looking at a long run again costs what is new. One thread at a time.
class MetricsLog {
 public:
  explicit MetricsLog(std::filesystem::path file) : file_(std::move(file)) {}

  // Reads what is new. A file that is not there (yet) is empty. When lines were taken back (a
  // resumed run derives steps again) everything is read again, as another generation.
  Result<void> Refresh();

  int64_t generation() const { return generation_; }
  // Of all stages, counted from 1; one per row.
  const std::vector<int64_t>& steps() const { return steps_; }
  std::vector<std::string> Names() const;
  // One value per row; not a number where the row has none. Empty: there is no such column.
  std::vector<double> Column(const std::string& name) const;

  // {"generation", "first_row", "steps", "series": {name: [...]}} from `first_row` on, if
  // `generation` is still that one; else all rows. Numbers are cut to six digits.
  Json ToJson(const std::vector<std::string>& names, int64_t generation, int64_t first_row) const;

 private:
  void Forget();
  void AddLine(std::string_view line);

  std::filesystem::path file_;
  uint64_t inode_ = 0;
  uint64_t read_ = 0;  // bytes, whole lines
  int64_t generation_ = 0;
  std::vector<int64_t> steps_;
  std::map<std::string, std::vector<double>> columns_;  // may be shorter than steps_
};

}  // namespace hone
