#include "tools/journal/journal_queries.h"

#include <fmt/format.h>

#include "tools/journal/journal_rows.h"

namespace hone {
namespace {

// Parameters 1 to 3 are run, task and tool; an empty one excludes nothing.
constexpr char kWhereFilter[] =
    "(?1 = '' OR run = ?1) AND (?2 = '' OR task = ?2) AND (?3 = '' OR tool = ?3)";

// The number behind each word that a query gives.
Result<std::map<std::string, int64_t>> Counts(const SqliteFile& file, std::string_view sql) {
  SqliteStatement statement(&file, sql);
  std::map<std::string, int64_t> counts;
  while (statement.Step()) counts[statement.Bytes(0)] = statement.Integer(1);
  HONE_RETURN_IF_ERROR(statement.Check("counting calls"));
  return counts;
}

Result<int64_t> Count(const SqliteFile& file, std::string_view sql) {
  SqliteStatement statement(&file, sql);
  const bool row = statement.Step();
  HONE_RETURN_IF_ERROR(statement.Check("counting calls"));
  return row ? statement.Integer(0) : 0;
}

Result<JournalStatistics> ReadStatisticsOfNow(const SqliteFile& file) {
  JournalStatistics all;
  SqliteStatement tools(&file,
                        "SELECT tool, count(*), sum(injected <> ''), sum(length(content)), "
                        "avg(latency_us) FROM calls GROUP BY tool ORDER BY tool");
  while (tools.Step()) {
    all.tools.push_back({tools.Bytes(0),
                         tools.Integer(1),
                         {},
                         tools.Integer(2),
                         tools.Integer(3),
                         tools.Real(4).value_or(0)});
    all.calls += tools.Integer(1);
    all.content_bytes += tools.Integer(3);
  }
  HONE_RETURN_IF_ERROR(tools.Check("counting calls"));
  for (ToolStatistics& tool : all.tools) {
    SqliteStatement statuses(&file,
                             "SELECT status, count(*) FROM calls WHERE tool = ? GROUP BY status");
    statuses.Bind(tool.tool);
    while (statuses.Step()) tool.statuses[statuses.Bytes(0)] = statuses.Integer(1);
    HONE_RETURN_IF_ERROR(statuses.Check("counting calls"));
    for (const auto& [status, calls] : tool.statuses) all.statuses[status] += calls;
  }
  HONE_ASSIGN_OR_RETURN(all.sources,
                        Counts(file, "SELECT source, count(*) FROM calls GROUP BY source"));
  HONE_ASSIGN_OR_RETURN(all.injected, Counts(file,
                                             "SELECT injected, count(*) FROM calls WHERE injected "
                                             "<> '' GROUP BY injected"));
  HONE_ASSIGN_OR_RETURN(all.runs, Counts(file, "SELECT run, count(*) FROM calls GROUP BY run"));
  HONE_ASSIGN_OR_RETURN(all.begun, Count(file, "SELECT count(*) FROM begun"));
  HONE_ASSIGN_OR_RETURN(
      all.contents,
      Count(file, fmt::format("SELECT count(DISTINCT content_hash) FROM calls WHERE {}",
                              kAnsweredByContent)));
  for (const char* suffix : {"", "-wal"}) {
    std::error_code absent;
    const auto bytes = std::filesystem::file_size(file.path().string() + suffix, absent);
    if (!absent) all.file_bytes += static_cast<int64_t>(bytes);
  }
  return all;
}

}  // namespace

Result<std::vector<NumberedEntry>> ListCalls(const SqliteFile& file, const JournalFilter& filter,
                                             int64_t after_id, int64_t limit) {
  SqliteStatement statement(
      &file, fmt::format("SELECT id, {} FROM calls WHERE {} AND (?4 = '' OR status = ?4) AND (?5 = "
                         "0 OR injected <> '') AND id > ?6 ORDER BY id LIMIT ?7",
                         kCallColumns, kWhereFilter));
  statement.Bind(filter.run)
      .Bind(filter.task)
      .Bind(filter.tool)
      .Bind(filter.status ? CallStatusName(*filter.status) : std::string_view())
      .Bind(int64_t{filter.only_injected})
      .Bind(after_id)
      .Bind(limit);
  std::vector<NumberedEntry> entries;
  while (statement.Step()) {
    Result<JournalEntry> entry = ReadCall(statement, 1);
    if (!entry.ok()) return entry.error().In(file.path().string());
    entries.push_back({statement.Integer(0), std::move(entry).value()});
  }
  HONE_RETURN_IF_ERROR(statement.Check("listing calls"));
  return entries;
}

Result<std::vector<BegunCall>> ListBegunCalls(const SqliteFile& file, const JournalFilter& filter) {
  if (filter.status || filter.only_injected) return std::vector<BegunCall>();
  SqliteStatement statement(
      &file, fmt::format("SELECT {} FROM begun WHERE {} ORDER BY run, task, path, turn, call",
                         kBegunColumns, kWhereFilter));
  statement.Bind(filter.run).Bind(filter.task).Bind(filter.tool);
  std::vector<BegunCall> calls;
  while (statement.Step()) {
    HONE_ASSIGN_OR_RETURN(BegunCall begun, ReadBegun(statement));
    calls.push_back(std::move(begun));
  }
  HONE_RETURN_IF_ERROR(statement.Check("listing calls"));
  return calls;
}

Result<JournalStatistics> ReadStatistics(const SqliteFile& file) {
  // One transaction, so that the numbers add up while others write.
  HONE_RETURN_IF_ERROR(file.Execute("BEGIN"));
  Result<JournalStatistics> statistics = ReadStatisticsOfNow(file);
  file.Rollback();
  return statistics;
}

}  // namespace hone
