#include "train/verify/verify_run.h"

#include <algorithm>
#include <map>

#include <fmt/format.h>

#include "base/file.h"
#include "tools/journal/journal.h"
#include "train/backend.h"
#include "train/folder/checksums.h"
#include "train/run_beginning.h"
#include "train/verify/file_verifier.h"

namespace hone {
namespace {

constexpr char kJournal[] = "journal.sqlite", kReal[] = "real.sqlite";
constexpr int64_t kCallsPerQuery = 10'000;  // calls per query

Result<void> Copy(const std::filesystem::path& from, const std::filesystem::path& to) {
  std::error_code error;
  std::filesystem::create_directories(to.parent_path(), error);
  if (!error) {
    std::filesystem::copy(from, to,
                          std::filesystem::copy_options::recursive |
                              std::filesystem::copy_options::overwrite_existing,
                          error);
  }
  if (!error) return {};
  return Error(ErrorCode::kIo, fmt::format("cannot copy {} to {}: {}", from.string(), to.string(),
                                           error.message()));
}

// With the log that lies beside it, in which the newest pages are.
Result<void> CopyDatabase(const std::filesystem::path& from, const std::filesystem::path& to) {
  HONE_RETURN_IF_ERROR(Copy(from, to));
  const std::filesystem::path log = from.string() + "-wal";
  return Exists(log) ? Copy(log, to.string() + "-wal") : Result<void>();
}

// Where the derivation begins: a checkpoint of the run, or nothing.
struct Beginning {
  int64_t step = 0;
  std::filesystem::path checkpoint;  // empty: the recipe alone
  bool elsewhere = false;            // of another run
};

class Verifier {
 public:
  Verifier(std::unique_ptr<StoredRun> run, const VerifyOptions& options)
      : run_(std::move(run)), options_(options) {}

  Result<Verification> Plan() {
    HONE_RETURN_IF_ERROR(ChooseBeginning());
    result_.first_step = beginning_.step;
    result_.end_step = std::min(options_.to.value_or(run_->derivable), run_->derivable);
    if (result_.end_step <= result_.first_step) {
      return Error(
          ErrorCode::kInvalidArgument,
          fmt::format("nothing lies between step {} and step {} of {}, which has done {}{}",
                      result_.first_step, result_.end_step, run_->folder.string(), run_->steps,
                      run_->derivable < run_->steps ? std::string("; ") + kDrawnElsewhere : ""));
    }
    CountStored();
    Explain();
    return result_;
  }

  Result<Verification> Verify() {
    HONE_ASSIGN_OR_RETURN(result_, Plan());
    if (!BeginningIsSound()) return result_;
    if (options_.scratch.empty()) {
      temporary_.emplace();
      scratch_ = temporary_->path();
    } else {
      scratch_ = options_.scratch;
      std::error_code ignored;
      if (Exists(scratch_) && !std::filesystem::is_empty(scratch_, ignored)) {
        return Error(ErrorCode::kInvalidArgument,
                     fmt::format("{} is not an empty folder; what lies there would be taken for "
                                 "what was derived: name another (--scratch)",
                                 scratch_.string()));
      }
    }
    HONE_RETURN_IF_ERROR(Prepare());
    HONE_ASSIGN_OR_RETURN(const bool readable, LookThroughJournal());
    if (readable || options_.keep_going) HONE_RETURN_IF_ERROR(Derive());
    if (result_.differences.empty() || options_.keep_going) HONE_RETURN_IF_ERROR(LookAtFiles());
    std::stable_sort(
        result_.differences.begin(), result_.differences.end(),
        [](const RunDifference& a, const RunDifference& b) { return a.step < b.step; });
    return result_;
  }

 private:
  Result<void> ChooseBeginning();
  void CountStored();
  void Explain();
  Result<void> Prepare();
  void LinkCache();
  bool BeginningIsSound();
  Result<bool> LookThroughJournal();
  Result<void> LookAtFiles();
  Result<void> Derive();
  void NameCall(RunDifference* difference) const;

  bool OthersAnswer() const { return !HasToolsInProcess(run_->recipe); }
  // Calls of rl are answered by what the run wrote down of others.
  bool Replays() const {
    const ToolMode mode = run_->recipe.answers.mode;
    return OthersAnswer() && (mode == ToolMode::kLive || mode == ToolMode::kRecord);
  }
  // What evaluations say moves the weights by way of alarms.
  bool Evaluates() const {
    return run_->recipe.alarms.mode == AlarmOptions::Mode::kApply && !OthersAnswer();
  }

  std::unique_ptr<StoredRun> run_;
  const VerifyOptions& options_;
  Beginning beginning_;
  Verification result_;
  std::optional<TemporaryDirectory> temporary_;
  std::filesystem::path scratch_;
  TrainingRecipe recipe_;  // of the derivation
};

Result<void> Verifier::ChooseBeginning() {
  if (run_->steps == 0) {
    return Error(
        ErrorCode::kNotFound,
        fmt::format("{} has done no step yet: there is nothing to verify", run_->folder.string()));
  }
  int64_t from = options_.from.value_or(0);
  if (!run_->begun_at.empty()) {
    const Result<TrainingState> state = ReadTrainingState(run_->begun_at);
    if (state.ok()) {
      beginning_ = {.step = state->step, .checkpoint = run_->begun_at, .elsewhere = true};
    } else if (run_->checkpoints.empty()) {
      return Error(ErrorCode::kNotFound,
                   fmt::format("{} began at {}, which is gone, and has no checkpoint of its own",
                               run_->folder.string(), run_->begun_at));
    } else {
      from = std::max(from, run_->checkpoints.front());
      result_.notes.push_back(fmt::format("the steps before {}: the run began at {}, which is gone",
                                          run_->checkpoints.front(), run_->begun_at));
    }
  }
  if (from == 0) return {};
  for (const int64_t step : run_->checkpoints) {
    if (step > from || step < beginning_.step) continue;
    beginning_ = {.step = step, .checkpoint = CheckpointIn(run_->folder, step)};
  }
  return {};
}

void Verifier::CountStored() {
  VerifiedCounts& stored = result_.stored;
  stored.steps = result_.end_step - result_.first_step;
  const auto within = [&](int64_t step) {
    return step >= result_.first_step && step < result_.end_step;
  };
  for (const auto& [step, groups] : run_->groups) {
    if (!within(step)) continue;
    stored.groups += static_cast<int64_t>(groups.size());
    for (const RunStore::TreeSummary& one : groups) {
      stored.trajectories += one.leaves;
      stored.tokens += one.tokens;
    }
  }
  for (const int64_t done : run_->checkpoints) stored.checkpoints += within(done - 1) ? 1 : 0;
}

// Where it begins, and what stays unverified.
void Verifier::Explain() {
  const TrainingRecipe& recipe = run_->recipe;
  if (beginning_.checkpoint.empty()) {
    result_.begun_with = fmt::format("the recipe and seed {}", recipe.run.seed);
    if (options_.from.value_or(0) > 0) {
      result_.begun_with +=
          fmt::format("; there is no checkpoint at step {} or before it{}", *options_.from,
                      run_->checkpoints.empty()
                          ? std::string()
                          : fmt::format(" (there are {})", fmt::join(run_->checkpoints, ", ")));
    }
    if (!options_.fresh) {
      result_.begun_with += fmt::format("; what stages made is taken from {} where it is there",
                                        run_->CacheFolder().string());
    }
  } else {
    result_.begun_with = beginning_.checkpoint.string();
    result_.notes.push_back(
        fmt::format("the steps before {}, and {} itself: the derivation begins there",
                    beginning_.step, beginning_.checkpoint.filename().string()));
  }
  if (run_->derivable < run_->steps) result_.notes.push_back(kDrawnElsewhere);
  if (result_.end_step < run_->steps) {
    result_.notes.push_back(
        fmt::format("the steps from {} to {}", result_.end_step, run_->steps - 1));
  }
  const int64_t kept = recipe.run.store_groups;
  for (const auto& stage : recipe.stages) {
    const int64_t groups = stage->size().groups;
    if (kept < 0 || kept >= groups) continue;
    result_.notes.push_back(fmt::format(
        "{} of the {} groups of a step are stored (run.store_groups); the others are derived as "
        "well, and count in the numbers of their step and in the weights",
        kept, groups));
  }
  if (!Evaluates()) result_.notes.push_back("evaluations are not made again");
  if (recipe.alarms.mode == AlarmOptions::Mode::kApply && OthersAnswer()) {
    result_.notes.push_back(
        "alarms that watch evaluations may have changed the run: tools that are not part of this "
        "program are not asked again");
  }
}

// A folder in which hone train would go on, without what it is to derive.
Result<void> Verifier::Prepare() {
  recipe_ = run_->recipe;
  recipe_.policy = {};  // nobody else is asked
  recipe_.run.out = (scratch_ / "runs").string();
  recipe_.run.cache = (scratch_ / "cache").string();
  if (options_.threads) recipe_.run.threads = *options_.threads;
  if (options_.device) recipe_.model.device = *options_.device;
  HONE_ASSIGN_OR_RETURN(const std::shared_ptr<Device> device, Device::Open(recipe_.model.device));
  HONE_RETURN_IF_ERROR(CheckSameKindOfDevice(run_->folder, device.get()));
  if (!Evaluates()) {
    recipe_.evaluation.every = 0;
    recipe_.evaluation.test_tasks = 0;
  }
  recipe_.evaluation.more.clear();
  const std::filesystem::path folder = recipe_.Folder();
  std::error_code error;
  std::filesystem::create_directories(folder / "checkpoints", error);
  std::filesystem::create_directories(recipe_.run.cache, error);
  if (error) {
    return Error(ErrorCode::kIo,
                 fmt::format("cannot make the folder {}: {}", folder.string(), error.message()));
  }
  if (beginning_.elsewhere) {
    recipe_.run.resume = beginning_.checkpoint.string();
  } else if (!beginning_.checkpoint.empty()) {
    const auto name = beginning_.checkpoint.filename();
    HONE_RETURN_IF_ERROR(Copy(beginning_.checkpoint, folder / "checkpoints" / name));
    HONE_ASSIGN_OR_RETURN(const TrainingState state, ReadTrainingState(beginning_.checkpoint));
    const std::filesystem::path anchor = CheckpointIn(run_->folder, state.anchor);
    if (state.anchor != 0 && state.anchor != state.step && Exists(anchor)) {
      HONE_RETURN_IF_ERROR(Copy(anchor, CheckpointIn(folder, state.anchor)));
    }
    HONE_RETURN_IF_ERROR(CopyReferences(run_->folder, folder));
  }
  if (!options_.fresh) LinkCache();
  for (const char* name : {kJournal, kReal}) {
    const std::filesystem::path journal = run_->folder / name;
    if (Exists(journal)) HONE_RETURN_IF_ERROR(CopyDatabase(journal, folder / name));
  }
  if (Replays()) {
    if (!Exists(folder / kJournal)) {
      return Error(ErrorCode::kNotFound,
                   fmt::format("{} has no {}: what its tools said is not known",
                               run_->folder.string(), kJournal));
    }
    recipe_.answers.mode = ToolMode::kReplay;
  }
  if (recipe_.answers.mode != run_->recipe.answers.mode ||
      recipe_.answers.mode != ToolMode::kReplay) {
    recipe_.answers.journal = (folder / kJournal).string();
  }
  return {};
}

// What stages made is read in the run's cache; locks and what is missing are written in ours.
void Verifier::LinkCache() {
  std::error_code error;
  for (const auto& entry : std::filesystem::directory_iterator(run_->CacheFolder(), error)) {
    if (!entry.is_directory(error)) continue;
    if (const Result<void> sound = VerifyChecksums(entry.path()); !sound.ok()) {
      result_.notes.push_back(sound.error().message() + ": it is not used");
      continue;
    }
    std::filesystem::create_directory_symlink(
        std::filesystem::absolute(entry.path()),
        std::filesystem::path(recipe_.run.cache) / entry.path().filename(), error);
  }
}

// Nothing can be derived from a checkpoint that is not what was written.
bool Verifier::BeginningIsSound() {
  if (beginning_.checkpoint.empty()) return true;
  const Result<void> sound = CheckCheckpoint(beginning_.checkpoint);
  if (sound.ok()) return true;
  const std::string name = beginning_.checkpoint.filename().string();
  result_.differences.push_back({.step = result_.first_step,
                                 .what = "checkpoint",
                                 .name = name,
                                 .place = "checkpoints/" + name,
                                 .derived = "a checkpoint whose checksums are right",
                                 .stored = sound.error().message()});
  return false;
}

// What no step shows. A derivation that was stopped before its first checkpoint has no tokenizer.
Result<void> Verifier::LookAtFiles() {
  const auto take = [&](std::vector<RunDifference> found) {
    for (RunDifference& one : found) {
      if (result_.differences.empty() || options_.keep_going) {
        result_.differences.push_back(std::move(one));
      }
    }
  };
  const std::vector<int64_t> derived = CheckpointsIn(recipe_.Folder());
  if (!derived.empty()) {
    HONE_ASSIGN_OR_RETURN(std::vector<RunDifference> tokenizers,
                          DifferentTokenizers(*run_, CheckpointIn(recipe_.Folder(), derived.back()),
                                              result_.first_step, result_.end_step));
    take(std::move(tokenizers));
  }
  HONE_ASSIGN_OR_RETURN(std::vector<RunDifference> lines,
                        DifferentLines(*run_, result_.first_step, result_.end_step));
  take(std::move(lines));
  return {};
}

// Whether every call in it can be read: each has a checksum.
Result<bool> Verifier::LookThroughJournal() {
  const std::filesystem::path file = recipe_.Folder() / kJournal;
  if (!Exists(file)) return true;
  const auto damaged = [&](const Error& error) {
    result_.differences.push_back({.step = result_.first_step,
                                   .what = "journal",
                                   .name = kJournal,
                                   .place = kJournal,
                                   .derived = "a journal whose checksums are right",
                                   .stored = error.message()});
    return false;
  };
  const auto journal = Journal::OpenForReading(file);
  if (!journal.ok()) return damaged(journal.error());
  for (int64_t after = 0;;) {
    const auto page = (*journal)->List({}, after, kCallsPerQuery);
    if (!page.ok()) return damaged(page.error());
    if (page->empty()) return true;
    after = page->back().id;
  }
}

// The call of the journal that answered otherwise than the record says.
void Verifier::NameCall(RunDifference* difference) const {
  if (difference->part != "results" || !Exists(recipe_.Folder() / kJournal)) return;
  const auto journal = Journal::OpenForReading(recipe_.Folder() / kJournal);
  if (!journal.ok()) return;
  const auto calls =
      (*journal)->List({.run = recipe_.run.name, .task = difference->name}, 0, 1'000'000);
  if (!calls.ok()) return;
  const Result<Json> derived = ParseJson(difference->derived);
  const Json* content = derived.ok() ? derived->Find("content") : nullptr;
  for (const NumberedEntry& one : *calls) {
    if (content == nullptr || *content != Json(one.entry.result.content)) continue;
    difference->place +=
        fmt::format("; {} has it as call {} ({})", kJournal, one.id, one.entry.identity.Text());
    return;
  }
}

class Watcher : public TrainObserver {
 public:
  Watcher(StepVerifier verifier, const VerifyOptions* options, int64_t first_step, int64_t end_step,
          bool may_go_back)
      : verifier_(std::move(verifier)),
        options_(options),
        end_step_(end_step),
        may_go_back_(may_go_back),
        done_(first_step) {}

  void OnStep(const StepReport& report) override {
    if (!report.of_policy && options_->progress) {
      options_->progress(report.stage, report.step, report.steps);
    }
  }
  void OnTrained(const TrainedStep& done) override {
    const int64_t step = done.state.step - 1;
    skipped_ += std::max<int64_t>(step - done_, 0);
    // A roll-back: what the store has is what came after it.
    outcomes_.erase(outcomes_.lower_bound(step), outcomes_.end());
    if (step < end_step_ && problem_.ok()) {
      Result<StepVerifier::Outcome> outcome = verifier_.Verify(done);
      if (outcome.ok()) {
        outcomes_[step] = std::move(*outcome);
      } else {
        problem_ = outcome.error();
      }
    }
    done_ = done.state.step;
    if (options_->progress) options_->progress(done.stage.kind(), done.state.step, end_step_);
  }
  bool Stop() const {
    return !problem_.ok() || done_ >= end_step_ || (options_->stop && options_->stop()) ||
           (differs() && !options_->keep_going && !may_go_back_);
  }
  bool AtEnd() const { return done_ >= end_step_ || differs(); }
  int64_t done() const { return done_; }
  // Steps that were not derived: what their stage made was in the cache.
  int64_t skipped() const { return skipped_; }

  Result<void> problem_;
  std::map<int64_t, StepVerifier::Outcome> outcomes_;

 private:
  // What a roll-back takes away counts no more.
  bool differs() const {
    return std::any_of(outcomes_.begin(), outcomes_.end(),
                       [](const auto& one) { return one.second.difference.has_value(); });
  }

  StepVerifier verifier_;
  const VerifyOptions* options_;
  int64_t end_step_;
  bool may_go_back_;
  int64_t done_;  // steps
  int64_t skipped_ = 0;
};

Result<void> Verifier::Derive() {
  Watcher watcher(
      StepVerifier(run_.get(),
                   {.same_sources = !Replays(), .evaluated = Evaluates(), .scratch = scratch_}),
      &options_, result_.first_step, result_.end_step,
      run_->recipe.alarms.mode == AlarmOptions::Mode::kApply);
  const Result<TrainReport> report =
      Train(recipe_, {.observer = &watcher, .stop = [&] { return watcher.Stop(); }});
  HONE_RETURN_IF_ERROR(watcher.problem_);
  if (watcher.skipped() > 0) {
    result_.stored.steps -= watcher.skipped();
    result_.notes.push_back(fmt::format(
        "{} steps of imitation: what they made is taken from the cache (--fresh makes it again){}",
        watcher.skipped(),
        run_->start.empty() ? "" : "; rl must begin with the weights whose hash the run noted"));
  }
  for (auto& [step, outcome] : watcher.outcomes_) {
    result_.equal.Add(outcome.equal);
    if (!outcome.difference) continue;
    if (!result_.differences.empty() && !options_.keep_going) continue;
    NameCall(&*outcome.difference);
    result_.differences.push_back(std::move(*outcome.difference));
  }
  if (!report.ok()) {
    const bool stopped = report.error().code() == ErrorCode::kStopped;
    if (stopped && watcher.done() < result_.end_step && options_.stop && options_.stop()) {
      result_.ended = false;
      return {};
    }
    if (stopped && watcher.AtEnd()) return {};
    return report.error().In("the run could not be derived again");
  }
  if (watcher.done() < result_.end_step && result_.differences.empty()) {
    result_.differences.push_back({.step = watcher.done(),
                                   .what = "steps",
                                   .name = "",
                                   .place = "the end of the run",
                                   .derived = fmt::format("{} steps", watcher.done()),
                                   .stored = fmt::format("{} steps", result_.end_step)});
  }
  return {};
}

}  // namespace

Json Verification::ToJson() const {
  Json::Array list;
  for (const RunDifference& one : differences) list.push_back(one.ToJson());
  return Json::Of({{"passed", passed()},
                   {"ended", ended},
                   {"first_step", first_step},
                   {"end_step", end_step},
                   {"begun_with", begun_with},
                   {"stored", stored.ToJson()},
                   {"equal", equal.ToJson()},
                   {"not_verified", Json::Array(notes.begin(), notes.end())},
                   {"differences", std::move(list)}});
}

Result<Verification> PlanVerification(const std::filesystem::path& run,
                                      const VerifyOptions& options) {
  HONE_ASSIGN_OR_RETURN(std::unique_ptr<StoredRun> stored, OpenStoredRun(run));
  return Verifier(std::move(stored), options).Plan();
}

Result<Verification> VerifyRun(const std::filesystem::path& run, const VerifyOptions& options) {
  HONE_ASSIGN_OR_RETURN(std::unique_ptr<StoredRun> stored, OpenStoredRun(run));
  return Verifier(std::move(stored), options).Verify();
}

}  // namespace hone
