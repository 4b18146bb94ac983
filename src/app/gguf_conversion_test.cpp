#include "app/gguf_conversion.h"

#include <gtest/gtest.h>

#include "base/file.h"
#include "engine/weights/gguf_model.h"
#include "support/golden_models.h"
#include "text/model_template.h"
#include "text/tokenizer.h"

namespace hone {
namespace {

constexpr const char* kTemplate =
    "{{ bos_token }}{% for m in messages %}{{ m.content }}{% endfor %}";

// A folder with a small model, a tokenizer and a chat template.
class GgufConversion : public testing::Test {
 protected:
  GgufConversion() {
    tokenizer_ = *ReadFile(GoldenModels().parent_path() / "tokenizer/tokenizer.json");
    const Tokenizer tokenizer = *Tokenizer::FromJson(tokenizer_);
    EXPECT_FALSE(tokenizer.added().empty());
    special_ = tokenizer.added().front();
    ModelConfig config;
    config.layers = 1;
    config.vocab = tokenizer.vocab_size() + 1;
    model_ = NewModel(config);
    InitializeModel(1, &model_);
    EXPECT_TRUE(SaveModel(model_, SaveType::kF32, folder_).ok());
    Write("tokenizer.json", tokenizer_);
    Write("tokenizer_config.json",
          DumpJson(Json::Of({{"bos_token", special_.content}, {"chat_template", kTemplate}})));
  }
  void Write(const std::string& name, const std::string& text) {
    EXPECT_TRUE(WriteFileAtomic(folder_ / name, text).ok());
  }
  GgufFile Convert(const std::string& chat_template = "") {
    const auto keys = TokenizerMetadataOf(folder_, model_.config, chat_template);
    EXPECT_TRUE(keys.ok()) << keys.error().message();
    EXPECT_TRUE(WriteGgufModel(model_, GgmlType::kQ8_0, *keys, path_).ok());
    return *GgufFile::Open(path_);
  }

  TemporaryDirectory directory_;
  const std::filesystem::path folder_ = directory_.path() / "folder";
  const std::filesystem::path path_ = directory_.path() / "x.gguf";
  std::string tokenizer_;
  AddedToken special_;
  Model model_;
};

TEST_F(GgufConversion, TokenizerAndTemplateGoThereAndBack) {
  const GgufFile file = Convert();
  EXPECT_EQ(*file.Text("tokenizer.ggml.pre"), "qwen2");
  EXPECT_EQ(file.Integer("tokenizer.ggml.bos_token_id"), special_.id);
  EXPECT_EQ(file.Texts("tokenizer.ggml.tokens")->size(), static_cast<size_t>(model_.config.vocab));
  EXPECT_EQ(*file.Text("tokenizer.chat_template"), kTemplate);
  const auto files = TokenizerFilesOf(file);
  ASSERT_TRUE(files.ok()) << files.error().message();
  const auto back = directory_.path() / "back";
  for (const auto& [name, text] : *files) ASSERT_TRUE(WriteFileAtomic(back / name, text).ok());
  EXPECT_EQ(*ReadFile(back / "tokenizer.json"), tokenizer_);
  const auto read = LoadModelTemplate(back);
  ASSERT_TRUE(read.ok()) << read.error().message();
  EXPECT_EQ(*read->Find("default"), kTemplate);
  EXPECT_EQ(read->tokens.at("bos_token"), special_.content);
}

TEST_F(GgufConversion, ATemplateThatIsGivenTakesThePlaceOfTheFoldersOwn) {
  EXPECT_EQ(*Convert("other").Text("tokenizer.chat_template"), "other");
}

TEST_F(GgufConversion, SpecialTokensOfTheConfigAreTakenWhereTheTokenizerNamesNone) {
  Write("tokenizer_config.json", "{}");
  model_.config.source = ModelConfigToJson(model_.config);
  model_.config.source.Set("eos_token_id", Json::Array{special_.id, 0});
  const GgufFile file = Convert();
  EXPECT_EQ(file.Integer("tokenizer.ggml.eos_token_id"), special_.id);
  EXPECT_EQ(file.Find("tokenizer.chat_template"), nullptr);
}

TEST_F(GgufConversion, AFolderWithoutATokenizerMakesAFileWithoutOne) {
  std::filesystem::remove(folder_ / "tokenizer.json");
  const GgufFile file = Convert();
  EXPECT_EQ(file.Find("tokenizer.ggml.model"), nullptr);
  EXPECT_TRUE(TokenizerFilesOf(file)->empty());
  EXPECT_TRUE(GgufFacts(file).Find("tokenizer")->is_null());
}

TEST_F(GgufConversion, FactsNameTypesAndTokenizer) {
  const Json facts = GgufFacts(Convert());
  EXPECT_NE(facts.Find("stored")->AsString().find(" Q8_0"), std::string::npos);
  EXPECT_EQ(*facts.Find("gguf_version"), Json(3));
  EXPECT_EQ(facts.Find("tokenizer")->AsString().find("gpt2 qwen2, "), 0u);
  EXPECT_EQ(*facts.Find("chat_template"), Json(true));
}

TEST(GgufConversionTypes, FoldersHaveNoTypesOfFiles) {
  EXPECT_TRUE(CheckConversion("folder", "x.gguf", "q8_0").ok());
  EXPECT_TRUE(CheckConversion("x.gguf", "folder", "bf16").ok());
  EXPECT_FALSE(CheckConversion("x.gguf", "y.gguf", "f16").ok());
  EXPECT_FALSE(CheckConversion("folder", "other", "q8_0").ok());
}

}  // namespace
}  // namespace hone
