#include "dash/dash_board.h"

#include <algorithm>
#include <cmath>
#include <optional>

#include <fmt/format.h>
#include <sys/stat.h>

#include "base/file.h"
#include "dash/dash_progress.h"
#include "dash/recipe_differences.h"
#include "train/before_after.h"
#include "train/metrics_table.h"

namespace hone {
namespace {

constexpr size_t kSparkPoints = 48;  // of the small curve in the list of runs
constexpr size_t kRecentSteps = 10;  // steps whose mean is "now"
constexpr double kFresh = 30;        // seconds: whoever wrote then is at work

// Seconds since 1970 of the last change; absent: it is not there.
std::optional<double> ChangedAt(const std::filesystem::path& file) {
  struct stat status {};
  if (::stat(file.c_str(), &status) != 0) return std::nullopt;
  return static_cast<double>(status.st_mtim.tv_sec) +
         1e-9 * static_cast<double>(status.st_mtim.tv_nsec);
}

// The mean of values that are there, in [begin, end).
std::optional<double> MeanOf(const std::vector<double>& values, size_t begin, size_t end) {
  double sum = 0;
  int64_t count = 0;
  for (size_t i = begin; i < end; ++i) {
    if (std::isnan(values[i])) continue;
    sum += values[i];
    ++count;
  }
  if (count == 0) return std::nullopt;
  return sum / static_cast<double>(count);
}

Json NumberOrNull(const std::optional<double>& value) { return value ? Json(*value) : Json(); }

// The values that are there, as at most kSparkPoints means.
Json Spark(const std::vector<double>& column) {
  std::vector<double> values;
  std::copy_if(column.begin(), column.end(), std::back_inserter(values),
               [](double value) { return !std::isnan(value); });
  Json::Array points;
  const size_t count = std::min(kSparkPoints, values.size());
  for (size_t i = 0; i < count; ++i) {
    const size_t begin = i * values.size() / count, end = (i + 1) * values.size() / count;
    points.push_back(NumberOrNull(MeanOf(values, begin, end)));
  }
  return points;
}

std::optional<double> LastOf(const std::vector<double>& column) {
  const auto found =
      std::find_if(column.rbegin(), column.rend(), [](double value) { return !std::isnan(value); });
  if (found == column.rend()) return std::nullopt;
  return *found;
}

// The mean of the newest values.
std::optional<double> NowOf(const std::vector<double>& column) {
  std::vector<double> values;
  for (auto value = column.rbegin(); value != column.rend() && values.size() < kRecentSteps;
       ++value) {
    if (!std::isnan(*value)) values.push_back(*value);
  }
  return MeanOf(values, 0, values.size());
}

double SumOf(const std::vector<double>& column) {
  double sum = 0;
  for (const double value : column) sum += std::isnan(value) ? 0 : value;
  return sum;
}

Json CellToJson(const std::optional<FigureCell>& cell) {
  if (!cell) return Json();
  Json json = Json::Of({{"value", cell->value}, {"share", cell->share}});
  if (cell->interval) {
    json.Set("low", cell->interval->low);
    json.Set("high", cell->interval->high);
  }
  return json;
}

Json TablesToJson(const Json& evaluations) {
  Json::Array tables;
  for (const BeforeAfterTable& table : BeforeAndAfter(evaluations)) {
    Json::Array rows;
    for (const BeforeAfterRow& row : table.rows) {
      rows.push_back(Json::Of({{"label", row.label},
                               {"about", row.about},
                               {"before", CellToJson(row.before)},
                               {"after", CellToJson(row.after)},
                               {"main", row.main},
                               {"indent", row.indent}}));
    }
    tables.push_back(
        Json::Of({{"split", table.split}, {"tasks", table.tasks}, {"rows", std::move(rows)}}));
  }
  return tables;
}

// What the metrics table says of each of them, for the page's tool tips.
Json MeaningsOf(const std::vector<std::string>& names) {
  Json meanings = Json::Object();
  for (const std::string& name : names) {
    const Metric* metric = FindMetric(name);
    if (metric == nullptr) continue;
    meanings.Set(name, metric->unit.empty() ? std::string(metric->meaning)
                                            : fmt::format("{}: {}", metric->unit, metric->meaning));
  }
  return meanings;
}

Json SuccessIn(const Json& evaluations, const std::string& name) {
  return CellToJson(FigureIn(evaluations.Find(name), "success"));
}

}  // namespace

// One run, with what was read of it. Its members are for who holds the mutex.
struct DashBoard::Entry {
  explicit Entry(RunPlace run_place)
      : place(std::move(run_place)), metrics(place.folder / "metrics.jsonl") {}

  const RunPlace place;
  Mutex mutex;
  MetricsLog metrics HONE_GUARDED_BY(mutex);
  std::string recipe HONE_GUARDED_BY(mutex);
  RecipeFacts facts HONE_GUARDED_BY(mutex);
  std::optional<double> recipe_time HONE_GUARDED_BY(mutex);
  std::optional<double> result_time HONE_GUARDED_BY(mutex);
  std::optional<double> store_time HONE_GUARDED_BY(mutex);
  std::optional<Json> result HONE_GUARDED_BY(mutex);
  std::optional<TrainingState> state HONE_GUARDED_BY(mutex);
  int64_t state_step HONE_GUARDED_BY(mutex) = -1;  // whose checkpoint it is
  std::optional<double> state_time HONE_GUARDED_BY(mutex);
  std::shared_ptr<const Tokenizer> tokenizer HONE_GUARDED_BY(mutex);
  std::optional<Error> store_problem HONE_GUARDED_BY(mutex);
  std::string problem HONE_GUARDED_BY(mutex);  // the first thing that could not be read

  void Refresh() HONE_REQUIRES(mutex);
  Json Line(double now) HONE_REQUIRES(mutex);
  Json Alarms() const HONE_REQUIRES(mutex);

 private:
  void Note(const Error& error) HONE_REQUIRES(mutex) {
    if (problem.empty()) problem = error.message();
  }
  void ReadRecipe() HONE_REQUIRES(mutex);
  void ReadResult() HONE_REQUIRES(mutex);
  void ReadState() HONE_REQUIRES(mutex);
  void CheckStore() HONE_REQUIRES(mutex);
};

void DashBoard::Entry::ReadRecipe() {
  const std::optional<double> changed = ChangedAt(place.folder / "recipe.toml");
  if (!changed || changed == recipe_time) return;  // a store alone has none
  const Result<std::string> text = ReadFile(place.folder / "recipe.toml");
  if (!text.ok()) return Note(text.error());
  const Result<RecipeFacts> read = ReadRecipeFacts(*text);
  if (!read.ok()) return Note(read.error().In(place.folder.string()));
  recipe = *text;
  facts = *read;
  recipe_time = changed;
}

void DashBoard::Entry::ReadResult() {
  const std::optional<double> changed = ChangedAt(place.folder / "result.json");
  if (changed == result_time) return;
  result.reset();
  result_time.reset();  // until it could be read: what is wrong with it is told as long as it is
  if (!changed) return;
  const Result<std::string> text = ReadFile(place.folder / "result.json");
  if (!text.ok()) return Note(text.error());
  const Result<Json> json = ParseJson(*text);
  if (!json.ok()) return Note(json.error().In((place.folder / "result.json").string()));
  result = *json;
  result_time = changed;
}

// A trainer replaces checkpoints meanwhile: one that went away while it was read is no problem.
void DashBoard::Entry::ReadState() {
  const std::vector<int64_t> steps = CheckpointsIn(place.folder);
  if (steps.empty()) return;
  const std::filesystem::path checkpoint = CheckpointIn(place.folder, steps.back());
  // A step is saved again with what was measured at its end.
  const std::optional<double> changed = ChangedAt(checkpoint / "training.json");
  if (steps.back() == state_step && changed == state_time) return;
  Result<TrainingState> read = ReadTrainingState(checkpoint);
  std::error_code ignored;
  if (!read.ok() && !std::filesystem::exists(checkpoint, ignored)) return;
  if (!read.ok()) return Note(read.error());
  state = *std::move(read);
  state_step = steps.back();
  state_time = changed;
}

void DashBoard::Entry::Refresh() {
  problem.clear();
  ReadRecipe();
  ReadResult();
  ReadState();
  if (const Result<void> read = metrics.Refresh(); !read.ok()) Note(read.error());
  CheckStore();
}

// Whether it opens; asked again when the file has changed, and while it does not: a run that begins
// is just making it.
void DashBoard::Entry::CheckStore() {
  const std::filesystem::path store = place.folder / "store.sqlite";
  const std::optional<double> changed = ChangedAt(store);
  if (changed != store_time || store_problem) {
    store_time = changed;
    store_problem.reset();
    const auto opened = RunStore::OpenForReading(store);
    if (changed && !opened.ok()) store_problem = opened.error();
  }
  if (store_problem) Note(*store_problem);
}

Json DashBoard::Entry::Alarms() const {
  Json::Array alarms;
  if (!state) return alarms;
  const std::vector<double> success = metrics.Column("success");
  const auto first =
      std::find_if(success.begin(), success.end(), [](double value) { return !std::isnan(value); });
  const int64_t begin =
      first == success.end() ? 1 : metrics.steps()[static_cast<size_t>(first - success.begin())];
  for (const Json& alarm : state->alarms) {
    const std::optional<int64_t> step = StepOfAlarm(alarm, begin);
    if (!step) continue;
    Json shown = alarm;
    shown.Set("step", *step);
    alarms.push_back(std::move(shown));
  }
  return alarms;
}

Json DashBoard::Entry::Line(double now) {
  const std::optional<double> written = ChangedAt(place.folder / "metrics.jsonl");
  const bool at_work =
      !result && (IsBeingTrained(place.folder) || (written && now - *written < kFresh));
  const std::vector<double> success = metrics.Column("success");
  const Json none = Json::Object();
  const Json& evaluations = state ? state->evaluations : none;
  const size_t slash = place.id.rfind('/');
  int64_t step = state ? state->step : 0;
  if (!metrics.steps().empty()) step = std::max(step, metrics.steps().back());
  Json line = Json::Of(
      {{"id", place.id},
       {"name", slash == std::string::npos ? place.id : place.id.substr(slash + 1)},
       {"group", slash == std::string::npos ? std::string() : place.id.substr(0, slash)},
       {"state", result    ? "finished"
                 : at_work ? "running"
                           : "stopped"},
       {"method", facts.method},
       {"loss", facts.loss},
       {"environment", facts.environment},
       {"model", facts.model},
       {"seed", facts.seed},
       {"step", step},
       {"progress", ProgressOf(facts, step, metrics.steps(), metrics.Column("time/step")).ToJson()},
       {"steps", facts.Steps()},
       {"trajectories", SumOf(metrics.Column("trajectories"))},
       {"seconds", SumOf(metrics.Column("time/step"))},
       {"tokens_per_second", NumberOrNull(NowOf(metrics.Column("tokens_per_second")))},
       {"success", NumberOrNull(NowOf(success))},
       {"dev", NumberOrNull(LastOf(metrics.Column("dev/sampled")))},
       {"before", SuccessIn(evaluations, "before/test/sampled")},
       {"after", SuccessIn(evaluations, "after/test/sampled")},
       {"alarms", state ? static_cast<int64_t>(state->alarms.size()) : 0},
       {"written", NumberOrNull(written)},
       {"spark", Spark(success)}});
  if (!problem.empty()) line.Set("problem", problem);
  return line;
}

DashBoard::DashBoard(std::vector<std::filesystem::path> roots) : roots_(std::move(roots)) {
  FindAgain();
}

DashBoard::~DashBoard() = default;

void DashBoard::FindAgain() {
  const std::vector<RunPlace> places = FindRuns(roots_);
  const MutexLock lock(mutex_);
  std::map<std::string, std::shared_ptr<Entry>> entries;
  for (const RunPlace& place : places) {
    const auto known = entries_.find(place.id);
    entries[place.id] = known != entries_.end() && known->second->place.folder == place.folder
                            ? known->second
                            : std::make_shared<Entry>(place);
  }
  entries_ = std::move(entries);
}

Result<std::shared_ptr<DashBoard::Entry>> DashBoard::Find(const std::string& id) {
  for (const bool again : {false, true}) {
    if (again) FindAgain();  // it may have begun since
    const MutexLock lock(mutex_);
    if (const auto found = entries_.find(id); found != entries_.end()) return found->second;
  }
  return Error(ErrorCode::kNotFound, fmt::format("there is no run \"{}\" here", id));
}

Json DashBoard::Runs(double now) {
  FindAgain();
  std::vector<std::shared_ptr<Entry>> entries;
  {
    const MutexLock lock(mutex_);
    for (const auto& [id, entry] : entries_) entries.push_back(entry);
  }
  Json::Array runs;
  for (const std::shared_ptr<Entry>& entry : entries) {
    const MutexLock lock(entry->mutex);
    entry->Refresh();
    runs.push_back(entry->Line(now));
  }
  Json::Array folders;
  for (const std::filesystem::path& root : roots_) folders.emplace_back(root.string());
  return Json::Of({{"runs", std::move(runs)}, {"folders", std::move(folders)}});
}

Result<Json> DashBoard::Run(const std::string& id, double now) {
  HONE_ASSIGN_OR_RETURN(const std::shared_ptr<Entry> entry, Find(id));
  const MutexLock lock(entry->mutex);
  entry->Refresh();
  Json run = entry->Line(now);
  run.Set("folder", entry->place.folder.string());
  run.Set("recipe", entry->recipe);
  run.Set("metrics", Json::ArrayOf(entry->metrics.Names()));
  run.Set("meanings", MeaningsOf(entry->metrics.Names()));
  run.Set("alarms", entry->Alarms());
  run.Set("totals", entry->state ? entry->state->totals : Json(Json::Object()));
  run.Set("tables", entry->state ? TablesToJson(entry->state->evaluations) : Json(Json::Array()));
  if (entry->state && entry->state->best) {
    run.Set("best", Json::Of({{"value", *entry->state->best}, {"step", entry->state->best_step}}));
  }
  if (entry->result) run.Set("result", *entry->result);
  Json::Array stages;
  for (const RecipeFacts::Stage& stage : entry->facts.stages) {
    stages.push_back(Json::Of({{"kind", stage.kind}, {"steps", stage.steps}}));
  }
  run.Set("stages", std::move(stages));
  const std::filesystem::path store = entry->place.folder / "store.sqlite";
  std::error_code ignored;
  int64_t groups = 0;
  if (std::filesystem::exists(store, ignored)) {
    const auto opened = RunStore::OpenForReading(store);
    const Result<int64_t> count = opened.ok() ? (*opened)->CountTrees() : opened.error();
    if (count.ok()) groups = *count;
  }
  run.Set("groups", groups);
  return run;
}

Result<Json> DashBoard::Differences(const std::vector<std::string>& ids) {
  std::vector<std::string> recipes;
  for (const std::string& id : ids) {
    HONE_ASSIGN_OR_RETURN(const std::shared_ptr<Entry> entry, Find(id));
    const MutexLock lock(entry->mutex);
    entry->Refresh();
    recipes.push_back(entry->recipe);
  }
  HONE_ASSIGN_OR_RETURN(const std::vector<RecipeDifference> found, DifferencesOf(recipes));
  return Json::Of({{"runs", Json::ArrayOf(ids)}, {"differences", ToJson(found)}});
}

Result<Json> DashBoard::Metrics(const std::string& id, const std::vector<std::string>& names,
                                int64_t generation, int64_t first_row) {
  HONE_ASSIGN_OR_RETURN(const std::shared_ptr<Entry> entry, Find(id));
  const MutexLock lock(entry->mutex);
  HONE_RETURN_IF_ERROR(entry->metrics.Refresh());
  return entry->metrics.ToJson(names.empty() ? entry->metrics.Names() : names, generation,
                               first_row);
}

Result<Json> DashBoard::Groups(const std::string& id, const GroupFilter& filter,
                               const GroupPage& page) {
  HONE_ASSIGN_OR_RETURN(const std::shared_ptr<Entry> entry, Find(id));
  const std::filesystem::path file = entry->place.folder / "store.sqlite";
  std::error_code ignored;
  if (!std::filesystem::exists(file, ignored)) {
    return Json::Of({{"groups", Json::Array()}, {"next", Json()}, {"looked_at", 0}, {"count", 0}});
  }
  HONE_ASSIGN_OR_RETURN(const auto store, RunStore::OpenForReading(file));
  HONE_ASSIGN_OR_RETURN(Json groups, ListGroups(*store, filter, page));
  HONE_ASSIGN_OR_RETURN(const int64_t count, store->CountTrees());
  groups.Set("count", count);
  return groups;
}

Result<Json> DashBoard::Group(const std::string& id, int64_t tree, const std::string& method) {
  HONE_ASSIGN_OR_RETURN(const std::shared_ptr<Entry> entry, Find(id));
  std::shared_ptr<const Tokenizer> tokenizer;
  RecipeFacts facts;
  {
    const MutexLock lock(entry->mutex);
    const std::filesystem::path file = entry->place.folder / "tokenizer.json";
    std::error_code ignored;
    if (entry->tokenizer == nullptr && std::filesystem::exists(file, ignored)) {
      Result<Tokenizer> loaded = Tokenizer::Load(file);
      if (loaded.ok()) entry->tokenizer = std::make_shared<const Tokenizer>(*std::move(loaded));
    }
    tokenizer = entry->tokenizer;
    entry->Refresh();
    facts = entry->facts;
  }
  HONE_ASSIGN_OR_RETURN(const auto store,
                        RunStore::OpenForReading(entry->place.folder / "store.sqlite"));
  HONE_ASSIGN_OR_RETURN(const ScoredTree record, store->ReadTree(tree));
  HONE_ASSIGN_OR_RETURN(const auto listed, store->ListTrees(tree, 1));
  const int64_t step = listed.empty() ? 0 : listed[0].step;
  std::string chosen = method.empty() ? facts.method : method;
  if (chosen.empty()) chosen = "grpo";  // where nobody was trained
  const GroupCredit credit = CreditOf(record, chosen, facts.StepInStage(step));
  Json group = GroupToJson(record, tokenizer.get(), credit);
  group.Set("id", tree);
  group.Set("step", step + 1);
  group.Set("trained_with", facts.method);
  return group;
}

}  // namespace hone
