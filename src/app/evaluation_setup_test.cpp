#include "app/evaluation_setup.h"

#include <gtest/gtest.h>

#include "base/file.h"
#include "support/tiny_recipe.h"
#include "train/trainer.h"

namespace hone {
namespace {

void ExpectError(const EvaluationChoice& choice, const std::string& part) {
  const auto setup = OpenForEvaluation(choice);
  ASSERT_FALSE(setup.ok()) << part;
  EXPECT_NE(setup.error().message().find(part), std::string::npos) << setup.error().message();
}

TEST(EvaluationSetupTest, ARunIsMeasuredAsItWasAtItsEnd) {
  const TemporaryDirectory out;
  const auto report = Train(ReadTiny(out.path()).value(), {});
  ASSERT_TRUE(report.ok()) << report.error().message();
  const std::string run = (out.path() / "tiny").string();
  const auto setup = OpenForEvaluation({.model = run});
  ASSERT_TRUE(setup.ok()) << setup.error().message();
  EXPECT_EQ((*setup)->environment, "desk");
  EXPECT_EQ((*setup)->recipe.evaluation.TasksOf(Split::kTest), 4);
  EXPECT_EQ((*setup)->context->engine->WeightsHash(), report->weights);
  const auto greedy = (*setup)->context->Evaluate({.split = Split::kTest, .tasks = 4}, 0);
  ASSERT_TRUE(greedy.ok()) << greedy.error().message();
  const Json* after = report->state.evaluations.Find("after/test/greedy");
  EXPECT_EQ(*greedy->ToJson().Find("outcomes"), *after->Find("outcomes"));
  EXPECT_EQ(*greedy->ToJson().Find("figures"), *after->Find("figures"));
  // The same weights elsewhere, and as a model like any other.
  const std::string checkpoint = report->checkpoint.string();
  EXPECT_TRUE(OpenForEvaluation({.model = checkpoint, .environment = "quiz"}).ok());
  const std::filesystem::path copy = out.path() / "copy";
  std::filesystem::copy(checkpoint, copy, std::filesystem::copy_options::recursive);
  std::filesystem::remove(copy / "training.json");
  std::filesystem::remove(copy / "training_state.safetensors");
  ExpectError({.model = copy.string()}, "name an environment with --env");
  const auto foreign =
      OpenForEvaluation({.model = copy.string(), .environment = "desk", .dialect = "tagged:desk"});
  ASSERT_TRUE(foreign.ok()) << foreign.error().message();
  EXPECT_TRUE((*foreign)->context->Evaluate({.split = Split::kDev, .tasks = 2}, 1).ok());
  // What does not fit.
  ExpectError({.model = copy.string(), .environment = "desk", .dialect = "hermes"},
              "choose the dialect that the model was made for");
  ExpectError({.model = run, .environment = "dask"}, "did you mean \"desk\"?");
  ExpectError({.model = run, .environment = "/nowhere.toml"}, "/nowhere.toml");
  ExpectError({.model = run, .checkpoint = "7"}, "there are last, best");
}

TEST(EvaluationSetupTest, TheAdapterOfAModelIsMeasuredWithIt) {
  const TemporaryDirectory out;
  const auto report = Train(ReadTiny(out.path(), {"model.lora.rank=2"}).value(), {});
  ASSERT_TRUE(report.ok()) << report.error().message();
  // No checkpoint of a run any more: a model and its adapter, as others make them.
  const std::filesystem::path copy = out.path() / "copy";
  std::filesystem::copy(report->checkpoint, copy, std::filesystem::copy_options::recursive);
  std::filesystem::remove(copy / "training.json");
  std::filesystem::remove(copy / "training_state.safetensors");
  ASSERT_TRUE(std::filesystem::exists(copy / "adapter"));
  const auto hash_of = [&] {
    const auto setup = OpenForEvaluation(
        {.model = copy.string(), .environment = "desk", .dialect = "tagged:desk"});
    return setup.ok() ? (*setup)->context->engine->WeightsHash() : setup.error().message();
  };
  const std::string both = hash_of();
  EXPECT_EQ(both, Engine::Open(copy, {}).value()->WeightsHash());
  std::filesystem::remove_all(copy / "adapter");
  EXPECT_NE(hash_of(), both);
}

}  // namespace
}  // namespace hone
