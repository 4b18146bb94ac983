#include "text/tokenizer.h"

#include <gtest/gtest.h>

#include <algorithm>

#include "base/file.h"
#include "base/json.h"
#include "base/rng.h"
#include "support/random_record.h"
#include "support/shared_data.h"
#include "text/bpe_trainer.h"
#include "text/normalize.h"

namespace hone {
namespace {

constexpr char kGolden[] = HONE_SOURCE_DIR "/tests/golden/tokenizer";

std::vector<TokenId> IdsOf(const Json& json) {
  std::vector<TokenId> ids;
  for (const Json& id : json.AsArray()) ids.push_back(static_cast<TokenId>(id.AsInteger()));
  return ids;
}

Tokenizer Loaded(const std::filesystem::path& path) {
  auto tokenizer = Tokenizer::Load(path);
  EXPECT_TRUE(tokenizer.ok()) << (tokenizer.ok() ? "" : tokenizer.error().message());
  return std::move(tokenizer).value();
}

// tests/golden/tokenizer: encodings by Hugging Face tokenizers 0.23.
TEST(Tokenizer, EqualsHuggingFaceOnTheFixtures) {
  const Tokenizer tokenizer = Loaded(kGolden);
  const Json cases = *ParseJson(*ReadFile(std::string(kGolden) + "/encodings.json"));
  ASSERT_EQ(cases.AsArray().size(), 80u);
  for (const Json& row : cases.AsArray()) {
    const std::string& text = row.Find("text")->AsString();
    const auto ids = IdsOf(*row.Find("ids"));
    EXPECT_EQ(tokenizer.Encode(text), ids) << text;
    EXPECT_EQ(tokenizer.Decode(ids), row.Find("decoded")->AsString());
  }
}

class PublicVectors : public testing::TestWithParam<std::pair<const char*, const char*>> {};

// Published vectors of llama.cpp and transformers, and texts of public benchmarks.
TEST_P(PublicVectors, IdsAndRoundTripAreEqual) {
  const auto [family, file] = GetParam();
  HONE_NEED_SHARED(data, "data/tokenizers");
  const Tokenizer tokenizer = Loaded(data / family);
  const auto rows = ParseJsonLines(*ReadFile(data / "vectors" / file));
  ASSERT_TRUE(rows.ok());
  ASSERT_FALSE(rows->empty());
  for (const Json& row : *rows) {
    const std::string& text = row.Find("text")->AsString();
    EXPECT_EQ(tokenizer.Encode(text), IdsOf(*row.Find("ids"))) << row.Find("id")->AsString();
    const bool nfc = std::string_view(family) == "qwen2";
    EXPECT_EQ(tokenizer.Decode(tokenizer.Encode(text)), nfc ? ToNfc(text) : text);
  }
}

INSTANTIATE_TEST_SUITE_P(Tokenizer, PublicVectors,
                         testing::Values(std::pair("gpt2", "gpt2.llamacpp.jsonl"),
                                         std::pair("gpt2", "gpt2.hf-transformers.jsonl"),
                                         std::pair("gpt2", "gpt2.derived-benchmark-text.jsonl"),
                                         std::pair("qwen2", "qwen2.llamacpp.jsonl"),
                                         std::pair("qwen2", "qwen2.hf-transformers.jsonl"),
                                         std::pair("qwen2", "qwen2.derived-benchmark-text.jsonl")),
                         [](const auto& vectors) {
                           std::string name = vectors.param.second;
                           std::replace_if(
                               name.begin(), name.end(), [](char c) { return !std::isalnum(c); },
                               '_');
                           return name;
                         });

TEST(Tokenizer, WhatItWritesItReadsBackToTheSameIds) {
  const Tokenizer tokenizer = Loaded(kGolden);
  auto again = Tokenizer::FromJson(tokenizer.ToJson());
  ASSERT_TRUE(again.ok()) << again.error().message();
  EXPECT_EQ(again->ToJson(), tokenizer.ToJson());
  Rng rng(3);
  for (int i = 0; i < 200; ++i) {
    const std::string text = RandomText(&rng, 40);
    EXPECT_EQ(again->Encode(text), tokenizer.Encode(text));
  }
}

TEST(Tokenizer, AnyBytesDecodeAndAnyTextRoundTrips) {
  const Tokenizer tokenizer = Loaded(kGolden);
  Rng rng(5);
  for (int i = 0; i < 500; ++i) {
    const std::string text = RandomText(&rng, 40);
    EXPECT_EQ(tokenizer.Decode(tokenizer.Encode(text)), ToNfc(text));
  }
  EXPECT_EQ(tokenizer.Decode(tokenizer.Encode("a\xFFz")), "a\xEF\xBF\xBDz");
}

TEST(Tokenizer, SpecialTokensAreNotRecognisedInLiteralText) {
  const Tokenizer tokenizer = Loaded(kGolden);
  const TokenId end = *tokenizer.FindAdded("<|im_end|>");
  const std::string text = "a<|im_end|>b<|im_end|>";
  const std::vector<ByteRange> literal = {{1, 12}};
  const auto ids = tokenizer.Encode(text, literal);
  EXPECT_EQ(std::count(ids.begin(), ids.end(), end), 1);
  EXPECT_EQ(ids.back(), end);
  EXPECT_EQ(tokenizer.Decode(ids), text) << "the characters are all there";
  EXPECT_EQ(tokenizer.Encode(text, {}), tokenizer.Encode(text));
  // A special token cannot be completed across the edge of literal text either.
  const std::vector<ByteRange> half = {{0, 5}};
  const auto split = tokenizer.Encode("<|im_end|>", half);
  EXPECT_EQ(std::count(split.begin(), split.end(), end), 0);
}

TEST(Tokenizer, StreamingNeverShowsHalfACharacter) {
  const Tokenizer tokenizer = Loaded(kGolden);
  Rng rng(6);
  for (int round = 0; round < 50; ++round) {
    std::vector<TokenId> ids = tokenizer.Encode(RandomText(&rng, 30) + "👩語é");
    if (round % 2 == 1) ids.pop_back();  // ends inside a character
    StreamDecoder decoder(&tokenizer);
    std::string streamed;
    for (const TokenId id : ids) {
      const std::string part = decoder.Feed(id);
      streamed += part;
    }
    EXPECT_EQ(streamed.find("\xEF\xBF\xBD"), std::string::npos);
    streamed += decoder.Finish();
    EXPECT_EQ(streamed, tokenizer.Decode(ids));
  }
}

TEST(Tokenizer, ASpanOfBytesIsCoveredByTheFewestTokens) {
  const Tokenizer tokenizer = Loaded(kGolden);
  const std::string text = "see <tool_call>{}</tool_call> ok";
  const auto ids = tokenizer.Encode(text);
  const size_t begin = text.find("<tool_call>"), end = text.find(" ok");
  const TokenOffsets offsets(tokenizer, ids);
  const Span span = offsets.Covering({begin, end});
  const std::span<const TokenId> covered(ids.data() + span.begin, ids.data() + span.end);
  EXPECT_EQ(tokenizer.Decode(covered), "<tool_call>{}</tool_call>");
  EXPECT_EQ(offsets.Covering({0, 0}), (Span{0, 0}));
  EXPECT_EQ(offsets.Covering({1, 2}), (Span{0, 1})) << "inside one token";
  EXPECT_EQ(offsets.Covering({0, text.size()}), (Span{0, static_cast<int32_t>(ids.size())}));
}

std::string ErrorOf(std::string_view json) {
  auto tokenizer = Tokenizer::FromJson(json);
  return tokenizer.ok() ? "loaded" : tokenizer.error().message();
}

TEST(Tokenizer, WhatIsNotComputedAsTheLibraryDoesIsRefusedWithAReason) {
  EXPECT_EQ(ErrorOf("{}"), "not a tokenizer.json: it has no \"model\"");
  EXPECT_NE(ErrorOf(R"({"model":{"type":"BPE"},"pre_tokenizer":null})").find("without a decoder"),
            std::string::npos);
  const std::string byte_level = R"("pre_tokenizer":{"type":"ByteLevel"})";
  EXPECT_NE(
      ErrorOf(R"({"model":{"type":"WordLevel"},)" + byte_level + "}").find("\"WordLevel\" model"),
      std::string::npos);
  EXPECT_NE(ErrorOf(R"({"model":{"type":"WordPiece","vocab":{"a":0}},
                        "decoder":{"type":"WordPiece"}})")
                .find("unk_token is not in the vocabulary"),
            std::string::npos);
  EXPECT_NE(ErrorOf(R"({"model":{"type":"BPE","vocab":{"a":0},"merges":[]},)" + byte_level + "}")
                .find("no token for 242 of the 243 bytes"),
            std::string::npos);
  EXPECT_NE(ErrorOf(R"({"model":{"type":"BPE","vocab":{"a":0,"b":1},"merges":["a b"]},)" +
                    byte_level + "}")
                .find("not in the vocabulary"),
            std::string::npos);
  EXPECT_NE(
      ErrorOf(R"({"model":{"type":"BPE","vocab":{"a":0,"b":0},"merges":[]},)" + byte_level + "}")
          .find("two tokens have the id 0"),
      std::string::npos);
  EXPECT_NE(ErrorOf(R"({"model":{"type":"BPE"},"pre_tokenizer":{"type":"Sequence","pretokenizers":[
                        {"type":"ByteLevel"},{"type":"Digits"}]}})")
                .find("after ByteLevel"),
            std::string::npos);
  EXPECT_NE(ErrorOf(R"({"model":{"type":"BPE","vocab":{"a":99999999999},"merges":[]},)" +
                    byte_level + "}")
                .find("no valid id"),
            std::string::npos);
}

TEST(Tokenizer, AMissingTokenizerSaysWhatWasLookedFor) {
  TemporaryDirectory directory;
  auto tokenizer = Tokenizer::Load(directory.path());
  ASSERT_FALSE(tokenizer.ok());
  EXPECT_EQ(tokenizer.error().code(), ErrorCode::kNotFound);
  EXPECT_NE(tokenizer.error().message().find("neither tokenizer.json nor vocab.json"),
            std::string::npos);
}

TEST(Tokenizer, ASplitPatternThatExplodesIsRefused) {
  BpeTrainingOptions options{.vocab_size = 260, .split = "(a+)+$|(a|a)*b"};
  const auto tokenizer = TrainBpe({"a b"}, options);
  ASSERT_FALSE(tokenizer.ok());
  EXPECT_NE(tokenizer.error().message().find("takes too long"), std::string::npos);
}

}  // namespace
}  // namespace hone
