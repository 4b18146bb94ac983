#include "learn/step.h"

#include <algorithm>

#include <fmt/format.h>

#include "base/thread_pool.h"
#include "learn/batches.h"
#include "learn/critic.h"
#include "learn/dynamic_sampling.h"
#include "learn/kl.h"
#include "learn/task_stream.h"
#include "record/validate.h"

namespace hone {
namespace {

// A record that is wrong is found where it was made.
Result<void> Checked(const ScoredTree& record, std::string_view pass) {
  const std::vector<std::string> problems = Validate(record);
  if (problems.empty()) return {};
  return Error(ErrorCode::kCorrupt,
               fmt::format("the pass {} made a record that is wrong: {}", pass, problems[0]));
}

std::vector<double> TotalsOf(const ScoredTree& record) {
  std::vector<double> totals;
  for (const Score& score : record.scores) {
    if (const std::optional<double> total = Total(score)) totals.push_back(*total);
  }
  return totals;
}

// What a term gave to each leaf that has it.
std::vector<double> TermsOf(const ScoredTree& record, std::string_view name) {
  std::vector<double> sums;
  for (const Score& score : record.scores) {
    std::optional<double> sum;
    for (const RewardTerm& term : score.terms) {
      if (term.name == name && term.value) sum = sum.value_or(0) + *term.value * term.weight;
    }
    if (sum) sums.push_back(*sum);
  }
  return sums;
}

constexpr size_t kGroupsAtOnce = 2;

// The problem of the first record that has one.
Result<void> CheckAll(const std::vector<ScoredTree>& records, std::string_view pass,
                      ThreadPool* pool) {
  std::vector<std::optional<Error>> problems(records.size());
  ForEach(pool, records.size(), kGroupsAtOnce, [&](size_t i) {
    const Result<void> checked = Checked(records[i], pass);
    if (!checked.ok()) problems[i] = checked.error();
  });
  for (const std::optional<Error>& problem : problems) {
    if (problem) return *problem;
  }
  return {};
}

// What scoring found out about a group.
struct GroupFigures {
  std::optional<Error> problem;
  std::vector<Measures> measures;
};

// Checks and measures the groups, which takes longer than most rewards do. Every group is by
// itself: the pool changes no number.
std::vector<GroupFigures> MeasureGroups(const std::vector<ScoredTree>& records, ThreadPool* pool) {
  std::vector<GroupFigures> figures(records.size());
  ForEach(pool, records.size(), kGroupsAtOnce, [&](size_t i) {
    if (Result<void> checked = Checked(records[i], "rewards"); !checked.ok()) {
      figures[i].problem = checked.error();
      return;
    }
    Result<std::vector<Measures>> shown = MeasureTree(records[i].tree);
    if (shown.ok()) {
      figures[i].measures = *std::move(shown);
    } else {
      figures[i].problem = shown.error();
    }
  });
  return figures;
}

// A group that could not begin (a prompt that does not fit, an environment that refuses) is as
// broken as one that lost its trajectories.
Result<void> CountUnopened(const PosedTasks& posed, const RolloutResult& result,
                           DrawnGroups* drawn) {
  std::string first;
  for (size_t i = 0; i < result.groups.size(); ++i) {
    const GroupReport& group = result.groups[i];
    if (group.problem.empty() || group.dropped > 0) continue;
    if (drawn->unopened++ == 0) first = group.problem;
    drawn->counts.dropped += posed.requests[i].leaves;
  }
  if (drawn->unopened == 0 || drawn->unopened < static_cast<int64_t>(result.groups.size())) {
    return {};
  }
  return Error(ErrorCode::kUnavailable,
               fmt::format("none of the {} tasks of step {} could be begun: {}", drawn->unopened,
                           posed.step, first));
}

}  // namespace

Result<PosedTasks> PoseTasks(const TaskSupply& supply, const Round& round) {
  PosedTasks posed{.step = round.step, .asked = static_cast<int64_t>(round.groups)};
  const std::vector<uint64_t> numbers = supply.curriculum->Sample(round.step, round.groups);
  std::vector<GoldTask> tasks;
  std::vector<uint64_t> seeds, episode_seeds;
  for (size_t i = 0; i < round.groups; ++i) {
    tasks.push_back({supply.environment->tasks->Make(Split::kTrain, numbers[i]), {}});
    const uint64_t group = static_cast<uint64_t>(round.first) + i;
    seeds.push_back(round.rng.Split("group").Split(group).NextU64());
    episode_seeds.push_back(EpisodeSeed(seeds.back()));
  }
  if (supply.ask) {
    std::vector<Task> as_they_come;
    for (GoldTask& task : tasks) as_they_come.push_back(std::move(task.task));
    HONE_ASSIGN_OR_RETURN(tasks, supply.ask(QuestionsAbout(as_they_come, episode_seeds),
                                            fmt::format("gold-{}-{}", round.scope, round.first)));
  }
  for (size_t i = 0; i < round.groups; ++i) {
    if (!tasks[i].void_because.empty()) {
      ++posed.voids;
      continue;
    }
    posed.numbers.push_back(numbers[i]);
    posed.requests.push_back(
        {.task = std::move(tasks[i].task),
         .seed = seeds[i],
         .leaves = round.leaves,
         .greedy = round.greedy,
         .scope = fmt::format("{}/{}", round.scope, round.first + static_cast<int64_t>(i))});
  }
  return posed;
}

Result<DrawnGroups> GroupsOf(const PosedTasks& posed, RolloutResult result, ThreadPool* pool) {
  DrawnGroups drawn{.step = posed.step,
                    .asked = posed.asked,
                    .voids = posed.voids,
                    .counts = std::move(result.counts)};
  HONE_RETURN_IF_ERROR(CountUnopened(posed, result, &drawn));
  for (size_t i = 0; i < result.trees.size(); ++i) {
    if (result.trees[i].leaves.empty()) continue;
    drawn.records.push_back({.tree = std::move(result.trees[i])});
    drawn.numbers.push_back(posed.numbers[i]);
  }
  HONE_RETURN_IF_ERROR(CheckAll(drawn.records, "rollout", pool));
  return drawn;
}

Result<DrawnGroups> DrawGroups(const Rollout& rollout, PosedTasks posed, ThreadPool* pool,
                               std::stop_token stop) {
  HONE_ASSIGN_OR_RETURN(RolloutResult played, rollout.Run(posed.requests, stop));
  return GroupsOf(posed, std::move(played), pool);
}

Result<void> GiveScores(Rewarder* rewarder, const RewardContext& context,
                        std::vector<ScoredTree>* records) {
  std::vector<const Tree*> trees;
  for (const ScoredTree& record : *records) trees.push_back(&record.tree);
  HONE_ASSIGN_OR_RETURN(std::vector<std::vector<Score>> scores,
                        rewarder->ScoreTrees(trees, context));
  for (size_t i = 0; i < records->size(); ++i) (*records)[i].scores = std::move(scores[i]);
  return {};
}

Result<ScoredGroups> ScoreGroups(const ScoringOptions& options, DrawnGroups drawn) {
  ScoredGroups scored{.asked = drawn.asked,
                      .voids = drawn.voids,
                      .unopened = drawn.unopened,
                      .counts = std::move(drawn.counts)};
  if (options.rewarder != nullptr) {
    const RewardContext context{
        .step = options.clock.value_or(drawn.step), .stop = {}, .pool = options.pool};
    HONE_RETURN_IF_ERROR(GiveScores(options.rewarder, context, &drawn.records));
  }
  for (ScoredTree& record : drawn.records) {
    for (Score& score : record.scores) {
      for (RewardTerm& term : score.terms) {
        const auto found = options.reward_scale.find(term.name);
        if (found != options.reward_scale.end()) term.weight *= found->second;
      }
    }
  }
  const std::vector<GroupFigures> figures = MeasureGroups(drawn.records, options.pool);
  for (size_t i = 0; i < drawn.records.size(); ++i) {
    ScoredTree& record = drawn.records[i];
    if (figures[i].problem) return *figures[i].problem;
    const std::vector<Measures>& shown = figures[i].measures;
    scored.measures.insert(scored.measures.end(), shown.begin(), shown.end());
    // A group that others broke says nothing of its task.
    if (std::any_of(shown.begin(), shown.end(), [](const Measures& m) { return m.counts; })) {
      scored.outcomes.push_back(
          {.index = drawn.numbers[i],
           .kind = KindOf(record.tree.task, drawn.numbers[i], options.kind_by),
           .success = ValueOf(shown, "success").value_or(0),
           .rewards = TotalsOf(record)});
    }
    scored.records.push_back(std::move(record));
  }
  scored.records.resize(static_cast<size_t>(drawn.asked));
  return scored;
}

std::vector<std::vector<double>> ScoredGroups::Values(std::string_view metric) const {
  std::vector<std::vector<double>> values;
  size_t leaf = 0;  // among all leaves
  for (const ScoredTree& record : records) {
    values.emplace_back();
    if (metric == kTotalMetric) values.back() = TotalsOf(record);
    if (metric != kTotalMetric && metric != kSuccessMetric) {
      values.back() = TermsOf(record, metric);
    }
    for (size_t i = 0; i < record.tree.leaves.size(); ++i, ++leaf) {
      if (metric != kSuccessMetric || !measures[leaf].counts || !measures[leaf].success) continue;
      values.back().push_back(*measures[leaf].success ? 1 : 0);
    }
  }
  return values;
}

void ScoredGroups::Append(ScoredGroups round) {
  std::move(round.records.begin(), round.records.end(), std::back_inserter(records));
  measures.insert(measures.end(), round.measures.begin(), round.measures.end());
  std::move(round.outcomes.begin(), round.outcomes.end(), std::back_inserter(outcomes));
  asked += round.asked;
  voids += round.voids;
  unopened += round.unopened;
  counts.Add(round.counts);
}

std::vector<ScoredTree> Choose(std::vector<ScoredTree> records, const std::vector<size_t>& chosen) {
  std::map<size_t, int> uses;
  for (const size_t number : chosen) ++uses[number];
  std::vector<ScoredTree> taken;
  for (const size_t number : chosen) {
    if (records[number].tree.leaves.empty()) continue;
    // A record that is wanted again stays for the next time.
    taken.push_back(--uses[number] > 0 ? records[number] : std::move(records[number]));
  }
  return taken;
}

Result<CreditedGroups> CreditGroups(const CreditOptions& options, std::vector<ScoredTree> records,
                                    ModelViews views) {
  if (!views.reference.empty() && options.kl.place == KlPlace::kReward) {
    for (size_t i = 0; i < records.size(); ++i) {
      AddKlTerms(options.kl, options.kl.coefficient, views.reference[i], &records[i]);
    }
  }
  std::vector<CreditInput> inputs(records.size());
  for (size_t i = 0; i < inputs.size(); ++i) {
    inputs[i].record = &records[i];
    if (!views.values.empty()) inputs[i].values = &views.values[i];
  }
  CreditedGroups credited;
  HONE_ASSIGN_OR_RETURN(credited.credits, AssignCredit(options.method, inputs,
                                                       {.terms_required = options.terms_required}));
  for (size_t i = 0; i < records.size(); ++i) {
    records[i].advantages = credited.credits[i].advantages;
  }
  HONE_RETURN_IF_ERROR(CheckAll(records, "credit", options.pool));
  credited.records = std::move(records);
  credited.views = std::move(views);
  return credited;
}

Result<std::vector<TrainingGroup>> TrainingGroupsOf(const Method& method,
                                                    const CreditedGroups& credited,
                                                    bool learn_results) {
  const ModelViews& views = credited.views;
  std::vector<TrainingGroup> groups;
  for (size_t i = 0; i < credited.records.size(); ++i) {
    const ScoredTree& record = credited.records[i];
    CHECK(!learn_results || !views.now.empty(), "nobody asked what the policy says of results");
    TrainingGroup group = MakeTrainingGroup(record.tree, AdvantagesInLoss(credited.credits[i]),
                                            learn_results ? &views.now[i] : nullptr);
    if (group.sequences.empty()) continue;
    if (!views.reference.empty()) SetReference(views.reference[i], &group);
    if (!views.now.empty()) SetOld(views.now[i], &group);
    if (!views.values.empty()) {
      HONE_ASSIGN_OR_RETURN(const std::vector<Advantages> returns,
                            ReturnsOf(record, views.values[i], method));
      SetReturns(returns, &group);
    }
    groups.push_back(std::move(group));
  }
  return groups;
}

}  // namespace hone
