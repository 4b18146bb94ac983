#include "envs/openenv/openenv_env.h"

#include <gtest/gtest.h>

#include "base/subprocess.h"
#include "support/scripted_toolkit.h"

namespace hone {
namespace {

class OpenEnvTest : public ::testing::TestWithParam<std::string> {
 protected:
  void Start(const std::string& most_sessions = "1000") {
    server_ = Subprocess::Start({"/usr/bin/python3",
                                 HONE_SOURCE_DIR "/tests/support/openenv_server.py", most_sessions})
                  .value();
    options_.url = "http://127.0.0.1:" + server_->ReadLine(std::chrono::seconds(60)).value();
  }

  std::shared_ptr<const Environment> New() {
    return NewOpenEnvEnvironment(ToolboxOf({}), options_);
  }

  static Task Number(int number) {
    Task task;
    task.id = "t";
    task.messages =
        Json::Array{Json::Of({{"role", "user"}, {"content", "Answer with the number alone."}})};
    task.metadata = Json::Of({{"reset", Json::Of({{"number", number}})}});
    return task;
  }
  static EnvironmentTurn Say(Episode& episode, const char* what) {
    AgentTurn turn;
    turn.answer = what;
    return episode.Step(turn);
  }

  std::unique_ptr<Subprocess> server_;
  OpenEnvOptions options_;
};

TEST_P(OpenEnvTest, AnEpisodeFromResetToItsEnd) {
  Start();
  options_.transport = GetParam();
  const auto environment = New();
  EXPECT_TRUE(environment->traits().steps_wait);
  EXPECT_EQ(environment->traits().episodes_at_once, 1);
  const auto episode = environment->Open(Number(4), 7).value();
  ASSERT_EQ(episode->opening().messages.AsArray().size(), 1u);
  EXPECT_EQ(*episode->opening().messages.AsArray()[0].Find("content"),
            Json("Answer with the number alone.\n\nI think of a number from 0 to 9."));
  AgentTurn calls;
  EXPECT_EQ(episode->Step(calls).ending, std::nullopt) << "the server does not hear of calls";
  const EnvironmentTurn wrong = Say(*episode, "3");
  EXPECT_EQ(wrong.user, "No.");
  EXPECT_EQ(wrong.ending, std::nullopt);
  // What does not fit the server's schema is the agent's to mend.
  const EnvironmentTurn refused = Say(*episode, "");
  ASSERT_EQ(refused.notices.size(), 1u);
  EXPECT_NE(refused.notices[0].find("a text is wanted"), std::string::npos) << refused.notices[0];
  EXPECT_EQ(Say(*episode, "4").ending, Ending::kAnswered);
  EXPECT_EQ(DumpJson(episode->final_state()),
            R"({"answer":"4","steps":2,"observation":{"echo":"Right.","tries":2},)"
            R"("state":{"episode_id":null,"step_count":2},"reward":1.0,"verdict":true})");
}

INSTANTIATE_TEST_SUITE_P(Transports, OpenEnvTest, ::testing::Values("websocket", "http"));

TEST_F(OpenEnvTest, EpisodesAndClonesAreIndependentAndSeedsDecide) {
  Start();
  const auto environment = New();
  Task any;
  any.id = "t";
  const auto one = environment->Open(any, 13).value(), two = environment->Open(any, 6).value();
  EXPECT_EQ(Say(*one, "6").ending, std::nullopt);
  const auto clone = one->Clone().value();
  EXPECT_EQ(Say(*two, "6").ending, Ending::kAnswered);
  EXPECT_EQ(Say(*one, "3").ending, Ending::kAnswered);
  EXPECT_EQ(*clone->final_state().Find("steps"), Json(1));
  EXPECT_EQ(Say(*clone, "3").ending, Ending::kAnswered);
  EXPECT_EQ(clone->final_state(), one->final_state());
}

TEST_F(OpenEnvTest, ARewardIsAddedUpOrTheLastAndScaled) {
  Start();
  options_.reward_high = 4;
  const auto partly = New()->Open(Number(4), 7).value();
  EXPECT_EQ(partly->final_state().Find("verdict"), nullptr) << "nothing was rewarded";
  Say(*partly, "4");
  EXPECT_EQ(*partly->final_state().Find("verdict"), Json(0.25));
  options_.reward = "last";
  options_.reward_low = -1;
  options_.reward_high = 1;
  const auto last = New()->Open(Number(4), 7).value();
  for (int i = 0; i < 5; ++i) Say(*last, "0");
  EXPECT_EQ(*last->final_state().Find("reward"), Json(0.0));
  EXPECT_EQ(*last->final_state().Find("verdict"), Json(0.5));
}

TEST_F(OpenEnvTest, AServerThatBreaksIsNotTheAgentsFault) {
  Start();
  const auto environment = New();
  const auto episode = environment->Open(Number(4), 7).value();
  const EnvironmentTurn broken = Say(*episode, "break");
  EXPECT_EQ(broken.ending, Ending::kFailed);
  EXPECT_EQ(broken.blame, Blame::kEnvironment);
  EXPECT_EQ(*episode->final_state().Find("error"), Json("the world broke"));
  const auto left = environment->Open(Number(4), 7).value();
  server_ = nullptr;
  EXPECT_EQ(Say(*left, "4").ending, Ending::kFailed);
  EXPECT_FALSE(environment->Open(Number(4), 7).ok());
}

TEST_F(OpenEnvTest, AServerWithoutRoomIsSaidWithWhatToDo) {
  Start("1");
  options_.deadline = std::chrono::milliseconds(1500);
  const auto environment = New();
  auto first = environment->Open(Number(4), 7).value();
  const auto second = environment->Open(Number(4), 7);
  ASSERT_FALSE(second.ok());
  EXPECT_NE(second.error().message().find("Server at capacity; the recipe's environment.episodes"),
            std::string::npos)
      << second.error().message();
  // A place that was left is found, even if the server takes a moment.
  options_.deadline = std::chrono::seconds(60);
  const auto patient = New();
  first = nullptr;
  EXPECT_TRUE(patient->Open(Number(4), 7).ok());
}

}  // namespace
}  // namespace hone
