// hone eval MODEL|ENDPOINT SUITE as people use it.

#include <gtest/gtest.h>

#include <cstdlib>

#include "base/file.h"
#include "e2e/program.h"
#include "support/chat_server.h"
#include "support/tiny_recipe.h"

namespace hone {
namespace {

constexpr const char* kCases =
    R"({"id": "oslo", "category": "weather", "prompt": "Weather in Oslo?", "tools": [{"name": "weather", "description": "The weather.", "parameters": {"type": "object", "properties": {"city": {"type": "string"}}}}], "calls": [{"name": "weather", "arguments": {"city": "Oslo"}}]}
{"id": "hello", "category": "talk", "prompt": "Hello", "tools": [{"name": "weather", "parameters": {"type": "object"}}], "calls": []}
{"id": "sum", "category": "sums", "prompt": "1 + 1?", "answer": "2", "scorer": "number"}
)";

// Calls the weather when asked for it, by whatever name it has; else says 2.
ChatServer::Reply Answer(const ChatServer::Request& request) {
  const std::string asked =
      request.body.Find("messages")->AsArray().back().Find("content")->AsString();
  if (asked.find("Weather") == std::string::npos) return ChatServer::Says("2", 100, 1);
  const Json function = *request.body.Find("tools")->AsArray()[0].Find("function");
  const std::string parameter =
      function.Find("parameters")->Find("properties")->AsObject()[0].first;
  const Json call = Json::Of(
      {{"id", "c"},
       {"type", "function"},
       {"function", Json::Of({{"name", *function.Find("name")},
                              {"arguments", DumpJson(Json::Of({{parameter, "Oslo"}}))}})}});
  const Json message =
      Json::Of({{"role", "assistant"}, {"content", Json()}, {"tool_calls", Json::Array{call}}});
  return {.body = DumpJson(
              Json::Of({{"choices", Json::Array{Json::Of({{"message", message}})}},
                        {"usage", Json::Of({{"prompt_tokens", 100}, {"completion_tokens", 9}})}}))};
}

class SuiteTest : public testing::Test {
 protected:
  std::string Write(const std::string& name, const std::string& text) {
    EXPECT_TRUE(WriteFileAtomic(directory_.path() / name, text).ok());
    return (directory_.path() / name).string();
  }

  const TemporaryDirectory directory_;
};

TEST_F(SuiteTest, AnEndpointIsMeasuredForPeopleAndForPrograms) {
  ChatServer server(&Answer);
  const std::string cases = Write("mine.jsonl", kCases);
  const std::string out = (directory_.path() / "out.jsonl").string();
  const std::vector<std::string> command = {"eval",
                                            server.url(),
                                            cases,
                                            "--model-name",
                                            "m",
                                            "--prompt-price",
                                            "1000",
                                            "--rename-tools",
                                            "--change-schemas",
                                            "--paraphrase",
                                            "-o",
                                            out};
  const SubprocessResult people = Hone(command);
  ASSERT_EQ(people.exit_code, 0) << people.standard_error;
  for (const char* part :
       {"3 cases, greedy", "weather", "talk", "sums", "100.0 %", "renamed tools", "changed schemas",
        "paraphrased", "difference, points", "latency", "money"}) {
    EXPECT_NE(people.standard_output.find(part), std::string::npos) << people.standard_output;
  }
  std::vector<std::string> for_programs = command;
  for_programs.emplace_back("--json");
  const SubprocessResult programs = Hone(for_programs);
  const auto found = ParseJson(programs.standard_output);
  ASSERT_TRUE(found.ok()) << programs.standard_output << programs.standard_error;
  for (const char* guise : {"plain", "renamed_tools", "changed_schemas", "paraphrased"}) {
    EXPECT_EQ(found->Find(guise)->Find("all")->Find("right")->Find("value")->AsDouble(), 1)
        << guise;
  }
  EXPECT_EQ(
      found->Find("renamed_tools")->Find("difference")->Find("all")->Find("value")->AsDouble(), 0);
  EXPECT_NEAR(found->Find("plain")->Find("money")->AsDouble(), 0.3, 1e-9);
  const auto lines = ParseJsonLines(*ReadFile(out));
  ASSERT_TRUE(lines.ok());
  EXPECT_EQ(lines->size(), 12u);
  EXPECT_EQ(*(*lines)[0].Find("id"), Json("oslo"));
  EXPECT_EQ(*(*lines)[0].Find("right"), Json(true));
}

TEST_F(SuiteTest, SeveralSamplesHavePasses) {
  ChatServer server([](const ChatServer::Request& request) {
    return ChatServer::Says(request.number % 2 == 0 ? "2" : "3");
  });
  const std::string cases =
      Write("one.jsonl", R"({"prompt": "1 + 1?", "answer": "2", "scorer": "number"})");
  const SubprocessResult result = Hone({"eval", server.url(), cases, "--model-name", "m",
                                        "--samples", "4", "--at-once", "1", "--json"});
  const auto found = ParseJson(result.standard_output);
  ASSERT_TRUE(found.ok()) << result.standard_error;
  const Json::Array& passes = found->Find("plain")->Find("pass")->AsArray();
  EXPECT_EQ(passes[0].Find("one")->Find("value")->AsDouble(), 0.5);
  EXPECT_EQ(passes.back().Find("one")->Find("value")->AsDouble(), 1);
  EXPECT_EQ(passes.back().Find("every")->Find("value")->AsDouble(), 0);
}

TEST_F(SuiteTest, FinishedCasesAreNotAskedAgain) {
  ChatServer server(&Answer);
  const std::string cases = Write("mine.jsonl", kCases);
  const std::string journal = (directory_.path() / "asked.sqlite").string();
  const std::vector<std::string> command = {
      "eval",      server.url(), cases,    "--model-name",   "m",
      "--journal", journal,      "--json", "--prompt-price", "1000"};
  const auto first = ParseJson(Hone(command).standard_output);
  EXPECT_EQ(server.requests(), 3);
  const auto again = ParseJson(Hone(command).standard_output);
  EXPECT_EQ(server.requests(), 3);
  ASSERT_TRUE(first.ok() && again.ok());
  for (const char* key : {"all", "money", "latency_ms", "prompt_tokens"}) {
    EXPECT_EQ(*first->Find("plain")->Find(key), *again->Find("plain")->Find(key)) << key;
  }
  EXPECT_EQ(*again->Find("account")->Find("recorded"), Json(3));
}

TEST_F(SuiteTest, ATrainedRunDoesASuite) {
  const std::string recipe = Write("tiny.toml", TinyRecipe(directory_.path()));
  ASSERT_EQ(Hone({"train", recipe, "--quiet"}).exit_code, 0);
  const std::string run = (directory_.path() / "tiny").string();
  const std::string cases = Write("mine.jsonl", kCases);
  const SubprocessResult people = Hone({"eval", run, cases, "--samples", "2"});
  ASSERT_EQ(people.exit_code, 0) << people.standard_error;
  EXPECT_NE(people.standard_output.find("3 cases, 2 samples each, sampled at 1"), std::string::npos)
      << people.standard_output;
  const auto figures = [&] {
    const auto found =
        ParseJson(Hone({"eval", run, cases, "--json", "--seed", "5"}).standard_output);
    EXPECT_TRUE(found.ok());
    return *found->Find("plain")->Find("all");
  };
  EXPECT_EQ(figures(), figures());
  const std::string sums = Write("gsm8k.jsonl", R"({"question": "1+1?", "answer": "#### 2"})");
  const SubprocessResult played =
      Hone({"eval", run, "gsm8k:" + sums, "--tool", "calculator", "--turns", "2", "--faults",
            "reset,probability=0.5", "--turn-tokens", "16"});
  EXPECT_EQ(played.exit_code, 0) << played.standard_error;
  EXPECT_NE(played.standard_output.find("with faults"), std::string::npos)
      << played.standard_output;
}

TEST_F(SuiteTest, BadInputGetsASentence) {
  const std::string cases = Write("mine.jsonl", kCases);
  ExpectError(Hone({"eval", "m", "bfcl:/nowhere"}), 1, "there are no files of BFCL in /nowhere");
  ExpectError(Hone({"eval", "m", "bfcl"}), 1, "Name bfcl:PATH");
  ExpectError(Hone({"eval", "m", "bflc:/nowhere"}), 1, "did you mean \"bfcl\"?");
  ExpectError(Hone({"eval", "m", "metatool:/nowhere"}), 1, "there is no folder /nowhere");
  ExpectError(Hone({"eval", "m", "gsm8k:/nowhere"}), 1, "/nowhere");
  ExpectError(Hone({"eval", "m", "/nowhere.jsonl"}), 1, "/nowhere.jsonl");
  ExpectError(Hone({"eval", "m", Write("bad.jsonl", "{}\n")}), 1, "bad.jsonl:1: ");
  ExpectError(Hone({"eval", "/nowhere", cases}), 1, "there is no folder \"/nowhere\"");
  ExpectError(Hone({"eval", "m", cases, "--category", "wether"}), 1, "did you mean \"weather\"?");
  ExpectError(Hone({"eval", "m", cases, "--faults", "reset"}), 1, "no tool answers");
  ExpectError(Hone({"eval", "m", cases, "--env", "desk"}), 1, "--category and --cases");
  ExpectError(Hone({"eval", "m", "--category", "a"}), 1, "options of suites need one");
  ExpectError(Hone({"eval", "http://127.0.0.1:9/v1", cases}), 1, "--model-name");
  ExpectError(Hone({"eval", "http://127.0.0.1:9/v1", cases, "--model-name", "m", "--key-variable",
                    "HONE_NO_SUCH_KEY"}),
              1, "HONE_NO_SUCH_KEY, which is not set");
  ChatServer server([](const ChatServer::Request& request) {
    EXPECT_EQ(request.headers.at("authorization"), "Bearer sesame");
    return ChatServer::Reply{.status = 401, .body = R"({"error": "invalid key sesame"})"};
  });
  ::setenv("HONE_TEST_SUITE_KEY", "sesame", 1);
  const SubprocessResult refused = Hone(
      {"eval", server.url(), cases, "--model-name", "m", "--key-variable", "HONE_TEST_SUITE_KEY"});
  ExpectError(refused, 1, "cannot be asked");
  EXPECT_NE(refused.standard_error.find("401"), std::string::npos) << refused.standard_error;
  EXPECT_EQ(refused.standard_error.find("sesame"), std::string::npos) << "the key is in no message";
}

}  // namespace
}  // namespace hone
