#include "learn/trainer.h"

#include <chrono>

#include <fmt/format.h>

#include "base/file.h"
#include "base/hash.h"
#include "evaluate/figure_text.h"
#include "learn/recipe_identity.h"
#include "learn/record_stage.h"
#include "learn/rl_stage.h"
#include "learn/run_beginning.h"
#include "learn/sft_stage.h"
#include "learn/simulator_stage.h"
#include "learn/stage_cache.h"

namespace hone {
namespace {

constexpr const char* kResultFile = "result.json";

double NowOfMachine() {
  return std::chrono::duration<double>(std::chrono::system_clock::now().time_since_epoch()).count();
}

template <typename T>
Result<void> WithoutValue(const Result<T>& result) {
  return result.ok() ? Result<void>() : Result<void>(result.error());
}

class Trainer {
 public:
  Trainer(const TrainingRecipe& recipe, const TrainOptions& options)
      : recipe_(recipe),
        options_(options),
        own_clock_(NewRealClock()),
        times_(options.clock != nullptr ? options.clock : own_clock_.get()),
        cache_(recipe.run.cache) {}

  Result<TrainReport> Run() {
    HONE_RETURN_IF_ERROR(times_.Run("set-up", [&] { return Open(); }));
    HONE_RETURN_IF_ERROR(FindMade());
    for (size_t i = static_cast<size_t>(state_.stage); i < recipe_.stages.size(); ++i) {
      HONE_RETURN_IF_ERROR(RunStage(i));
    }
    HONE_RETURN_IF_ERROR(Finish());
    TrainReport report{.state = state_,
                       .weights = workshop_->engine->WeightsHash(),
                       .ratio_tokens = static_cast<int64_t>(TotalOf("ratio_tokens")),
                       .checkpoint = folder_->CheckpointPath(state_.step)};
    Settle();
    report.seconds = seconds_;
    report.wall = wall_;
    return report;
  }

 private:
  double WallTime() const { return options_.wall_time ? options_.wall_time() : NowOfMachine(); }
  TrainObserver& observer() { return options_.observer != nullptr ? *options_.observer : nobody_; }

  double TotalOf(std::string_view name) const {
    const Json* total = state_.totals.Find(name);
    return total == nullptr ? 0 : total->AsDouble();
  }
  void AddTotal(std::string_view name, double value) {
    state_.totals.Set(name, TotalOf(name) + value);
  }

  // What passed since the last time goes to the whole; returns it.
  std::map<std::string, double> Settle() {
    std::map<std::string, double> since = times_.seconds();
    for (const auto& [name, seconds] : since) {
      seconds_[name] += seconds;
      AddTotal("seconds/" + name, seconds);
    }
    wall_ += times_.wall();
    AddTotal("wall_seconds", times_.wall());
    times_.Restart();
    return since;
  }

  Result<void> Open();
  Result<void> RunStage(size_t number);
  Result<FileLock> LockOf(std::string_view kind, const Json& inputs);
  Result<void> Make(size_t number);
  Result<std::filesystem::path> Made(
      const std::string& kind, size_t number, int64_t steps,
      const std::function<Result<void>(const std::filesystem::path& folder)>& make);
  Result<void> FindMade();
  Result<void> RunSft(const SftStage& stage, size_t number);
  Result<void> RunRl(const RlStage& stage, size_t number);
  Result<void> RollBack(RlTraining* training);
  bool IsFinished() const;
  Result<void> Finish();

  // A new optimiser: what another stage's gradients were like is of no use.
  void FreshEngine(bool critic);
  void NextStage();
  Result<void> Save();
  Result<void> Log(StepValues values, const std::vector<const ScoredTree*>& records);
  Result<void> Measure(const std::string& name, Split split, int64_t tasks);
  Result<bool> MeasureDev(StepValues* values);
  void Note(const AlarmEvent& event);
  std::vector<const ScoredTree*> Stored(const std::vector<ScoredTree>& records) const;
  Result<void> MayStop();

  const TrainingRecipe& recipe_;
  TrainOptions options_;
  TrainObserver nobody_;
  std::unique_ptr<Clock> own_clock_;
  PassTimes times_;
  StageCache cache_;
  std::unique_ptr<RunFolder> folder_;
  std::unique_ptr<RunLog> log_;
  std::unique_ptr<Workshop> workshop_;
  TrainingState state_;
  std::map<std::string, double> seconds_;
  double wall_ = 0;
};

Result<void> Trainer::Open() {
  HONE_ASSIGN_OR_RETURN(folder_,
                        RunFolder::Open(std::filesystem::path(recipe_.run.out) / recipe_.run.name));
  HONE_RETURN_IF_ERROR(Claim(folder_->path(), recipe_));
  HONE_ASSIGN_OR_RETURN(const std::filesystem::path checkpoint,
                        CheckpointToGoOnFrom(*folder_, recipe_.run));
  HONE_ASSIGN_OR_RETURN(workshop_, Workshop::Open(recipe_, folder_->path(), checkpoint, nullptr));
  workshop_->times = &times_;
  if (checkpoint.empty()) {
    HONE_ASSIGN_OR_RETURN(
        Model model, MakeModel(recipe_.model, *workshop_->language.tokenizer, recipe_.run.seed));
    workshop_->engine = std::make_unique<Engine>(std::move(model), workshop_->engine_options);
    HONE_RETURN_IF_ERROR(WriteFileAtomic(folder_->path() / "tokenizer.json",
                                         workshop_->language.tokenizer->ToJson()));
  } else {
    HONE_ASSIGN_OR_RETURN(state_, ReadTrainingState(checkpoint));
    if (static_cast<size_t>(state_.stage) > recipe_.stages.size()) {
      return Error(ErrorCode::kInvalidArgument,
                   fmt::format("{} is behind the last stage of this recipe: it has done {}, and "
                               "there are {}",
                               checkpoint.string(), state_.stage, recipe_.stages.size()));
    }
    if (folder_->Checkpoints().empty()) {
      HONE_RETURN_IF_ERROR(Adopt(checkpoint, *workshop_->language.tokenizer, folder_->path()));
      // The checkpoints that it would roll back to, or call its best, are not here.
      state_.anchor = 0;
      state_.best.reset();
      state_.best_step = 0;
    }
    HONE_ASSIGN_OR_RETURN(workshop_->engine, Engine::Load(checkpoint, workshop_->engine_options));
    observer().OnNote(fmt::format("going on from {}", checkpoint.string()));
  }
  HONE_ASSIGN_OR_RETURN(log_, RunLog::Open(folder_->path(), state_.step));
  return {};
}

void Trainer::FreshEngine(bool critic) {
  Model model = workshop_->engine->model();
  if (critic) AddScalarHead(&model);
  workshop_->engine = std::make_unique<Engine>(std::move(model), workshop_->engine_options);
}

void Trainer::NextStage() {
  ++state_.stage;
  state_.stage_step = 0;
  state_.stage_state = Json();
  state_.anchor = 0;
}

Result<void> Trainer::Save() {
  return times_.Run("checkpoint", [&] {
    return folder_->Save(*workshop_->engine, *workshop_->language.tokenizer, state_,
                         recipe_.run.keep);
  });
}

Result<void> Trainer::Log(StepValues values, const std::vector<const ScoredTree*>& records) {
  const double wall = times_.wall();
  for (const auto& [name, seconds] : Settle()) values["time/" + name] = seconds;
  values["time/step"] = wall;
  if (values.contains("tokens")) values["tokens_per_second"] = values["tokens"] / wall;
  if (values.contains("sampled_tokens")) {
    values["tokens_per_second"] = values["sampled_tokens"] / wall;
  }
  HONE_RETURN_IF_ERROR(
      times_.Run("store", [&] { return log_->Add(WallTime(), state_.step - 1, values, records); }));
  const StageSettings& stage = recipe_.stages[static_cast<size_t>(state_.stage)];
  const int64_t steps = std::visit(
      [](const auto& one) -> int64_t {
        if constexpr (requires { one.steps; }) return one.steps;
        return 1;
      },
      stage);
  observer().OnStep({std::string(StageKind(stage)), state_.stage_step, steps, std::move(values)});
  return {};
}

Result<void> Trainer::MayStop() {
  if (!options_.stop || !options_.stop()) return {};
  HONE_RETURN_IF_ERROR(Save());
  return Error(
      ErrorCode::kStopped,
      fmt::format("stopped after step {}; the same command goes on from there", state_.step));
}

// Sampled and greedy.
Result<void> Trainer::Measure(const std::string& name, Split split, int64_t tasks) {
  for (const double temperature : {recipe_.evaluation.temperature, 0.0}) {
    const std::string full =
        fmt::format("{}/{}/{}", name, SplitName(split), temperature == 0 ? "greedy" : "sampled");
    HONE_ASSIGN_OR_RETURN(const Evaluation evaluation, times_.Run("evaluation", [&] {
      Result<Evaluation> made =
          workshop_->Evaluate({.split = split,
                               .tasks = tasks,
                               .seed = recipe_.evaluation.seed,
                               .progress =
                                   [&](int64_t ended, int64_t wanted) {
                                     observer().OnEvaluationProgress(full, ended, wanted);
                                   }},
                              temperature);
      if (made.ok()) state_.evaluations.Set(full, made->ToJson());
      return made;
    }));
    observer().OnEvaluation(full, evaluation);
  }
  return {};
}

// Adds what came out to `values`, where there were verdicts; says whether it is the best so far.
Result<bool> Trainer::MeasureDev(StepValues* values) {
  HONE_RETURN_IF_ERROR(Measure("dev", Split::kDev, recipe_.evaluation.dev_tasks));
  for (const char* how : {"sampled", "greedy"}) {
    const Json* made = state_.evaluations.Find(fmt::format("dev/dev/{}", how));
    if (const auto success = FigureIn(made, "success")) {
      (*values)[fmt::format("dev/{}", how)] = success->value;
    }
  }
  const auto sampled = values->find("dev/sampled");
  if (sampled == values->end() || (state_.best && sampled->second <= *state_.best)) return false;
  state_.best = sampled->second;
  state_.best_step = state_.step;
  return true;
}

void Trainer::Note(const AlarmEvent& event) {
  state_.alarms.push_back(Json::Of({{"step", event.step},
                                    {"run_step", state_.step},
                                    {"name", event.name},
                                    {"severity", SeverityName(event.severity)},
                                    {"message", event.message},
                                    {"remedy", event.remedy}}));
  observer().OnAlarm(event);
}

// As many as the recipe wants to be stored.
std::vector<const ScoredTree*> Trainer::Stored(const std::vector<ScoredTree>& records) const {
  std::vector<const ScoredTree*> stored;
  for (const ScoredTree& record : records) {
    const auto count = static_cast<int64_t>(stored.size());
    if (recipe_.run.store_groups >= 0 && count >= recipe_.run.store_groups) break;
    stored.push_back(&record);
  }
  return stored;
}

Result<void> Trainer::RunStage(size_t number) {
  const StageSettings& stage = recipe_.stages[number];
  if (const auto* sft = std::get_if<SftStage>(&stage)) return RunSft(*sft, number);
  if (const auto* rl = std::get_if<RlStage>(&stage)) return RunRl(*rl, number);
  HONE_RETURN_IF_ERROR(Make(number));
  NextStage();
  HONE_RETURN_IF_ERROR(Save());
  return MayStop();
}

// What a stage makes beside the policy: found in the cache, or made and put there.
Result<std::filesystem::path> Trainer::Made(
    const std::string& kind, size_t number, int64_t steps,
    const std::function<Result<void>(const std::filesystem::path& folder)>& make) {
  HONE_ASSIGN_OR_RETURN(const Json inputs, workshop_->InputsOf(number));
  HONE_ASSIGN_OR_RETURN(const FileLock lock, LockOf(kind, inputs));
  const std::optional<std::filesystem::path> made = cache_.Find(kind, inputs);
  observer().OnStage({kind, static_cast<int64_t>(number),
                      static_cast<int64_t>(recipe_.stages.size()), steps, 0, made.has_value()});
  if (made) return *made;
  return cache_.Put(kind, inputs, make);
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

// The stages that make something for later ones and leave the policy as it is.
Result<void> Trainer::Make(size_t number) {
  if (const auto* record = std::get_if<RecordStage>(&recipe_.stages[number])) {
    HONE_ASSIGN_OR_RETURN(const std::filesystem::path made,
                          Made("record", number, 1, [&](const std::filesystem::path& folder) {
                            return WithoutValue(MakeRecord(*record, workshop_.get(), folder));
                          }));
    workshop_->recorded = made / "recorded.sqlite";
  } else if (const auto* simulator = std::get_if<SimulatorStage>(&recipe_.stages[number])) {
    const auto tell = [&](const TrainingProgress& progress) {
      observer().OnStep(
          {"simulator", progress.step, progress.steps, {{"simulator/loss", progress.loss}}});
    };
    HONE_ASSIGN_OR_RETURN(
        workshop_->simulator,
        Made("simulator", number, simulator->model.steps, [&](const std::filesystem::path& folder) {
          return WithoutValue(MakeSimulator(*simulator, workshop_.get(), folder, tell));
        }));
  }
  return {};
}

// A run that goes on behind stages that made something finds it, or makes it again.
Result<void> Trainer::FindMade() {
  for (size_t i = 0; i < static_cast<size_t>(state_.stage); ++i) {
    HONE_RETURN_IF_ERROR(Make(i));
  }
  return {};
}

Result<void> Trainer::RunSft(const SftStage& stage, size_t number) {
  HONE_ASSIGN_OR_RETURN(Json inputs, workshop_->InputsOf(number));
  // In the middle of it the weights are no longer those that it began with. Begun by another recipe
  // (resume = FOLDER), what comes out is neither that one's nor this one's: nobody shares it.
  bool shared = true;
  if (state_.stage_step > 0) {
    const Json* before = state_.stage_state.Find("before");
    inputs.Set("before", before == nullptr ? Json() : *before);
    shared = inputs == state_.stage_state;
    inputs = state_.stage_state;
  }
  HONE_ASSIGN_OR_RETURN(const FileLock lock, LockOf("sft", inputs));
  const auto cached = shared ? cache_.Find("sft", inputs) : std::nullopt;
  const auto stage_number = static_cast<int64_t>(number);
  const auto stages = static_cast<int64_t>(recipe_.stages.size());
  observer().OnStage(
      {"sft", stage_number, stages, stage.steps, state_.stage_step, cached.has_value()});
  if (cached) {
    HONE_ASSIGN_OR_RETURN(workshop_->engine, times_.Run("set-up", [&] {
      return Engine::Load(*cached, workshop_->engine_options);
    }));
    // Another run may have come to its end while this one was interrupted in the middle.
    state_.step += stage.steps - state_.stage_step;
    state_.stage_step = stage.steps;
    observer().OnTrained({"sft", state_, *workshop_->engine, {}, {}});
    NextStage();
    return Save();
  }
  if (state_.stage_step == 0) FreshEngine(false);
  state_.stage_state = inputs;
  SftTraining training(stage, workshop_.get());
  StepValues sums;
  int64_t summed = 0;
  while (state_.stage_step < stage.steps) {
    HONE_ASSIGN_OR_RETURN(const StepValues values, training.Step(state_.stage_step));
    ++state_.stage_step;
    ++state_.step;
    observer().OnTrained({"sft", state_, *workshop_->engine, values, {}});
    for (const auto& [name, value] : values) sums[name] += value;
    ++summed;
    const bool last = state_.stage_step == stage.steps;
    if (state_.stage_step % recipe_.run.log_every == 0 || last) {
      for (auto& [name, value] : sums) {
        if (name != "tokens") value /= static_cast<double>(summed);
      }
      HONE_RETURN_IF_ERROR(Log(std::move(sums), {}));
      sums.clear();
      summed = 0;
    }
    if (state_.stage_step % recipe_.run.sft_save_every == 0 && !last) HONE_RETURN_IF_ERROR(Save());
    if (!last) HONE_RETURN_IF_ERROR(MayStop());
  }
  if (shared) {
    const auto put = times_.Run("checkpoint", [&] {
      return cache_.Put("sft", inputs, [&](const std::filesystem::path& folder) -> Result<void> {
        HONE_RETURN_IF_ERROR(workshop_->engine->Save(folder, SaveType::kF32));
        return WriteFileAtomic(folder / "tokenizer.json", workshop_->language.tokenizer->ToJson());
      });
    });
    if (!put.ok()) return put.error();
  }
  NextStage();
  HONE_RETURN_IF_ERROR(Save());
  return MayStop();
}

Result<void> Trainer::RunRl(const RlStage& stage, size_t number) {
  const auto stage_number = static_cast<int64_t>(number);
  const auto stages = static_cast<int64_t>(recipe_.stages.size());
  observer().OnStage({"rl", stage_number, stages, stage.steps, state_.stage_step, false});
  const bool begin = state_.stage_step == 0;
  const EvaluationSettings& evaluation = recipe_.evaluation;
  if (begin) {
    if (state_.start.empty()) state_.start = workshop_->engine->WeightsHash();
    FreshEngine(recipe_.objective.NeedsCritic());
    if (evaluation.test_tasks > 0 && state_.evaluations.Find("before/test/sampled") == nullptr) {
      HONE_RETURN_IF_ERROR(Measure("before", Split::kTest, evaluation.test_tasks));
    }
  }
  HONE_ASSIGN_OR_RETURN(const auto training, times_.Run("set-up", [&] {
    return RlTraining::New(stage, stage_number, begin, workshop_.get());
  }));
  if (!begin) HONE_RETURN_IF_ERROR(training->Restore(state_.stage_state));
  Settle();  // what came before is not the first step's time
  while (!training->IsOver(state_.stage_step)) {
    HONE_ASSIGN_OR_RETURN(RlStep done, training->Step(state_.stage_step));
    ++state_.stage_step;
    ++state_.step;
    state_.stage_state = training->State();
    AddTotal("ratio_tokens", static_cast<double>(done.ratio_tokens));
    AddTotal("trajectories", done.values["trajectories"]);
    AddTotal("sampled_tokens", done.values["sampled_tokens"]);
    AddTotal("real_calls", done.values["real_calls"]);
    AddTotal("simulated_calls", done.values["simulated_calls"]);
    const bool last = training->IsOver(state_.stage_step);
    bool best = false;
    if (evaluation.every > 0 && (state_.stage_step % evaluation.every == 0 || last)) {
      HONE_ASSIGN_OR_RETURN(best, MeasureDev(&done.values));
      StepValues measured;
      if (const auto sampled = done.values.find("dev/sampled"); sampled != done.values.end()) {
        measured["dev/success"] = sampled->second;
      }
      for (AlarmEvent& event : training->Observe(state_.stage_step - 1, measured)) {
        done.alarms.push_back(std::move(event));
      }
    }
    for (const AlarmEvent& event : done.alarms) Note(event);
    state_.stage_state = training->State();
    const RemedySettings remedies = training->remedies();
    observer().OnTrained({"rl", state_, *workshop_->engine, done.values, done.records});
    HONE_RETURN_IF_ERROR(Log(std::move(done.values), Stored(done.records)));
    if (remedies.stop) {
      HONE_RETURN_IF_ERROR(Save());
      return Error(
          ErrorCode::kStopped,
          fmt::format("an alarm stopped the run after step {}; what there is of it is saved "
                      "in {}",
                      state_.step, folder_->CheckpointPath(state_.step).string()));
    }
    if (remedies.roll_back && state_.anchor > 0) {
      HONE_RETURN_IF_ERROR(RollBack(training.get()));
      continue;
    }
    if (remedies.roll_back) {
      observer().OnNote("there is no checkpoint of this stage to go back to; it goes on as it is");
    }
    if (best || (state_.stage_step % recipe_.run.save_every == 0 && !last)) {
      // What an alarm would have gone back from is nothing to go back to.
      if (!remedies.roll_back) state_.anchor = state_.step;
      HONE_RETURN_IF_ERROR(Save());
    }
    if (!last) HONE_RETURN_IF_ERROR(MayStop());
  }
  NextStage();
  HONE_RETURN_IF_ERROR(Save());
  return MayStop();
}

// To the anchor. What the alarms have learned is saved at once: a kill right afterwards must not
// make the run forget it and fail in the same way.
Result<void> Trainer::RollBack(RlTraining* training) {
  const std::filesystem::path checkpoint = folder_->CheckpointPath(state_.anchor);
  HONE_ASSIGN_OR_RETURN(TrainingState before, ReadTrainingState(checkpoint));
  HONE_ASSIGN_OR_RETURN(workshop_->engine, Engine::Load(checkpoint, workshop_->engine_options));
  HONE_RETURN_IF_ERROR(training->RollBack(before.stage_step, before.stage_state));
  // What it took and what went off stay on the account.
  before.totals = std::move(state_.totals);
  before.alarms = std::move(state_.alarms);
  state_ = std::move(before);
  state_.stage_state = training->State();
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

// It came to its end before, and was measured as this recipe says.
bool Trainer::IsFinished() const {
  const Result<std::string> text = ReadFile(folder_->path() / kResultFile);
  if (!text.ok()) return false;
  const Result<Json> result = ParseJson(*text);
  if (!result.ok()) return false;
  const Json* step = result->Find("step");
  const Json* evaluation = result->Find("evaluation");
  return step != nullptr && *step == Json(state_.step) && evaluation != nullptr &&
         *evaluation == RecipePart(recipe_, "evaluation");
}

Result<void> Trainer::Finish() {
  if (IsFinished()) {
    observer().OnNote("this run came to its end before; nothing is done again");
    return {};
  }
  const EvaluationSettings& evaluation = recipe_.evaluation;
  if (evaluation.test_tasks > 0) {
    HONE_RETURN_IF_ERROR(Measure("after", Split::kTest, evaluation.test_tasks));
    for (const std::string& name : evaluation.more) {
      const Split split = SplitFromName(name).value();
      const std::optional<uint64_t> count = workshop_->environment.tasks->count(split);
      if (count && *count == 0) continue;
      HONE_RETURN_IF_ERROR(Measure("after", split, evaluation.more_tasks));
    }
  }
  Settle();
  HONE_RETURN_IF_ERROR(Save());
  return times_.Run("checkpoint", [&] {
    const Json result = Json::Of({{"weights", workshop_->engine->WeightsHash()},
                                  {"step", state_.step},
                                  {"evaluation", RecipePart(recipe_, "evaluation")},
                                  {"checkpoint", fmt::format("checkpoints/step-{}", state_.step)}});
    return WriteFileAtomic(folder_->path() / kResultFile,
                           DumpJson(result, JsonStyle::kPretty) + "\n");
  });
}

}  // namespace

Result<TrainReport> Train(const TrainingRecipe& recipe, const TrainOptions& options) {
  return Trainer(recipe, options).Run();
}

}  // namespace hone
