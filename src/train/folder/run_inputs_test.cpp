#include "train/folder/run_inputs.h"

#include <gtest/gtest.h>
#include <sys/stat.h>

#include "base/file.h"

namespace hone {
namespace {

class RunInputsTest : public ::testing::Test {
 protected:
  void Write(const std::string& name, const std::string& text) {
    ASSERT_TRUE(WriteFileAtomic(place_.path() / name, text).ok());
  }
  // Where a run that was begun finds what the recipe wrote as `written`.
  std::string Kept(const std::string& written, int64_t largest = 1000) {
    const std::vector<RecipePath> paths = {
        {written, (place_.path() / written).string(), PathUse::kInput}};
    EXPECT_TRUE(KeepInputs(paths, run_, largest).ok());
    const Json places = *ParseJson(*ReadFile(run_ / kPlacesFile));
    return places.Find(written)->AsString();
  }

  const TemporaryDirectory place_;
  const std::filesystem::path run_ = place_.path() / "runs" / "one";
};

TEST_F(RunInputsTest, AFolderOfTextsIsKeptWholeAndAsItIsNow) {
  Write("texts/oslo.md", "a city");
  Write("texts/trips/turku.txt", "a river");
  EXPECT_EQ(Kept("texts/"), "inputs/texts");
  EXPECT_EQ(*ReadFile(run_ / "inputs/texts/trips/turku.txt"), "a river");
  std::filesystem::remove(place_.path() / "texts/oslo.md");
  Write("texts/trips/turku.txt", "two rivers");
  EXPECT_EQ(Kept("texts/"), "inputs/texts");
  EXPECT_FALSE(Exists(run_ / "inputs/texts/oslo.md"));
  EXPECT_EQ(*ReadFile(run_ / "inputs/texts/trips/turku.txt"), "two rivers");
}

TEST_F(RunInputsTest, OfAFolderNothingIsKeptThatNobodyReads) {
  Write("texts/oslo.md", "a city");
  Write("texts/.git/config", "a secret");
  const std::filesystem::path texts = place_.path() / "texts";
  std::filesystem::create_symlink("/nonexistent", texts / "dangling.txt");
  std::filesystem::create_directory_symlink(".", texts / "round");
  ASSERT_EQ(mkfifo((texts / "pipe.txt").c_str(), 0600), 0);
  EXPECT_EQ(Kept("texts"), "inputs/texts");
  std::vector<std::string> kept;
  for (const auto& entry : std::filesystem::recursive_directory_iterator(run_ / "inputs")) {
    if (!entry.is_directory()) kept.push_back(entry.path().filename().string());
  }
  EXPECT_EQ(kept, std::vector<std::string>{"oslo.md"});
}

TEST_F(RunInputsTest, WhatIsTooLargeOrHoldsTheRunItselfStaysWhereItIs) {
  Write("texts/a.txt", std::string(60, 'x'));
  Write("texts/b.txt", std::string(60, 'x'));
  EXPECT_EQ(Kept("texts", 100), (place_.path() / "texts").string());
  EXPECT_EQ(Kept("texts/a.txt", 100), "inputs/a.txt");
  EXPECT_EQ(Kept("."), (place_.path() / "").string());
}

}  // namespace
}  // namespace hone
