#include "engine/encoder/encoder_shape.h"

#include <gtest/gtest.h>

#include "base/file.h"

namespace hone {
namespace {

Json MiniLm() {
  return Json::Of({{"model_type", "bert"},
                   {"num_hidden_layers", 6},
                   {"hidden_size", 384},
                   {"num_attention_heads", 12},
                   {"intermediate_size", 1536},
                   {"vocab_size", 30522},
                   {"max_position_embeddings", 512},
                   {"type_vocab_size", 2},
                   {"layer_norm_eps", 1e-12},
                   {"hidden_act", "gelu"},
                   {"position_embedding_type", "absolute"}});
}

std::string ErrorWith(const char* key, Json value) {
  Json json = MiniLm();
  json.Set(key, std::move(value));
  const auto config = EncoderShapeFromJson(json);
  return config.ok() ? "" : config.error().message();
}

TEST(EncoderShape, IsThatOfTheFile) {
  const auto config = EncoderShapeFromJson(MiniLm());
  ASSERT_TRUE(config.ok()) << config.error().message();
  EXPECT_EQ(config->layers, 6);
  EXPECT_EQ(config->head_dim(), 32);
  EXPECT_EQ(config->norm_eps, 1e-12);
}

TEST(EncoderShape, WhatWouldBeComputedOtherwiseIsRefusedByItsKey) {
  EXPECT_NE(ErrorWith("model_type", "llama").find("\"llama\""), std::string::npos);
  EXPECT_NE(ErrorWith("hidden_act", "gelu_new").find("hidden_act"), std::string::npos);
  EXPECT_NE(ErrorWith("position_embedding_type", "relative_key").find("position_embedding_type"),
            std::string::npos);
  EXPECT_NE(ErrorWith("is_decoder", true).find("is_decoder"), std::string::npos);
  EXPECT_NE(ErrorWith("num_attention_heads", 7).find("must divide"), std::string::npos);
  EXPECT_NE(ErrorWith("hidden_size", 0).find("hidden_size"), std::string::npos);
  EXPECT_NE(ErrorWith("vocab_size", Json()).find("\"vocab_size\" is missing"), std::string::npos);
  EXPECT_NE(ErrorWith("layer_norm_eps", -1).find("layer_norm_eps"), std::string::npos);
}

class PoolingFiles : public testing::Test {
 protected:
  void Write(const char* name, const char* text) {
    const auto file = directory_.path() / name;
    std::filesystem::create_directories(file.parent_path());
    ASSERT_TRUE(WriteFileAtomic(file, text).ok());
  }
  Pooling Loaded() {
    const auto pooling = LoadPooling(directory_.path());
    EXPECT_TRUE(pooling.ok()) << pooling.error().message();
    return pooling.ok() ? *pooling : Pooling();
  }
  std::string ErrorOfLoading() {
    const auto pooling = LoadPooling(directory_.path());
    return pooling.ok() ? "" : pooling.error().message();
  }
  TemporaryDirectory directory_;
};

TEST_F(PoolingFiles, WithoutThemItIsTheMeanOfLengthOne) { EXPECT_EQ(Loaded(), Pooling()); }

TEST_F(PoolingFiles, SayHowAsSentenceTransformersWritesThem) {
  Write("1_Pooling/config.json",
        R"({"word_embedding_dimension": 384, "pooling_mode_cls_token": true,
            "pooling_mode_mean_tokens": false, "pooling_mode_max_tokens": false})");
  EXPECT_EQ(Loaded(), (Pooling{.kind = Pooling::Kind::kFirst}));
  Write("modules.json", R"([
      {"idx": 0, "name": "0", "path": "", "type": "sentence_transformers.models.Transformer"},
      {"idx": 1, "name": "1", "path": "2_P", "type": "sentence_transformers.models.Pooling"}])");
  Write("2_P/config.json", R"({"pooling_mode_mean_tokens": true})");
  Write("sentence_bert_config.json", R"({"max_seq_length": 256, "do_lower_case": false})");
  EXPECT_EQ(Loaded(), (Pooling{.normalize = false, .max_tokens = 256}));
}

TEST_F(PoolingFiles, ThatSayWhatIsNotComputedAreRefusedByTheirName) {
  Write("1_Pooling/config.json",
        R"({"pooling_mode_mean_tokens": true, "pooling_mode_max_tokens": true})");
  EXPECT_NE(ErrorOfLoading().find("pooling_mode_max_tokens"), std::string::npos);
  Write("1_Pooling/config.json", R"({"pooling_mode_mean_tokens": false})");
  EXPECT_NE(ErrorOfLoading().find("1_Pooling"), std::string::npos);
  Write("1_Pooling/config.json", R"({"pooling_mode_mean_tokens": true})");
  Write("sentence_bert_config.json", R"({"max_seq_length": 0})");
  EXPECT_NE(ErrorOfLoading().find("max_seq_length"), std::string::npos);
  Write("modules.json", R"([{"path": "2_Dense", "type": "sentence_transformers.models.Dense"}])");
  EXPECT_NE(ErrorOfLoading().find("models.Dense"), std::string::npos);
  Write("modules.json", "{}");
  EXPECT_NE(ErrorOfLoading().find("modules.json"), std::string::npos);
}

}  // namespace
}  // namespace hone
