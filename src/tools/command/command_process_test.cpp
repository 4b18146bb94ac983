#include "tools/command/command_process.h"

#include <gtest/gtest.h>

namespace hone {
namespace {

using std::chrono::milliseconds;
using std::chrono::seconds;

CommandProgram Shell(const std::string& script, bool announces = false) {
  CommandProgram program;
  program.command = {"sh", "-c", script};
  program.process.keep_error_bytes = 1000;
  program.announces = announces;
  return program;
}

TEST(CommandProcess, TheAnnouncementIsKeptAsItIs) {
  const auto process = CommandProcess::Start(Shell(R"(echo '{"tools": [1, 2]}'; read x)", true));
  ASSERT_TRUE(process.ok()) << process.error().message();
  EXPECT_EQ((*process)->announced().tools, Json(Json::Array{1, 2}));
  EXPECT_TRUE((*process)->Usable());
}

TEST(CommandProcess, ACallIsOneLineEachWay) {
  const auto process = CommandProcess::Start(Shell(
      R"(while read -r line; do echo "$line" >&2; echo '{"id":'$((n += 1))',"result":"ok"}'; done)"));
  ASSERT_TRUE(process.ok());
  const Json arguments = Json::Of({{"text", "two\nlines"}});
  for (int i = 0; i < 3; ++i) {
    EXPECT_EQ((*process)->Call("t", arguments, {.session = "7"}, {.time = seconds(20)}),
              Answered("ok"));
    EXPECT_TRUE((*process)->Usable());
  }
}

TEST(CommandProcess, OnlyTheLastWordsAreShown) {
  const auto process = CommandProcess::Start(
      Shell("read x; for i in 1 2 3 4 5 6 7 8; do echo word $i >&2; done; exit 4"));
  ASSERT_TRUE(process.ok());
  const ToolReply reply = (*process)->Call("t", Json::Of({}), {}, {.time = seconds(20)});
  EXPECT_EQ(reply.content,
            "sh: ended with exit code 4 before it answered; it last wrote:\n"
            "word 4\nword 5\nword 6\nword 7\nword 8");
  EXPECT_FALSE((*process)->Usable());
}

TEST(CommandProcess, AProgramThatDoesNotReadCostsTheTimeOfTheCall) {
  const auto process = CommandProcess::Start(Shell("sleep 1000"));
  ASSERT_TRUE(process.ok());
  // More than a pipe holds, so that writing waits too.
  const Json arguments = Json::Of({{"text", std::string(1 << 20, 'x')}});
  const ToolReply reply = (*process)->Call("t", arguments, {}, {.time = milliseconds(100)});
  EXPECT_EQ(reply.status, CallStatus::kTimeout);
  EXPECT_FALSE((*process)->Usable());
}

}  // namespace
}  // namespace hone
