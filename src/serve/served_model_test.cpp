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

// A folder with a template of its own speaks in it, and its calls are read as it writes them.
TEST(ServeModel, AFolderWithATemplateIsServedInIt) {
  TemporaryDirectory directory;
  const auto tiny = TinyServed();
  const std::filesystem::path folder = directory.path() / "mine";
  ASSERT_TRUE(SaveModel(tiny->engine->model(), SaveType::kF32, folder).ok());
  std::filesystem::copy(HONE_SOURCE_DIR "/tests/golden/tokenizer/tokenizer.json",
                        folder / "tokenizer.json");
  const std::string source =
      "{% for m in messages %}<|im_start|>{{ m.role }}\n{{ m.content }}{% for c in m.tool_calls or "
      "[] %}[TOOL_CALLS]{{ c.function.name }}[ARGS]{{ c.function.arguments | tojson }}{% endfor %}"
      "<|im_end|>\n{% endfor %}{% if add_generation_prompt %}<|im_start|>assistant\n{% endif %}";
  ASSERT_TRUE(WriteFileAtomic(folder / "chat_template.jinja", source).ok());
  const auto served = OpenServedModel({.model = folder.string(), .threads = 1});
  ASSERT_TRUE(served.ok()) << served.error().message();
  const DialectTraits& traits = (*served)->dialect->traits();
  EXPECT_EQ(traits.name, "template:" + folder.string());
  EXPECT_EQ(traits.call_format, "mistral");
  const ParsedTurn turn =
      (*served)->dialect->Parse("[TOOL_CALLS]f[ARGS]{}<|im_end|>", TurnEnd::kEnded);
  ASSERT_EQ(turn.calls.size(), 1u);
  EXPECT_EQ(turn.calls[0].name, "f");
}

TEST(ServeModel, ATokenizerThatIsTooLargeIsRefused) {
  const auto served = OpenServedModel({.model = HONE_SOURCE_DIR "/tests/golden/models/qwen3",
                                       .tokenizer = HONE_SOURCE_DIR "/tests/golden/tokenizer"});
  ASSERT_FALSE(served.ok());
  EXPECT_NE(served.error().message().find("--tokenizer"), std::string::npos);
}

}  // namespace
}  // namespace hone
