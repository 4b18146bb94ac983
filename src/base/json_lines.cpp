#include "base/json_lines.h"

#include <algorithm>

#include <fmt/format.h>

#include "base/bytes/byte_order_mark.h"
#include "base/strings.h"

namespace hone {
namespace {

constexpr std::string_view kParquet = "PAR1";  // what such a file begins with

}  // namespace

void ForEachJsonLine(std::string_view text,
                     const std::function<void(int64_t line, const Result<Json>& json)>& take) {
  text = WithoutByteOrderMark(text);
  if (text.starts_with(kParquet)) {
    take(1, Error(ErrorCode::kParse,
                  "this is Parquet, which is not read; write it as JSON Lines, in Python: "
                  "pandas.read_parquet(FILE).to_json(OUT, orient=\"records\", lines=True)"));
    return;
  }
  for (int64_t line = 1; !text.empty(); ++line) {
    const size_t end = std::min(text.find('\n'), text.size());
    const std::string_view row = Trim(text.substr(0, end));
    text.remove_prefix(std::min(end + 1, text.size()));
    if (row.empty()) continue;
    const Result<Json> json = ParseJson(row);
    if (json.ok()) {
      take(line, json);
      continue;
    }
    // It is all one line; the column is what helps.
    std::string_view why = json.error().message();
    if (why.starts_with("line 1, ")) why.remove_prefix(8);
    take(line, Error(json.error().code(), fmt::format("not JSON: {}", why)));
  }
}

}  // namespace hone
