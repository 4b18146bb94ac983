#include "app/embedding/text_lines.h"

#include <algorithm>
#include <optional>

#include <fmt/format.h>

#include "app/input.h"
#include "base/json_lines.h"
#include "base/utf8.h"

namespace hone {
namespace {

Result<std::vector<TextLine>> LinesOf(const std::string& file, std::string_view content) {
  std::vector<TextLine> lines;
  int64_t number = 0;
  for (size_t at = 0; at < content.size();) {
    ++number;
    const size_t end = std::min(content.find('\n', at), content.size());
    std::string_view line = content.substr(at, end - at);
    at = end + 1;
    if (line.ends_with('\r')) line.remove_suffix(1);
    if (line.find_first_not_of(" \t") == std::string_view::npos) continue;
    HONE_RETURN_IF_ERROR(CheckTextLine(fmt::format("{}:{}", file, number), line));
    lines.push_back({file, number, std::string(line)});
  }
  return lines;
}

Result<std::vector<TextLine>> ValuesOf(const std::string& file, std::string_view content,
                                       const std::string& key) {
  std::vector<TextLine> lines;
  std::optional<Error> problem;
  ForEachJsonLine(content, [&](int64_t line, const Result<Json>& json) {
    if (problem) return;
    const Json* text = json.ok() ? json->Find(key) : nullptr;
    if (text != nullptr && text->is_string()) {
      lines.push_back({file, line, text->AsString()});
      return;
    }
    problem = Error(ErrorCode::kParse,
                    fmt::format("{}:{}: {}", file, line,
                                !json.ok()        ? json.error().message()
                                : text == nullptr ? fmt::format("there is no key \"{}\"; name the "
                                                                "text's with --key",
                                                                key)
                                                  : fmt::format("\"{}\" is {}, not a text", key,
                                                                text->KindName())));
  });
  if (problem) return *problem;
  return lines;
}

}  // namespace

Result<void> CheckTextLine(const std::string& place, std::string_view text) {
  const size_t valid = Utf8ValidPrefix(text);
  if (valid == text.size()) return {};
  return Error(ErrorCode::kParse,
               fmt::format("{}: byte {} is not UTF-8; convert the text first (iconv -t UTF-8)",
                           place, valid));
}

Result<std::vector<TextLine>> ReadTextLines(const std::string& file, const std::string& key) {
  HONE_ASSIGN_OR_RETURN(const std::string content, ReadInput(file));
  const std::string name = file == "-" ? "standard input" : file;
  return key.empty() ? LinesOf(name, content) : ValuesOf(name, content, key);
}

}  // namespace hone
