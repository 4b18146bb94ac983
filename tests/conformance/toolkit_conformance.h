#pragma once

#include <gtest/gtest.h>

#include <filesystem>
#include <functional>
#include <memory>
#include <optional>
#include <ostream>
#include <string>
#include <vector>

#include "base/file.h"
#include "base/json.h"
#include "tools/toolkit.h"

// What every toolkit promises (tools/toolkit.h), to be run over all of them: make a ToolkitCase and
// add it to the list in toolkit_conformance_test.cpp.

namespace hone {

struct ToolkitCase {
  struct Call {
    std::string tool;
    Json arguments;
  };

  std::string name;  // letters and digits
  // A toolkit that may keep files in `scratch`, which outlives it.
  std::function<Result<std::shared_ptr<Toolkit>>(const std::filesystem::path& scratch)> make;
  // Calls that are right, to be made in this order in one session; equal sessions answer equally.
  std::vector<Call> calls;
  // A call that would take for ever, where there can be one.
  std::optional<Call> endless;
  // How the calls end: ok, or for tools that have nothing behind them, unavailable.
  CallStatus status = CallStatus::kOk;
};
inline std::ostream& operator<<(std::ostream& out, const ToolkitCase& which) {
  return out << which.name;
}

class ToolkitConformance : public ::testing::TestWithParam<ToolkitCase> {
 protected:
  void SetUp() override {
    auto toolkit = GetParam().make(scratch_.path());
    ASSERT_TRUE(toolkit.ok()) << toolkit.error().message();
    toolkit_ = *std::move(toolkit);
  }
  std::unique_ptr<Session> Open(uint64_t seed = 1) {
    auto session = toolkit_->Open(seed);
    EXPECT_TRUE(session.ok()) << session.error().message();
    EXPECT_EQ(*session == nullptr, toolkit_->sharing() == Sharing::kNothing);
    return *std::move(session);
  }
  // The calls [begin, end) of the case.
  std::vector<ToolReply> Run(Session* session, size_t begin, size_t end) {
    std::vector<ToolReply> replies;
    for (size_t i = begin; i < end; ++i) {
      const ToolkitCase::Call& call = GetParam().calls[i];
      replies.push_back(toolkit_->Call(call.tool, call.arguments, session, {}));
    }
    return replies;
  }
  std::vector<ToolReply> RunAll(Session* session) {
    return Run(session, 0, GetParam().calls.size());
  }
  const ToolSpec* Find(const std::string& tool) const {
    for (const ToolSpec& spec : toolkit_->tools()) {
      if (spec.name == tool) return &spec;
    }
    return nullptr;
  }

  TemporaryDirectory scratch_;
  std::shared_ptr<Toolkit> toolkit_;
};

}  // namespace hone
