#include "train/run_estimate.h"

#include <gtest/gtest.h>

#include <cstdlib>

#include "base/file.h"
#include "engine/memory.h"
#include "support/tiny_recipe.h"
#include "train/backend.h"
#include "train/run_model.h"
#include "train/trainer.h"

namespace hone {
namespace {

TEST(RunEstimate, CountsWhatTheRecipeAsksFor) {
  const RunEstimate small = EstimateRun(ReadTiny("/tmp/none").value()).value();
  ASSERT_EQ(small.stages.size(), 2u);
  EXPECT_EQ(small.stages[0].kind, "sft");
  EXPECT_EQ(small.stages[0].steps, 60);
  EXPECT_GT(small.stages[0].seconds_per_step, 0);
  EXPECT_GT(small.stages[1].seconds_per_step, 0);
  EXPECT_GT(small.policy_tokens_per_demonstration, 3);
  EXPECT_GT(small.tokens_per_demonstration, small.policy_tokens_per_demonstration);
  EXPECT_EQ(small.money, 0) << "simulated";
  EXPECT_EQ(small.set_up.demonstrations, 100) << "that the tokenizer is made from";
  EXPECT_GT(small.set_up.seconds, 0);
  EXPECT_FALSE(small.set_up.asks_others) << "the desk is part of this program";
  EXPECT_GT(small.Seconds(), small.set_up.seconds);
  EXPECT_NE(small.Table().find("set-up, 100 demonstrations"), std::string::npos);
  const RunEstimate paid =
      EstimateRun(ReadTiny("/tmp/none", {"environment.tasks.kinds=['clock']",
                                         "simulator={kind='endpoint', url='http://127.0.0.1:9', "
                                         "model='m', prompt_price=2.0, completion_price=8.0}"})
                      .value())
          .value();
  EXPECT_GT(paid.calls_per_demonstration, 0);
  // 4 steps of 4 groups of 4 and their gold; some 400 tokens to read and 10 to write per call.
  const double calls = paid.calls_per_demonstration * 4 * 4 * (4 + 1);
  EXPECT_GT(paid.money, calls * 200 * 2e-6);
  EXPECT_LT(paid.money, calls * 1000 * 2e-6);
  const RunEstimate bounded =
      EstimateRun(ReadTiny("/tmp/none", {"environment.tasks.kinds=['clock']",
                                         "simulator={kind='endpoint', url='http://127.0.0.1:9', "
                                         "model='m', prompt_price=2.0, max_money=0.01}"})
                      .value())
          .value();
  EXPECT_EQ(bounded.money, 0.01);
  // 4 groups of 4 a step: 20 trajectories are drawn in the second.
  const RunEstimate limited =
      EstimateRun(ReadTiny("/tmp/none", {"stage.1.trajectories=20"}).value()).value();
  EXPECT_EQ(limited.stages[1].steps, 2);
  const RunEstimate large =
      EstimateRun(ReadTiny("/tmp/none", {"model.fresh.layers=3", "run.keep=9"}).value()).value();
  EXPECT_GT(large.parameters, small.parameters);
  EXPECT_GT(TotalBytes(large.memory), TotalBytes(small.memory));
  EXPECT_GT(large.disk_bytes, 2 * small.disk_bytes);
}

TEST(RunEstimate, SaysWhatADeviceHasToHoldAndWhenItCannot) {
  TrainingRecipe recipe = ReadTiny("/tmp/none").value();
  EXPECT_FALSE(EstimateRun(recipe).value().device) << "the processor has no memory of its own";
  recipe.model.device = DeviceKind::kReference;
  const RunEstimate estimate = EstimateRun(recipe).value();
  ASSERT_TRUE(estimate.device);
  EXPECT_GT(estimate.device->needed_bytes, 16'384 * 4 * 400) << "the logits alone are more";
  EXPECT_LT(estimate.device->needed_bytes, estimate.device->free_bytes);
  EXPECT_NE(estimate.Table().find("of reference device, which has 1074 MB free"),
            std::string::npos);
  ::setenv("HONE_REFERENCE_MEMORY", "20", 1);
  const auto full = EstimateRun(recipe);
  ::unsetenv("HONE_REFERENCE_MEMORY");
  ASSERT_FALSE(full.ok());
  EXPECT_NE(full.error().message().find("are free: lower stage.call_tokens (16384 now)"),
            std::string::npos)
      << full.error().message();
}

TEST(RunEstimate, SaysThatARunDoesNotFitIntoThisMachineBeforeItReadsWeights) {
  const TemporaryDirectory place;
  const TrainingRecipe fresh = ReadTiny("/tmp/none").value();
  const LoadedEnvironment environment = fresh.environment.make(nullptr).value();
  const auto world = Backend::Real(fresh, environment, "").value();
  Demonstrator demonstrator({.agent = "gold"}, &environment, world->executor(), 1);
  const RunLanguage language = MakeLanguage(fresh.model, &demonstrator).value();
  ModelConfig config = fresh.model.fresh;
  config.vocab = language.tokenizer->vocab_size();
  ASSERT_TRUE(WriteFileAtomic(place.path() / "tokenizer.json", language.tokenizer->ToJson()).ok());
  ASSERT_TRUE(
      WriteFileAtomic(place.path() / "config.json", DumpJson(ModelConfigToJson(config))).ok());
  const std::string folder =
      "model={dialect='tagged:desk', device='cpu', folder='" + place.path().string() + "'}";
  const auto large =
      EstimateRun(ReadTiny("/tmp/none", {folder, "stage.0.call_tokens=100_000_000_000"}).value());
  ASSERT_FALSE(large.ok());
  const std::string& message = large.error().message();
  for (const char* part :
       {"this run takes up to ", " GB of it buffers), and this machine has ",
        "lower stage.call_tokens (100000000000 now), set model.recompute_activations=true, train "
        "adapters (model.lora={rank=16}), or compute on a GPU (--device cuda)"}) {
    EXPECT_NE(message.find(part), std::string::npos) << message;
  }
  const auto fits = EstimateRun(ReadTiny("/tmp/none", {folder}).value());
  ASSERT_FALSE(fits.ok());
  EXPECT_NE(fits.error().message().find("model.safetensors"), std::string::npos)
      << "now they are read: " << fits.error().message();
}

TEST(RunEstimate, AdaptersTakeLessThanAllWeights) {
  const auto memory = [](const std::vector<std::string>& changes) {
    return TotalBytes(EstimateRun(ReadTiny("/tmp/none", changes).value()).value().memory);
  };
  EXPECT_LT(memory({"model.lora={rank=2}"}), memory({}));
}

TEST(RunEstimate, KnowsWhatTheCacheHas) {
  const TemporaryDirectory place;
  const TrainingRecipe recipe = ReadTiny(place.path()).value();
  const RunEstimate before = EstimateRun(recipe).value();
  EXPECT_FALSE(before.stages[0].cached);
  ASSERT_TRUE(Train(recipe, {}).ok());
  const RunEstimate after = EstimateRun(recipe).value();
  EXPECT_TRUE(after.stages[0].cached);
  EXPECT_FALSE(after.stages[1].cached) << "trial and error is never taken from the cache";
  EXPECT_EQ(after.Seconds(), after.set_up.seconds + static_cast<double>(after.stages[1].steps) *
                                                        after.stages[1].seconds_per_step);
  EXPECT_NE(after.Table().find("in the cache"), std::string::npos);
  const TrainingRecipe other = ReadTiny(place.path(), {"run.seed=77"}).value();
  EXPECT_FALSE(EstimateRun(other).value().stages[0].cached);
}

}  // namespace
}  // namespace hone
