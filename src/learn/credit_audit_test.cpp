#include "learn/credit_audit.h"

#include <gtest/gtest.h>

#include "credit/methods.h"
#include "learn/step.h"
#include "rewards/compose.h"
#include "support/tiny_context.h"

namespace hone {
namespace {

// A batch that a policy drew which has seen enough to call and to answer, right and wrong.
class CreditAuditTest : public testing::Test {
 protected:
  CreditAuditTest() {
    EXPECT_TRUE(tiny_.Imitate(250).ok());
    StageContext& context = *tiny_.context;
    const auto curriculum =
        NewCurriculum({}, context.environment.tasks.get(), Rng(1).Split("curriculum")).value();
    const auto rewarder = RewarderFromJson("desk").value();
    const Rollout rollout =
        Rollout::New({.in_earnest = false}, context.environment.environment.get(),
                     context.PolicyAt(1, 0).value(), tiny_.recipe.rollout.strategy.get(),
                     context.real->executor())
            .value();
    PosedTasks posed =
        PoseTasks({.environment = &context.environment, .curriculum = curriculum.get()},
                  {.groups = 16, .leaves = 8, .scope = "audit", .rng = Rng(5)})
            .value();
    DrawnGroups drawn = DrawGroups(rollout, std::move(posed)).value();
    records_ = ScoreGroups({.rewarder = rewarder.get()}, std::move(drawn)).value().records;
    calls_ = CallsOf(records_).value();
    options_.engine = context.engine_options;
  }
  Result<CreditAudit> Audit(const std::string& method) const {
    return AuditCredit(NewMethod(method).value(), records_, calls_, tiny_.context->engine->model(),
                       options_);
  }
  int64_t Count(CallVerdict verdict, std::optional<bool> success = {}) const {
    return std::count_if(calls_.begin(), calls_.end(), [&](const AuditedCall& call) {
      return call.verdict == verdict && (!success || call.success == *success);
    });
  }

  TinyContext tiny_{{"environment.tasks.kinds=[\"clock\", \"day_after\"]", "model.fresh.layers=2",
                     "model.fresh.width=64", "stage.0.batch=16", "stage.0.learning_rate=0.01"}};
  std::vector<ScoredTree> records_;
  std::vector<AuditedCall> calls_;
  CreditAuditOptions options_;
};

TEST_F(CreditAuditTest, SharesAreOfTheCallsTheyName) {
  ASSERT_GT(calls_.size(), 20u);
  const std::string before = tiny_.context->engine->WeightsHash();
  const CreditAudit audit = Audit("grpo").value();
  EXPECT_EQ(audit.method, "grpo");
  EXPECT_EQ(audit.right_rose.calls, Count(CallVerdict::kRight, false));
  EXPECT_EQ(audit.wrong_fell.calls, Count(CallVerdict::kWrong, true));
  EXPECT_EQ(audit.needless_fell.calls, Count(CallVerdict::kNeedless));
  for (const AuditedShare& one : {audit.right_rose, audit.wrong_fell, audit.needless_fell}) {
    EXPECT_EQ(one.share.has_value(), one.calls > 0);
    if (!one.share) continue;
    EXPECT_LE(0, one.share->low);
    EXPECT_LE(one.share->low, one.share->value);
    EXPECT_LE(one.share->high, 1);
  }
  EXPECT_EQ(tiny_.context->engine->WeightsHash(), before) << "a copy is trained, not the model";
}

TEST_F(CreditAuditTest, IsAFunctionOfTheBatchTheMethodAndTheStep) {
  const CreditAudit once = Audit("toolpo").value(), again = Audit("toolpo").value();
  EXPECT_EQ(once.right_rose.share, again.right_rose.share);
  EXPECT_EQ(once.needless_fell.share, again.needless_fell.share);
  EXPECT_FALSE(Audit("igpo").ok()) << "the reward cannot feed it";
  EXPECT_FALSE(Audit("remax").ok()) << "no trajectory is greedy, so nobody earns anything";
  options_.optimizer.learning_rate = 0;
  const CreditAudit still = Audit("grpo").value();
  ASSERT_TRUE(still.right_rose.share);
  EXPECT_EQ(still.right_rose.share->high, 0) << "no step moves nothing";
}

Call Made(const std::string& name, Json arguments) {
  Call call;
  call.name = name;
  call.arguments = std::move(arguments);
  return call;
}

// One trajectory with these calls, each in a turn of one token, of a task with one gold call.
ScoredTree Asked(const std::vector<Call>& calls, Json gold) {
  ScoredTree record;
  record.tree.task.id = "t";
  record.tree.task.reward = Json::Of({{"calls", std::move(gold)}});
  record.tree.nodes.push_back({.author = Author::kUser, .tokens = {1}});
  for (const Call& call : calls) {
    Node node{.parent = static_cast<NodeId>(record.tree.nodes.size()) - 1,
              .author = Author::kPolicy,
              .tokens = {2},
              .logprobs = {-0.5f},
              .entropies = {0.1f}};
    node.calls = {call};
    node.calls[0].span = {0, 1};
    record.tree.nodes.push_back(std::move(node));
  }
  record.tree.leaves.push_back({.node = static_cast<NodeId>(record.tree.nodes.size()) - 1,
                                .final_state = Json::Of({{"verdict", true}})});
  return record;
}

TEST(CallVerdict, IsByTheGoldCallsOfTheTask) {
  const Json gold =
      Json::Array{Json::Of({{"name", "weather"}, {"arguments", Json::Of({{"city", "Oslo"}})}})};
  const Call right = Made("weather", Json::Of({{"city", "Oslo"}}));
  const Call elsewhere = Made("weather", Json::Of({{"city", "Rome"}}));
  const Call other = Made("clock", Json::Of({{"city", "Oslo"}}));
  const auto calls = CallsOf({{Asked({other, elsewhere, right, right}, gold)}}).value();
  ASSERT_EQ(calls.size(), 4u);
  EXPECT_EQ(calls[0].verdict, CallVerdict::kWrong);
  EXPECT_EQ(calls[1].verdict, CallVerdict::kWrong);
  EXPECT_EQ(calls[2].verdict, CallVerdict::kRight);
  EXPECT_EQ(calls[3].verdict, CallVerdict::kNeedless) << "a right call made once more";
  EXPECT_TRUE(calls[0].success);
  EXPECT_DOUBLE_EQ(calls[0].before, -0.5);
  const auto none = CallsOf({{Asked({right}, Json::Array())}}).value();
  ASSERT_EQ(none.size(), 1u);
  EXPECT_EQ(none[0].verdict, CallVerdict::kNeedless);
}

// Behind a wrong call the right ones are not those of the plan: the environment says which they
// are.
TEST(CallVerdict, IsTheEnvironmentsWhereItJudgesCalls) {
  const Json gold = Json::Array{Json::Of({{"name", "op"}, {"arguments", Json::Of({{"c", "a"}})}}),
                                Json::Of({{"name", "op"}, {"arguments", Json::Of({{"c", "b"}})}})};
  ScoredTree record =
      Asked({Made("op", Json::Of({{"c", "x"}})), Made("op", Json::Of({{"c", "y"}}))}, gold);
  record.tree.leaves[0].final_state.Set("call_scores", Json::Array{0, 1});
  const auto calls = CallsOf({{record}}).value();
  ASSERT_EQ(calls.size(), 2u);
  EXPECT_EQ(calls[0].verdict, CallVerdict::kWrong);
  EXPECT_EQ(calls[1].verdict, CallVerdict::kRight);
}

}  // namespace
}  // namespace hone
