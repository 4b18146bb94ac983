#include "app/env_episodes.h"

#include <gtest/gtest.h>

#include "base/file.h"

namespace hone {
namespace {

Result<EpisodesReport> PlayThem(const EnvironmentChoice& choice, const EpisodesRequest& request) {
  HONE_ASSIGN_OR_RETURN(const OpenedEnvironment opened, OpenEnvironment(choice));
  HONE_ASSIGN_OR_RETURN(AnsweredRun run, BeginRun(opened, request.agent, request.seed));
  return PlayEpisodes(opened, request, &run);
}

TEST(EnvEpisodesTest, EveryEpisodeIsCountedOnce) {
  const auto gold = PlayThem({.name = "desk"}, {.agent = "gold", .count = 20});
  ASSERT_TRUE(gold.ok()) << gold.error().message();
  EXPECT_EQ(gold->succeeded, 20);
  EXPECT_NE(gold->View().find("20 tasks: 20 succeeded, 0 failed, 0 void"), std::string::npos);
  EXPECT_EQ(ParseJsonLines(gold->Lines())->size(), 20u);
  const auto idle = PlayThem({.name = "service"}, {.agent = "idle", .count = 4});
  EXPECT_EQ(idle->failed, 4);
  EXPECT_EQ(*idle->Summary().Find("failed"), Json(4));
  EXPECT_FALSE(PlayThem({.name = "desk"}, {.agent = "glod"}).ok());
}

TEST(EnvEpisodesTest, InASimulatedWorldWhatIsRightIsWhatTheWorldSays) {
  TemporaryDirectory folder;
  const EnvironmentChoice choice{.name = "desk",
                                 .overrides = {"simulator.kind=random"},
                                 .mode = "simulate",
                                 .journal = (folder.path() / "j.sqlite").string()};
  const auto gold = PlayThem(choice, {.agent = "gold", .count = 40});
  ASSERT_TRUE(gold.ok()) << gold.error().message();
  EXPECT_EQ(gold->failed, 0) << gold->View();
  EXPECT_EQ(gold->succeeded + gold->voided, 40);
  EXPECT_GT(gold->succeeded, 20);
  EXPECT_GT(gold->sources.at(CallSource::kSimulator), 0);
  for (const EpisodeReport& episode : gold->episodes) {
    EXPECT_EQ(episode.void_because.empty(), episode.ToJson().Find("void") == nullptr);
  }
}

}  // namespace
}  // namespace hone
