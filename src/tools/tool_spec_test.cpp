#include "tools/tool_spec.h"

#include <gtest/gtest.h>

namespace hone {
namespace {

Json Parsed(std::string_view text) { return ParseJson(text).value(); }

constexpr std::string_view kNested = R"({"type": "function", "function": {"name": "weather",
    "description": "of a city", "parameters": {"type": "object",
    "properties": {"city": {"type": "string"}, "day": {"enum": ["mon", "tue"]}},
    "required": ["city"]}},
    "x-hone": {"effect": "pure", "computable": true, "price": 0.5, "resource": "sky"}})";

TEST(ToolSpec, NestedAndFlatAreTheSame) {
  const auto nested = ToolSpecFromJson(Parsed(kNested));
  ASSERT_TRUE(nested.ok()) << nested.error().message();
  EXPECT_EQ(nested->name, "weather");
  EXPECT_EQ(nested->effect, Effect::kPure);
  EXPECT_TRUE(nested->computable);
  EXPECT_EQ(nested->price, 0.5);
  Json flat = *Parsed(kNested).Find("function");
  flat.Set("x-hone", *Parsed(kNested).Find("x-hone"));
  EXPECT_EQ(ToolSpecFromJson(flat)->ToJson(), nested->ToJson());
  EXPECT_EQ(ToolSpecFromJson(nested->ToJson())->ToJson(), nested->ToJson());
}

TEST(ToolSpec, WhatIsNotSaidIsCareful) {
  const auto spec = ToolSpecFromJson(Parsed(R"({"name": "f"})"));
  ASSERT_TRUE(spec.ok());
  EXPECT_EQ(spec->effect, Effect::kReads);
  EXPECT_FALSE(spec->computable);
  EXPECT_FALSE(ArgumentChecker::For(*spec)->Problem(Json::Of({})).has_value());
}

TEST(ToolSpec, FormatsAreAssertedWhereTheToolSaysSo) {
  const std::string schema = R"("parameters": {"type": "object",
      "properties": {"day": {"type": "string", "format": "date"}}})";
  const auto problem = [&](const std::string& more) {
    const ToolSpec spec =
        ToolSpecFromJson(Parsed(R"({"name": "f", )" + schema + more + "}")).value();
    EXPECT_EQ(ToolSpecFromJson(spec.ToJson())->ToJson(), spec.ToJson());
    return ArgumentChecker::For(spec)->Problem(Json::Of({{"day", "soon"}}));
  };
  EXPECT_FALSE(problem("").has_value());
  EXPECT_EQ(problem(R"(, "x-hone": {"assert_format": true})"),
            "`day`: expected a text of the format date, got \"soon\"");
}

TEST(ToolSpec, ErrorsNameTheKey) {
  auto message = [](std::string_view text) {
    const auto specs = ToolSpecsFromJson(Parsed(text));
    return specs.ok() ? "fine" : specs.error().message();
  };
  EXPECT_NE(message(R"([{"description": "x"}])").find("tools[0]: name"), std::string::npos);
  EXPECT_NE(message(R"([{"name": "f", "x-hone": {"effect": "wirtes"}}])").find("not one of pure"),
            std::string::npos);
  EXPECT_NE(message(R"([{"name": "f", "x-hone": {"efect": "pure"}}])").find("efect"),
            std::string::npos);
  EXPECT_NE(message(R"([{"name": "f"}, {"name": "f"}])").find("already"), std::string::npos);
  EXPECT_NE(message(R"([{"name": "f", "x-hone": {"computable": true}}])").find("only a pure tool"),
            std::string::npos);
  EXPECT_EQ(message("[]"), "fine");
}

TEST(ArgumentChecker, SaysWhatToChange) {
  const auto checker = ArgumentChecker::For(*ToolSpecFromJson(Parsed(kNested)));
  ASSERT_TRUE(checker.ok());
  EXPECT_FALSE(checker->Problem(Parsed(R"({"city": "Paris"})")).has_value());
  EXPECT_EQ(*checker->Problem(Parsed(R"({"day": "Mondy"})")),
            "`city`: is missing\n`day`: expected one of \"mon\", \"tue\", got \"Mondy\"");
  EXPECT_EQ(*checker->Problem(Json("Paris")), "the arguments must be an object");
}

}  // namespace
}  // namespace hone
