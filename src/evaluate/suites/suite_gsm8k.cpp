#include "evaluate/suites/suite_gsm8k.h"

#include <algorithm>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "base/nearest.h"
#include "evaluate/suites/suite_rows.h"

namespace hone {
namespace {

std::string Instruction(const std::string& tool) {
  std::string text = "Solve the problem step by step. ";
  if (tool == "calculator") text += "Use the tool calculator for arithmetic. ";
  if (tool == "python") text += "Use the tool python to compute. ";
  return text +
         "End your answer with a line that holds \"#### \" and the number, and nothing else.";
}

}  // namespace

Result<Suite> LoadGsm8k(const std::filesystem::path& path, const std::string& tool) {
  const std::vector<std::string> tools(std::begin(kGsm8kTools), std::end(kGsm8kTools));
  if (std::find(tools.begin(), tools.end(), tool) == tools.end()) {
    return Error(ErrorCode::kInvalidArgument,
                 fmt::format("\"{}\" is no tool for gsm8k{}; there are: {}", tool,
                             DidYouMean(tool, tools), fmt::join(tools, ", ")));
  }
  const bool folder = std::filesystem::is_directory(path);
  HONE_ASSIGN_OR_RETURN(const std::vector<SuiteRow> rows,
                        ReadSuiteRows(folder ? path / "test.jsonl" : path));
  Suite suite{.name = "gsm8k"};
  if (tool != "none") suite.tools.push_back(tool);
  for (const SuiteRow& row : rows) {
    SuiteCase one;
    one.id = fmt::format("gsm8k/{}", suite.cases.size() + 1);
    one.category = "gsm8k";
    HONE_ASSIGN_OR_RETURN(const std::string question, row.Text("question"));
    HONE_ASSIGN_OR_RETURN(const std::string answer, row.Text("answer"));
    if (answer.find("####") == std::string::npos) {
      return row.Problem("\"answer\" has no \"####\" with the number behind it");
    }
    one.messages = Json::Array{Json::Of({{"role", "system"}, {"content", Instruction(tool)}}),
                               Json::Of({{"role", "user"}, {"content", question}})};
    if (tool != "none") one.plays_with.push_back(tool);
    one.scorer = SuiteScorer::kAnswer;
    one.rule = "gsm8k";
    one.gold = Json(answer);
    suite.cases.push_back(std::move(one));
  }
  return suite;
}

}  // namespace hone
