#include "dash/dash_metrics.h"

#include <gtest/gtest.h>

#include <cmath>
#include <fstream>

#include "base/file.h"

namespace hone {
namespace {

class DashMetricsTest : public testing::Test {
 protected:
  void Append(const std::string& text) {
    std::ofstream(file_, std::ios::app | std::ios::binary) << text;
  }

  const TemporaryDirectory directory_;
  const std::filesystem::path file_ = directory_.path() / "metrics.jsonl";
  MetricsLog log_{file_};
};

TEST_F(DashMetricsTest, ReadsOnAsTheFileGrowsAndWaitsForTheEndOfALine) {
  ASSERT_TRUE(log_.Refresh().ok());
  EXPECT_TRUE(log_.steps().empty());
  Append("{\"step\":0,\"loss\":0.5}\n{\"step\":1,\"loss\":0.25,\"success\":1}\n{\"step\":2,");
  ASSERT_TRUE(log_.Refresh().ok());
  EXPECT_EQ(log_.steps(), (std::vector<int64_t>{1, 2}));
  Append("\"loss\":0.125}\n");
  ASSERT_TRUE(log_.Refresh().ok());
  EXPECT_EQ(log_.steps(), (std::vector<int64_t>{1, 2, 3}));
  EXPECT_EQ(log_.Column("loss"), (std::vector<double>{0.5, 0.25, 0.125}));
  const std::vector<double> success = log_.Column("success");
  ASSERT_EQ(success.size(), 3u);
  EXPECT_TRUE(std::isnan(success[0]));
  EXPECT_EQ(success[1], 1);
  EXPECT_TRUE(std::isnan(success[2]));
  EXPECT_TRUE(log_.Column("nothing").empty());
  EXPECT_EQ(log_.Names(), (std::vector<std::string>{"loss", "success"}));
}

TEST_F(DashMetricsTest, GivesOnlyWhatIsNewToWhoKnowsTheRest) {
  Append("{\"step\":0,\"loss\":0.123456789}\n{\"step\":1,\"loss\":null}\n");
  ASSERT_TRUE(log_.Refresh().ok());
  EXPECT_EQ(DumpJson(log_.ToJson({"loss", "absent"}, -1, 0)),
            R"({"generation":0,"first_row":0,"steps":[1,2],"series":{"loss":[0.123457,null]}})");
  Append("{\"step\":2,\"loss\":3,\"late\":1e-9}\n");
  ASSERT_TRUE(log_.Refresh().ok());
  EXPECT_EQ(DumpJson(log_.ToJson({"loss", "late"}, 0, 2)),
            R"({"generation":0,"first_row":2,"steps":[3],"series":{"loss":[3],"late":[1e-09]}})");
  // Somebody who is further than the file, or of another time, gets what there is.
  EXPECT_EQ(log_.ToJson({}, 0, 99).Find("first_row")->AsInteger(), 3);
  EXPECT_EQ(log_.ToJson({}, 7, 2).Find("first_row")->AsInteger(), 0);
}

TEST_F(DashMetricsTest, LinesThatWereTakenBackAreForgotten) {
  Append("{\"step\":0,\"loss\":1}\n{\"step\":1,\"loss\":2}\n");
  ASSERT_TRUE(log_.Refresh().ok());
  const int64_t before = log_.generation();
  ASSERT_TRUE(WriteFileAtomic(file_, "{\"step\":0,\"loss\":1}\n").ok());  // as a resumed run does
  Append("{\"step\":1,\"other\":5}\n");
  ASSERT_TRUE(log_.Refresh().ok());
  EXPECT_NE(log_.generation(), before);
  EXPECT_EQ(log_.steps(), (std::vector<int64_t>{1, 2}));
  EXPECT_EQ(log_.Column("other")[1], 5);
  std::filesystem::remove(file_);
  ASSERT_TRUE(log_.Refresh().ok());
  EXPECT_TRUE(log_.steps().empty());
}

TEST_F(DashMetricsTest, LinesThatAreNoneArePassedOver) {
  Append("rubbish\n{\"step\":\"x\"}\n[1]\n\n{\"step\":4,\"loss\":1}\n");
  ASSERT_TRUE(log_.Refresh().ok());
  EXPECT_EQ(log_.steps(), std::vector<int64_t>{5});
}

}  // namespace
}  // namespace hone
