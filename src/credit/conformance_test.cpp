// What every method keeps, over random groups.

#include <gtest/gtest.h>

#include <algorithm>
#include <numeric>
#include <set>

#include "credit/methods.h"
#include "credit/specimens.h"
#include "record/validate.h"
#include "support/credit_groups.h"

namespace hone {
namespace {

class Conformance : public testing::TestWithParam<std::string> {
 protected:
  Conformance() : method_(*NewMethod(lab::SpecOf(GetParam()))) {}

  lab::RandomGroup Group(uint64_t seed) const {
    return lab::MakeRandomGroup(Rng(7).Split(seed), {.criteria = GetParam().starts_with("cm2"),
                                                     .greedy = GetParam() == "remax"});
  }

  Credit Of(const ScoredTree& record, bool layers = false) const {
    Result<Credit> credit = AssignCredit(method_, record, {layers});
    EXPECT_TRUE(credit.ok());
    return credit.ok() ? std::move(credit).value() : Credit();
  }

  static void ExpectSame(const std::vector<float>& a, const std::vector<float>& b) {
    ASSERT_EQ(a.size(), b.size());
    for (size_t t = 0; t < a.size(); ++t) ASSERT_NEAR(a[t], b[t], 2e-5 * (1 + std::abs(a[t])));
  }

  Method method_;
};

constexpr uint64_t kGroups = 40;

TEST_P(Conformance, OneFiniteNumberPerPolicyTokenAndNoneElsewhere) {
  for (uint64_t seed = 0; seed < kGroups; ++seed) {
    ScoredTree record = Group(seed).record;
    ASSERT_EQ(Validate(record), std::vector<std::string>());
    record.advantages = Of(record).advantages;
    ASSERT_EQ(record.advantages.size(), record.tree.leaves.size());
    ASSERT_EQ(Validate(record), std::vector<std::string>());
  }
}

TEST_P(Conformance, LayersAddUpToTheCredit) {
  for (uint64_t seed = 0; seed < kGroups; ++seed) {
    const Credit credit = Of(Group(seed).record, true);
    for (size_t i = 0; i < credit.advantages.size(); ++i) {
      std::vector<float> sum(credit.advantages[i].values.size(), 0.0f);
      for (const Layer& layer : credit.layers) {
        for (size_t t = 0; t < sum.size(); ++t) sum[t] += layer.advantages[i].values[t];
      }
      ExpectSame(credit.advantages[i].values, sum);
    }
  }
}

TEST_P(Conformance, PermutingSiblingsPermutesCredit) {
  for (uint64_t seed = 0; seed < kGroups; ++seed) {
    const ScoredTree record = Group(seed).record;
    const Credit credit = Of(record);
    const size_t n = record.tree.leaves.size();
    ScoredTree turned = record;  // leaf i becomes leaf n - 1 - i
    for (size_t i = 0; i < n; ++i) turned.tree.leaves[n - 1 - i] = record.tree.leaves[i];
    for (Score& score : turned.scores) score.leaf = static_cast<int32_t>(n) - 1 - score.leaf;
    std::reverse(turned.scores.begin(), turned.scores.end());
    const Credit again = Of(turned);
    for (size_t i = 0; i < n; ++i) {
      ExpectSame(credit.advantages[i].values, again.advantages[n - 1 - i].values);
    }
  }
}

TEST_P(Conformance, AConstantOnEveryOutcomeChangesNothingWhereItSaysSo) {
  bool changed = false;
  for (uint64_t seed = 0; seed < kGroups; ++seed) {
    const ScoredTree record = Group(seed).record;
    ScoredTree shifted = record;
    for (Score& score : shifted.scores) {
      for (RewardTerm& term : score.terms) {
        if (term.name == "outcome") *term.value += 0.75;
      }
    }
    const Credit before = Of(record), after = Of(shifted);
    for (size_t i = 0; i < before.advantages.size(); ++i) {
      const auto &a = before.advantages[i].values, &b = after.advantages[i].values;
      for (size_t t = 0; t < a.size(); ++t) changed |= std::abs(a[t] - b[t]) > 1e-4;
    }
  }
  if (method_.promises.shift_invariant) {
    EXPECT_FALSE(changed);
  }
}

// Adds a trajectory that must not matter.
ScoredTree WithStranger(const ScoredTree& record, bool faulted) {
  ScoredTree more = record;
  Node turn = record.tree.nodes[record.tree.leaves[0].node];
  turn.parent = 0;
  turn.sampling.temperature = 1;
  turn.calls = {{"tool", Json::Object(), {0, 1}}};
  const auto id = static_cast<NodeId>(more.tree.nodes.size());
  more.tree.nodes.push_back(std::move(turn));
  const auto leaf = static_cast<int32_t>(more.tree.leaves.size());
  more.tree.leaves.push_back({id, faulted ? Ending::kFailed : Ending::kAnswered,
                              faulted ? Blame::kSimulator : Blame::kNone, Json()});
  Score score{leaf,
              {{"outcome", 1.0, 1, kNoNode, {}},
               {"criterion:1", 1.0, 1, id, {}},
               {"call", 1.0, 1, id, Span{0, 1}}}};
  if (!faulted) {
    for (RewardTerm& term : score.terms) term.value.reset();
  }
  more.scores.push_back(std::move(score));
  return more;
}

TEST_P(Conformance, UnscoredAndFaultedLeavesLeaveTheStatisticsAndGetNothing) {
  for (uint64_t seed = 0; seed < kGroups; ++seed) {
    const ScoredTree record = Group(seed).record;
    const Credit before = Of(record);
    for (const bool faulted : {false, true}) {
      const ScoredTree more = WithStranger(record, faulted);
      ASSERT_EQ(Validate(more), std::vector<std::string>());
      const Credit after = Of(more);
      for (size_t i = 0; i < before.advantages.size(); ++i) {
        ExpectSame(before.advantages[i].values, after.advantages[i].values);
      }
      for (const float value : after.advantages.back().values) ASSERT_EQ(value, 0);
      ASSERT_TRUE(HasNote(after, faulted ? NoteKind::kOthersFault : NoteKind::kUnscored) ||
                  HasNote(after, NoteKind::kGroupDropped) || HasNote(after, NoteKind::kGated));
    }
  }
}

// The same paths with nothing shared but the prompt.
ScoredTree Flattened(const ScoredTree& record) {
  ScoredTree flat = record;
  flat.tree.nodes = {record.tree.nodes[0]};
  for (Score& score : flat.scores) {
    const auto path = WholePathTo(record.tree, record.tree.leaves[score.leaf].node);
    NodeId last = 0;
    for (size_t i = 1; i < path.size(); ++i) {
      Node node = record.tree.nodes[path[i]];
      node.parent = last;
      last = static_cast<NodeId>(flat.tree.nodes.size());
      flat.tree.nodes.push_back(std::move(node));
      for (RewardTerm& term : score.terms) {
        // Ids of the new tree are larger than any of the old: no term is moved twice.
        if (term.node == path[i]) term.node = last + 1000000;
      }
    }
    for (RewardTerm& term : score.terms) {
      if (term.node >= 1000000) term.node -= 1000000;
    }
    flat.tree.leaves[score.leaf].node = last;
  }
  return flat;
}

// Of the others the tree itself is what the method reads.
class FlatConformance : public Conformance {};

TEST_P(FlatConformance, TheTreeAndItsFlattenedPathsAgree) {
  for (uint64_t seed = 0; seed < kGroups; ++seed) {
    const ScoredTree record = Group(seed).record;
    const ScoredTree flat = Flattened(record);
    ASSERT_EQ(Validate(flat), std::vector<std::string>());
    const Credit tree = Of(record), paths = Of(flat);
    for (size_t i = 0; i < tree.advantages.size(); ++i) {
      ExpectSame(tree.advantages[i].values, paths.advantages[i].values);
    }
  }
}

// Methods that count turns or tokens on purpose; their pages say so.
const std::set<std::string>& CountTurnsOnPurpose() {
  static const std::set<std::string> names = {
      "opo",          "otb",     "reinforce++", "reinforce++-baseline",
      "entropy-mask", "gigpo",   "igpo",        "turn-loo",
      "stepsearch",   "portool", "aspo"};
  return names;
}

class CountingConformance : public Conformance {};

TEST_P(CountingConformance, ATrajectoryCountsOnceWhateverItsTurns) {
  const std::string turn = R"({"tokens":2},{"author":"tool","tokens":1})";
  auto group = [&](int turns) {
    std::string first = R"({"terms":{"outcome":1},"turns":[)";
    for (int i = 1; i < turns; ++i) first += turn + ",";
    first += R"({"tokens":2}]})";
    return GroupFrom("{\"group\":[" + first + "," + Plain("0") + "," + Plain("0") + "," +
                     Plain("0.5") + "," + Plain("0.25") + "," + Plain("1") + "]}");
  };
  const Credit one = CreditOf(ReadingOutcomes(lab::SpecOf(GetParam())), group(1)),
               many = CreditOf(ReadingOutcomes(lab::SpecOf(GetParam())), group(9));
  for (size_t i = 1; i < one.advantages.size(); ++i) {
    ExpectSame(one.advantages[i].values, many.advantages[i].values);
  }
}

TEST_P(Conformance, AnIdleSiblingGainsNothingByWhatIsMissing) {
  // Two siblings that acted could not be scored; one did nothing and has an outcome.
  const std::string acted =
      R"({"terms":{"outcome":null},"turns":[{"tokens":4,"calls":[{"begin":0,"end":3,"terms":{"call":null}}]},
          {"author":"tool","tokens":1},{"tokens":2}]})";
  const std::string spec = ReadingOutcomes(lab::SpecOf(GetParam()));
  for (const char* outcome : {"0", "0.0", "-0.5"}) {
    const Credit credit =
        CreditOf(spec, "{\"group\":[" + acted + "," + Plain(outcome) + "," + acted + "]}");
    for (const float value : credit.advantages[1].values) EXPECT_LE(value, 0) << outcome;
    for (const size_t i : {0, 2}) {
      for (const float value : credit.advantages[i].values) EXPECT_EQ(value, 0);
    }
  }
  // One of two calls could not be scored: its trajectory leaves the comparison.
  const Credit credit = CreditOf(spec, R"({"group":[
      {"terms":{"outcome":0},"turns":[{"tokens":6,"calls":[
         {"begin":0,"end":2,"terms":{"call":null}},{"begin":3,"end":5,"terms":{"call":-0.25}}]},
         {"author":"tool","tokens":1},{"tokens":2}]},
      {"terms":{"outcome":0},"turns":[{"tokens":2}]}]})");
  for (const float value : credit.advantages[1].values) EXPECT_LE(value, 0);
}

// A method's name as the name of a test.
std::string TestName(const testing::TestParamInfo<std::string>& method) {
  std::string name;
  for (const char c : method.param) name += std::isalnum(static_cast<unsigned char>(c)) ? c : '_';
  return name + "_" + std::to_string(method.index);
}

std::vector<std::string> MethodsWhere(bool (*wanted)(const std::string& name)) {
  std::vector<std::string> names;
  for (const std::string& name : MethodNames()) {
    if (wanted(name)) names.push_back(name);
  }
  return names;
}

INSTANTIATE_TEST_SUITE_P(Methods, Conformance, testing::ValuesIn(MethodNames()), TestName);
INSTANTIATE_TEST_SUITE_P(Methods, FlatConformance,
                         testing::ValuesIn(MethodsWhere([](const std::string& name) {
                           return NewMethod(lab::SpecOf(name)).value().promises.flat;
                         })),
                         TestName);
INSTANTIATE_TEST_SUITE_P(Methods, CountingConformance,
                         testing::ValuesIn(MethodsWhere([](const std::string& name) {
                           return CountTurnsOnPurpose().count(name) == 0;
                         })),
                         TestName);

}  // namespace
}  // namespace hone
