#include "evaluate/suites/suite_jsonl.h"

#include <algorithm>
#include <set>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "base/nearest.h"
#include "evaluate/suites/suite_rows.h"
#include "rewards/matching/answer.h"
#include "text/conversation.h"
#include "tools/tool_spec.h"

namespace hone {
namespace {

const std::vector<std::string>& ToolsOfThisProgram() {
  static const std::vector<std::string> tools = {"calculator", "python"};
  return tools;
}

Result<Json> JsonlMessages(const SuiteRow& row) {
  const bool prompt = row.value.Find("prompt") != nullptr;
  const Json* messages = row.value.Find("messages");
  if (prompt == (messages != nullptr)) {
    return row.Problem("one of \"prompt\" and \"messages\" is wanted");
  }
  Json::Array out;
  if (row.value.Find("system") != nullptr) {
    HONE_ASSIGN_OR_RETURN(std::string system, row.Text("system"));
    out.push_back(Json::Of({{"role", "system"}, {"content", std::move(system)}}));
  }
  if (prompt) {
    HONE_ASSIGN_OR_RETURN(std::string text, row.Text("prompt"));
    out.push_back(Json::Of({{"role", "user"}, {"content", std::move(text)}}));
  } else if (!messages->is_array() || messages->AsArray().empty()) {
    return row.Problem("\"messages\" must be a list of messages");
  } else {
    out.insert(out.end(), messages->AsArray().begin(), messages->AsArray().end());
  }
  const auto read = ConversationFromJson(Json::Of({{"messages", out}}));
  if (!read.ok()) return row.Problem(read.error().message());
  return Json(std::move(out));
}

Result<void> ReadTools(const SuiteRow& row, std::set<std::string>* used, SuiteCase* one) {
  const Json* tools = row.value.Find("tools");
  if (tools == nullptr) return {};
  if (!tools->is_array()) return row.Problem("\"tools\" must be a list");
  const auto& list = tools->AsArray();
  const auto named =
      std::count_if(list.begin(), list.end(), [](const Json& tool) { return tool.is_string(); });
  if (named > 0 && named < static_cast<std::ptrdiff_t>(list.size())) {
    return row.Problem("tools are either all named (they are called) or all described (shown)");
  }
  if (named == 0) {
    const auto specs = ToolSpecsFromJson(*tools);
    if (!specs.ok()) return row.Problem(specs.error().message());
    for (const ToolSpec& spec : *specs) one->tools.AsArray().push_back(spec.ToJson());
    return {};
  }
  for (const Json& tool : list) {
    const auto& known = ToolsOfThisProgram();
    if (std::find(known.begin(), known.end(), tool.AsString()) == known.end()) {
      return row.Problem(fmt::format("there is no tool \"{}\"{}; there are: {}", tool.AsString(),
                                     DidYouMean(tool.AsString(), known), fmt::join(known, ", ")));
    }
    used->insert(tool.AsString());
    one->plays_with.push_back(tool.AsString());
  }
  return {};
}

Result<void> ReadGold(const SuiteRow& row, SuiteCase* one) {
  const Json *calls = row.value.Find("calls"), *answer = row.value.Find("answer"),
             *scorer = row.value.Find("scorer");
  if ((calls == nullptr) == (answer == nullptr)) {
    return row.Problem("one of \"calls\" and \"answer\" is wanted, to say what is right");
  }
  if (calls != nullptr) {
    if (scorer != nullptr) return row.Problem("\"scorer\" is for answers");
    if (!one->plays_with.empty())
      return row.Problem("\"calls\" needs tools that are described, not named");
    one->scorer = SuiteScorer::kCalls;
    one->gold = *calls;
    return {};
  }
  one->scorer = SuiteScorer::kAnswer;
  one->gold = *answer;
  one->rule = "text";
  if (scorer != nullptr) {
    HONE_ASSIGN_OR_RETURN(one->rule, row.Text("scorer"));
    const auto kind = AnswerKindNamed(one->rule);
    if (!kind.ok()) return row.Problem(kind.error().message());
    if (*kind == AnswerKind::kProgram || *kind == AnswerKind::kVerdict) {
      return row.Problem(fmt::format("\"{}\" is no scorer for suites", one->rule));
    }
  }
  return {};
}

}  // namespace

const std::vector<std::string>& SuiteKeys() {
  static const std::vector<std::string> keys = {"id",    "category", "prompt", "system", "messages",
                                                "tools", "calls",    "answer", "scorer"};
  return keys;
}

Result<Suite> LoadSuiteLines(const std::filesystem::path& file) {
  HONE_ASSIGN_OR_RETURN(const std::vector<SuiteRow> rows, ReadSuiteRows(file));
  Suite suite{.name = file.filename().string()};
  std::set<std::string> ids, used;
  for (const SuiteRow& row : rows) {
    for (const auto& [key, value] : row.value.AsObject()) {
      const auto& known = SuiteKeys();
      if (std::find(known.begin(), known.end(), key) != known.end()) continue;
      return row.Problem(fmt::format("unknown key \"{}\"{}", key, DidYouMean(key, known)));
    }
    SuiteCase one;
    one.id = std::to_string(suite.cases.size() + 1);
    one.category = file.stem().string();
    if (row.value.Find("id") != nullptr) {
      HONE_ASSIGN_OR_RETURN(one.id, row.Text("id"));
    }
    if (row.value.Find("category") != nullptr) {
      HONE_ASSIGN_OR_RETURN(one.category, row.Text("category"));
    }
    if (!ids.insert(one.id).second) {
      return row.Problem(fmt::format("the id \"{}\" comes twice", one.id));
    }
    HONE_ASSIGN_OR_RETURN(one.messages, JsonlMessages(row));
    HONE_RETURN_IF_ERROR(ReadTools(row, &used, &one));
    HONE_RETURN_IF_ERROR(ReadGold(row, &one));
    // Something is wrong with the gold when even silence cannot be judged.
    if (const auto tried = JudgeCase(one, {.text = "?"}); !tried.ok()) {
      return row.Problem(tried.error().message());
    }
    suite.cases.push_back(std::move(one));
  }
  suite.tools.assign(used.begin(), used.end());
  return suite;
}

}  // namespace hone
