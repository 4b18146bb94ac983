#include "train/verify/step_verifier.h"

#include <algorithm>
#include <bit>
#include <cmath>
#include <set>

#include <fmt/format.h>

#include "engine/weights/weights_difference.h"
#include "record/difference.h"
#include "train/stages/rl_values.h"

namespace hone {
namespace {

// Numbers of evaluations, which are not part of a step.
bool IsOfEvaluation(const std::string& name) { return name.starts_with("dev/"); }
// Numbers that say who answered, which a replay of a journal does differently.
bool SaysWhoAnswered(const std::string& name) {
  return name == "real_calls" || name == "simulated_calls" || name.starts_with("spent/");
}

// What the alarms remember, without the numbers that older programs did not write and so did not
// watch. None of them has a remedy: no weights depend on it.
Json AlarmsAsThen(const Json& derived, const Json& stored) {
  Json then = derived;
  for (const char* part : {"histories", "alarms"}) {
    const Json *now = derived.Find(part), *had = stored.Find(part);
    if (now == nullptr || had == nullptr || !now->is_object()) continue;
    Json kept = Json::Object();
    for (const auto& [name, value] : now->AsObject()) {
      const bool since = IsWrittenSince(name) || name == "unused-calls";
      if (!since || had->Find(name) != nullptr) kept.Set(name, value);
    }
    then.Set(part, std::move(kept));
  }
  return then;
}

std::string NumberText(double value) {
  return fmt::format("{} (bits {:016x})", value, std::bit_cast<uint64_t>(value));
}

VerifiedCounts CountsOf(const ScoredTree& record) {
  VerifiedCounts counts{.groups = 1,
                        .trajectories = static_cast<int64_t>(record.tree.leaves.size()),
                        .tokens = CountTokens(record.tree)};
  for (const Score& score : record.scores) {
    counts.rewards += static_cast<int64_t>(score.terms.size());
  }
  for (const Advantages& one : record.advantages) {
    counts.advantages += static_cast<int64_t>(one.values.size());
  }
  return counts;
}

RunDifference OfGroup(int64_t step, size_t number, const RunStore::TreeSummary& stored) {
  return {.step = step,
          .what = "group",
          .name = stored.task,
          .tree = stored.id,
          .place = fmt::format("group {} (tree {}, task {})", number, stored.id, stored.task)};
}

// What lists of the store are made from, which lies beside each tree and says the same once more.
std::optional<RunDifference> ListedOtherwise(RunDifference place, const ScoredTree& derived,
                                             const RunStore::TreeSummary& stored) {
  const auto text = [](const std::string& task, size_t nodes, size_t leaves, int64_t tokens,
                       const std::optional<double>& reward) {
    return fmt::format("task {}, {} nodes, {} leaves, {} tokens, mean reward {}", task, nodes,
                       leaves, tokens, reward ? NumberText(*reward) : "none");
  };
  const Tree& tree = derived.tree;
  place.derived = text(tree.task.id, tree.nodes.size(), tree.leaves.size(), CountTokens(tree),
                       MeanReward(derived.scores));
  place.stored = text(stored.task, static_cast<size_t>(stored.nodes),
                      static_cast<size_t>(stored.leaves), stored.tokens, stored.mean_reward);
  if (place.derived == place.stored) return std::nullopt;
  place.part = "list";
  return place;
}

// What a run adds up that is no time: the same however long it took.
bool IsTime(const std::string& total) {
  return total == "wall_seconds" || total.starts_with("seconds/");
}

}  // namespace

Json RunDifference::ToJson() const {
  Json json = Json::Of({{"step", step}, {"what", what}, {"name", name}});
  if (!part.empty()) json.Set("part", part);
  if (tree) json.Set("tree", *tree);
  if (trajectory) json.Set("trajectory", static_cast<int64_t>(*trajectory));
  if (node) json.Set("node", static_cast<int64_t>(*node));
  if (index) json.Set("index", *index);
  json.Set("place", place);
  json.Set("derived", derived);
  json.Set("stored", stored);
  return json;
}

std::string RunDifference::Text() const {
  return fmt::format("step {}, {}{}", step, place, part.empty() ? "" : ": " + part);
}

void VerifiedCounts::Add(const VerifiedCounts& other) {
  steps += other.steps;
  groups += other.groups;
  trajectories += other.trajectories;
  tokens += other.tokens;
  rewards += other.rewards;
  advantages += other.advantages;
  numbers += other.numbers;
  checkpoints += other.checkpoints;
  weights += other.weights;
}

Json VerifiedCounts::ToJson() const {
  return Json::Of({{"steps", steps},
                   {"groups", groups},
                   {"trajectories", trajectories},
                   {"tokens", tokens},
                   {"rewards", rewards},
                   {"advantages", advantages},
                   {"numbers", numbers},
                   {"checkpoints", checkpoints},
                   {"weights", weights}});
}

StepVerifier::StepVerifier(const StoredRun* run, Options options)
    : run_(run), options_(std::move(options)) {}

Result<void> StepVerifier::Groups(const TrainedStep& derived, int64_t step,
                                  Outcome* outcome) const {
  static const std::vector<RunStore::TreeSummary> kNone;
  const auto found = run_->groups.find(step);
  const std::vector<RunStore::TreeSummary>& stored =
      found == run_->groups.end() ? kNone : found->second;
  const int64_t kept = run_->recipe.run.store_groups;
  const size_t expected = kept < 0 ? derived.records.size()
                                   : std::min(derived.records.size(), static_cast<size_t>(kept));
  for (size_t i = 0; i < std::min(expected, stored.size()); ++i) {
    const Result<ScoredTree> record = run_->store->ReadTree(stored[i].id);
    RunDifference difference = OfGroup(step, i, stored[i]);
    if (!record.ok()) {
      difference.derived = "a record";
      difference.stored = record.error().message();
      outcome->difference = std::move(difference);
      return {};
    }
    const auto here = FirstDifference(derived.records[i], *record);
    if (!here) {
      outcome->difference = ListedOtherwise(difference, derived.records[i], stored[i]);
      if (outcome->difference) return {};
      outcome->equal.Add(CountsOf(*record));
      continue;
    }
    difference.part = here->part;
    difference.trajectory = here->trajectory;
    difference.node = here->node;
    difference.index = here->index;
    if (const std::string place = here->Place(); !place.empty()) {
      difference.place += ", " + place;
    }
    difference.derived = here->derived;
    difference.stored = here->stored;
    outcome->difference = std::move(difference);
    return {};
  }
  if (expected != stored.size()) {
    outcome->difference = RunDifference{.step = step,
                                        .what = "group",
                                        .place = "number of groups",
                                        .derived = fmt::format("{}", expected),
                                        .stored = fmt::format("{}", stored.size())};
  }
  return {};
}

void StepVerifier::Numbers(const TrainedStep& derived, int64_t step, Outcome* outcome) const {
  const auto found = run_->values.find(step);
  for (const auto& [name, value] : derived.values) {
    if (IsOfEvaluation(name) || (!options_.same_sources && SaysWhoAnswered(name))) continue;
    std::optional<double> stored;
    if (found != run_->values.end()) {
      if (const auto one = found->second.find(name); one != found->second.end()) {
        stored = one->second;
      }
    }
    if (!stored && IsWrittenSince(name)) continue;
    // The store has no value for what is not finite.
    if (!std::isfinite(value) && (!stored || !std::isfinite(*stored))) continue;
    if (stored && std::bit_cast<uint64_t>(*stored) == std::bit_cast<uint64_t>(value)) {
      ++outcome->equal.numbers;
      continue;
    }
    outcome->difference = RunDifference{.step = step,
                                        .what = "number",
                                        .name = name,
                                        .place = fmt::format("the number {}", name),
                                        .derived = NumberText(value),
                                        .stored = stored ? NumberText(*stored) : "not there"};
    return;
  }
}

// What a checkpoint says of how far the run was. Evaluations, times, and what hangs on when a run
// was saved are not compared.
std::optional<StepVerifier::NamedDifference> StepVerifier::StateDifference(
    const TrainingState& derived, const TrainingState& stored) const {
  // At the end of a stage it is that of the next one, which has not begun.
  const bool next = stored.stage > derived.stage && stored.stage_step == 0;
  for (const auto& [name, here, there] :
       {std::tuple{"step", derived.step, stored.step},
        std::tuple{"stage", next ? stored.stage : derived.stage, stored.stage},
        std::tuple{"stage_step", next ? 0 : derived.stage_step, stored.stage_step}}) {
    if (here != there) return NamedDifference{name, std::to_string(here), std::to_string(there)};
  }
  if (derived.start != stored.start) return NamedDifference{"start", derived.start, stored.start};
  const auto differs = [](const std::string& name, const Json* here,
                          const Json* there) -> std::optional<NamedDifference> {
    if (here != nullptr && there != nullptr && *here == *there) return std::nullopt;
    return NamedDifference{name, here == nullptr ? "not there" : DumpJson(*here),
                           there == nullptr ? "not there" : DumpJson(*there)};
  };
  for (const auto& [name, value] : derived.totals.AsObject()) {
    if (IsTime(name) || (!options_.same_sources && SaysWhoAnswered(name))) continue;
    if (auto one = differs("totals/" + name, &value, stored.totals.Find(name))) return one;
  }
  if (next || !stored.stage_state.is_object() || !derived.stage_state.is_object()) return {};
  for (const auto& [name, value] : stored.stage_state.AsObject()) {
    if (name == "alarms" && !options_.evaluated) continue;  // they watch evaluations
    const Json* here = derived.stage_state.Find(name);
    Json alarms;
    if (name == "alarms" && here != nullptr) here = &(alarms = AlarmsAsThen(*here, value));
    if (auto one = differs(name, here, &value)) return one;
  }
  return {};
}

Result<void> StepVerifier::Checkpoint(const TrainedStep& derived, int64_t step,
                                      Outcome* outcome) const {
  const int64_t done = derived.state.step;
  if (!std::binary_search(run_->checkpoints.begin(), run_->checkpoints.end(), done)) return {};
  const std::filesystem::path stored = CheckpointIn(run_->folder, done);
  RunDifference difference{.step = step,
                           .what = "checkpoint",
                           .name = fmt::format("step-{}", done),
                           .place = fmt::format("checkpoints/step-{}", done)};
  const std::filesystem::path aside = options_.scratch / "derived";
  HONE_RETURN_IF_ERROR(derived.engine.Save(aside, SaveType::kBf16));
  HONE_ASSIGN_OR_RETURN(const WeightsComparison weights, CompareWeights(aside, stored));
  if (weights.difference) {
    difference.part = "weights";
    difference.place += "/" + weights.difference->Place();
    difference.derived = weights.difference->derived;
    difference.stored = weights.difference->stored;
    outcome->difference = std::move(difference);
    return {};
  }
  const Result<TrainingState> state = ReadTrainingState(stored);
  if (!state.ok()) {
    difference.derived = "a state";
    difference.stored = state.error().message();
    outcome->difference = std::move(difference);
    return {};
  }
  if (const auto other = StateDifference(derived.state, *state)) {
    difference.part = "state";
    difference.place += "/training.json, " + other->name;
    difference.derived = other->derived;
    difference.stored = other->stored;
    outcome->difference = std::move(difference);
    return {};
  }
  ++outcome->equal.checkpoints;
  outcome->equal.weights += weights.numbers;
  return {};
}

Result<StepVerifier::Outcome> StepVerifier::Verify(const TrainedStep& derived) const {
  Outcome outcome;
  const int64_t step = derived.state.step - 1;
  // Other stages leave means over several steps in the log, and no groups.
  if (derived.stage.traits().practice) {
    if (!run_->start.empty() && derived.state.start != run_->start) {
      outcome.difference = RunDifference{.step = step,
                                         .what = "start",
                                         .place = "SHA-256 of the weights that rl began with",
                                         .derived = derived.state.start,
                                         .stored = run_->start};
      return outcome;
    }
    HONE_RETURN_IF_ERROR(Groups(derived, step, &outcome));
    if (!outcome.difference) Numbers(derived, step, &outcome);
  }
  if (!outcome.difference) HONE_RETURN_IF_ERROR(Checkpoint(derived, step, &outcome));
  if (!outcome.difference && !run_->weights.empty() && derived.state.step == run_->steps) {
    if (std::string weights = derived.engine.WeightsHash(); weights != run_->weights) {
      outcome.difference = RunDifference{.step = step,
                                         .what = "end",
                                         .name = "result.json",
                                         .place = "SHA-256 of the last weights, in result.json",
                                         .derived = std::move(weights),
                                         .stored = run_->weights};
    }
  }
  if (!outcome.difference) outcome.equal.steps = 1;
  return outcome;
}

}  // namespace hone
