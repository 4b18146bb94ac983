#include "app/views/audit_view.h"

#include <gtest/gtest.h>

namespace hone {
namespace {

AuditFindings Findings() {
  AuditFindings findings{
      .subject = "runs/a at desk", .tasks = 4, .trajectories = 32, .success = 0.5};
  findings.audits.push_back({.method = "grpo",
                             .right_rose = {Interval{0.25, 0.125, 0.5}, 8},
                             .wrong_fell = {std::nullopt, 0},
                             .needless_fell = {Interval{1, 1, 1}, 3}});
  findings.refused = {{"igpo", "wants \"<gain>\""}};
  return findings;
}

TEST(AuditView, IsARowPerMethodWithWhatTheSharesAreOf) {
  const std::string text = AuditView(Findings(), {});
  EXPECT_NE(text.find("runs/a at desk: 32 trajectories of 4 tasks, 50 % succeed"),
            std::string::npos);
  EXPECT_NE(text.find("grpo     25 % [12, 50]"), std::string::npos) << text;
  EXPECT_NE(text.find("100 % [100, 100]"), std::string::npos);
  EXPECT_NE(text.find("in failed attempts: made likelier (8 calls)"), std::string::npos);
  EXPECT_NE(text.find("igpo    wants \"<gain>\""), std::string::npos) << text;
}

TEST(AuditView, MarkdownHasTheSameTable) {
  const std::string text = AuditMarkdown(Findings());
  EXPECT_NE(text.find("| method | right calls that rose (8) |"), std::string::npos) << text;
  EXPECT_NE(text.find("| grpo | 25 % [12, 50] | - | 100 % [100, 100] |\n"), std::string::npos);
  EXPECT_NE(text.find("Not audited, for want of what they read: `igpo`.\n"), std::string::npos);
}

TEST(AuditView, APageNeedsNothingBesideItAndEscapesWhatItShows) {
  const std::string page = AuditPage(Findings());
  EXPECT_NE(page.find("<svg"), std::string::npos);
  EXPECT_NE(page.find("&lt;gain&gt;"), std::string::npos);
  EXPECT_EQ(page.find("<gain>"), std::string::npos);
}

TEST(AuditView, JsonHasNullWhereThereIsNothingToCount) {
  const Json json = ToJson(Findings());
  const Json& audit = json.Find("audits")->AsArray()[0];
  EXPECT_TRUE(audit.Find("wrong_fell")->Find("share")->is_null());
  EXPECT_EQ(audit.Find("right_rose")->Find("calls")->AsInteger(), 8);
  EXPECT_EQ(json.Find("refused")->AsArray().size(), 1u);
}

}  // namespace
}  // namespace hone
