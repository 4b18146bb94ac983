#include "text/vocabulary/text_frame.h"

#include <gtest/gtest.h>

#include "base/file.h"
#include "base/json.h"

namespace hone {
namespace {

TextFrame FrameOf(std::string_view processor) {
  const auto frame = TextFrameFromJson("{\"post_processor\": " + std::string(processor) + "}");
  EXPECT_TRUE(frame.ok()) << frame.error().message();
  return frame.ok() ? *frame : TextFrame();
}

std::string ErrorOfFrame(std::string_view processor) {
  const auto frame = TextFrameFromJson("{\"post_processor\": " + std::string(processor) + "}");
  return frame.ok() ? "" : frame.error().message();
}

TEST(TextFrame, IsWhatThePostProcessorPutsAroundASingleText) {
  const TextFrame bert{{101}, {102}};
  EXPECT_EQ(FrameOf(R"({"type": "TemplateProcessing",
      "single": [{"SpecialToken": {"id": "[CLS]", "type_id": 0}},
                 {"Sequence": {"id": "A", "type_id": 0}},
                 {"SpecialToken": {"id": "[SEP]", "type_id": 0}}],
      "special_tokens": {"[CLS]": {"id": "[CLS]", "ids": [101], "tokens": ["[CLS]"]},
                         "[SEP]": {"id": "[SEP]", "ids": [102], "tokens": ["[SEP]"]}}})"),
            bert);
  EXPECT_EQ(FrameOf(R"({"type": "BertProcessing", "sep": ["[SEP]", 102], "cls": ["[CLS]", 101]})"),
            bert);
  EXPECT_EQ(FrameOf(R"({"type": "Sequence", "processors": [{"type": "ByteLevel"},
      {"type": "RobertaProcessing", "sep": ["</s>", 2], "cls": ["<s>", 0]}]})"),
            (TextFrame{{0}, {2}}));
  EXPECT_EQ(FrameOf("null"), TextFrame());
}

TEST(TextFrame, WhatItCannotMeanIsNamed) {
  EXPECT_NE(ErrorOfFrame(R"({"type": "Odd"})").find("\"Odd\" post_processor"), std::string::npos);
  EXPECT_NE(ErrorOfFrame(R"({"type": "TemplateProcessing", "single": [
      {"SpecialToken": {"id": "[X]"}}, {"Sequence": {"id": "A"}}], "special_tokens": {}})")
                .find("[X]"),
            std::string::npos);
  EXPECT_NE(ErrorOfFrame(R"({"type": "TemplateProcessing", "single": []})").find("no text"),
            std::string::npos);
  EXPECT_NE(ErrorOfFrame(R"({"type": "BertProcessing", "sep": ["[SEP]", -1]})").find("cls"),
            std::string::npos);
}

TEST(TextFrame, ATextBeginsAsTheFilesBesideItsTokenizerSay) {
  const TemporaryDirectory folder;
  const auto write = [&](const char* name, const std::string& text) {
    ASSERT_TRUE(WriteFileAtomic(folder.path() / name, text).ok());
  };
  Json json = *ParseJson(*ReadFile(HONE_SOURCE_DIR "/tests/golden/tokenizer/tokenizer.json"));
  write("tokenizer.json", DumpJson(json));
  const Tokenizer tokenizer = Tokenizer::Load(folder.path()).value();
  const AddedToken& bos = tokenizer.added().front();
  using Ids = std::vector<TokenId>;
  const auto beginning = [&] { return LoadTextBeginning(folder.path(), tokenizer); };
  EXPECT_EQ(beginning().value(), Ids{}) << "nothing says so";
  json.Set("post_processor",
           *ParseJson(R"({"type": "TemplateProcessing", "single": [{"SpecialToken": {"id": "<s>"}},
               {"Sequence": {"id": "A"}}, {"SpecialToken": {"id": "<s>"}}],
               "special_tokens": {"<s>": {"ids": [7]}}})"));
  write("tokenizer.json", DumpJson(json));
  EXPECT_EQ(beginning().value(), Ids{7}) << "what ends a text is left out: it goes on";
  EXPECT_EQ(LoadTextBeginning(folder.path() / "tokenizer.json", tokenizer).value(), Ids{7});
  write("tokenizer_config.json", R"({"add_bos_token": false})");
  EXPECT_EQ(beginning().value(), Ids{});
  write("tokenizer_config.json",
        DumpJson(Json::Of(
            {{"add_bos_token", true}, {"bos_token", Json::Of({{"content", bos.content}})}})));
  EXPECT_EQ(beginning().value(), Ids{bos.id});
  write("tokenizer_config.json", R"({"add_bos_token": true, "bos_token": "<nobody>"})");
  ASSERT_FALSE(beginning().ok());
  EXPECT_NE(beginning().error().message().find("tokenizer_config.json"), std::string::npos);
  EXPECT_EQ(WithBeginning({1}, Ids{5, 6}), (Ids{1, 5, 6}));
  EXPECT_EQ(WithBeginning({1}, Ids{1, 6}), (Ids{1, 6})) << "who writes it has it once";
  EXPECT_EQ(WithBeginning({}, Ids{5}), Ids{5});
}

}  // namespace
}  // namespace hone
