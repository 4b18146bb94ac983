#include "app/progress_bar.h"

#include <gtest/gtest.h>

namespace hone {
namespace {

TEST(ProgressBarTest, FillsUp) {
  EXPECT_EQ(BarText("rl", 0, 4, 4), "rl ···· 0/4");
  EXPECT_EQ(BarText("rl", 2, 4, 4), "rl ██·· 2/4");
  EXPECT_EQ(BarText("rl", 4, 4, 4), "rl ████ 4/4");
  EXPECT_EQ(BarText("rl", 9, 4, 4), "rl ████ 9/4") << "more than all is all";
  EXPECT_EQ(BarText("rl", 0, 0, 4), "rl ···· 0/0");
}

TEST(ProgressBarTest, IsNotWrittenToFiles) {
  std::FILE* file = std::tmpfile();
  ASSERT_NE(file, nullptr);
  {
    ProgressBar bar(file);
    bar.Show("rl", 1, 2);
    bar.Erase();
    bar.Show("rl", 2, 2);
  }
  EXPECT_EQ(std::ftell(file), 0);
  std::fclose(file);
}

}  // namespace
}  // namespace hone
