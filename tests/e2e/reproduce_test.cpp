// The same recipe gives the same weights: on more threads, with other instructions, from the
// journal of what tools said, and with faults put in. tests/slow has more recipes.

#include "support/reproduce_suite.h"

namespace hone {
namespace {

TEST_P(Reproduce, TwoThreadsAndAvx2GiveTheWeightsOfOneThread) { ExpectTheSame({"avx2"}); }

INSTANTIATE_TEST_SUITE_P(Some, Reproduce,
                         testing::ValuesIn(KindsNamed({"ToolpoSimulated", "PpoWithCritic", "Arpo",
                                                       "LiveWithFaults"})),
                         [](const auto& one) { return one.param.name; });

class ReplayTest : public KillSuite {};

TEST_F(ReplayTest, OfTheJournalEqualsTheLiveRunAlsoWithFaults) {
  const LiveTools tools(directory_.path() / "live");
  const std::string recipe =
      Write("live", tools.Recipe() +
                        "[[faults]]\nkind = \"server_error\"\nprobability = 0.2\n"
                        "[[faults]]\nkind = \"wrong_type\"\ntool = \"phone\"\nprobability = 0.3\n");
  const Finished live = RunToItsEnd({recipe});
  ExpectNoLetterTwice(tools);
  ExpectReplayEquals(tools, recipe, live.weights);
  // Another run of the recipe is another run: the tools say something else each time.
  const std::filesystem::path again = directory_.path() / "again";
  EXPECT_NE(RunToItsEnd({recipe, "run.out=" + again.string()}).weights, live.weights);
}

}  // namespace
}  // namespace hone
