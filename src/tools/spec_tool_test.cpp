#include "tools/spec_tool.h"

#include <gtest/gtest.h>

#include "base/file.h"

namespace hone {
namespace {

TEST(SpecTool, ACallSaysThatNobodyIsThere) {
  TemporaryDirectory folder;
  const std::string file = (folder.path() / "tools.json").string();
  ASSERT_TRUE(WriteFileAtomic(file, R"({"tools": [
    {"type": "function", "function": {"name": "nested", "parameters": {"type": "object"}}},
    {"name": "flat"}]})")
                  .ok());
  const auto toolkit = NewSpecToolkit({file});
  ASSERT_TRUE(toolkit.ok()) << toolkit.error().message();
  EXPECT_EQ((*toolkit)->tools()[0].name, "nested");
  EXPECT_EQ((*toolkit)->tools()[1].name, "flat");
  const ToolReply reply = (*toolkit)->Call("flat", Json::Of({}), nullptr, {});
  EXPECT_EQ(reply.status, CallStatus::kUnavailable);
  EXPECT_EQ(reply.blame, Blame::kInfrastructure);
  EXPECT_EQ(reply.content, "no real tool behind flat; use a simulator");
}

TEST(SpecTool, AFileThatIsNotThereOrNotSpecsIsNamed) {
  TemporaryDirectory folder;
  const std::string file = (folder.path() / "tools.json").string();
  EXPECT_EQ(NewSpecToolkit({file}).error().code(), ErrorCode::kNotFound);
  for (const char* content :
       {"", "{", "[1]", "[{\"name\": \"a\"}, {\"name\": \"a\"}]",
        R"([{"name": "a", "parameters": {"type": "object", "required": 3}}])"}) {
    ASSERT_TRUE(WriteFileAtomic(file, content).ok());
    const auto toolkit = NewSpecToolkit({file});
    ASSERT_FALSE(toolkit.ok()) << content;
    EXPECT_NE(toolkit.error().message().find(file), std::string::npos) << toolkit.error().message();
  }
}

}  // namespace
}  // namespace hone
