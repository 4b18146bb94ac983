#include "tools/bfcl_check.h"

#include <gtest/gtest.h>

#include <map>

#include "base/file.h"
#include "support/shared_data.h"

namespace hone {
namespace {

std::map<std::string, Json> ById(const std::filesystem::path& folder) {
  std::map<std::string, Json> all;
  for (const auto& entry : std::filesystem::directory_iterator(folder)) {
    const auto rows = ParseJsonLines(*ReadFile(entry.path()));
    if (!rows.ok()) continue;
    for (const Json& row : *rows) {
      if (const Json* id = row.Find("id")) all.emplace(id->AsString(), row);
    }
  }
  return all;
}

// Every verdict and error type that the leaderboard's own checker gave.
TEST(BfclCheck, AgreesWithTheLeaderboard) {
  HONE_NEED_SHARED(data, "data/bfcl");
  const auto questions = ById(data / "question"), answers = ById(data / "possible_answer");
  std::map<std::string, std::pair<int, int>> by_category;  // right, all
  int shown = 0;
  for (const auto& model : std::filesystem::directory_iterator(data / "checker_cases")) {
    for (const auto& file : std::filesystem::directory_iterator(model.path())) {
      const auto cases = ParseJsonLines(*ReadFile(file.path()));
      ASSERT_TRUE(cases.ok()) << file.path();
      for (const Json& one : *cases) {
        const Json *decoded = one.Find("decoded"), *id = one.Find("id");
        if (decoded == nullptr || id == nullptr || !answers.contains(id->AsString())) continue;
        const std::string category = one.Find("category")->AsString();
        if (category.starts_with("multi_turn")) continue;
        const Json* dots = one.Find("dots_as_underscores");
        const auto verdict =
            CheckBfclCalls(category, *questions.at(id->AsString()).Find("function"),
                           *answers.at(id->AsString()).Find("ground_truth"), *decoded,
                           dots != nullptr && *dots == Json(true));
        ASSERT_TRUE(verdict.ok()) << verdict.error().message();
        const Json* expected_type = one.Find("error_type");
        const std::string expected =
            expected_type != nullptr && expected_type->is_string() ? expected_type->AsString() : "";
        auto& [right, all] = by_category[category];
        ++all;
        if (verdict->valid == one.Find("valid")->AsBool() && verdict->error_type == expected) {
          ++right;
        } else if (++shown <= 40) {
          ADD_FAILURE() << file.path().filename() << " " << id->AsString() << ": expected \""
                        << expected << "\", got \"" << verdict->error_type << "\"\n"
                        << DumpJson(*decoded) << "\n"
                        << DumpJson(*answers.at(id->AsString()).Find("ground_truth"));
        }
      }
    }
  }
  for (const auto& [category, counts] : by_category) {
    EXPECT_EQ(counts.first, counts.second) << category;
  }
  EXPECT_GT(by_category["simple_python"].second, 500);
  EXPECT_GT(by_category["simple_java"].second, 20);
}

}  // namespace
}  // namespace hone
