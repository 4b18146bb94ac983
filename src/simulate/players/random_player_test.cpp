#include <gtest/gtest.h>

#include <set>

#include "simulate/players/player.h"

namespace hone {
namespace {

TEST(RandomPlayer, DrawsFromTheOutputSchemaByTheStreamOfTheCall) {
  const auto player = NewRandomPlayer();
  const ToolSpec spec{.name = "t",
                      .output = ParseJson(R"({"type": "object", "required": ["n"], "properties": {
                          "n": {"type": "integer", "minimum": 1, "maximum": 1000}}})")
                                    .value()};
  std::set<std::string> seen;
  for (uint64_t i = 0; i < 20; ++i) {
    const SimulatedCall call{.spec = &spec, .rng = Rng(i)};
    const auto answer = player->Play(call);
    ASSERT_TRUE(answer.ok());
    EXPECT_EQ(player->Play(call)->content, answer->content);
    seen.insert(answer->content);
  }
  EXPECT_GT(seen.size(), 15u);
  EXPECT_FALSE(player->minds_state());
}

TEST(RandomPlayer, ATextIsGivenAsATextAndAToolWithoutSchemaAnswersSomething) {
  const auto player = NewRandomPlayer();
  const ToolSpec text{.name = "t", .output = ParseJson(R"({"enum": ["hello"]})").value()};
  EXPECT_EQ(player->Play({.spec = &text})->content, "hello");
  const ToolSpec nothing{.name = "t"};
  EXPECT_FALSE(player->Play({.spec = &nothing})->content.empty());
  const ToolSpec impossible{.name = "t", .output = Json(false)};
  EXPECT_FALSE(player->Play({.spec = &impossible})->problem.empty());
}

}  // namespace
}  // namespace hone
