#include "app/doctor.h"

#include <gtest/gtest.h>

#include <algorithm>

namespace hone {
namespace {

TEST(Doctor, LooksAtEveryArea) {
  const std::vector<Finding> findings = ExamineMachine();
  for (const char* area : {"cpu", "memory", "sandbox", "optional"}) {
    EXPECT_TRUE(std::any_of(findings.begin(), findings.end(), [&](const Finding& finding) {
      return finding.area == area;
    })) << area;
  }
}

TEST(Doctor, WhatIsMissingComesWithAdvice) {
  const std::vector<Finding> findings = {{"sandbox", "bubblewrap", Finding::State::kMissing,
                                          "not installed", "apt-get install bubblewrap"}};
  const std::string view = FindingsView(findings, {});
  EXPECT_NE(view.find("✗ bubblewrap     not installed  (apt-get install bubblewrap)"),
            std::string::npos)
      << view;
  EXPECT_NE(view.find("1 missing"), std::string::npos);
  EXPECT_EQ(*FindingsJson(findings).Find("findings")->AsArray()[0].Find("state"), Json("missing"));
  for (const Finding& finding : ExamineMachine()) {
    if (finding.state == Finding::State::kMissing) {
      EXPECT_FALSE(finding.advice.empty()) << finding.name;
    }
  }
}

}  // namespace
}  // namespace hone
