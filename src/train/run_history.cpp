#include "train/run_history.h"

#include <algorithm>

#include <fmt/format.h>

#include "base/file.h"

namespace hone {
namespace {

constexpr size_t kExamples = 2;  // of the first steps, and of the last

// The group as an example, if its trajectories earned different rewards.
std::optional<RunHistory::Example> ExampleOf(int64_t step, ScoredTree record) {
  RunHistory::Example example{.step = step};
  std::optional<double> best, worst;
  for (const Score& score : record.scores) {
    const std::optional<double> total = Total(score);
    if (!total) continue;
    if (!best || *total > *best) {
      best = total;
      example.best = score.leaf;
    }
    if (!worst || *total < *worst) {
      worst = total;
      example.worst = score.leaf;
    }
  }
  if (!best || *best == *worst || record.advantages.size() != record.tree.leaves.size()) {
    return std::nullopt;
  }
  example.record = std::move(record);
  return example;
}

template <typename Iterator>
Result<void> AddExamples(const RunStore& store, Iterator begin, Iterator end,
                         std::vector<RunHistory::Example>* examples) {
  size_t added = 0;
  for (Iterator tree = begin; tree != end && added < kExamples; ++tree) {
    HONE_ASSIGN_OR_RETURN(ScoredTree record, store.ReadTree(tree->id));
    auto example = ExampleOf(tree->step + 1, std::move(record));
    if (!example) continue;
    const bool there = std::any_of(examples->begin(), examples->end(), [&](const auto& other) {
      return other.step == example->step &&
             other.record.tree.task.id == example->record.tree.task.id;
    });
    if (there) continue;
    examples->push_back(std::move(*example));
    ++added;
  }
  return {};
}

Result<std::vector<RunHistory::Example>> ReadExamples(const std::filesystem::path& file) {
  std::vector<RunHistory::Example> examples;
  if (!Exists(file)) return examples;
  HONE_ASSIGN_OR_RETURN(const auto store, RunStore::OpenForReading(file));
  HONE_ASSIGN_OR_RETURN(const int64_t count, store->CountTrees());
  HONE_ASSIGN_OR_RETURN(const auto trees, store->ListTrees(0, count));
  HONE_RETURN_IF_ERROR(AddExamples(*store, trees.begin(), trees.end(), &examples));
  HONE_RETURN_IF_ERROR(AddExamples(*store, trees.rbegin(), trees.rend(), &examples));
  return examples;
}

}  // namespace

Result<std::vector<RunHistory::Step>> ReadMetricLines(const std::filesystem::path& file) {
  std::vector<RunHistory::Step> steps;
  if (!Exists(file)) return steps;
  HONE_ASSIGN_OR_RETURN(const std::string text, ReadFile(file));
  for (size_t begin = 0; begin < text.size();) {
    const size_t end = std::min(text.find('\n', begin), text.size());
    const Result<Json> line = ParseJson(std::string_view(text).substr(begin, end - begin));
    begin = end + 1;
    if (!line.ok() || !line->is_object()) continue;
    RunHistory::Step step;
    for (const auto& [name, value] : line->AsObject()) {
      if (!value.is_number()) continue;
      if (name == "step") {
        step.step = value.AsInteger() + 1;
      } else {
        step.values[name] = value.AsDouble();
      }
    }
    if (step.step > 0) steps.push_back(std::move(step));
  }
  return steps;
}

Result<RunHistory> ReadRunHistory(const std::filesystem::path& folder) {
  if (!Exists(folder / "recipe.toml")) {
    return Error(ErrorCode::kNotFound,
                 fmt::format("\"{}\" is not the folder of a run: it has no recipe.toml; runs are "
                             "in runs/NAME unless their recipe says otherwise",
                             folder.string()));
  }
  RunHistory run{.folder = folder};
  HONE_ASSIGN_OR_RETURN(run.recipe, ReadFile(folder / "recipe.toml"));
  if (const std::vector<int64_t> steps = CheckpointsIn(folder); !steps.empty()) {
    HONE_ASSIGN_OR_RETURN(run.state, ReadTrainingState(CheckpointIn(folder, steps.back())));
  }
  if (Exists(folder / "result.json")) {
    HONE_ASSIGN_OR_RETURN(const std::string text, ReadFile(folder / "result.json"));
    Result<Json> result = ParseJson(text);
    if (!result.ok()) return result.error().In((folder / "result.json").string());
    run.result = *std::move(result);
  }
  HONE_ASSIGN_OR_RETURN(run.steps, ReadMetricLines(folder / "metrics.jsonl"));
  HONE_ASSIGN_OR_RETURN(run.examples, ReadExamples(folder / "store.sqlite"));
  if (Exists(folder / "tokenizer.json")) {
    HONE_ASSIGN_OR_RETURN(Tokenizer tokenizer, Tokenizer::Load(folder / "tokenizer.json"));
    run.tokenizer = std::make_unique<Tokenizer>(std::move(tokenizer));
  }
  return run;
}

std::vector<std::pair<int64_t, double>> SeriesOf(const RunHistory& run, const std::string& name) {
  std::vector<std::pair<int64_t, double>> series;
  for (const RunHistory::Step& step : run.steps) {
    const auto found = step.values.find(name);
    if (found != step.values.end()) series.emplace_back(step.step, found->second);
  }
  return series;
}

}  // namespace hone
