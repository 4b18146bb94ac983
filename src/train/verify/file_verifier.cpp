#include "train/verify/file_verifier.h"

#include <bit>
#include <cmath>

#include <fmt/format.h>

#include "base/file.h"
#include "base/hash.h"
#include "train/run_history.h"

namespace hone {
namespace {

constexpr char kMetricLines[] = "metrics.jsonl", kTokenizerFile[] = "tokenizer.json";

using StepNumbers = std::map<std::string, double>;

std::string BitsText(const StepNumbers& numbers, const std::string& name) {
  const auto found = numbers.find(name);
  if (found == numbers.end()) return "not there";
  return fmt::format("{} (bits {:016x})", found->second, std::bit_cast<uint64_t>(found->second));
}

// The first number of a step that the two have differently.
std::optional<std::string> FirstDifferent(const StepNumbers& in_store, const StepNumbers& in_line) {
  StepNumbers all = in_store;
  all.insert(in_line.begin(), in_line.end());
  for (const auto& [name, value] : all) {
    if (BitsText(in_store, name) != BitsText(in_line, name)) return name;
  }
  return std::nullopt;
}

// Equal where they say the same, however it is written.
Result<std::string> TokenizerHash(const std::filesystem::path& file) {
  HONE_ASSIGN_OR_RETURN(const std::string text, ReadFile(file));
  const Result<Json> json = ParseJson(text);
  if (!json.ok()) return json.error().In(file.string());
  return ContentHash(*json);
}

}  // namespace

Result<std::vector<RunDifference>> DifferentLines(const StoredRun& run, int64_t first_step,
                                                  int64_t end_step) {
  std::vector<RunDifference> differences;
  HONE_ASSIGN_OR_RETURN(const auto steps, ReadMetricLines(run.folder / kMetricLines));
  std::map<int64_t, StepNumbers> lines;  // by step from 0, as the store has them
  for (const RunHistory::Step& step : steps) lines[step.step - 1] = step.values;
  const int64_t saved = run.checkpoints.empty() ? 0 : run.checkpoints.back();
  for (auto stored = run.values.lower_bound(first_step);
       stored != run.values.end() && stored->first < end_step; ++stored) {
    const auto& [step, numbers] = *stored;
    const auto line = lines.find(step);
    if (line == lines.end() && step >= saved) continue;
    const auto name = FirstDifferent(numbers, line == lines.end() ? StepNumbers() : line->second);
    if (!name) continue;
    differences.push_back(
        {.step = step,
         .what = "number",
         .name = *name,
         .place = fmt::format("{}, the number {}", kMetricLines, *name),
         .derived = BitsText(numbers, *name) + " in store.sqlite",
         .stored = line == lines.end() ? "no line" : BitsText(line->second, *name)});
  }
  return differences;
}

Result<std::vector<RunDifference>> DifferentTokenizers(const StoredRun& run,
                                                       const std::filesystem::path& derived,
                                                       int64_t first_step, int64_t end_step) {
  HONE_ASSIGN_OR_RETURN(const std::string wanted, TokenizerHash(derived / kTokenizerFile));
  std::vector<std::pair<int64_t, std::filesystem::path>> files{{first_step, kTokenizerFile}};
  for (const int64_t done : run.checkpoints) {
    if (done < first_step || done > end_step) continue;
    files.emplace_back(done - 1, std::filesystem::path("checkpoints") /
                                     fmt::format("step-{}", done) / kTokenizerFile);
  }
  std::vector<RunDifference> differences;
  for (const auto& [step, file] : files) {
    const Result<std::string> is = TokenizerHash(run.folder / file);
    if (is.ok() && *is == wanted) continue;
    differences.push_back({.step = step,
                           .what = "tokenizer",
                           .name = kTokenizerFile,
                           .place = file.string(),
                           .derived = "SHA-256 of what it says: " + wanted,
                           .stored = is.ok() ? *is : is.error().message()});
  }
  return differences;
}

}  // namespace hone
