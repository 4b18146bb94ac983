#include "envs/task_source.h"

#include <gtest/gtest.h>

namespace hone {
namespace {

TEST(TaskSourceTest, SplitsHaveNames) {
  for (const Split split : kAllSplits) EXPECT_EQ(SplitFromName(SplitName(split)).value(), split);
  const auto wrong = SplitFromName("tset");
  ASSERT_FALSE(wrong.ok());
  EXPECT_NE(wrong.error().message().find("did you mean \"test\"?"), std::string::npos);
}

// All splits are the same few tasks.
class Same final : public TaskSource {
 public:
  explicit Same(Json metadata) : metadata_(std::move(metadata)) {}
  std::optional<uint64_t> count(Split) const override { return 2; }
  Task Make(Split, uint64_t) const override {
    Task task;
    task.metadata = metadata_;
    return task;
  }

 private:
  Json metadata_;
};

TEST(TaskSourceTest, WhatSplitsShareIsReported) {
  EXPECT_EQ(SplitProblems(Same(Json::Of({{"keys", Json::Array{"a"}}})), 5),
            std::vector<std::string>{"\"a\" is in train and in test"});
  EXPECT_EQ(SplitProblems(Same(Json::Of({{"kind", "k"}})), 5),
            std::vector<std::string>{"the kind \"k\" of unseen-kinds is in other splits too"});
  EXPECT_TRUE(SplitProblems(Same(Json()), 5).empty()) << "nothing is said, nothing is shared";
}

TEST(TaskSourceTest, MarksAreRead) {
  Task task;
  task.metadata = *ParseJson(R"({"kind":"k","phrase":"k/1","keys":["a","b",3]})");
  const SplitMarks marks = SplitMarksOf(task);
  EXPECT_EQ(marks.kind, "k");
  EXPECT_EQ(marks.phrase, "k/1");
  EXPECT_EQ(marks.keys, (std::vector<std::string>{"a", "b"}));
}

}  // namespace
}  // namespace hone
