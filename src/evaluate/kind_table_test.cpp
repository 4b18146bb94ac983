#include "evaluate/kind_table.h"

#include <gtest/gtest.h>

#include "evaluate/policy_evaluation.h"

namespace hone {
namespace {

Measures Of(const char* kind, bool success, std::map<std::string, int64_t> calls, int64_t unused) {
  Measures m;
  m.task = kind + std::to_string(unused);
  m.kind = kind;
  m.success = success;
  for (const auto& [tool, count] : calls) m.calls += count;
  m.calls_of = std::move(calls);
  m.called = m.calls > 0;
  m.tool_needed = true;
  m.weighed = m.calls;
  m.unused = unused;
  m.tokens = 10;
  m.entropy = 5;
  return m;
}

TEST(KindTableTest, SaysWhatIsCalledForEachKind) {
  Evaluation evaluation{.tasks = 4};
  evaluation.measures = {Of("fact", true, {{"search", 2}}, 1), Of("fact", false, {}, 0),
                         Of("sum", true, {{"python", 1}}, 0), Of("sum", true, {}, 1)};
  const Json json = evaluation.ToJson();
  const KindTable table = KindTableOf(&json);
  EXPECT_EQ(table.columns,
            (std::vector<std::string>{"success", "calls", "needed", "needless", "missed", "unused",
                                      "unaided", "entropy", "python", "search"}));
  ASSERT_EQ(table.rows.size(), 2u);
  EXPECT_EQ(table.rows[0].kind, "fact");
  EXPECT_EQ(table.rows[0].cells,
            (std::vector<std::string>{"50.0 %", "1.00", "-", "-", "50.0 %", "50.0 %", "0.0 %",
                                      "0.50", "0.00", "1.00"}));
  EXPECT_EQ(table.rows[1].cells[6], "50.0 %") << "one of two was done without a call";
}

TEST(KindTableTest, OfManyKindsItIsOfTheFamilies) {
  Evaluation evaluation{.tasks = 26};
  for (int i = 0; i < 26; ++i) {
    Measures& m =
        evaluation.measures.emplace_back(Of(i % 2 == 0 ? "fact" : "sum", true, {{"search", 1}}, i));
    m.family = m.kind;
    m.kind += std::to_string(i / 2);
  }
  const Json json = evaluation.ToJson();
  const KindTable table = KindTableOf(&json);
  ASSERT_EQ(table.rows.size(), 2u);
  EXPECT_EQ(table.rows[0].kind, "fact");
}

TEST(KindTableTest, AnOlderEvaluationHasNone) {
  const Json older = *ParseJson(R"({"kinds": {"fact": {"success": 1}}})");
  EXPECT_TRUE(KindTableOf(&older).rows.empty());
  EXPECT_TRUE(KindTableOf(nullptr).rows.empty());
}

}  // namespace
}  // namespace hone
