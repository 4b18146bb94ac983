// hone replay as people use it: on a run with tools of its own, with changes planted into what it
// stored.

#include <gtest/gtest.h>

#include "e2e/program.h"
#include "support/kill_suite.h"
#include "support/planted.h"
#include "train/folder/run_folder.h"

namespace hone {
namespace {

class ReplayCommandTest : public KillSuite {
 protected:
  void SetUp() override {
    RunToItsEnd({Write("live", tools_.Recipe() + "[[faults]]\nkind = \"server_error\"\n"
                                                 "probability = 0.2\n")});
  }

  struct Answer {
    int exit_code = 0;
    Json json;
    Json First(const char* key) const {
      const Json* differences = json.Find("differences");
      if (differences == nullptr || differences->AsArray().empty()) return {};
      const Json* value = differences->AsArray()[0].Find(key);
      return value == nullptr ? Json() : *value;
    }
  };
  Answer Verify(std::vector<std::string> more = {}) const {
    std::vector<std::string> arguments = {"replay", tools_.run().string(), "--verify", "--json"};
    arguments.insert(arguments.end(), more.begin(), more.end());
    const SubprocessResult result = Hone(arguments);
    const Result<Json> json = ParseJson(result.standard_output);
    EXPECT_TRUE(json.ok()) << result.standard_output << result.standard_error;
    return {result.exit_code, json.ok() ? *json : Json()};
  }

  const LiveTools tools_{directory_.path() / "live"};
};

TEST_F(ReplayCommandTest, ARunWithLiveToolsIsTheSameFromItsJournalAndNobodyIsAsked) {
  const auto asked = std::filesystem::file_size(tools_.log());
  const Answer same = Verify();
  EXPECT_EQ(same.exit_code, 0) << DumpJson(same.json);
  EXPECT_EQ(*same.json.Find("passed"), Json(true));
  EXPECT_EQ(same.json.Find("equal")->Find("groups")->AsInteger(), 9);
  const Answer fresh = Verify({"--fresh"});
  EXPECT_EQ(fresh.exit_code, 0) << DumpJson(fresh.json);
  EXPECT_EQ(fresh.json.Find("equal")->Find("steps")->AsInteger(), 203);
  EXPECT_EQ(std::filesystem::file_size(tools_.log()), asked);
}

TEST_F(ReplayCommandTest, OneBitOfAnAnswerInTheJournalIsFoundWithItsCall) {
  int64_t call = 0;
  {
    const auto journal = Journal::OpenForReading(tools_.journal()).value();
    for (const NumberedEntry& one : journal->List({.tool = "phone"}, 0, 1'000'000).value()) {
      const bool of_rl = one.entry.identity.path.starts_with("1-1/");  // of its second step
      if (of_rl && one.entry.result.status == CallStatus::kOk) call = one.id;
    }
  }
  ASSERT_GT(call, 0) << "or nothing is tested";
  FlipAnswer(tools_.journal(), call);
  const Answer planted = Verify();
  EXPECT_EQ(planted.exit_code, 3);
  EXPECT_EQ(planted.First("step"), Json(int64_t{201})) << DumpJson(planted.json);
  EXPECT_EQ(planted.First("part"), Json("results"));
  const std::string place = planted.First("place").AsString();
  EXPECT_NE(place.find("journal.sqlite has it as call " + std::to_string(call)), std::string::npos)
      << place;
}

TEST_F(ReplayCommandTest, ADamagedRowOfTheJournalIsNamed) {
  {
    const auto journal = SqliteFile::Open(tools_.journal(), kJournalFormat).value();
    ASSERT_TRUE(journal->Execute("UPDATE calls SET latency_us = latency_us + 1 WHERE id = 3").ok());
  }
  const Answer damaged = Verify();
  EXPECT_EQ(damaged.exit_code, 3);
  EXPECT_EQ(damaged.First("what"), Json("journal")) << DumpJson(damaged.json);
  EXPECT_NE(damaged.First("stored").AsString().find("is damaged"), std::string::npos);
}

TEST_F(ReplayCommandTest, OneBitOfATokenAndOneOfTheWeightsAreFound) {
  FlipToken(tools_.run(), 5, 1, 0);
  FlipBit(CheckpointIn(tools_.run(), 203) / "model.safetensors", 9, 5);
  const Answer token = Verify();
  EXPECT_EQ(token.exit_code, 3);
  EXPECT_EQ(token.First("step"), Json(int64_t{201})) << DumpJson(token.json);
  EXPECT_EQ(token.First("tree"), Json(int64_t{5}));
  EXPECT_EQ(token.First("node"), Json(int64_t{1}));
  EXPECT_EQ(token.First("index"), Json(int64_t{0}));
  const Answer weights = Verify({"--from", "202"});
  EXPECT_EQ(weights.exit_code, 3);
  EXPECT_EQ(weights.First("step"), Json(int64_t{202})) << DumpJson(weights.json);
  EXPECT_EQ(weights.First("name"), Json("step-203"));
}

TEST_F(ReplayCommandTest, PeopleAreToldWhatIsStoredWhatIsTheSameAndWhatWentWrong) {
  const std::string run = tools_.run().string();
  const SubprocessResult plan = Hone({"replay", run});
  EXPECT_EQ(plan.exit_code, 0);
  EXPECT_NE(plan.standard_output.find("36 stored"), std::string::npos) << plan.standard_output;
  const SubprocessResult same = Hone({"replay", run, "--verify", "--from", "202"});
  EXPECT_EQ(same.exit_code, 0);
  EXPECT_NE(same.standard_output.find("The same, bit for bit."), std::string::npos)
      << same.standard_output;
  EXPECT_NE(same.standard_output.find("Not verified:"), std::string::npos);
  ExpectError(Hone({"replay", directory_.path().string()}), 1, "is not the folder of a run");
  ExpectError(Hone({"replay", run, "--from", "9999"}), 1, "nothing lies between");
}

}  // namespace
}  // namespace hone
