#include "tools/builtin/search_tool.h"

#include <algorithm>
#include <cmath>

#include <fmt/format.h>

#include "base/gate.h"
#include "tools/builtin/builtin.h"
#include "tools/builtin/text_passages.h"

namespace hone {
namespace {

constexpr char kSearchSpecs[] = R"([{{
  "name": "search",
  "description": "Searches the documents for words and returns the best matches, best first, each with id, title, score and snippet.",
  "parameters": {{
    "type": "object",
    "properties": {{
      "query": {{"type": "string", "minLength": 1, "maxLength": 2000, "description": "plain words"}},
      "k": {{"type": "integer", "minimum": 1, "maximum": {0}, "default": {1},
            "description": "how many matches"}}
    }},
    "required": ["query"],
    "additionalProperties": false
  }},
  "x-hone": {{"effect": "reads", "output": {{"type": "array", "items": {{"type": "object",
    "properties": {{"id": {{"type": "string"}}, "title": {{"type": "string"}},
                   "score": {{"type": "number"}}, "snippet": {{"type": "string"}}}},
    "required": ["id", "score", "snippet"]}}}}}}
}}, {{
  "name": "fetch",
  "description": "Returns a whole document by its id.",
  "parameters": {{
    "type": "object",
    "properties": {{"id": {{"type": "string", "description": "as search returned it"}}}},
    "required": ["id"],
    "additionalProperties": false
  }},
  "x-hone": {{"effect": "reads", "output": {{"type": "object"}}}}
}}])";

// Where the texts come whole.
constexpr char kPassageSpecs[] = R"([{{
  "name": "search",
  "description": "Searches the texts for words and returns the best {0} passages, best first, one on each line.",
  "parameters": {{
    "type": "object",
    "properties": {{
      "query": {{"type": "string", "minLength": 1, "maxLength": 2000, "description": "plain words"}}
    }},
    "required": ["query"],
    "additionalProperties": false
  }},
  "x-hone": {{"effect": "reads", "output": {{"type": "string"}}}}
}}])";

std::vector<ToolSpec> SpecsFor(const SearchOptions& options) {
  std::vector<ToolSpec> specs =
      BuiltinSpecs(options.reply == SearchOptions::Reply::kJson
                       ? fmt::format(kSearchSpecs, options.max_k, options.k)
                       : fmt::format(kPassageSpecs, options.k));
  // The agent reads it, so it must not change with the place where a run keeps the corpus.
  for (ToolSpec& spec : specs) {
    spec.resource = options.name.empty() ? options.corpus : options.name;
  }
  return specs;
}

class SearchToolkit final : public Toolkit {
 public:
  SearchToolkit(const SearchOptions& options, std::unique_ptr<SearchIndex> index)
      : options_(options), index_(std::move(index)), tools_(SpecsFor(options)) {}

  const std::vector<ToolSpec>& tools() const override { return tools_; }
  Sharing sharing() const override { return Sharing::kNothing; }
  Result<std::unique_ptr<Session>> Open(uint64_t) override { return std::unique_ptr<Session>(); }

  ToolReply Call(std::string_view tool, const Json& arguments, Session*,
                 const CallLimits& limits) override {
    // The index is for one thread; a search takes well under a millisecond per thousand matches.
    const Gate::Pass pass = gate_.Enter(limits.stop);
    if (!pass) return TimedOut("stopped while others searched");
    return tool == "fetch" ? Fetch(TextArgument(arguments, "id")) : Search(arguments, limits);
  }

 private:
  ToolReply Search(const Json& arguments, const CallLimits& limits) {
    const std::string query = TextArgument(arguments, "query");
    if (QueryWords(query).empty()) {
      return Refuted("the query has no words; give some, for example \"height of Mont Blanc\"");
    }
    const int64_t k =
        std::clamp(IntegerArgument(arguments, "k", options_.k), int64_t{1}, options_.max_k);
    const bool listed = options_.reply == SearchOptions::Reply::kJson;
    const auto hits = index_->Search(query, k, listed ? options_.snippet_words : 0, limits.stop);
    if (!hits.ok()) return FromError(hits.error());
    return listed ? Listed(*hits) : Passages(*hits);
  }

  static ToolReply Listed(const std::vector<SearchIndex::Hit>& hits) {
    Json::Array list;
    for (const SearchIndex::Hit& hit : hits) {
      Json entry = Json::Of({{"id", hit.id}});
      if (!hit.title.empty()) entry.Set("title", hit.title);
      // Ranked by the whole score; four decimals are plenty to read.
      entry.Set("score", std::round(hit.score * 1e4) / 1e4);
      entry.Set("snippet", hit.snippet);
      list.push_back(std::move(entry));
    }
    return Answered(DumpJson(Json(std::move(list))));
  }

  ToolReply Passages(const std::vector<SearchIndex::Hit>& hits) {
    if (hits.empty()) return Answered("nothing found");
    std::string lines;
    for (size_t i = 0; i < hits.size(); ++i) {
      const auto document = index_->Fetch(hits[i].id);
      if (!document.ok()) return FromError(document.error());
      CHECK(document->has_value(), "a hit without a document");
      const std::string& title = hits[i].title.empty() ? hits[i].id : hits[i].title;
      if (i > 0) lines += '\n';
      lines += PassageLine(options_.reply, i + 1, title, TextOf(**document));
    }
    return Answered(std::move(lines));
  }

  // "text", or the fields that are searched where a corpus has other ones.
  std::string TextOf(const std::string& document) const {
    const Result<Json> json = ParseJson(document);
    CHECK(json.ok(), "the index holds what was JSON");
    if (const std::string text = TextArgument(*json, "text"); !text.empty()) return text;
    std::string texts;
    for (const std::string& field : options_.fields) {
      if (field == "title") continue;
      const std::string text = TextArgument(*json, field);
      if (!text.empty()) texts += (texts.empty() ? "" : " ") + text;
    }
    return texts;
  }

  ToolReply Fetch(const std::string& id) {
    Result<std::optional<std::string>> document = index_->Fetch(id);
    if (!document.ok()) return FromError(document.error());
    if (!document->has_value()) return Refuted(fmt::format("there is no document \"{}\"", id));
    return Answered(**std::move(document));
  }

  const SearchOptions options_;
  const std::unique_ptr<SearchIndex> index_;
  std::vector<ToolSpec> tools_;
  Gate gate_{1};
};

}  // namespace

std::string PassageLine(SearchOptions::Reply reply, size_t number, std::string_view title,
                        std::string_view text) {
  const std::string name = OnOneLine(title), line = OnOneLine(text);
  if (reply == SearchOptions::Reply::kSearchR1)
    return fmt::format("Doc {}(Title: {}) {}", number, name, line);
  return fmt::format("{}: {}", name, line);
}

SearchOptions ReadSearchOptions(RecipeTable table) {
  SearchOptions options;
  table.Read("corpus", &options.name, "JSONL file of documents, or a folder of texts");
  if (!options.name.empty()) {
    options.corpus = table.PathAt("corpus", options.name, PathUse::kInput);
  }
  table.Read("fields", &options.fields, "that are searched");
  table.Read("k", &options.k, "hits when the agent does not say", Between(1, 1000));
  table.Read("max_k", &options.max_k, "hits it may ask for", Between(1, 1000));
  table.Read("snippet_words", &options.snippet_words, "around what was found", Between(1, 64));
  table.Read("passage_words", &options.passage_words, "of the passages a folder's texts are cut to",
             Between(10, 10000));
  std::string reply = "json";
  table.ReadChoice("reply", &reply, {"json", "passages", "search-r1"}, "what the agent reads");
  options.reply = reply == "json"       ? SearchOptions::Reply::kJson
                  : reply == "passages" ? SearchOptions::Reply::kPassages
                                        : SearchOptions::Reply::kSearchR1;
  if (options.corpus.empty()) {
    table.Problem("corpus", "wants a JSONL file of documents, or a folder of texts");
  }
  if (options.fields.empty()) table.Problem("fields", "wants at least one");
  if (options.k > options.max_k) table.Problem("k", "is at most max_k");
  return options;
}

Result<std::shared_ptr<Toolkit>> NewSearchToolkit(const SearchOptions& options) {
  HONE_ASSIGN_OR_RETURN(auto index,
                        SearchIndex::Open(options.corpus, options.fields, options.passage_words));
  return std::shared_ptr<Toolkit>(std::make_shared<SearchToolkit>(options, std::move(index)));
}

}  // namespace hone
