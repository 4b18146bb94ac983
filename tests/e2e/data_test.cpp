// Conversations in files, from the check to a served agent, as people would type it.

#include <gtest/gtest.h>

#include "base/file.h"
#include "base/json.h"
#include "e2e/program.h"
#include "e2e/serving.h"
#include "support/weather_chats.h"

namespace hone {
namespace {

class DataTest : public testing::Test {
 protected:
  void SetUp() override {
    Write("chats.jsonl", WeatherChats(24));
    Write("sft.toml",
          "[run]\nname = \"sft\"\nthreads = 1\nout = \"" + In("runs") +
              "\"\n[model]\ndialect = \"hermes\"\n[model.fresh]\nlayers = 1\nwidth = 32\nheads = "
              "2\npositions = 128\n[model.tokenizer]\nvocabulary = 400\nmin_frequency = 2\n"
              "[[stage]]\nkind = \"sft\"\ndata = [\"chats.jsonl\"]\nepochs = 2\nbatch = 8\n"
              "learning_rate = 0.02\nwarmup = 2\n");
  }
  void Write(const char* name, const std::string& text) {
    ASSERT_TRUE(WriteFileAtomic(folder_.path() / name, text).ok());
  }
  std::string In(const char* name) const { return (folder_.path() / name).string(); }
  const TemporaryDirectory folder_;
};

TEST_F(DataTest, CheckNamesEveryBadRow) {
  const SubprocessResult good = Hone({"data", "check", In("chats.jsonl")});
  EXPECT_EQ(good.exit_code, 0);
  EXPECT_NE(good.standard_output.find("24 conversations can be imitated"), std::string::npos);
  Write("bad.jsonl", WeatherChats(1) + "{\"text\": 1}\n{\"messages\": []}\nnonsense\n");
  const SubprocessResult bad = Hone({"data", "check", In("bad.jsonl"), In("chats.jsonl")});
  EXPECT_EQ(bad.exit_code, 1);
  for (const char* part : {"bad.jsonl:2: ", "bad.jsonl:3: ", "bad.jsonl:4: not JSON",
                           "25 conversations can be imitated, 3 things are wrong"}) {
    EXPECT_NE(bad.standard_output.find(part), std::string::npos) << bad.standard_output;
  }
  const SubprocessResult json = Hone({"data", "check", In("bad.jsonl"), "--json"});
  const Json told = ParseJson(json.standard_output).value();
  EXPECT_EQ(told.Find("problems")->AsArray().size(), 3u);
  EXPECT_EQ(*told.Find("problems")->AsArray()[0].Find("line"), Json(2));
  ExpectError(Hone({"data", "stats", In("nowhere.jsonl")}), 1, "nowhere.jsonl");
}

TEST_F(DataTest, StatsConvertAndSplit) {
  const SubprocessResult stats = Hone({"data", "stats", In("chats.jsonl")});
  EXPECT_NE(stats.standard_output.find("24  weather"), std::string::npos) << stats.standard_output;
  Write("alpaca.json", R"([{"instruction": "Add.", "input": "1 2", "output": "3"}])");
  const SubprocessResult converted = Hone({"data", "convert", In("alpaca.json")});
  EXPECT_EQ(converted.standard_output, R"({"messages":[{"role":"user","content":"Add.\n1 2"},)"
                                       R"({"role":"assistant","content":"3"}]})"
                                       "\n");
  const SubprocessResult split =
      Hone({"data", "split", In("chats.jsonl"), "--held-out", "0.25", "-o", In("cut")});
  EXPECT_EQ(split.exit_code, 0) << split.standard_error;
  const auto rows = [&](const char* name) {
    const std::string text = ReadFile(folder_.path() / name).value();
    return std::count(text.begin(), text.end(), '\n');
  };
  EXPECT_EQ(rows("cut-train.jsonl") + rows("cut-dev.jsonl"), 24);
  EXPECT_GT(rows("cut-dev.jsonl"), 0);
}

// What an agent did is a conversation like any other.
TEST_F(DataTest, ARunsTrajectoriesBecomeConversations) {
  Write("tiny.toml", TinyRecipe(folder_.path()));
  ASSERT_EQ(Hone({"train", In("tiny.toml"), "--quiet", "run.store_groups=-1"}).exit_code, 0);
  const SubprocessResult converted =
      Hone({"data", "convert", In("tiny"), "--all", "-o", In("own.jsonl"), "--json"});
  ASSERT_EQ(converted.exit_code, 0) << converted.standard_error;
  const Json told = ParseJson(converted.standard_output).value();
  const int64_t rows = told.Find("conversations")->AsInteger();
  EXPECT_GT(rows, 10);
  const SubprocessResult checked = Hone({"data", "check", In("own.jsonl"), "--json"});
  EXPECT_EQ(checked.exit_code, 0) << checked.standard_output;
  EXPECT_EQ(*ParseJson(checked.standard_output)->Find("conversations"), Json(rows));
  // Calls, results and answers are there.
  const std::string text = ReadFile(folder_.path() / "own.jsonl").value();
  EXPECT_NE(text.find("\"role\":\"user\""), std::string::npos);
  EXPECT_NE(text.find("\"role\":\"assistant\""), std::string::npos);
}

TEST_F(DataTest, FromConversationsToAnExportThatIsServedElsewhere) {
  const SubprocessResult trained = Hone({"train", In("sft.toml"), "--json"});
  ASSERT_EQ(trained.exit_code, 0) << trained.standard_error;
  EXPECT_NE(trained.standard_output.find("held_out/loss"), std::string::npos);
  // The run is carried away, and what it was made from is gone.
  const TemporaryDirectory elsewhere;
  const std::filesystem::path moved = elsewhere.path() / "agent";
  std::filesystem::rename(folder_.path() / "runs/sft", moved);
  std::filesystem::remove(folder_.path() / "chats.jsonl");
  const SubprocessResult again = Hone({"train", moved.string()});
  EXPECT_EQ(again.exit_code, 0) << again.standard_error;
  EXPECT_NE(again.standard_output.find("came to its end before"), std::string::npos)
      << again.standard_output;
  const std::string out = (elsewhere.path() / "out").string();
  const SubprocessResult exported = Hone({"export", moved.string(), out});
  ASSERT_EQ(exported.exit_code, 0) << exported.standard_error;
  EXPECT_NE(exported.standard_output.find("stops at <|im_end|>"), std::string::npos)
      << exported.standard_output;
  ExpectError(Hone({"export", moved.string(), out}), 1, "is there already");
  for (const std::string& model : {moved.string(), out}) {
    const ServedProgram served(model);
    const Json answer = served.Answer(
        "/chat/completions",
        Json::Of({{"model", served.name()},
                  {"messages", Json::Array{Json::Of(
                                   {{"role", "user"}, {"content", "How warm is Rome now, 3?"}})}},
                  {"temperature", 0},
                  {"max_tokens", 8}}));
    EXPECT_EQ(answer.Find("choices")->AsArray().size(), 1u);
  }
}

}  // namespace
}  // namespace hone
