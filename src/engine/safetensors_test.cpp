#include "engine/safetensors.h"

#include <gtest/gtest.h>

#include <cstring>

#include "base/file.h"
#include "base/json.h"
#include "base/rng.h"
#include "support/golden_models.h"
#include "support/shared_data.h"

namespace hone {
namespace {

const std::filesystem::path kModels = GoldenModels();

// The bytes of a file with this header and data.
std::string FileOf(std::string_view header, std::string_view data = "") {
  const uint64_t size = header.size();
  return std::string(reinterpret_cast<const char*>(&size), sizeof size) + std::string(header) +
         std::string(data);
}

class SafetensorsTest : public testing::Test {
 protected:
  std::filesystem::path Write(const std::string& name, std::string_view content) {
    const auto path = directory_.path() / name;
    EXPECT_TRUE(WriteFileAtomic(path, content).ok());
    return path;
  }
  std::string ErrorOf(std::string_view content) {
    auto file = SafetensorsFile::Open(Write("x.safetensors", content));
    return file.ok() ? "opened" : file.error().message();
  }
  TemporaryDirectory directory_;
};

// Files written by Hugging Face's safetensors.
TEST_F(SafetensorsTest, ReadsWhatOthersWrote) {
  for (const char* model : {"qwen2", "qwen3", "llama3"}) {
    auto file = SafetensorsFile::Open(kModels / model / "model.safetensors");
    ASSERT_TRUE(file.ok()) << file.error().message();
    const TensorView* embedding = file->Find("model.embed_tokens.weight");
    ASSERT_NE(embedding, nullptr);
    EXPECT_EQ(embedding->shape, (std::vector<int64_t>{512, 64}));
    EXPECT_EQ(embedding->dtype, DType::kF32);
    EXPECT_EQ(file->metadata().at("format"), "pt");
    std::vector<float> values(static_cast<size_t>(embedding->count()));
    CopyAsF32(*embedding, values);
    EXPECT_NE(values[0], 0.0f);
  }
}

TEST_F(SafetensorsTest, WritingWhatWasReadGivesTheSameTensorsAndThenTheSameBytes) {
  auto original = SafetensorsFile::Open(kModels / "qwen2/model.safetensors");
  ASSERT_TRUE(original.ok());
  const auto first = directory_.path() / "first", second = directory_.path() / "second";
  ASSERT_TRUE(WriteSafetensors(first, original->tensors(), original->metadata()).ok());
  auto read = SafetensorsFile::Open(first);
  ASSERT_TRUE(read.ok()) << read.error().message();
  ASSERT_EQ(read->tensors().size(), original->tensors().size());
  for (const auto& [name, view] : original->tensors()) {
    const TensorView* again = read->Find(name);
    ASSERT_NE(again, nullptr) << name;
    EXPECT_EQ(again->shape, view.shape);
    EXPECT_EQ(std::memcmp(again->bytes.data(), view.bytes.data(), view.bytes.size()), 0);
  }
  ASSERT_TRUE(WriteSafetensors(second, read->tensors(), read->metadata()).ok());
  EXPECT_EQ(*ReadFile(first), *ReadFile(second));
}

TEST_F(SafetensorsTest, DamagedFilesAreTypedErrorsThatNameFileAndTensor) {
  EXPECT_NE(ErrorOf("").find("too short"), std::string::npos);
  EXPECT_NE(ErrorOf(std::string("\xFF\xFF\xFF\xFF\xFF\xFF\xFF\x7F", 8)).find("cut off"),
            std::string::npos);
  EXPECT_NE(ErrorOf(FileOf("{\"a\":")).find("header is not a JSON object"), std::string::npos);
  const std::string entry = R"({"a":{"dtype":"F32","shape":[2],"data_offsets":[0,8]}})";
  EXPECT_EQ(ErrorOf(FileOf(entry, "12345678")), "opened");
  EXPECT_NE(ErrorOf(FileOf(entry, "1234")).find("x.safetensors: tensor a: its data lies outside"),
            std::string::npos);
  EXPECT_NE(ErrorOf(FileOf(R"({"a":{"dtype":"F32","shape":[3],"data_offsets":[0,8]}})", "12345678"))
                .find("its shape does not fit its 8 bytes"),
            std::string::npos);
  EXPECT_NE(
      ErrorOf(FileOf(R"({"a":{"dtype":"F8_E4M3","shape":[8],"data_offsets":[0,8]}})", "12345678"))
          .find("its type F8_E4M3"),
      std::string::npos);
  EXPECT_NE(
      ErrorOf(
          FileOf(R"({"a":{"dtype":"F32","shape":[4611686018427387904,4],"data_offsets":[0,0]}})"))
          .find("does not fit"),
      std::string::npos);
  EXPECT_NE(ErrorOf(FileOf(R"({"a":{"dtype":"F32","shape":[-1],"data_offsets":[0,0]}})"))
                .find("does not fit"),
            std::string::npos);
  EXPECT_NE(ErrorOf(FileOf(R"({"a":{"dtype":"F32","shape":[1],"data_offsets":[0,4]},
                               "b":{"dtype":"F32","shape":[1],"data_offsets":[2,6]}})",
                           "12345678"))
                .find("shares bytes"),
            std::string::npos);
  EXPECT_EQ(SafetensorsFile::Open(directory_.path() / "none").error().code(), ErrorCode::kNotFound);
}

// Random damage to a real file: an error or a file, never a crash (run under the sanitizers too).
TEST_F(SafetensorsTest, MutatedFilesNeverCrash) {
  const std::string whole = *ReadFile(kModels / "llama3/model.safetensors");
  Rng rng(9);
  for (int i = 0; i < 300; ++i) {
    std::string damaged = whole.substr(0, i % 3 == 0 ? rng.Below(whole.size()) : whole.size());
    for (int flips = 0; flips < 4; ++flips) {
      const size_t at = rng.Below(std::min<size_t>(damaged.size(), 3000) + 1);
      if (at < damaged.size()) damaged[at] = static_cast<char>(rng.NextU32());
    }
    auto file = SafetensorsFile::Open(Write("m.safetensors", damaged));
    if (!file.ok()) continue;
    for (const auto& [name, view] : file->tensors()) {
      if (view.dtype == DType::kI32 || view.dtype == DType::kI64) continue;
      std::vector<float> values(static_cast<size_t>(view.count()));
      CopyAsF32(view, values);
    }
  }
}

TEST_F(SafetensorsTest, ShardsAreFoundThroughTheIndex) {
  Write("m-1.safetensors",
        FileOf(R"({"a":{"dtype":"I32","shape":[1],"data_offsets":[0,4]}})", "1234"));
  Write("m-2.safetensors",
        FileOf(R"({"b":{"dtype":"I32","shape":[1],"data_offsets":[0,4]}})", "5678"));
  Write("model.safetensors.index.json",
        R"({"weight_map":{"a":"m-1.safetensors","b":"m-2.safetensors"}})");
  auto tensors = CheckpointTensors::Open(directory_.path());
  ASSERT_TRUE(tensors.ok()) << tensors.error().message();
  ASSERT_NE(tensors->Find("b"), nullptr);
  EXPECT_EQ(std::memcmp(tensors->Find("b")->bytes.data(), "5678", 4), 0);

  Write("model.safetensors.index.json",
        R"({"weight_map":{"a":"m-1.safetensors","c":"m-2.safetensors"}})");
  EXPECT_NE(
      CheckpointTensors::Open(directory_.path()).error().message().find("tensor c is missing"),
      std::string::npos);
  Write("model.safetensors.index.json", R"({"weight_map":{"a":"m-3.safetensors"}})");
  EXPECT_NE(CheckpointTensors::Open(directory_.path()).error().message().find("m-3.safetensors"),
            std::string::npos);
  Write("model.safetensors.index.json", R"({"weight_map":{"a":"../m-1.safetensors"}})");
  EXPECT_FALSE(CheckpointTensors::Open(directory_.path()).ok()) << "a shard lies in the folder";

  Write("model.safetensors",
        FileOf(R"({"d":{"dtype":"I32","shape":[1],"data_offsets":[0,4]}})", "9999"));
  EXPECT_NE(CheckpointTensors::Open(directory_.path())->Find("d"), nullptr)
      << "one file comes before an index that may be an older one's";
}

TEST_F(SafetensorsTest, Bfloat16ModelsAreWidened) {
  HONE_NEED_SHARED(data, "data/tiny-llama-digit/model.safetensors");
  auto file = SafetensorsFile::Open(data);
  ASSERT_TRUE(file.ok());
  const TensorView* norm = file->Find("model.norm.weight");
  ASSERT_NE(norm, nullptr);
  EXPECT_EQ(norm->dtype, DType::kBF16);
  std::vector<float> values(static_cast<size_t>(norm->count()));
  CopyAsF32(*norm, values);
  EXPECT_EQ(values[0], 1.0f) << "fresh norms are ones";
}

}  // namespace
}  // namespace hone
