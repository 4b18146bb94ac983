#include "engine/weights/llama2c.h"

#include <gtest/gtest.h>

#include <cstring>

#include "base/file.h"

namespace hone {
namespace {

constexpr int32_t kWidth = 8, kFfn = 12, kLayers = 2, kHeads = 2, kKvHeads = 1, kVocab = 5,
                  kPositions = 6;

// A checkpoint whose numbers count up, so that each says where it stood.
std::string Checkpoint(int32_t vocab) {
  std::string bytes;
  for (const int32_t size : {kWidth, kFfn, kLayers, kHeads, kKvHeads, vocab, kPositions}) {
    bytes.append(reinterpret_cast<const char*>(&size), sizeof size);
  }
  const int kv = kWidth / kHeads * kKvHeads;
  const int per_layer = 2 * kWidth + 2 * kWidth * kWidth + 2 * kWidth * kv + 3 * kWidth * kFfn;
  int count = kVocab * kWidth + kLayers * per_layer + kWidth + kPositions * kWidth / kHeads;
  if (vocab < 0) count += kVocab * kWidth;
  for (int i = 0; i < count; ++i) {
    const auto number = static_cast<float>(i);
    bytes.append(reinterpret_cast<const char*>(&number), sizeof number);
  }
  return bytes;
}

class Llama2c : public testing::Test {
 protected:
  Result<Llama2cFile> Open(const std::string& bytes) {
    EXPECT_TRUE(WriteFileAtomic(path_, bytes).ok());
    return Llama2cFile::Open(path_);
  }

  TemporaryDirectory directory_;
  const std::filesystem::path path_ = directory_.path() / "model.bin";
};

TEST_F(Llama2c, TensorsAreWhereRunCLooksForThem) {
  for (const int32_t vocab : {kVocab, -kVocab}) {
    const auto file = Open(Checkpoint(vocab));
    ASSERT_TRUE(file.ok()) << file.error().message();
    EXPECT_EQ(file->config().tied_embeddings, vocab > 0);
    EXPECT_EQ(file->config().head_dim, 4);
    const auto model = ReadModel(file->config(), file->Reader());
    ASSERT_TRUE(model.ok()) << model.error().message();
    const LayerParameters& second = model->layers[1];
    const auto first = [&](int parameter) { return model->parameters[parameter].value[0]; };
    EXPECT_EQ(first(model->embedding), 0);
    // By the order in llama2.c's run.c: all layers of a kind behind each other.
    const float norms = 40, q = norms + 2 * 8, k = q + 2 * 64, v = k + 2 * 32, o = v + 2 * 32;
    const float post = o + 2 * 64, gate = post + 2 * 8, down = gate + 2 * 96, up = down + 2 * 96;
    const float last = up + 2 * 96;
    EXPECT_EQ(first(second.input_norm), norms + 8);
    EXPECT_EQ(first(second.q), q + 64);
    EXPECT_EQ(first(second.k), k + 32);
    EXPECT_EQ(first(second.v), v + 32);
    EXPECT_EQ(first(second.output), o + 64);
    EXPECT_EQ(first(second.post_norm), post + 8);
    EXPECT_EQ(first(second.gate), gate + 96);
    EXPECT_EQ(first(second.down), down + 96);
    EXPECT_EQ(first(second.up), up + 96);
    EXPECT_EQ(first(model->final_norm), last);
    if (vocab < 0) {
      EXPECT_EQ(first(model->head), last + 8 + 6 * 4);
    }
  }
}

// Rotated pairs are neighbours there (0 1 2 3) and half a head apart here: 0 2 1 3.
TEST_F(Llama2c, QueriesAndKeysHaveTheirRowsInAnotherOrder) {
  const auto file = Open(Checkpoint(kVocab));
  const auto model = ReadModel(file->config(), file->Reader());
  const auto row = [&](int parameter, int place) {
    const std::vector<float>& values = model->parameters[parameter].value;
    return static_cast<int>(values[static_cast<size_t>(place * kWidth)] - values[0]) / kWidth;
  };
  for (const int parameter : {model->layers[0].q, model->layers[0].k}) {
    EXPECT_EQ(row(parameter, 1), 2);
    EXPECT_EQ(row(parameter, 2), 1);
    EXPECT_EQ(row(parameter, 3), 3);
  }
  EXPECT_EQ(row(model->layers[0].q, 5), 6);
  EXPECT_EQ(row(model->layers[0].v, 1), 1);
}

TEST_F(Llama2c, AnotherSizeAndAbsurdHeadersAreErrors) {
  const std::string whole = Checkpoint(kVocab);
  for (const std::string& bytes :
       {whole + "x", whole.substr(0, whole.size() - 1), whole.substr(0, 28), whole.substr(0, 3),
        std::string(300, '\0'), std::string(300, '\x7f'), std::string(300, '\xff')}) {
    const auto file = Open(bytes);
    ASSERT_FALSE(file.ok());
    EXPECT_NE(file.error().message().find(path_.string()), std::string::npos);
  }
}

}  // namespace
}  // namespace hone
