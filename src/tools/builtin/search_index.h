#pragma once

#include <cstdint>
#include <filesystem>
#include <memory>
#include <optional>
#include <stop_token>
#include <string>
#include <string_view>
#include <vector>

#include "base/json.h"
#include "base/result.h"
#include "tools/builtin/bounded_sqlite.h"

namespace hone {

// The words a query looks for: runs of letters and digits, each once, in lower case, at most 64.
// What is not ASCII counts as letters.
std::vector<std::string> QueryWords(std::string_view query);

// BM25 (k1 = 1.2, b = 0.75) over the documents of a JSONL file, or over the passages of a folder of
// texts (tools/builtin/text_folder.h), by SQLite's FTS5. A word that is in more than half of the
// documents counts next to nothing. Words are found without regard to case and accents. One thread
// at a time.
class SearchIndex {
 public:
  // Lines are {"id": text or integer, "title"?: text, "text": text, ...}; `fields` are the keys
  // that are searched. The texts of a folder are cut into passages of `passage_words`. The index
  // lies beside the corpus as CORPUS.index and is made again when corpus or fields are others;
  // where that cannot be written, it lives in memory.
  static Result<std::unique_ptr<SearchIndex>> Open(const std::filesystem::path& corpus,
                                                   const std::vector<std::string>& fields,
                                                   int64_t passage_words = kPassageWords);
  static constexpr int64_t kPassageWords = 100;
  // The same over documents that are objects already; the index lives in memory. A field that is
  // named twice counts twice, there as here.
  static Result<std::unique_ptr<SearchIndex>> Of(const std::vector<Json>& documents,
                                                 const std::vector<std::string>& fields);

  struct Hit {
    std::string id;
    std::string title;
    double score = 0;     // above 0; more is better
    std::string snippet;  // the words around what was found
  };
  // The best `k`, best first; equals in the order of their ids. Without snippets, which take most
  // of the time, where they are of no words.
  Result<std::vector<Hit>> Search(std::string_view query, int64_t k, int64_t snippet_words,
                                  std::stop_token stop = {});
  // The whole document as JSON text, if there is one of that id.
  Result<std::optional<std::string>> Fetch(std::string_view id);

  int64_t documents() const { return documents_; }
  bool in_memory() const { return in_memory_; }

 private:
  SearchIndex() = default;

  std::unique_ptr<BoundedDatabase> database_;
  int64_t documents_ = 0;
  bool in_memory_ = false;
};

}  // namespace hone
