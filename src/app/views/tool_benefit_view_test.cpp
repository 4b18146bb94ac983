#include "app/views/tool_benefit_view.h"

#include <gtest/gtest.h>

namespace hone {
namespace {

Evaluation Some(bool without_tools) {
  Evaluation evaluation{.split = Split::kTest, .without_tools = without_tools, .tasks = 4};
  for (int64_t i = 0; i < 4; ++i) {
    Measures& m = evaluation.measures.emplace_back();
    m.task = std::to_string(i);
    m.kind = "<sky>";
    m.success = without_tools ? i == 3 : i < 3;
    m.tokens = without_tools ? 10 : 20;
    m.calls = m.called = !without_tools;
    if (m.called) m.calls_of["weather"] = 1;
  }
  return evaluation;
}

TEST(ToolBenefitViewTest, EachWayToDrawIsPairedWithItself) {
  std::vector<ShownEvaluation> shown;
  shown.push_back(MakeShown("sampled at 1", Some(false)));
  EXPECT_TRUE(ToolBenefitsOf(shown).empty());
  shown.push_back(MakeShown("sampled at 1, no tools", Some(true)));
  const std::vector<ShownToolBenefit> benefits = ToolBenefitsOf(shown);
  ASSERT_EQ(benefits.size(), 1u);
  const std::string text = ToolBenefitsView(benefits, {});
  for (const char* part :
       {"with tools and without, sampled at 1  (4 trajectories)",
        "done with tools       0               3\n", "not done with tools   1               0\n",
        "myopia", "100.0 % [100.0, 100.0]", "20.00", "without tools 10.00"}) {
    EXPECT_NE(text.find(part), std::string::npos) << part << "\n" << text;
  }
  EXPECT_EQ(ToolBenefitsJson(benefits).Find("sampled at 1")->Find("only_with")->AsInteger(), 3);
}

TEST(ToolBenefitViewTest, ThePageOfARunHasBothTables) {
  Json evaluations = Json::Object();
  EXPECT_EQ(ToolBenefitHtml(evaluations), "");
  evaluations.Set("after/test/sampled", Some(false).ToJson());
  const std::string kinds = ToolBenefitHtml(evaluations);
  EXPECT_NE(kinds.find("Calls by kind of task"), std::string::npos);
  EXPECT_NE(kinds.find("&lt;sky&gt;"), std::string::npos) << "names are others' text";
  EXPECT_EQ(kinds.find("With tools and without"), std::string::npos);
  evaluations.Set("after/test/without-tools", Some(true).ToJson());
  const std::string both = ToolBenefitHtml(evaluations);
  EXPECT_NE(both.find("With tools and without"), std::string::npos);
  EXPECT_NE(both.find("after training, 4 trajectories"), std::string::npos);
}

TEST(ToolBenefitViewTest, CallsByKindStandInColumns) {
  const Json json = Some(false).ToJson();
  const std::string text = KindsView("greedy", &json, {});
  EXPECT_NE(text.find("calls by kind, greedy"), std::string::npos) << text;
  EXPECT_NE(text.find("weather"), std::string::npos) << text;
  EXPECT_EQ(KindsView("greedy", nullptr, {}), "");
}

}  // namespace
}  // namespace hone
