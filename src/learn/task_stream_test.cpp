#include "learn/task_stream.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <set>

#include "support/kinds_source.h"

namespace hone {
namespace {

TEST(TaskStream, AFiniteSourceComesInEpochsEachInAnOrderOfItsOwn) {
  const KindsSource source(12);
  TaskStream stream(&source, "family", Rng(1));
  std::vector<uint64_t> first, second;
  for (int i = 0; i < 12; ++i) first.push_back(stream.Next());
  for (int i = 0; i < 12; ++i) second.push_back(stream.Next());
  EXPECT_NE(first, second);
  for (std::vector<uint64_t>* epoch : {&first, &second}) {
    std::sort(epoch->begin(), epoch->end());
    for (uint64_t i = 0; i < 12; ++i) EXPECT_EQ((*epoch)[i], i);
  }
}

TEST(TaskStream, AnEndlessSourceComesInItsOrderAndNothingIsSkipped) {
  const KindsSource source;
  TaskStream stream(&source, "family", Rng(1));
  EXPECT_EQ(stream.Next(), 0u);
  // Tasks go A B C D A B ...: asking for D passes B and C, which wait.
  EXPECT_EQ(stream.Next("D"), 3u);
  EXPECT_EQ(stream.Next("B"), 1u);
  EXPECT_EQ(stream.Next("C"), 2u);
  EXPECT_EQ(stream.Next("A"), 4u);
}

TEST(TaskStream, AKindThatDoesNotExistGivesAnother) {
  const KindsSource source(8);
  TaskStream stream(&source, "family", Rng(1));
  EXPECT_LT(stream.Next("Z"), 8u);
}

TEST(TaskStream, SharesAndKinds) {
  const KindsSource source(8);
  const auto shares = TaskStream(&source, "family", Rng(1)).Shares();
  ASSERT_EQ(shares.size(), 4u);
  for (const auto& [kind, share] : shares) EXPECT_DOUBLE_EQ(share, 0.25) << kind;
  EXPECT_EQ(TaskStream(&source, "index", Rng(1)).Shares().size(), 8u);
  EXPECT_EQ(TaskStream(&source, "index", Rng(1)).Next("5"), 5u);
  EXPECT_EQ(KindOf(source.Make(Split::kTrain, 2), 2, "level"), "2") << "numbers are text";
  EXPECT_EQ(KindOf(source.Make(Split::kTrain, 2), 2, "colour"), "other");
}

TEST(TaskStream, RestoredItGoesOn) {
  const KindsSource source(20);
  TaskStream stream(&source, "family", Rng(4));
  for (const char* kind : {"A", "D", "D", "D", "B"}) stream.Next(kind);
  TaskStream resumed(&source, "family", Rng(4));
  ASSERT_TRUE(resumed.Restore(*ParseJson(DumpJson(stream.ToJson()))).ok());
  for (int i = 0; i < 40; ++i) {
    const std::string kind(1, static_cast<char>('A' + i % 4));
    EXPECT_EQ(resumed.Next(kind), stream.Next(kind));
  }
  EXPECT_FALSE(resumed.Restore(*ParseJson(R"({"position":1})")).ok());
  const auto other = resumed.Restore(*ParseJson(R"({"position":1,"waiting":{"A":[99]}})"));
  ASSERT_FALSE(other.ok());
  EXPECT_NE(other.error().message().find("does not have"), std::string::npos);
}

}  // namespace
}  // namespace hone
