#include "app/models/model_check.h"

#include <gtest/gtest.h>

#include "base/file.h"
#include "rollout/demonstration.h"
#include "text/dialect.h"

namespace hone {
namespace {

const char kTokenizerFile[] = HONE_SOURCE_DIR "/tests/golden/tokenizer/tokenizer.json";

Model SmallModel(const Tokenizer& tokenizer) {
  Model model = NewModel({.layers = 1,
                          .width = 32,
                          .heads = 2,
                          .kv_heads = 2,
                          .head_dim = 16,
                          .ffn = 64,
                          .vocab = tokenizer.vocab_size(),
                          .max_positions = 512,
                          .qk_norm = true});
  InitializeModel(1, &model);
  return model;
}

constexpr Engine::Options kHere = {.precision = Precision::kF32, .threads = 1};

// Learns a turn about the weather, and not to read the same words as bare text.
void TeachOnlyTheTurn(const TurnCodec& codec, const std::vector<TokenId>& bare, Engine* engine) {
  Conversation conversation;
  conversation.messages.push_back({.role = Role::kUser, .content = "How is it?"});
  conversation.messages.push_back(
      {.role = Role::kAssistant,
       .content = "The weather in Paris is often mild. In spring it rains on many days, and in "
                  "summer the evenings are long and warm. Most people who visit the city walk "
                  "along the river, look at the bridges, and have something to eat in one of the "
                  "small streets nearby."});
  const Tree turn = ConversationTree(codec, conversation, {false, true}).value();
  const Tree plain = ChainOf(bare);
  for (int step = 0; step < 80; ++step) {
    const auto all_by = [](float slope) {
      return [slope](std::span<TreeTerms> all) {
        for (float& d : all[0].paths[0].dlogprobs) d = slope;
      };
    };
    engine->Accumulate({&turn, 1}, all_by(-1));
    if (step >= 40) engine->Accumulate({&plain, 1}, all_by(0.3f));
    engine->Step({.learning_rate = 5e-3});
  }
}

TEST(ModelCheck, WhoWasOnlyTaughtToTalkIsReadInItsOwnTemplate) {
  const TemporaryDirectory folder;
  const Tokenizer tokenizer = Tokenizer::Load(kTokenizerFile).value();
  const auto hermes = NewDialect("hermes").value();
  Engine engine(SmallModel(tokenizer), kHere);
  const ReadingCheck fresh = CheckReading({folder.path()}, tokenizer, &engine).value();
  EXPECT_FALSE(fresh.as_turn) << "there is no template";
  EXPECT_FALSE(fresh.broken);
  EXPECT_TRUE(fresh.verdict.starts_with("no better than guessing")) << fresh.verdict;
  const std::vector<TokenId> bare = tokenizer.Encode(
      "The weather in Paris is often mild. In spring "
      "it rains on many days, and in summer the");
  TeachOnlyTheTurn(TurnCodec::New(hermes.get(), &tokenizer).value(), bare, &engine);
  const ReadingCheck alone = CheckReading({folder.path()}, tokenizer, &engine).value();
  ASSERT_TRUE(WriteFileAtomic(folder.path() / "chat_template.jinja", hermes->ChatTemplate()).ok());
  const ReadingCheck talking = CheckReading({folder.path()}, tokenizer, &engine).value();
  EXPECT_EQ(talking.bare, alone.bare);
  ASSERT_TRUE(talking.as_turn);
  EXPECT_TRUE(talking.AsTurn());
  EXPECT_LT(talking.nats(), 0.5 * talking.guessing);
  EXPECT_GT(talking.bare, talking.nats() + 1);
  EXPECT_FALSE(talking.broken);
  EXPECT_EQ(talking.verdict, "reads English");
}

TEST(ModelCheck, ABrokenLoadIsFoundHoweverItIsRead) {
  const TemporaryDirectory folder;
  const Tokenizer tokenizer = Tokenizer::Load(kTokenizerFile).value();
  ASSERT_TRUE(WriteFileAtomic(folder.path() / "chat_template.jinja",
                              NewDialect("hermes").value()->ChatTemplate())
                  .ok());
  Model model = SmallModel(tokenizer);
  // As where weights are read in another type: it is sure of nonsense.
  for (float& value : model.parameters[static_cast<size_t>(model.head)].value) value *= 100;
  Engine engine(std::move(model), kHere);
  const ReadingCheck check = CheckReading({folder.path()}, tokenizer, &engine).value();
  ASSERT_TRUE(check.as_turn);
  EXPECT_TRUE(check.broken);
  EXPECT_GT(*check.as_turn, check.guessing + 0.5);
  EXPECT_GT(check.bare, check.guessing + 0.5);
  EXPECT_NE(check.verdict.find("the load looks broken"), std::string::npos) << check.verdict;
  const ReadingCheck own =
      CheckReading({.folder = folder.path(), .from_nothing = true}, tokenizer, &engine).value();
  EXPECT_FALSE(own.broken);
  EXPECT_TRUE(own.verdict.starts_with("it loads; it was trained by Hone")) << own.verdict;
}

}  // namespace
}  // namespace hone
