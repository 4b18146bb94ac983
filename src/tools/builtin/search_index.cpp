#include "tools/builtin/search_index.h"

#include <algorithm>
#include <cctype>
#include <functional>

#include <fmt/format.h>
#include <unistd.h>

#include "base/file.h"
#include "base/hash.h"
#include "base/strings.h"
#include "tools/builtin/text_folder.h"

namespace hone {
namespace {

constexpr size_t kMaxWords = 64;
// Part of what an index is recognised by: another way to build it is another number.
constexpr int kIndexVersion = 1;

Error Failed(const BoundedDatabase& database, std::string_view doing) {
  const ErrorCode code = database.Stopped() ? ErrorCode::kStopped : ErrorCode::kIo;
  return Error(code, fmt::format("{}: {}", doing, database.Message()));
}

// A document as the index keeps it.
struct Document {
  std::string id;
  std::string title;
  std::vector<std::string> fields;
};

Result<Document> ReadDocument(const Json& json, const std::vector<std::string>& fields) {
  Document document;
  const Json* id = json.Find("id");
  if (id == nullptr || !(id->is_string() || id->is_integer())) {
    return Error(ErrorCode::kInvalidArgument, "wants \"id\", a text or an integer");
  }
  document.id = id->is_string() ? id->AsString() : DumpJson(*id);
  if (const Json* title = json.Find("title"); title != nullptr && title->is_string()) {
    document.title = title->AsString();
  }
  bool any = false;
  for (const std::string& field : fields) {
    const Json* value = json.Find(field);
    any |= value != nullptr && value->is_string();
    document.fields.push_back(value != nullptr && value->is_string() ? value->AsString() : "");
  }
  if (!any) {
    return Error(ErrorCode::kInvalidArgument,
                 fmt::format("has no text under {}", fmt::join(fields, ", ")));
  }
  return document;
}

// The documents one after the other; nothing behind the last. `where` says which one it is.
using NextDocument = std::function<Result<std::optional<Json>>(std::string* where)>;

NextDocument LinesOf(std::string_view corpus) {
  return [corpus, number = 0](std::string* where) mutable -> Result<std::optional<Json>> {
    while (!corpus.empty()) {
      const size_t end = std::min(corpus.find('\n'), corpus.size());
      const std::string_view line = Trim(corpus.substr(0, end));
      corpus.remove_prefix(std::min(end + 1, corpus.size()));
      *where = fmt::format("line {}", ++number);
      if (line.empty()) continue;
      Result<Json> json = ParseJson(line);
      if (!json.ok()) return json.error().In(*where);
      return std::optional(*std::move(json));
    }
    return std::optional<Json>();
  };
}

NextDocument EachOf(const std::vector<Json>& documents) {
  return [&documents, number = size_t{0}](std::string* where) mutable {
    if (number == documents.size()) return Result<std::optional<Json>>(std::nullopt);
    *where = fmt::format("document {}", number + 1);
    return Result<std::optional<Json>>(documents[number++]);
  };
}

Result<void> Fill(BoundedDatabase* database, const NextDocument& next,
                  const std::vector<std::string>& fields, const std::string& key) {
  std::string columns, places;
  for (size_t i = 0; i < fields.size(); ++i) {
    columns += fmt::format("f{}, ", i);
    places += ", ?";
  }
  HONE_RETURN_IF_ERROR(database->Execute(
      fmt::format("BEGIN; CREATE TABLE about (key TEXT, documents INTEGER);"
                  "CREATE TABLE document (number INTEGER PRIMARY KEY, id TEXT UNIQUE, title TEXT, "
                  "json TEXT);"
                  "CREATE VIRTUAL TABLE words USING fts5({}tokenize = 'unicode61')",
                  columns)
          .c_str()));
  BoundedStatement keep(database, "INSERT INTO document VALUES (?, ?, ?, ?)");
  BoundedStatement index(database, fmt::format("INSERT INTO words (rowid, {}) VALUES (?{})",
                                               columns.substr(0, columns.size() - 2), places));
  BoundedStatement find(database, "SELECT 1 FROM document WHERE id = ?");
  int64_t count = 0;
  std::string where;
  while (true) {
    HONE_ASSIGN_OR_RETURN(const std::optional<Json> json, next(&where));
    if (!json) break;
    const Result<Document> document = ReadDocument(*json, fields);
    if (!document.ok()) return document.error().In(where);
    const bool known = find.Bind(document->id).Step();
    find.Reset();
    if (known) {
      return Error(ErrorCode::kInvalidArgument,
                   fmt::format("{}: there is a document \"{}\" already", where, document->id));
    }
    ++count;
    const std::string whole = DumpJson(*json);
    keep.Bind(count).Bind(document->id).Bind(document->title).Bind(whole).Step();
    index.Bind(count);
    for (const std::string& field : document->fields) index.Bind(field);
    index.Step();
    if (keep.failed() || index.failed() || find.failed()) return Failed(*database, where);
    keep.Reset();
    index.Reset();
  }
  if (count == 0) return Error(ErrorCode::kInvalidArgument, "there is no document in it");
  BoundedStatement about(database, "INSERT INTO about VALUES (?, ?)");
  about.Bind(key).Bind(count).Step();
  if (about.failed()) return Failed(*database, "indexing");
  // One segment: nothing in the answer depends on how it was built.
  return database->Execute("INSERT INTO words (words) VALUES ('optimize'); COMMIT");
}

// How many documents an index of this key has; nothing when it is another's, or damaged.
std::optional<int64_t> DocumentsIn(BoundedDatabase* database, const std::string& key) {
  BoundedStatement about(database, "SELECT documents FROM about WHERE key = ?");
  if (!about.Bind(key).Step()) return std::nullopt;
  return about.Integer(0);
}

// Builds the index in a file beside `target` and puts it in its place. The connection that is
// returned reads what was built here, whatever another process puts there meanwhile.
Result<std::unique_ptr<BoundedDatabase>> Build(const std::filesystem::path& target,
                                               std::string_view corpus,
                                               const std::vector<std::string>& fields,
                                               const std::string& key) {
  std::string aside = target.string() + ".XXXXXX";
  const int fd = ::mkstemp(aside.data());
  if (fd < 0) return ErrnoError("cannot create a file beside " + target.string());
  ::close(fd);
  auto built = [&]() -> Result<std::unique_ptr<BoundedDatabase>> {
    {
      HONE_ASSIGN_OR_RETURN(const auto database, BoundedDatabase::Create(aside));
      HONE_RETURN_IF_ERROR(Fill(database.get(), LinesOf(corpus), fields, key));
    }
    HONE_ASSIGN_OR_RETURN(auto database, BoundedDatabase::OpenToRead(aside, true));
    if (::rename(aside.c_str(), target.c_str()) != 0) {
      return ErrnoError("cannot write " + target.string());
    }
    return database;
  }();
  if (!built.ok()) ::unlink(aside.c_str());
  return built;
}

}  // namespace

std::vector<std::string> QueryWords(std::string_view query) {
  std::vector<std::string> words;
  std::string word;
  auto finish = [&] {
    const bool known = std::find(words.begin(), words.end(), word) != words.end();
    if (!word.empty() && !known && words.size() < kMaxWords) words.push_back(word);
    word.clear();
  };
  for (const char c : query) {
    const auto byte = static_cast<unsigned char>(c);
    if (byte >= 0x80 || std::isalnum(byte)) {
      word += byte >= 0x80 ? c : static_cast<char>(std::tolower(byte));
    } else {
      finish();
    }
  }
  finish();
  return words;
}

Result<std::unique_ptr<SearchIndex>> SearchIndex::Open(const std::filesystem::path& corpus,
                                                       const std::vector<std::string>& fields,
                                                       int64_t passage_words) {
  if (fields.empty()) {
    return Error(ErrorCode::kInvalidArgument, "fields: at least one is searched");
  }
  std::error_code ignored;
  const bool folder = std::filesystem::is_directory(corpus, ignored);
  HONE_ASSIGN_OR_RETURN(const std::string text,
                        folder ? CorpusOfFolder(corpus, passage_words) : ReadFile(corpus));
  const std::string key = Sha256Hex(
      fmt::format("{} {} {}", kIndexVersion, DumpJson(Json::ArrayOf(fields)), Sha256Hex(text)));
  // Beside a folder and not in it, also where its name ends with a slash.
  const std::filesystem::path target = (corpus / "").parent_path().string() + ".index";
  std::unique_ptr<SearchIndex> index(new SearchIndex);
  if (auto there = BoundedDatabase::OpenToRead(target, true); there.ok()) {
    if (const auto documents = DocumentsIn(there->get(), key)) {
      index->database_ = *std::move(there);
      index->documents_ = *documents;
      return index;
    }
  }
  auto built = Build(target, text, fields, key);
  if (!built.ok() && built.error().code() != ErrorCode::kIo &&
      built.error().code() != ErrorCode::kFull && built.error().code() != ErrorCode::kNotFound) {
    return built.error().In(corpus.string());  // the corpus is wrong, not the place
  }
  if (built.ok()) {
    index->database_ = *std::move(built);
  } else {
    index->in_memory_ = true;
    HONE_ASSIGN_OR_RETURN(index->database_, BoundedDatabase::Create({}));
    if (auto filled = Fill(index->database_.get(), LinesOf(text), fields, key); !filled.ok()) {
      return filled.error().In(corpus.string());
    }
  }
  index->documents_ = DocumentsIn(index->database_.get(), key).value_or(0);
  return index;
}

Result<std::unique_ptr<SearchIndex>> SearchIndex::Of(const std::vector<Json>& documents,
                                                     const std::vector<std::string>& fields) {
  if (fields.empty()) {
    return Error(ErrorCode::kInvalidArgument, "fields: at least one is searched");
  }
  std::unique_ptr<SearchIndex> index(new SearchIndex);
  index->in_memory_ = true;
  HONE_ASSIGN_OR_RETURN(index->database_, BoundedDatabase::Create({}));
  HONE_RETURN_IF_ERROR(Fill(index->database_.get(), EachOf(documents), fields, ""));
  index->documents_ = static_cast<int64_t>(documents.size());
  return index;
}

Result<std::vector<SearchIndex::Hit>> SearchIndex::Search(std::string_view query, int64_t k,
                                                          int64_t snippet_words,
                                                          std::stop_token stop) {
  const std::vector<std::string> words = QueryWords(query);
  if (words.empty()) return std::vector<Hit>();
  // Quoted, a word is never a part of FTS5's own language.
  const std::string match = fmt::format("\"{}\"", fmt::join(words, "\" OR \""));
  database_->Bound({.steps = 0, .stop = stop});
  // Snippets cost far more than scores, so they are made for the best alone.
  BoundedStatement best(database_.get(),
                        "SELECT number, id, title, -bm25(words) AS score FROM words JOIN document "
                        "ON number = words.rowid WHERE words MATCH ? ORDER BY score DESC, id "
                        "LIMIT ?");
  BoundedStatement around(database_.get(),
                          "SELECT snippet(words, -1, '', '', '...', ?) FROM words WHERE words "
                          "MATCH ? AND rowid = ?");
  std::vector<Hit> hits;
  best.Bind(match).Bind(k);
  while (best.Step()) {
    Hit hit{best.Text(1), best.Text(2), best.Real(3), ""};
    if (snippet_words > 0 && around.Bind(snippet_words).Bind(match).Bind(best.Integer(0)).Step()) {
      hit.snippet = around.Text(0);
    }
    if (around.failed()) return Failed(*database_, "search");
    around.Reset();
    hits.push_back(std::move(hit));
  }
  if (best.failed()) return Failed(*database_, "search");
  return hits;
}

Result<std::optional<std::string>> SearchIndex::Fetch(std::string_view id) {
  database_->Bound({});
  BoundedStatement find(database_.get(), "SELECT json FROM document WHERE id = ?");
  if (find.Bind(id).Step()) return std::optional(find.Text(0));
  if (find.failed()) return Failed(*database_, "fetch");
  return std::optional<std::string>();
}

}  // namespace hone
