#include "tools/builtin/text_folder.h"

#include <algorithm>
#include <array>
#include <cctype>
#include <optional>
#include <vector>

#include <fmt/format.h>

#include "base/bytes/byte_order_mark.h"
#include "base/file.h"
#include "base/json.h"
#include "base/json_lines.h"
#include "base/strings.h"
#include "base/utf8.h"
#include "tools/builtin/html_text.h"
#include "tools/builtin/text_passages.h"

namespace hone {
namespace {

namespace fs = std::filesystem;

constexpr size_t kMostFiles = 100000;  // who names a whole disk by mistake is told soon

constexpr auto kTextEndings =
    std::to_array<std::string_view>({".txt", ".md", ".markdown", ".html", ".htm", ".jsonl"});

struct TextFile {
  fs::path path;
  std::string name;    // below the folder, with /
  std::string ending;  // in lower case
};

std::string EndingOf(const fs::path& path) {
  std::string ending = path.extension().string();
  for (char& c : ending) c = static_cast<char>(std::tolower(static_cast<unsigned char>(c)));
  return ending;
}

Error NoTexts(const fs::path& folder, const std::vector<std::string>& others) {
  std::string has = "it is empty";
  if (!others.empty()) {
    has = fmt::format("it has {} other file{}, such as {}", others.size(),
                      others.size() == 1 ? "" : "s", others.front());
  }
  return Error(ErrorCode::kInvalidArgument,
               fmt::format("{}: there is no text in this folder ({}); .txt, .md, .html and .jsonl "
                           "are read",
                           folder.string(), has));
}

Result<std::vector<TextFile>> TextsIn(const fs::path& folder) {
  std::vector<TextFile> files;
  std::vector<std::string> others;
  std::error_code failed;
  fs::recursive_directory_iterator entry(folder, failed), end;
  for (; !failed && entry != end; entry.increment(failed)) {
    const fs::path& path = entry->path();
    std::error_code ignored;
    if (path.filename().string().starts_with('.')) {
      entry.disable_recursion_pending();
      continue;
    }
    if (!entry->is_regular_file(ignored)) continue;
    TextFile file{path, path.lexically_relative(folder).generic_string(), EndingOf(path)};
    if (!IsOneOf(file.ending, kTextEndings)) {
      others.push_back(std::move(file.name));
    } else {
      files.push_back(std::move(file));
    }
    if (files.size() > kMostFiles) {
      return Error(ErrorCode::kUnsupported,
                   fmt::format("{}: there are more than {} texts in this folder; name a smaller "
                               "one, or make one JSONL file of them",
                               folder.string(), kMostFiles));
    }
  }
  if (failed) {
    return Error(ErrorCode::kIo,
                 fmt::format("{}: cannot be listed: {}", folder.string(), failed.message()));
  }
  std::sort(others.begin(), others.end());
  if (files.empty()) return NoTexts(folder, others);
  std::sort(files.begin(), files.end(),
            [](const TextFile& a, const TextFile& b) { return a.name < b.name; });
  return files;
}

// Passages as lines of a corpus.
class CorpusWriter {
 public:
  explicit CorpusWriter(int64_t passage_words) : words_(passage_words) {}

  Result<void> Add(const TextFile& file) {
    file_ = &file;
    number_ = 0;
    HONE_ASSIGN_OR_RETURN(const std::string bytes, ReadFile(file.path));
    if (const size_t good = Utf8ValidPrefix(bytes); good < bytes.size()) {
      return Error(ErrorCode::kInvalidArgument,
                   fmt::format("{}: byte {} is not UTF-8; convert the file, for example by "
                               "`iconv -f latin1 -t utf-8`",
                               file.path.string(), good));
    }
    const std::string_view text = WithoutByteOrderMark(bytes);
    const std::string stem = fs::path(file.name).stem().string();
    if (file.ending == ".jsonl") return AddDocuments(text, stem);
    if (file.ending == ".html" || file.ending == ".htm") {
      const HtmlText page = TextOfHtml(text);
      AddText(page.text, Headings::kMarkdown, page.title.empty() ? stem : page.title);
    } else {
      AddText(text, file.ending == ".txt" ? Headings::kNone : Headings::kMarkdown, stem);
    }
    return {};
  }

  std::string Take() { return std::move(corpus_); }

 private:
  void AddText(std::string_view text, Headings headings, const std::string& title) {
    for (const TextPassage& passage : PassagesOf(text, headings, words_)) {
      const bool apart = !passage.heading.empty() && passage.heading != title;
      corpus_ += DumpJson(
          Json::Of({{"id", fmt::format("{}#{}", file_->name, ++number_)},
                    {"title", apart ? fmt::format("{}, {}", title, passage.heading) : title},
                    {"text", passage.text},
                    {"file", file_->name}}));
      corpus_ += '\n';
    }
  }

  Result<void> AddDocuments(std::string_view lines, const std::string& stem) {
    std::optional<Error> problem;
    ForEachJsonLine(lines, [&](int64_t line, const Result<Json>& json) {
      if (problem) return;
      const auto where = fmt::format("{}: line {}", file_->path.string(), line);
      if (!json.ok()) {
        problem = json.error().In(where);
        return;
      }
      const Json* text = json->Find("text");
      if (text == nullptr || !text->is_string()) {
        problem = Error(ErrorCode::kInvalidArgument, where + ": wants {\"text\": \"...\"}");
        return;
      }
      const Json* title = json->Find("title");
      AddText(text->AsString(), Headings::kNone,
              title != nullptr && title->is_string() ? title->AsString() : stem);
    });
    if (problem) return *std::move(problem);
    return {};
  }

  const int64_t words_;
  const TextFile* file_ = nullptr;
  int64_t number_ = 0;  // of the passage in its file
  std::string corpus_;
};

}  // namespace

Result<std::string> CorpusOfFolder(const fs::path& folder, int64_t passage_words) {
  HONE_ASSIGN_OR_RETURN(const std::vector<TextFile> files, TextsIn(folder));
  CorpusWriter writer(passage_words);
  for (const TextFile& file : files) HONE_RETURN_IF_ERROR(writer.Add(file));
  std::string corpus = writer.Take();
  if (corpus.empty()) {
    return Error(ErrorCode::kInvalidArgument,
                 fmt::format("{}: the {} text{} in this folder {} nothing but blanks",
                             folder.string(), files.size(), files.size() == 1 ? "" : "s",
                             files.size() == 1 ? "has" : "have"));
  }
  return corpus;
}

}  // namespace hone
