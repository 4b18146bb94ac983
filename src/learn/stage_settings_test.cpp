#include "learn/stage_settings.h"

#include <gtest/gtest.h>

namespace hone {
namespace {

struct ReadOne {
  StageSettings stage;
  std::string problems;
};

ReadOne Read(const std::string& toml, std::string_view environment) {
  Recipe recipe = Recipe::Parse("[[stage]]\n" + toml, "r.toml").value();
  std::vector<RecipeTable> tables = recipe.Root().Tables("stage");
  ReadOne read{ReadStage(tables[0], environment), ""};
  const Result<void> finished = recipe.Finish();
  if (!finished.ok()) read.problems = finished.error().message();
  return read;
}

TEST(StageSettings, HaveTheDefaultsThatAreKnownToLearn) {
  const ReadOne sft = Read("kind = \"sft\"", "desk");
  EXPECT_EQ(sft.problems, "");
  const SftStage& imitation = std::get<SftStage>(sft.stage);
  EXPECT_EQ(StageKind(sft.stage), "sft");
  EXPECT_EQ(imitation.demonstrator.agent, "teacher");
  EXPECT_EQ(imitation.steps, 3000);
  EXPECT_EQ(imitation.rate.peak, 3e-3);
  EXPECT_EQ(imitation.rate.steps, 3000) << "the cosine ends with the stage";
  EXPECT_EQ(imitation.optimizer.weight_decay, 0.05);
  const ReadOne rl = Read("kind = \"rl\"\nsteps = 7", "service");
  EXPECT_EQ(rl.problems, "");
  const RlStage& practice = std::get<RlStage>(rl.stage);
  EXPECT_EQ(practice.steps, 7);
  EXPECT_EQ(practice.groups * practice.group, 256);
  EXPECT_EQ(practice.batches.mini_batches, 2);
  EXPECT_EQ(practice.rate.peak, 3e-4);
  EXPECT_EQ(practice.rate.shape, LearningRate::Shape::kConstant);
  const ReadOne simulator = Read("kind = \"simulator\"\ntasks = 5\nsteps = 9", "service");
  EXPECT_EQ(simulator.problems, "");
  EXPECT_EQ(std::get<SimulatorStage>(simulator.stage).tasks, 5);
  EXPECT_EQ(std::get<SimulatorStage>(simulator.stage).model.steps, 9);
  EXPECT_EQ(std::get<SimulatorStage>(simulator.stage).mistakes, 0.6);
  const ReadOne record = Read("kind = \"record\"\ngold = true", "service");
  EXPECT_EQ(record.problems, "");
  EXPECT_EQ(StageKind(record.stage), "record");
  EXPECT_TRUE(std::get<RecordStage>(record.stage).gold);
}

TEST(StageSettings, KeysOfAnotherKindAreProblems) {
  EXPECT_NE(Read("kind = \"sft\"\ngroup = 4", "desk").problems.find("unknown key"),
            std::string::npos);
  EXPECT_NE(Read("kind = \"record\"\ngold = true\nmistakes = 0.1", "desk").problems.find("unknown"),
            std::string::npos);
  EXPECT_NE(Read("kind = \"rl\"\nteacher_error = 0.4", "desk").problems.find("unknown key"),
            std::string::npos);
  EXPECT_NE(Read("kind = \"sft\"\nteacher_error = 2.0", "desk").problems.find("out of range"),
            std::string::npos);
}

}  // namespace
}  // namespace hone
