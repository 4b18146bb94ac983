#include "dash/dash_trees.h"

#include <gtest/gtest.h>

#include "base/file.h"
#include "support/random_record.h"
#include "support/tree_maker.h"

namespace hone {
namespace {

// A group of two: one calls the weather and answers, the other fails at a tool and gives up.
ScoredTree Group(const std::string& task, const std::string& request, double first, double second) {
  TreeMaker maker;
  maker.tree.task.id = task;
  maker.tree.task.messages =
      Json::ArrayOf(std::vector<Json>{Json::Of({{"role", "user"}, {"content", request}})});
  maker.Begin().Call("weather", R"({"city": "Paris"})").Answer("Rain");
  maker.Begin()
      .Call("search", "{}", CallStatus::kToolError, "broken pipe", Blame::kTool)
      .End(Ending::kTurnLimit, Json(), Blame::kNone);
  ScoredTree record{.tree = maker.tree, .scores = {}, .advantages = {}};
  const NodeId call = 1;  // the first turn of the first trajectory
  record.scores = {
      {0,
       {{.name = "outcome", .value = first},
        {.name = "call", .value = 0.5, .weight = 2, .node = call, .span = Span{2, 8}}}},
      {1, {{.name = "outcome", .value = second}}}};
  record.advantages = {{0, std::vector<float>(15, 0.7f)}, {1, std::vector<float>(10, -0.3f)}};
  return record;
}

class DashTreesTest : public testing::Test {
 protected:
  void SetUp() override {
    store_ = *RunStore::Open(directory_.path() / "store.sqlite");
    for (int64_t step = 0; step < 10; ++step) {
      const bool odd = step % 2 == 1;
      ASSERT_TRUE(
          store_
              ->AddTree(step, Group("task-" + std::to_string(step),
                                    odd ? "How cold is Öslo?" : "Is it WARM?", odd ? 1 : 0, -1))
              .ok());
    }
  }

  std::vector<int64_t> Steps(const GroupFilter& filter, GroupPage page = {}) {
    std::vector<int64_t> steps;
    const Json list = *ListGroups(*store_, filter, page);
    for (const Json& group : list.Find("groups")->AsArray()) {
      steps.push_back(group.Find("step")->AsInteger());
    }
    return steps;
  }

  const TemporaryDirectory directory_;
  std::unique_ptr<RunStore> store_;
};

TEST_F(DashTreesTest, ListsWhatAGroupIsAbout) {
  const Json list = *ListGroups(*store_, {}, {.limit = 1});
  const Json& group = list.Find("groups")->AsArray()[0];
  EXPECT_EQ(group.Find("step")->AsInteger(), 10);
  EXPECT_EQ(group.Find("task")->AsString(), "task-9");
  EXPECT_EQ(group.Find("request")->AsString(), "How cold is Öslo?");
  EXPECT_EQ(DumpJson(*group.Find("rewards")), "[2.0,-1.0]");
  EXPECT_EQ(DumpJson(*group.Find("endings")), R"(["answered","turn_limit"])");
  EXPECT_EQ(DumpJson(*group.Find("tools")), R"(["search","weather"])");
  EXPECT_EQ(group.Find("faults")->AsInteger(), 1);
  EXPECT_TRUE(list.Find("next")->is_object());
}

TEST_F(DashTreesTest, PagesFollowEachOther) {
  std::vector<int64_t> steps;
  GroupPage page{.newest_first = false, .behind = {}, .limit = 3};
  for (int i = 0; i < 10; ++i) {
    const Json list = *ListGroups(*store_, {.differing = true}, page);
    for (const Json& group : list.Find("groups")->AsArray()) {
      steps.push_back(group.Find("step")->AsInteger());
    }
    const Json* next = list.Find("next");
    if (next->is_null()) break;
    page.behind =
        RunStore::TreePlace{next->Find("step")->AsInteger(), next->Find("id")->AsInteger()};
  }
  EXPECT_EQ(steps, (std::vector<int64_t>{1, 2, 3, 4, 5, 6, 7, 8, 9, 10}));
}

TEST_F(DashTreesTest, FiltersLeaveWhatFits) {
  const std::vector<int64_t> odd = {10, 8, 6, 4, 2};
  EXPECT_EQ(Steps({.text = "öslo"}), std::vector<int64_t>());  // bytes, but for ASCII's case
  EXPECT_EQ(Steps({.text = "COLD"}), odd);
  EXPECT_EQ(Steps({.text = "task-3"}), std::vector<int64_t>{4});
  EXPECT_EQ(Steps({.text = "weath"}).size(), 10u);
  EXPECT_EQ(Steps({.tool = "weather"}).size(), 10u);
  EXPECT_TRUE(Steps({.tool = "weath"}).empty());
  EXPECT_EQ(Steps({.ending = "turn_limit"}).size(), 10u);
  EXPECT_TRUE(Steps({.ending = "budget"}).empty());
  EXPECT_EQ(Steps({.faults = true}).size(), 10u);
  EXPECT_EQ(Steps({.least_reward = 0.4}), odd);
  EXPECT_EQ(Steps({.first_step = 3, .last_step = 4}), (std::vector<int64_t>{4, 3}));
}

TEST_F(DashTreesTest, AGroupHasEveryTokenWithItsCreditByChannel) {
  const ScoredTree record = *store_->ReadTree(10);
  const Json group = GroupToJson(record, nullptr, CreditOf(record, "toolpo", 0));
  EXPECT_EQ(group.Find("task")->Find("request")->AsString(), "How cold is Öslo?");
  const Json::Array& nodes = group.Find("nodes")->AsArray();
  ASSERT_EQ(nodes.size(), record.tree.nodes.size());
  EXPECT_EQ(nodes[1].Find("author")->AsString(), "policy");
  EXPECT_EQ(nodes[1].Find("tokens")->AsArray().size(), 10u);
  EXPECT_EQ(DumpJson(nodes[1].Find("calls")->AsArray()[0]),
            R"({"name":"weather","arguments":{"city":"Paris"},"span":[2,8]})");
  const Json& failed = nodes[5].Find("results")->AsArray()[0];
  EXPECT_EQ(failed.Find("status")->AsString(), "tool_error");
  EXPECT_EQ(failed.Find("blame")->AsString(), "tool");
  EXPECT_EQ(failed.Find("content")->AsString(), "broken pipe");
  const Json& leaf = group.Find("leaves")->AsArray()[0];
  EXPECT_EQ(leaf.Find("reward")->AsDouble(), 2);
  EXPECT_EQ(leaf.Find("credit")->AsArray().size(), 15u);
  EXPECT_EQ(leaf.Find("terms")->AsArray()[1].Find("node")->AsInteger(), 1);
  EXPECT_EQ(DumpJson(*leaf.Find("path")), "[0,1,2,3]");
  const Json* credit = group.Find("credit");
  EXPECT_EQ(credit->Find("problem"), nullptr);
  EXPECT_FALSE(credit->Find("same")->AsBool());  // the record's credit is made up
  ASSERT_GE(credit->Find("layers")->AsArray().size(), 2u);
  // Layers add up to the sum, token by token.
  for (size_t i = 0; i < 2; ++i) {
    const Json::Array& sum = credit->Find("leaves")->AsArray()[i].AsArray();
    for (size_t t = 0; t < sum.size(); ++t) {
      double total = 0;
      for (const Json& layer : credit->Find("layers")->AsArray()) {
        total += layer.Find("leaves")->AsArray()[i].AsArray()[t].AsDouble();
      }
      EXPECT_NEAR(total, sum[t].AsDouble(), 1e-3);
    }
  }
}

TEST_F(DashTreesTest, SaysWhetherTheChannelsAddUpToWhatWasTrainedWith) {
  ScoredTree record = *store_->ReadTree(10);
  const GroupCredit credit = CreditOf(record, "toolpo", 0);
  ASSERT_TRUE(credit.credit);
  record.advantages = credit.credit->advantages;
  EXPECT_TRUE(GroupToJson(record, nullptr, credit).Find("credit")->Find("same")->AsBool());
}

TEST_F(DashTreesTest, CreditThatCannotBeGivenSaysWhy) {
  ScoredTree record = *store_->ReadTree(1);
  EXPECT_NE(CreditOf(record, "tolpo", 0).problem.find("toolpo"), std::string::npos);
  record.scores.clear();
  EXPECT_EQ(CreditOf(record, "toolpo", 0).problem, "the group has no rewards");
  EXPECT_NE(
      GroupToJson(record, nullptr, CreditOf(record, "toolpo", 0)).Find("credit")->Find("problem"),
      nullptr);
}

TEST(DashTreesTextTest, ThoughtsAreToldWhereThereAreAny) {
  ScoredTree record = Group("t", "?", 1, 0);
  const auto first_turn = [&] {
    const Json group = GroupToJson(record, nullptr, CreditOf(record, "grpo", 0));
    return group.Find("nodes")->AsArray()[1];
  };
  EXPECT_EQ(first_turn().Find("thoughts"), nullptr);
  record.tree.nodes[1].thoughts = {{0, 2}};
  record.tree.nodes[1].closed_thoughts = 1;
  EXPECT_EQ(DumpJson(*first_turn().Find("thoughts")), "[[0,2]]");
  EXPECT_EQ(*first_turn().Find("closed_thoughts"), Json(1));
}

TEST(DashTreesTextTest, AnyRecordCanBeShown) {
  for (uint64_t seed = 0; seed < 200; ++seed) {
    const ScoredTree record = RandomRecord(Rng(seed));
    const std::string text = DumpJson(GroupToJson(record, nullptr, CreditOf(record, "grpo", 0)));
    EXPECT_TRUE(ParseJson(text).ok()) << seed;
  }
}

}  // namespace
}  // namespace hone
