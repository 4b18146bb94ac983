#include "app/records.h"

#include <algorithm>

#include <fmt/format.h>

#include "app/input.h"
#include "base/file.h"
#include "record/record_json.h"
#include "record/validate.h"

namespace hone {

Result<Records> Records::Open(const std::filesystem::path& path) {
  Records records;
  std::error_code ignored;
  if (std::filesystem::is_directory(path, ignored)) {
    HONE_ASSIGN_OR_RETURN(records.store_, RunStore::OpenForReading(path / "store.sqlite"));
  } else if (path.extension() == ".sqlite") {
    HONE_ASSIGN_OR_RETURN(records.store_, RunStore::OpenForReading(path));
  } else if (!std::filesystem::exists(path, ignored)) {
    return Error(ErrorCode::kNotFound,
                 fmt::format("{}: not found; give a run's folder, its store, or a file of trees",
                             path.string()));
  } else {
    HONE_ASSIGN_OR_RETURN(const std::string text, ReadInput(path.string()));
    Result<std::vector<Json>> lines = ParseJsonLines(text);
    if (!lines.ok()) return lines.error().In(path.string());
    for (size_t i = 0; i < lines->size(); ++i) {
      const std::string where = fmt::format("{}: record {}", path.string(), i + 1);
      Result<ScoredTree> record = RecordFromJson((*lines)[i]);
      if (!record.ok()) return record.error().In(where);
      if (const auto problems = Validate(*record); !problems.empty()) {
        return Error(ErrorCode::kInvalidArgument, where + ": " + problems.front());
      }
      records.list_.push_back(std::move(record).value());
    }
  }
  return records;
}

Result<std::vector<RunStore::TreeSummary>> Records::List(int64_t limit) const {
  if (store_ != nullptr) return store_->ListTrees(0, limit);
  std::vector<RunStore::TreeSummary> summaries;
  for (size_t i = 0; i < std::min(list_.size(), static_cast<size_t>(limit)); ++i) {
    const Tree& tree = list_[i].tree;
    RunStore::TreeSummary summary{static_cast<int64_t>(i) + 1,
                                  0,
                                  tree.task.id,
                                  static_cast<int32_t>(tree.nodes.size()),
                                  static_cast<int32_t>(tree.leaves.size()),
                                  CountTokens(tree),
                                  MeanReward(list_[i].scores)};
    summaries.push_back(std::move(summary));
  }
  return summaries;
}

Result<int64_t> Records::Count() const {
  if (store_ != nullptr) return store_->CountTrees();
  return static_cast<int64_t>(list_.size());
}

Result<ScoredTree> Records::Read(int64_t id) const {
  if (store_ != nullptr) return store_->ReadTree(id);
  if (id < 1 || id > static_cast<int64_t>(list_.size())) {
    return Error(ErrorCode::kNotFound,
                 fmt::format("there is no tree {}; there are {}", id, list_.size()));
  }
  return list_[static_cast<size_t>(id) - 1];
}

Result<std::unique_ptr<Tokenizer>> TokenizerOfRecords(const std::filesystem::path& records,
                                                      std::filesystem::path asked) {
  if (asked.empty()) {
    std::error_code ignored;
    const bool folder = std::filesystem::is_directory(records, ignored);
    asked = (folder ? records : records.parent_path()) / "tokenizer.json";
    if (!std::filesystem::exists(asked, ignored)) return std::unique_ptr<Tokenizer>();
  }
  HONE_ASSIGN_OR_RETURN(Tokenizer tokenizer, Tokenizer::Load(asked));
  return std::make_unique<Tokenizer>(std::move(tokenizer));
}

}  // namespace hone
