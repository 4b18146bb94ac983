#include "learn/trainer.h"

#include <chrono>

#include <fmt/format.h>

#include "base/file.h"
#include "base/hash.h"
#include "learn/rl_stage.h"
#include "learn/sft_stage.h"
#include "learn/simulator_stage.h"
#include "learn/stage_cache.h"

namespace hone {
namespace {

// Changes when what a stage makes from the same recipe changes.
constexpr int64_t kStageVersion = 1;

double NowOfMachine() {
  return std::chrono::duration<double>(std::chrono::system_clock::now().time_since_epoch()).count();
}

Json PartOf(const Json& resolved, std::string_view key) {
  const Json* part = resolved.Find(key);
  return part == nullptr ? Json() : *part;
}

// The recipe without what does not reach the weights.
Json Essence(const TrainingRecipe& recipe) {
  Json essence = recipe.resolved;
  essence.Set("run", Json::Of({{"seed", recipe.run.seed}}));
  essence.Set("evaluation", Json());
  // Where the journal lies does not matter.
  if (Json answers = PartOf(essence, "answers"); answers.is_object()) {
    answers.Set("journal", Json());
    essence.Set("answers", std::move(answers));
  }
  return essence;
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
    HONE_RETURN_IF_ERROR(FindSimulator());
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
    for (const auto& [name, seconds] : since) seconds_[name] += seconds;
    wall_ += times_.wall();
    times_.Restart();
    return since;
  }

  Result<void> CheckRecipe();
  Result<std::filesystem::path> Checkpoint() const;
  Result<void> Open();
  Result<void> RunStage(size_t number);
  Json InputsOf(size_t number) const;
  Result<void> RunSimulator(const SimulatorStage& stage, size_t number);
  Result<void> FindSimulator();
  Result<void> RunSft(const SftStage& stage, size_t number);
  Result<void> RunRl(const RlStage& stage, size_t number);
  Result<void> RollBack(RlTraining* training, int64_t stage);
  Result<void> Finish();

  // A new optimiser: what another stage's gradients were like is of no use.
  void FreshEngine(bool critic);
  void NextStage();
  Result<void> Save();
  Result<void> Log(StepValues values, const std::vector<const ScoredTree*>& records);
  Result<void> Measure(const std::string& name, Split split, int64_t tasks);
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

// A folder belongs to one recipe.
Result<void> Trainer::CheckRecipe() {
  const std::filesystem::path hash_file = folder_->path() / "recipe.hash";
  const std::string hash = ContentHash(Essence(recipe_));
  std::error_code ignored;
  if (std::filesystem::exists(hash_file, ignored)) {
    HONE_ASSIGN_OR_RETURN(const std::string before, ReadFile(hash_file));
    if (before != hash + "\n") {
      return Error(ErrorCode::kInvalidArgument,
                   fmt::format("{} was begun with another recipe (see recipe.toml there); choose "
                               "another name with run.name=NAME, or remove the folder",
                               folder_->path().string()));
    }
    return {};
  }
  HONE_RETURN_IF_ERROR(
      WriteFileAtomic(folder_->path() / "recipe.toml",
                      fmt::format("# Resolved by hone; every key with the value it has.\n\n{}",
                                  recipe_.resolved_text)));
  return WriteFileAtomic(hash_file, hash + "\n");
}

// Where to go on; empty: from the beginning.
Result<std::filesystem::path> Trainer::Checkpoint() const {
  const std::vector<int64_t> steps = folder_->Checkpoints();
  if (recipe_.run.resume == "never" && !steps.empty()) {
    return Error(ErrorCode::kInvalidArgument,
                 fmt::format("{} has checkpoints of an earlier run, which resume = \"never\" would "
                             "overwrite; choose another name with run.name=NAME, or remove the "
                             "folder",
                             folder_->path().string()));
  }
  if (!steps.empty()) return folder_->CheckpointPath(steps.back());
  if (recipe_.run.resume == "auto" || recipe_.run.resume == "never") {
    return std::filesystem::path();
  }
  return std::filesystem::path(recipe_.run.resume);
}

Result<void> Trainer::Open() {
  HONE_ASSIGN_OR_RETURN(folder_,
                        RunFolder::Open(std::filesystem::path(recipe_.run.out) / recipe_.run.name));
  HONE_RETURN_IF_ERROR(CheckRecipe());
  HONE_ASSIGN_OR_RETURN(const std::filesystem::path checkpoint, Checkpoint());
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
    HONE_ASSIGN_OR_RETURN(workshop_->engine, Engine::Load(checkpoint, workshop_->engine_options));
    observer().OnNote(fmt::format("going on from {}", checkpoint.string()));
  }
  HONE_ASSIGN_OR_RETURN(log_, RunLog::Open(folder_->path(), WallTime(), state_.step));
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
    HONE_ASSIGN_OR_RETURN(const Evaluation evaluation, times_.Run("evaluation", [&] {
      return workshop_->Evaluate(split, tasks, temperature);
    }));
    const std::string full =
        fmt::format("{}/{}/{}", name, SplitName(split), temperature == 0 ? "greedy" : "sampled");
    state_.evaluations.Set(full, evaluation.ToJson());
    observer().OnEvaluation(full, evaluation);
  }
  return {};
}

Result<void> Trainer::RunStage(size_t number) {
  const StageSettings& stage = recipe_.stages[number];
  if (const auto* sft = std::get_if<SftStage>(&stage)) return RunSft(*sft, number);
  if (const auto* rl = std::get_if<RlStage>(&stage)) return RunRl(*rl, number);
  return RunSimulator(std::get<SimulatorStage>(stage), number);
}

// Everything that a stage's output depends on beside what was there before.
Json Trainer::InputsOf(size_t number) const {
  Json::Array files;  // by what is in them
  for (const auto& [split, file] : recipe_.environment.files) {
    const Result<std::string> text = ReadFile(file);
    files.push_back(text.ok() ? Json(Sha256Hex(*text)) : Json());
  }
  return Json::Of({{"version", kStageVersion},
                   {"seed", recipe_.run.seed},
                   {"environment", PartOf(recipe_.resolved, "environment")},
                   {"files", std::move(files)},
                   {"tools", PartOf(recipe_.resolved, "tools")},
                   {"stage", PartOf(recipe_.resolved, "stage").AsArray()[number]}});
}

Result<void> Trainer::RunSimulator(const SimulatorStage& stage, size_t number) {
  const Json inputs = InputsOf(number);
  std::optional<std::filesystem::path> made = cache_.Find("simulator", inputs);
  observer().OnStage({"simulator", static_cast<int64_t>(number),
                      static_cast<int64_t>(recipe_.stages.size()), stage.model.steps, 0,
                      made.has_value()});
  if (!made) {
    const auto put = cache_.Put("simulator", inputs, [&](const std::filesystem::path& folder) {
      const auto report =
          MakeSimulator(stage, workshop_.get(), folder, [&](const TrainingProgress& progress) {
            observer().OnStep(
                {"simulator", progress.step, progress.steps, {{"simulator/loss", progress.loss}}});
          });
      return report.ok() ? Result<void>() : Result<void>(report.error());
    });
    if (!put.ok()) return put.error();
    made = *put;
  }
  workshop_->simulator = *made;
  NextStage();
  HONE_RETURN_IF_ERROR(Save());
  return MayStop();
}

// A run that goes on behind its simulator stage finds what that made, or makes it again.
Result<void> Trainer::FindSimulator() {
  for (size_t i = 0; i < static_cast<size_t>(state_.stage); ++i) {
    const auto* stage = std::get_if<SimulatorStage>(&recipe_.stages[i]);
    if (stage == nullptr) continue;
    const TrainingState state = state_;
    HONE_RETURN_IF_ERROR(RunSimulator(*stage, i));
    state_ = state;
  }
  return {};
}

Result<void> Trainer::RunSft(const SftStage& stage, size_t number) {
  Json inputs = InputsOf(number);
  inputs.Set("model", PartOf(recipe_.resolved, "model"));
  inputs.Set("before", workshop_->engine->WeightsHash());
  // In the middle of it the weights are no longer those that it began with.
  if (state_.stage_step > 0) inputs = state_.stage_state;
  const auto cached = cache_.Find("sft", inputs);
  const auto stage_number = static_cast<int64_t>(number);
  const auto stages = static_cast<int64_t>(recipe_.stages.size());
  observer().OnStage({"sft", stage_number, stages, stage.steps, state_.stage_step,
                      cached.has_value() && state_.stage_step == 0});
  if (cached && state_.stage_step == 0) {
    HONE_ASSIGN_OR_RETURN(workshop_->engine, times_.Run("set-up", [&] {
      return Engine::Load(*cached, workshop_->engine_options);
    }));
    state_.step += stage.steps;
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
  const auto put = times_.Run("checkpoint", [&] {
    return cache_.Put("sft", inputs, [&](const std::filesystem::path& folder) -> Result<void> {
      HONE_RETURN_IF_ERROR(workshop_->engine->Save(folder, SaveType::kF32));
      return WriteFileAtomic(folder / "tokenizer.json", workshop_->language.tokenizer->ToJson());
    });
  });
  if (!put.ok()) return put.error();
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
    FreshEngine(recipe_.objective.NeedsCritic());
    if (evaluation.test_tasks > 0 && state_.evaluations.Find("before/test/sampled") == nullptr) {
      HONE_RETURN_IF_ERROR(Measure("before", Split::kTest, evaluation.test_tasks));
    }
  }
  HONE_ASSIGN_OR_RETURN(const auto training, times_.Run("set-up", [&] {
    return RlTraining::New(stage, stage_number, begin, workshop_.get());
  }));
  if (!begin) HONE_RETURN_IF_ERROR(training->Restore(state_.stage_state));
  while (state_.stage_step < stage.steps) {
    HONE_ASSIGN_OR_RETURN(RlStep done, training->Step(state_.stage_step));
    ++state_.stage_step;
    ++state_.step;
    state_.stage_state = training->State();
    AddTotal("ratio_tokens", static_cast<double>(done.ratio_tokens));
    AddTotal("trajectories", done.values["trajectories"]);
    AddTotal("sampled_tokens", done.values["sampled_tokens"]);
    const bool last = state_.stage_step == stage.steps;
    bool best = false;
    if (evaluation.every > 0 && (state_.stage_step % evaluation.every == 0 || last)) {
      HONE_RETURN_IF_ERROR(Measure("dev", Split::kDev, evaluation.dev_tasks));
      for (const char* how : {"sampled", "greedy"}) {
        const Json* all = state_.evaluations.Find(fmt::format("dev/dev/{}", how))->Find("all");
        done.values[fmt::format("dev/{}", how)] = all->Find("success")->AsDouble();
      }
      best = !state_.best || done.values["dev/sampled"] > *state_.best;
      if (best) {
        state_.best = done.values["dev/sampled"];
        state_.best_step = state_.step;
      }
    }
    std::vector<const ScoredTree*> records;
    for (const ScoredTree& record : done.records) {
      const auto stored = static_cast<int64_t>(records.size());
      if (recipe_.run.store_groups < 0 || stored < recipe_.run.store_groups) {
        records.push_back(&record);
      }
    }
    if (evaluation.every > 0 && done.values.contains("dev/sampled")) {
      for (AlarmEvent& event : training->Observe(state_.stage_step - 1,
                                                 {{"dev/success", done.values["dev/sampled"]}})) {
        done.alarms.push_back(std::move(event));
      }
    }
    for (const AlarmEvent& event : done.alarms) observer().OnAlarm(event);
    state_.stage_state = training->State();
    const RemedySettings remedies = training->remedies();
    HONE_RETURN_IF_ERROR(Log(std::move(done.values), records));
    if (remedies.stop) {
      HONE_RETURN_IF_ERROR(Save());
      return Error(
          ErrorCode::kStopped,
          fmt::format("an alarm stopped the run after step {}; what there is of it is saved "
                      "in {}",
                      state_.step, folder_->CheckpointPath(state_.step).string()));
    }
    if (remedies.roll_back) {
      HONE_RETURN_IF_ERROR(RollBack(training.get(), stage_number));
      continue;
    }
    if (best || (state_.stage_step % recipe_.run.save_every == 0 && !last)) {
      HONE_RETURN_IF_ERROR(Save());
    }
    if (!last) HONE_RETURN_IF_ERROR(MayStop());
  }
  NextStage();
  HONE_RETURN_IF_ERROR(Save());
  return MayStop();
}

// To the last checkpoint of this stage; without one the run goes on as it is.
Result<void> Trainer::RollBack(RlTraining* training, int64_t stage) {
  const std::vector<int64_t> steps = folder_->Checkpoints();
  for (auto step = steps.rbegin(); step != steps.rend(); ++step) {
    const std::filesystem::path checkpoint = folder_->CheckpointPath(*step);
    HONE_ASSIGN_OR_RETURN(TrainingState before, ReadTrainingState(checkpoint));
    if (before.stage != stage || before.stage_step == 0 || before.step >= state_.step) continue;
    HONE_ASSIGN_OR_RETURN(workshop_->engine, Engine::Load(checkpoint, workshop_->engine_options));
    HONE_RETURN_IF_ERROR(training->RollBack(before.stage_step, before.stage_state));
    state_ = std::move(before);
    state_.stage_state = training->State();
    HONE_ASSIGN_OR_RETURN(log_, RunLog::Open(folder_->path(), WallTime(), state_.step));
    observer().OnNote(fmt::format("went back to step {}", state_.stage_step));
    return Save();
  }
  return {};
}

Result<void> Trainer::Finish() {
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
  return Save();
}

}  // namespace

Result<TrainReport> Train(const TrainingRecipe& recipe, const TrainOptions& options) {
  return Trainer(recipe, options).Run();
}

}  // namespace hone
