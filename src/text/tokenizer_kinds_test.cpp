#include <gtest/gtest.h>

#include <algorithm>
#include <filesystem>

#include "base/file.h"
#include "base/json.h"
#include "text/tokenizer.h"

namespace hone {
namespace {

namespace fs = std::filesystem;

constexpr char kKinds[] = HONE_SOURCE_DIR "/tests/golden/tokenizer/kinds";

std::vector<TokenId> IdsIn(const Json& row) {
  std::vector<TokenId> ids;
  for (const Json& id : row.Find("ids")->AsArray()) {
    ids.push_back(static_cast<TokenId>(id.AsInteger()));
  }
  return ids;
}

std::string Streamed(const Tokenizer& tokenizer, const std::vector<TokenId>& ids) {
  StreamDecoder decoder(&tokenizer);
  std::string text;
  for (const TokenId id : ids) text += decoder.Feed(id);
  return text + decoder.Finish();
}

// How many rows there are, and how many have the ids and the text of the library.
std::pair<int, int> Compare(const fs::path& vocabulary, const fs::path& expected) {
  const auto tokenizer = Tokenizer::Load(vocabulary);
  EXPECT_TRUE(tokenizer.ok()) << tokenizer.error().message();
  const auto rows = ParseJsonLines(*ReadFile(expected));
  EXPECT_TRUE(rows.ok());
  if (!tokenizer.ok() || !rows.ok()) return {1, 0};
  int equal = 0;
  for (const Json& row : *rows) {
    const std::vector<TokenId> ids = IdsIn(row);
    const Json* text = row.Find("text");
    const bool same_ids = text == nullptr || tokenizer->Encode(text->AsString()) == ids;
    EXPECT_TRUE(same_ids) << expected << " " << DumpJson(row);
    const bool known =
        std::all_of(ids.begin(), ids.end(), [&](TokenId id) { return tokenizer->IsToken(id); });
    EXPECT_TRUE(known) << expected << " " << DumpJson(row);
    if (!known) continue;
    const std::string decoded = tokenizer->Decode(ids);
    EXPECT_EQ(decoded, row.Find("decoded")->AsString()) << expected << " " << DumpJson(row);
    EXPECT_EQ(Streamed(*tokenizer, ids), decoded);
    if (same_ids && decoded == row.Find("decoded")->AsString()) ++equal;
  }
  return {static_cast<int>(rows->size()), equal};
}

class TokenizerKinds : public testing::TestWithParam<const char*> {};

// tests/golden/tokenizer/kinds: encodings by Hugging Face tokenizers 0.23.2.
TEST_P(TokenizerKinds, IdsAndTextsAreThoseOfHuggingFace) {
  const std::string name = std::string(kKinds) + "/" + GetParam();
  const auto [rows, equal] = Compare(name + ".json", name + ".jsonl");
  EXPECT_GE(rows, 60);
  EXPECT_EQ(equal, rows);
}

TEST_P(TokenizerKinds, LeaveAsTheyCame) {
  const std::string source = *ReadFile(std::string(kKinds) + "/" + GetParam() + ".json");
  const auto tokenizer = Tokenizer::FromJson(source);
  ASSERT_TRUE(tokenizer.ok()) << tokenizer.error().message();
  EXPECT_EQ(tokenizer->ToJson(), source);
}

INSTANTIATE_TEST_SUITE_P(Tokenizer, TokenizerKinds,
                         testing::Values("llama2", "llama2_normalized", "mistral3", "gemma", "phi3",
                                         "unknowns", "t5", "unigram_bytes", "bert", "bert_cased",
                                         "bert_accents"),
                         [](const auto& kind) { return std::string(kind.param); });

Tokenizer KindOf(const char* name) {
  return std::move(Tokenizer::Load(std::string(kKinds) + "/" + name + ".json")).value();
}

TEST(TokenizerKinds, ATokenOfAByteIsThatByteAndTheSpaceSignIsASpace) {
  const Tokenizer tokenizer = KindOf("llama2");
  const std::vector<TokenId> ids = tokenizer.Encode("the 語");
  EXPECT_EQ(tokenizer.BytesOf(ids), " the 語") << "the space that was put before the text stays";
  EXPECT_EQ(tokenizer.Decode(ids), "the 語");
  EXPECT_EQ(tokenizer.TokenBytes(ids.back()), "\x9E") << "the last byte of 語";
  EXPECT_EQ(tokenizer.TokenBytes(ids[ids.size() - 3]), "\xE8");
  const TokenOffsets offsets(tokenizer, ids);
  const Span span = offsets.Covering({5, 8});
  EXPECT_EQ(tokenizer.BytesOf({ids.data() + span.begin, ids.data() + span.end}), "語");
}

TEST(TokenizerKinds, NoSpaceIsPutIntoTheMiddleOfAText) {
  for (const char* kind : {"llama2", "mistral3"}) {
    const Tokenizer tokenizer = KindOf(kind);
    std::vector<TokenId> ids = tokenizer.Encode("the ra");
    const std::vector<TokenId> more =
        tokenizer.Encode("in in Spain", {}, nullptr, tokenizer.Behind(ids));
    ids.insert(ids.end(), more.begin(), more.end());
    EXPECT_EQ(tokenizer.Decode(ids), "the rain in Spain") << kind;
  }
  // Behind an added token the first of the two puts one, and so it does in a text encoded as whole.
  for (const char* kind : {"llama2", "mistral3"}) {
    const Tokenizer tokenizer = KindOf(kind);
    std::vector<TokenId> ids = tokenizer.Encode("the</s>");
    const std::vector<TokenId> more = tokenizer.Encode("rain", {}, nullptr, tokenizer.Behind(ids));
    ids.insert(ids.end(), more.begin(), more.end());
    EXPECT_EQ(ids, tokenizer.Encode("the</s>rain")) << kind;
  }
}

// scripts/compare_tokenizers.sh brings whole vocabularies and what the library makes of texts.
TEST(TokenizerKinds, WholeVocabulariesHaveTheIdsOfHuggingFace) {
  const fs::path folder = HONE_SOURCE_DIR "/build/tokenizers";
  std::error_code ignored;
  if (!fs::exists(folder / "expected", ignored)) {
    GTEST_SKIP()
        << "no vocabularies in build/tokenizers; scripts/compare_tokenizers.sh brings them";
  }
  for (const auto& entry : fs::directory_iterator(folder / "expected")) {
    const std::string name = entry.path().stem().string();
    const auto [rows, equal] = Compare(folder / "vocabularies" / (name + ".json"), entry.path());
    EXPECT_EQ(equal, rows) << name;
  }
}

}  // namespace
}  // namespace hone
