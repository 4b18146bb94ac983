#include "app/doctor.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cstdlib>

#include "app/doctor_gpu.h"
#include "tools/sandbox/sandbox.h"

namespace hone {
namespace {

TEST(Doctor, LooksAtEveryArea) {
  const std::vector<Finding> findings = ExamineMachine();
  for (const char* area : {"cpu", "memory", "gpu", "sandbox", "optional"}) {
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

TEST(Doctor, ToBeWithoutAGpuIsNoFault) {
  ::unsetenv("HONE_DEVICE");
  for (const Finding& finding : ExamineGpu()) {
    EXPECT_NE(finding.state, Finding::State::kMissing) << finding.name;
    if (finding.value == "none") {
      EXPECT_FALSE(finding.advice.empty()) << finding.name;
    }
  }
  ::setenv("HONE_DEVICE", "cpu", 1);
  EXPECT_EQ(ExamineGpu().back().value, "cpu");
  ::setenv("HONE_DEVICE", "abacus", 1);
  EXPECT_EQ(ExamineGpu().back().state, Finding::State::kMissing);
  ::unsetenv("HONE_DEVICE");
}

TEST(Doctor, SaysWhatAGpuHas) {
  DeviceInfo info{.name = "NVIDIA H200",
                  .memory = int64_t{140} << 30,
                  .free_memory = int64_t{139} << 30,
                  .driver = 13000,
                  .product_library = 130002};
  const std::string view = FindingsView(GpuFindings(info, "580.82.07"), {});
  for (const char* line :
       {"✓ GPU            NVIDIA H200\n", "✓ memory         140.0 GiB, 139.0 free\n",
        "✓ driver         580.82.07, for CUDA 13.0\n", "✓ cuBLASLt       13.0.2\n"}) {
    EXPECT_NE(view.find(line), std::string::npos) << line << view;
  }
  info.product_library = 0;
  EXPECT_EQ(GpuFindings(info, "").back().state, Finding::State::kOptional);
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
