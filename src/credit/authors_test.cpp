// Methods against the programs of their authors, over random batches (tests/golden/credit). Where
// Hone means to differ, the cases are told apart by what makes the difference, and the difference
// itself is checked.

#include <gtest/gtest.h>

#include <fmt/format.h>

#include "credit/methods/dapo.h"
#include "support/authors.h"
#include "support/credit_groups.h"

namespace hone {
namespace {

// The groups of a case. Terms have the weights that the case gives them.
struct AuthorsBatch {
  explicit AuthorsBatch(const Json& one) {
    for (const Json& group : MemberOf(one, "groups").AsArray()) {
      Result<ShortGroup> read = ReadShortForm(Json::Of({{"group", group}}));
      EXPECT_TRUE(read.ok()) << (read.ok() ? "" : read.error().message());
      if (read.ok()) groups.push_back(std::move(read).value());
    }
    const Json* weights = one.Find("weights");
    for (ShortGroup& group : groups) {
      for (Score& score : group.record.scores) {
        for (RewardTerm& term : score.terms) {
          if (weights != nullptr) term.weight = NumberOf(*weights, term.name);
        }
      }
    }
  }

  std::vector<Credit> Credits(const std::string& spec, bool layers = false) const {
    const Result<Method> method = NewMethod(spec);
    EXPECT_TRUE(method.ok()) << (method.ok() ? "" : method.error().message());
    std::vector<CreditInput> inputs;
    for (const ShortGroup& group : groups) {
      inputs.push_back({&group.record, group.has_values ? &group.values : nullptr});
    }
    auto credits = AssignCredit(*method, inputs, {layers});
    EXPECT_TRUE(credits.ok()) << (credits.ok() ? "" : credits.error().message());
    return credits.ok() ? std::move(credits).value() : std::vector<Credit>(groups.size());
  }

  size_t SizeOf(size_t g) const { return groups[g].record.tree.leaves.size(); }

  double Outcome(size_t g, size_t member) const {
    return *groups[g].record.scores[member].terms[0].value;
  }

  bool OutcomesAreEqual(size_t g) const {
    for (size_t m = 1; m < SizeOf(g); ++m) {
      if (Outcome(g, m) != Outcome(g, 0)) return false;
    }
    return true;
  }

  std::vector<ShortGroup> groups;
};

// Advantages of one trajectory against one number for all its tokens, or one per token.
bool SameAsTheirs(const std::vector<float>& ours, const Json& theirs, double tolerance = 1e-5) {
  if (theirs.is_array() && theirs.AsArray().size() != ours.size()) return false;
  for (size_t t = 0; t < ours.size(); ++t) {
    const Json& number = theirs.is_array() ? theirs.AsArray()[t] : theirs;
    if (!IsTheirs(ours[t], number.AsDouble(), tolerance)) return false;
  }
  return !ours.empty();
}

// Compares all trajectories of a section that `compared` says yes to, and says how many there were.
class Comparison {
 public:
  using Which = std::function<bool(const AuthorsBatch&, size_t group)>;

  explicit Comparison(std::string variant) : variant_(std::move(variant)) {}

  void Case(const Json& one, const AuthorsBatch& batch, const std::vector<Credit>& credits,
            const Json* numbers = nullptr) {
    const Json::Array& theirs = (numbers != nullptr ? *numbers : TheirsOf(one, variant_)).AsArray();
    ASSERT_EQ(theirs.size(), credits.size());
    for (size_t g = 0; g < credits.size(); ++g) {
      if (which_ && !which_(batch, g)) continue;
      const Json::Array& group = theirs[g].AsArray();
      ASSERT_EQ(group.size(), credits[g].advantages.size());
      for (size_t m = 0; m < group.size(); ++m) {
        const std::vector<float>& ours = credits[g].advantages[m].values;
        EXPECT_TRUE(SameAsTheirs(ours, group[m]))
            << variant_ << ", group " << g << ", member " << m << ": "
            << testing::PrintToString(ours) << " and theirs " << DumpJson(group[m]);
        ++compared_;
      }
    }
  }

  Comparison& Where(Which which) {
    which_ = std::move(which);
    return *this;
  }
  size_t compared() const { return compared_; }

 private:
  std::string variant_;
  Which which_;
  size_t compared_ = 0;
};

bool NotAlone(const AuthorsBatch& batch, size_t g) { return batch.SizeOf(g) > 1; }

// How many trajectories of a case are within the tolerance of theirs.
size_t CountTheirs(const Json& theirs, const std::vector<Credit>& credits, double tolerance) {
  size_t count = 0;
  for (size_t g = 0; g < credits.size(); ++g) {
    for (size_t m = 0; m < credits[g].advantages.size(); ++m) {
      count += SameAsTheirs(credits[g].advantages[m].values, theirs.AsArray()[g].AsArray()[m],
                            tolerance);
    }
  }
  return count;
}

TEST(Authors, VerlsEstimatorsOfTrajectories) {
  const std::vector<std::pair<std::string, std::string>> same = {
      {"grpo", "grpo"},           {"arpo-soft", "grpo"},
      {"dr-grpo", "dr-grpo"},     {"rloo", "rloo-vectorized"},
      {"rloo:alone=raw", "rloo"}, {"opo", "opo"}};
  for (const auto& [spec, variant] : same) {
    Comparison comparison(variant);
    for (const Json& one : AuthorsCases("verl")) {
      const AuthorsBatch batch(one);
      comparison.Case(one, batch, batch.Credits(spec));
    }
    EXPECT_GE(comparison.compared(), 200u) << spec;
  }
}

TEST(Authors, VerlsPassAtKWantsTwo) {
  for (const auto& [spec, variant] : {std::pair("pass-at-k", "pass-at-k"),
                                      std::pair("pass-at-k:deviation=no", "pass-at-k-unscaled")}) {
    Comparison comparison(variant);
    for (const Json& one : AuthorsCases("verl")) {
      if (MemberOf(one, "expected").Find(variant) == nullptr) continue;  // a group of one
      const AuthorsBatch batch(one);
      comparison.Case(one, batch, batch.Credits(spec));
    }
    EXPECT_GE(comparison.compared(), 100u) << spec;
  }
}

// A group of one: verl scales its reward like all others, Hone leaves it as it is.
TEST(Authors, VerlsGpg) {
  Comparison comparison("gpg");
  comparison.Where(NotAlone);
  int alone = 0;
  for (const Json& one : AuthorsCases("verl")) {
    const AuthorsBatch batch(one);
    const std::vector<Credit> credits = batch.Credits("gpg");
    comparison.Case(one, batch, credits);
    double count = 0, nonzero = 0;
    for (size_t g = 0; g < credits.size(); ++g) {
      for (size_t m = 0; m < batch.SizeOf(g); ++m) {
        ++count;
        if (batch.Outcome(g, m) != 0) ++nonzero;
      }
    }
    for (size_t g = 0; g < credits.size(); ++g) {
      if (NotAlone(batch, g)) continue;
      const double theirs = TheirsOf(one, "gpg").AsArray()[g].AsArray()[0].AsDouble();
      EXPECT_TRUE(IsTheirs(credits[g].advantages[0].values[0], batch.Outcome(g, 0)));
      EXPECT_TRUE(IsTheirs(batch.Outcome(g, 0) * count / std::max(nonzero, 1.0), theirs));
      ++alone;
    }
  }
  EXPECT_GE(comparison.compared(), 200u);
  EXPECT_GE(alone, 5);
}

// By default a group of one gets nothing here, which moves the mean of the batch for everybody;
// with alone=raw it is verl's. A batch of one trajectory has no deviation: 0 here, there what is
// left of 1e-8 in the denominator of its mean.
TEST(Authors, VerlsReinforcePlusPlusBaseline) {
  Comparison raw("reinforce++-baseline"), by_default("reinforce++-baseline");
  int single = 0;
  for (const Json& one : AuthorsCases("verl")) {
    const AuthorsBatch batch(one);
    bool alone = false;
    for (size_t g = 0; g < batch.groups.size(); ++g) alone |= !NotAlone(batch, g);
    const std::vector<Credit> credits = batch.Credits("reinforce++-baseline:alone=raw");
    if (alone && batch.groups.size() == 1) {
      const Json& theirs = TheirsOf(one, "reinforce++-baseline").AsArray()[0].AsArray()[0];
      EXPECT_EQ(credits[0].advantages[0].values[0], 0);
      EXPECT_LT(std::abs(theirs.AsDouble()), 1e-3);
      ++single;
      continue;
    }
    raw.Case(one, batch, credits);
    if (!alone) by_default.Case(one, batch, batch.Credits("reinforce++-baseline"));
  }
  EXPECT_GE(raw.compared(), 200u);
  EXPECT_GE(by_default.compared(), 100u);
  EXPECT_GE(single, 1);
}

TEST(Authors, VerlsGaeOverTokensWithToolTokensMasked) {
  Comparison raw("gae"), whitened("gae-whitened");
  for (const Json& one : AuthorsCases("verl")) {
    const AuthorsBatch batch(one);
    const std::string spec = fmt::format("gae-token:gamma={},lambda={}", NumberOf(one, "gamma"),
                                         NumberOf(one, "lambda"));
    raw.Case(one, batch, batch.Credits(spec + ",whiten=no"));
    whitened.Case(one, batch, batch.Credits(spec));
  }
  EXPECT_GE(raw.compared(), 200u);
  EXPECT_EQ(raw.compared(), whitened.compared());
}

// verl takes a tool's token for the end and begins anew before it; Hone carries the return across.
// Without those tokens the two are the same.
TEST(Authors, VerlsReinforcePlusPlus) {
  Comparison carried("reinforce++-without-tool-tokens"), as_it_is("reinforce++");
  int differ = 0;
  for (const Json& one : AuthorsCases("verl")) {
    const AuthorsBatch batch(one);
    const std::vector<Credit> credits =
        batch.Credits(fmt::format("reinforce++:gamma={}", NumberOf(one, "gamma")));
    carried.Case(one, batch, credits);
    bool tools = false;
    for (const ShortGroup& group : batch.groups) {
      for (const Node& node : group.record.tree.nodes) tools |= node.author == Author::kTool;
    }
    if (!tools) as_it_is.Case(one, batch, credits);
    if (tools &&
        !(TheirsOf(one, "reinforce++") == TheirsOf(one, "reinforce++-without-tool-tokens"))) {
      ++differ;
    }
  }
  EXPECT_GE(carried.compared(), 200u);
  EXPECT_GE(as_it_is.compared(), 20u);
  EXPECT_GE(differ, 10);
}

// TRL: trajectories that nobody could score leave the statistics. It adds 1e-4 to deviations, Hone
// 1e-6: its statements are run with both, and what differs is small unless deviations are.
TEST(Authors, TrlsScaledRewards) {
  for (const auto& [spec, variant] :
       {std::pair("grpo:alone=zero", "group"), std::pair("lite-ppo", "batch"),
        std::pair("dr-grpo:alone=zero", "none")}) {
    Comparison exact(fmt::format("{} with 1e-6", variant));
    size_t near = 0;
    for (const Json& one : AuthorsCases("trl")) {
      const AuthorsBatch batch(one);
      const std::vector<Credit> credits = batch.Credits(spec);
      exact.Case(one, batch, credits);
      near += CountTheirs(TheirsOf(one, variant), credits, 2e-3);
    }
    EXPECT_GE(exact.compared(), 200u) << spec;
    EXPECT_GE(near, exact.compared() * 9 / 10) << spec;
  }
}

TEST(Authors, GdpoWithWeights) {
  for (const char* variant : {"nvlabs", "trl"}) {
    Comparison exact(fmt::format("{} with 1e-6", variant));
    size_t near = 0;
    for (const Json& one : AuthorsCases("gdpo")) {
      const AuthorsBatch batch(one);
      const std::vector<Credit> credits = batch.Credits("gdpo");
      exact.Case(one, batch, credits);
      near += CountTheirs(TheirsOf(one, variant), credits, 2e-3);
    }
    EXPECT_GE(exact.compared(), 200u);
    EXPECT_GE(near, exact.compared() * 9 / 10);
  }
}

TEST(Authors, DrGrpoOfUnderstandR1Zero) {
  Comparison comparison("dr-grpo");
  for (const Json& one : AuthorsCases("dr-grpo")) {
    const AuthorsBatch batch(one);
    comparison.Case(one, batch, batch.Credits("dr-grpo"));
  }
  EXPECT_GE(comparison.compared(), 200u);
}

TEST(Authors, MtGrpoWithAndWithoutAToolsResult) {
  Comparison comparison("mt-grpo");
  int without = 0;
  for (const Json& one : AuthorsCases("mt-grpo")) {
    const AuthorsBatch batch(one);
    comparison.Case(one, batch,
                    batch.Credits(fmt::format("mt-grpo:kappa={}", NumberOf(one, "kappa"))));
    for (const Json& group : MemberOf(one, "groups").AsArray()) {
      for (const Json& member : group.AsArray()) {
        const Json::Array& turns = MemberOf(member, "turns").AsArray();
        without += std::none_of(turns.begin(), turns.end(), [](const Json& turn) {
          const Json* author = turn.Find("author");
          return author != nullptr && *author == Json("tool");
        });
      }
    }
  }
  EXPECT_GE(comparison.compared(), 150u);
  EXPECT_GE(without, 40);
}

// One number per turn, on each of its tokens.
Json OnTokens(const AuthorsBatch& batch, const Json& of_turns) {
  Json::Array groups;
  for (size_t g = 0; g < batch.groups.size(); ++g) {
    Json::Array members;
    const Tree& tree = batch.groups[g].record.tree;
    for (size_t m = 0; m < tree.leaves.size(); ++m) {
      const Json::Array& turns = of_turns.AsArray()[g].AsArray()[m].AsArray();
      Json::Array tokens;
      size_t turn = 0;
      for (const NodeId id : WholePathTo(tree, tree.leaves[m].node)) {
        if (tree.nodes[id].author != Author::kPolicy) continue;
        tokens.insert(tokens.end(), tree.nodes[id].tokens.size(), turns.at(turn++));
      }
      members.emplace_back(std::move(tokens));
    }
    groups.emplace_back(std::move(members));
  }
  return Json(std::move(groups));
}

// Whether all trajectories of the group have the same number of turns: then it does not matter
// whether they count once or once a turn. A group of one has no mean to be taken off here; there
// its turns have.
bool SameTurns(const Json& group) {
  const auto turns = [](const Json& member) { return MemberOf(member, "turns").AsArray().size(); };
  const Json::Array& members = group.AsArray();
  if (members.size() == 1) return turns(members[0]) == 1;
  return std::all_of(members.begin(), members.end(),
                     [&](const Json& member) { return turns(member) == turns(members[0]); });
}

// Hone takes the statistics of episodes over trajectories, verl-agent by default over their turns.
// A call that cannot be read costs something: there it comes off the turn's own two numbers, after
// returns were summed up; here it is a reward like others.
TEST(Authors, GiGpo) {
  Comparison once("trajectories-once"), penalised("penalty-is-reward"), by_default("default");
  int differ = 0;
  for (const Json& one : AuthorsCases("gigpo")) {
    const AuthorsBatch batch(one);
    const bool scaled = MemberOf(one, "mode") == Json("mean_std_norm");
    const double penalty = NumberOf(one, "penalty");
    const std::vector<Credit> credits = batch.Credits(
        fmt::format("gigpo:gamma={},weight={},invalid={},norm={}", NumberOf(one, "gamma"),
                    NumberOf(one, "weight"), penalty, scaled ? "mean_std" : "mean"));
    Comparison& here = penalty > 0 ? penalised : once;
    const Json theirs =
        OnTokens(batch, TheirsOf(one, penalty > 0 ? "penalty-is-reward" : "trajectories-once"));
    here.Case(one, batch, credits, &theirs);
    const Json defaults = OnTokens(batch, TheirsOf(one, "default"));
    const Json::Array& groups = MemberOf(one, "groups").AsArray();
    by_default.Where([&](const AuthorsBatch&, size_t g) {
      return penalty == 0 && !scaled && SameTurns(groups[g]);
    });
    by_default.Case(one, batch, credits, &defaults);
    size_t all = 0;
    for (size_t g = 0; g < credits.size(); ++g) all += batch.SizeOf(g);
    if (CountTheirs(defaults, credits, 1e-3) < all) ++differ;
  }
  EXPECT_GE(once.compared(), 150u);
  EXPECT_GE(penalised.compared(), 80u);
  EXPECT_GE(by_default.compared(), 20u);
  EXPECT_GE(differ, 10) << "the golden has cases in which it matters";
}

// One first turn per tree, as many leaves under it as the tree has.
ScoredTree ForestOf(const Json::Array& trees) {
  ScoredTree record;
  record.tree.task.id = "trees";
  auto node = [&](NodeId parent, Author author) {
    Node made;
    made.parent = parent;
    made.author = author;
    made.tokens = {1};
    if (author == Author::kPolicy) made.logprobs = made.entropies = {0};
    record.tree.nodes.push_back(std::move(made));
    return static_cast<NodeId>(record.tree.nodes.size()) - 1;
  };
  const NodeId root = node(kNoNode, Author::kSystem);
  for (const Json& tree : trees) {
    const NodeId result = node(node(root, Author::kPolicy), Author::kTool);
    for (const Json& reward : tree.AsArray()) {
      const auto leaf = static_cast<int32_t>(record.tree.leaves.size());
      record.tree.leaves.push_back({node(result, Author::kPolicy), Ending::kAnswered, {}, {}});
      record.scores.push_back({leaf, {{"outcome", reward.AsDouble(), 1, kNoNode, {}}}});
    }
  }
  return record;
}

// A leaf that is alone in its tree: there its reward is added as it is, here nothing.
TEST(Authors, TreeGrpo) {
  int compared = 0, alone = 0;
  for (const Json& one : AuthorsCases("tree-grpo")) {
    const Json::Array& trees = MemberOf(one, "trees").AsArray();
    const Credit credit = *AssignCredit(*NewMethod("tree-grpo"), ForestOf(trees));
    const Json::Array &theirs = TheirsOf(one, "tree").AsArray(),
                      &inter = TheirsOf(one, "inter").AsArray();
    size_t leaf = 0;
    for (const Json& tree : trees) {
      for (const Json& reward : tree.AsArray()) {
        const double whole = theirs[leaf].AsDouble(), among_all = inter[leaf].AsDouble();
        const std::vector<float>& ours = credit.advantages[leaf++].values;
        if (tree.AsArray().size() > 1) {
          EXPECT_TRUE(SameAsTheirs(ours, whole)) << DumpJson(one);
          ++compared;
        } else {
          EXPECT_TRUE(SameAsTheirs(ours, among_all)) << DumpJson(one);
          EXPECT_TRUE(IsTheirs(among_all + reward.AsDouble(), whole));
          ++alone;
        }
      }
    }
  }
  EXPECT_GE(compared, 300);
  EXPECT_GE(alone, 30);
}

// Their two advantages go into two losses; here they are two layers of one.
TEST(Authors, HdpoOfMetis) {
  Comparison accuracy("accuracy"), tool("tool");
  for (const Json& one : AuthorsCases("hdpo")) {
    const AuthorsBatch batch(one);
    std::vector<Credit> credits = batch.Credits("hdpo:tool=1", /*layers=*/true);
    for (const size_t layer : {0, 1}) {
      for (Credit& credit : credits) {
        ASSERT_EQ(credit.layers.size(), 2u);
        credit.advantages = credit.layers[layer].advantages;
      }
      (layer == 0 ? accuracy : tool).Case(one, batch, credits);
    }
  }
  EXPECT_GE(accuracy.compared(), 200u);
  EXPECT_EQ(tool.compared(), accuracy.compared());
}

// The faults that Hone's records have for SimpleTIR's turns.
void AddSimpleTirFaults(const Json& kinds, ShortGroup* group) {
  Tree& tree = group->record.tree;
  for (size_t m = 0; m < tree.leaves.size(); ++m) {
    const std::string& last = kinds.AsArray()[m].AsArray().back().AsString();
    Node& node = tree.nodes[tree.leaves[m].node];
    if (last == "text") node.faults.push_back({FaultKind::kNoAction, "", {}});
    if (last.starts_with("cut")) node.faults.push_back({FaultKind::kIncomplete, "", {0, 1}});
  }
}

// An answer that was cut off after it began is an answer to SimpleTIR; on Hone's record it is an
// action that was cut off, and void like others.
TEST(Authors, SimpleTirMasksVoidTurnsAfterTheStatistics) {
  int masked = 0, kept = 0, cut_answers = 0;
  for (const Json& one : AuthorsCases("simpletir")) {
    AuthorsBatch batch(one);
    const Json::Array& kinds = MemberOf(one, "kinds").AsArray();
    for (size_t g = 0; g < kinds.size(); ++g) AddSimpleTirFaults(kinds[g], &batch.groups[g]);
    const std::vector<Credit> credits = batch.Credits("simpletir");
    for (size_t g = 0; g < credits.size(); ++g) {
      const bool theirs_kept = TheirsOf(one, "kept").AsArray()[g].AsBool();
      EXPECT_EQ(!HasNote(credits[g], NoteKind::kGroupDropped), theirs_kept);
      for (size_t m = 0; m < batch.SizeOf(g); ++m) {
        const std::string& last = kinds[g].AsArray()[m].AsArray().back().AsString();
        const bool is_masked = HasNote(credits[g], NoteKind::kMasked, static_cast<int32_t>(m));
        const bool theirs = TheirsOf(one, "masked").AsArray()[g].AsArray()[m].AsBool();
        if (last == "cut answer") {
          EXPECT_FALSE(theirs);
          EXPECT_EQ(is_masked, theirs_kept);
          ++cut_answers;
          continue;
        }
        if (!theirs_kept) continue;
        EXPECT_EQ(is_masked, theirs) << last;
        const Json& advantage = TheirsOf(one, "advantages").AsArray()[g].AsArray()[m];
        // Nobody to compare with: there the reward as it is, here nothing.
        const bool nothing = theirs || !NotAlone(batch, g);
        EXPECT_TRUE(SameAsTheirs(credits[g].advantages[m].values, nothing ? Json(0) : advantage))
            << last << " " << DumpJson(advantage);
        (theirs ? masked : kept) += 1;
      }
    }
  }
  EXPECT_GE(masked, 40);
  EXPECT_GE(kept, 80);
  EXPECT_GE(cut_answers, 20);
}

TEST(Authors, SpearsBonusIsForCallsThatCouldBeRead) {
  Comparison comparison("advantages");
  for (const Json& one : AuthorsCases("spear")) {
    const AuthorsBatch batch(one);
    comparison.Case(one, batch,
                    batch.Credits(fmt::format("spear:step={},horizon={},keep=1",
                                              NumberOf(one, "step"), NumberOf(one, "horizon"))));
  }
  EXPECT_GE(comparison.compared(), 200u);
}

// SPEAR rounds the number of groups down, Hone up; SPEAR looks at rewards with the bonus, Hone
// without it.
TEST(Authors, SpearsFilterKeepsTheGroupsThatSpreadMost) {
  int compared = 0, bonus_matters = 0;
  for (const Json& one : AuthorsCases("spear")) {
    const AuthorsBatch batch(one);
    const std::vector<Credit> credits =
        batch.Credits(fmt::format("spear:step={},horizon={},keep={}", NumberOf(one, "step"),
                                  NumberOf(one, "horizon"), NumberOf(one, "keep")));
    const Json::Array& theirs = TheirsOf(one, "kept").AsArray();
    for (size_t g = 0; g < credits.size(); ++g, ++compared) {
      EXPECT_EQ(!HasNote(credits[g], NoteKind::kGroupDropped), theirs[g].AsBool()) << g;
    }
    if (!(TheirsOf(one, "kept") == TheirsOf(one, "kept-by-outcome"))) ++bonus_matters;
  }
  EXPECT_GE(compared, 100);
  EXPECT_GE(bonus_matters, 1);
}

// Rewards that are all equal but no power of two: there their deviation may come out above 0 by
// rounding, and the group stays.
TEST(Authors, DapoWithItsPenaltyOnLengthAndItsFilter) {
  Comparison comparison("advantages");
  int dropped = 0;
  for (const Json& one : AuthorsCases("dapo")) {
    const AuthorsBatch batch(one);
    const double longest = NumberOf(one, "longest"), cache = NumberOf(one, "cache");
    const std::vector<Credit> credits =
        batch.Credits(fmt::format("dapo:longest={},cache={}", longest, cache));
    std::vector<bool> kept;
    for (size_t g = 0; g < credits.size(); ++g) {
      kept.push_back(TheirsOf(one, "kept").AsArray()[g].AsBool());
      if (NotAlone(batch, g) && batch.OutcomesAreEqual(g)) kept[g] = false;
      EXPECT_EQ(!HasNote(credits[g], NoteKind::kGroupDropped), kept[g]);
      if (!kept[g]) ++dropped;
      const Group group = *GroupOf(batch.groups[g].record);
      for (size_t m = 0; m < batch.SizeOf(g); ++m) {
        const double theirs = TheirsOf(one, "rewards").AsArray()[g].AsArray()[m].AsDouble();
        const int32_t length = group.trajectories[m].length;
        EXPECT_TRUE(
            IsTheirs(batch.Outcome(g, m) + methods::SoftOverlong(length, longest, cache), theirs));
      }
    }
    comparison.Where([&](const AuthorsBatch&, size_t g) { return kept[g]; });
    comparison.Case(one, batch, credits);
  }
  EXPECT_GE(comparison.compared(), 200u);
  EXPECT_GE(dropped, 10);
}

}  // namespace
}  // namespace hone
