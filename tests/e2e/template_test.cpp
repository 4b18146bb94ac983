// A model that brings its own chat template: looked at, trained, measured.

#include <gtest/gtest.h>

#include "base/file.h"
#include "base/json.h"
#include "e2e/program.h"
#include "support/tiny_recipe.h"

namespace hone {
namespace {

constexpr char kTemplate[] =
    "{% for m in messages %}<|im_start|>{{ m.role }}\n{{ m.content }}"
    "{% for c in m.tool_calls or [] %}<tool_call>\n{{ c.function|tojson }}\n</tool_call>"
    "{% endfor %}<|im_end|>\n{% endfor %}"
    "{% if add_generation_prompt %}<|im_start|>assistant\n{% endif %}";

class TemplateTest : public testing::Test {
 protected:
  std::string Path(const std::string& name) { return (directory_.path() / name).string(); }

  // A Hugging Face folder: a tiny model, a tokenizer with the template's markers, the template.
  std::string ModelFolder(const std::string& source) {
    const std::string folder = Path("model");
    EXPECT_TRUE(WriteFileAtomic(Path("text.txt"), "what day is it in three days? clock name " +
                                                      std::string(kTemplate))
                    .ok());
    std::filesystem::create_directories(folder);
    const SubprocessResult tokenizer =
        Hone({"tokenizer", "train", Path("text.txt"), "--vocab", "300", "--dialect", "hermes",
              "--min-frequency", "1", "-o", folder + "/tokenizer.json"});
    EXPECT_EQ(tokenizer.exit_code, 0) << tokenizer.standard_error;
    const SubprocessResult made = Hone(
        {"model", "new", folder, "layers=1", "width=32", "heads=2", "vocab=320", "positions=400"});
    EXPECT_EQ(made.exit_code, 0) << made.standard_error;
    const Json config = Json::Of({{"chat_template", source}, {"eos_token", "<|im_end|>"}});
    EXPECT_TRUE(WriteFileAtomic(folder + "/tokenizer_config.json", DumpJson(config)).ok());
    return folder;
  }

  const TemporaryDirectory directory_;
};

TEST_F(TemplateTest, ItsTemplateIsShownAndRun) {
  const std::string folder = ModelFolder(kTemplate);
  const std::string conversation =
      R"({"messages": [{"role": "user", "content": "hi"}, {"role": "assistant", "content": "so"}]})";
  const SubprocessResult named =
      Hone({"render", "-d", "template:" + folder, "--json"}, conversation);
  ASSERT_EQ(named.exit_code, 0) << named.standard_error;
  EXPECT_EQ(ParseJson(named.standard_output)->Find("text")->AsString(),
            "<|im_start|>user\nhi<|im_end|>\n<|im_start|>assistant\nso<|im_end|>\n");
  // The folder of the tokenizer is the model's.
  const SubprocessResult own =
      Hone({"render", "-d", "template", "-t", folder, "--json"}, conversation);
  ASSERT_EQ(own.exit_code, 0) << own.standard_error;
  EXPECT_EQ(*ParseJson(own.standard_output)->Find("text"),
            *ParseJson(named.standard_output)->Find("text"));
  const SubprocessResult parsed =
      Hone({"parse", "-d", "template:" + folder,
            "<tool_call>{\"name\": \"f\", \"arguments\": {}}</tool_call><|im_end|>"});
  EXPECT_EQ(parsed.exit_code, 0) << parsed.standard_error;
}

TEST_F(TemplateTest, WhatIsWrongWithItIsSaidWithItsPlace) {
  ExpectError(Hone({"render", "-d", "template"}, "{}"), 1, "template:FOLDER");
  ExpectError(Hone({"render", "-d", "template:" + Path("nowhere")}, "{}"), 1, "no such folder");
  const std::string folder = ModelFolder("{% for m in messages %}");
  ExpectError(Hone({"render", "-d", "template:" + folder}, "{}"), 1, "line 1, column 24");
  ExpectError(Hone({"render", "-d", "template:" + folder + "?calls=smoke"}, "{}"), 1,
              "calls is one of mistral, deepseek");
}

// Imitation, reinforcement and evaluation, with a template that only ever appends and with one that
// writes earlier turns otherwise.
TEST_F(TemplateTest, AModelIsTrainedInItsOwnTemplate) {
  const std::string folder = ModelFolder(kTemplate);
  for (const char* before : {"", "{% for m in messages if m.role == 'tool' %}.{% endfor %}"}) {
    const Json config =
        Json::Of({{"chat_template", std::string(before) + kTemplate}, {"eos_token", "<|im_end|>"}});
    ASSERT_TRUE(WriteFileAtomic(folder + "/tokenizer_config.json", DumpJson(config)).ok());
    const std::string out = Path(*before == '\0' ? "appends" : "rewrites");
    const std::filesystem::path file = directory_.path() / "tiny.toml";
    ASSERT_TRUE(WriteFileAtomic(file, TinyRecipe(out)).ok());
    const std::vector<std::string> settings = {
        "model={folder='" + folder + "', dialect='template'}", "stage.0.steps=30",
        "stage.1.steps=2"};
    std::vector<std::string> command = {"train", file.string(), "--quiet"};
    command.insert(command.end(), settings.begin(), settings.end());
    const SubprocessResult trained = Hone(command);
    ASSERT_EQ(trained.exit_code, 0) << trained.standard_error;
    const SubprocessResult measured = Hone({"eval", out + "/tiny", "--tasks", "4", "--greedy"});
    EXPECT_EQ(measured.exit_code, 0) << measured.standard_error;
  }
}

}  // namespace
}  // namespace hone
