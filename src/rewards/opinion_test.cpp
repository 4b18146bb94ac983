#include "rewards/opinion.h"

#include <cmath>

#include <gtest/gtest.h>

#include "support/tree_maker.h"

namespace hone {
namespace {

// Says always the same, and counts how often it was asked.
class Fixed final : public OpinionSource {
 public:
  explicit Fixed(std::optional<Opinion> opinion) : opinion_(opinion) {}
  Result<std::optional<Opinion>> Ask(const Question&) override {
    ++asked;
    return opinion_;
  }
  int asked = 0;

 private:
  std::optional<Opinion> opinion_;
};

class Failing final : public OpinionSource {
 public:
  Result<std::optional<Opinion>> Ask(const Question&) override {
    return Error(ErrorCode::kUnavailable, "no answer");
  }
};

class OpinionTest : public testing::Test {
 protected:
  OpinionTest() {
    maker_.Begin().Answer("x");
    trajectory_ = TrajectoryOf(maker_.tree, 0);
  }
  Decision Ask(const Panel& panel, std::optional<Opinion> rule) {
    return Decide(panel, rule, {"outcome", trajectory_, labels_, kNoNode, std::nullopt});
  }

  TreeMaker maker_;
  TrajectoryView trajectory_;
  Labels labels_;
};

TEST_F(OpinionTest, ACascadeStopsAtTheFirstWhoIsSure) {
  Fixed model(Opinion{0.4, 0.9}), judge(Opinion{0.7, 0.1});
  const Panel panel{Panel::Mode::kCascade, &model, &judge};
  EXPECT_EQ(Ask(panel, Opinion{1, 1}).score, 1);
  EXPECT_EQ(model.asked, 0);
  EXPECT_EQ(Ask(panel, Opinion{1, 0.2}).score, 0.4);
  EXPECT_EQ(judge.asked, 0);
  Fixed unsure(Opinion{0.4, 0.1});
  EXPECT_EQ(Ask({Panel::Mode::kCascade, &unsure, &judge}, std::nullopt).score, 0.7);
  EXPECT_EQ(Ask({Panel::Mode::kCascade, &unsure, nullptr}, std::nullopt).score, 0.4);
  EXPECT_EQ(Ask({Panel::Mode::kCascade}, std::nullopt).score, std::nullopt);
}

TEST_F(OpinionTest, ABlendMixesThoseWhoSpeak) {
  Fixed model(Opinion{0.5}), judge(Opinion{1}), silent(std::nullopt);
  Panel panel{Panel::Mode::kBlend, &model, &judge, 0.5, 0.5, 0.3, 0.2};
  EXPECT_TRUE(CheckPanel(panel).ok());
  EXPECT_DOUBLE_EQ(*Ask(panel, Opinion{1}).score, 0.85);
  EXPECT_DOUBLE_EQ(*Ask(panel, std::nullopt).score, (0.15 + 0.2) / 0.5);
  panel.judge = &silent;
  EXPECT_DOUBLE_EQ(*Ask(panel, Opinion{1}).score, (0.5 + 0.15) / 0.8);
}

TEST_F(OpinionTest, ASourceThatFailsIsAFaultAndNotANumber) {
  Failing failing;
  Fixed odd(Opinion{NAN}), judge(Opinion{1});
  for (OpinionSource* model : std::initializer_list<OpinionSource*>{&failing, &odd}) {
    for (const Panel& panel : {Panel{Panel::Mode::kCascade, model, &judge},
                               Panel{Panel::Mode::kBlend, model, &judge, 0.5, 0, 0.5, 0.5}}) {
      const Decision decision = Ask(panel, std::nullopt);
      EXPECT_EQ(decision.score, std::nullopt);
      ASSERT_TRUE(decision.fault.has_value());
      EXPECT_EQ(decision.fault->blame, Blame::kJudge);
      EXPECT_NE(decision.fault->message.find("the reward model"), std::string::npos);
    }
  }
}

TEST_F(OpinionTest, ABlendMustBeAMixture) {
  Fixed model(Opinion{1});
  EXPECT_FALSE(CheckPanel({Panel::Mode::kBlend, &model, nullptr, 0.5, 0.5, 0.6, 0}).ok());
  EXPECT_FALSE(CheckPanel({Panel::Mode::kBlend, &model, nullptr, 0.5, -0.5, 1.5, 0}).ok());
  EXPECT_FALSE(CheckPanel({Panel::Mode::kBlend, nullptr, nullptr, 0.5, 0.5, 0.5, 0}).ok());
}

}  // namespace
}  // namespace hone
