#include <algorithm>
#include <sstream>

#include "app/passes/passes.h"
#include "app/passes/pipe.h"
#include "base/file.h"
#include "e2e/program.h"
#include "record/record_json.h"
#include "record/store.h"
#include "support/random_record.h"
#include "support/tiny_recipe.h"
#include "train/trainer.h"

namespace hone {
namespace {

const std::vector<std::string> kTokenize = {"pipe", "tokenize", "--tokenizer",
                                            "tests/golden/tokenizer"};

std::vector<Json> Lines(const SubprocessResult& result) {
  auto lines = ParseJsonLines(result.standard_output);
  EXPECT_TRUE(lines.ok()) << result.standard_output;
  return lines.ok() ? *lines : std::vector<Json>();
}

TEST(Pipe, OneLineOutPerLineInInOrderAndErrorsInTheirPlace) {
  const SubprocessResult result = Hone(
      kTokenize, "{\"text\": \"a\"}\nnot json\n{\"text\": 5}\n\n{\"text\": \"b\", \"id\": 9}\n");
  EXPECT_EQ(result.exit_code, 1);
  const auto lines = Lines(result);
  ASSERT_EQ(lines.size(), 5u);
  EXPECT_EQ(*lines[0].Find("decoded"), Json("a"));
  for (const int bad : {1, 2, 3}) {
    ASSERT_NE(lines[bad].Find("error"), nullptr) << bad;
    EXPECT_TRUE(lines[bad].Find("error")->Find("code")->is_string());
    EXPECT_TRUE(lines[bad].Find("error")->Find("message")->is_string());
  }
  EXPECT_EQ(*lines[4].Find("decoded"), Json("b"));
  EXPECT_EQ(Hone(kTokenize, "{\"text\": \"a\"}\n").exit_code, 0);
  EXPECT_EQ(Hone(kTokenize, "").exit_code, 0);
  EXPECT_EQ(Lines(Hone(kTokenize, "{\"text\": \"no newline at the end\"}")).size(), 1u);
}

TEST(Pipe, RenderAndParse) {
  const auto rendered =
      Lines(Hone({"pipe", "render", "--dialect", "hermes", "--tokenizer", "tests/golden/tokenizer"},
                 R"({"messages":[{"role":"user","content":"hi"}],"tools":[]})"
                 "\n"
                 R"({"messages":[{"role":"user","content":"hi"}]})"
                 "\n"
                 R"({"messages":[{"role":"king"}]})"));
  ASSERT_EQ(rendered.size(), 3u);
  EXPECT_EQ(rendered[0], rendered[1]) << "tools=[] equals no tools";
  EXPECT_TRUE(rendered[0].Find("ids")->is_array());
  EXPECT_NE(rendered[2].Find("error"), nullptr);

  const auto parsed =
      Lines(Hone({"pipe", "parse", "--dialect", "hermes", "--tokenizer", "tests/golden/tokenizer"},
                 R"({"text":"é<tool_call>{\"name\":\"f\",\"arguments\":{\"x\":1}}</tool_call>"})"
                 "\n"
                 R"({"text":"just text"})"
                 "\n"
                 R"({"text":"just te","end":"cut"})"));
  ASSERT_EQ(parsed.size(), 3u);
  const Json& call = parsed[0].Find("calls")->AsArray()[0];
  EXPECT_EQ(*call.Find("arguments"), *ParseJson("{\"x\":1}"));
  EXPECT_EQ(*call.Find("span"), *ParseJson("[2,57]"));
  EXPECT_EQ(*call.Find("char_span"), *ParseJson("[1,56]"));
  EXPECT_TRUE(parsed[0].Find("answer")->is_null());
  EXPECT_TRUE(parsed[0].Find("error")->is_null());
  EXPECT_EQ(*parsed[1].Find("answer"), Json("just text"));
  EXPECT_EQ(*parsed[2].Find("error")->Find("kind"), Json("incomplete"));
}

TEST(Pipe, SpansAreRefusedWhereTheTokenizerChangesTheText) {
  const std::vector<std::string> command = {"pipe",   "parse",       "--dialect",
                                            "hermes", "--tokenizer", "tests/golden/tokenizer"};
  EXPECT_NE(Lines(Hone(command, R"({"text":"e\u0301"})"))[0].Find("error")->Find("code"), nullptr);
  EXPECT_NE(Lines(Hone({"pipe", "parse", "--dialect", "hermes"}, R"({"ids":[1]})"))[0]
                .Find("error")
                ->Find("message")
                ->AsString()
                .find("--tokenizer"),
            std::string::npos);
}

TEST(Pipe, AnInputThatCannotBeReadIsAnError) {
  auto result = RunSubprocess({"sh", "-c", "\"$0\" pipe validate < /", HONE_BINARY}, "",
                              std::chrono::seconds(60));
  ASSERT_TRUE(result.ok());
  ExpectError(*result, 1, "cannot be read");
}

TEST(Pipe, ValidateTellsSoundFromBroken) {
  ScoredTree broken = RandomRecord(Rng(3));
  broken.tree.nodes[0].tokens[0] = -5;
  const std::string input = DumpJson(RecordToJson(RandomRecord(Rng(3)))) + "\n" +
                            DumpJson(RecordToJson(broken)) + "\n" +
                            R"({"format":"hone.tree","version":2})" + "\n";
  const SubprocessResult result = Hone({"pipe", "validate"}, input);
  const auto lines = Lines(result);
  ASSERT_EQ(lines.size(), 3u);
  EXPECT_EQ(DumpJson(lines[0]), R"({"ok":true})");
  EXPECT_EQ(*lines[1].Find("ok"), Json(false));
  EXPECT_EQ(lines[1].Find("errors")->AsArray()[0], Json("nodes[0]: a token id is negative"));
  EXPECT_EQ(*lines[2].Find("error")->Find("code"), Json("version"));
  EXPECT_EQ(result.exit_code, 1);
}

TEST(Pipe, StoreKeepsWhatItIsGiven) {
  TemporaryDirectory directory;
  const std::string run = (directory.path() / "run").string();
  const std::string input = DumpJson(RecordToJson(RandomRecord(Rng(1)))) + "\n" +
                            DumpJson(RecordToJson(RandomRecord(Rng(2)))) + "\n";
  const auto lines = Lines(Hone({"pipe", "store", "--run", run, "--step", "4"}, input));
  ASSERT_EQ(lines.size(), 2u);
  EXPECT_EQ(*lines[1].Find("id"), Json(2));
  auto store = RunStore::OpenForReading(directory.path() / "run" / "store.sqlite");
  ASSERT_TRUE(store.ok());
  EXPECT_EQ(*(*store)->ReadTree(2), RandomRecord(Rng(2)));
  EXPECT_EQ((*(*store)->ListTrees())[0].step, 4);
  ExpectError(Hone({"pipe", "store", "--run", run, "--step", "x"}, ""), 1, "--step");
}

// Every pass: its example works, what it prints fits what it says, and docs/pipe.md is up to date.
TEST(Pipe, TheListIsComplete) {
  const Json list = *ParseJson(Hone({"pipe", "list", "--json"}).standard_output);
  ASSERT_EQ(list.AsArray().size(), BuiltInPasses().size());
  for (const Json& pass : list.AsArray()) {
    for (const char* key : {"name", "about", "options", "input", "output", "example"}) {
      EXPECT_NE(pass.Find(key), nullptr) << key;
    }
  }
  EXPECT_NE(Hone({"pipe", "list"}).standard_output.find("tokenize"), std::string::npos);
}

// A run of the tiny recipe, in this folder.
std::string TinyRun(const std::filesystem::path& folder) {
  const Result<TrainingRecipe> recipe = ReadTiny(folder);
  EXPECT_TRUE(recipe.ok() && Train(*recipe, {}).ok());
  return recipe->Folder().string();
}

TEST(Pipe, EveryExampleWorks) {
  TemporaryDirectory directory;
  const std::string trained = TinyRun(directory.path() / "runs");
  for (const Pass& pass : BuiltInPasses()) {
    PassOptions options;
    for (const PassOption& option : pass.options) {
      if (option.name == "tokenizer")
        options["tokenizer"] = HONE_SOURCE_DIR "/tests/golden/tokenizer";
      if (option.name == "dialect") options["dialect"] = "hermes";
      if (option.name == "model") options["model"] = HONE_SOURCE_DIR "/tests/golden/models/qwen2";
      if (option.name == "method") options["method"] = "toolpo-split";
      if (option.name == "run") options["run"] = (directory.path() / "run").string();
      if (option.name == "env") options["model"] = trained;
    }
    std::istringstream in(pass.example + "\n");
    std::ostringstream out;
    auto failed = RunPipe(pass, options, in, out);
    ASSERT_TRUE(failed.ok()) << pass.name << failed.error().message();
    EXPECT_EQ(*failed, 0) << pass.name << out.str();
    const Json line = *ParseJson(out.str());
    if (const Json* required = pass.output_schema.Find("required")) {
      for (const Json& key : required->AsArray()) EXPECT_NE(line.Find(key.AsString()), nullptr);
    }
  }
}

// Task to tree to scores to advantages to new weights, each by its pass.
TEST(Pipe, EveryArrowOfATrainingStepIsAPass) {
  TemporaryDirectory directory;
  const std::string run = TinyRun(directory.path() / "runs");
  std::string lines;
  for (int task = 0; task < 6; ++task) {
    lines += DumpJson(Json::Of({{"index", task}, {"leaves", 6}, {"seed", task}})) + "\n";
  }
  const auto through = [](std::vector<std::string> arguments, const std::string& in) {
    arguments.insert(arguments.begin(), "pipe");
    const SubprocessResult result = Hone(arguments, in);
    EXPECT_EQ(result.exit_code, 0)
        << arguments[1] << result.standard_output.substr(0, 500) << result.standard_error;
    return result.standard_output;
  };
  const std::string trees = through({"rollout", "--model", run}, lines);
  EXPECT_EQ(through({"rollout", "--model", run}, lines), trees) << "a function of its line";
  const std::string scored = through({"rewards", "--preset", "desk"}, trees);
  const std::string credited = through({"credit", "--method", "toolpo"}, scored);
  Json::Array all;
  for (Json& one : ParseJsonLines(credited).value()) {
    const Json* record = one.Find("tree");
    all.push_back(record != nullptr ? *record : one);
  }
  const std::string batch = DumpJson(Json::Of({{"trees", all}})) + "\n";
  const std::string out = (directory.path() / "next").string();
  const auto updates = Lines(Hone(
      {"pipe", "update", "--model", run, "--learning-rate", "1e-3", "--out", out}, batch + batch));
  ASSERT_EQ(updates.size(), 2u);
  ASSERT_EQ(updates[0].Find("error"), nullptr) << DumpJson(updates[0]);
  EXPECT_GT(updates[0].Find("tokens")->AsInteger(), 0);
  EXPECT_EQ(*updates[0].Find("ratio_one_tokens"), *updates[0].Find("tokens"))
      << "this model drew: on policy to the bit";
  EXPECT_NE(*updates[1].Find("ratio_one_tokens"), *updates[1].Find("tokens"))
      << "the first line has moved the weights";
  EXPECT_NE(*updates[0].Find("weights"), *updates[1].Find("weights"));
  EXPECT_TRUE(std::filesystem::exists(std::filesystem::path(out) / "model.safetensors"));
  const auto wrong = Lines(Hone({"pipe", "rollout", "--model", run}, "{\"leaves\": 2}\n"));
  EXPECT_NE(DumpJson(wrong[0]).find("needs \\\"index\\\""), std::string::npos)
      << DumpJson(wrong[0]);
}

TEST(Pipe, TheDocumentationIsTrue) {
  EXPECT_EQ(*ReadFile(HONE_SOURCE_DIR "/docs/pipe.md"), PassesMarkdown(BuiltInPasses()))
      << "run: build/release/hone pipe list --markdown > docs/pipe.md";
}

TEST(Pipe, NumbersRoundTripToTheBit) {
  ScoredTree record = RandomRecord(Rng(9));
  TemporaryDirectory directory;
  const std::string run = directory.path().string();
  Hone({"pipe", "store", "--run", run}, DumpJson(RecordToJson(record)) + "\n");
  const Json shown = *ParseJson(Hone({"show", run, "1", "--json"}).standard_output);
  EXPECT_EQ(*RecordFromJson(shown), record);
}

}  // namespace
}  // namespace hone
