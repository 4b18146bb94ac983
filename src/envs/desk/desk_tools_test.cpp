#include "envs/desk/desk_tools.h"

#include <gtest/gtest.h>

#include "tools/toolbox.h"

namespace hone::desk {
namespace {

Json Args(std::string_view text) { return *ParseJson(text); }

TEST(DeskToolsTest, AnswersAndErrors) {
  const World world(5);
  const auto says = [&](const char* tool, const char* arguments) {
    const Result<Json> answer = Answer(world, tool, Args(arguments));
    return answer.ok() ? DumpJson(*answer) : answer.error().message();
  };
  EXPECT_EQ(says("calculator", R"({"expression":"12+7*3"})"), R"({"result":33})");
  EXPECT_EQ(says("calculator", R"({"expression":"3-10"})"), R"({"result":-7})");
  EXPECT_EQ(says("calculator", R"({"expression":"1/2"})"), "bad expression");
  EXPECT_EQ(says("convert", R"({"amount":100,"from":"kg","to":"lb"})"), R"({"amount":220})");
  EXPECT_EQ(says("convert", R"({"amount":100.0,"from":"kg","to":"lb"})"), R"({"amount":220})");
  EXPECT_EQ(says("convert", R"({"amount":1,"from":"kg","to":"km"})"), "bad unit");
  EXPECT_EQ(says("convert", R"({"amount":99999999999999999999,"from":"kg","to":"lb"})"),
            "amount too large");
  EXPECT_EQ(says("weather", R"({"city":"Olso","day":"Mon"})"), "not found");
  EXPECT_EQ(says("search", R"({"query":"river"})"), "not found");
  EXPECT_EQ(says("search", R"({"query":"river Bergen"})"), "not found");
  EXPECT_EQ(says("send", R"({"to":"Nobody","text":"x"})"), "not found");
  EXPECT_EQ(says("send", R"({"to":"Ana","text":"x"})"), R"({"ok":true})");
}

TEST(DeskToolsTest, AnswersFitTheirSchemas) {
  const std::shared_ptr<Toolkit> toolkit = NewDeskToolkit();
  const Toolbox toolbox = Toolbox::Of({{toolkit, {}}}).value();
  const auto session = toolkit->Open(3).value();
  const auto check = [&](const char* tool, const Json& arguments) {
    EXPECT_FALSE(toolbox.Find(tool)->checker.Problem(arguments));
    const ToolReply reply = toolkit->Call(tool, arguments, session.get(), {});
    EXPECT_EQ(reply.status, CallStatus::kOk) << tool << reply.content;
    const JsonSchema schema = JsonSchema::Compile(*toolbox.Find(tool)->spec.output).value();
    EXPECT_TRUE(schema.Check(*ParseJson(reply.content)).empty()) << tool << reply.content;
  };
  for (const std::string_view city : Cities()) {
    for (const std::string_view day : Days())
      check("weather", Json::Of({{"city", city}, {"day", day}}));
    check("clock", Json::Of({{"city", city}}));
    for (const std::string_view topic : Topics()) {
      check("search", Json::Of({{"query", std::string(topic) + " " + std::string(city)}}));
    }
  }
  for (const std::string_view name : Names()) {
    check("contact", Json::Of({{"name", name}}));
    check("schedule", Json::Of({{"name", name}, {"day", "Fri"}}));
    check("send", Json::Of({{"to", name}, {"text", "hi"}}));
  }
  EXPECT_EQ(toolbox.Find("send")->spec.effect, Effect::kIrreversible);
  EXPECT_TRUE(toolbox.Find("calculator")->spec.computable);
  EXPECT_TRUE(toolbox.Find("weather")->checker.Problem(Args(R"({"city":"Oslo"})")));
}

}  // namespace
}  // namespace hone::desk
