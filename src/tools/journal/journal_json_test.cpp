#include "tools/journal/journal_json.h"

#include <gtest/gtest.h>

#include "support/random_call.h"

namespace hone {
namespace {

TEST(JournalJsonTest, CallsComeBackTheSame) {
  for (int64_t n = 0; n < 300; ++n) {
    const JournalEntry entry = RandomCall(Rng(1), n);
    const std::string text = DumpJson(JournalLineToJson(entry));
    const auto line = JournalLineFromJson(*ParseJson(text));
    ASSERT_TRUE(line.ok()) << line.error().message();
    EXPECT_EQ(std::get<JournalEntry>(*line), entry);
    EXPECT_EQ(DumpJson(JournalLineToJson(std::get<JournalEntry>(*line))), text);
    const BegunCall begun{entry.identity, entry.content, entry.effect};
    EXPECT_EQ(std::get<BegunCall>(*JournalLineFromJson(JournalLineToJson(begun))), begun);
  }
}

// The spelling of docs/formats/journal.md.
TEST(JournalJsonTest, ALineIsSpelledAsDocumented) {
  JournalEntry entry;
  entry.identity = {"tour", "t-1", "0/1", 2, 0};
  entry.content = {7, "weather", Json::Of({{"city", "Oslo"}}), ""};
  entry.source = CallSource::kTool;
  entry.result.content = "rain";
  entry.result.latency_us = 1500;
  entry.result.attempts = 2;
  entry.attempts = {{CallStatus::kTimeout, "", 30000, "timeout"},
                    {CallStatus::kOk, "rain", 1500, ""}};
  entry.recorded_ms = 1700000000000;
  EXPECT_EQ(
      DumpJson(JournalLineToJson(entry)),
      R"({"format":"hone.call","version":1,"run":"tour","task":"t-1","path":"0/1","turn":2,"call":0,)"
      R"("environment_seed":7,"tool":"weather","arguments":{"city":"Oslo"},"state_hash":"",)"
      R"("effect":"reads","source":"tool",)"
      R"("result":{"call":0,"content":"rain","latency_us":1500,"attempts":2},)"
      R"("attempts":[{"status":"timeout","content":"","latency_us":30000,"injected":"timeout"},)"
      R"({"latency_us":1500}],"recorded_ms":1700000000000})");
}

TEST(JournalJsonTest, OneAttemptThatIsTheResultIsNotSpelledTwice) {
  JournalEntry entry = RandomCall(Rng(1), 0);
  entry.attempts = {
      {entry.result.status, entry.result.content, entry.result.latency_us, entry.result.injected}};
  EXPECT_FALSE(AttemptsToJson(entry));
  entry.attempts.clear();
  EXPECT_EQ(DumpJson(*AttemptsToJson(entry)), "[]");
}

TEST(JournalJsonTest, AWrongLineIsAnErrorThatNamesTheKey) {
  const Json good = JournalLineToJson(RandomCall(Rng(1), 0));
  const auto message = [&](std::string_view key, Json value) {
    Json bad = good;
    bad.Set(key, std::move(value));
    const auto line = JournalLineFromJson(bad);
    return line.ok() ? "" : line.error().message();
  };
  EXPECT_NE(message("effect", "sometimes").find("effect"), std::string::npos);
  EXPECT_NE(message("source", "somebody").find("computed, executor, journal, simulator, tool"),
            std::string::npos);
  EXPECT_NE(message("turn", "2").find("turn"), std::string::npos);
  EXPECT_NE(message("environment_seed", -1).find("environment_seed"), std::string::npos);
  EXPECT_NE(message("result", Json::Of({{"call", 0}, {"status", "fine"}})).find("result.status"),
            std::string::npos);
  EXPECT_NE(message("attempts", Json::Array{1}).find("attempts[0]"), std::string::npos);
  EXPECT_NE(message("begun", true).find("source"), std::string::npos) << "begun, and an outcome";
  EXPECT_NE(message("format", "hone.tree").find("hone.call"), std::string::npos);
  Json newer = good;
  newer.Set("version", 2);
  EXPECT_EQ(JournalLineFromJson(newer).error().code(), ErrorCode::kVersion);
}

}  // namespace
}  // namespace hone
