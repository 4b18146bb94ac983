#include "tools/builtin/calculator_tool.h"

#include <gtest/gtest.h>

namespace hone {
namespace {

TEST(CalculatorTool, AnswersWithTheValueOrWithWhatIsWrong) {
  const std::shared_ptr<Toolkit> toolkit = *NewCalculatorToolkit({});
  ASSERT_EQ(toolkit->tools().size(), 1u);
  EXPECT_TRUE(toolkit->tools()[0].computable);
  EXPECT_EQ(toolkit->Open(1)->get(), nullptr);
  auto call = [&](const Json& arguments) {
    return toolkit->Call("calculator", arguments, nullptr, {});
  };
  EXPECT_EQ(call(Json::Of({{"expression", "0.1 + 0.2"}})), Answered("0.3"));
  const ToolReply wrong = call(Json::Of({{"expression", "1 +"}}));
  EXPECT_EQ(wrong.status, CallStatus::kToolError);
  EXPECT_EQ(wrong.blame, Blame::kAgent);
  EXPECT_FALSE(wrong.content.empty());
}

}  // namespace
}  // namespace hone
