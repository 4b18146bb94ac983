#include "train/compare/comparison_runs.h"

#include <algorithm>
#include <charconv>
#include <csignal>
#include <thread>

#include <fmt/format.h>

#include "base/file.h"
#include "base/file_lock.h"
#include "base/mutex.h"
#include "base/strings.h"
#include "base/subprocess.h"
#include "train/folder/run_folder.h"

namespace hone {
namespace {

// What a comparison writes beside a run: whose it is and what became of it.
constexpr char kNoteFile[] = "compared.json";
constexpr std::chrono::milliseconds kLook{50};

Json NoteOf(const PlannedRun& run, std::string_view status) {
  return Json::Of({{"format", "hone-compared"},
                   {"recipe", run.hash},
                   {"evaluation", run.Evaluation()},
                   {"status", status}});
}

// Null where there is none.
Json ReadNote(const PlannedRun& run) {
  const Result<std::string> text = ReadFile(run.recipe.Folder() / kNoteFile);
  if (!text.ok()) return Json();
  Result<Json> json = ParseJson(*text);
  return json.ok() ? *std::move(json) : Json();
}

Result<void> WriteNote(const PlannedRun& run, const Json& note) {
  return WriteFileAtomic(run.recipe.Folder() / kNoteFile,
                         DumpJson(note, JsonStyle::kPretty) + "\n");
}

std::string TextOf(const Json& json, std::string_view key) {
  const Json* found = json.Find(key);
  return found != nullptr && found->is_string() ? found->AsString() : "";
}

double NumberOf(const Json& json, std::string_view key) {
  const Json* found = json.Find(key);
  return found != nullptr && found->is_number() ? found->AsDouble() : 0;
}

// The newest state. A run that is going on may take a checkpoint away while it is read: then an
// older or a newer one is there.
std::optional<TrainingState> LastState(const std::filesystem::path& folder) {
  for (int attempt = 0; attempt < 3; ++attempt) {
    const std::vector<int64_t> steps = CheckpointsIn(folder);
    if (steps.empty()) return std::nullopt;
    Result<TrainingState> state = ReadTrainingState(CheckpointIn(folder, steps.back()));
    if (state.ok()) return *std::move(state);
  }
  return std::nullopt;
}

// The alarms that went off by this step and had not done so before.
void NoteAlarms(const Json::Array& alarms, double step, double trajectories, ComparedRun* record) {
  for (const Json& alarm : alarms) {
    if (NumberOf(alarm, "run_step") > step || TextOf(alarm, "severity") == "notice") continue;
    const std::string name = TextOf(alarm, "name");
    const bool known = std::any_of(record->alarms.begin(), record->alarms.end(),
                                   [&](const FirstAlarm& first) { return first.name == name; });
    if (!known) record->alarms.push_back({name, trajectories});
  }
}

// What the log says of rl. Its last line may be half written. `alarms` are those of the run.
void ReadLog(const std::filesystem::path& file, const Json::Array& alarms, ComparedRun* record) {
  const Result<std::string> text = ReadFile(file);
  if (!text.ok()) return;
  double trajectories = 0;
  DevPoint spent;
  for (size_t begin = 0; begin < text->size();) {
    const size_t end = std::min(text->find('\n', begin), text->size());
    const Result<Json> line = ParseJson(std::string_view(*text).substr(begin, end - begin));
    begin = end + 1;
    if (!line.ok() || line->Find("trajectories") == nullptr) continue;
    trajectories += NumberOf(*line, "trajectories");
    NoteAlarms(alarms, NumberOf(*line, "step") + 1, trajectories, record);
    record->seconds += NumberOf(*line, "time/step");
    spent.dollars += NumberOf(*line, "spent/dollars");
    spent.hours += NumberOf(*line, "spent/hours");
    if (line->Find("dev/sampled") == nullptr) continue;
    record->dev.push_back({trajectories, NumberOf(*line, "dev/sampled"),
                           NumberOf(*line, "dev/greedy"), spent.dollars, spent.hours});
  }
  // What was recorded before, or in between, counts from the beginning on.
  record->recorded_dollars = std::max(0.0, record->dollars.value_or(0) - spent.dollars);
  record->recorded_hours = std::max(0.0, record->hours.value_or(0) - spent.hours);
  for (DevPoint& point : record->dev) {
    point.dollars += record->recorded_dollars;
    point.hours += record->recorded_hours;
  }
}

bool IsFinished(const PlannedRun& run, const Json& note) {
  return TextOf(note, "status") == "finished" && TextOf(note, "recipe") == run.hash;
}

// The stages by which a run's progress is told: practice, or, in a run without any, all that train
// the policy.
std::vector<const Stage*> ToldStages(const TrainingRecipe& recipe) {
  std::vector<const Stage*> practice, training;
  for (const auto& stage : recipe.stages) {
    if (stage->traits().practice) practice.push_back(stage.get());
    if (stage->traits().trains_policy()) training.push_back(stage.get());
  }
  return practice.empty() ? training : practice;
}

// Makes runs, several at a time: as many threads take the next one that is to be made.
class Maker {
 public:
  Maker(const ComparisonFile& comparison, const std::vector<PlannedRun>& runs,
        const ComparisonOptions& options)
      : comparison_(comparison), runs_(runs), options_(options), states_(runs.size()) {}

  Result<void> Make() {
    const int64_t there = FindFinished();
    wanted_ = static_cast<double>(runs_.size()) - static_cast<double>(there);
    observer().OnBegin(static_cast<int64_t>(runs_.size()), there);
    {
      std::vector<std::jthread> workers;
      const int64_t count = std::min<int64_t>(options_.jobs, static_cast<int64_t>(wanted_));
      for (int64_t i = 0; i < count; ++i) workers.emplace_back([this] { Work(); });
    }
    const MutexLock lock(mutex_);
    if (!problem_.ok()) return problem_;
    if (Stops()) {
      return Error(ErrorCode::kStopped, "stopped; the same command goes on from there");
    }
    return {};
  }

 private:
  enum class Phase { kWaiting, kStarting, kLearning, kDone, kThere };
  struct State {
    Phase phase = Phase::kWaiting;  // kStarting: what comes first, and may be shared
    double done = 0;                // 0 to 1
  };

  ComparisonObserver& observer() {
    return options_.observer != nullptr ? *options_.observer : nobody_;
  }
  // How many runs need not be made again.
  int64_t FindFinished() {
    const MutexLock lock(mutex_);
    int64_t there = 0;
    for (size_t i = 0; i < runs_.size(); ++i) {
      const bool kept = options_.ledger != nullptr && options_.ledger->Find(comparison_, runs_[i]);
      if (!kept && !IsFinished(runs_[i], ReadNote(runs_[i]))) continue;
      states_[i].phase = Phase::kThere;
      ++there;
    }
    return there;
  }
  bool Stops() const { return options_.stop && options_.stop(); }

  // The next run to be made; rather not one whose beginning another one is just making, which would
  // only wait for it.
  std::optional<size_t> Next() {
    const MutexLock lock(mutex_);
    std::optional<size_t> waiting;
    if (!problem_.ok()) return waiting;
    for (size_t i = 0; i < runs_.size(); ++i) {
      if (states_[i].phase != Phase::kWaiting) continue;
      if (!waiting) waiting = i;
      bool shared = false;
      for (size_t other = 0; other < runs_.size(); ++other) {
        shared |= states_[other].phase == Phase::kStarting &&
                  runs_[other].start_key == runs_[i].start_key;
      }
      if (shared) continue;
      waiting = i;
      break;
    }
    if (waiting) states_[*waiting].phase = Phase::kStarting;
    return waiting;
  }

  void Work() {
    while (!Stops()) {
      const std::optional<size_t> next = Next();
      if (!next) return;
      const Result<void> made = MakeOne(*next);
      const MutexLock lock(mutex_);
      if (!made.ok() && problem_.ok()) problem_ = made.error();
    }
  }

  // An error here is one of this program, not of the run.
  Result<void> MakeOne(size_t place) {
    const PlannedRun& run = runs_[place];
    HONE_RETURN_IF_ERROR(WaitForLeftover(run));
    if (Stops()) return {};
    HONE_RETURN_IF_ERROR(WriteNote(run, NoteOf(run, "begun")));
    {
      const MutexLock lock(mutex_);
      observer().OnRunBegin(ReadComparedRun(comparison_, run));
    }
    std::vector<std::string> command = {options_.program, "train",
                                        comparison_.arms[run.arm].recipe};
    command.insert(command.end(), run.overrides.begin(), run.overrides.end());
    command.push_back(fmt::format("run.threads={}", options_.threads));
    command.push_back("--json");
    HONE_ASSIGN_OR_RETURN(const std::unique_ptr<Subprocess> process,
                          Subprocess::Start(command, {.keep_error_bytes = 1 << 16}));
    process->CloseInput();
    Json end;
    bool told = false;
    while (true) {
      if (Stops() && !told) {
        ::kill(process->pid(), SIGINT);
        told = true;
      }
      Result<std::string> line = process->ReadLine(kLook);
      if (!line.ok() && line.error().code() == ErrorCode::kDeadline) continue;
      if (!line.ok()) break;
      Result<Json> event = ParseJson(*line);
      if (event.ok()) OnEvent(place, *event, &end);
    }
    HONE_ASSIGN_OR_RETURN(const int exit_code, process->Wait(std::chrono::hours(1)));
    if (exit_code == 0 && end.is_object()) {
      Json note = NoteOf(run, "finished");
      note.Set("weights", TextOf(end, "weights"));
      HONE_RETURN_IF_ERROR(WriteNote(run, note));
    } else if (!told) {
      Json note = NoteOf(run, "failed");
      note.Set("why", WhyOf(process->LastErrors(), exit_code));
      HONE_RETURN_IF_ERROR(WriteNote(run, note));
    }
    const MutexLock lock(mutex_);
    HONE_RETURN_IF_ERROR(Keep(run));
    states_[place] = {Phase::kDone, 1};
    observer().OnRunEnd(ReadComparedRun(comparison_, run));
    Progress();
    return {};
  }

  // In the ledger, where there is one and the run has finished.
  Result<void> Keep(const PlannedRun& run) {
    if (options_.ledger == nullptr) return {};
    return options_.ledger->Keep(comparison_, run, ReadComparedRun(comparison_, run));
  }

  // What `hone train --json` says at last: {"error": {"message": ...}}; else the last line.
  static std::string WhyOf(const std::string& errors, int exit_code) {
    const std::string_view text = Trim(errors);
    const size_t newline = text.rfind('\n');
    const std::string_view last =
        newline == std::string_view::npos ? text : text.substr(newline + 1);
    if (const Result<Json> json = ParseJson(last); json.ok()) {
      const Json* error = json->Find("error");
      for (const Json* from : {error, &*json}) {
        const Json* message = from == nullptr ? nullptr : from->Find("message");
        if (message != nullptr && message->is_string()) return message->AsString();
      }
    }
    if (exit_code > 128) return fmt::format("ended by signal {}: {}", exit_code - 128, last);
    return last.empty() ? fmt::format("ended with exit code {}", exit_code) : std::string(last);
  }

  void OnEvent(size_t place, const Json& event, Json* end) {
    const MutexLock lock(mutex_);
    const std::string kind = TextOf(event, "event");
    if (kind == "end") *end = event;
    const std::string of = TextOf(event, kind == "stage" ? "kind" : "stage");
    double all = 0;
    const Stage* told = nullptr;
    for (const Stage* stage : ToldStages(runs_[place].recipe)) {
      all += static_cast<double>(stage->size().steps);
      if (stage->kind() == of) told = stage;
    }
    if (kind == "stage" && told != nullptr && told->traits().practice) {
      states_[place].phase = Phase::kLearning;
    }
    if (kind == "step") {
      if (told != nullptr) states_[place].done = std::min(1.0, NumberOf(event, "step") / all);
      Progress();
    }
    ComparedRun record;
    record.arm = comparison_.arms[runs_[place].arm].name;
    record.seed = runs_[place].seed;
    observer().OnRunEvent(record, event);
  }

  void Progress() HONE_REQUIRES(mutex_) {
    double done = 0;
    for (const State& state : states_) done += state.phase == Phase::kThere ? 0 : state.done;
    observer().OnProgress(done, wanted_);
  }

  // When a comparison is killed its runs end at their next word; until then they have their
  // folders.
  Result<void> WaitForLeftover(const PlannedRun& run) {
    const auto deadline = std::chrono::steady_clock::now() + options_.leftover;
    while (!Stops()) {
      HONE_ASSIGN_OR_RETURN(const std::optional<FileLock> lock,
                            FileLock::Try(run.recipe.Folder() / "lock"));
      if (lock) return {};
      if (std::chrono::steady_clock::now() > deadline) return {};  // the run itself will say so
      std::this_thread::sleep_for(kLook);
    }
    return {};
  }

  const ComparisonFile& comparison_;
  const std::vector<PlannedRun>& runs_;
  const ComparisonOptions& options_;
  ComparisonObserver nobody_;
  Mutex mutex_;
  std::vector<State> states_ HONE_GUARDED_BY(mutex_);
  double wanted_ = 0;
  Result<void> problem_ HONE_GUARDED_BY(mutex_);
};

}  // namespace

Result<void> CheckRunFolder(const PlannedRun& run) {
  const std::filesystem::path folder = run.recipe.Folder();
  const Json note = ReadNote(run);
  const Result<std::string> hash = ReadFile(folder / "recipe.hash");
  const std::string made = hash.ok() ? std::string(Trim(*hash)) : TextOf(note, "recipe");
  if (!made.empty() && made != run.hash) {
    return Error(ErrorCode::kInvalidArgument,
                 fmt::format("{} holds a run of another recipe (see recipe.toml there); choose "
                             "another folder with --out, or remove it",
                             folder.string()));
  }
  const Json* evaluation = note.Find("evaluation");
  if (evaluation != nullptr && *evaluation != run.Evaluation()) {
    return Error(ErrorCode::kInvalidArgument,
                 fmt::format("the run in {} was measured with other settings of [evaluation]; "
                             "choose another folder with --out, or remove it",
                             folder.string()));
  }
  return {};
}

ComparedRun ReadComparedRun(const ComparisonFile& comparison, const PlannedRun& run) {
  const std::filesystem::path folder = run.recipe.Folder();
  ComparedRun record;
  record.arm = comparison.arms[run.arm].name;
  record.seed = run.seed;
  record.start_key = run.start_key;
  record.folder = folder.string();
  const Json note = ReadNote(run);
  const std::optional<TrainingState> state = LastState(folder);
  if (state) {
    record.steps = state->step;
    record.evaluations = state->evaluations;
    record.trajectories = NumberOf(state->totals, "trajectories");
    record.sampled_tokens = NumberOf(state->totals, "sampled_tokens");
    record.ratio_tokens = NumberOf(state->totals, "ratio_tokens");
    if (state->totals.Find("real_calls") != nullptr) {
      record.real_calls = NumberOf(state->totals, "real_calls");
    }
    record.start = state->start;
  }
  if (state && !run.recipe.answers.conditions.empty()) {
    record.dollars = NumberOf(state->totals, "spent/dollars");
    record.hours = NumberOf(state->totals, "spent/hours");
  }
  ReadLog(folder / "metrics.jsonl", state ? state->alarms : Json::Array(), &record);
  record.weights = TextOf(note, "weights");
  if (IsFinished(run, note) && state) {
    record.status = ComparedRun::Status::kFinished;
  } else if (TextOf(note, "status") == "failed") {
    record.status = ComparedRun::Status::kFailed;
    record.why = TextOf(note, "why");
  } else if (state || note.is_object()) {
    record.status = ComparedRun::Status::kUnfinished;
  }
  return record;
}

std::vector<ComparedRun> ReadRuns(const ComparisonFile& comparison,
                                  const std::vector<PlannedRun>& runs,
                                  const ComparisonLedger* ledger) {
  std::vector<ComparedRun> records;
  for (const PlannedRun& run : runs) {
    const ComparedRun* kept = ledger == nullptr ? nullptr : ledger->Find(comparison, run);
    records.push_back(kept != nullptr ? *kept : ReadComparedRun(comparison, run));
  }
  return records;
}

Result<void> KeepFinished(const ComparisonFile& comparison, const std::vector<PlannedRun>& runs,
                          ComparisonLedger* ledger) {
  for (const PlannedRun& run : runs) {
    if (ledger->Find(comparison, run) != nullptr) continue;
    HONE_RETURN_IF_ERROR(ledger->Keep(comparison, run, ReadComparedRun(comparison, run)));
  }
  return {};
}

std::vector<ComparedSection> SectionsOf(const ComparisonFile& comparison,
                                        const std::vector<ComparedRun>& runs) {
  std::vector<ComparedSection> sections;
  for (const ComparisonSection& planned : comparison.sections) {
    ComparedSection section{.title = planned.title,
                            .question = planned.question,
                            .text = planned.text,
                            .baseline = planned.baseline,
                            .seeds = planned.seeds,
                            .goal = planned.goal,
                            .given_start = planned.given_start};
    const auto finished = [&](size_t place) {
      std::vector<const ComparedRun*> found;
      for (const ComparedRun& run : runs) {
        const bool asked =
            std::find(planned.seeds.begin(), planned.seeds.end(), run.seed) != planned.seeds.end();
        if (run.arm == comparison.arms[place].name && asked &&
            run.status == ComparedRun::Status::kFinished) {
          found.push_back(&run);
        }
      }
      return found;
    };
    for (const size_t place : planned.arms) {
      section.arms.push_back(
          {comparison.arms[place].name, comparison.arms[place].label, finished(place)});
    }
    for (const StartControl& control : planned.start_controls) {
      section.controls.push_back({.name = control.name,
                                  .label = control.label,
                                  .evaluation = control.evaluation,
                                  .greedy = control.greedy,
                                  .runs = finished(control.arm)});
      if (!control.why.empty()) section.controls.back().runs.clear();
    }
    sections.push_back(std::move(section));
  }
  return sections;
}

Result<std::vector<ComparedRun>> MakeRuns(const ComparisonFile& comparison,
                                          const std::vector<PlannedRun>& runs,
                                          const std::filesystem::path& folder,
                                          const ComparisonOptions& options) {
  HONE_ASSIGN_OR_RETURN(const std::optional<FileLock> lock, FileLock::Try(folder / "lock"));
  if (!lock) {
    return Error(ErrorCode::kUnavailable,
                 fmt::format("another hone compare is at work in {}; --report-only shows what it "
                             "has until now",
                             folder.string()));
  }
  if (options.ledger != nullptr) {
    HONE_RETURN_IF_ERROR(KeepFinished(comparison, runs, options.ledger));
  }
  HONE_RETURN_IF_ERROR(Maker(comparison, runs, options).Make());
  return ReadRuns(comparison, runs, options.ledger);
}

}  // namespace hone
