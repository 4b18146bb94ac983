#include "app/views/credit_view.h"

#include <gtest/gtest.h>

#include "support/credit_groups.h"

namespace hone {
namespace {

constexpr char kGroup[] = R"({"group":[
    {"terms":{"outcome":1},"turns":[{"tokens":[11,12,13],"calls":[{"begin":1,"end":3,"terms":{"call":1}}]},
      {"author":"tool","tokens":[99]},{"tokens":[14]}]},
    {"terms":{"outcome":0},"turns":[{"tokens":[15],"calls":[{"begin":0,"end":1,"terms":{"call":0}}]}]},
    {"terms":{"outcome":null},"turns":[{"tokens":[16]}]}]})";

std::vector<MethodCredit> Credits(const ShortGroup& group,
                                  const std::vector<std::string>& methods) {
  std::vector<MethodCredit> credits;
  for (const std::string& method : methods) {
    credits.push_back({method, CreditOf(method, group, true)});
  }
  return credits;
}

TEST(CreditView, ARowPerRunOfEqualCreditAndAColumnPerChannel) {
  const ShortGroup group = GroupFrom(kGroup);
  const std::string view = CreditView(group.record, Credits(group, {"toolpo", "dr-grpo"}), nullptr,
                                      Terminal{false, 120}, {.leaf = 0});
  EXPECT_NE(view.find("12 13"), std::string::npos) << "two tokens of one call: one row\n" << view;
  EXPECT_NE(view.find("tool       99"), std::string::npos) << view;
  EXPECT_NE(view.find("action"), std::string::npos);
  EXPECT_NE(view.find("dr-grpo"), std::string::npos);
  EXPECT_EQ(view.find("leaf 1  "), std::string::npos);
  EXPECT_EQ(view.find('\x1b'), std::string::npos);
}

TEST(CreditView, ColoursByTheFirstMethodOnATerminal) {
  const ShortGroup group = GroupFrom(kGroup);
  const std::string view =
      CreditView(group.record, Credits(group, {"toolpo"}), nullptr, Terminal{true, 120});
  EXPECT_NE(view.find("\x1b[48;5;34m12 13\x1b[0m"), std::string::npos) << view;
  EXPECT_NE(view.find("unscored"), std::string::npos) << "who got nothing, and why";
}

TEST(CreditPage, EscapesWhatItShows) {
  ShortGroup group = GroupFrom(kGroup);
  group.record.tree.task.id = "<script>alert(1)</script>";
  const std::string page =
      CreditPage(group.record, Credits(group, {"toolpo", "grpo"}), nullptr, {});
  EXPECT_EQ(page.find("<script>"), std::string::npos);
  EXPECT_NE(page.find("title=\"+1.000000\">12 13 </span>"), std::string::npos) << page;
}

TEST(CreditPage, AThoughtIsFolded) {
  ScoredTree record;
  record.tree.nodes.push_back({kNoNode, Author::kUser, {1}});
  record.tree.nodes.push_back({0, Author::kPolicy, {2, 3, 4, 5}});
  record.tree.leaves.push_back({1});
  const std::string plain = CreditTokens(record, 0, {1, 1, 1, 1}, 1, nullptr);
  EXPECT_EQ(plain.find("details"), std::string::npos);
  record.tree.nodes[1].thoughts = {{0, 1}, {1, 3}};
  const std::string page = CreditTokens(record, 0, {1, 1, 1, 1}, 1, nullptr);
  EXPECT_NE(page.find("<summary>thought, 1 token</summary><span"), std::string::npos) << page;
  EXPECT_NE(page.find(">2 </span></details><details"), std::string::npos) << page;
  EXPECT_NE(page.find("<summary>thought, 2 tokens</summary>"), std::string::npos);
  EXPECT_NE(page.find(">3 4 </span></details><span"), std::string::npos) << page;
}

TEST(CreditPage, ACharacterOfSeveralTokensIsShownWhole) {
  Tokenizer::Parts parts;  // one token per byte
  for (int byte = 0; byte < 256; ++byte) {
    parts.token_bytes.emplace_back(1, static_cast<char>(byte));
  }
  const Tokenizer tokenizer = *Tokenizer::FromParts(std::move(parts));
  ScoredTree record;
  record.tree.nodes.push_back({kNoNode, Author::kUser, {0xc3, 0xa9}});
  record.tree.nodes.push_back({0, Author::kPolicy, {'a', 0xe2, 0x82, 0xac}});
  record.tree.leaves.push_back({1});
  const std::string page = CreditTokens(record, 0, {1, -1, -1, -1}, 1, &tokenizer);
  EXPECT_NE(page.find("é"), std::string::npos) << page;
  EXPECT_NE(page.find("€"), std::string::npos) << page;
}

TEST(MethodsView, NamesEveryMethodWithItsSettings) {
  const std::string view = MethodsView(ListMethods(), Terminal{false, 100});
  EXPECT_NE(view.find("toolpo-split"), std::string::npos);
  EXPECT_NE(view.find("baseline=position"), std::string::npos);
  EXPECT_EQ(MethodsJson(ListMethods()).Find("methods")->AsArray().size(), MethodNames().size());
}

}  // namespace
}  // namespace hone
