#include "tools/toolbox.h"

#include <gtest/gtest.h>

#include "support/scripted_toolkit.h"

namespace hone {
namespace {

std::shared_ptr<ScriptedToolkit> With(std::vector<std::string> names) {
  auto kit = std::make_shared<ScriptedToolkit>();
  for (std::string& name : names) kit->Add(std::move(name), Effect::kReads, nullptr);
  return kit;
}

TEST(Toolbox, FindsToolsByNameAndHelpsWithUnknownOnes) {
  const auto box = ToolboxOf({With({"weather", "news"}), With({"map"})});
  EXPECT_EQ(box->tools().size(), 3u);
  EXPECT_EQ(box->Find("map")->kit, 1u);
  EXPECT_EQ(box->Find("mop"), nullptr);
  EXPECT_EQ(box->UnknownTool("wether"),
            "there is no tool \"wether\" (did you mean \"weather\"?); there are: weather, news, "
            "map");
  EXPECT_EQ(ToolboxOf({})->UnknownTool("x"), "there is no tool \"x\": there are no tools");
  std::vector<std::string> many;
  for (int i = 0; i < 30; ++i) many.push_back("t" + std::to_string(100 + i));
  EXPECT_TRUE(ToolboxOf({With(many)})->UnknownTool("zzz").ends_with("t119 and 10 more"));
}

TEST(Toolbox, RefusesTwoToolsOfOneNameAndSchemasItCannotCheck) {
  const auto twice = Toolbox::Of({{With({"a"}), {}}, {With({"b", "a"}), {}}});
  ASSERT_FALSE(twice.ok());
  EXPECT_NE(twice.error().message().find("two tools are called \"a\""), std::string::npos);
  auto kit = std::make_shared<ScriptedToolkit>();
  kit->Add({.name = "t", .parameters = Json::Of({{"$ref", "https://example.org/s.json"}})},
           nullptr);
  const auto remote = Toolbox::Of({{kit, {}}});
  ASSERT_FALSE(remote.ok());
  EXPECT_TRUE(remote.error().message().starts_with("t.parameters"));
}

TEST(Toolbox, WhatMayBeRepeated) {
  EXPECT_TRUE(MayRepeat({.effect = Effect::kPure}, Sharing::kNothing));
  EXPECT_TRUE(MayRepeat({.effect = Effect::kReads}, Sharing::kOnce));
  EXPECT_FALSE(MayRepeat({.effect = Effect::kWrites}, Sharing::kReplay));
  EXPECT_FALSE(MayRepeat({.effect = Effect::kIrreversible}, Sharing::kClone));
  // What stays in a session may be repeated only where there is a session to build again.
  const ToolSpec within{.effect = Effect::kWrites, .resource = "session"};
  EXPECT_TRUE(MayRepeat(within, Sharing::kReplay));
  EXPECT_TRUE(MayRepeat(within, Sharing::kClone));
  EXPECT_FALSE(MayRepeat(within, Sharing::kNothing));
  EXPECT_FALSE(MayRepeat(within, Sharing::kOnce));
}

}  // namespace
}  // namespace hone
