#include "app/models/model_table.h"

#include <gtest/gtest.h>

#include "app/views/model_table_view.h"
#include "base/file.h"

namespace hone {
namespace {

using State = ModelStep::State;

const std::filesystem::path kGolden = HONE_SOURCE_DIR "/tests/golden";

class ModelTableTest : public testing::Test {
 protected:
  // A folder with these files.
  std::filesystem::path Folder(const std::string& name,
                               const std::vector<std::pair<std::string, std::string>>& files) {
    const std::filesystem::path folder = directory_.path() / name;
    std::filesystem::create_directories(folder);
    for (const auto& [file, text] : files) EXPECT_TRUE(WriteFileAtomic(folder / file, text).ok());
    return folder;
  }

  const TemporaryDirectory directory_;
};

constexpr char kCalls[] =
    "{% if tools %}{{ tools | tojson }}{% endif %}{% for m in messages %}<|im_start|>{{ m.role }}\n"
    "{{ m.content }}{% for c in m.tool_calls or [] %}[TOOL_CALLS]{{ c.function.name }}[ARGS]"
    "{{ c.function.arguments | tojson }}{% endfor %}<|im_end|>\n{% endfor %}"
    "{% if add_generation_prompt %}<|im_start|>assistant\n{% endif %}";

TEST_F(ModelTableTest, EveryStepOfAModelIsDone) {
  const auto folder = Folder("whole", {{"chat_template.jinja", kCalls}});
  for (const char* file : {"config.json", "model.safetensors"}) {
    std::filesystem::copy(kGolden / "models/qwen3" / file, folder / file);
  }
  std::filesystem::copy(kGolden / "tokenizer/tokenizer.json", folder / "tokenizer.json");
  const ModelRow row = CheckModel(folder, {});
  EXPECT_EQ(row.name, "whole");
  for (const auto& [name, step] : StepsOf(row)) {
    EXPECT_EQ(step->state, State::kYes) << name << ": " << step->words;
  }
  EXPECT_EQ(row.renders.words, "tools and calls");
  EXPECT_EQ(row.parses.words, "mistral");
  EXPECT_TRUE(row.loads.words.starts_with("qwen3, ")) << row.loads.words;
  EXPECT_NE(row.trains.words.find("gradient"), std::string::npos);
  const ModelRow large = CheckModel(folder, {.most_parameters = 10});
  EXPECT_EQ(large.loads.state, State::kAbsent);
  EXPECT_EQ(large.trains.state, State::kAbsent) << large.trains.words;
}

TEST_F(ModelTableTest, EveryGoldenModelLoadsAndTrains) {
  for (const auto& entry : std::filesystem::directory_iterator(kGolden / "models")) {
    if (!entry.is_directory() || entry.path().filename() == "bert") continue;  // an encoder
    const ModelRow row = CheckModel(entry.path(), {});
    EXPECT_EQ(row.loads.state, State::kYes) << row.name << ": " << row.loads.words;
    EXPECT_EQ(row.trains.state, State::kYes) << row.name << ": " << row.trains.words;
    EXPECT_EQ(row.tokenizes.state, State::kAbsent) << row.tokenizes.words;
  }
}

TEST_F(ModelTableTest, WhatIsNotThereIsSaidAndIsNoFailure) {
  const ModelRow empty = CheckModel(Folder("empty", {}), {});
  for (const auto& [name, step] : StepsOf(empty)) {
    EXPECT_EQ(step->state, State::kAbsent) << name;
    EXPECT_FALSE(step->words.empty()) << name;
  }
  const auto shape =
      Folder("shape", {{"config.json", *ReadFile(kGolden / "models/qwen2/config.json")}});
  EXPECT_NE(CheckModel(shape, {}).loads.words.find("no weights"), std::string::npos);
  const auto files = Folder("files", {{"mine.jinja", kCalls}});
  EXPECT_EQ(CheckModel(files / "mine.jinja", {}).parses.state, State::kYes);
  EXPECT_EQ(CheckModel(files / "mine.jinja", {}).name, "mine");
  EXPECT_EQ(CheckModel(kGolden / "tokenizer/tokenizer.json", {}).tokenizes.state, State::kYes);
}

TEST_F(ModelTableTest, WhatDoesNotWorkIsSaidWithItsReason) {
  const auto broken = Folder("broken", {{"config.json", R"({"model_type": "martian"})"},
                                        {"chat_template.jinja", "{% if %}"},
                                        {"tokenizer.json", "{}"}});
  const ModelRow row = CheckModel(broken, {});
  EXPECT_EQ(row.tokenizes.state, State::kNo);
  EXPECT_EQ(row.renders.state, State::kNo);
  EXPECT_EQ(row.parses.state, State::kAbsent);
  EXPECT_EQ(row.loads.state, State::kNo);
  EXPECT_EQ(row.trains.state, State::kAbsent);
  EXPECT_EQ(CheckModel(directory_.path() / "nowhere", {}).loads.state, State::kNo);
  const auto other = CheckModel(Folder("other", {{"model.gguf", "GGUF"}}) / "model.gguf", {});
  EXPECT_EQ(other.renders.state, State::kNo);
  EXPECT_NE(other.renders.words.find("hone model convert"), std::string::npos);
  const auto strange =
      Folder("strange",
             {{"chat_template.jinja",
               "{% for m in messages %}<u>{{ m.content }}{% for c in m.tool_calls or [] %}@{{ "
               "c.function.name }} {{ c.function.arguments|tojson }}{% endfor %}</u>{% endfor %}"
               "{# <tool_call> #}"}});
  const ModelRow unread = CheckModel(strange, {});
  EXPECT_EQ(unread.parses.state, State::kNo) << unread.parses.words;
}

TEST_F(ModelTableTest, PeopleReadLinesAndPagesATable) {
  const std::vector<ModelRow> rows = {CheckModel(kGolden / "models/qwen3", {})};
  const std::string text = ModelTableView(rows, {});
  EXPECT_TRUE(text.starts_with("qwen3\n  tokenizes   –    no tokenizer.json\n")) << text;
  EXPECT_NE(text.find("  loads       yes  qwen3, "), std::string::npos) << text;
  const std::string table = ModelTableMarkdown(rows);
  EXPECT_TRUE(
      table.starts_with("| model | tokenizes | renders | parses | loads | trains |\n"
                        "|---|---|---|---|---|---|\n| `qwen3` | – (no tokenizer.json) |"))
      << table;
  EXPECT_EQ(rows[0].ToJson().Find("trains")->Find("state")->AsString(), "yes");
}

}  // namespace
}  // namespace hone
