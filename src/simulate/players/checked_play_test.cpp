#include "simulate/players/checked_play.h"

#include <gtest/gtest.h>

#include <set>

namespace hone {
namespace {

// Says what is on a list, one after the other.
class ListPlayer final : public Player {
 public:
  explicit ListPlayer(std::vector<PlayedResult> answers) : answers_(std::move(answers)) {}
  std::string version() const override { return "list"; }
  bool minds_state() const override { return true; }
  Result<PlayedResult> Play(const SimulatedCall& call) override {
    Rng rng = call.rng;
    draws.insert(rng.NextU64());
    if (next_ == answers_.size()) return Error(ErrorCode::kUnavailable, "the list is at its end");
    return answers_[next_++];
  }
  std::set<uint64_t> draws;

 private:
  const std::vector<PlayedResult> answers_;
  size_t next_ = 0;
};

const ToolSpec kSpec{.name = "t",
                     .output = ParseJson(R"({"type": "object", "required": ["n"]})").value()};

TEST(CheckedPlay, EveryTryHasItsOwnStreamAndIsCounted) {
  ListPlayer player(
      {{.problem = "unreadable"}, {.content = "{}"}, {.content = ""}, {.content = R"({"n":1})"}});
  AnswerChecker checker;
  const CheckedPlay play = PlayChecked(&player, {.spec = &kSpec}, "key", {.tries = 4}, &checker);
  EXPECT_EQ(play.answer.content, R"({"n":1})");
  EXPECT_EQ(play.tries, 4);
  EXPECT_EQ(play.invalid, 3);
  EXPECT_EQ(player.draws.size(), 4u);
}

TEST(CheckedPlay, AFaultSaysWhyAndWhetherItMayPass) {
  AnswerChecker checker;
  ListPlayer wrong({{.content = "{}"}, {.content = "{}"}});
  const CheckedPlay invalid = PlayChecked(&wrong, {.spec = &kSpec}, "key", {.tries = 2}, &checker);
  EXPECT_NE(invalid.fault.find("`n`"), std::string::npos) << invalid.fault;
  EXPECT_FALSE(invalid.passing);
  ListPlayer absent({});
  EXPECT_TRUE(PlayChecked(&absent, {.spec = &kSpec}, "key", {}, &checker).passing);
}

TEST(CheckedPlay, AReadIsHeldToWhatWasWrittenAndAWriteIsNot) {
  AnswerChecker checker;
  SimulatedCall call{.arguments = ParseJson(R"({"order":"W1","n":2})").value(),
                     .writes = {{"set", ParseJson(R"({"order":"W1","city":"Oslo"})").value(),
                                 CallStatus::kOk, "{}"}}};
  for (const Effect effect : {Effect::kReads, Effect::kWrites}) {
    ToolSpec spec = kSpec;
    spec.effect = effect;
    call.spec = &spec;
    ListPlayer player({{.content = R"({"n":2,"city":"Rome"})"}});
    EXPECT_EQ(PlayChecked(&player, call, "key", {}, &checker).answer.content,
              effect == Effect::kReads ? R"({"n":2,"city":"Oslo"})" : R"({"n":2,"city":"Rome"})");
  }
}

TEST(CheckedPlay, RefusalsNeedNotFitTheSchema) {
  AnswerChecker checker;
  ListPlayer player({{CallStatus::kToolError, "no such thing", ""}});
  EXPECT_EQ(PlayChecked(&player, {.spec = &kSpec}, "key", {}, &checker).answer.content,
            "no such thing");
}

}  // namespace
}  // namespace hone
