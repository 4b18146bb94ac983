#include "train/stages/journal_stage.h"

#include <gtest/gtest.h>

#include "support/tiny_context.h"

namespace hone {
namespace {

TEST(JournalStage, WhatPlansDoOrWhatPeopleDo) {
  TinyContext tiny({"environment.tasks.kinds=['clock']"});
  const auto record = [&](const JournalStage& stage) {
    const TemporaryDirectory folder;
    const auto report = MakeJournal(stage, tiny.context.get(), folder.path());
    EXPECT_TRUE(report.ok()) << report.error().message();
    EXPECT_TRUE(std::filesystem::exists(folder.path() / "recorded.sqlite"));
    return *report;
  };
  const JournalingReport gold = record({.tasks = 20, .gold = true});
  EXPECT_EQ(gold.episodes, 20);
  EXPECT_EQ(gold.calls, 20) << "one each, and right";
  EXPECT_EQ(gold.by_tool.at("clock"), 20);
  const JournalingReport people = record({.tasks = 20, .mistakes = 1.0});
  EXPECT_NE(people.ToJson(), gold.ToJson());
  EXPECT_EQ(people.ToJson(), record({.tasks = 20, .mistakes = 1.0}).ToJson());
}

}  // namespace
}  // namespace hone
