#include "app/views/replay_view.h"

#include <optional>
#include <vector>

#include <fmt/format.h>

namespace hone {
namespace {

struct PartRow {
  const char* name;
  int64_t equal;
  std::optional<int64_t> stored;  // absent: it is not counted before it is read
};

std::vector<PartRow> RowsOf(const Verification& verification) {
  const VerifiedCounts &equal = verification.equal, &stored = verification.stored;
  return {{"steps", equal.steps, stored.steps},
          {"groups", equal.groups, stored.groups},
          {"trajectories", equal.trajectories, stored.trajectories},
          {"tokens", equal.tokens, stored.tokens},
          {"rewards", equal.rewards, std::nullopt},
          {"advantages (per token)", equal.advantages, std::nullopt},
          {"numbers of the log", equal.numbers, std::nullopt},
          {"checkpoints", equal.checkpoints, stored.checkpoints},
          {"weights and optimiser", equal.weights, std::nullopt}};
}

std::string Number(int64_t value) {
  std::string text = fmt::format("{}", value);
  for (auto at = static_cast<int64_t>(text.size()) - 3; at > 0; at -= 3) {
    text.insert(static_cast<size_t>(at), ",");
  }
  return text;
}

std::string Head(const std::string& run, const Verification& one, const Terminal& terminal) {
  return fmt::format("{}: steps {} to {}, derived from {}\n\n", terminal.Bold(run), one.first_step,
                     one.end_step - 1, one.begun_with);
}

std::string Notes(const Verification& verification, const Terminal& terminal) {
  if (verification.notes.empty()) return "";
  std::string text = "\nNot verified:\n";
  for (const std::string& note : verification.notes) {
    text += terminal.Dim(fmt::format("  - {}", note)) + "\n";
  }
  return text;
}

}  // namespace

std::string ReplayPlanView(const std::string& run, const Verification& plan,
                           const Terminal& terminal) {
  std::string text = Head(run, plan, terminal);
  for (const PartRow& row : RowsOf(plan)) {
    if (row.stored) text += fmt::format("  {:<24}{:>16} stored\n", row.name, Number(*row.stored));
  }
  return text + Notes(plan, terminal) +
         fmt::format("\nhone replay {} --verify derives them again and compares.\n", run);
}

std::string ReplayView(const std::string& run, const Verification& verification,
                       const Terminal& terminal) {
  std::string text = Head(run, verification, terminal);
  text += fmt::format("  {:<24}{:>16}{:>16}\n", "", "the same", "stored");
  for (const PartRow& row : RowsOf(verification)) {
    text += fmt::format("  {:<24}{:>16}{:>16}\n", row.name, Number(row.equal),
                        row.stored ? Number(*row.stored) : "");
  }
  text += Notes(verification, terminal);
  if (verification.passed()) {
    return text + "\n" + terminal.Green("The same, bit for bit.") + "\n";
  }
  if (!verification.ended) text += "\nInterrupted; what is above was compared before.\n";
  if (verification.differences.empty()) return text;
  for (size_t i = 0; i < verification.differences.size(); ++i) {
    const RunDifference& one = verification.differences[i];
    text += fmt::format("\n{} {}\n  derived: {}\n  stored:  {}\n",
                        terminal.Red(i == 0 ? "First difference:" : "then:"), Printable(one.Text()),
                        Printable(one.derived), Printable(one.stored));
  }
  return text;
}

}  // namespace hone
