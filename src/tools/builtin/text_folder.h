#pragma once

#include <cstdint>
#include <filesystem>
#include <string>

#include "base/result.h"

namespace hone {

// The texts of a folder and of the folders in it, cut into passages
// (tools/builtin/text_passages.h): as lines of the corpus that SearchIndex reads, {"id", "title",
// "text", "file"}.
//
//   .txt           paragraphs; the title is the file's name
//   .md            headings begin passages; the title is the file's name and the heading
//   .html, .htm    the same; the title is the page's own
//   .jsonl         documents {"text", "title"?}, each cut as a .txt is; without a title, the file's
//   name
//
// The id is the file and the passage's number in it: "trips/oslo.md#2". Other files, and those
// whose names begin with a dot, are passed over. Files come in the order of their names.
//
// An error names the file: not UTF-8 (with the byte), a line that is no document, not to be read;
// or the folder, when there is no text in it.
Result<std::string> CorpusOfFolder(const std::filesystem::path& folder, int64_t passage_words);

}  // namespace hone
