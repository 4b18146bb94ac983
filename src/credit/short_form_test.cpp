#include "credit/short_form.h"

#include <gtest/gtest.h>

#include "record/validate.h"
#include "support/credit_groups.h"

namespace hone {
namespace {

TEST(ShortForm, TheExampleOfTheDocumentation) {
  const ShortGroup group = GroupFrom(
      R"({"group":[{"terms":{"outcome":1.0},"turns":[{"tokens":5,"author":"policy",
          "calls":[{"begin":1,"end":4,"terms":{"call":1}}]}]}]})");
  EXPECT_TRUE(Validate(group.record).empty());
  EXPECT_FALSE(group.has_values);
  const RewardTerm& call = group.record.scores[0].terms[1];
  EXPECT_EQ(call.name, "call");
  EXPECT_EQ(call.node, 1);
  EXPECT_EQ(call.span, (Span{1, 4}));
}

TEST(ShortForm, WhatIsWrongIsSaidWithItsPlace) {
  auto error = [](const std::string& text) {
    const Result<ShortGroup> group = ReadShortForm(*ParseJson(text));
    return group.ok() ? std::string() : group.error().message();
  };
  EXPECT_NE(error(R"({"group":[]})").find("group"), std::string::npos);
  EXPECT_NE(error(R"({"group":[{"turns":[{"tokens":-1}]}]})").find("group[0].turns[0].tokens"),
            std::string::npos);
  EXPECT_NE(
      error(R"({"group":[{"turns":[{"tokens":2,"calls":[{"begin":1,"end":5}]}]}]})").find("span"),
      std::string::npos);
  EXPECT_NE(error(R"({"group":[{"turns":[{"tokens":2,"autor":"policy"}]}]})").find("author"),
            std::string::npos);
  EXPECT_NE(error(R"({"group":[{"turns":[{"tokens":99999999999}]}]})").find("ten million"),
            std::string::npos);
  EXPECT_NE(error(R"({"group":[{"turns":[{"tokens":2,"values":[1]}]}]})").find("2 tokens"),
            std::string::npos);
  EXPECT_NE(
      error(R"({"group":[{"terms":{"outcome":"x"},"turns":[{"tokens":2}]}]})").find("outcome"),
      std::string::npos);
  EXPECT_FALSE(error(R"({"group":[{"turns":[{"tokens":2}],"ending":"failed"}]})").empty());
}

TEST(ShortForm, NullIsNotScored) {
  EXPECT_FALSE(GroupFrom(GroupOfPlain({"null"})).record.scores[0].terms[0].value.has_value());
}

}  // namespace
}  // namespace hone
