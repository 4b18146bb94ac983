#include "learn/rl_stage.h"

#include <algorithm>
#include <cmath>

#include <fmt/format.h>

#include "base/json_fields.h"
#include "credit/methods.h"
#include "envs/world.h"
#include "learn/critic.h"
#include "learn/objective.h"
#include "learn/rl_values.h"
#include "learn/task_stream.h"
#include "record/validate.h"
#include "rewards/compose.h"
#include "rewards/confined_runner.h"

namespace hone {
namespace {

// A record that is wrong is found where it was made.
Result<void> Checked(const ScoredTree& record, std::string_view pass) {
  const std::vector<std::string> problems = Validate(record);
  if (problems.empty()) return {};
  return Error(ErrorCode::kCorrupt,
               fmt::format("the pass {} made a record that is wrong: {}", pass, problems[0]));
}

// How many more calls this one has answered.
double Since(const std::map<std::string, int64_t>& before,
             const std::map<std::string, int64_t>& after, const std::string& source) {
  const auto of = [&](const std::map<std::string, int64_t>& counts) {
    const auto found = counts.find(source);
    return found == counts.end() ? 0 : found->second;
  };
  return static_cast<double>(of(after) - of(before));
}

std::vector<double> TotalsOf(const ScoredTree& record) {
  std::vector<double> totals;
  for (const Score& score : record.scores) {
    if (const std::optional<double> total = Total(score)) totals.push_back(*total);
  }
  return totals;
}

}  // namespace

struct RlTraining::Batch {
  int64_t step = 0;
  Rng rng{0};
  // Of the round that is being drawn.
  std::vector<GroupRequest> requests;
  std::vector<uint64_t> tasks;  // their numbers
  std::vector<ScoredTree> round;
  std::vector<std::vector<Measures>> round_shown;  // by their leaves
  // Of all rounds.
  int64_t asked = 0;                // groups
  int64_t voids = 0;                // tasks that make no sense in the world that answers
  int64_t unopened = 0;             // groups that could not begin
  std::vector<ScoredTree> records;  // to be trained on
  std::vector<GroupOutcome> outcomes;
  RolloutCounts counts;

  std::vector<Credit> credits;
  std::vector<TreeScores> reference;  // per record; empty: none
  std::vector<TreeScores> now;        // per record, with values; empty: no critic
  std::vector<CriticValues> values;   // likewise
  StepValues out;
  std::vector<AlarmEvent> alarms;
  int64_t ratio_tokens = 0;
};

RlTraining::RlTraining(const RlStage& stage, int64_t number, Workshop* workshop)
    : stage_(stage),
      number_(number),
      workshop_(workshop),
      kl_(workshop->recipe->objective.kl),
      replay_(workshop->recipe->replay),
      alarms_(workshop->recipe->alarms),
      demonstrations_(workshop) {}

Result<std::unique_ptr<RlTraining>> RlTraining::New(const RlStage& stage, int64_t number,
                                                    bool begin, Workshop* workshop) {
  std::unique_ptr<RlTraining> training(new RlTraining(stage, number, workshop));
  const TrainingRecipe& recipe = *workshop->recipe;
  HONE_ASSIGN_OR_RETURN(
      training->world_,
      World::ForTraining(recipe, workshop->environment, workshop->simulator, workshop->recorded));
  training->runner_ = NewConfinedRunner();
  HONE_ASSIGN_OR_RETURN(training->rewarder_,
                        RewarderFromJson(recipe.rewards, {.runner = training->runner_.get()}));
  HONE_ASSIGN_OR_RETURN(training->curriculum_,
                        NewCurriculum(recipe.curriculum, workshop->environment.tasks.get(),
                                      Rng(recipe.run.seed).Split("curriculum")));
  if (recipe.objective.NeedsReference()) {
    const std::filesystem::path folder =
        workshop->folder / (kReferencePrefix + std::to_string(number));
    if (begin) HONE_RETURN_IF_ERROR(workshop->engine->Save(folder, SaveType::kF32));
    HONE_ASSIGN_OR_RETURN(training->reference_, Engine::Load(folder, workshop->engine_options));
  }
  return training;
}

Json RlTraining::State() const {
  return Json::Of({{"kl", kl_.ToJson()},
                   {"curriculum", curriculum_->ToJson()},
                   {"replay", replay_.ToJson()},
                   {"alarms", alarms_.ToJson()},
                   {"trajectories", trajectories_}});
}

Result<void> RlTraining::Restore(const Json& state) {
  Json kl, curriculum, replay, alarms;
  JsonErrors errors;
  {
    JsonFields fields(state, "stage_state", &errors);
    fields.Required("kl", &kl);
    fields.Required("curriculum", &curriculum);
    fields.Required("replay", &replay);
    fields.Required("alarms", &alarms);
    fields.Optional("trajectories", &trajectories_);
  }
  HONE_RETURN_IF_ERROR(errors.Check());
  HONE_RETURN_IF_ERROR(kl_.Restore(kl));
  HONE_RETURN_IF_ERROR(curriculum_->Restore(curriculum));
  HONE_RETURN_IF_ERROR(replay_.Restore(replay));
  return alarms_.Restore(alarms);
}

Result<void> RlTraining::RollBack(int64_t step, const Json& state) {
  const Json watched = alarms_.ToJson();
  HONE_RETURN_IF_ERROR(Restore(state));
  HONE_RETURN_IF_ERROR(alarms_.Restore(watched));
  alarms_.RolledBack(step);
  return {};
}

std::vector<AlarmEvent> RlTraining::Observe(int64_t step, const StepValues& values) {
  return alarms_.Observe(step, values);
}

bool RlTraining::IsOver(int64_t step) const {
  return step >= stage_.steps || (stage_.trajectories > 0 && trajectories_ >= stage_.trajectories);
}

Result<void> RlTraining::ChooseTasks(size_t count, Batch* batch) {
  batch->requests.clear();
  batch->tasks.clear();
  batch->round.clear();
  batch->round_shown.clear();
  std::vector<Task> tasks;
  std::vector<uint64_t> seeds, episode_seeds;
  const std::vector<uint64_t> numbers = curriculum_->Sample(batch->step, count);
  const int64_t first = batch->asked;
  // After a roll-back the same step makes other calls, which the journal must tell apart.
  const std::string scope =
      alarms_.roll_backs() == 0
          ? fmt::format("{}-{}", number_, batch->step)
          : fmt::format("{}-{}-again-{}", number_, batch->step, alarms_.roll_backs());
  batch->asked += static_cast<int64_t>(count);
  for (size_t i = 0; i < count; ++i) {
    tasks.push_back(workshop_->environment.tasks->Make(Split::kTrain, numbers[i]));
    seeds.push_back(batch->rng.Split("group").Split(static_cast<uint64_t>(first) + i).NextU64());
    episode_seeds.push_back(EpisodeSeed(seeds.back()));
  }
  std::vector<bool> makes_sense(count, true);
  // A record has the right answers of the real world, but not of every task.
  if (workshop_->recipe->Simulates() || workshop_->recipe->RecordsItself()) {
    HONE_ASSIGN_OR_RETURN(const std::vector<WorldTask> there,
                          InWorld(*workshop_->environment.environment, tasks, episode_seeds,
                                  world_->executor(), fmt::format("gold-{}-{}", scope, first)));
    for (size_t i = 0; i < count; ++i) {
      tasks[i] = there[i].task;
      makes_sense[i] = there[i].void_because.empty();
    }
  }
  for (size_t i = 0; i < count; ++i) {
    if (!makes_sense[i]) {
      ++batch->voids;
      continue;
    }
    batch->tasks.push_back(numbers[i]);
    batch->requests.push_back(
        {.task = std::move(tasks[i]),
         .seed = seeds[i],
         .leaves = stage_.group,
         .scope = fmt::format("{}/{}", scope, first + static_cast<int64_t>(i))});
  }
  return {};
}

// A group that could not begin (a prompt that does not fit, an environment that refuses) is as
// broken as one that lost its trajectories. Where none could, there is nothing to practise.
Result<void> RlTraining::CountUnopened(const RolloutResult& result, Batch* batch) {
  size_t unopened = 0;
  std::string first;
  for (size_t i = 0; i < result.groups.size(); ++i) {
    const GroupReport& group = result.groups[i];
    if (group.problem.empty() || group.dropped > 0) continue;
    if (unopened++ == 0) first = group.problem;
    batch->counts.dropped += batch->requests[i].leaves;
  }
  batch->unopened += static_cast<int64_t>(unopened);
  if (unopened == 0 || unopened < result.groups.size()) return {};
  return Error(ErrorCode::kUnavailable,
               fmt::format("none of the {} tasks of step {} could be begun: {}", unopened,
                           batch->step, first));
}

Result<void> RlTraining::RollOut(Batch* batch) {
  const TrainingRecipe& recipe = *workshop_->recipe;
  HONE_ASSIGN_OR_RETURN(
      const Policy policy,
      workshop_->PolicyAt(recipe.rollout.policy.sampling.temperature, batch->step));
  RolloutOptions options = recipe.rollout.options;
  options.run = recipe.run.name;
  options.in_earnest = !recipe.Simulates();
  HONE_ASSIGN_OR_RETURN(const Rollout rollout,
                        Rollout::New(std::move(options), workshop_->environment.environment.get(),
                                     policy, recipe.rollout.strategy.get(), world_->executor()));
  HONE_ASSIGN_OR_RETURN(RolloutResult result, rollout.Run(batch->requests));
  batch->counts.Add(result.counts);
  HONE_RETURN_IF_ERROR(CountUnopened(result, batch));
  std::vector<uint64_t> numbers;
  for (size_t i = 0; i < result.trees.size(); ++i) {
    if (result.trees[i].leaves.empty()) continue;
    ScoredTree record{.tree = std::move(result.trees[i])};
    HONE_RETURN_IF_ERROR(Checked(record, "rollout"));
    batch->round.push_back(std::move(record));
    numbers.push_back(batch->tasks[i]);
  }
  batch->tasks = std::move(numbers);
  return {};
}

Result<void> RlTraining::Score(Batch* batch) {
  const std::map<std::string, double>& scale = alarms_.settings().reward_scale;
  for (ScoredTree& record : batch->round) {
    HONE_ASSIGN_OR_RETURN(record.scores,
                          rewarder_->ScoreTree(record.tree, {.step = batch->step, .stop = {}}));
    for (hone::Score& score : record.scores) {
      for (RewardTerm& term : score.terms) {
        if (const auto found = scale.find(term.name); found != scale.end()) {
          term.weight *= found->second;
        }
      }
    }
    HONE_RETURN_IF_ERROR(Checked(record, "rewards"));
  }
  return {};
}

Result<void> RlTraining::Draw(size_t count, Batch* batch) {
  PassTimes& times = *workshop_->times;
  HONE_RETURN_IF_ERROR(times.Run("tasks", [&] { return ChooseTasks(count, batch); }));
  const RolloutSeconds before = batch->counts.seconds;
  HONE_RETURN_IF_ERROR(times.Run("rollout", [&] { return RollOut(batch); }));
  times.Move("rollout", "sampling", batch->counts.seconds.sampling - before.sampling);
  times.Move("rollout", "tools", batch->counts.seconds.waiting - before.waiting);
  HONE_RETURN_IF_ERROR(times.Run("rewards", [&] { return Score(batch); }));
  return times.Run("measuring", [&] { return Measure(batch); });
}

Result<void> RlTraining::Measure(Batch* batch) {
  for (size_t i = 0; i < batch->round.size(); ++i) {
    const Task& task = batch->round[i].tree.task;
    HONE_ASSIGN_OR_RETURN(batch->round_shown.emplace_back(), MeasureTree(batch->round[i].tree));
    const std::vector<Measures>& shown = batch->round_shown[i];
    // What others broke says nothing of the task.
    if (std::none_of(shown.begin(), shown.end(), [](const Measures& m) { return m.counts; })) {
      continue;
    }
    batch->outcomes.push_back(
        {.index = batch->tasks[i],
         .kind = KindOf(task, batch->tasks[i], workshop_->recipe->curriculum.by),
         .success = ValueOf(shown, "success").value_or(0),
         .rewards = TotalsOf(batch->round[i])});
  }
  return {};
}

void RlTraining::AddValues(const std::vector<ScoredTree>& drawn,
                           const std::vector<std::vector<Measures>>& shown, Batch* batch) {
  std::vector<Measures> of_leaves;
  for (const std::vector<Measures>& leaves : shown) {
    of_leaves.insert(of_leaves.end(), leaves.begin(), leaves.end());
  }
  AddRolloutValues(drawn, of_leaves, batch->counts, &batch->out);
  batch->out["void_tasks"] = static_cast<double>(batch->voids);
  batch->out["unopened_groups"] = static_cast<double>(batch->unopened);
  for (const auto& [kind, weight] : curriculum_->Weights()) {
    batch->out["curriculum/" + kind] = weight;
  }
}

std::vector<TreeScores> RlTraining::ScoresBy(Engine* engine,
                                             const std::vector<ScoredTree>& records) const {
  std::vector<int64_t> tokens;
  std::vector<size_t> order;
  for (const ScoredTree& record : records) {
    order.push_back(order.size());
    tokens.push_back(CountTokens(record.tree));
  }
  std::vector<TreeScores> scores;
  for (const std::vector<size_t>& call : PackByTokens(order, tokens, stage_.batches.call_tokens)) {
    std::vector<Tree> trees;
    for (const size_t i : call) trees.push_back(records[i].tree);
    for (TreeScores& one : engine->LogProbs(trees)) scores.push_back(std::move(one));
  }
  return scores;
}

Result<void> RlTraining::AskReference(Batch* batch) {
  const ObjectiveOptions& objective = workshop_->recipe->objective;
  if (reference_ != nullptr) {
    batch->reference = ScoresBy(reference_.get(), batch->records);
    if (objective.kl.place == KlPlace::kReward) {
      for (size_t i = 0; i < batch->records.size(); ++i) {
        AddKlTerms(objective.kl, kl_.coefficient() + alarms_.settings().kl_added,
                   batch->reference[i], &batch->records[i]);
      }
    }
  }
  if (objective.NeedsCritic()) {
    batch->now = ScoresBy(workshop_->engine.get(), batch->records);
    for (size_t i = 0; i < batch->records.size(); ++i) {
      batch->values.push_back(ValuesBefore(batch->records[i].tree, batch->now[i]));
    }
  }
  return {};
}

Result<void> RlTraining::Assign(Batch* batch) {
  std::vector<CreditInput> inputs(batch->records.size());
  for (size_t i = 0; i < inputs.size(); ++i) {
    inputs[i].record = &batch->records[i];
    if (!batch->values.empty()) inputs[i].values = &batch->values[i];
  }
  HONE_ASSIGN_OR_RETURN(const Method method, NewMethodAt(workshop_->recipe->credit, batch->step));
  HONE_ASSIGN_OR_RETURN(batch->credits, AssignCredit(method, inputs));
  for (size_t i = 0; i < inputs.size(); ++i) {
    batch->records[i].advantages = batch->credits[i].advantages;
    HONE_RETURN_IF_ERROR(Checked(batch->records[i], "credit"));
    if (workshop_->recipe->replay.on) {
      replay_.Add(batch->records[i], batch->credits[i], batch->step);
    }
  }
  batch->out["zero_advantage_groups"] = SilentShare(batch->credits);
  batch->out["left_out"] = LeftOutShare(batch->credits);
  return {};
}

std::vector<TrainingGroup> RlTraining::GroupsOf(const Batch& batch, Result<void>* problem) const {
  std::vector<TrainingGroup> groups;
  for (size_t i = 0; i < batch.records.size(); ++i) {
    TrainingGroup group =
        MakeTrainingGroup(batch.records[i].tree, AdvantagesInLoss(batch.credits[i]));
    if (group.sequences.empty()) continue;
    if (!batch.reference.empty()) SetReference(batch.reference[i], &group);
    if (!batch.now.empty()) {
      SetOld(batch.now[i], &group);
      const auto returns = ReturnsOf(batch.records[i], batch.values[i], workshop_->recipe->method);
      if (!returns.ok()) {
        *problem = returns.error();
        return {};
      }
      SetReturns(*returns, &group);
    }
    groups.push_back(std::move(group));
  }
  return groups;
}

void RlTraining::Watch(Batch* batch, const StepValues& values) {
  for (AlarmEvent& event : alarms_.Observe(batch->step, values)) {
    batch->alarms.push_back(std::move(event));
  }
}

Result<void> RlTraining::Train(Batch* batch) {
  const TrainingRecipe& recipe = *workshop_->recipe;
  Result<void> problem;
  const std::vector<TrainingGroup> groups = GroupsOf(*batch, &problem);
  HONE_RETURN_IF_ERROR(problem);
  std::vector<int64_t> tokens;
  for (const TrainingGroup& group : groups) tokens.push_back(group.tokens);
  const RemedySettings& remedies = alarms_.settings();
  ObjectiveOptions objective = recipe.objective;
  objective.kl.coefficient = kl_.coefficient() + remedies.kl_added;
  objective.entropy += remedies.entropy_added;
  OptimizerOptions optimizer = stage_.optimizer;
  optimizer.learning_rate = stage_.rate.At(batch->step) * remedies.learning_rate_scale;

  const std::vector<MiniBatch> mini_batches =
      MakeMiniBatches(stage_.batches, tokens, batch->rng.Split("mini-batches"));
  // What is replayed goes into as many parts, each before one of the same steps. Where there is
  // none, it waits.
  const std::vector<TrainingGroup> replayed =
      recipe.replay.on && !mini_batches.empty()
          ? replay_.Take(batch->step, batch->rng.Split("replay"))
          : std::vector<TrainingGroup>();
  std::vector<int64_t> replayed_tokens;
  for (const TrainingGroup& group : replayed) replayed_tokens.push_back(group.tokens);
  BatchOptions replayed_options = stage_.batches;
  replayed_options.mini_batches = static_cast<int64_t>(mini_batches.size());
  replayed_options.epochs = 1;
  const std::vector<MiniBatch> again =
      MakeMiniBatches(replayed_options, replayed_tokens, batch->rng.Split("replay-batches"));

  std::vector<ObjectiveMetrics> parts;
  double norm = 0;
  for (size_t m = 0; m < mini_batches.size(); ++m) {
    parts.push_back(AccumulateObjective(objective, groups, mini_batches[m], recipe.method.shared,
                                        batch->rng.Split("objective").Split(m),
                                        workshop_->engine.get()));
    if (m == 0) {
      // The sampler and the trainer are one engine: before the first update their log-probabilities
      // are the same bits. Anything else is a bug that would poison the run.
      CHECK(parts[0].ratio_one == parts[0].tokens,
            fmt::format("{} of {} tokens of the first mini-batch of step {} have a ratio other "
                        "than 1",
                        parts[0].tokens - parts[0].ratio_one, parts[0].tokens, batch->step));
      batch->ratio_tokens = parts[0].tokens;
    }
    if (!std::isfinite(parts.back().loss)) {  // an alarm says so
      workshop_->engine->ForgetGradients();
      continue;
    }
    if (m < again.size()) {
      AccumulateObjective(replay_.Objective(objective, batch->step), replayed, again[m],
                          recipe.method.shared, batch->rng.Split("replay-objective").Split(m),
                          workshop_->engine.get());
    }
    if (remedies.demonstration_share > 0) {
      batch->out["imitated_tokens"] += static_cast<double>(demonstrations_.Accumulate(
          remedies.demonstration_share, parts[m].tokens, stage_.batches.call_tokens,
          batch->rng.Split("demonstrations").Split(m)));
    }
    const double one = workshop_->engine->Step(optimizer);
    // The largest; one that is no number stays.
    if (std::isfinite(norm) && !(one <= norm)) norm = one;
  }
  const ObjectiveMetrics metrics = Combine(parts);
  if (metrics.tokens > 0) {
    for (const auto& [name, value] : metrics.Named()) batch->out[name] = value;
  }
  batch->out["grad_norm"] = norm;
  batch->out["learning_rate"] = optimizer.learning_rate;
  batch->out["ratio_one_tokens"] = static_cast<double>(batch->ratio_tokens);
  if (batch->ratio_tokens > 0) {
    batch->out["ratio_one_share"] =
        static_cast<double>(parts[0].ratio_one) / static_cast<double>(batch->ratio_tokens);
  }
  if (recipe.replay.on) batch->out["replayed"] = static_cast<double>(replayed.size());
  if (recipe.objective.NeedsReference()) {
    if (metrics.tokens > 0) kl_.Observe(metrics.reference_kl, batch->counts.leaves);
    batch->out["kl_coefficient"] = objective.kl.coefficient;
  }
  return {};
}

Result<RlStep> RlTraining::Step(int64_t step) {
  const TrainingRecipe& recipe = *workshop_->recipe;
  Batch batch;
  batch.step = step;
  const std::map<std::string, int64_t> asked = world_->executor()->counts().by_source;
  batch.rng = Rng(recipe.run.seed)
                  .Split("rl")
                  .Split(static_cast<uint64_t>(number_))
                  .Split(static_cast<uint64_t>(step));
  DynamicSamplingOptions dynamic = recipe.dynamic_sampling;
  dynamic.on = dynamic.on || alarms_.settings().dynamic_sampling;
  PassTimes& times = *workshop_->times;
  if (dynamic.on) {
    DynamicSampler sampler(dynamic, static_cast<size_t>(stage_.groups));
    std::vector<ScoredTree> drawn;
    std::vector<std::vector<Measures>> shown;
    while (const size_t more = sampler.Missing()) {
      HONE_RETURN_IF_ERROR(Draw(more, &batch));
      std::vector<std::vector<double>> values;
      for (const ScoredTree& record : batch.round) values.push_back(TotalsOf(record));
      // Groups that are void or broken say nothing, but were drawn.
      values.resize(more);
      sampler.Add(values);
      batch.round.resize(more);
      std::move(batch.round.begin(), batch.round.end(), std::back_inserter(drawn));
      std::move(batch.round_shown.begin(), batch.round_shown.end(), std::back_inserter(shown));
    }
    // How the agent does is told by all of them: those that say something are its mixed successes.
    times.Run("measuring", [&] { AddValues(drawn, shown, &batch); });
    for (const size_t chosen : sampler.Chosen()) {
      if (!drawn[chosen].tree.leaves.empty()) batch.records.push_back(drawn[chosen]);
    }
    batch.out["drawn_groups"] = static_cast<double>(sampler.drawn());
  } else {
    HONE_RETURN_IF_ERROR(Draw(static_cast<size_t>(stage_.groups), &batch));
    batch.records = std::move(batch.round);
    times.Run("measuring", [&] { AddValues(batch.records, batch.round_shown, &batch); });
  }
  batch.out["groups"] = static_cast<double>(batch.records.size());
  trajectories_ += batch.counts.leaves;
  const std::map<std::string, int64_t> answered = world_->executor()->counts().by_source;
  batch.out["real_calls"] = Since(asked, answered, "tool");
  batch.out["simulated_calls"] = Since(asked, answered, "simulator");
  curriculum_->Observe(batch.outcomes);
  HONE_RETURN_IF_ERROR(times.Run("reference", [&] { return AskReference(&batch); }));
  HONE_RETURN_IF_ERROR(times.Run("credit", [&] { return Assign(&batch); }));
  const StepValues before = batch.out;
  Watch(&batch, before);
  if (!alarms_.settings().skip_update) {
    HONE_RETURN_IF_ERROR(times.Run("training", [&] { return Train(&batch); }));
    StepValues since;
    for (const auto& [name, value] : batch.out) {
      if (!before.contains(name)) since.emplace(name, value);
    }
    Watch(&batch, since);
  }
  return RlStep{std::move(batch.out), std::move(batch.records), batch.ratio_tokens,
                std::move(batch.alarms)};
}

}  // namespace hone
