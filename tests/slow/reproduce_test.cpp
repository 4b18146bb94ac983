// Every sort of recipe, with every set of instructions.

#include "support/reproduce_suite.h"

namespace hone {
namespace {

TEST_P(Reproduce, EveryInstructionSetGivesTheSameWeights) {
  std::vector<std::string> sets = {"avx2", ""};  // the last: the best there is, on two threads
  if (GetParam().name == "Arpo" || GetParam().name == "LiveWithFaults") sets.push_back("plain");
  ExpectTheSame(sets);
}

INSTANTIATE_TEST_SUITE_P(All, Reproduce, testing::ValuesIn(AllKinds()),
                         [](const auto& one) { return one.param.name; });

}  // namespace
}  // namespace hone
