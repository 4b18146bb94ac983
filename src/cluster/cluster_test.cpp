#include "cluster/cluster.h"

#include <gtest/gtest.h>

#include "support/in_each_process.h"

namespace hone {
namespace {

TEST(Cluster, WhatTheFirstSaysAllHear) {
  for (int count = 1; count <= 9; ++count) {
    InEachProcess(count, [&](Cluster* cluster) {
      const std::string said = "from " + std::to_string(cluster->rank());
      EXPECT_EQ(cluster->Broadcast(said), "from 0");
      EXPECT_EQ(cluster->Broadcast(""), "");
    });
  }
}

TEST(Cluster, EverybodyGetsWhatEachSent) {
  for (int count = 1; count <= 5; ++count) {
    InEachProcess(count, [&](Cluster* cluster) {
      const int rank = cluster->rank();
      std::vector<std::string> letters;
      for (int to = 0; to < count; ++to) letters.push_back(std::to_string(100 * rank + to));
      const std::vector<std::string> got = cluster->Exchange(letters);
      for (int from = 0; from < count; ++from) {
        EXPECT_EQ(got[static_cast<size_t>(from)], std::to_string(100 * from + rank));
      }
      const std::vector<std::string> gathered = cluster->Gather(std::to_string(rank));
      ASSERT_EQ(gathered.size(), rank == 0 ? static_cast<size_t>(count) : 0);
      for (size_t from = 0; from < gathered.size(); ++from) {
        EXPECT_EQ(gathered[from], std::to_string(from));
      }
      EXPECT_EQ(cluster->Share(std::to_string(rank)).size(), static_cast<size_t>(count));
    });
  }
}

TEST(Cluster, AnErrorOfOneIsTheErrorOfAll) {
  InEachProcess(3, [](Cluster* cluster) {
    Result<std::string> mine = std::string("fine");
    if (cluster->rank() > 0) {
      mine = Error(ErrorCode::kFull, "the disk is full on " + std::to_string(cluster->rank()));
    }
    const auto shared = cluster->ShareResult(mine);
    ASSERT_FALSE(shared.ok());
    EXPECT_EQ(shared.error().code(), ErrorCode::kFull);
    EXPECT_EQ(shared.error().message(), "process 1 (this process): the disk is full on 1");
    const auto gathered = cluster->GatherResult(mine);
    EXPECT_EQ(gathered.ok(), !cluster->leads());
  });
}

TEST(Cluster, OneProcessIsTheSameCode) {
  Cluster alone;
  EXPECT_TRUE(alone.leads());
  EXPECT_EQ(alone.Broadcast("x"), "x");
  EXPECT_EQ(alone.Share("x"), std::vector<std::string>{"x"});
  EXPECT_EQ(alone.Gather("x"), std::vector<std::string>{"x"});
  EXPECT_EQ(alone.ShareResult(std::string())->size(), 1u);
  alone.Close();
}

}  // namespace
}  // namespace hone
