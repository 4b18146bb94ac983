#include "simulate/journaled_calls.h"

#include <gtest/gtest.h>

#include "base/file.h"
#include "support/scripted_toolkit.h"
#include "tools/modes.h"

namespace hone {
namespace {

Json J(std::string_view text) { return ParseJson(text).value(); }

std::shared_ptr<const Toolbox> Shop() {
  auto kit = std::make_shared<ScriptedToolkit>();
  auto address = std::make_shared<std::string>("Rome");
  const Json order = J(R"({"type": "object", "required": ["order_id"],
      "properties": {"order_id": {"type": "string"}}})");
  kit->Add({.name = "get_order", .parameters = order, .resource = "orders"},
           [address](const Json& arguments, const CallLimits&) {
             if (*arguments.Find("order_id") == Json("9")) return Refuted(R"({"error":"no"})");
             return Answered(DumpJson(Json::Of({{"address", *address}})));
           });
  kit->Add({.name = "move_order",
            .parameters = J(R"({"type": "object"})"),
            .effect = Effect::kWrites,
            .resource = "orders"},
           [address](const Json& arguments, const CallLimits&) {
             *address = arguments.Find("address")->AsString();
             return Answered("moved");
           });
  return ToolboxOf({kit});
}

class RecordedCallsTest : public testing::Test {
 protected:
  using Calls = std::vector<std::pair<std::string, std::string>>;

  // Plays calls of a trajectory against the real tools; turns count on from `turn`.
  void Play(Journal* journal, const std::string& task, const std::string& path, int32_t turn,
            const Calls& calls, const std::shared_ptr<Sessions>& sessions) {
    const auto timeline = NewVirtualTimeline();
    Executor executor(OptionsFor({.mode = ToolMode::kRecord,
                                  .journal = std::shared_ptr<Journal>(journal, [](Journal*) {})},
                                 *sessions->toolbox(), timeline.get())
                          .value(),
                      timeline.get());
    for (const auto& [tool, arguments] : calls) {
      executor.Submit({{"r", task, path, turn++, 0}, tool, J(arguments), sessions});
      executor.Next();
    }
  }

  const TemporaryDirectory directory_;
};

TEST_F(RecordedCallsTest, EveryQuestionComesOnceWithWhatWasWrittenAndKnownBefore) {
  const auto journal = Journal::Open(directory_.path() / "j.sqlite").value();
  const auto shop = Shop();
  const auto sessions = std::make_shared<Sessions>(shop, 5);
  Play(journal.get(), "t", "0", 0,
       {{"get_order", R"({"order_id":"7"})"},
        {"get_order", R"({"order_id":"7"})"},
        {"move_order", R"({"order_id":"7","address":"Oslo"})"},
        {"get_order", R"({"order_id":"7"})"},
        {"get_order", R"({"order_id":"9"})"}},
       sessions);
  // A branch that goes on from before the last two calls.
  const auto branch = std::make_shared<Sessions>(shop, 5);
  for (const char* address : {"Oslo"}) {
    branch->Settle(branch->Enter(*shop->Find("move_order"),
                                 Json::Of({{"order_id", "7"}, {"address", address}})),
                   true, {.content = "moved"});
  }
  Play(journal.get(), "t", "0/1", 3,
       {{"move_order", R"({"order_id":"7","address":"Lima"})"},
        {"get_order", R"({"order_id":"7"})"}},
       branch);
  const JournaledCalls recorded = ReadRecordedCalls(journal.get(), shop).value();
  EXPECT_EQ(recorded.left_out, 0);
  ASSERT_EQ(recorded.calls.size(), 6u);
  size_t reads_after_two = 0, refused = 0;
  for (const RecordedCall& call : recorded.calls) {
    EXPECT_EQ(call.environment_seed, 5u);
    if (call.tool != "get_order") continue;
    refused += call.answer.status == CallStatus::kToolError;
    if (call.writes.size() == 1) {
      EXPECT_EQ(call.answer.content, R"({"address":"Oslo"})");
      ASSERT_EQ(call.known.size(), 1u);
      EXPECT_EQ(call.known[0].answer.content, R"({"address":"Rome"})");
    }
    if (call.writes.size() == 2) {
      ++reads_after_two;
      EXPECT_EQ(call.answer.content, R"({"address":"Lima"})");
      EXPECT_EQ(call.writes[0].arguments.Find("address")->AsString(), "Oslo");
    }
  }
  EXPECT_EQ(reads_after_two, 1u);
  EXPECT_EQ(refused, 1u);
}

TEST_F(RecordedCallsTest, SimulatedAnswersAndOtherToolsAreNotRead) {
  const auto journal = Journal::Open(directory_.path() / "j.sqlite").value();
  JournalEntry entry{.identity = {"r", "t", "0", 0, 0},
                     .content = {1, "get_order", J(R"({"order_id":"1"})"), ""},
                     .source = CallSource::kSimulator,
                     .result = {.content = "made up"}};
  ASSERT_TRUE(journal->Finish(entry).ok());
  entry.identity.turn = 1;
  entry.source = CallSource::kTool;
  entry.content.tool = "elsewhere";
  ASSERT_TRUE(journal->Finish(entry).ok());
  entry.identity.turn = 2;
  entry.content.tool = "get_order";
  entry.content.state_hash = "of another history";
  ASSERT_TRUE(journal->Finish(entry).ok());
  const JournaledCalls recorded = ReadRecordedCalls(journal.get(), Shop()).value();
  EXPECT_TRUE(recorded.calls.empty());
  EXPECT_EQ(recorded.left_out, 1);
}

TEST_F(RecordedCallsTest, TheNearestAreThoseWithTheMostInCommon) {
  JournaledCalls recorded;
  for (const char* arguments :
       {R"({"city":"Rome","day":"Mon"})", R"({"city":"Oslo","day":"Tue"})",
        R"({"city":"Oslo","day":"Mon"})", R"({"city":"Osaka","day":"Mon"})"}) {
    recorded.calls.push_back({.tool = "weather", .arguments = J(arguments)});
  }
  recorded.calls.push_back({.tool = "clock", .arguments = J(R"({"city":"Oslo","day":"Mon"})")});
  const auto nearest = NearestCalls(recorded, "weather", J(R"({"city":"Oslo","day":"Mon"})"), 3);
  ASSERT_EQ(nearest.size(), 3u);
  EXPECT_EQ(nearest[0], &recorded.calls[2]);
  EXPECT_EQ(nearest[1], &recorded.calls[3]) << "the same day, and a city that begins alike";
  EXPECT_EQ(nearest[2], &recorded.calls[0]) << "as near as the second, and recorded first";
}

TEST_F(RecordedCallsTest, ASplitKeepsEnvironmentsTogether) {
  JournaledCalls all;
  for (uint64_t seed = 0; seed < 200; ++seed) {
    for (int n = 0; n < 3; ++n) {
      all.calls.push_back(
          {.environment_seed = seed, .tool = "t", .arguments = Json::Of({{"n", n}})});
    }
  }
  const auto [first, second] = SplitByEnvironment(all, 0.2);
  EXPECT_EQ(first.calls.size() + second.calls.size(), 600u);
  EXPECT_NEAR(static_cast<double>(second.calls.size()), 120, 40);
  EXPECT_NE(first.hash, second.hash);
  for (const RecordedCall& call : second.calls) {
    for (const RecordedCall& other : first.calls) {
      ASSERT_NE(call.environment_seed, other.environment_seed);
    }
  }
}

TEST_F(RecordedCallsTest, ASampleHasAtMostSoManyOfEachTool) {
  JournaledCalls all;
  for (uint64_t seed = 0; seed < 20; ++seed) {
    all.calls.push_back({.environment_seed = seed, .tool = "often", .arguments = J("{}")});
    if (seed < 3) {
      all.calls.push_back({.environment_seed = seed, .tool = "rare", .arguments = J("{}")});
    }
  }
  const JournaledCalls some = AtMostPerTool(all, 5);
  const auto of = [&](const char* tool) {
    return std::count_if(some.calls.begin(), some.calls.end(),
                         [&](const RecordedCall& call) { return call.tool == tool; });
  };
  EXPECT_EQ(of("often"), 5);
  EXPECT_EQ(of("rare"), 3);
  EXPECT_EQ(AtMostPerTool(all, 100).calls.size(), all.calls.size());
}

TEST_F(RecordedCallsTest, SharedEnvironmentsAreCountedOnce) {
  const RecordedCall one{.environment_seed = 1}, two{.environment_seed = 2};
  const JournaledCalls a{.calls = {one, one, two}}, b{.calls = {one, one}},
      c{.calls = {{.environment_seed = 3}}};
  EXPECT_EQ(SharedEnvironments(a, b), 1u);
  EXPECT_EQ(SharedEnvironments(a, c), 0u);
}

}  // namespace
}  // namespace hone
