#include "simulate/simulator_options.h"

#include <gtest/gtest.h>

namespace hone {
namespace {

Result<SimulatorOptions> Read(std::string_view toml) {
  Recipe recipe = Recipe::Parse(toml, "simulator.toml").value();
  SimulatorOptions settings = ReadSimulatorOptions(recipe.Root());
  HONE_RETURN_IF_ERROR(recipe.Finish());
  return settings;
}

TEST(SimulatorOptions, EveryKindHasItsKeys) {
  EXPECT_EQ(Read("")->kind, "random");
  const auto endpoint = Read(
      "kind = \"endpoint\"\nurl = \"http://127.0.0.1:1/v1\"\nmodel = \"m\"\nretries = 7\n"
      "max_money = 2.5\nkey_variable = \"KEY\"\nattempt_ms = 50\n");
  ASSERT_TRUE(endpoint.ok()) << endpoint.error().message();
  EXPECT_EQ(endpoint->model.language_model.limits.retries, 7);
  EXPECT_EQ(endpoint->model.language_model.limits.attempt, std::chrono::milliseconds(50));
  EXPECT_EQ(endpoint->model.language_model.max_money, 2.5);
  EXPECT_EQ(endpoint->model.endpoint.key_variable, "KEY");
  EXPECT_EQ(Read("kind = \"learned\"\nfolder = \"x\"\nmin_p = 0.02\n")->learned_player.min_p, 0.02);
  EXPECT_TRUE(Read("kind = \"learned\"\nfolder = \"x\"\n")->learned_player.effects);
  EXPECT_FALSE(
      Read("kind = \"learned\"\nfolder = \"x\"\neffects = false\n")->learned_player.effects);
}

TEST(SimulatorOptions, KeysOfOtherKindsAndMissingOnesAreErrors) {
  EXPECT_NE(Read("url = \"http://x\"\n").error().message().find("url"), std::string::npos);
  EXPECT_NE(Read("kind = \"endpoint\"\n").error().message().find("needs a url"), std::string::npos);
  EXPECT_NE(Read("kind = \"learned\"\n").error().message().find("folder"), std::string::npos);
  EXPECT_NE(Read("kind = \"model\"\nfolder = \"x\"\noffline = true\n")
                .error()
                .message()
                .find("completions"),
            std::string::npos);
}

TEST(SimulatorOptions, AFolderThatIsNotThereIsAnErrorThatNamesIt) {
  SimulatorOptions settings{.kind = "learned", .folder = "/nowhere"};
  EXPECT_NE(NewPlayer(settings, nullptr).error().message().find("/nowhere"), std::string::npos);
}

}  // namespace
}  // namespace hone
