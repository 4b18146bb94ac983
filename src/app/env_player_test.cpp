#include "app/env_player.h"

#include <gtest/gtest.h>

#include <sstream>

#include "envs/environments.h"
#include "tools/modes.h"

namespace hone {
namespace {

TEST(TurnFromLineTest, CallsAnswersAndFaults) {
  const auto desk = NewBuiltIn("desk").value().environment;
  const AgentTurn call = TurnFromLine(*desk, R"(weather {"city": "Oslo", "day": "Mon"})");
  ASSERT_EQ(call.calls.size(), 1u);
  EXPECT_EQ(call.calls[0].name, "weather");
  EXPECT_EQ(*call.calls[0].arguments.Find("city"), Json("Oslo"));
  EXPECT_EQ(TurnFromLine(*desk, "clock").calls.size(), 1u) << "without arguments";
  EXPECT_EQ(TurnFromLine(*desk, "fly {}").calls[0].name, "fly") << "there is no such tool";
  EXPECT_EQ(TurnFromLine(*desk, " fog ").answer, "fog");
  EXPECT_EQ(TurnFromLine(*desk, "the weather is fine").answer, "the weather is fine");
  EXPECT_EQ(TurnFromLine(*desk, "weather {broken").faults[0].kind, FaultKind::kBadJson);
  const AgentTurn empty = TurnFromLine(*desk, "");
  EXPECT_TRUE(empty.calls.empty() && empty.faults.empty() && !empty.answer);
}

TEST(PersonTest, PlaysFromAStream) {
  const LoadedEnvironment loaded = NewBuiltIn("desk").value();
  const auto timeline = NewVirtualTimeline();
  Executor executor(OptionsFor({}, *loaded.environment->tools(), timeline.get()).value(),
                    timeline.get());
  std::istringstream in("clock {\"city\": \"Oslo\"}\nclock {broken\n");
  std::ostringstream out;
  const Terminal terminal{.colour = false};
  const auto person = NewPerson(*loaded.environment, terminal, &in, &out);
  const Task task = loaded.tasks->Make(Split::kTrain, 0);
  const Playthrough played = Play(*loaded.environment, task, 1, person.get(), &executor).value();
  EXPECT_EQ(played.ending, Ending::kInterrupted) << "the input ended";
  EXPECT_EQ(played.turns.size(), 2u);
  EXPECT_NE(out.str().find("  weather(city, day)\n"), std::string::npos) << out.str();
  EXPECT_NE(out.str().find("result {\"hour\":"), std::string::npos) << out.str();
  EXPECT_NE(out.str().find("notice Your turn could not be read (bad_json)"), std::string::npos);
  EXPECT_NE(EndView(played, terminal).find("interrupted, 1 calls"), std::string::npos);
}

}  // namespace
}  // namespace hone
