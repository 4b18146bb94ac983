#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "base/recipe.h"
#include "base/result.h"
#include "tools/toolkit.h"

namespace hone {

// `search` and `fetch`: a corpus of documents, ranked by BM25 (tools/builtin/search_index.h).
struct SearchOptions {
  std::string corpus;                                   // JSONL: {"id", "title"?, "text", ...}
  std::vector<std::string> fields = {"title", "text"};  // that are searched
  int64_t k = 5;                                        // hits when the agent does not say
  int64_t max_k = 20;                                   // that it may ask for
  int64_t snippet_words = 40;
};
SearchOptions ReadSearchOptions(RecipeTable table);
Result<std::shared_ptr<Toolkit>> NewSearchToolkit(const SearchOptions& options);

}  // namespace hone
