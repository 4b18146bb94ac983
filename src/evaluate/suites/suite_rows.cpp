#include "evaluate/suites/suite_rows.h"

#include <fmt/format.h>

#include "base/bytes/byte_order_mark.h"
#include "base/file.h"
#include "base/strings.h"

namespace hone {

Error SuiteRow::Problem(std::string_view text) const {
  return Error(ErrorCode::kInvalidArgument, fmt::format("{}: {}", place, text));
}

Result<const Json*> SuiteRow::Member(std::string_view key) const {
  if (const Json* found = value.Find(key)) return found;
  return Problem(fmt::format("\"{}\" is missing", key));
}

Result<std::string> SuiteRow::Text(std::string_view key) const {
  HONE_ASSIGN_OR_RETURN(const Json* found, Member(key));
  if (found->is_string()) return found->AsString();
  return Problem(fmt::format("\"{}\" must be a text, not {}", key, found->KindName()));
}

Result<std::vector<SuiteRow>> ReadSuiteRows(const std::filesystem::path& file) {
  HONE_ASSIGN_OR_RETURN(const std::string text, ReadFile(file));
  std::vector<SuiteRow> rows;
  int64_t line = 0;
  for (std::string_view rest = WithoutByteOrderMark(text); !rest.empty();) {
    const size_t end = std::min(rest.find('\n'), rest.size());
    const std::string_view written = Trim(rest.substr(0, end));
    rest.remove_prefix(std::min(end + 1, rest.size()));
    ++line;
    if (written.empty()) continue;
    SuiteRow row{.place = fmt::format("{}:{}", file.string(), line), .value = {}};
    Result<Json> parsed = ParseJson(written);
    if (!parsed.ok()) return row.Problem("this line is no JSON: " + parsed.error().message());
    row.value = *std::move(parsed);
    if (!row.value.is_object()) {
      return row.Problem(fmt::format("an object is wanted, not {}", row.value.KindName()));
    }
    rows.push_back(std::move(row));
  }
  if (rows.empty()) {
    return Error(ErrorCode::kNotFound, fmt::format("{} has no cases", file.string()));
  }
  return rows;
}

}  // namespace hone
