// The test vectors of the published methods that concern credit, each to 1e-5.

#include <gtest/gtest.h>

#include "credit/gae.h"
#include "credit/methods/dapo.h"
#include "credit/methods/spear.h"
#include "support/credit_groups.h"

namespace hone {
namespace {

std::vector<double> Of(const std::string& method, const std::vector<std::string>& outcomes) {
  return Firsts(CreditOf(method, GroupOfPlain(outcomes)).advantages);
}

TEST(Vectors, GrpoAndItsRelatives) {
  const double a = 0.866024;
  for (const char* name : {"grpo", "dapo", "tapo", "arpo-soft", "arpo-hard", "simpletir"}) {
    SCOPED_TRACE(name);
    ExpectNear(Of(name, {"1", "0", "0", "1"}), {a, -a, -a, a});
    ExpectNear(Of(name, {"1", "1", "1", "0"}), {0.499999, 0.499999, 0.499999, -1.499997});
  }
  ExpectNear(Of("dr-grpo", {"1", "0", "0", "1"}), {0.5, -0.5, -0.5, 0.5});
  for (const char* name : {"rloo", "loop"}) {
    ExpectNear(Of(name, {"1", "0", "0", "1"}), {0.666667, -0.666667, -0.666667, 0.666667});
  }
}

TEST(Vectors, PassAtK) { ExpectNear(Of("pass-at-k", {"0.2", "0.9", "0.5"}), {0, 1.138986, 0}); }

TEST(Vectors, Opo) {
  const Credit credit = CreditOf(
      "opo", "{\"group\":[" + Plain("1", 10) + "," + Plain("0", 30) + "," + Plain("1", 20) + "]}");
  ExpectNear(Firsts(credit.advantages), {0.5, -0.5, 0.5});
}

TEST(Vectors, GaeSkipsWhatThePolicyDidNotWrite) {
  const Credit credit = CreditOf("gae-token:lambda=0.95,whiten=no", R"({"group":[{
      "terms":{"outcome":1},"turns":[
        {"tokens":2,"values":[0.1,0.2]},{"author":"tool","tokens":1},
        {"tokens":2,"values":[0.3,0.4]}]}]})");
  ASSERT_EQ(credit.advantages.size(), 1u);
  const std::vector<float>& values = credit.advantages[0].values;
  ExpectNear({values.begin(), values.end()}, {0.799675, 0.7365, 0.67, 0.6});
}

TEST(Vectors, ToolPo) {
  auto member = [](int outcome, std::vector<int> calls) {
    std::string spans;
    for (size_t c = 0; c < calls.size(); ++c) {
      spans += (c > 0 ? "," : "") + ("{\"begin\":" + std::to_string(1 + 2 * c) +
                                     ",\"end\":" + std::to_string(3 + 2 * c) +
                                     ",\"terms\":{\"call\":" + std::to_string(calls[c]) + "}}");
    }
    return "{\"terms\":{\"outcome\":" + std::to_string(outcome) +
           "},\"turns\":[{\"tokens\":6,\"author\":\"policy\",\"calls\":[" + spans + "]}]}";
  };
  const Credit credit =
      CreditOf("toolpo", "{\"group\":[" + member(1, {1, 1}) + "," + member(0, {1, 0}) + "," +
                             member(1, {0, 0}) + "," + member(0, {0, 1}) + "]}");
  std::vector<double> plain, action;
  for (const Advantages& one : credit.advantages) {
    plain.push_back(one.values[0]);
    plain.push_back(one.values[5]);
    for (int t = 1; t < 5; ++t) action.push_back(one.values[t]);
  }
  ExpectNear(plain, {0.5, 0.5, -0.5, -0.5, 0.5, 0.5, -0.5, -0.5});
  ExpectNear(action, {1.5, 1.5, 1.5, 1.5, -0.5, -0.5, -0.5, -0.5, -0.5, -0.5, -0.5, -0.5, -0.5,
                      -0.5, -0.5, -0.5});
}

TEST(Vectors, TheWarningOfTheMethodPage) {
  // R = 1,0,0,0 and four right calls: added channels take 0.25 from a failed sibling's right call.
  std::string members;
  for (const char* outcome : {"1", "0", "0", "0"}) {
    members += std::string(members.empty() ? "" : ",") + "{\"terms\":{\"outcome\":" + outcome +
               "},\"turns\":[{\"tokens\":3,\"calls\":[{\"begin\":1,\"end\":3,\"terms\":{\"call\":1}"
               "}]}]}";
  }
  const std::string group = "{\"group\":[" + members + "]}";
  EXPECT_NEAR(CreditOf("toolpo", group).advantages[1].values[1], -0.25, 1e-6);
  const Credit split = CreditOf("toolpo-split", group);
  EXPECT_EQ(split.advantages[1].values[1], 0);
  EXPECT_NEAR(split.advantages[1].values[0], -0.25, 1e-6);
}

TEST(Vectors, SoftOverlong) {
  EXPECT_NEAR(methods::SoftOverlong(16000, 20480, 4096), 0, 1e-9);
  EXPECT_NEAR(methods::SoftOverlong(18432, 20480, 4096), -0.5, 1e-9);
  EXPECT_NEAR(methods::SoftOverlong(20480, 20480, 4096), -1, 1e-9);
  EXPECT_NEAR(methods::SoftOverlong(1e9, 20480, 4096), -1, 1e-9);
}

TEST(Vectors, Hdpo) {
  // Tool turns 0, 1, 2, 3: each call in a turn of its own.
  auto member = [](int outcome, int turns) {
    std::string text =
        "{\"terms\":{\"outcome\":" + std::to_string(outcome) + ",\"format\":1},\"turns\":[";
    for (int t = 0; t < turns; ++t) {
      text +=
          "{\"tokens\":2,\"calls\":[{\"begin\":0,\"end\":2}]},{\"author\":\"tool\",\"tokens\":1},";
    }
    return text + "{\"tokens\":2}]}";
  };
  const Credit credit = CreditOf("hdpo:tool=1",
                                 "{\"group\":[" + member(1, 0) + "," + member(1, 1) + "," +
                                     member(0, 2) + "," + member(1, 3) + "]}",
                                 /*layers=*/true);
  ASSERT_EQ(credit.layers.size(), 2u);
  ExpectNear(Firsts(credit.layers[0].advantages), {0.499999, 0.499999, -1.499997, 0.499999});
  ExpectNear(Firsts(credit.layers[1].advantages), {1.091087, -0.218217, 0, -0.872869});
  EXPECT_TRUE(HasNote(credit, NoteKind::kGated, 2));
}

TEST(Vectors, Aspo) {
  auto member = [](int outcome, int first_call, int length) {
    std::string calls;
    if (first_call >= 0) {
      calls = ",\"calls\":[{\"begin\":" + std::to_string(first_call) +
              ",\"end\":" + std::to_string(first_call + 2) + "}]";
    }
    return "{\"terms\":{\"outcome\":" + std::to_string(outcome) +
           "},\"turns\":[{\"tokens\":" + std::to_string(length) + calls + "}]}";
  };
  const Credit credit =
      CreditOf("aspo", "{\"group\":[" + member(1, 100, 600) + "," + member(1, 300, 1000) + "," +
                           member(1, -1, 500) + "," + member(0, 5, 50) + "]}");
  ExpectNear(Firsts(credit.advantages), {0.75, 0.25, 0.5, -1.5}, 1e-5);
}

TEST(Vectors, TreeGrpo) {
  // Two first turns, three leaves under each.
  ScoredTree record;
  record.tree.task.id = "t";
  auto node = [&](NodeId parent, Author author) {
    Node made;
    made.parent = parent;
    made.author = author;
    made.tokens = {1};
    if (author == Author::kPolicy) made.logprobs = {0}, made.entropies = {0};
    record.tree.nodes.push_back(made);
    return static_cast<NodeId>(record.tree.nodes.size()) - 1;
  };
  const NodeId root = node(kNoNode, Author::kSystem);
  int32_t leaf = 0;
  for (const auto& rewards : {std::vector<double>{1, 0, 0}, std::vector<double>{1, 1, 0}}) {
    const NodeId result = node(node(root, Author::kPolicy), Author::kTool);
    for (const double reward : rewards) {
      record.tree.leaves.push_back({node(result, Author::kPolicy), Ending::kAnswered, {}, {}});
      record.scores.push_back({leaf++, {{"outcome", reward, 1, kNoNode, {}}}});
    }
  }
  const Result<Credit> credit = AssignCredit(*NewMethod("tree-grpo"), record);
  ASSERT_TRUE(credit.ok());
  ExpectNear(Firsts(credit->advantages),
             {2.067568, -1.490219, -1.490219, 1.490219, 1.490219, -2.067568});
}

TEST(Vectors, GdpoBeforeTheBatchNorm) {
  std::string members;
  for (const auto& [first, second] :
       std::vector<std::pair<int, int>>{{1, 1}, {0, 1}, {1, 0}, {0, 0}}) {
    members += std::string(members.empty() ? "" : ",") +
               "{\"terms\":{\"outcome\":" + std::to_string(first) +
               ",\"preference\":" + std::to_string(second) + "},\"turns\":[{\"tokens\":2}]}";
  }
  const Credit credit = CreditOf("gdpo:batch_norm=no", "{\"group\":[" + members + "]}");
  ExpectNear(Firsts(credit.advantages), {1.732048, 0, 0, -1.732048});
}

TEST(Vectors, SpearSchedules) {
  const double steps[] = {0, 50, 100, 200, 250}, bonus[] = {1, 0.853553, 0.5, 0, 0},
               replay[] = {0, 0.146447, 0.5, 1, 1};
  for (int i = 0; i < 5; ++i) {
    EXPECT_NEAR(methods::SpearBonus(steps[i], 200), bonus[i], 1e-5);
    EXPECT_NEAR(methods::SpearReplayWeight(steps[i], 200), replay[i], 1e-5);
  }
}

}  // namespace
}  // namespace hone
