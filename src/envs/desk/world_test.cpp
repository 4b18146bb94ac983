#include "envs/desk/world.h"

#include <gtest/gtest.h>

#include <map>
#include <set>

#include "envs/desk/draft.h"
#include "envs/desk/tools.h"
#include "tools/toolbox.h"

namespace hone::desk {
namespace {

TEST(WorldTest, FactsAreAFunctionOfTheSeedAndSpreadOut) {
  std::map<std::string_view, int> skies;
  std::set<int64_t> temps;
  for (uint64_t seed = 0; seed < 1000; ++seed) {
    const Weather weather = World(seed).WeatherOf("Oslo", "Mon");
    EXPECT_EQ(weather.sky, World(seed).WeatherOf("Oslo", "Mon").sky);
    ++skies[weather.sky];
    temps.insert(weather.temp);
  }
  EXPECT_EQ(skies.size(), 5u);
  for (const auto& [sky, count] : skies) EXPECT_NEAR(count, 200, 60) << sky;
  EXPECT_EQ(*temps.begin(), 10);
  EXPECT_EQ(*temps.rbegin(), 39);
}

TEST(WorldTest, ConversionsRoundDown) {
  EXPECT_EQ(Convert(*FindConversion("km", "mi"), 100), 62);
  EXPECT_EQ(Convert(*FindConversion("km", "mi"), 11), 6);
  EXPECT_EQ(Convert(*FindConversion("mi", "km"), 7), 11);
  EXPECT_EQ(Convert(*FindConversion("usd", "eur"), -1), -1);
  EXPECT_EQ(FindConversion("km", "kg"), nullptr);
}

TEST(WorldTest, ExpressionsAreWhatTheCalculatorTakes) {
  for (const char* good : {"1", "12+7*3", "1-2-3-4-5", "9999*9999"}) {
    EXPECT_TRUE(IsExpression(good)) << good;
  }
  for (const char* bad : {"", "+1", "1+", "12345", "1+2+3+4+5+6", "1/2", "1 + 2", "(1)"}) {
    EXPECT_FALSE(IsExpression(bad)) << bad;
  }
}

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

TEST(ShareTest, EverySetHasSomeOfEverything) {
  std::map<Share, int> contacts, clocks, weathers;
  for (const std::string_view name : Names()) ++contacts[ShareOf(ContactKey(name))];
  for (const std::string_view city : Cities()) {
    ++clocks[ShareOf(ClockKey(city))];
    for (const std::string_view day : Days()) ++weathers[ShareOf(WeatherKey(city, day))];
  }
  EXPECT_EQ(contacts,
            (std::map<Share, int>{{Share::kTrain, 16}, {Share::kDev, 3}, {Share::kTest, 5}}));
  EXPECT_EQ(clocks,
            (std::map<Share, int>{{Share::kTrain, 10}, {Share::kDev, 2}, {Share::kTest, 4}}));
  EXPECT_GE(weathers[Share::kDev], 5);
  EXPECT_GE(weathers[Share::kTest], 12);
}

TEST(DraftTest, SumsAreTheSameEitherWayRound) {
  EXPECT_EQ(SumKey(12, '+', 34), SumKey(34, '+', 12));
  EXPECT_NE(SumKey(12, '-', 34), SumKey(34, '-', 12));
  EXPECT_EQ(PutIn("{a} and {b}", {{"a", "x"}, {"b", "y"}}), "x and y");
}

}  // namespace
}  // namespace hone::desk
