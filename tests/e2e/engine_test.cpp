#include <algorithm>

#include "base/file.h"
#include "base/json.h"
#include "e2e/program.h"

namespace hone {
namespace {

constexpr char kModel[] = "tests/golden/models/qwen3";
constexpr char kTokenizer[] = "tests/golden/tokenizer";

Json LineOf(const SubprocessResult& result) {
  auto json = ParseJson(result.standard_output);
  EXPECT_TRUE(json.ok()) << result.standard_output << result.standard_error;
  return json.ok() ? *json : Json();
}

TEST(EngineCommands, AFreshModelIsMadeLookedAtConvertedAndSampledFrom) {
  TemporaryDirectory directory;
  const std::string tiny = (directory.path() / "tiny").string(),
                    half = (directory.path() / "half").string();
  ASSERT_EQ(
      Hone({"model", "new", tiny, "layers=2", "width=32", "heads=2", "vocab=5000", "--type", "f32"})
          .exit_code,
      0);
  EXPECT_EQ(*LineOf(Hone({"model", "info", tiny, "--json"})).Find("layers"), Json(2));
  std::filesystem::copy(std::string(HONE_SOURCE_DIR "/") + kTokenizer + "/tokenizer.json",
                        tiny + "/tokenizer.json");
  ASSERT_EQ(Hone({"model", "convert", tiny, half, "--type", "bf16"}).exit_code, 0);
  EXPECT_TRUE(std::filesystem::exists(half + "/tokenizer.json"))
      << "the tokenizer is carried along";
  EXPECT_NE(Hone({"model", "check", half}).standard_output.find("no better than guessing"),
            std::string::npos);
  const auto first = Hone({"generate", half, "Hello", "--max-new", "6", "--seed", "3", "--json"});
  EXPECT_EQ(
      first.standard_output,
      Hone({"generate", half, "Hello", "--max-new", "6", "--seed", "3", "--json"}).standard_output);
  EXPECT_EQ(LineOf(first).Find("ids")->AsArray().size(), 6u);
  const std::string written = LineOf(first).Find("text")->AsString();
  const Json stopped = LineOf(Hone({"generate", half, "Hello", "--max-new", "6", "--seed", "3",
                                    "--stop", written.substr(0, 1), "--json"}));
  EXPECT_EQ(*stopped.Find("stopped"), Json(true));
  EXPECT_LT(stopped.Find("ids")->AsArray().size(), 6u);
  EXPECT_EQ(
      LineOf(Hone({"logprobs", half, "Hello, world!", "--json"})).Find("tokens")->AsArray().size(),
      6u);
}

TEST(EngineCommands, AnEncoderIsDescribedAndSentToWhatItIsFor) {
  const std::string bert = "tests/golden/models/bert";
  const Json info = LineOf(Hone({"model", "info", bert, "--json"}));
  EXPECT_EQ(*info.Find("use"), Json("an encoder of texts: hone embed"));
  EXPECT_NE(info.Find("pooling"), nullptr);
  TemporaryDirectory directory;
  const std::string out = (directory.path() / "out").string();
  for (const std::vector<std::string>& command :
       std::vector<std::vector<std::string>>{{"model", "check", bert},
                                             {"model", "convert", bert, out},
                                             {"generate", bert, "Hi"},
                                             {"logprobs", bert, "Hi"}}) {
    ExpectError(Hone(command), 1, "an encoder of texts, not a language model: hone embed");
  }
  const SubprocessResult table = Hone({"model", "table", bert});
  EXPECT_EQ(table.exit_code, 0) << table.standard_output;
  EXPECT_NE(table.standard_output.find("encoder: hone embed"), std::string::npos);
}

TEST(EngineCommands, ATextBeginsWithTheTokenThatTheTokenizersFilesPutThere) {
  TemporaryDirectory directory;
  const std::string tiny = (directory.path() / "tiny").string();
  ASSERT_EQ(Hone({"model", "new", tiny, "layers=1", "width=32", "heads=2", "vocab=5000"}).exit_code,
            0);
  std::filesystem::copy(std::string(HONE_SOURCE_DIR "/") + kTokenizer + "/tokenizer.json",
                        tiny + "/tokenizer.json");
  const auto first = [&](const std::vector<std::string>& more) {
    std::vector<std::string> command = {"logprobs", tiny, "Hello, world!", "--json"};
    command.insert(command.end(), more.begin(), more.end());
    const Json tokens = *LineOf(Hone(command)).Find("tokens");
    return std::pair(tokens.AsArray().size(), DumpJson(*tokens.AsArray()[0].Find("id")));
  };
  const auto bare = first({});
  ExpectError(Hone({"generate", tiny, ""}), 1, "the prompt is empty");
  ASSERT_TRUE(WriteFileAtomic(tiny + "/tokenizer_config.json",
                              R"({"add_bos_token": true, "bos_token": "<|endoftext|>"})")
                  .ok());
  EXPECT_EQ(first({}).first, bare.first + 1);
  EXPECT_NE(first({}).second, bare.second);
  EXPECT_EQ(first({"--no-bos"}), bare);
  EXPECT_EQ(Hone({"generate", tiny, ""}).exit_code, 0) << "that token alone is a beginning";
  ExpectError(Hone({"generate", tiny, "", "--no-bos"}), 1, "the prompt is empty");
  ASSERT_TRUE(WriteFileAtomic(tiny + "/tokenizer_config.json",
                              R"({"add_bos_token": true, "bos_token": "<nobody>"})")
                  .ok());
  ExpectError(Hone({"generate", tiny, "Hi"}), 1, "do without it: --no-bos");
}

TEST(EngineCommands, AnExportCarriesTheChatTemplateOfItsDialectAndMergedAdapters) {
  TemporaryDirectory directory;
  const std::string out = (directory.path() / "out").string();
  ASSERT_EQ(Hone({"model", "convert", kModel, out, "--dialect", "tagged:desk"}).exit_code, 0);
  const std::string text = *ReadFile(out + "/chat_template.jinja");
  const Json line = LineOf(Hone({"pipe", "template"}, "{\"dialect\": \"tagged:desk\"}\n"));
  EXPECT_EQ(*line.Find("chat_template"), Json(text));
  EXPECT_EQ(*ParseJson(*ReadFile(out + "/tokenizer_config.json"))->Find("chat_template"),
            Json(text));
  ExpectError(Hone({"model", "convert", kModel, out, "--dialect", "klingon"}), 1, "klingon");
  ExpectError(Hone({"model", "convert", kModel, out, "--adapter", out}), 1, "adapter_config.json");
}

TEST(EngineCommands, AModelGoesIntoAGgufFileAndBack) {
  TemporaryDirectory directory;
  const auto in = [&](const char* name) { return (directory.path() / name).string(); };
  const std::string tiny = in("tiny"), file = in("tiny.gguf"), back = in("back");
  ASSERT_EQ(Hone({"model", "new", tiny, "layers=2", "width=64", "heads=2", "vocab=5000", "--type",
                  "f32", "family=llama"})
                .exit_code,
            0);
  std::filesystem::copy(std::string(HONE_SOURCE_DIR "/") + kTokenizer + "/tokenizer.json",
                        tiny + "/tokenizer.json");
  ASSERT_EQ(
      Hone({"model", "convert", tiny, file, "--type", "f32", "--dialect", "hermes"}).exit_code, 0);
  const Json info = LineOf(Hone({"model", "info", file, "--json"}));
  EXPECT_EQ(*info.Find("layers"), Json(2));
  EXPECT_EQ(*info.Find("chat_template"), Json(true));
  const SubprocessResult converted = Hone({"model", "convert", file, back});
  ASSERT_EQ(converted.exit_code, 0);
  EXPECT_NE(converted.standard_output.find(" parameters as f32"), std::string::npos)
      << "the type of the file keeps its numbers: " << converted.standard_output;
  EXPECT_EQ(*ReadFile(back + "/model.safetensors"), *ReadFile(tiny + "/model.safetensors"));
  EXPECT_EQ(*ReadFile(back + "/tokenizer.json"), *ReadFile(tiny + "/tokenizer.json"));
  const std::vector<std::string> text = {"Hello, world!", "--json"};
  EXPECT_EQ(Hone({"logprobs", back, text[0], text[1]}).standard_output,
            Hone({"logprobs", tiny, text[0], text[1]}).standard_output);
  ASSERT_EQ(Hone({"model", "convert", tiny, file, "--type", "q8_0"}).exit_code, 0);
  EXPECT_NE(Hone({"model", "info", file}).standard_output.find("Q8_0"), std::string::npos);
  ExpectError(Hone({"logprobs", file, "Hello"}), 1, "hone model convert");
  ExpectError(Hone({"model", "convert", tiny, back, "--type", "q8_0"}), 1, "ends in .gguf");
  ASSERT_TRUE(WriteFileAtomic(file, ReadFile(file)->substr(0, 9000)).ok());
  ExpectError(Hone({"model", "info", file}), 1, "tiny.gguf");
}

TEST(EngineCommands, BenchMeasuresAModelAndTheMachine) {
  const Json costs =
      LineOf(Hone({"bench", "model", kModel, "--tokens", "32", "--recompute", "--json"}));
  EXPECT_GT(costs.Find("train_seconds")->AsDouble(), 0);
  EXPECT_EQ(*costs.Find("train_tokens"), Json(32));
  EXPECT_GT(costs.Find("memory")->Find("moments")->AsInteger(), 0);
  ExpectError(Hone({"bench", "model", "/nowhere"}), 1, "/nowhere/config.json");
}

TEST(EngineCommands, BadModelsAndInputAreOneLineErrors) {
  TemporaryDirectory directory;
  ExpectError(Hone({"model", "info", "/nowhere"}), 1, "there is no folder \"/nowhere\"");
  ExpectError(Hone({"generate", kModel, "hi", "-t", kTokenizer}), 1,
              "the tokenizer has 4103 tokens, the model only 512");
  ExpectError(Hone({"model", "new", (directory.path() / "x").string(), "layer=2"}), 1,
              "did you mean \"layers\"?");
  EXPECT_FALSE(std::filesystem::exists(directory.path() / "x"));
  std::filesystem::copy(std::string(HONE_SOURCE_DIR "/") + kModel, directory.path() / "m");
  const auto weights = directory.path() / "m" / "model.safetensors";
  std::filesystem::resize_file(weights, std::filesystem::file_size(weights) - 100);
  ExpectError(Hone({"pipe", "engine.logprobs", "--model", (directory.path() / "m").string()}), 1,
              "cut off or damaged");
  ExpectError(Hone({"pipe", "engine.sample", "--model", kModel, "--precision", "f16"}), 1,
              "f32 or bf16");
}

TEST(EnginePasses, ASampleDependsOnItsRowAndSeedAndNotOnItsLine) {
  const std::vector<std::string> command = {"pipe", "engine.sample", "--model", kModel};
  const std::string row = R"({"ids":[5,6,7],"max_new":8,"temperature":0.9,"top_p":0.8,"seed":11})";
  const auto lines = ParseJsonLines(
      Hone(command, row + "\n{\"ids\":[1],\"max_new\":3}\n{\"ids\":[]}\n" + row + "\n")
          .standard_output);
  ASSERT_TRUE(lines.ok());
  ASSERT_EQ(lines->size(), 4u);
  EXPECT_EQ((*lines)[0], (*lines)[3]);
  EXPECT_EQ((*lines)[1].Find("ids")->AsArray().size(), 3u);
  EXPECT_NE((*lines)[2].Find("error"), nullptr);

  // What was sampled at temperature 1 is scored to the same bits by the other pass.
  const Json sample = LineOf(Hone(command, R"({"ids":[5,6,7],"max_new":8,"seed":4})"));
  Json::Array ids = {5, 6, 7};
  for (const Json& id : sample.Find("ids")->AsArray()) ids.push_back(id);
  const Json scored = LineOf(
      Hone({"pipe", "engine.logprobs", "--model", kModel}, DumpJson(Json::Of({{"ids", ids}}))));
  const Json::Array& all = scored.Find("logprobs")->AsArray();
  EXPECT_EQ(Json(Json::Array(all.begin() + 2, all.end())), *sample.Find("logprobs"));
}

}  // namespace
}  // namespace hone
