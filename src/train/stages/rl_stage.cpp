#include "train/stages/rl_stage.h"
#include "train/rehearsal.h"

#include <algorithm>

#include <fmt/format.h>

#include "base/json_fields.h"
#include "credit/methods.h"
#include "train/processes/crew.h"
#include "train/recipe_checks.h"
#include "train/stages/rl_values.h"

namespace hone {
namespace {

class Practice final : public StageOf<RlStage> {
 public:
  using StageOf::StageOf;

  StageSize size() const override {
    StageSize size{.steps = settings.steps,
                   .expected_steps = settings.steps,
                   .groups = settings.groups,
                   .group = settings.group,
                   .slices = settings.batches.slices,
                   .call_tokens = settings.batches.call_tokens};
    if (settings.trajectories > 0) {
      const int64_t drawn = settings.groups * settings.group;
      const int64_t enough = (settings.trajectories + drawn - 1) / drawn;
      size.expected_steps = std::min(size.steps, enough);
    }
    return size;
  }
  double SecondsPerStep(const EpisodeFigures& figures) const override {
    const double trained = static_cast<double>(settings.batches.epochs) * figures.tokens;
    return static_cast<double>(settings.groups * settings.group) *
           (figures.policy_tokens / figures.drawn_tokens_per_second +
            trained / figures.train_tokens_per_second);
  }
  void Check(const TrainingRecipe& recipe, RecipeTable* table) const override {
    CheckGroup(recipe, settings.group, table);
    if (recipe.objective.value.warmup >= settings.steps) {
      table->Problem("steps", fmt::format("in the first {} only the critic learns "
                                          "(objective.value.warmup), and the policy never would",
                                          recipe.objective.value.warmup));
    }
  }
  Result<std::unique_ptr<StageRun>> Open(int64_t number, bool begin,
                                         StageContext* context) const override {
    HONE_ASSIGN_OR_RETURN(std::unique_ptr<StageRun> run,
                          RlTraining::New(settings, number, begin, context));
    return run;
  }
};

}  // namespace

std::shared_ptr<Stage> ReadRlStage(RecipeTable table, const EnvironmentOptions& environment) {
  RlStage stage;
  table.Read("steps", &stage.steps, "rounds of sampling and learning", AtLeast(1));
  table.Read("groups", &stage.groups, "tasks per step", AtLeast(1));
  table.Read("group", &stage.group, "trajectories per task", AtLeast(1));
  table.Read("trajectories", &stage.trajectories,
             "over once so many were drawn; 0: after all steps", AtLeast(0));
  stage.mix = ReadMix(&table, environment);
  stage.batches.mini_batches = 2;
  table.Read("mini_batches", &stage.batches.mini_batches, "optimiser steps per epoch", AtLeast(1));
  table.Read("epochs", &stage.batches.epochs, "passes over the groups of a step", AtLeast(1));
  table.Read("call_tokens", &stage.batches.call_tokens,
             "tokens that go through the engine at once, at most: bounds its memory", AtLeast(1));
  table.Read("slices", &stage.batches.slices,
             "of a mini-batch, whose gradients are added up: so many processes may share it",
             AtLeast(1));
  stage.rate = ReadLearningRate(&table, {.peak = 3e-4, .warmup = 5, .steps = stage.steps});
  stage.rate.steps = stage.steps;
  stage.optimizer =
      ReadOptimizer(&table, {.beta1 = 0.9, .beta2 = 0.99, .weight_decay = 0, .max_norm = 1});
  return std::make_shared<Practice>(std::move(stage));
}

RlTraining::RlTraining(const RlStage& stage, int64_t number, StageContext* context)
    : stage_(stage),
      number_(number),
      context_(context),
      environment_(context->EnvironmentOf(stage.mix, number)),
      kl_(context->recipe->objective.kl),
      entropy_(context->recipe->objective),
      reward_scale_(context->recipe->reward_scale),
      value_scale_(context->recipe->objective.value),
      replay_(context->recipe->replay),
      alarms_(context->recipe->alarms),
      demonstrations_(context) {}

Result<std::unique_ptr<RlTraining>> RlTraining::New(const RlStage& stage, int64_t number,
                                                    bool begin, StageContext* context) {
  std::unique_ptr<RlTraining> training(new RlTraining(stage, number, context));
  const TrainingRecipe& recipe = *context->recipe;
  HONE_ASSIGN_OR_RETURN(training->tools_, DrawingTools::Open(*context));
  HONE_ASSIGN_OR_RETURN(training->curriculum_,
                        context->OpenCurriculum(*training->environment_.tasks));
  if (recipe.rollout.ahead > 0) {
    HONE_ASSIGN_OR_RETURN(training->ahead_, DrawingAhead::Open(recipe.rollout.ahead, *context));
  }
  if (context->remote != nullptr) NoteOtherWeights(*context);
  if (recipe.objective.NeedsReference()) {
    HONE_ASSIGN_OR_RETURN(training->reference_,
                          StageReference::Open({context->folder, number, recipe.objective.kl},
                                               begin, *context->engine, context->engine_options));
  }
  return training;
}

Result<StageStep> RlTraining::Step(int64_t step) {
  const Rng rng = RngOf(step);
  const Backend::Spent spent = Spent();
  const double clock = Clock(step);
  HONE_ASSIGN_OR_RETURN(const Method method,
                        context_->recipe->MethodAt(static_cast<int64_t>(clock)));
  StageStep done;
  DynamicSampler rounds(DynamicNow(), static_cast<size_t>(stage_.groups));
  HONE_ASSIGN_OR_RETURN(Practice practice, Practise(step, clock, method, &rounds));
  HONE_RETURN_IF_ERROR(CheckJudge(practice.groups.records));
  NotePractice(practice, step, rounds, &done);

  std::vector<ScoredTree> chosen = Choose(std::move(practice.groups.records), rounds.Chosen());
  reward_scale_.Apply(&chosen);
  ModelViews views = Timed("reference", &RlTraining::Ask, *this, chosen, practice.of_earlier);
  value_scale_.ToRewards(&views);
  const CreditOptions crediting{method, KlNow(), !terms_met_, context_->engine->pool()};
  HONE_ASSIGN_OR_RETURN(CreditedGroups credited, Timed("credit", CreditGroups, crediting,
                                                       std::move(chosen), std::move(views)));
  NoteCredit(credited, step, &done);

  if (!remedies().skip_update) {
    HONE_ASSIGN_OR_RETURN(
        auto groups, TrainingGroupsOf(method, credited, context_->recipe->objective.learn_results));
    value_scale_.Learn(&groups);
    UpdateOptions options = UpdateOptionsAt(step, clock, method, practice.of_earlier);
    // What would be replayed waits where there is nothing to learn beside.
    if (!groups.empty() && !WarmsUp(step)) {
      options.replayed = replay_.Take(static_cast<int64_t>(clock), rng.Split("replay"));
    }
    pushed_ = false;
    const UpdateReport update = Timed("training", [&] {
      if (context_->crew != nullptr) context_->crew->Update(number_, step, options, groups);
      return UpdatePolicy(options, groups, rng, context_->engine.get());
    });
    NoteUpdate(options, update, step, &done);
  }
  // Only now: what is replayed is of earlier steps.
  Remember(credited, step);
  if (reference_) HONE_RETURN_IF_ERROR(reference_->AfterStep(step, *context_->engine));
  done.records = std::move(credited.records);
  // While this step is written down and measured, the next ones are drawn.
  if (ahead_) HONE_RETURN_IF_ERROR(BeginAhead(step + 1));
  NoteSpent(spent, &done);
  return done;
}

// --- what the functions of a step are told, as alarms have turned it -----------------------------

Rng PracticeRng(const TrainingRecipe& recipe, int64_t stage, int64_t step) {
  return Rng(recipe.run.seed)
      .Split("rl")
      .Split(static_cast<uint64_t>(stage))
      .Split(static_cast<uint64_t>(step));
}

double RlTraining::Clock(int64_t step) const {
  const auto made = static_cast<double>(step);
  if (stage_.trajectories == 0) return made;
  const double drawn =
      static_cast<double>(trajectories_) / static_cast<double>(stage_.trajectories);
  return std::max(made, std::min(drawn, 1.0) * static_cast<double>(stage_.steps));
}

DynamicSamplingOptions RlTraining::DynamicNow() const {
  DynamicSamplingOptions options = context_->recipe->dynamic_sampling;
  options.on = options.on || remedies().dynamic_sampling;
  return options;
}

TaskSupply RlTraining::Supply(CallCounts* calls) const {
  // A record has the right answers of the real world, but not of every task.
  const bool elsewhere = context_->recipe->Simulates() || context_->recipe->JournalsItself();
  TaskSupply supply{.environment = &environment_, .curriculum = curriculum_.get()};
  if (!elsewhere) return supply;
  supply.ask = [this, calls](std::span<const GoldQuestion> questions,
                             const std::string& run) -> Result<std::vector<GoldTask>> {
    if (context_->crew == nullptr) {
      return AskForGold(*environment_.environment, questions, tools_.backend->executor(), run);
    }
    HONE_ASSIGN_OR_RETURN(Crew::Gold gold,
                          context_->crew->AskForGold(*context_, tools_, questions, run));
    for (const auto& [source, count] : gold.calls_of_others) (*calls)[source] += count;
    return std::move(gold.tasks);
  };
  return supply;
}

Round RlTraining::RoundOf(int64_t step, const Method& method) const {
  // After a roll-back the same step makes other calls, which the journal must tell apart.
  const std::string scope = alarms_.roll_backs() == 0 ? fmt::format("{}-{}", number_, step)
                                                      : fmt::format("{}-{}-again-{}", number_, step,
                                                                    alarms_.roll_backs());
  return {.step = step,
          .leaves = stage_.group,
          .greedy = method.needs_greedy ? 1 : 0,
          .scope = scope,
          .rng = RngOf(step)};
}

ScoringOptions RlTraining::ScoringAt(double clock) const {
  std::map<std::string, double> scale = remedies().reward_scale;
  for (const auto& [term, weight] : curriculum_->RewardWeights()) {
    scale[term] = weight * (scale.contains(term) ? scale[term] : 1);
  }
  return {.rewarder = tools_.rewarder.get(),
          .clock = static_cast<int64_t>(clock),
          .reward_scale = std::move(scale),
          .kind_by = context_->recipe->curriculum.by,
          .pool = context_->engine->pool()};
}

ModelViews RlTraining::Ask(const std::vector<ScoredTree>& records, bool of_earlier) const {
  Engine* engine = context_->engine.get();
  const ObjectiveOptions& objective = context_->recipe->objective;
  ModelQuestions questions{.critic = objective.NeedsCritic(),
                           .call_tokens = stage_.batches.call_tokens};
  if (reference_) {
    questions.reference = [&](std::span<const Tree> trees) {
      return reference_->now().LogProbs(trees, engine);
    };
  }
  // Of what the policy drew just now it would say what it said then, to the bit; of what tools
  // returned nobody knows yet.
  if (questions.critic || objective.learn_results ||
      (of_earlier && objective.correction.Corrects())) {
    questions.now = [&](std::span<const Tree> trees) { return engine->LogProbs(trees); };
  }
  return AskModels(records, questions);
}

KlOptions RlTraining::KlNow() const {
  KlOptions kl = context_->recipe->objective.kl;
  kl.coefficient = kl_.coefficient() + remedies().kl_added;
  return kl;
}

bool RlTraining::WarmsUp(int64_t step) const {
  return step < context_->recipe->objective.value.warmup;
}

UpdateOptions RlTraining::UpdateOptionsAt(int64_t step, double clock, const Method& method,
                                          bool of_earlier) {
  const TrainingRecipe& recipe = *context_->recipe;
  UpdateOptions options{.objective = recipe.objective,
                        .optimizer = stage_.optimizer,
                        .batches = stage_.batches,
                        .shared = method.shared,
                        .on_policy = !of_earlier,
                        .cluster = context_->cluster};
  options.objective.kl = KlNow();
  options.objective.entropy = entropy_.coefficient() + remedies().entropy_added;
  options.optimizer.learning_rate = stage_.rate.At(step, clock) * remedies().learning_rate_scale;
  // The head's rate rises and falls with the policy's.
  options.optimizer.head_learning_rate =
      recipe.objective.value.learning_rate * options.optimizer.learning_rate / stage_.rate.peak;
  options.optimizer.head_only = WarmsUp(step);
  if (WarmsUp(step)) return options;
  options.replay_objective = replay_.Objective(options.objective, static_cast<int64_t>(clock));
  if (const double share = remedies().demonstration_share; share > 0) {
    options.imitate = [this, share](int64_t tokens, const Rng& rng) {
      return demonstrations_.Accumulate(share, tokens, stage_.batches.call_tokens, rng);
    };
  }
  return options;
}

// --- what goes on from step to step, and what is logged ------------------------------------------

// Drawing tokens and waiting for tools are the larger part of a rollout.
void RlTraining::TellApart(const RolloutSeconds& seconds) {
  context_->times->Move("rollout", "sampling", seconds.sampling);
  context_->times->Move("rollout", "tools", seconds.waiting);
}

void RlTraining::NotePractice(const Practice& practised, int64_t step, const DynamicSampler& rounds,
                              StageStep* done) {
  const ScoredGroups& practice = practised.groups;
  StepValues& values = done->values;
  // How the agent does is told by all groups that were drawn: those that say something are its
  // mixed successes.
  Timed("measuring",
        [&] { AddRolloutValues(practice.records, practice.measures, practice.counts, &values); });
  values["void_tasks"] = static_cast<double>(practice.voids);
  values["unopened_groups"] = static_cast<double>(practice.unopened);
  for (const auto& [kind, weight] : curriculum_->Weights()) values["curriculum/" + kind] = weight;
  if (DynamicNow().on) values["drawn_groups"] = static_cast<double>(rounds.drawn());
  const auto calls = [&](CallSource source) {
    const auto found = practised.calls.find(source);
    return found == practised.calls.end() ? 0.0 : static_cast<double>(found->second);
  };
  values["real_calls"] = calls(CallSource::kTool);
  values["simulated_calls"] = calls(CallSource::kSimulator);
  if (ahead_ || context_->remote != nullptr) values["lag"] = MeanLag(practice.records, step);
  if (context_->remote != nullptr) {
    practised.mismatch.AddTo(&values);
    values["remote_retries"] = static_cast<double>(practised.retries);
  }
  trajectories_ += practice.counts.leaves;
  unread_note_ = practice.counts.unread_note;
  curriculum_->Observe(practice.outcomes);
}

Backend::Spent RlTraining::Spent() const {
  Backend::Spent spent = tools_.backend->spent().value_or(Backend::Spent());
  spent.nanodollars += spent_ahead_.nanodollars;
  spent.time += spent_ahead_.time;
  return spent;
}

void RlTraining::NoteSpent(const Backend::Spent& before, StageStep* done) const {
  if (!tools_.backend->spent()) return;  // there are no conditions
  const Backend::Spent now = Spent();
  const std::chrono::duration<double, std::ratio<3600>> hours = now.time - before.time;
  done->values["spent/dollars"] = static_cast<double>(now.nanodollars - before.nanodollars) / 1e9;
  done->values["spent/hours"] = hours.count();
}

void RlTraining::NoteCredit(const CreditedGroups& credited, int64_t step, StageStep* done) {
  for (const ScoredTree& record : credited.records) {
    for (const Score& score : record.scores) terms_met_ = terms_met_ || Total(score).has_value();
  }
  for (const auto& [term, deviation] : reward_scale_.Deviations()) {
    done->values["reward_deviation/" + term] = deviation;
  }
  done->values["groups"] = static_cast<double>(credited.records.size());
  done->values["zero_advantage_groups"] = SilentShare(credited.credits);
  done->values["left_out"] = LeftOutShare(credited.credits);
  done->alarms = alarms_.Observe(step, done->values);
  for (AlarmEvent& event : done->alarms) {
    if (event.name == kUnreadCallsAlarm) event.message += ": " + unread_note_;
  }
}

void RlTraining::Remember(const CreditedGroups& credited, int64_t step) {
  for (size_t i = 0; i < credited.records.size(); ++i) {
    replay_.Add(credited.records[i], credited.credits[i], step);
  }
}

void RlTraining::NoteUpdate(const UpdateOptions& options, const UpdateReport& update, int64_t step,
                            StageStep* done) {
  StepValues values;
  if (update.all.tokens > 0) {
    for (const auto& [name, value] : update.all.Named()) values[name] = value;
  }
  values["grad_norm"] = update.largest_gradient;
  // While only the critic learns, the policy does not.
  values["learning_rate"] = WarmsUp(step) ? 0 : options.optimizer.learning_rate;
  if (const ValueOptions& value = options.objective.value;
      value.learning_rate > 0 || value.warmup > 0) {
    const OptimizerOptions& optimizer = options.optimizer;
    values["value_learning_rate"] =
        optimizer.head_learning_rate > 0 ? optimizer.head_learning_rate : optimizer.learning_rate;
  }
  done->ratio_tokens = options.on_policy ? update.first.tokens : 0;
  values["ratio_one_tokens"] = static_cast<double>(done->ratio_tokens);
  if (done->ratio_tokens > 0) {  // what earlier weights drew has other ratios
    values["ratio_one_share"] =
        static_cast<double>(update.first.ratio_one) / static_cast<double>(done->ratio_tokens);
  }
  if (options.imitate && update.steps > 0) {
    values["imitated_tokens"] = static_cast<double>(update.imitated_tokens);
  }
  if (context_->recipe->replay.on)
    values["replayed"] = static_cast<double>(options.replayed.size());
  if (reference_) {
    const auto trajectories = static_cast<int64_t>(done->values.at("trajectories"));
    // A policy that stands still says nothing of what the coefficient does.
    if (update.all.tokens > 0 && !WarmsUp(step)) {
      kl_.Observe(update.all.reference_kl, trajectories);
    }
    values["kl_coefficient"] = options.objective.kl.coefficient;
  }
  if (options.objective.entropy_target.nats > 0) {
    if (update.all.tokens > 0 && !WarmsUp(step)) entropy_.Observe(update.all.entropy);
    values["entropy_coefficient"] = options.objective.entropy;
  }
  for (AlarmEvent& event : alarms_.Observe(step, values)) done->alarms.push_back(std::move(event));
  done->values.merge(values);
}

std::vector<AlarmEvent> RlTraining::Observe(int64_t step, const StepValues& values) {
  return alarms_.Observe(step, values);
}

bool RlTraining::IsOver(int64_t steps) const {
  return steps >= stage_.steps || (stage_.trajectories > 0 && trajectories_ >= stage_.trajectories);
}

Json RlTraining::State() const {
  Json state = Json::Of({{"kl", kl_.ToJson()},
                         {"curriculum", curriculum_->ToJson()},
                         {"replay", replay_.ToJson()},
                         {"alarms", alarms_.ToJson()},
                         {"trajectories", trajectories_},
                         {"terms_met", terms_met_}});
  // What is off has no state.
  if (reference_ && context_->recipe->objective.kl.sync_every > 0) {
    state.Set("reference", reference_->ToJson());
  }
  if (context_->recipe->objective.entropy_target.nats > 0) state.Set("entropy", entropy_.ToJson());
  if (context_->recipe->reward_scale.on()) state.Set("reward_scale", reward_scale_.ToJson());
  if (context_->recipe->objective.value.normalise) state.Set("value_scale", value_scale_.ToJson());
  if (ahead_) state.Set("ahead", ahead_->ToJson(Spent().time));
  return state;
}

Result<void> RlTraining::SaveBeside(const std::filesystem::path& checkpoint) const {
  return ahead_ ? ahead_->Save(checkpoint) : Result<void>();
}

Result<void> RlTraining::Restore(const Json& state) {
  Json kl, curriculum, replay, alarms;
  std::optional<Json> value_scale, reference, reward_scale, entropy, ahead;
  JsonErrors errors;
  {
    JsonFields fields(state, "stage_state", &errors);
    fields.Required("kl", &kl);
    fields.Required("curriculum", &curriculum);
    fields.Required("replay", &replay);
    fields.Required("alarms", &alarms);
    fields.Optional("trajectories", &trajectories_);
    fields.Optional("terms_met", &terms_met_);
    fields.Optional("value_scale", &value_scale);
    fields.Optional("reference", &reference);
    fields.Optional("reward_scale", &reward_scale);
    fields.Optional("entropy", &entropy);
    fields.Optional("ahead", &ahead);
  }
  HONE_RETURN_IF_ERROR(errors.Check());
  if (reference && reference_) {
    HONE_RETURN_IF_ERROR(reference_->Restore(*reference, *context_->engine));
  }
  if (entropy) HONE_RETURN_IF_ERROR(entropy_.Restore(*entropy));
  if (reward_scale) HONE_RETURN_IF_ERROR(reward_scale_.Restore(*reward_scale));
  if (value_scale) HONE_RETURN_IF_ERROR(value_scale_.Restore(*value_scale));
  HONE_RETURN_IF_ERROR(kl_.Restore(kl));
  HONE_RETURN_IF_ERROR(curriculum_->Restore(curriculum));
  HONE_RETURN_IF_ERROR(replay_.Restore(replay));
  HONE_RETURN_IF_ERROR(alarms_.Restore(alarms));
  return ahead && ahead_ ? ahead_->Restore(*ahead, Spent().time, context_->gone_on_from)
                         : Result<void>();
}

Result<void> RlTraining::RollBack(int64_t step, const Json& state) {
  const Json watched = alarms_.ToJson();
  pushed_ = false;
  HONE_RETURN_IF_ERROR(Restore(state));
  HONE_RETURN_IF_ERROR(alarms_.Restore(watched));
  alarms_.RolledBack(step);
  return {};
}

}  // namespace hone
