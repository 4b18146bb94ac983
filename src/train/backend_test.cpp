#include "train/backend.h"

#include <gtest/gtest.h>

#include "base/file.h"
#include "envs/play.h"
#include "support/tiny_recipe.h"

namespace hone {
namespace {

// What the gold agent is answered in a world.
std::string PlayedIn(const LoadedEnvironment& environment, Backend* world) {
  const Task task = environment.tasks->Make(Split::kTrain, 3);
  const auto agent = environment.gold_agent(task).value();
  return DumpJson(
      MessagesOf(Play(*environment.environment, task, 1, agent.get(), world->executor()).value()));
}

TEST(Backend, IsWhatTheRecipeSays) {
  const TemporaryDirectory out;
  const std::string clock = "environment.tasks.kinds=['clock']";
  const TrainingRecipe simulated = ReadTiny(out.path(), {clock}).value();
  const LoadedEnvironment environment = simulated.environment.make(nullptr).value();
  const auto real = Backend::Real(simulated, environment, "").value();
  const auto random = Backend::ForTraining(simulated, environment, "").value();
  EXPECT_EQ(real->simulator(), nullptr);
  ASSERT_NE(random->simulator(), nullptr);
  const std::string said = PlayedIn(environment, random.get());
  EXPECT_EQ(said, PlayedIn(environment, Backend::ForTraining(simulated, environment, "")->get()));
  EXPECT_EQ(random->simulator()->counts().played, 1);

  const TrainingRecipe live = ReadTiny(out.path(), {clock, "answers.mode=live"}).value();
  const auto training = Backend::ForTraining(live, environment, "").value();
  EXPECT_EQ(PlayedIn(environment, training.get()), PlayedIn(environment, real.get()));
  EXPECT_FALSE(std::filesystem::exists(out.path() / "tiny/journal.sqlite"))
      << "what is the same every time is not recorded";
}

TEST(Backend, WhatWasRecordedCanBeReplayed) {
  const TemporaryDirectory out;
  const std::string clock = "environment.tasks.kinds=['clock']";
  const std::string journal = "answers.journal=" + (out.path() / "j.sqlite").string();
  const TrainingRecipe record =
      ReadTiny(out.path(), {clock, journal, "answers.mode=record"}).value();
  const LoadedEnvironment environment = record.environment.make(nullptr).value();
  const std::string said =
      PlayedIn(environment, Backend::ForTraining(record, environment, "")->get());
  const TrainingRecipe replay =
      ReadTiny(out.path(), {clock, journal, "answers.mode=replay"}).value();
  EXPECT_EQ(PlayedIn(environment, Backend::ForTraining(replay, environment, "")->get()), said);
}

TEST(Backend, ARecordIsAskedBeforeTheSimulatorAndNeedsNoJournalOfItsOwn) {
  const TemporaryDirectory out;
  const std::string clock = "environment.tasks.kinds=['clock']";
  const std::filesystem::path recorded = out.path() / "j.sqlite";
  const TrainingRecipe record =
      ReadTiny(out.path(), {clock, "answers.journal=" + recorded.string(), "answers.mode=record"})
          .value();
  const LoadedEnvironment environment = record.environment.make(nullptr).value();
  const std::string said =
      PlayedIn(environment, Backend::ForTraining(record, environment, "")->get());
  const TrainingRecipe both =
      ReadTiny(out.path(), {clock, "answers.mode=replay-else-simulate"}).value();
  const auto world = Backend::ForTraining(both, environment, "", recorded).value();
  EXPECT_EQ(PlayedIn(environment, world.get()), said);
  EXPECT_EQ(world->simulator()->counts().played, 0);
  EXPECT_FALSE(std::filesystem::exists(out.path() / "tiny/journal.sqlite"));
  const TrainingRecipe alone =
      ReadTiny(out.path(), {clock, "answers.mode=replay", "stage=[{kind='record'}]"}).value();
  EXPECT_EQ(PlayedIn(environment, Backend::ForTraining(alone, environment, "", recorded)->get()),
            said);
}

}  // namespace
}  // namespace hone
