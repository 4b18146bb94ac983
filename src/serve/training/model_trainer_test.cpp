#include "serve/training/model_trainer.h"

#include <gtest/gtest.h>

#include "base/file.h"
#include "engine/lora.h"
#include "support/no_memory_for.h"
#include "support/tiny_served.h"

namespace hone {
namespace {

ForwardCall CrossEntropyOn(size_t sequences, size_t tokens) {
  ForwardCall call;
  call.model_id = "m";
  call.loss = TokenLossNamed("cross_entropy", {}).value();
  for (size_t i = 0; i < sequences; ++i) {
    call.data.push_back({.tokens = std::vector<TokenId>(tokens, static_cast<TokenId>(5 + i)),
                         .weights = std::vector<float>(tokens - 1, 1.0f)});
  }
  return call;
}

StepCall SmallStep() {
  StepCall call;
  call.model_id = "m";
  call.optimizer.learning_rate = 0.02;
  return call;
}

TEST(ModelTrainer, WhereMemoryRunsOutNoStepIsTakenByHalfOfAGradient) {
#ifdef HONE_SANITIZED
  GTEST_SKIP() << "sanitizers end a process that has no memory left";
#endif
  const auto served = TinyServed();
  ModelTrainer trainer(served.get(), {});
  ASSERT_TRUE(trainer.Create("m", {.base_model = "tiny"}).ok());
  const ForwardCall small = CrossEntropyOn(2, 6), large = CrossEntropyOn(60, 256);
  const auto fails = [&] {
    const NoMemoryFor rows(uint64_t{8} << 20);
    return trainer.Forward(large);
  };
  // Alone, it leaves nothing behind: the step may begin with what fits.
  EXPECT_EQ(fails().error().code(), ErrorCode::kUnavailable);
  EXPECT_FALSE(trainer.state().lost);

  ASSERT_TRUE(trainer.Forward(small).ok());
  EXPECT_EQ(fails().error().code(), ErrorCode::kUnavailable);
  EXPECT_TRUE(trainer.state().lost);
  EXPECT_NE(trainer.Forward(small).error().message().find("begin the step anew"),
            std::string::npos);
  EXPECT_NE(trainer.Step(SmallStep()).error().message().find("was lost"), std::string::npos);
  EXPECT_EQ(trainer.Weights(), served->weights) << "nothing was changed";

  ASSERT_TRUE(trainer.Forward(small).ok());
  ASSERT_TRUE(trainer.Step(SmallStep()).ok());
  const auto expected = TinyServed();
  AccumulateTokenLoss(small.loss, small.data, expected->engine.get());
  expected->engine->Step(SmallStep().optimizer);
  EXPECT_EQ(trainer.Weights(), expected->engine->WeightsHash());
}

TEST(ModelTrainer, AGradientThatIsNoNumberChangesNothing) {
  const auto served = TinyServed();
  ModelTrainer trainer(served.get(), {});
  ASSERT_TRUE(trainer.Create("m", {.base_model = "tiny"}).ok());
  served->engine->Accumulate(std::vector<Tree>{ChainOf({1, 2, 3})}, [](std::span<TreeTerms> terms) {
    terms[0].paths[0].dlogprobs[1] = std::numeric_limits<float>::infinity();
  });
  ASSERT_TRUE(trainer.Forward(CrossEntropyOn(1, 4)).ok());
  EXPECT_NE(trainer.Step(SmallStep()).error().message().find("no number"), std::string::npos);
  EXPECT_EQ(trainer.state().steps, 0);
  EXPECT_EQ(trainer.Weights(), served->weights);
  ASSERT_TRUE(trainer.Forward(CrossEntropyOn(1, 4)).ok());
  EXPECT_TRUE(trainer.Step(SmallStep()).ok());
}

TEST(ModelTrainer, WeightsThatWereLoadedAreDrawnWithByTheirPath) {
  TemporaryDirectory directory;
  const auto served = TinyServed();
  ModelTrainer trainer(served.get(), {.save_to = directory.path()});
  ASSERT_TRUE(trainer.Create("m", {.base_model = "tiny"}).ok());
  const auto step = [&] {
    ASSERT_TRUE(trainer.Forward(CrossEntropyOn(1, 4)).ok());
    ASSERT_TRUE(trainer.Step(SmallStep()).ok());
  };
  step();
  SaveCall save;
  save.model_id = "m";
  save.name = "first";
  const std::string path = trainer.Save(save).value();
  const auto draws = [&] {
    const std::string sampler = trainer.SamplerOf({.model_path = path}).value();
    return trainer.CheckSampler(sampler).ok();
  };
  EXPECT_TRUE(draws());
  step();
  EXPECT_FALSE(draws());
  LoadCall load;
  load.model_id = "m";
  load.path = path;
  ASSERT_TRUE(trainer.Load(load).ok());
  EXPECT_TRUE(draws());
  step();
  EXPECT_FALSE(draws());
}

TEST(ModelTrainer, SavedAdaptersNameTheFolderTheyLieIn) {
  TemporaryDirectory directory;
  const auto served = TinyServed();
  Model model = served->engine->model();
  ASSERT_TRUE(AddLora({.rank = 2, .targets = {"q_proj"}}, &model).ok());
  served->Take(std::make_unique<Engine>(std::move(model), served->engine_options));
  const std::filesystem::path folder = directory.path() / "saved";
  ASSERT_TRUE(SaveServedModel(*served, folder).ok());
  const Json card =
      ParseJson(ReadFile(folder / kAdapterFolder / "adapter_config.json").value()).value();
  EXPECT_EQ(card.Find("base_model_name_or_path")->AsString(), folder.string());
}

}  // namespace
}  // namespace hone
