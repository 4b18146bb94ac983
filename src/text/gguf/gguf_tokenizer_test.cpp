#include "text/gguf/gguf_tokenizer.h"

#include <gtest/gtest.h>

#include <filesystem>

#include "base/file.h"
#include "text/byte_level.h"
#include "text/gguf/split_names.h"
#include "text/tokenizer.h"

namespace hone {
namespace {

const std::filesystem::path kGolden = std::filesystem::path(HONE_SOURCE_DIR) / "tests/golden";

std::string MessageOf(const GgufTokenizer& tokenizer) {
  const auto text = TokenizerJsonOf(tokenizer);
  return text.ok() ? "" : text.error().message();
}

void ExpectIn(const std::string& part, const std::string& whole) {
  EXPECT_NE(whole.find(part), std::string::npos) << "\"" << whole << "\" has no " << part;
}

// Pieces of a SentencePiece model: bytes, letters, and words that are merged from them.
GgufTokenizer SmallLlama() {
  GgufTokenizer tokenizer;
  tokenizer.model = "llama";
  const auto add = [&](const std::string& token, double score, GgufTokenType type) {
    tokenizer.tokens.push_back(token);
    tokenizer.scores.push_back(score);
    tokenizer.types.push_back(static_cast<double>(type));
  };
  add("<unk>", 0, GgufTokenType::kUnknown);
  add("<s>", 0, GgufTokenType::kControl);
  add("</s>", 0, GgufTokenType::kControl);
  add("<0x0A>", 0, GgufTokenType::kByte);
  add("ab", -1, GgufTokenType::kNormal);
  add("abab", -2, GgufTokenType::kNormal);
  add("aba", -3, GgufTokenType::kNormal);
  add("\u2581a", -4, GgufTokenType::kNormal);
  for (const char* letter : {"\u2581", "a", "b"}) add(letter, -5, GgufTokenType::kNormal);
  add("[PAD11]", -1000, GgufTokenType::kUnused);
  tokenizer.ids = {{"bos", 1}, {"eos", 2}, {"unknown", 0}, {"padding", 77}};
  return tokenizer;
}

// A whole tokenizer.json of the library that others use, through the keys of a GGUF file.
TEST(GgufTokenizerTest, AByteLevelTokenizerKeepsItsIds) {
  const std::string original = *ReadFile(kGolden / "tokenizer/tokenizer.json");
  const int32_t vocab = Tokenizer::FromJson(original)->vocab_size();
  auto keys = GgufTokenizerOf(original, vocab + 3);
  ASSERT_TRUE(keys.ok()) << keys.error().message();
  EXPECT_EQ(keys->model, "gpt2");
  EXPECT_EQ(keys->pre, "qwen2");
  EXPECT_EQ(keys->hugging_face, original);
  EXPECT_EQ(keys->tokens.back(), "[PAD" + std::to_string(vocab + 2) + "]");
  keys->hugging_face.clear();  // as in files that other programs write
  const auto text = TokenizerJsonOf(*keys);
  ASSERT_TRUE(text.ok()) << text.error().message();
  const auto tokenizer = Tokenizer::FromJson(*text);
  ASSERT_TRUE(tokenizer.ok()) << tokenizer.error().message();
  EXPECT_EQ(tokenizer->vocab_size(), vocab) << "what fills up is left out again";
  const Json rows = *ParseJson(*ReadFile(kGolden / "tokenizer/encodings.json"));
  const Json::Array& cases = rows.AsArray();
  ASSERT_GT(cases.size(), 10u);
  for (const Json& row : cases) {
    EXPECT_EQ(Json::ArrayOf(tokenizer->Encode(row.Find("text")->AsString())), *row.Find("ids"))
        << row.Find("text")->AsString();
  }
}

TEST(GgufTokenizerTest, AWholeTokenizerInTheFileIsTakenAsItIs) {
  GgufTokenizer tokenizer = SmallLlama();
  tokenizer.hugging_face = R"({"model": {"type": "BPE"}})";
  EXPECT_EQ(*TokenizerJsonOf(tokenizer), tokenizer.hugging_face);
  tokenizer.hugging_face = "{";
  ExpectIn("key tokenizer.huggingface.json", MessageOf(tokenizer));
}

TEST(GgufTokenizerTest, SentencePieceBecomesBpeWithBytesToFallBackTo) {
  const auto text = TokenizerJsonOf(SmallLlama());
  ASSERT_TRUE(text.ok()) << text.error().message();
  const Json json = *ParseJson(*text);
  const Json& model = *json.Find("model");
  EXPECT_EQ(*model.Find("byte_fallback"), Json(true));
  EXPECT_EQ(*model.Find("fuse_unk"), Json(true));
  EXPECT_EQ(*model.Find("unk_token"), Json("<unk>"));
  EXPECT_EQ(*model.Find("vocab")->Find("abab"), Json(5));
  EXPECT_EQ(model.Find("vocab")->Find("[PAD11]"), nullptr);
  // The best token first; of one token the cut with the lowest ids.
  EXPECT_EQ(DumpJson(*model.Find("merges")),
            R"([["a","b"],["ab","ab"],["aba","b"],["ab","a"],["▁","a"]])");
  const Json::Array& added = json.Find("added_tokens")->AsArray();
  ASSERT_EQ(added.size(), 3u);
  EXPECT_EQ(*added[1].Find("content"), Json("<s>"));
  EXPECT_EQ(*added[1].Find("special"), Json(true));
  EXPECT_EQ(*added[1].Find("normalized"), Json(false));
  EXPECT_EQ(DumpJson(*json.Find("normalizer")->Find("normalizers")),
            R"([{"type":"Prepend","prepend":"▁"},)"
            R"({"type":"Replace","pattern":{"String":" "},"content":"▁"}])");
  EXPECT_EQ(json.Find("decoder")->Find("decoders")->AsArray().size(), 4u);
  EXPECT_EQ(*json.Find("post_processor")->Find("type"), Json("TemplateProcessing"));
}

TEST(GgufTokenizerTest, WithoutASpaceBeforeTheTextNothingIsPrependedNorStripped) {
  GgufTokenizer tokenizer = SmallLlama();
  tokenizer.add_space_prefix = false;
  tokenizer.add_bos = false;
  const Json json = *ParseJson(*TokenizerJsonOf(tokenizer));
  EXPECT_EQ(json.Find("normalizer")->Find("normalizers")->AsArray().size(), 1u);
  EXPECT_EQ(json.Find("decoder")->Find("decoders")->AsArray().size(), 3u);
  EXPECT_TRUE(json.Find("post_processor")->is_null());
}

TEST(GgufTokenizerTest, SentencePieceGoesBackWithItsTypesAndTheOrderOfItsMerges) {
  const GgufTokenizer tokenizer = SmallLlama();
  const std::string text = *TokenizerJsonOf(tokenizer);
  auto again = GgufTokenizerOf(text, 12);
  ASSERT_TRUE(again.ok()) << again.error().message();
  EXPECT_EQ(again->model, "llama");
  EXPECT_EQ(again->tokens, tokenizer.tokens);
  EXPECT_EQ(again->types, tokenizer.types);
  EXPECT_EQ(again->add_space_prefix, true);
  EXPECT_GT(again->scores[4], again->scores[5]);
  EXPECT_GT(again->scores[5], again->scores[6]);
  EXPECT_GT(again->scores[6], again->scores[7]);
  again->hugging_face.clear();
  again->ids = tokenizer.ids;
  EXPECT_EQ(*TokenizerJsonOf(*again), text);
}

TEST(GgufTokenizerTest, TheConfigHasTheTemplateAndTheTokensItAsksFor) {
  GgufTokenizer tokenizer = SmallLlama();
  tokenizer.templates = {{"default", "{{ bos_token }}"}};
  Json config = *TokenizerConfigOf(tokenizer);
  EXPECT_EQ(*config.Find("bos_token"), Json("<s>"));
  EXPECT_EQ(*config.Find("eos_token"), Json("</s>"));
  EXPECT_EQ(*config.Find("unk_token"), Json("<unk>"));
  EXPECT_EQ(config.Find("pad_token"), nullptr) << "its id is beyond the vocabulary";
  EXPECT_EQ(*config.Find("chat_template"), Json("{{ bos_token }}"));
  tokenizer.templates.emplace_back("tool_use", "tools");
  config = *TokenizerConfigOf(tokenizer);
  EXPECT_EQ(*config.Find("chat_template")->AsArray()[1].Find("name"), Json("tool_use"));
}

TEST(GgufTokenizerTest, EveryKnownWayToCutTextIsReadAndNamedAgain) {
  for (const SplitName& split : SplitNames()) {
    GgufTokenizer tokenizer;
    tokenizer.model = "gpt2";
    tokenizer.pre = split.name;
    for (int byte = 0; byte < 256; ++byte) {
      tokenizer.tokens.emplace_back(ByteSpelling(static_cast<uint8_t>(byte)));
    }
    tokenizer.tokens.insert(tokenizer.tokens.end(), {"ab", "<|end|>"});
    tokenizer.types.assign(257, 1);
    tokenizer.types.push_back(3);
    tokenizer.merges = {"a b"};
    const auto text = TokenizerJsonOf(tokenizer);
    ASSERT_TRUE(text.ok()) << text.error().message();
    const auto read = Tokenizer::FromJson(*text);
    ASSERT_TRUE(read.ok()) << read.error().message();
    EXPECT_EQ(read->Encode("ab<|end|>"), (std::vector<TokenId>{256, 257}));
    EXPECT_TRUE(read->IsSpecial(257));
    const auto again = GgufTokenizerOf(*text, 258);
    ASSERT_TRUE(again.ok()) << again.error().message();
    EXPECT_EQ(again->tokens, tokenizer.tokens);
    EXPECT_EQ(again->types, tokenizer.types);
    EXPECT_EQ(again->merges, tokenizer.merges);
  }
}

TEST(GgufTokenizerTest, WhatIsNotKnownOrContradictsItselfIsNamedByItsKey) {
  GgufTokenizer tokenizer = SmallLlama();
  tokenizer.model = "t5";
  ExpectIn("key tokenizer.ggml.model: \"t5\"", MessageOf(tokenizer));
  tokenizer.model = "";
  ExpectIn("has no tokenizer", MessageOf(tokenizer));
  tokenizer.model = "gpt2";
  tokenizer.pre = "somebody";
  ExpectIn("key tokenizer.ggml.pre: how \"somebody\" cuts text", MessageOf(tokenizer));
  for (const char* unnamed : {"", "default"}) {
    tokenizer.pre = unnamed;
    ExpectIn("key tokenizer.ggml.pre: how \"" + tokenizer.pre + "\" cuts text",
             MessageOf(tokenizer));
  }
  tokenizer.pre = "qwen2";
  tokenizer.merges = {"ab"};
  ExpectIn("key tokenizer.ggml.merges: merge 0", MessageOf(tokenizer));
  tokenizer = SmallLlama();
  tokenizer.scores.pop_back();
  ExpectIn("key tokenizer.ggml.scores has 11 scores for 12 tokens", MessageOf(tokenizer));
  tokenizer = SmallLlama();
  tokenizer.types[3] = 9;
  ExpectIn("key tokenizer.ggml.token_type: 9 is no type", MessageOf(tokenizer));
  tokenizer = SmallLlama();
  tokenizer.tokens[5] = "ab";
  ExpectIn("tokens 4 and 5 are alike", MessageOf(tokenizer));
  tokenizer.tokens[5] = "\xFF";
  ExpectIn("token 5 is not UTF-8", MessageOf(tokenizer));
  tokenizer.tokens[5] = std::string(5000, 'x');
  ExpectIn("token 5 has 5000 bytes", MessageOf(tokenizer));
  tokenizer.tokens.clear();
  ExpectIn("key tokenizer.ggml.tokens is missing", MessageOf(tokenizer));
  const std::string unnamed =
      R"({"pre_tokenizer": {"type": "Whitespace"}, "model": {"type": "BPE", "vocab": {}}})";
  ExpectIn("has no name in GGUF files", GgufTokenizerOf(unnamed, 4).error().message());
}

}  // namespace
}  // namespace hone
