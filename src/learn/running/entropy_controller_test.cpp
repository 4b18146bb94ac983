#include "learn/running/entropy_controller.h"

#include <gtest/gtest.h>

namespace hone {
namespace {

ObjectiveOptions Towards(double target) {
  ObjectiveOptions options;
  options.entropy = 0.01;
  options.entropy_target = {.nats = target, .step = 0.005, .most = 0.02};
  return options;
}

// What TRL's GRPOTrainer applies in the step after each of these entropies, with entropy_coef 0.01,
// entropy_target 0.5, entropy_coef_delta 0.005 and entropy_coef_max 0.02.
TEST(EntropyController, AppliesWhatTrlDoes) {
  EntropyController controller(Towards(0.5));
  EXPECT_EQ(controller.coefficient(), 0) << "nothing was measured yet";
  const std::pair<double, double> steps[] = {{0.6, 0},    {0.4, 0.01}, {0.5, 0.015}, {0.45, 0.02},
                                             {0.3, 0.02}, {0.7, 0},    {0.7, 0},     {0.7, 0},
                                             {0.7, 0},    {0.7, 0},    {0.2, 0.005}};
  for (const auto& [entropy, wanted] : steps) {
    controller.Observe(entropy);
    EXPECT_NEAR(controller.coefficient(), wanted, 1e-12) << entropy;
  }
}

TEST(EntropyController, WithoutATargetTheCoefficientIsFixed) {
  EntropyController controller(Towards(0));
  for (const double entropy : {0.1, 3.0}) {
    EXPECT_EQ(controller.coefficient(), 0.01);
    controller.Observe(entropy);
  }
  EXPECT_EQ(controller.coefficient(), 0.01);
}

TEST(EntropyController, GoesOnAsIfNothingHadHappened) {
  EntropyController one(Towards(0.5)), other(Towards(0.5));
  EXPECT_TRUE(other.Restore(ParseJson(DumpJson(one.ToJson())).value()).ok());
  EXPECT_EQ(other.coefficient(), 0);
  one.Observe(0.3);
  ASSERT_TRUE(other.Restore(ParseJson(DumpJson(one.ToJson())).value()).ok());
  EXPECT_EQ(other.coefficient(), one.coefficient());
  EXPECT_FALSE(other.Restore(Json::Of({{"coefficient", -1}, {"last", Json()}})).ok());
}

}  // namespace
}  // namespace hone
