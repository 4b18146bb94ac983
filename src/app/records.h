#pragma once

#include <filesystem>
#include <memory>
#include <vector>

#include "base/result.h"
#include "record/score.h"
#include "record/store.h"
#include "text/tokenizer.h"

namespace hone {

// The records of a run's store, or of a file of trees (JSON Lines), numbered from 1.
class Records {
 public:
  // Records of a file are validated here, those of a store were when they were written.
  static Result<Records> Open(const std::filesystem::path& path);

  // The first `limit` of them.
  Result<std::vector<RunStore::TreeSummary>> List(int64_t limit) const;
  Result<int64_t> Count() const;
  Result<ScoredTree> Read(int64_t id) const;

 private:
  std::unique_ptr<RunStore> store_;
  std::vector<ScoredTree> list_;
};

// The tokenizer `asked` for; where that is empty, the one that lies beside the records; null: none.
Result<std::unique_ptr<Tokenizer>> TokenizerOfRecords(const std::filesystem::path& records,
                                                      std::filesystem::path asked);

}  // namespace hone
