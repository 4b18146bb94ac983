// The runs of comparisons/ were made when a run's hash covered every key that was read, defaults
// included. tests/golden/identity has what was hashed then: that the runs are those which the
// ledgers name today is proven from it.

#include <map>

#include <gtest/gtest.h>

#include "base/file.h"
#include "train/compare/comparison_ledger.h"
#include "train/recipe_identity.h"

namespace hone {
namespace {

// "stage[1].steps" and its value, of everything inside.
void Flatten(const Json& value, const std::string& path, std::map<std::string, Json>* flat) {
  if (value.is_object()) {
    for (const auto& [key, member] : value.AsObject()) {
      Flatten(member, path.empty() ? key : path + "." + key, flat);
    }
  } else if (value.is_array() && !value.AsArray().empty() && value.AsArray()[0].is_object()) {
    for (size_t i = 0; i < value.AsArray().size(); ++i) {
      Flatten(value.AsArray()[i], path + "[" + std::to_string(i) + "]", flat);
    }
  } else {
    (*flat)[path] = value;
  }
}

std::map<std::string, Json> Flat(const Json& value) {
  std::map<std::string, Json> flat;
  Flatten(value, "", &flat);
  return flat;
}

class LedgerMigration : public testing::TestWithParam<std::string> {
 protected:
  LedgerMigration() {
    std::filesystem::current_path(HONE_SOURCE_DIR);  // comparisons name recipes from there
    plan_ = ReadComparison({.files = {"comparisons/" + GetParam() + ".toml"}}).value();
    runs_ = PlanRuns(plan_, "/tmp/none").value();
  }
  ~LedgerMigration() override { std::filesystem::current_path(before_); }

  const std::filesystem::path before_ = std::filesystem::current_path();
  ComparisonFile plan_;
  std::vector<PlannedRun> runs_;
};

// What was hashed then says the same as the recipe does now: all that the recipe says today, and,
// of the keys that were written down with their defaults, the defaults of today.
TEST_P(LedgerMigration, TheRunsThatWereMadeAreThoseThatAreNamed) {
  const std::string file = "tests/golden/identity/" + GetParam() + ".jsonl";
  const std::vector<Json> lines = ParseJsonLines(*ReadFile(file)).value();
  std::map<std::string, const Json*> made;
  for (const Json& line : lines) made[line.Find("arm")->AsString()] = &line;
  int64_t proven = 0, made_anew = 0;
  for (const PlannedRun& run : runs_) {
    const auto found = made.find(plan_.arms[run.arm].name);
    if (found == made.end()) continue;
    const Json* hash = found->second->Find("recipes")->Find(std::to_string(run.seed));
    if (hash == nullptr) continue;
    if (!VersionsOf(run.recipe, LearningVersions()).AsObject().empty()) {
      ++made_anew;  // with parts that learn otherwise since: another run
      continue;
    }
    SCOPED_TRACE(found->first + ", seed " + std::to_string(run.seed));
    Json essence = *found->second->Find("essence");
    Json seed = *essence.Find("run");
    seed.Set("seed", run.seed);
    essence.Set("run", seed);
    EXPECT_EQ(ContentHash(essence), hash->AsString()) << "the golden itself";
    const auto then = Flat(essence), now = Flat(run.recipe.resolved), said = Flat(run.recipe.said);
    const auto counts = [](const std::string& key) {
      return !key.starts_with("run.") && !key.starts_with("evaluation") && key != "answers.journal";
    };
    for (const auto& [key, value] : said) {
      if (!counts(key)) continue;
      ASSERT_TRUE(then.contains(key)) << key;
      EXPECT_EQ(then.at(key), value) << key;
    }
    for (const auto& [key, value] : then) {
      if (!counts(key) || !now.contains(key)) continue;
      EXPECT_EQ(now.at(key), value) << key;
    }
    ++proven;
  }
  EXPECT_EQ(proven + made_anew, GetParam() == "chains" ? 192 : 143);
  EXPECT_EQ(made_anew, GetParam() == "chains" ? 0 : 53);
}

// Runs whose recipes were told apart when everything was hashed are told apart by what they say.
TEST_P(LedgerMigration, NoTwoRecipesBecameOne) {
  const std::string file = "tests/golden/identity/" + GetParam() + ".jsonl";
  std::map<std::string, std::string> then;  // hash of today: hash of then
  std::map<std::pair<std::string, uint64_t>, std::string> made;
  for (const Json& line : ParseJsonLines(*ReadFile(file)).value()) {
    for (const auto& [seed, hash] : line.Find("recipes")->AsObject()) {
      made[{line.Find("arm")->AsString(), std::stoull(seed)}] = hash.AsString();
    }
  }
  for (const PlannedRun& run : runs_) {
    const auto found = made.find({plan_.arms[run.arm].name, run.seed});
    if (found == made.end()) continue;
    const auto [other, fresh] = then.emplace(run.hash, found->second);
    EXPECT_TRUE(fresh || other->second == found->second) << found->first.first;
  }
  EXPECT_GT(then.size(), 100u);
}

TEST_P(LedgerMigration, EveryLineOfTheLedgerIsValid) {
  const ComparisonLedger ledger =
      ComparisonLedger::Open("comparisons/" + GetParam() + ".jsonl").value();
  size_t valid = 0;
  for (const PlannedRun& run : runs_) valid += ledger.Find(plan_, run) != nullptr ? 1 : 0;
  EXPECT_EQ(valid, ledger.size());
}

// Which lines a corrected method takes away: those that use it, and no others.
TEST_P(LedgerMigration, ABumpedMethodVoidsItsRunsAndNoOthers) {
  const auto method_of = [](const PlannedRun& run) {
    return run.recipe.credit.substr(0, run.recipe.credit.find(':'));
  };
  const std::string method = method_of(runs_[0]);
  const LearningVersion bumped[] = {{"method", method, 2, "a test"}};
  size_t changed = 0, others = 0;
  for (const PlannedRun& run : runs_) {
    const bool uses = method_of(run) == method;
    EXPECT_EQ(RecipeHash(run.recipe, bumped) != RecipeHash(run.recipe, {}), uses)
        << run.recipe.credit;
    (uses ? changed : others) += 1;
  }
  EXPECT_GT(changed, 0u);
  EXPECT_GT(others, 0u);
}

INSTANTIATE_TEST_SUITE_P(Comparisons, LedgerMigration, testing::Values("results", "chains"),
                         [](const auto& one) { return one.param; });

}  // namespace
}  // namespace hone
