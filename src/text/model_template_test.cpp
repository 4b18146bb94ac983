#include "text/model_template.h"

#include <gtest/gtest.h>

#include "base/file.h"

namespace hone {
namespace {

class ModelFolder : public testing::Test {
 protected:
  void Write(const std::string& name, std::string_view text) {
    const auto path = directory_.path() / name;
    std::filesystem::create_directories(path.parent_path());
    ASSERT_TRUE(WriteFileAtomic(path, text).ok());
  }
  Result<ModelTemplate> Load() { return LoadModelTemplate(directory_.path()); }

  const TemporaryDirectory directory_;
};

TEST_F(ModelFolder, HasItsTemplateInTheTokenizersConfig) {
  Write("tokenizer_config.json",
        R"({"chat_template": "{{ x }}", "bos_token": null, "eos_token": {"content": "</s>"},
            "add_bos_token": true})");
  Write("special_tokens_map.json", R"({"bos_token": "<s>", "eos_token": "other"})");
  const ModelTemplate model = Load().value();
  ASSERT_EQ(model.sources.size(), 1u);
  EXPECT_EQ(*model.Find("default"), "{{ x }}");
  EXPECT_EQ(model.Find("tool_use"), nullptr);
  const std::map<std::string, std::string> tokens = {{"bos_token", "<s>"}, {"eos_token", "</s>"}};
  EXPECT_EQ(model.tokens, tokens);
}

TEST_F(ModelFolder, SaysInItsGenerationConfigWhatEndsATurn) {
  Write("tokenizer_config.json",
        R"({"chat_template": "a", "added_tokens_decoder": {"7": {"content": "<|eom_id|>"}}})");
  Write("tokenizer.json", R"({"added_tokens": [{"id": 9, "content": "<|eot_id|>"}]})");
  EXPECT_TRUE(Load()->stops.empty());
  Write("generation_config.json", R"({"eos_token_id": 7})");
  EXPECT_EQ(Load()->stops, std::vector<std::string>{"<|eom_id|>"});
  Write("generation_config.json", R"({"eos_token_id": [9, 7, 8]})");
  EXPECT_EQ(Load()->stops, (std::vector<std::string>{"<|eot_id|>", "<|eom_id|>"}));
}

TEST_F(ModelFolder, MayHaveSeveralByName) {
  Write("tokenizer_config.json",
        R"({"chat_template": [{"name": "default", "template": "a"},
                              {"name": "tool_use", "template": "b"}]})");
  EXPECT_EQ(*Load()->Find("tool_use"), "b");
}

TEST_F(ModelFolder, PrefersAFileOfItsOwn) {
  Write("tokenizer_config.json", R"({"chat_template": "old"})");
  Write("chat_template.jinja", "new");
  Write("additional_chat_templates/rag.jinja", "with documents");
  const ModelTemplate model = Load().value();
  EXPECT_EQ(*model.Find("default"), "new");
  EXPECT_EQ(*model.Find("rag"), "with documents");
  EXPECT_EQ(*LoadModelTemplate(directory_.path() / "chat_template.jinja")->Find("default"), "new");
}

TEST_F(ModelFolder, MayKeepItWithItsProcessor) {
  Write("chat_template.json", R"({"chat_template": "p"})");
  EXPECT_EQ(*Load()->Find("default"), "p");
}

TEST_F(ModelFolder, WithoutOneSaysWhatToDo) {
  Write("tokenizer_config.json", "{}");
  const auto model = Load();
  ASSERT_FALSE(model.ok());
  EXPECT_EQ(model.error().code(), ErrorCode::kNotFound);
  EXPECT_NE(model.error().message().find("choose a built-in dialect"), std::string::npos);
  EXPECT_EQ(LoadModelTemplate("/nowhere").error().code(), ErrorCode::kNotFound);
}

TEST_F(ModelFolder, ThatIsBrokenIsAnErrorWithItsFile) {
  for (const char* bad : {"{", "[]", R"({"chat_template": 1})", R"({"chat_template": [{}]})"}) {
    Write("tokenizer_config.json", bad);
    const auto model = Load();
    ASSERT_FALSE(model.ok()) << bad;
    EXPECT_NE(model.error().message().find("tokenizer_config.json"), std::string::npos) << bad;
  }
}

}  // namespace
}  // namespace hone
