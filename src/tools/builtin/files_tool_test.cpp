#include "tools/builtin/files_tool.h"

#include <gtest/gtest.h>

namespace hone {
namespace {

TEST(FilesTool, ASessionIsAWorkspaceOfItsOwn) {
  TemporaryDirectory initial;
  ASSERT_TRUE(WriteFileAtomic(initial.path() / "task.txt", "one\ntwo\nthree\n").ok());
  ASSERT_TRUE(WriteFileAtomic(initial.path() / "binary", "\xff\xfe").ok());
  const auto toolkit = *NewFilesToolkit({.initial = initial.path().string()});
  const auto session = *toolkit->Open(1), other = *toolkit->Open(1);
  auto call = [&](const char* tool, const Json& arguments) {
    return toolkit->Call(tool, arguments, session.get(), {});
  };
  EXPECT_EQ(call("read_file", Json::Of({{"path", "task.txt"}})), Answered("one\ntwo\nthree\n"));
  auto lines = [&](int first, int count) {
    return call("read_file",
                Json::Of({{"path", "task.txt"}, {"first_line", first}, {"lines", count}}))
        .content;
  };
  EXPECT_EQ(lines(2, 1), "two\n");
  EXPECT_EQ(lines(2, 9), "two\nthree\n");
  EXPECT_EQ(lines(4, 1), "");
  EXPECT_EQ(call("read_file", Json::Of({{"path", "binary"}})),
            Refuted("\"binary\": is not text (2 bytes)"));
  EXPECT_EQ(call("write_file", Json::Of({{"path", "a/b"}, {"content", "x"}})),
            Answered("wrote 1 bytes"));
  EXPECT_EQ(call("append_file", Json::Of({{"path", "a/b"}, {"content", "yz"}})),
            Answered("added 2 bytes"));
  EXPECT_EQ(call("move_file", Json::Of({{"from", "a/b"}, {"to", "c"}})), Answered("moved"));
  EXPECT_EQ(call("delete_file", Json::Of({{"path", "binary"}})), Answered("deleted"));
  EXPECT_EQ(call("list_files", Json::Of({})).content,
            R"([{"path":"a/"},{"path":"c","bytes":3},{"path":"task.txt","bytes":14}])");
  EXPECT_EQ(toolkit->Call("list_files", Json::Of({}), other.get(), {}).content,
            R"([{"path":"binary","bytes":2},{"path":"task.txt","bytes":14}])");

  ASSERT_EQ(toolkit->sharing(), Sharing::kClone);
  const auto copy = *session->Clone();
  EXPECT_EQ(call("delete_file", Json::Of({{"path", "c"}})), Answered("deleted"));
  EXPECT_EQ(toolkit->Call("read_file", Json::Of({{"path", "c"}}), copy.get(), {}), Answered("xyz"));
  const ToolReply out = call("read_file", Json::Of({{"path", "../../etc/passwd"}}));
  EXPECT_EQ(out.status, CallStatus::kToolError);
  EXPECT_EQ(out.blame, Blame::kAgent);
}

TEST(FilesTool, EffectsAreConfinedToTheSession) {
  const auto toolkit = *NewFilesToolkit({});
  for (const ToolSpec& spec : toolkit->tools()) EXPECT_EQ(spec.resource, "session") << spec.name;
}

TEST(FilesTool, InitialFilesThatAreMissingOrTooManyAreFoundBeforeTheRun) {
  EXPECT_FALSE(NewFilesToolkit({.initial = "/nowhere/at/all"}).ok());
  TemporaryDirectory initial;
  ASSERT_TRUE(WriteFileAtomic(initial.path() / "f", std::string(100, 'x')).ok());
  FilesOptions options{.initial = initial.path().string(), .limits = {}};
  EXPECT_TRUE(NewFilesToolkit(options).ok());
  options.limits.bytes = 99;
  EXPECT_EQ(NewFilesToolkit(options).error().code(), ErrorCode::kFull);
}

TEST(FilesTool, OptionsAreReadAndChecked) {
  auto recipe = Recipe::Parse("max_bytes = 5\nmax_depth = 0", "tools.toml");
  EXPECT_EQ(ReadFilesOptions(recipe->Root()).limits.bytes, 5);
  EXPECT_NE(recipe->Finish().error().message().find("max_depth"), std::string::npos);
}

}  // namespace
}  // namespace hone
