#include "tools/command/line_program.h"

#include <gtest/gtest.h>

namespace hone {
namespace {

using std::chrono::milliseconds;
using std::chrono::seconds;

std::unique_ptr<LineProgram> Shell(const std::string& script) {
  auto program = LineProgram::Start({"sh", "-c", script}, "reward");
  EXPECT_TRUE(program.ok()) << program.error().message();
  return *std::move(program);
}

TEST(LineProgram, OneLineEachWayAndItKnowsItsRole) {
  const auto program = Shell(R"(while read -r line; do echo "{\"role\":\"$HONE_ROLE\"}"; done)");
  for (int i = 0; i < 3; ++i) {
    const Result<Json> reply = program->Ask(Json::Of({{"n", i}}), seconds(20));
    ASSERT_TRUE(reply.ok()) << reply.error().message();
    EXPECT_EQ(*reply->Find("role"), Json("reward"));
  }
}

TEST(LineProgram, HowItFailedIsSaidWithItsLastWords) {
  const auto ended = Shell("read -r line; echo first >&2; echo last words >&2; exit 3");
  const Result<Json> reply = ended->Ask(Json::Of({}), seconds(20));
  ASSERT_FALSE(reply.ok());
  EXPECT_EQ(reply.error().code(), ErrorCode::kUnavailable);
  EXPECT_EQ(ended->WithLastWords(reply.error()).message(),
            "it ended with status 3 without an answer; it last wrote: last words");
  const auto late = Shell("read -r line; sleep 1000");
  EXPECT_EQ(late->Ask(Json::Of({}), milliseconds(50)).error().code(), ErrorCode::kDeadline);
  const auto wrong = Shell("read -r line; echo 7");
  EXPECT_EQ(wrong->Ask(Json::Of({}), seconds(20)).error().message(),
            "wants an object, not an integer");
  EXPECT_FALSE(LineProgram::Start({"/no/such/program"}, "reward").ok());
}

}  // namespace
}  // namespace hone
