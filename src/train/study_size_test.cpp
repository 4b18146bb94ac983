// How long episodes of the study are, in tokens of a tokenizer as a run makes it.

#include <algorithm>
#include <map>

#include <gtest/gtest.h>

#include "support/tiny_recipe.h"
#include "train/backend.h"
#include "train/run_model.h"

namespace hone {
namespace {

// docs/environments/study.md states these.
TEST(StudySize, EpisodesOfTheTeacherFitIntoFiveHundredTokens) {
  const TrainingRecipe recipe =
      ReadTiny("/tmp/none", {"environment={kind='study'}", "model.dialect=tagged:study",
                             "model.tokenizer.texts=3000", "model.tokenizer.vocabulary=1536",
                             "model.tokenizer.min_frequency=9", "model.fresh.positions=512"})
          .value();
  const LoadedEnvironment environment = recipe.environment.make(nullptr).value();
  const auto world = Backend::Real(recipe, environment, "").value();
  Demonstrator teacher({.agent = "teacher", .teacher_error = 0.6}, &environment, world->executor(),
                       1);
  const RunLanguage language = MakeLanguage(recipe.model, &teacher).value();
  constexpr uint64_t kShown = 1500;
  int64_t most = 0;
  std::map<std::string, std::pair<int64_t, int64_t>> families;  // tokens, episodes
  int64_t all = 0;
  for (uint64_t i = 0; i < kShown; ++i) {
    const std::optional<Tree> tree = teacher.ShowTree(i, *language.codec).value();
    const int64_t tokens = CountTokens(*tree);
    auto& [sum, count] = families[tree->task.metadata.Find("family")->AsString()];
    sum += tokens;
    ++count;
    all += tokens;
    most = std::max(most, tokens);
  }
  EXPECT_NEAR(static_cast<double>(all) / kShown, 156, 3);
  EXPECT_LE(most, 435);
  const std::map<std::string, double> stated = {
      {"known", 60},    {"compute", 89}, {"single", 140},        {"disputed", 142},
      {"missing", 149}, {"two", 208},    {"facts-compute", 240}, {"three", 285}};
  for (const auto& [family, tokens] : stated) {
    const auto& [sum, count] = families.at(family);
    EXPECT_NEAR(static_cast<double>(sum) / static_cast<double>(count), tokens, 5) << family;
  }
  // A name is the tokens of its words.
  for (const char* word : {"Ada", "Kell", "Port", "Mills", "Water", "Silver", "Norland"}) {
    EXPECT_EQ(language.tokenizer->Encode(word).size(), 1u) << word;
  }
}

}  // namespace
}  // namespace hone
