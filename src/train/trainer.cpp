#include "train/trainer.h"

#include <chrono>

#include <fmt/format.h>

#include "base/file.h"
#include "evaluate/forgetting.h"
#include "train/device_busy.h"
#include "train/evaluation_manners.h"
#include "train/folder/run_inputs.h"
#include "train/processes/crew.h"
#include "train/rehearsal.h"
#include "train/run_beginning.h"
#include "train/run_ending.h"
#include "train/stage_cache.h"
#include "train/stages/record_cost.h"
#include "train/stages/step_means.h"

namespace hone {
namespace {

double NowOfMachine() {
  return std::chrono::duration<double>(std::chrono::system_clock::now().time_since_epoch()).count();
}

class Trainer {
 public:
  Trainer(const TrainingRecipe& recipe, const TrainOptions& options)
      : recipe_(recipe),
        options_(options),
        own_clock_(NewRealClock()),
        times_(options.clock != nullptr ? options.clock : own_clock_.get()),
        cache_(recipe.run.cache, [this](std::string_view note) { observer().OnNote(note); }) {}

  Result<TrainReport> Run() {
    HONE_RETURN_IF_ERROR(times_.Run("set-up", [&] { return Open(); }));
    if (options_.ready) options_.ready();
    HONE_RETURN_IF_ERROR(FindMade());
    for (size_t i = static_cast<size_t>(state_.stage); i < recipe_.stages.size(); ++i) {
      HONE_RETURN_IF_ERROR(RunStage(i));
    }
    HONE_RETURN_IF_ERROR(Finish());
    TrainReport report{.state = state_, .weights = context_->engine->WeightsHash()};
    report.ratio_tokens = static_cast<int64_t>(state_.TotalOf("ratio_tokens"));
    report.checkpoint = folder_->CheckpointPath(state_.step);
    Settle();
    report.seconds = seconds_, report.wall = wall_;
    context_.reset();  // its journals are at their end
    if (crew_ != nullptr) HONE_RETURN_IF_ERROR(crew_->ShareJournals(recipe_));
    return report;
  }

 private:
  double WallTime() const { return options_.wall_time ? options_.wall_time() : NowOfMachine(); }
  TrainObserver& observer() { return options_.observer != nullptr ? *options_.observer : nobody_; }

  // What passed since the last time goes to the whole; returns it.
  std::map<std::string, double> Settle() {
    std::map<std::string, double> since = times_.seconds();
    for (const auto& [name, seconds] : since) {
      seconds_[name] += seconds;
      state_.AddTotal("seconds/" + name, seconds);
    }
    wall_ += times_.wall();
    state_.AddTotal("wall_seconds", times_.wall());
    times_.Restart();
    busy_.Restart(context_ == nullptr ? nullptr : context_->engine.get());
    return since;
  }

  Result<void> Open();
  Result<void> RunStage(size_t number);
  Result<void> MeasureStage(size_t number);
  void Announce(size_t number, bool cached);
  Result<FileLock> LockOf(std::string_view kind, const Json& inputs);
  // What several recipes would make alike: found in the cache, or to be put there.
  struct SharedOutput {
    Json inputs;
    bool ours = true;  // false: begun by another recipe, so that nobody shares it
    FileLock lock;
    std::optional<std::filesystem::path> made;
  };
  Result<SharedOutput> FindShared(size_t number);
  Result<void> Make(size_t number);
  Result<void> FindMade();
  Result<void> TrainPolicy(size_t number);
  Result<void> TakeShared(const Stage& stage, const std::filesystem::path& made);
  Result<void> PutShared(const Stage& stage, const SharedOutput& output);
  Result<std::unique_ptr<StageRun>> OpenRun(size_t number);
  Result<void> TakeStep(const Stage& stage, StageRun* run);
  Result<void> SettleStep(const RemedyOptions& remedies, bool save, StageRun* run);
  Result<void> RollBack(StageRun* run);
  Result<void> Finish();

  Result<void> Save();
  Result<void> Log(StepValues values, const std::vector<const ScoredTree*>& records);
  Result<void> Measure(const std::string& name, Split split, int64_t tasks);
  Result<bool> MeasureDev(StageRun* run, StageStep* done);
  Result<void> MayStop();  // also in the middle of a step, which has changed nothing before its end

  const TrainingRecipe& recipe_;
  TrainOptions options_;
  TrainObserver nobody_;
  std::unique_ptr<Clock> own_clock_;
  PassTimes times_;
  StageCache cache_;
  std::unique_ptr<RunFolder> folder_;
  std::unique_ptr<RunLog> log_;
  std::unique_ptr<StageContext> context_;
  std::unique_ptr<Crew> crew_;  // null: this process is alone
  TrainingState state_;
  const StageRun* run_ = nullptr;  // of the stage whose steps are taken
  StepMeans means_;                // since the last entry of the log
  std::map<std::string, double> seconds_;
  double wall_ = 0;
  DeviceBusy busy_;  // since times_ began anew
};

Result<void> Trainer::Open() {
  if (options_.cluster != nullptr && options_.cluster->size() > 1) {
    HONE_ASSIGN_OR_RETURN(crew_, Crew::Begin(options_.cluster, recipe_));
  }
  HONE_ASSIGN_OR_RETURN(folder_, RunFolder::Open(recipe_.Folder()));
  const auto note = [this](std::string_view text) { observer().OnNote(text); };
  HONE_RETURN_IF_ERROR(Claim(folder_->path(), recipe_, note));
  HONE_ASSIGN_OR_RETURN(const std::filesystem::path checkpoint,
                        CheckpointToGoOnFrom(recipe_.run, folder_.get(), note));
  const SetUpHooks hooks{options_.stop, note, [this](auto part, int64_t done, int64_t all) {
                           observer().OnPart(part, done, all);
                         }};
  HONE_ASSIGN_OR_RETURN(context_, StageContext::Open(recipe_, folder_->path(), checkpoint, nullptr,
                                                     {.hooks = hooks}));
  context_->times = &times_;
  context_->cluster = options_.cluster, context_->crew = crew_.get();
  HONE_RETURN_IF_ERROR(WriteAgentCard(context_->Card(), folder_->path() / kModelFiles));
  if (crew_ != nullptr) HONE_RETURN_IF_ERROR(crew_->SetUp(*context_));
  if (checkpoint.empty()) {
    HONE_RETURN_IF_ERROR(context_->MakeEngine());
    HONE_RETURN_IF_ERROR(WriteFileAtomic(folder_->path() / "tokenizer.json",
                                         context_->language.tokenizer->ToJson()));
  } else {
    HONE_ASSIGN_OR_RETURN(state_, ReadTrainingState(checkpoint));
    if (static_cast<size_t>(state_.stage) > recipe_.stages.size()) {
      return Error(ErrorCode::kInvalidArgument,
                   fmt::format("{} is behind the last stage of this recipe: it has done {}, and "
                               "there are {}",
                               checkpoint.string(), state_.stage, recipe_.stages.size()));
    }
    if (folder_->Checkpoints().empty()) {
      HONE_RETURN_IF_ERROR(Adopt(checkpoint, *context_->language.tokenizer, folder_->path()));
      state_.BeginElsewhere();
    }
    HONE_RETURN_IF_ERROR(context_->LoadEngine(checkpoint));
    context_->curriculum = state_.curriculum;
    context_->gone_on_from = checkpoint;
    observer().OnNote(fmt::format("going on from {}", checkpoint.string()));
  }
  HONE_RETURN_IF_ERROR(NoteEngine(folder_->path(), context_->engine->Description()));
  HONE_ASSIGN_OR_RETURN(log_, RunLog::Open(folder_->path(), state_.step, note));
  return Rehearse(recipe_, context_.get(), /*knock=*/true);
}

Result<void> Trainer::Save() {
  const auto beside = [this](const std::filesystem::path& folder) {
    return run_ != nullptr ? run_->SaveBeside(folder) : Result<void>();
  };
  return times_.Run("checkpoint", [&] {
    return folder_->Save(*context_->engine, *context_->language.tokenizer, state_, recipe_.run.keep,
                         beside);
  });
}

Result<void> Trainer::Log(StepValues values, const std::vector<const ScoredTree*>& records) {
  const double wall = times_.wall();
  if (recipe_.rollout.ahead == 0) busy_.AddShare(context_->engine.get(), wall, &values);
  for (const auto& [name, seconds] : Settle()) values["time/" + name] = seconds;
  if (crew_ != nullptr) values.merge(crew_->TakeSeconds());
  values["time/step"] = wall;
  for (const char* name : {"tokens", "sampled_tokens"}) {
    if (values.contains(name)) values["tokens_per_second"] = values[name] / wall;
  }
  HONE_RETURN_IF_ERROR(
      times_.Run("store", [&] { return log_->Add(WallTime(), state_.step - 1, values, records); }));
  const Stage& stage = *recipe_.stages[static_cast<size_t>(state_.stage)];
  observer().OnStep({std::string(stage.kind()), state_.stage_step, stage.size().steps,
                     std::move(values), /*of_policy=*/true, state_.step});
  return {};
}

Result<void> Trainer::MayStop() {
  if (!options_.stop || !options_.stop()) return {};
  HONE_RETURN_IF_ERROR(Save());
  return Error(ErrorCode::kStopped, fmt::format("stopped after step {}; the same command goes on "
                                                "from there",
                                                state_.step));
}

Result<void> Trainer::Measure(const std::string& name, Split split, int64_t tasks) {
  for (const EvaluationManner& manner : MannersOf(recipe_.evaluation, split)) {
    const std::string full = fmt::format("{}/{}/{}", name, SplitName(split), manner.name);
    HONE_ASSIGN_OR_RETURN(const Evaluation evaluation, times_.Run("evaluation", [&] {
      Result<Evaluation> made =
          context_->Evaluate({.split = split,
                              .tasks = tasks,
                              .without_tools = manner.without_tools,
                              .seed = recipe_.evaluation.seed,
                              .progress =
                                  [&](int64_t ended, int64_t wanted) {
                                    observer().OnEvaluationProgress(full, ended, wanted);
                                  }},
                             manner.temperature);
      if (made.ok()) state_.evaluations.Set(full, made->ToJson());
      return made;
    }));
    observer().OnEvaluation(full, evaluation);
  }
  return {};
}

// Adds what came out to the step, where there were verdicts; says whether it is the best so far.
Result<bool> Trainer::MeasureDev(StageRun* run, StageStep* done) {
  HONE_RETURN_IF_ERROR(Measure("dev", Split::kDev, recipe_.evaluation.dev_tasks));
  done->values.merge(DevValues(state_.evaluations));
  const auto sampled = done->values.find("dev/sampled");
  const bool measured = sampled != done->values.end();
  if (run->alarms() != nullptr) {
    const StepValues seen = measured ? StepValues{{"dev/success", sampled->second}} : StepValues();
    for (AlarmEvent& event : run->alarms()->Observe(state_.stage_step - 1, seen)) {
      done->alarms.push_back(std::move(event));
    }
  }
  if (!measured || (state_.best && sampled->second <= *state_.best)) return false;
  state_.best = sampled->second;
  state_.best_step = state_.step;
  return true;
}

Result<void> Trainer::RunStage(size_t number) {
  const bool trains = recipe_.stages[number]->traits().trains_policy();
  HONE_RETURN_IF_ERROR(trains ? TrainPolicy(number) : Make(number));
  if (trains) HONE_RETURN_IF_ERROR(MeasureStage(number));
  // What the real tools were asked for a record counts as the run's, whoever made it.
  if (!trains) AddCostOfRecord(context_->made_last, recipe_.answers.conditions, &state_);
  state_.NextStage(recipe_.stages[number]->traits().practice);
  context_->curriculum = state_.curriculum;
  HONE_RETURN_IF_ERROR(Save());
  return MayStop();
}

// What is left of each of several environments, on dev. Practice has measured it at its end.
Result<void> Trainer::MeasureStage(size_t number) {
  if (!context_->HasSeveralOnDev()) return {};
  const Stage& stage = *recipe_.stages[number];
  const std::string name = StageEvaluation(number, stage.kind());
  const bool measured = stage.traits().practice && recipe_.evaluation.every > 0;
  if (!measured) return Measure(name, Split::kDev, recipe_.evaluation.dev_tasks);
  KeepDevAs(name, &state_.evaluations);
  return {};
}

void Trainer::Announce(size_t number, bool cached) {
  const Stage& stage = *recipe_.stages[number];
  const bool counts = stage.traits().trains_policy();
  const int64_t done = counts ? state_.stage_step : 0;
  observer().OnStage({std::string(stage.kind()), static_cast<int64_t>(number),
                      static_cast<int64_t>(recipe_.stages.size()), stage.size().steps, done, cached,
                      counts ? state_.step - done : -1});
}

// Whoever comes first makes it; the others wait and find it there.
Result<FileLock> Trainer::LockOf(std::string_view kind, const Json& inputs) {
  return times_.Run("waiting", [&] {
    return cache_.LockOf(kind, inputs, options_.stop, [&] {
      observer().OnNote(
          fmt::format("another run is making the same {} stage; waiting for it", kind));
    });
  });
}

Result<Trainer::SharedOutput> Trainer::FindShared(size_t number) {
  const Stage& stage = *recipe_.stages[number];
  HONE_ASSIGN_OR_RETURN(Json inputs, context_->InputsOf(number));
  bool ours = true;
  // In the middle of it the weights are no longer those that it began with. Begun by another recipe
  // (resume = FOLDER), what comes out is neither that one's nor this one's: nobody shares it.
  if (stage.traits().trains_policy() && state_.stage_step > 0) {
    const Json* before = state_.stage_state.Find("before");
    inputs.Set("before", before == nullptr ? Json() : *before);
    ours = inputs == state_.stage_state;
    inputs = state_.stage_state;
  }
  // Nor are they those that made something for later stages.
  const Json* made_by = state_.made_by.Find(std::to_string(number));
  if (made_by != nullptr) inputs.Set("before", *made_by);
  HONE_ASSIGN_OR_RETURN(FileLock lock, LockOf(stage.kind(), inputs));
  auto made = ours ? cache_.Find(stage.kind(), inputs) : std::nullopt;
  Announce(number, made.has_value());
  return SharedOutput{std::move(inputs), ours, std::move(lock), std::move(made)};
}

// The stages that make something for later ones and leave the policy as it is.
Result<void> Trainer::Make(size_t number) {
  const Stage& stage = *recipe_.stages[number];
  if (stage.traits().trains_policy()) return {};
  HONE_ASSIGN_OR_RETURN(const SharedOutput output, FindShared(number));
  std::filesystem::path made = output.made.value_or("");
  if (stage.needs_policy()) {
    const std::string& policy = output.inputs.Find("before")->AsString();
    HONE_RETURN_IF_ERROR(state_.NoteMadeBy(number, policy, output.made.has_value()));
  }
  if (!output.made) {
    const auto tell = [&](int64_t step, int64_t steps, const StepValues& values) {
      observer().OnStep({std::string(stage.kind()), step, steps, values, /*of_policy=*/false});
    };
    HONE_ASSIGN_OR_RETURN(
        made, cache_.Put(stage.kind(), output.inputs, [&](const std::filesystem::path& folder) {
          return stage.Make(context_.get(), folder, tell);
        }));
  }
  context_->Provide(stage.traits().product, made);
  return crew_ == nullptr ? Result<void>() : crew_->Provide(stage.traits().product, made);
}

// A run that goes on behind stages that made something finds it, or makes it again.
Result<void> Trainer::FindMade() {
  for (size_t i = 0; i < static_cast<size_t>(state_.stage); ++i) {
    HONE_RETURN_IF_ERROR(Make(i));
  }
  return {};
}

Result<void> Trainer::TrainPolicy(size_t number) {
  const Stage& stage = *recipe_.stages[number];
  std::optional<SharedOutput> shared;
  if (stage.traits().shared) {
    HONE_ASSIGN_OR_RETURN(shared, FindShared(number));
    if (shared->made) return TakeShared(stage, *shared->made);
    state_.stage_state = shared->inputs;
  } else {
    Announce(number, false);
  }
  HONE_ASSIGN_OR_RETURN(const std::unique_ptr<StageRun> run, OpenRun(number));
  run_ = run.get();
  while (!run->IsOver(state_.stage_step)) HONE_RETURN_IF_ERROR(TakeStep(stage, run.get()));
  run_ = nullptr;
  return shared && shared->ours ? PutShared(stage, *shared) : Result<void>();
}

Result<void> Trainer::TakeShared(const Stage& stage, const std::filesystem::path& made) {
  HONE_RETURN_IF_ERROR(times_.Run("set-up", [&] { return context_->LoadEngine(made); }));
  // Another run may have come to its end while this one was interrupted in the middle.
  state_.step += stage.size().steps - state_.stage_step;
  state_.stage_step = stage.size().steps;
  observer().OnTrained({stage, state_, *context_->engine, {}, {}});
  return {};
}

Result<void> Trainer::PutShared(const Stage& stage, const SharedOutput& output) {
  const auto write = [&](const std::filesystem::path& folder) -> Result<void> {
    HONE_RETURN_IF_ERROR(context_->engine->Save(folder, SaveType::kF32));
    return WriteFileAtomic(folder / "tokenizer.json", context_->language.tokenizer->ToJson());
  };
  const auto put =
      times_.Run("checkpoint", [&] { return cache_.Put(stage.kind(), output.inputs, write); });
  return put.ok() ? Result<void>() : Result<void>(put.error());
}

Result<std::unique_ptr<StageRun>> Trainer::OpenRun(size_t number) {
  const Stage& stage = *recipe_.stages[number];
  const bool practice = stage.traits().practice, begin = state_.stage_step == 0;
  if (begin) {
    if (practice && state_.start.empty()) state_.start = context_->engine->WeightsHash();
    HONE_RETURN_IF_ERROR(context_->FreshEngine(practice && recipe_.objective.NeedsCritic()));
    const int64_t tasks = practice ? recipe_.evaluation.test_tasks : 0;
    if (tasks > 0 && state_.evaluations.Find("before/test/sampled") == nullptr) {
      HONE_RETURN_IF_ERROR(Measure("before", Split::kTest, tasks));
    }
  }
  HONE_ASSIGN_OR_RETURN(std::unique_ptr<StageRun> run, times_.Run("set-up", [&] {
    return stage.Open(static_cast<int64_t>(number), begin, context_.get());
  }));
  if (crew_ != nullptr) HONE_RETURN_IF_ERROR(crew_->OpenStage(static_cast<int64_t>(number)));
  if (!begin) HONE_RETURN_IF_ERROR(run->Restore(state_.stage_state));
  Settle();  // what came before is not the first step's time
  return run;
}

Result<void> Trainer::TakeStep(const Stage& stage, StageRun* run) {
  const bool practice = stage.traits().practice;
  if (crew_ != nullptr && !practice) crew_->TakeStep(state_.stage_step);
  Result<StageStep> step = run->Step(state_.stage_step);
  if (!step.ok() && step.error().code() == ErrorCode::kStopped) HONE_RETURN_IF_ERROR(MayStop());
  HONE_ASSIGN_OR_RETURN(StageStep done, std::move(step));
  ++state_.stage_step, ++state_.step;
  if (done.ratio_tokens > 0)
    state_.AddTotal("ratio_tokens", static_cast<double>(done.ratio_tokens));
  for (const char* name : {"trajectories", "sampled_tokens", "real_calls", "simulated_calls",
                           "spent/dollars", "spent/hours"}) {
    if (done.values.contains(name)) state_.AddTotal(name, done.values[name]);
  }
  const bool last = run->IsOver(state_.stage_step);
  const auto due = [&](int64_t every) { return state_.stage_step % every == 0; };
  const int64_t measured_every = practice ? recipe_.evaluation.every : 0;
  bool best = false;
  if (measured_every > 0 && (due(measured_every) || last)) {
    HONE_ASSIGN_OR_RETURN(best, MeasureDev(run, &done));
  }
  for (const AlarmEvent& event : done.alarms) {
    state_.NoteAlarm(event);
    observer().OnAlarm(event);
  }
  // What a shared stage depends on was noted when it began, and all that it needs.
  if (!stage.traits().shared) state_.stage_state = run->State();
  const RemedyOptions remedies =
      run->alarms() != nullptr ? run->alarms()->remedies() : RemedyOptions();
  observer().OnTrained({stage, state_, *context_->engine, done.values, done.records});
  means_.Add(done.values);
  if (practice || due(recipe_.run.log_every) || last || !done.measured.empty()) {
    HONE_RETURN_IF_ERROR(
        Log(means_.Take(done.measured), FirstOf(done.records, recipe_.run.store_groups)));
  }
  const bool save = due(practice ? recipe_.run.save_every : recipe_.run.sft_save_every);
  HONE_RETURN_IF_ERROR(SettleStep(remedies, best || (save && !last), run));
  return run->IsOver(state_.stage_step) ? Result<void>() : MayStop();
}

// What alarms want, then the checkpoint.
Result<void> Trainer::SettleStep(const RemedyOptions& remedies, bool save, StageRun* run) {
  if (remedies.stop) {
    HONE_RETURN_IF_ERROR(Save());
    return Error(ErrorCode::kStopped,
                 fmt::format("an alarm stopped the run after step {}; what there is of it is saved "
                             "in {}",
                             state_.step, folder_->CheckpointPath(state_.step).string()));
  }
  if (remedies.roll_back && state_.anchor > 0) return RollBack(run);
  if (remedies.roll_back) {
    observer().OnNote("there is no checkpoint of this stage to go back to; it goes on as it is");
  }
  if (!save) return {};
  // What an alarm would have gone back from is nothing to go back to.
  if (run->alarms() != nullptr && !remedies.roll_back) state_.anchor = state_.step;
  return Save();
}

// To the anchor. What the alarms have learned is saved at once: a kill right afterwards must not
// make the run forget it and fail in the same way.
Result<void> Trainer::RollBack(StageRun* run) {
  const std::filesystem::path checkpoint = folder_->CheckpointPath(state_.anchor);
  HONE_RETURN_IF_ERROR(CheckCheckpoint(checkpoint));
  HONE_ASSIGN_OR_RETURN(TrainingState before, ReadTrainingState(checkpoint));
  HONE_RETURN_IF_ERROR(context_->LoadEngine(checkpoint));
  context_->gone_on_from = checkpoint;
  HONE_RETURN_IF_ERROR(run->alarms()->RollBack(before.stage_step, before.stage_state));
  // What it took and what went off stay on the account.
  before.totals = std::move(state_.totals);
  before.alarms = std::move(state_.alarms);
  state_ = std::move(before);
  state_.stage_state = run->State();
  HONE_ASSIGN_OR_RETURN(log_, RunLog::Open(folder_->path(), state_.step));
  observer().OnNote(fmt::format("went back to step {}", state_.stage_step));
  HONE_RETURN_IF_ERROR(Save());
  // Left by interrupts: the run would go on from them, and come back here.
  const std::vector<int64_t> steps = folder_->Checkpoints();
  for (auto step = steps.rbegin(); step != steps.rend() && *step > state_.step; ++step) {
    folder_->Drop(*step);
  }
  return {};
}

Result<void> Trainer::Finish() {
  if (CameToItsEnd(folder_->path(), recipe_, state_.step)) {
    observer().OnNote("this run came to its end before; nothing is done again");
    return {};
  }
  const RunEvaluationOptions& evaluation = recipe_.evaluation;
  if (evaluation.test_tasks > 0 && recipe_.environment.kind != kNoEnvironment) {
    HONE_RETURN_IF_ERROR(Measure("after", Split::kTest, evaluation.test_tasks));
    for (const std::string& name : evaluation.more) {
      const Split split = SplitFromName(name).value();
      const std::optional<uint64_t> count = context_->environment.tasks->count(split);
      if (count && *count == 0) continue;
      HONE_RETURN_IF_ERROR(Measure("after", split, evaluation.more_tasks));
    }
  }
  Settle();
  HONE_RETURN_IF_ERROR(Save());
  return times_.Run("checkpoint", [&] {
    return WriteResult(folder_->path(), recipe_, state_.step, context_->engine->WeightsHash());
  });
}

}  // namespace

Result<TrainReport> Train(const TrainingRecipe& recipe, const TrainOptions& options) {
  return Trainer(recipe, options).Run();
}

}  // namespace hone
