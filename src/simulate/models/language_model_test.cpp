#include "simulate/models/language_model.h"

#include <gtest/gtest.h>

#include <atomic>
#include <thread>

#include "base/file.h"
#include "support/scripted_toolkit.h"

namespace hone {
namespace {

using std::chrono::milliseconds;
using std::chrono::seconds;

// A model that says what a function of the test makes of the last message.
class ModelTest : public testing::Test {
 protected:
  std::unique_ptr<LanguageModel> Model(ScriptedToolkit::Function function,
                                       LanguageModelOptions options = {}) {
    auto kit = std::make_shared<ScriptedToolkit>();
    kit->Add(CompleteSpec(), [this, function = std::move(function)](const Json& arguments,
                                                                    const CallLimits& limits) {
      ++asked_;
      return function(arguments, limits);
    });
    options.name = "scripted";
    return NewLanguageModel(kit, std::move(options), NewVirtualTimeline()).value();
  }
  static CompletionRequest Say(std::string text, uint64_t seed = 0) {
    return {.messages = {{"user", std::move(text)}}, .max_tokens = 20, .seed = seed};
  }
  static ToolReply Echo(const Json& arguments, const CallLimits&) {
    const CompletionRequest request = CompletionRequestOf(arguments);
    return Answered(CompleteAnswer(request.messages[0].content + "!", false, TokenUsage{30, 10}));
  }

  std::atomic<int> asked_ = 0;
};

TEST_F(ModelTest, ACompletionHasTextUsageAndPrice) {
  const auto model = Model(Echo, {.prompt_price = 1e6, .completion_price = 2e6});
  const Completion completion = model->Complete(Say("hi"));
  EXPECT_EQ(completion.status, CompletionStatus::kOk);
  EXPECT_EQ(completion.text, "hi!");
  EXPECT_EQ(completion.usage, (TokenUsage{30, 10}));
  EXPECT_EQ(model->account().money, 50);
  EXPECT_EQ(model->account().completions, 1);
}

TEST_F(ModelTest, TheSameRequestIsAskedOnceAndAnotherSeedIsAnotherSample) {
  const auto model = Model(Echo);
  model->Complete(Say("hi"));
  model->Complete(Say("hi"));
  EXPECT_EQ(asked_, 1);
  model->Complete(Say("hi", 1));
  EXPECT_EQ(asked_, 2);
}

TEST_F(ModelTest, FaultsOfTheModelAreRetriedAndThenTyped) {
  int failures = 0;
  const auto model = Model(
      [&](const Json& arguments, const CallLimits& limits) {
        return ++failures <= 2 ? Unavailable("busy") : Echo(arguments, limits);
      },
      {.limits = {.retries = 2}});
  EXPECT_EQ(model->Complete(Say("hi")).text, "hi!");
  const auto broken = Model([](const Json&, const CallLimits&) { return Unavailable("busy"); },
                            {.limits = {.retries = 1}});
  const Completion completion = broken->Complete(Say("hi"));
  EXPECT_EQ(completion.status, CompletionStatus::kUnavailable);
  EXPECT_EQ(completion.problem, "unavailable: busy");
  EXPECT_EQ(broken->account().failures, 1);
}

TEST_F(ModelTest, ABudgetIsATypedStopAndIsNeverExceeded) {
  // A request sets aside at most 2 + 4 + 16 + 16 tokens of prompt and 20 of completion.
  const auto by_tokens = Model(Echo, {.max_tokens = 100});
  EXPECT_EQ(by_tokens->Complete(Say("hi")).status, CompletionStatus::kOk);  // 40 used
  EXPECT_EQ(by_tokens->Complete(Say("ho")).status, CompletionStatus::kOk);  // 80 used
  const Completion stopped = by_tokens->Complete(Say("hu"));
  EXPECT_EQ(stopped.status, CompletionStatus::kBudget);
  EXPECT_NE(stopped.problem.find("at most 100"), std::string::npos) << stopped.problem;
  EXPECT_EQ(asked_, 2);
  EXPECT_EQ(by_tokens->account().refused, 1);
  const auto by_money = Model(Echo, {.prompt_price = 1e6, .max_money = 60});
  EXPECT_EQ(by_money->Complete(Say("hi")).status, CompletionStatus::kOk);  // 30 spent
  EXPECT_EQ(by_money->Complete(Say("ho")).status, CompletionStatus::kBudget);
}

TEST_F(ModelTest, AServerThatDoesNotCountIsChargedTheMost) {
  const auto silent =
      Model([](const Json&, const CallLimits&) { return Answered(CompleteAnswer("x", false, {})); },
            {.prompt_price = 1e6, .max_money = 60});
  EXPECT_EQ(silent->Complete(Say("hi")).status, CompletionStatus::kOk);
  EXPECT_EQ(silent->account().money, 2 + 4 + 16 + 16);
  EXPECT_EQ(silent->Complete(Say("ho")).status, CompletionStatus::kBudget);
}

TEST_F(ModelTest, WhatIsRecordedIsNotPaidTwiceAndServesOffline) {
  const TemporaryDirectory directory;
  const std::shared_ptr<Journal> journal = Journal::Open(directory.path() / "j.sqlite").value();
  EXPECT_EQ(Model(Echo, {.journal = journal})->Complete(Say("hi")).text, "hi!");
  const auto again = Model(Echo, {.max_tokens = 1, .journal = journal});
  const Completion recorded = again->Complete(Say("hi"));
  EXPECT_EQ(recorded.text, "hi!");
  EXPECT_TRUE(recorded.recorded);
  EXPECT_EQ(again->account().recorded, 1);
  EXPECT_EQ(asked_, 1);
  const auto offline = Model(Echo, {.journal = journal, .offline = true});
  EXPECT_EQ(offline->Complete(Say("hi")).text, "hi!");
  EXPECT_EQ(offline->Complete(Say("ho")).status, CompletionStatus::kUnavailable);
  EXPECT_EQ(asked_, 1);
}

TEST_F(ModelTest, AFailureOfAnEarlierRunIsTriedAgain) {
  const TemporaryDirectory directory;
  const std::shared_ptr<Journal> journal = Journal::Open(directory.path() / "j.sqlite").value();
  auto fail = [](const Json&, const CallLimits&) { return Unavailable("busy"); };
  const LanguageModelOptions options{.limits = {.retries = 0}, .journal = journal};
  EXPECT_EQ(Model(fail, options)->Complete(Say("hi")).status, CompletionStatus::kUnavailable);
  EXPECT_EQ(Model(fail, options)->Complete(Say("hi")).status, CompletionStatus::kUnavailable);
  EXPECT_EQ(Model(Echo, options)->Complete(Say("hi")).text, "hi!");
  EXPECT_EQ(asked_, 3);
  EXPECT_EQ(Model(fail, options)->Complete(Say("hi")).text, "hi!");
}

}  // namespace
}  // namespace hone
