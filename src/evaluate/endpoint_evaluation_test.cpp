#include "evaluate/endpoint_evaluation.h"

#include <atomic>
#include <set>

#include <gtest/gtest.h>

#include "base/mutex.h"
#include "evaluate/played_tree.h"
#include "rollout/demonstration.h"
#include "support/desk_policy.h"
#include "tools/modes.h"

namespace hone {
namespace {

// Says what a function says; counts what it was asked.
class FunctionChat final : public ChatModel {
 public:
  using Function = std::function<ChatTurn(const ChatRequest&, int64_t number)>;
  explicit FunctionChat(Function function) : function_(std::move(function)) {}
  const std::string& name() const override { return name_; }
  ModelAccount account() const override { return {}; }
  ChatTurn Complete(const ChatRequest& request) override { return function_(request, asked_++); }
  int64_t asked() const { return asked_; }

 private:
  const std::string name_ = "scripted";
  const Function function_;
  std::atomic<int64_t> asked_ = 0;
};

ChatTurn Says(const std::string& text) {
  ChatTurn turn;
  turn.text = text;
  turn.usage = {20, 3};
  return turn;
}

ChatTurn Fails(const std::string& problem) {
  ChatTurn turn;
  turn.status = CompletionStatus::kUnavailable;
  turn.problem = problem;
  return turn;
}

class EndpointEvaluationTest : public testing::Test {
 protected:
  EndpointEvaluationTest()
      : desk_(NewBuiltIn("desk").value()),
        timeline_(NewRealTimeline()),
        executor_(OptionsFor({}, *desk_.environment->tools(), timeline_.get()).value(),
                  timeline_.get()),
        caller_(&executor_) {}

  EndpointPlayer Player(ChatModel* model) {
    return {&desk_, &caller_, model, {.at_once = 3, .most_failures = 4}};
  }

  const LoadedEnvironment desk_;
  const std::unique_ptr<Timeline> timeline_;
  Executor executor_;
  Caller caller_;
};

TEST_F(EndpointEvaluationTest, PlaysTheTasksOfTheSplitWithTheToolsShown) {
  Mutex mutex;
  std::set<size_t> tools;
  FunctionChat chat([&](const ChatRequest& request, int64_t) {
    MutexLock lock(mutex);
    tools.insert(request.tools.AsArray().size());
    return Says("none");
  });
  int64_t last = 0;
  const auto found = Player(&chat).Evaluate(
      {.split = Split::kDev, .tasks = 20, .progress = [&](int64_t ended, int64_t all) {
         last = ended;
         EXPECT_EQ(all, 20);
       }});
  ASSERT_TRUE(found.ok()) << found.error().message();
  EXPECT_EQ(found->tasks, 20);
  EXPECT_EQ(last, 20);
  EXPECT_EQ(found->Broken(), 0);
  EXPECT_EQ(tools, std::set<size_t>{VisibleTools(*desk_.environment).AsArray().size()})
      << "the desk lists none, and whoever comes from elsewhere must see them";
  for (size_t i = 0; i < 20; ++i) {
    EXPECT_EQ(found->measures[i].task, desk_.tasks->Make(Split::kDev, i).id);
    EXPECT_EQ(found->measures[i].calls, 0);
    EXPECT_EQ(found->measures[i].tokens, 3);
    EXPECT_TRUE(found->measures[i].success.has_value());
  }
}

TEST_F(EndpointEvaluationTest, CallsThatTheServerDidNotReadAreCounted) {
  FunctionChat chat([](const ChatRequest&, int64_t number) {
    return Says(number % 2 == 0 ? "[TOOL_CALLS]clock[ARGS]{}" : "none");
  });
  const auto found = Player(&chat).Evaluate({.split = Split::kDev, .tasks = 6});
  ASSERT_TRUE(found.ok()) << found.error().message();
  EXPECT_EQ(found->counts.unread_calls, 3);
  const Json json = found->ToJson();
  EXPECT_EQ(json.Find("unread_calls")->AsInteger(), 3);
  EXPECT_NE(json.Find("unread_note")->AsString().find("a call of clock in the format mistral"),
            std::string::npos);
}

TEST_F(EndpointEvaluationTest, AnEndpointsFailureIsNotTheAgents) {
  FunctionChat chat([](const ChatRequest&, int64_t number) {
    return number % 3 == 2 ? Fails("503: busy") : Says("none");
  });
  const auto found = Player(&chat).Evaluate({.split = Split::kDev, .tasks = 9});
  ASSERT_TRUE(found.ok()) << found.error().message();
  EXPECT_EQ(found->Broken(), 3);
  const std::string outcomes = found->ToJson().Find("outcomes")->AsString();
  EXPECT_EQ(std::count(outcomes.begin(), outcomes.end(), '-'), 3) << outcomes;

  FunctionChat too_long([](const ChatRequest&, int64_t number) {
    return number == 1 ? Fails(R"({"code": "context_length_exceeded"})") : Says("none");
  });
  const auto counted = Player(&too_long).Evaluate({.split = Split::kDev, .tasks = 4});
  ASSERT_TRUE(counted.ok());
  EXPECT_EQ(counted->Broken(), 0) << "a context that is too short is the model's own";
}

TEST_F(EndpointEvaluationTest, NobodyThereIsAnErrorAtOnceAndAfterAWhile) {
  FunctionChat wrong_key([](const ChatRequest&, int64_t) { return Fails("401: wrong key"); });
  const auto none = Player(&wrong_key).Evaluate({.split = Split::kDev, .tasks = 9});
  ASSERT_FALSE(none.ok());
  EXPECT_NE(none.error().message().find("scripted cannot be asked: 401: wrong key"),
            std::string::npos);
  EXPECT_EQ(wrong_key.asked(), 1);

  FunctionChat dies([](const ChatRequest&, int64_t number) {
    return number < 3 ? Says("none") : Fails("connection refused");
  });
  const auto left = Player(&dies).Evaluate({.split = Split::kDev, .tasks = 500});
  ASSERT_FALSE(left.ok());
  // Four, or those that other threads had under way by then.
  EXPECT_NE(left.error().message().find("episodes in a row without an answer"), std::string::npos)
      << left.error().message();
  EXPECT_LT(dies.asked(), 100);  // of 500: those under way on other threads still ask
}

TEST_F(EndpointEvaluationTest, AnEpisodeWithoutTokensIsMeasuredAsOneWithThem) {
  DeskPolicy desk({.tasks = 12});
  for (size_t i = 0; i < desk.tasks().size(); ++i) {
    const Playthrough& played = desk.demonstrations()[i];
    const Tree bare = PlayedTree(desk.tasks()[i], 1, played);
    const Tree whole = DemonstrationTree(desk.codec(), desk.tasks()[i], 1, played).value();
    Measures here = MeasureTree(bare).value().at(0), there = MeasureTree(whole).value().at(0);
    EXPECT_EQ(here.tokens, 0);
    there.tokens = 0;
    EXPECT_EQ(here, there);
    EXPECT_EQ(here.success, true);
  }
}

}  // namespace
}  // namespace hone
