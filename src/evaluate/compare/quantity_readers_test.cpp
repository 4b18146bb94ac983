#include "evaluate/compare/quantity_readers.h"

#include <algorithm>
#include <map>

#include <gtest/gtest.h>

namespace hone {
namespace {

Json Environments(const std::string& desk, const std::string& board) {
  const auto group = [](const std::string& outcomes) {
    const auto right = std::count(outcomes.begin(), outcomes.end(), '1');
    return Json::Of({{"success", static_cast<double>(right) / 4},
                     {"low", 0.0},
                     {"high", 1.0},
                     {"outcomes", outcomes}});
  };
  return Json::Of({{"tasks", 8},
                   {"outcomes", desk + board},
                   {"environments", Json::Of({{"desk", group(desk)}, {"board", group(board)}})}});
}

ComparedRun RunOf(const std::string& arm, uint64_t seed, const std::string& desk) {
  ComparedRun run{.arm = arm, .seed = seed, .status = ComparedRun::Status::kFinished};
  run.evaluations = Json::Of({{"stage-1-sft/dev/sampled", Environments("1111", "0000")},
                              {"stage-2-rl/dev/sampled", Environments(desk, "1100")},
                              {"after/test/sampled", Environments(desk, "1110")}});
  run.start = std::to_string(seed);
  return run;
}

TEST(QuantityReadersTest, EnvironmentsAreReadApartByTask) {
  const ComparedRun run = RunOf("a", 1, "10-0");
  ComparedSection section{.arms = {{.name = "a", .label = "a", .runs = {&run}}}, .seeds = {1}};
  std::map<std::string, Cells> read;
  for (const QuantityReader& reader : ReadersOf(section)) {
    if (IsOfEnvironment(reader.kind.name)) read[reader.kind.name] = reader.read(run);
  }
  ASSERT_EQ(read.size(), 4u);
  EXPECT_EQ(read["environment/desk"], (Cells{1, 0, std::nullopt, 0}));
  EXPECT_EQ(read["environment/board"], (Cells{1, 1, 1, 0}));
  EXPECT_EQ(read["forgotten/desk"], (Cells{0, 1, std::nullopt, 1}));
  EXPECT_EQ(read["forgotten/board"], (Cells{-1, -1, 0, 0}));
}

TEST(QuantityReadersTest, WhatWasForgottenIsComparedBetweenArmsAndMayBeBelowZero) {
  std::vector<ComparedRun> runs;
  for (const uint64_t seed : {1, 2, 3, 4}) {
    runs.push_back(RunOf("alone", seed, seed % 2 == 0 ? "0001" : "0011"));
    runs.push_back(RunOf("rehearsal", seed, "1111"));
  }
  ComparedSection section{
      .arms = {{.name = "alone", .label = "alone"}, {.name = "rehearsal", .label = "rehearsal"}},
      .seeds = {1, 2, 3, 4}};
  for (const ComparedRun& run : runs) {
    section.arms[run.arm == "alone" ? 0 : 1].runs.push_back(&run);
  }
  const SectionReport report = ReportSection(section);
  const auto place = [&](const std::string& name) {
    for (size_t k = 0; k < report.kinds.size(); ++k) {
      if (report.kinds[k].name == name) return k;
    }
    ADD_FAILURE() << name;
    return size_t{0};
  };
  const Difference& kept = report.differences[1][place("environment/desk")];
  ASSERT_TRUE(kept.mean);
  EXPECT_DOUBLE_EQ(kept.mean->value, 1 - (0.25 + 0.5) / 2);
  EXPECT_EQ(kept.more, 4);
  const Quantity& gained = report.quantities[0][place("forgotten/board")];
  ASSERT_TRUE(gained.mean);
  EXPECT_DOUBLE_EQ(gained.mean->value, -0.5);
  EXPECT_LT(gained.mean->low, 0);
}

TEST(QuantityReadersTest, OneEnvironmentHasNoQuantitiesOfItsOwn) {
  ComparedRun run{.arm = "a", .seed = 1, .status = ComparedRun::Status::kFinished};
  run.evaluations = Json::Of({{"after/test/sampled", Json::Of({{"outcomes", "10"}})}});
  const ComparedSection section{.arms = {{.name = "a", .label = "a", .runs = {&run}}},
                                .seeds = {1}};
  for (const QuantityReader& reader : ReadersOf(section)) {
    EXPECT_FALSE(IsOfEnvironment(reader.kind.name)) << reader.kind.name;
  }
}

}  // namespace
}  // namespace hone
