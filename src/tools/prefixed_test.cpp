#include "tools/prefixed.h"

#include <gtest/gtest.h>

#include "support/scripted_toolkit.h"

namespace hone {
namespace {

TEST(Prefixed, ToolsAreCalledByTheirLongNames) {
  auto kit = std::make_shared<ScriptedToolkit>();
  kit->Add("echo", Effect::kPure,
           [](const Json& arguments, const CallLimits&) { return Answered(DumpJson(arguments)); });
  const std::shared_ptr<Toolkit> prefixed = WithPrefix(kit, "my_");
  EXPECT_EQ(prefixed->tools()[0].name, "my_echo");
  EXPECT_EQ(prefixed->Call("my_echo", Json(1), nullptr, {}).content, "1");
  EXPECT_EQ(WithPrefix(kit, ""), kit);
}

TEST(Prefixed, SessionsAreThoseOfTheToolkitInside) {
  auto sum = std::make_shared<SumToolkit>(Sharing::kClone);
  const std::shared_ptr<Toolkit> prefixed = WithPrefix(sum, "x");
  EXPECT_EQ(prefixed->sharing(), Sharing::kClone);
  const auto session = prefixed->Open(1).value();
  EXPECT_EQ(prefixed->Call("xadd", Json::Of({{"n", 4}}), session.get(), {}).content, "4");
}

}  // namespace
}  // namespace hone
