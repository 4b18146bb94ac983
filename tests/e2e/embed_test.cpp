#include <gtest/gtest.h>

#include "e2e/serving.h"

namespace hone {
namespace {

// Random weights over a real tokenizer (tests/golden/README.md).
constexpr char kEncoder[] = HONE_SOURCE_DIR "/tests/golden/encoder/small";

TEST(Embed, LinesBecomeVectorsThatDoNotDependOnTheOthers) {
  const SubprocessResult two = Hone({"embed", kEncoder}, "the rain in Spain\n\na tool\n");
  ASSERT_EQ(two.exit_code, 0) << two.standard_error;
  const auto lines = ParseJsonLines(two.standard_output);
  ASSERT_TRUE(lines.ok());
  ASSERT_EQ(lines->size(), 2u);
  EXPECT_EQ(*(*lines)[1].Find("text"), Json("a tool"));
  EXPECT_EQ((*lines)[1].Find("vector")->AsArray().size(), 32u);
  const SubprocessResult one = Hone({"embed", kEncoder, "--text", "a tool", "--threads", "1"});
  EXPECT_EQ(ParseJson(one.standard_output).value(), (*lines)[1]);
}

TEST(Embed, TheLikestTextsStandAbove) {
  const std::string texts = "{\"about\": \"a tool\"}\n{\"about\": \"the rain\"}\n";
  const std::vector<std::string> ask = {"embed", kEncoder, "-",         "--key",   "about",
                                        "--top", "1",      "--similar", "The RAIN"};
  const SubprocessResult table = Hone(ask, texts);
  ASSERT_EQ(table.exit_code, 0) << table.standard_error;
  EXPECT_NE(table.standard_output.find("1.0000  the rain  (standard input:2)"), std::string::npos)
      << table.standard_output;
  EXPECT_EQ(table.standard_output.find("a tool"), std::string::npos);
  std::vector<std::string> as_json = ask;
  as_json.insert(as_json.begin(), "--json");
  const Json json = ParseJson(Hone(as_json, texts).standard_output).value();
  EXPECT_EQ(*json.Find("results")->AsArray()[0].Find("line"), Json(2));
}

TEST(Embed, TextsThatAreTooLongAreToldOnce) {
  std::string longer;
  for (int i = 0; i < 100; ++i) longer += "rain, ";
  const SubprocessResult cut = Hone({"embed", kEncoder}, longer + "\n" + longer + "\nshort\n");
  EXPECT_EQ(cut.exit_code, 0);
  EXPECT_EQ(cut.standard_error,
            "hone: 2 of 3 texts are longer than the 80 tokens that the model takes; what is behind "
            "them is not seen\n");
}

TEST(Embed, WhatIsWrongIsSaidInALine) {
  ExpectError(Hone({"embed", "nowhere", "--text", "a"}), 1, "no encoder of texts here");
  ExpectError(Hone({"embed", kEncoder}, "\n"), 1, "there are no texts");
  ExpectError(Hone({"embed", kEncoder, "--text", "a", "--text", "b\xff"}), 1,
              "--text: byte 1 is not UTF-8");
  ExpectError(Hone({"embed", kEncoder, "--text", "a", "--similar", "\xff"}), 1,
              "--similar: byte 0 is not UTF-8");
  ExpectError(Hone({"embed", kEncoder, "--key", "text"}, "{\"x\": 1}\n"), 1,
              "standard input:1: there is no key \"text\"");
  ExpectError(Hone({"embed", HONE_SOURCE_DIR "/tests/golden/models/qwen2", "--text", "a"}), 1,
              "the architecture \"qwen2\" is not \"bert\"");
}

TEST(Embed, AnEncoderIsServedByItself) {
  const ServedProgram served(kEncoder);
  EXPECT_EQ(served.name(), "small");
  const Json reply = served.Answer(
      "/embeddings", Json::Of({{"model", "small"}, {"input", Json::Array{"a tool", "rain"}}}));
  EXPECT_EQ(reply.Find("data")->AsArray().size(), 2u);
  const SubprocessResult alone = Hone({"embed", kEncoder, "--text", "a tool"});
  EXPECT_EQ(*reply.Find("data")->AsArray()[0].Find("embedding"),
            *ParseJson(alone.standard_output)->Find("vector"));
  EXPECT_EQ(served.Ask("/chat/completions", Json::Of({{"model", "small"}})).status, 404);
}

TEST(Embed, TheClientThatPeopleUseIsContent) {
  const std::string packages = HONE_SOURCE_DIR "/build/openai-client/node_modules";
  if (!std::filesystem::exists(packages)) {
    GTEST_SKIP() << "the openai package of npm is not installed: ./dev test installs it where npm "
                    "and its registry are there";
  }
  TemporaryDirectory directory;
  const ServedProgram served(FreshModel(directory.path()),
                             {"--api-key", "secret", "--embeddings", kEncoder});
  const auto checked = RunSubprocess({"node", HONE_SOURCE_DIR "/tests/openai/embeddings.mjs",
                                      served.url(), "secret", packages, "small"},
                                     "", std::chrono::seconds(100));
  ASSERT_TRUE(checked.ok()) << checked.error().message();
  EXPECT_EQ(checked->exit_code, 0) << checked->standard_output << checked->standard_error;
}

}  // namespace
}  // namespace hone
