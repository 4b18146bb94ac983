#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "base/recipe.h"
#include "base/result.h"
#include "tools/builtin/search_index.h"
#include "tools/toolkit.h"

namespace hone {

// `search` and `fetch`: a corpus of documents, or a folder of texts, ranked by BM25
// (tools/builtin/search_index.h).
struct SearchOptions {
  std::string corpus;  // JSONL: {"id", "title"?, "text", ...}; or a folder of texts
  std::string name;    // of the corpus, for the agent: the path as the recipe has it
  std::vector<std::string> fields = {"title", "text"};  // that are searched
  int64_t k = 5;               // hits; with kJson only when the agent does not say
  int64_t max_k = 20;          // that it may ask for
  int64_t snippet_words = 40;  // kJson
  int64_t passage_words = SearchIndex::kPassageWords;  // of a folder's texts, at most
  enum class Reply {
    kJson,      // [{"id", "title", "score", "snippet"}], and `fetch` for the whole
    kPassages,  // the texts whole, a line each: "Title: text". `search` is the only tool, and the
                // query its only argument
    kSearchR1,  // the same as Search-R1 writes them: "Doc 1(Title: ...) text"
  };
  Reply reply = Reply::kJson;
};
SearchOptions ReadSearchOptions(RecipeTable table);
Result<std::shared_ptr<Toolkit>> NewSearchToolkit(const SearchOptions& options);

// One result as a line that an agent reads; `number` counts from 1.
std::string PassageLine(SearchOptions::Reply reply, size_t number, std::string_view title,
                        std::string_view text);

}  // namespace hone
