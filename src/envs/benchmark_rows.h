#pragma once

#include <set>
#include <string>
#include <string_view>
#include <vector>

#include "base/json.h"

// Rows of public benchmarks as their authors write them: what is asked, what is right, and by which
// rule (rewards/matching/answer.h).
//
//   gsm8k  {"question", "answer": "... #### 72"}; also "ground_truth": "... A: 72"
//   math   {"problem", "solution": "... \\boxed{72}", "answer"?}
//   qa     {"question", "answer": [...]}: HotpotQA, 2WikiMultihopQA, MuSiQue ("answer_aliases"),
//          Bamboogle, and the sets of FlashRAG ("golden_answers")

namespace hone {

// Which of them the row is; empty: none.
std::string_view BenchmarkOf(const Json& row);

struct BenchmarkRow {
  Json prompt;  // text; null, and a problem, where it is missing
  Json answer;
  std::string kind;  // of the answer: "gsm8k", "math" or "qa-exact"
  std::string id;    // empty: the row has none
  Json solution;     // the worked answer of GSM8K; null: the row has it under another column
  std::set<std::string, std::less<>> taken;  // columns that are read
};
BenchmarkRow ReadBenchmarkRow(std::string_view benchmark, const Json& row,
                              std::vector<std::string>* problems);

}  // namespace hone
