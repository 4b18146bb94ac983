#include "app/views/journal_view.h"

#include <chrono>

#include <fmt/chrono.h>
#include <fmt/format.h>

namespace hone {
namespace {

std::string Bytes(int64_t bytes) {
  constexpr std::string_view kUnits[] = {"B", "KiB", "MiB", "GiB", "TiB"};
  auto value = static_cast<double>(bytes);
  size_t unit = 0;
  for (; value >= 1024 && unit + 1 < std::size(kUnits); ++unit) value /= 1024;
  return unit == 0 ? fmt::format("{} B", bytes) : fmt::format("{:.1f} {}", value, kUnits[unit]);
}

std::string Milliseconds(double microseconds) {
  return fmt::format("{:.1f} ms", microseconds / 1000);
}

// "ok 12, timeout 3"
std::string Counts(const std::map<std::string, int64_t>& counts) {
  std::string out;
  for (const auto& [name, count] : counts) {
    out += fmt::format("{}{} {}", out.empty() ? "" : ", ", Printable(name), count);
  }
  return out.empty() ? "none" : out;
}

Json CountsJson(const std::map<std::string, int64_t>& counts) {
  Json json{Json::Object()};
  for (const auto& [name, count] : counts) json.Set(name, count);
  return json;
}

std::string Utc(int64_t unix_ms) {
  using std::chrono::milliseconds, std::chrono::system_clock;
  // Beyond these years the calendar of the library ends.
  constexpr int64_t kLastYear = int64_t{253402300799} * 1000;
  if (unix_ms < 0 || unix_ms > kLastYear) return fmt::format("{} ms since 1970", unix_ms);
  const system_clock::time_point time{milliseconds(unix_ms)};
  return fmt::format("{:%Y-%m-%dT%H:%M:%SZ}", fmt::gmtime(system_clock::to_time_t(time)));
}

// A path of printable lines, each indented.
std::string Indented(const std::string& text, const Terminal& terminal, int most) {
  std::string out;
  int shown = 0, left_out = 0;
  for (size_t at = 0; at < text.size();) {
    const size_t end = std::min(text.find('\n', at), text.size());
    for (const std::string& line :
         Wrapped(Printable(std::string_view(text).substr(at, end - at)), terminal.width - 2)) {
      if (most > 0 && shown >= most) {
        ++left_out;
      } else {
        out += "  " + line + "\n";
        ++shown;
      }
    }
    at = end + 1;
  }
  if (left_out > 0) {
    out += terminal.Dim(fmt::format("  … {} more lines; --full shows them\n", left_out));
  }
  return out;
}

std::string EntryRow(const CallIdentity& identity, std::string_view id, std::string_view tool,
                     std::string_view status, std::string_view latency, std::string_view bytes,
                     std::string_view injected) {
  return fmt::format("{:>8}  {} {} {} {:>4} {:>4}  {} {} {:>11} {:>10}  {}\n", id,
                     Fitted(Printable(identity.run), 12), Fitted(Printable(identity.task), 16),
                     Fitted(Printable(identity.path), 8), identity.turn, identity.call,
                     Fitted(Printable(tool), 16), Fitted(status, 17), latency, bytes,
                     Printable(injected));
}

}  // namespace

std::string StatisticsView(const JournalStatistics& all, const Terminal& terminal) {
  std::string out = fmt::format("{} calls of {} tools in {} runs; {} of results in a file of {}\n",
                                all.calls, all.tools.size(), all.runs.size(),
                                Bytes(all.content_bytes), Bytes(all.file_bytes));
  out += fmt::format("statuses   {}\nanswered by {}\nfaults     {}\n", Counts(all.statuses),
                     Counts(all.sources), Counts(all.injected));
  out += fmt::format("contents   {} different questions can be answered without the tools\n",
                     all.contents);
  if (all.begun > 0) {
    out += terminal.Yellow(fmt::format(
        "begun      {} calls without outcome: they may have been carried out\n", all.begun));
  }
  out += "\n" +
         terminal.Bold(fmt::format("{} {:>8} {:>8} {:>11} {:>11}  {}", Fitted("tool", 24), "calls",
                                   "faults", "results", "mean", "statuses")) +
         "\n";
  for (const ToolStatistics& tool : all.tools) {
    out += fmt::format("{} {:>8} {:>8} {:>11} {:>11}  {}\n", Fitted(Printable(tool.tool), 24),
                       tool.calls, tool.injected, Bytes(tool.content_bytes),
                       Milliseconds(tool.mean_latency_us), Counts(tool.statuses));
  }
  out += "\n" + terminal.Bold(fmt::format("{} {:>8}", Fitted("run", 24), "calls")) + "\n";
  for (const auto& [run, calls] : all.runs) {
    out += fmt::format("{} {:>8}\n", Fitted(Printable(run), 24), calls);
  }
  return out;
}

Json StatisticsJson(const JournalStatistics& all) {
  Json::Array tools;
  for (const ToolStatistics& tool : all.tools) {
    tools.push_back(Json::Of({{"tool", tool.tool},
                              {"calls", tool.calls},
                              {"statuses", CountsJson(tool.statuses)},
                              {"injected", tool.injected},
                              {"content_bytes", tool.content_bytes},
                              {"mean_latency_us", tool.mean_latency_us}}));
  }
  return Json::Of({{"calls", all.calls},
                   {"begun", all.begun},
                   {"contents", all.contents},
                   {"content_bytes", all.content_bytes},
                   {"file_bytes", all.file_bytes},
                   {"statuses", CountsJson(all.statuses)},
                   {"sources", CountsJson(all.sources)},
                   {"injected", CountsJson(all.injected)},
                   {"runs", CountsJson(all.runs)},
                   {"tools", std::move(tools)}});
}

std::string CallsView(const std::vector<NumberedEntry>& calls, const std::vector<BegunCall>& begun,
                      const Terminal& terminal) {
  std::string out = terminal.Bold(fmt::format(
                        "{:>8}  {} {} {} {:>4} {:>4}  {} {} {:>11} {:>10}  {}", "id",
                        Fitted("run", 12), Fitted("task", 16), Fitted("path", 8), "turn", "call",
                        Fitted("tool", 16), Fitted("status", 17), "latency", "answer", "fault")) +
                    "\n";
  for (const auto& [id, entry] : calls) {
    const ToolResult& result = entry.result;
    out += EntryRow(entry.identity, std::to_string(id), entry.content.tool,
                    CallStatusName(result.status),
                    Milliseconds(static_cast<double>(result.latency_us)),
                    Bytes(static_cast<int64_t>(result.content.size())), result.injected);
  }
  for (const BegunCall& call : begun) {
    out += terminal.Yellow(EntryRow(call.identity, "–", call.content.tool, "begun", "–", "–", ""));
  }
  return out;
}

std::string CallView(const NumberedEntry& call, const Terminal& terminal, int lines) {
  const JournalEntry& entry = call.entry;
  const ToolResult& result = entry.result;
  std::string out = terminal.Bold(fmt::format("call {}", call.id)) + "  " +
                    Printable(entry.identity.Text()) + "\n";
  const auto line = [&](std::string_view name, const std::string& text) {
    out += fmt::format("{} {}\n", terminal.Dim(Fitted(name, 9)), text);
  };
  line("tool", fmt::format("{} ({})", Printable(entry.content.tool), EffectName(entry.effect)));
  line("content", fmt::format("{}, environment seed {}{}", entry.content.Hash(),
                              entry.content.environment_seed,
                              entry.content.state_hash.empty()
                                  ? ""
                                  : ", state " + Printable(entry.content.state_hash)));
  line("status",
       fmt::format(
           "{}{}{}", CallStatusName(result.status),
           result.blame == Blame::kNone ? "" : fmt::format(", blame {}", BlameName(result.blame)),
           result.injected.empty()
               ? ""
               : fmt::format(", with a fault put in: {}", Printable(result.injected))));
  line("answered",
       fmt::format("by {} in {}, recorded {}", CallSourceName(entry.source),
                   Milliseconds(static_cast<double>(result.latency_us)), Utc(entry.recorded_ms)));
  if (entry.attempts.size() != 1) {
    for (size_t i = 0; i < entry.attempts.size(); ++i) {
      const Attempt& attempt = entry.attempts[i];
      line(fmt::format("attempt {}", i + 1),
           fmt::format("{} after {}{}", CallStatusName(attempt.status),
                       Milliseconds(static_cast<double>(attempt.latency_us)),
                       attempt.injected.empty() ? "" : ", " + Printable(attempt.injected)));
    }
  }
  out += terminal.Dim("asked") + "\n" +
         Indented(DumpJson(entry.content.arguments, JsonStyle::kPretty), terminal, lines);
  out += terminal.Dim(result.cut_bytes == 0
                          ? "answer"
                          : fmt::format("answer, {} bytes of it left out", result.cut_bytes)) +
         "\n" + Indented(result.content, terminal, lines);
  return out;
}

}  // namespace hone
