#include "serve/served_model.h"

#include <gtest/gtest.h>

#include "base/file.h"
#include "support/tiny_served.h"

namespace hone {
namespace {

TEST(ServeModel, AFolderIsServedUnderItsName) {
  TemporaryDirectory directory;
  const auto tiny = TinyServed();
  const std::filesystem::path folder = directory.path() / "mine";
  ASSERT_TRUE(SaveModel(tiny->engine->model(), SaveType::kF32, folder).ok());
  EXPECT_FALSE(OpenServedModel({.model = folder.string()}).ok()) << "no tokenizer";
  std::filesystem::copy(HONE_SOURCE_DIR "/tests/golden/tokenizer/tokenizer.json",
                        folder / "tokenizer.json");
  const auto served = OpenServedModel({.model = folder.string(), .threads = 1});
  ASSERT_TRUE(served.ok()) << served.error().message();
  EXPECT_EQ((*served)->name, "mine");
  EXPECT_EQ((*served)->weights, tiny->weights);
  EXPECT_EQ((*served)->dialect->traits().name, "hermes:qwen2.5");
  EXPECT_FALSE((*served)->engine->forbidden().empty());
  EXPECT_EQ(OpenServedModel({.model = folder.string(), .name = "x", .threads = 1}).value()->name,
            "x");
  EXPECT_FALSE(OpenServedModel({.model = folder.string(), .dialect = "klingon"}).ok());
  EXPECT_FALSE(OpenServedModel({.model = "nowhere"}).ok());
  const auto foreign = OpenServedModel({.model = folder.string(), .dialect = "tagged:desk"});
  ASSERT_FALSE(foreign.ok()) << "its tokenizer has no <system>";
  EXPECT_NE(foreign.error().message().find("<system>"), std::string::npos);
}

TEST(ServeModel, ATokenizerThatIsTooLargeIsRefused) {
  const auto served = OpenServedModel({.model = HONE_SOURCE_DIR "/tests/golden/models/qwen3",
                                       .tokenizer = HONE_SOURCE_DIR "/tests/golden/tokenizer"});
  ASSERT_FALSE(served.ok());
  EXPECT_NE(served.error().message().find("--tokenizer"), std::string::npos);
}

}  // namespace
}  // namespace hone
