// Losses and their gradients against verl's functions and TRL's trainer, on random sequences with
// tokens of tools between them (tests/golden/credit).

#include <gtest/gtest.h>

#include <map>

#include "learn/objective.h"
#include "support/authors.h"

namespace hone {
namespace {

// The sequences of a case as one group, old log-probabilities and advantages set.
TrainingGroup AuthorsSequences(const Json& one) {
  Tree tree;
  tree.task.id = "losses";
  tree.nodes.emplace_back().tokens = {1};
  std::vector<Advantages> advantages;
  for (const Json& sequence : MemberOf(one, "sequences").AsArray()) {
    NodeId last = 0;
    size_t next = 0;
    const auto numbers = [&](std::string_view key) { return MemberOf(sequence, key).AsArray(); };
    for (const Json& turn : numbers("turns")) {
      Node node;
      node.parent = last;
      node.author = turn.Find("author") == nullptr ? Author::kPolicy : Author::kTool;
      node.tokens.assign(static_cast<size_t>(MemberOf(turn, "tokens").AsInteger()), 1);
      if (node.author == Author::kPolicy) {
        for (size_t t = 0; t < node.tokens.size(); ++t) {
          node.logprobs.push_back(static_cast<float>(numbers("old")[next++].AsDouble()));
        }
        node.entropies.assign(node.tokens.size(), 1.0f);
      }
      last = static_cast<NodeId>(tree.nodes.size());
      tree.nodes.push_back(std::move(node));
    }
    Advantages& of_leaf = advantages.emplace_back();
    of_leaf.leaf = static_cast<int32_t>(tree.leaves.size());
    for (const Json& value : numbers("advantages")) {
      of_leaf.values.push_back(static_cast<float>(value.AsDouble()));
    }
    tree.leaves.push_back({.node = last});
  }
  return MakeTrainingGroup(tree, advantages);
}

// The terms that an engine would hand to the loss, with the log-probabilities of the case.
TreeTerms AuthorsTerms(const Json& one, const TrainingGroup& group) {
  TreeTerms terms;
  for (const Leaf& leaf : group.tree.leaves) {
    const size_t size = TokensOf(group.tree, PathTo(group.tree, leaf.node)).size();
    PathTerms& path = terms.paths.emplace_back();
    for (auto* part : {&path.logprobs, &path.entropies, &path.dlogprobs, &path.dentropies}) {
      part->assign(size, 0.0f);
    }
  }
  for (size_t s = 0; s < group.sequences.size(); ++s) {
    const Json::Array& now =
        MemberOf(MemberOf(one, "sequences").AsArray()[s], "logprobs").AsArray();
    const std::vector<TokenPlace>& places = group.sequences[s].places;
    EXPECT_EQ(now.size(), places.size());
    for (size_t t = 0; t < places.size(); ++t) {
      terms.paths[places[t].path].logprobs[places[t].position] =
          static_cast<float>(now[t].AsDouble());
    }
  }
  return terms;
}

struct AuthorsObjective {
  ObjectiveOptions options;
  bool times_sequences = false;  // theirs is not divided by the number of sequences
};

// Hone's settings for what their programs call so. TRL has no dual clip.
std::map<std::string, AuthorsObjective> AuthorsObjectives(int64_t norm_length) {
  std::map<std::string, AuthorsObjective> all;
  const auto add = [&](const char* theirs, const char* ours, auto change) {
    AuthorsObjective& one = all[theirs];
    one.options = ObjectiveNamed(ours);
    one.options.norm_length = norm_length;
    change(&one.options);
  };
  const auto plain = [](ObjectiveOptions*) {};
  const auto aggregated = [](Aggregation how) {
    return [how](ObjectiveOptions* options) { options->aggregation = how; };
  };
  const auto without_dual_clip = [](ObjectiveOptions* options) { options->dual_clip = 0; };
  add("verl ppo token-mean", "ppo", plain);
  add("verl ppo seq-mean-token-sum", "ppo", aggregated(Aggregation::kSequenceSum));
  add("verl ppo seq-mean-token-mean", "ppo", aggregated(Aggregation::kSequenceMean));
  add("verl ppo seq-mean-token-sum-norm", "ppo", aggregated(Aggregation::kSequenceSumConstant));
  all["verl ppo seq-mean-token-sum-norm"].times_sequences = true;
  for (const char* name : {"dapo", "gspo", "cispo", "sapo", "gmpo", "gpg"}) {
    add(("verl " + std::string(name)).c_str(), name, plain);
  }
  add("verl gspo wide", "gspo", [](ObjectiveOptions* options) {
    options->clip_low = 0.15;
    options->clip_high = 0.25;
  });
  add("trl grpo", "grpo", without_dual_clip);
  add("trl dr_grpo", "dr-grpo", without_dual_clip);
  add("trl bnpo", "ppo", without_dual_clip);
  add("trl dapo", "dapo", without_dual_clip);
  add("trl cispo", "cispo", plain);
  add("trl sapo", "sapo", plain);
  return all;
}

// Differences from theirs: of the loss, and the worst of a derivative beside the largest.
struct LossDifference {
  double ours = 0, theirs = 0;
  double derivative = 0;
};

LossDifference DifferenceFrom(const Json& one, const std::string& name,
                              const AuthorsObjective& ours) {
  const TrainingGroup group = AuthorsSequences(one);
  TreeTerms terms = AuthorsTerms(one, group);
  Objective objective(ours.options, {&group}, Rng(1));
  objective.LossOf(0, 1)({&terms, 1});
  const double times = ours.times_sequences ? static_cast<double>(group.sequences.size()) : 1.0;
  const Json& theirs = TheirsOf(one, name);
  LossDifference difference{times * objective.metrics().policy_loss, NumberOf(theirs, "loss")};
  const Json::Array& gradient = MemberOf(theirs, "gradient").AsArray();
  CHECK(gradient.size() == group.sequences.size());
  double largest = 1e-12, worst = 0;
  for (size_t s = 0; s < gradient.size(); ++s) {
    const std::vector<TokenPlace>& places = group.sequences[s].places;
    CHECK(gradient[s].AsArray().size() == places.size());
    for (size_t t = 0; t < places.size(); ++t) {
      const double derivative = terms.paths[places[t].path].dlogprobs[places[t].position],
                   expected = gradient[s].AsArray()[t].AsDouble();
      largest = std::max(largest, std::abs(expected));
      worst = std::max(worst, std::abs(times * derivative - expected));
    }
  }
  difference.derivative = worst / largest;
  return difference;
}

// verl's bare seq-mean-token-sum-norm is not divided by the number of sequences, TRL's dr_grpo (and
// Hone) is.
TEST(AuthorsLosses, AreTheirsAndSoAreTheGradients) {
  size_t compared = 0;
  for (const Json& one : AuthorsCases("losses")) {
    const auto objectives = AuthorsObjectives(MemberOf(one, "norm_length").AsInteger());
    ASSERT_EQ(objectives.size(), MemberOf(one, "expected").AsObject().size());
    for (const auto& [name, ours] : objectives) {
      const LossDifference difference = DifferenceFrom(one, name, ours);
      EXPECT_NEAR(difference.ours, difference.theirs, 1e-5 * std::abs(difference.theirs) + 1e-6)
          << name;
      EXPECT_LE(difference.derivative, 1e-5) << name;
      ++compared;
    }
  }
  EXPECT_GE(compared, 500u);
}

}  // namespace
}  // namespace hone
