#include "learn/stage_cache.h"

#include <gtest/gtest.h>

#include "base/file.h"

namespace hone {
namespace {

TEST(StageCache, FindsWhatWasMadeFromTheSameThings) {
  const TemporaryDirectory directory;
  const StageCache cache(directory.path() / "cache");
  const Json inputs = Json::Of({{"seed", 1}, {"steps", 10}});
  EXPECT_EQ(cache.Find("sft", inputs), std::nullopt);
  const auto made = cache.Put("sft", inputs, [](const std::filesystem::path& folder) {
    return WriteFileAtomic(folder / "weights", "abc");
  });
  ASSERT_TRUE(made.ok()) << made.error().message();
  EXPECT_EQ(cache.Find("sft", Json::Of({{"steps", 10}, {"seed", 1}})), *made) << "in any order";
  EXPECT_EQ(*ReadFile(*made / "weights"), "abc");
  EXPECT_EQ(cache.Find("sft", Json::Of({{"seed", 2}, {"steps", 10}})), std::nullopt);
  EXPECT_EQ(cache.Find("simulator", inputs), std::nullopt);
}

TEST(StageCache, WhatCouldNotBeMadeIsNotThere) {
  const TemporaryDirectory directory;
  const StageCache cache(directory.path() / "cache");
  const auto made = cache.Put("sft", Json(1), [](const std::filesystem::path&) -> Result<void> {
    return Error(ErrorCode::kFull, "no space");
  });
  EXPECT_EQ(made.error().code(), ErrorCode::kFull);
  EXPECT_EQ(cache.Find("sft", Json(1)), std::nullopt);
}

}  // namespace
}  // namespace hone
