#include "text/vocabulary/text_frame.h"

#include <gtest/gtest.h>

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

}  // namespace
}  // namespace hone
