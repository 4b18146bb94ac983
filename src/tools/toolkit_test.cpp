#include "tools/toolkit.h"

#include <gtest/gtest.h>

namespace hone {
namespace {

TEST(ToolReply, BlamesTheOneWhoIsAtFault) {
  EXPECT_EQ(Answered("x").blame, Blame::kNone);
  EXPECT_EQ(Refuted("x").blame, Blame::kAgent);
  EXPECT_EQ(Refuted("x").status, CallStatus::kToolError);
  EXPECT_EQ(Unavailable("x").blame, Blame::kTool);
  EXPECT_EQ(Unavailable("x", Blame::kInfrastructure).blame, Blame::kInfrastructure);
  EXPECT_EQ(TimedOut("x").status, CallStatus::kTimeout);
}

TEST(ToolReply, ErrorsOfThePlumbingAreTyped) {
  EXPECT_EQ(FromError(Error(ErrorCode::kDeadline, "x")).status, CallStatus::kTimeout);
  EXPECT_EQ(FromError(Error(ErrorCode::kStopped, "x")).status, CallStatus::kTimeout);
  EXPECT_EQ(FromError(Error(ErrorCode::kIo, "x")).status, CallStatus::kUnavailable);
}

TEST(Session, IsNotCopiedUnlessItSaysHow) {
  Session session;
  EXPECT_EQ(session.Clone().error().code(), ErrorCode::kUnsupported);
}

}  // namespace
}  // namespace hone
