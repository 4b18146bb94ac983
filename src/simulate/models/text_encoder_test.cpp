#include "simulate/models/text_encoder.h"

#include <fmt/format.h>
#include <gtest/gtest.h>

#include <cmath>
#include <cstdlib>

#include "base/file.h"
#include "base/json.h"

namespace hone {
namespace {

namespace fs = std::filesystem;

const fs::path kEncoders = HONE_SOURCE_DIR "/tests/golden/encoder";

struct Row {
  std::string text;
  int64_t max_tokens;
  std::vector<double> vector;
};

std::vector<Row> RowsOf(const char* file) {
  std::vector<Row> rows;
  for (const Json& json : ParseJsonLines(*ReadFile(kEncoders / file)).value()) {
    Row& row = rows.emplace_back();
    row.text = json.Find("text")->AsString();
    row.max_tokens = json.Find("max_tokens")->AsInteger();
    for (const Json& x : json.Find("vector")->AsArray()) row.vector.push_back(x.AsDouble());
  }
  return rows;
}

// The largest difference of any number of the texts' vectors.
double WorstOf(TextEncoder* encoder, const std::vector<Row>& rows) {
  double worst = 0;
  for (const Row& row : rows) {
    const auto vector = encoder->Embed({&row.text, 1}).value()[0];
    EXPECT_EQ(vector.size(), row.vector.size());
    for (size_t i = 0; i < vector.size(); ++i) {
      worst = std::max(worst, std::abs(vector[i] - row.vector[i]));
    }
  }
  return worst;
}

class SmallEncoder : public testing::Test {
 protected:
  SmallEncoder() { fs::copy(kEncoders / "small", directory_.path(), fs::copy_options::recursive); }
  void Write(const char* name, const std::string& text) {
    ASSERT_TRUE(WriteFileAtomic(directory_.path() / name, text).ok());
  }
  std::unique_ptr<TextEncoder> Opened() { return TextEncoder::Open(directory_.path(), 1).value(); }
  std::string ErrorOfOpening() {
    const auto opened = TextEncoder::Open(directory_.path(), 1);
    return opened.ok() ? "" : opened.error().message();
  }
  TemporaryDirectory directory_;
};

// tests/golden/encoder/make.mjs: candle's BERT on the same weights, whole texts and cut ones.
TEST_F(SmallEncoder, TheVectorsOfTextsAreThoseOfCandle) {
  const std::vector<Row> rows = RowsOf("small.jsonl");
  ASSERT_EQ(rows.size(), 16u);
  const std::vector<Row> whole(rows.begin(), rows.begin() + 8), cut(rows.begin() + 8, rows.end());
  EXPECT_LT(WorstOf(Opened().get(), whole), 2e-6);
  Write("sentence_bert_config.json", R"({"max_seq_length": 12})");
  EXPECT_EQ(cut[0].max_tokens, 12);
  EXPECT_LT(WorstOf(Opened().get(), cut), 2e-6);
}

TEST_F(SmallEncoder, ATextStandsBetweenItsFrameAndIsCutWhereItIsTooLong) {
  const auto encoder = Opened();
  EXPECT_EQ(encoder->max_tokens(), 80);
  const auto [tokens, cut] = encoder->Encode("the rain");
  EXPECT_EQ(tokens.size(), 4u);
  EXPECT_EQ(tokens.front(), 2);
  EXPECT_EQ(tokens.back(), 3);
  EXPECT_FALSE(cut);
  std::string longer;
  for (int i = 0; i < 100; ++i) longer += "the rain ";
  const auto shortened = encoder->Encode(longer);
  EXPECT_TRUE(shortened.cut);
  EXPECT_EQ(shortened.tokens.size(), 80u);
  EXPECT_EQ(shortened.tokens.back(), 3);
  EXPECT_TRUE(encoder->CheckTokens(shortened.tokens).ok());
  EXPECT_FALSE(encoder->CheckTokens(std::vector<TokenId>(81, 1)).ok());
}

TEST_F(SmallEncoder, FilesThatDoNotFitEachOtherAreRefused) {
  EXPECT_NE(TextEncoder::Open(directory_.path() / "nowhere").error().message().find("no encoder"),
            std::string::npos);
  const std::string tokenizer = *ReadFile(directory_.path() / "tokenizer.json");
  Json json = ParseJson(tokenizer).value();
  json.Set("post_processor", Json());
  Write("tokenizer.json", DumpJson(json));
  EXPECT_NE(ErrorOfOpening().find("no post_processor"), std::string::npos);
  json = ParseJson(tokenizer).value();
  json.Set("added_tokens", Json::Array{Json::Of({{"id", 5000}, {"content", "[FAR]"}})});
  Write("tokenizer.json", DumpJson(json));
  EXPECT_NE(ErrorOfOpening().find("different models"), std::string::npos);
  Write("tokenizer.json", tokenizer);
  Write("sentence_bert_config.json", R"({"max_seq_length": 2})");
  EXPECT_NE(ErrorOfOpening().find("no room"), std::string::npos);
}

// all-MiniLM-L6-v2 as candle computes it; the weights are not part of this repository.
TEST(TextEncoder, TheVectorsOfMiniLmAreThoseOfCandle) {
  const char* named = std::getenv("HONE_MINILM");
  const fs::path folder =
      named != nullptr ? fs::path(named) : fs::path(HONE_SOURCE_DIR "/models/all-MiniLM-L6-v2");
  std::error_code ignored;
  if (!fs::exists(folder / "model.safetensors", ignored)) {
    GTEST_SKIP() << "not run: " << folder
                 << " is not here (set HONE_MINILM to the folder of all-MiniLM-L6-v2)";
  }
  const auto encoder = TextEncoder::Open(folder).value();
  const std::vector<Row> rows = RowsOf("minilm.jsonl");
  ASSERT_EQ(rows.size(), 12u);
  const double worst = WorstOf(encoder.get(), rows);
  EXPECT_LT(worst, 2e-6);
  RecordProperty("worst", fmt::format("{:.2e}", worst));
  // What the vectors are for: the sentence about rain in Spain is the likest to the first.
  std::vector<std::string> texts;
  for (const Row& row : rows) texts.push_back(row.text);
  const auto vectors = encoder->Embed(texts).value();
  const auto similar = MostSimilar(vectors[0], vectors, 2);
  EXPECT_EQ(similar[0].index, 0u);
  EXPECT_EQ(similar[1].index, 1u);
}

}  // namespace
}  // namespace hone
