#include "learn/objective.h"

#include <gtest/gtest.h>

#include <cmath>
#include <numeric>

#include "support/tiny_training.h"

namespace hone {
namespace {

struct Outcome {
  Gradients gradients;
  ObjectiveMetrics metrics;
};

// The objective of all groups together, `per_call` of them in a call. Tokens that are chosen by
// their covariance are those that `chooser` has.
Outcome Train(const Model& model, const ObjectiveOptions& options,
              const std::vector<TrainingGroup>& groups, size_t per_call = 100,
              SharedTokens shared = SharedTokens::kRepeat, const Model* chooser = nullptr) {
  ThreadPool pool(2);
  Decoder decoder(&model, {.precision = Precision::kF32}, &pool);
  Decoder choosing(chooser == nullptr ? &model : chooser, {.precision = Precision::kF32}, &pool);
  Outcome outcome;
  for (const Parameter& parameter : model.parameters) {
    outcome.gradients.emplace_back(parameter.value.size(), 0.0f);
  }
  std::vector<const TrainingGroup*> used;
  std::vector<Tree> trees;
  for (const TrainingGroup& group : groups) {
    used.push_back(&group);
    trees.push_back(group.tree);
  }
  Objective objective(options, used, Rng(3));
  if (objective.WantsCurrentLogprobs()) objective.SetCurrentLogprobs(choosing.LogProbs(trees));
  for (size_t begin = 0; begin < groups.size(); begin += per_call) {
    const size_t end = std::min(groups.size(), begin + per_call);
    decoder.Accumulate(std::span(trees).subspan(begin, end - begin), objective.LossOf(begin, end),
                       shared, &outcome.gradients);
  }
  outcome.metrics = objective.metrics();
  return outcome;
}

struct Setting {
  std::string name;
  ObjectiveOptions options;
};

// Every loss by name, every aggregation, and everything that can be added to a loss.
std::vector<Setting> AllSettings() {
  std::vector<Setting> settings;
  for (const std::string& name : ObjectiveNames()) {
    ObjectiveOptions options = ObjectiveNamed(name);
    options.norm_length = 20;
    // So wide that some tokens are clipped and most are not.
    if (name == "gspo") options.clip_low = options.clip_high = 0.03;
    options.covariance = {.share = 0.05, .lower = 0.2, .upper = 5, .kl_coefficient = 1};
    settings.push_back({name, options});
  }
  auto add = [&](const std::string& name, auto change) {
    ObjectiveOptions options;
    options.norm_length = 20;
    change(&options);
    settings.push_back({name, options});
  };
  add("turn ratio", [](auto* o) { o->ratio = RatioLevel::kTurn; });
  add("trajectory ratio", [](auto* o) { o->ratio = RatioLevel::kTrajectory; });
  add("seq-mean-token-sum", [](auto* o) { o->aggregation = Aggregation::kSequenceSum; });
  add("entropy", [](auto* o) { o->entropy = 0.3; });
  add("k1", [](auto* o) { o->kl = {.coefficient = 0.5, .estimator = KlEstimator::kK1}; });
  add("k2", [](auto* o) { o->kl = {.coefficient = 0.5, .estimator = KlEstimator::kK2}; });
  add("k3", [](auto* o) { o->kl = {.coefficient = 0.5}; });
  add("abs", [](auto* o) { o->kl = {.coefficient = 0.5, .estimator = KlEstimator::kAbs}; });
  add("unbiased k3", [](auto* o) { o->kl = {.coefficient = 0.5, .unbiased = true}; });
  add("values", [](auto* o) { o->value = {.coefficient = 0.4, .clip = 0.2}; });
  add("correction", [](auto* o) {
    o->correction = {.kind = CorrectionOptions::Kind::kTruncate, .cap = 1.1, .normalise = true};
  });
  return settings;
}

// Groups with everything that any setting asks for.
std::vector<TrainingGroup> FullGroups(const Model& model, double off = 0.25) {
  ThreadPool pool(2);
  Decoder decoder(&model, {.precision = Precision::kF32}, &pool);
  std::vector<TrainingGroup> groups;
  for (const Tree& tree : GroupsDrawnNearby(&decoder, 4, off)) {
    TrainingGroup& group = groups.emplace_back(MakeTrainingGroup(tree, SomeAdvantages(tree)));
    size_t salt = 0;
    for (Sequence& sequence : group.sequences) {
      for (size_t t = 0; t < sequence.size(); ++t) {
        const double wave = std::sin(static_cast<double>(5 * t + 3 * salt));
        sequence.reference.push_back(sequence.sampled[t] + static_cast<float>(0.4 * wave));
        sequence.old[t] += static_cast<float>(0.1 * off * wave);
        sequence.old_values.push_back(static_cast<float>(0.3 * wave));
        sequence.returns.push_back(static_cast<float>(0.5 + 0.5 * wave));
      }
      ++salt;
    }
  }
  return groups;
}

double SquaredNorm(const Gradients& gradients) {
  double sum = 0;
  for (const auto& part : gradients) {
    for (const float g : part) sum += static_cast<double>(g) * g;
  }
  return sum;
}

// The model moved along a direction.
Model Moved(const Model& model, const Gradients& direction, double by) {
  Model moved = model;
  for (size_t p = 0; p < moved.parameters.size(); ++p) {
    for (size_t i = 0; i < moved.parameters[p].value.size(); ++i) {
      moved.parameters[p].value[i] += static_cast<float>(by * direction[p][i]);
    }
  }
  return moved;
}

void ExpectClose(const Gradients& ours, const Gradients& expected, const std::string& what) {
  for (size_t p = 0; p < ours.size(); ++p) {
    double largest = 1e-12, worst = 0;
    for (size_t i = 0; i < expected[p].size(); ++i) {
      largest = std::max<double>(largest, std::abs(expected[p][i]));
      worst = std::max<double>(worst, std::abs(ours[p][i] - expected[p][i]));
    }
    EXPECT_LE(worst, 1e-5 * largest) << what << " parameter " << p;
  }
}

// The gradient through a whole model against differences of the loss that is reported.
TEST(Objective, EveryLossFallsAsItsGradientSays) {
  const Model model = TinyModel(true);
  const std::vector<TrainingGroup> credited = FullGroups(model);
  std::vector<TrainingGroup> plain = credited;
  for (TrainingGroup& group : plain) {
    for (Sequence& sequence : group.sequences) {
      std::fill(sequence.advantages.begin(), sequence.advantages.end(), 0.0f);
    }
  }
  for (const Setting& setting : AllSettings()) {
    const std::string& name = setting.name;
    const ObjectiveOptions& options = setting.options;
    // What is added to a loss is small beside it, and would not be seen: it is looked at alone.
    const bool added =
        options.kl.coefficient > 0 || options.entropy > 0 || options.value.coefficient > 0;
    const std::vector<TrainingGroup>& groups = added ? plain : credited;
    if (name == "cispo") continue;  // its weight is held by definition: see the next test
    const Outcome here = Train(model, options, groups);
    const double slope = std::sqrt(SquaredNorm(here.gradients));
    ASSERT_GT(slope, 1e-4) << name;
    const double step = 4e-4 / slope;
    auto loss = [&](double by) {
      return Train(Moved(model, here.gradients, by), options, groups, 100, SharedTokens::kRepeat,
                   &model)
          .metrics.loss;
    };
    const double above = loss(step), below = loss(-step);
    const double difference = (above - below) / (2 * step * slope);
    EXPECT_NEAR(difference / slope, 1, 0.01) << name;
    EXPECT_LT(below, here.metrics.loss) << name;
  }
}

TEST(Objective, CispoIsTheGradientOfItsHeldWeights) {
  const Model model = TinyModel();
  const std::vector<TrainingGroup> groups = FullGroups(model);
  ObjectiveOptions options = ObjectiveNamed("cispo");
  options.clip_high = 0.1;
  const Outcome cispo = Train(model, options, groups);
  EXPECT_GT(cispo.metrics.clip_fraction, 0.1);
  // The same as a plain policy gradient whose advantages carry the weights.
  ThreadPool pool(2);
  Decoder decoder(&model, {.precision = Precision::kF32}, &pool);
  std::vector<TrainingGroup> weighted = groups;
  for (TrainingGroup& group : weighted) {
    const auto now = LogProbsOf(group, decoder.LogProbs({&group.tree, 1})[0]);
    for (size_t s = 0; s < now.size(); ++s) {
      Sequence& sequence = group.sequences[s];
      for (size_t t = 0; t < sequence.size(); ++t) {
        const double ratio = std::exp(static_cast<double>(now[s][t]) - sequence.old[t]);
        sequence.advantages[t] *= static_cast<float>(std::min(ratio, 1.1));
      }
    }
  }
  ExpectClose(cispo.gradients, Train(model, ObjectiveNamed("gpg"), weighted).gradients, "cispo");
}

TEST(Objective, CuttingAMiniBatchIntoCallsChangesNothing) {
  const Model model = TinyModel(true);
  const std::vector<TrainingGroup> groups = FullGroups(model);
  for (const auto& [name, options] : AllSettings()) {
    const Outcome whole = Train(model, options, groups);
    for (const size_t per_call : {1, 3}) {
      const Outcome cut = Train(model, options, groups, per_call);
      ExpectClose(cut.gradients, whole.gradients, name);
      EXPECT_NEAR(cut.metrics.loss, whole.metrics.loss, 1e-9) << name;
      EXPECT_EQ(cut.metrics.tokens, whole.metrics.tokens);
      EXPECT_NEAR(cut.metrics.entropy, whole.metrics.entropy, 1e-9) << name;
    }
  }
}

TEST(Objective, ATreeIsTrainedAsItsPathsAre) {
  const Model model = TinyModel(true);
  const std::vector<TrainingGroup> groups = FullGroups(model);
  // Every path as a group of its own.
  std::vector<TrainingGroup> paths;
  for (const TrainingGroup& group : groups) {
    for (const Sequence& sequence : group.sequences) {
      TrainingGroup& alone = paths.emplace_back();
      const auto leaf = static_cast<size_t>(sequence.places[0].path);
      for (const NodeId id : PathTo(group.tree, group.tree.leaves[leaf].node)) {
        alone.tree.nodes.push_back(group.tree.nodes[static_cast<size_t>(id)]);
        alone.tree.nodes.back().parent = static_cast<NodeId>(alone.tree.nodes.size()) - 2;
      }
      alone.tree.leaves = {{.node = static_cast<NodeId>(alone.tree.nodes.size()) - 1}};
      alone.sequences = {sequence};
      for (TokenPlace& place : alone.sequences[0].places) place.path = 0;
    }
  }
  ASSERT_EQ(paths.size(), 24u);
  for (const auto& [name, options] : AllSettings()) {
    const Outcome tree = Train(model, options, groups), flat = Train(model, options, paths);
    ExpectClose(tree.gradients, flat.gradients, name);
    EXPECT_NEAR(tree.metrics.loss, flat.metrics.loss, 1e-9) << name;
    EXPECT_EQ(tree.metrics.tokens, flat.metrics.tokens) << "denominators count paths";
  }
}

TEST(Objective, AveragedSharedTokensCountOnce) {
  // Two equal trajectories through one turn: averaged, its gradient is that of one of them.
  const Model model = TinyModel();
  ThreadPool pool(2);
  Decoder decoder(&model, {.precision = Precision::kF32}, &pool);
  Tree tree = GroupsDrawnNearby(&decoder, 1, 0.1)[0];
  tree.nodes.resize(3);  // prompt, turn, tool
  tree.leaves = {{.node = 2}, {.node = 2}};
  std::vector<Advantages> advantages = SomeAdvantages(tree);
  advantages[1].values = advantages[0].values;
  ObjectiveOptions options;
  options.aggregation = Aggregation::kSequenceSumConstant;
  options.norm_length = 10;
  const std::vector<TrainingGroup> both = {MakeTrainingGroup(tree, advantages)};
  tree.leaves.resize(1);
  advantages.resize(1);
  const std::vector<TrainingGroup> one = {MakeTrainingGroup(tree, advantages)};
  const Gradients average = Train(model, options, both, 1, SharedTokens::kAverage).gradients;
  options.norm_length = 20;  // half as many sequences
  ExpectClose(average, Train(model, options, one).gradients, "average");
}

TEST(Objective, OnPolicyEveryRatioIsExactlyOne) {
  const Model model = TinyModel();
  std::vector<TrainingGroup> groups = FullGroups(model, 0);
  const ObjectiveMetrics exact = Train(model, ObjectiveNamed("dapo"), groups).metrics;
  EXPECT_GT(exact.tokens, 100);
  EXPECT_EQ(exact.ratio_one, exact.tokens);
  EXPECT_EQ(exact.clip_fraction, 0);
  EXPECT_EQ(exact.mean_ratio, 1);
  EXPECT_EQ(exact.max_ratio, 1);
  EXPECT_EQ(exact.approx_kl, 0);

  float& first = groups[0].sequences[0].sampled[0];
  first = std::nextafter(first, -100.0f);
  const ObjectiveMetrics off = Train(model, ObjectiveNamed("dapo"), groups).metrics;
  EXPECT_EQ(off.ratio_one, off.tokens - 1) << "one unit in the last place is noticed";
}

TEST(Objective, ACriticThatIsRightHasNothingToLearn) {
  const Model model = TinyModel(true);
  ThreadPool pool(2);
  Decoder decoder(&model, {.precision = Precision::kF32}, &pool);
  const Tree tree = GroupsDrawnNearby(&decoder, 1, 0)[0];
  std::vector<Advantages> none = SomeAdvantages(tree);
  for (Advantages& one : none) std::fill(one.values.begin(), one.values.end(), 0.0f);
  std::vector<TrainingGroup> groups = {MakeTrainingGroup(tree, none)};
  SetOld(decoder.LogProbs({&tree, 1})[0], &groups[0]);
  for (Sequence& sequence : groups[0].sequences) sequence.returns = sequence.old_values;
  ObjectiveOptions options;
  options.value.coefficient = 1;
  const Outcome right = Train(model, options, groups);
  EXPECT_EQ(right.metrics.value_loss, 0) << "values are read where they were taken";
  EXPECT_EQ(SquaredNorm(right.gradients), 0);
  for (Sequence& sequence : groups[0].sequences) sequence.returns[1] += 0.3f;
  EXPECT_GT(SquaredNorm(Train(model, options, groups).gradients), 0);
}

TEST(Objective, AggregationsDivideByWhatTheySay) {
  const Model model = TinyModel();
  const std::vector<TrainingGroup> groups = FullGroups(model, 0);
  double sum = 0, mean = 0;
  int64_t tokens = 0, sequences = 0;
  for (const TrainingGroup& group : groups) {
    for (const Sequence& sequence : group.sequences) {
      const double total =
          std::accumulate(sequence.advantages.begin(), sequence.advantages.end(), 0.0);
      sum -= total;
      mean -= total / static_cast<double>(sequence.size());
      tokens += static_cast<int64_t>(sequence.size());
      ++sequences;
    }
  }
  auto loss = [&](Aggregation aggregation) {
    ObjectiveOptions options;
    options.aggregation = aggregation;
    options.norm_length = 30;
    return Train(model, options, groups).metrics.loss;
  };
  const auto n = static_cast<double>(sequences);
  EXPECT_NEAR(loss(Aggregation::kTokenMean), sum / static_cast<double>(tokens), 1e-6);
  EXPECT_NEAR(loss(Aggregation::kSequenceSum), sum / n, 1e-6);
  EXPECT_NEAR(loss(Aggregation::kSequenceMean), mean / n, 1e-6);
  // Dr.GRPO's authors: the sum of a sequence by a constant, then the mean over sequences.
  EXPECT_NEAR(loss(Aggregation::kSequenceSumConstant), sum / 30 / n, 1e-6);
}

TEST(Objective, TokensWithoutAdvantageCountInTheDenominatorAndLeavesOutOfTheLossDoNot) {
  const Model model = TinyModel();
  ThreadPool pool(2);
  Decoder decoder(&model, {.precision = Precision::kF32}, &pool);
  const Tree tree = GroupsDrawnNearby(&decoder, 1, 0)[0];
  std::vector<Advantages> advantages = SomeAdvantages(tree);
  const auto all = Train(model, {}, {MakeTrainingGroup(tree, advantages)}).metrics;
  advantages.erase(advantages.begin() + 2);  // the one whose credit is 0
  const auto fewer = Train(model, {}, {MakeTrainingGroup(tree, advantages)}).metrics;
  EXPECT_EQ(all.sequences, 6);
  EXPECT_EQ(fewer.sequences, 5);
  EXPECT_NEAR(all.loss * static_cast<double>(all.tokens),
              fewer.loss * static_cast<double>(fewer.tokens), 1e-6);
  EXPECT_GT(std::abs(fewer.loss), std::abs(all.loss));
}

TEST(Objective, CorrectionWeighsMasksAndVetoes) {
  // Worked out by hand from the papers' formulas: old - sampled of 0.9 and -0.3 with a cap of 2.
  const Model model = TinyModel();
  std::vector<TrainingGroup> groups = FullGroups(model, 0);
  groups.resize(1);
  for (Sequence& sequence : groups[0].sequences) sequence.old = sequence.sampled;
  Sequence& first = groups[0].sequences[0];
  first.sampled[0] = first.old[0] - 0.9f;
  first.sampled[1] = first.old[1] + 0.3f;
  using Kind = CorrectionOptions::Kind;
  auto run = [&](CorrectionOptions correction) {
    ObjectiveOptions options;
    options.correction = correction;
    return Train(model, options, groups).metrics;
  };
  const ObjectiveMetrics plain = run({});
  const auto tokens = static_cast<double>(plain.tokens);
  EXPECT_EQ(plain.mean_weight, 1);
  const double rest = tokens - 2, low = 0.740818;
  EXPECT_NEAR(run({.kind = Kind::kTruncate}).mean_weight, (rest + 2 + low) / tokens, 1e-5);
  EXPECT_NEAR(run({.kind = Kind::kMask}).mean_weight, (rest + 0 + low) / tokens, 1e-5);
  EXPECT_NEAR(run({.kind = Kind::kMask, .cap = 1.2, .two_sided = true}).mean_weight, rest / tokens,
              1e-5);
  EXPECT_NEAR(run({.kind = Kind::kTruncate, .normalise = true}).mean_weight, 1, 1e-9);
  EXPECT_NEAR(run({.kind = Kind::kFull}).mean_weight, (rest + 2.459603 + low) / tokens, 1e-5);
  // Sequence level: exp(0.6) for all of it.
  const auto length = static_cast<double>(first.size());
  EXPECT_NEAR(run({.kind = Kind::kTruncate, .sequence = true}).mean_weight,
              (tokens - length + length * std::exp(0.6)) / tokens, 1e-5);
  const ObjectiveMetrics vetoed = run({.kind = Kind::kTruncate, .veto = 0.8});
  EXPECT_EQ(vetoed.vetoed, 1);
  EXPECT_EQ(vetoed.sequences, plain.sequences - 1);
  EXPECT_EQ(vetoed.tokens, plain.tokens - static_cast<int64_t>(first.size()));
  // k3: e^0.9 - 1 - 0.9 and e^-0.3 - 1 + 0.3, over all of its tokens.
  const double moved = (0.559603 + 0.040818) / length;
  EXPECT_EQ(run({.kind = Kind::kFull, .most_kl = moved * 1.001}).vetoed, 0);
  EXPECT_EQ(run({.kind = Kind::kFull, .most_kl = moved * 0.999}).vetoed, 1);
}

TEST(Objective, LowProbabilitiesAreHeldBackOnlyWhereTheAdvantageIsNegative) {
  const Model model = TinyModel();
  std::vector<TrainingGroup> groups = FullGroups(model, 0);
  groups.resize(1);
  ObjectiveOptions options = ObjectiveNamed("gpg");
  options.low_probability = 1;  // everything is rarer
  const Outcome held = Train(model, options, groups);
  // The same advantages, scaled by the probabilities where negative.
  int64_t negative = 0;
  for (Sequence& sequence : groups[0].sequences) {
    for (size_t t = 0; t < sequence.size(); ++t) {
      if (sequence.advantages[t] >= 0) continue;
      sequence.advantages[t] *= std::exp(sequence.sampled[t]);
      ++negative;
    }
  }
  EXPECT_EQ(held.metrics.limited, negative);
  EXPECT_GT(negative, 10);
  ExpectClose(held.gradients, Train(model, ObjectiveNamed("gpg"), groups).gradients, "limit");
}

// From sampling to a step with the engine itself: what was rewarded gets likelier.
TEST(Objective, StepsMakeWhatWasRewardedLikelier) {
  for (const std::string& name : ObjectiveNames()) {
    Engine engine(TinyModel(), {.threads = 1});
    Tree tree = BranchingGroup(3);
    const TreeLogprobs before = engine.LogProbs({&tree, 1})[0];
    for (size_t n = 0; n < tree.nodes.size(); ++n) {
      if (!tree.nodes[n].logprobs.empty()) tree.nodes[n].logprobs = before[n].logprobs;
    }
    std::vector<Advantages> advantages = SomeAdvantages(tree);
    for (Advantages& one : advantages) {  // the leaves under the first turn were right
      std::fill(one.values.begin(), one.values.end(), one.leaf < 3 ? 1.0f : -1.0f);
    }
    const std::vector<TrainingGroup> groups = {MakeTrainingGroup(tree, advantages)};
    ObjectiveOptions options = ObjectiveNamed(name);
    options.norm_length = 20;
    const std::vector<int64_t> tokens = {groups[0].tokens};
    const auto batches = MakeMiniBatches({.epochs = 3}, tokens, Rng(1));
    std::vector<ObjectiveMetrics> parts;
    for (size_t b = 0; b < batches.size(); ++b) {
      parts.push_back(AccumulateObjective(options, groups, batches[b], SharedTokens::kRepeat,
                                          Rng(1).Split(b), &engine));
      const double norm = engine.Step({.learning_rate = 1e-3});
      EXPECT_TRUE(norm > 0 || b > 0) << name;  // later ones may be clipped altogether
    }
    EXPECT_EQ(parts[0].ratio_one, parts[0].tokens) << name;
    EXPECT_LT(parts[1].ratio_one, parts[1].tokens) << name << ": the policy moved";
    EXPECT_EQ(Combine(parts).tokens, 3 * parts[0].tokens);
    const TreeLogprobs after = engine.LogProbs({&tree, 1})[0];
    auto change = [&](size_t node) {
      double sum = 0;
      for (size_t t = 0; t < after[node].logprobs.size(); ++t) {
        sum += after[node].logprobs[t] - before[node].logprobs[t];
      }
      return sum;
    };
    EXPECT_GT(change(1), 0) << name << ": the first turn of the right ones";
    EXPECT_LT(change(6), 0) << name << ": and of the wrong ones";
  }
}

}  // namespace
}  // namespace hone
