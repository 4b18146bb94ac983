#include "app/doctor.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cstdlib>

#include "tools/sandbox/sandbox.h"

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

TEST(Doctor, SaysWhatAgentsCodeWillRunUnder) {
  auto code = [] {
    const std::vector<Finding> findings = ExamineMachine();
    return *std::find_if(findings.begin(), findings.end(),
                         [](const Finding& finding) { return finding.name == "agents' code"; });
  };
  ::unsetenv("HONE_SANDBOX");
  const auto best = ProbeSandbox().best();
  EXPECT_EQ(code().value,
            best ? "runs under " + std::string(SandboxMethodName(*best)) : "is not run");
  EXPECT_EQ(code().state, best ? Finding::State::kGood : Finding::State::kMissing);
  ::setenv("HONE_SANDBOX", "no-such-method", 1);
  EXPECT_EQ(code().value, "is not run");
  EXPECT_FALSE(code().advice.empty());
  ::unsetenv("HONE_SANDBOX");
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
