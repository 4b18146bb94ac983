#include "engine/weights/gguf.h"

#include <gtest/gtest.h>

#include <fstream>

#include "base/file.h"

namespace hone {
namespace {

// Texts of a header, piece by piece, for files that no program would write.
template <typename T>
std::string Raw(T value) {
  return {reinterpret_cast<const char*>(&value), sizeof value};
}
std::string RawText(const std::string& text) { return Raw(uint64_t{text.size()}) + text; }
std::string Begin(uint64_t tensors, uint64_t keys, uint32_t version = 3) {
  return "GGUF" + Raw(version) + Raw(tensors) + Raw(keys);
}

class Gguf : public testing::Test {
 protected:
  std::string ErrorOf(const std::string& content) {
    std::ofstream(path_, std::ios::binary) << content;  // thousands of files: without a sync each
    const auto file = GgufFile::Open(path_);
    if (file.ok()) return "";
    EXPECT_NE(file.error().message().find("x.gguf"), std::string::npos);
    return file.error().message();
  }
  void ExpectProblem(const std::string& content, const std::string& part) {
    const std::string message = ErrorOf(content);
    EXPECT_NE(message.find(part), std::string::npos) << "\"" << message << "\", not " << part;
  }
  // One key of each type, an array of each type, and two tensors.
  void WriteAll() {
    GgufArray texts = std::vector<std::string>{"a", "", std::string("b\0c", 3)};
    const GgufMetadata metadata = {
        {"u8", uint8_t{255}},
        {"i8", int8_t{-128}},
        {"u16", uint16_t{65535}},
        {"i16", int16_t{-2}},
        {"u32", uint32_t{4294967295}},
        {"i32", int32_t{-3}},
        {"f32", 0.5f},
        {"bool", true},
        {"text", std::string("Grüße")},
        {"u64", uint64_t{1} << 63},
        {"i64", int64_t{-5}},
        {"f64", 0.1},
        {"texts", texts},
        {"numbers", GgufArray(std::vector<int32_t>{1, -2})},
        {"truths", GgufArray(std::vector<bool>{true, false, true})},
        {"bytes", GgufArray(std::vector<uint8_t>{})},
    };
    const std::vector<GgufTensorSource> tensors = {
        {"a", GgmlType::kF32, {3}, [] { return Quantise(GgmlType::kF32, Ramp(3)); }},
        {"b", GgmlType::kQ8_0, {2, 32}, [] { return Quantise(GgmlType::kQ8_0, Ramp(64)); }}};
    const auto written = WriteGguf(path_, metadata, tensors);
    ASSERT_TRUE(written.ok()) << written.error().message();
  }
  static std::vector<float> Ramp(int count) {
    std::vector<float> numbers;
    for (int i = 0; i < count; ++i) numbers.push_back(static_cast<float>(i) - 7);
    return numbers;
  }

  TemporaryDirectory directory_;
  const std::filesystem::path path_ = directory_.path() / "x.gguf";
};

TEST_F(Gguf, WhatIsWrittenIsReadBackWithItsTypes) {
  WriteAll();
  const auto file = GgufFile::Open(path_);
  ASSERT_TRUE(file.ok()) << file.error().message();
  EXPECT_EQ(file->version(), 3u);
  EXPECT_EQ(*file->Find("u8"), GgufValue(uint8_t{255}));
  EXPECT_EQ(*file->Find("i8"), GgufValue(int8_t{-128}));
  EXPECT_EQ(*file->Find("u16"), GgufValue(uint16_t{65535}));
  EXPECT_EQ(*file->Find("f32"), GgufValue(0.5f));
  EXPECT_EQ(file->Integer("u32"), 4294967295);
  EXPECT_EQ(file->Integer("i16"), -2);
  EXPECT_EQ(file->Integer("i64"), -5);
  EXPECT_EQ(file->Integer("u64"), std::nullopt);  // does not fit
  EXPECT_EQ(file->Integer("f64"), std::nullopt);
  EXPECT_EQ(file->Integer("bool"), std::nullopt);
  EXPECT_EQ(file->Number("f64"), 0.1);
  EXPECT_EQ(file->Number("i32"), -3.0);
  EXPECT_EQ(file->Truth("bool"), true);
  EXPECT_EQ(*file->Text("text"), "Grüße");
  EXPECT_EQ(*file->Texts("texts"), (std::vector<std::string>{"a", "", std::string("b\0c", 3)}));
  EXPECT_EQ(file->Numbers("numbers"), (std::vector<double>{1, -2}));
  EXPECT_EQ(file->Numbers("truths"), (std::vector<double>{1, 0, 1}));
  EXPECT_EQ(file->Numbers("bytes"), std::vector<double>{});
  EXPECT_EQ(file->Find("nothing"), nullptr);
  ASSERT_EQ(file->tensors().size(), 2u);
  const GgufTensor* tensor = file->FindTensor("b");
  EXPECT_EQ(tensor->shape, (std::vector<int64_t>{2, 32}));
  EXPECT_EQ(tensor->layout->name, "Q8_0");
  std::vector<float> numbers(64);
  Dequantise(*tensor->layout, tensor->bytes, numbers);
  EXPECT_NEAR(numbers[63], 56, 0.3);
}

TEST_F(Gguf, AFileThatIsCutAnywhereIsAnErrorThatNamesIt) {
  WriteAll();
  const std::string whole = *ReadFile(path_);
  // Up to the end of the last tensor's data, behind which there is only padding.
  for (size_t size = 0; size < whole.size() - 32; ++size) {
    EXPECT_NE(ErrorOf(whole.substr(0, size)), "") << size;
  }
}

TEST_F(Gguf, AnyByteMayBeAnyOther) {
  WriteAll();
  const std::string whole = *ReadFile(path_);
  for (size_t at = 0; at < whole.size(); ++at) {
    for (const char byte : {'\0', '\x01', '\x7F', '\xFF'}) {
      std::string other = whole;
      other[at] = byte;
      ErrorOf(other);  // reads it or says what is wrong
    }
  }
}

TEST_F(Gguf, OtherFilesAndVersionsAreNamed) {
  ExpectProblem("", "not a GGUF file");
  ExpectProblem("GGU", "not a GGUF file");
  ExpectProblem("PK\x03\x04 and more", "not a GGUF file");
  ExpectProblem(Begin(0, 0, 1), "of version 1");
  ExpectProblem(Begin(0, 0, 4), "of version 4");
  ExpectProblem(Begin(0, 0, 0x03000000), "big-endian");
  EXPECT_EQ(ErrorOf(Begin(0, 0, 2)), "");
}

TEST_F(Gguf, NumbersThatTheFileCannotHoldTakeNoMemory) {
  ExpectProblem(Begin(0, uint64_t{1} << 60), "keys do not fit");
  ExpectProblem(Begin(uint64_t{1} << 60, 0), "tensors do not fit");
  const std::string room(64, '\0');
  ExpectProblem(Begin(0, 1) + Raw(uint64_t{1} << 40) + room, "goes beyond the end");
  const std::string key = Begin(0, 1) + RawText("k");
  ExpectProblem(key + Raw(uint32_t{8}) + Raw(~uint64_t{0}), "key k: a text of");
  for (const uint32_t type : {0, 5, 7, 8, 12}) {
    ExpectProblem(key + Raw(uint32_t{9}) + Raw(type) + Raw(uint64_t{1} << 61) + room,
                  "key k: an array of");
  }
}

TEST_F(Gguf, KeysThatAreWrongAreNamed) {
  const std::string key = Begin(0, 1) + RawText("k");
  ExpectProblem(key + Raw(uint32_t{13}) + Raw(uint64_t{0}), "key k: a value of the type 13");
  ExpectProblem(key + Raw(uint32_t{7}) + "\x02", "key k: a truth value is 2");
  ExpectProblem(key + Raw(uint32_t{9}) + Raw(uint32_t{9}) + Raw(uint64_t{0}), "array of arrays");
  ExpectProblem(key + Raw(uint32_t{9}) + Raw(uint32_t{77}) + Raw(uint64_t{0}),
                "an array of the type 77");
  const std::string one = RawText("k") + Raw(uint32_t{0}) + "\x05";
  ExpectProblem(Begin(0, 2) + one + one, "two keys are called k");
  ExpectProblem(Begin(0, 1) + RawText("") + Raw(uint32_t{0}) + "\x05", "a key without a name");
  const std::string alignment = Begin(0, 1) + RawText("general.alignment");
  ExpectProblem(alignment + Raw(uint32_t{4}) + Raw(uint32_t{24}), "general.alignment");
  ExpectProblem(alignment + Raw(uint32_t{4}) + Raw(uint32_t{0}), "general.alignment");
  ExpectProblem(alignment + Raw(uint32_t{10}) + Raw(uint64_t{32}), "general.alignment");
}

TEST_F(Gguf, TensorsThatAreWrongAreNamed) {
  const auto tensor = [](std::vector<uint64_t> shape, uint32_t type, uint64_t offset) {
    std::string text = RawText("t") + Raw(static_cast<uint32_t>(shape.size()));
    for (const uint64_t size : shape) text += Raw(size);
    return text + Raw(type) + Raw(offset);
  };
  const std::string data(256, '\0');
  EXPECT_EQ(ErrorOf(Begin(1, 0) + tensor({4, 2}, 0, 0) + data), "");
  ExpectProblem(Begin(1, 0) + tensor({1, 1, 1, 1, 1}, 0, 0) + data,
                "tensor t: it has 5 dimensions");
  ExpectProblem(Begin(1, 0) + tensor({4}, 99, 0) + data, "its type 99 is not known");
  ExpectProblem(Begin(1, 0) + tensor({33}, 8, 0) + data, "do not fill whole blocks of Q8_0");
  ExpectProblem(Begin(1, 0) + tensor({4}, 0, 8) + data, "not a multiple of 32");
  ExpectProblem(Begin(1, 0) + tensor({4}, 0, 1 << 20) + data, "lies outside of the file");
  ExpectProblem(Begin(1, 0) + tensor({4}, 0, ~uint64_t{31}) + data, "lies outside of the file");
  ExpectProblem(Begin(1, 0) + tensor({1 << 20}, 0, 0) + data, "lies outside of the file");
  const uint64_t big = uint64_t{1} << 32;
  ExpectProblem(Begin(1, 0) + tensor({big, big}, 0, 0) + data, "out of reach");
  ExpectProblem(Begin(1, 0) + tensor({uint64_t{1} << 62}, 0, 0) + data, "out of reach");
  ExpectProblem(Begin(2, 0) + tensor({4}, 0, 0) + tensor({4}, 0, 32) + data,
                "two tensors are called t");
  const std::string other =
      RawText("u") + Raw(uint32_t{1}) + Raw(uint64_t{4}) + Raw(uint32_t{0}) + Raw(uint64_t{0});
  ExpectProblem(Begin(2, 0) + tensor({4}, 0, 0) + other + data, "shares bytes with another");
}

TEST_F(Gguf, AWriteThatFailsLeavesTheOldFileAndNothingElse) {
  WriteAll();
  const std::string before = *ReadFile(path_);
  const std::vector<GgufTensorSource> tensors = {
      {"a", GgmlType::kF32, {3}, [] { return Error(ErrorCode::kInvalidArgument, "no"); }}};
  const auto written = WriteGguf(path_, {}, tensors);
  ASSERT_FALSE(written.ok());
  EXPECT_EQ(written.error().message(), "tensor a: no");
  EXPECT_EQ(*ReadFile(path_), before);
  EXPECT_EQ(std::distance(std::filesystem::directory_iterator(directory_.path()), {}), 1);
}

}  // namespace
}  // namespace hone
