#include "evaluate/suites/suite_metatool.h"

#include <algorithm>
#include <map>
#include <set>

#include <fmt/format.h>

#include "base/file.h"
#include "base/rng.h"
#include "evaluate/suites/suite_rows.h"

namespace hone {
namespace {

using Descriptions = std::map<std::string, std::string>;

constexpr size_t kOthers = 9;  // beside the right one

constexpr std::string_view kNeededRules =
    "Does answering this request need a tool, because it asks for what a language model cannot "
    "know "
    "or do by itself: recent facts, private data, large computations, changes in the world? Answer "
    "with yes or no.\n\nRequest: ";
constexpr std::string_view kOneRules =
    "Which of these tools fits the request best? Answer with its name and nothing else; if none of "
    "them fits, answer None.\n\nTools:\n";
constexpr std::string_view kTwoRules =
    "Which of these tools does the request need? Answer with the names, separated by commas, and "
    "nothing else; if none of them fits, answer None.\n\nTools:\n";

Result<Descriptions> ReadDescriptions(const std::filesystem::path& folder) {
  Descriptions all;
  for (const char* name : {"plugin_des.json", "big_tool_des.json"}) {
    const std::filesystem::path file = folder / name;
    if (!std::filesystem::exists(file)) continue;
    HONE_ASSIGN_OR_RETURN(const std::string text, ReadFile(file));
    Result<Json> parsed = ParseJson(text);
    if (!parsed.ok()) return parsed.error().In(file.string());
    if (!parsed->is_object()) {
      return Error(ErrorCode::kInvalidArgument, file.string() + ": an object is wanted");
    }
    for (const auto& [tool, description] : parsed->AsObject()) {
      if (description.is_string()) all[tool] = description.AsString();
    }
  }
  return all;
}

// evaluate/suites/suite_changes.cpp knows this form.
std::string ToolLine(std::string_view name, std::string_view description) {
  return fmt::format("- {}: {}\n", name, description);
}

Json Asked(std::string text) {
  return Json::Array{Json::Of({{"role", "user"}, {"content", std::move(text)}})};
}

SuiteCase Choice(std::string_view rules, const std::string& query, Json candidates, Json gold,
                 const Descriptions& descriptions) {
  std::string text(rules);
  for (const Json& name : candidates.AsArray()) {
    const auto found = descriptions.find(name.AsString());
    text += ToolLine(name.AsString(), found == descriptions.end() ? "" : found->second);
  }
  SuiteCase one;
  one.messages = Asked(text + "\nRequest: " + query);
  one.scorer = SuiteScorer::kToolNames;
  one.gold = std::move(gold);
  one.candidates = std::move(candidates);
  return one;
}

class Loader {
 public:
  Loader(std::filesystem::path folder, Descriptions descriptions, uint64_t seed)
      : folder_(std::move(folder)), descriptions_(std::move(descriptions)), seed_(seed) {}

  Result<Suite> Run() {
    HONE_RETURN_IF_ERROR(ForEach("task1_tool_needed", "tool_needed", &Loader::Needed));
    HONE_RETURN_IF_ERROR(ForEach("single_tool_queries", "single_tool", &Loader::Single));
    HONE_RETURN_IF_ERROR(ForEach("task2_subtask3_reliability", "reliability", &Loader::Given));
    HONE_RETURN_IF_ERROR(
        ForEach("task2_subtask4_multi_tool_selection", "multi_tool", &Loader::Given));
    if (suite_.cases.empty()) {
      return Error(ErrorCode::kNotFound,
                   fmt::format("there are no files of MetaTool in {}; docs/suites.md names them",
                               folder_.string()));
    }
    return std::move(suite_);
  }

 private:
  using Make = Result<SuiteCase> (Loader::*)(const SuiteRow&, const std::string& query);

  Result<void> ForEach(const std::string& name, const std::string& category, Make make) {
    const std::filesystem::path file = folder_ / (name + ".jsonl");
    if (!std::filesystem::exists(file)) return {};
    HONE_ASSIGN_OR_RETURN(const std::vector<SuiteRow> rows, ReadSuiteRows(file));
    names_.clear();
    for (const SuiteRow& row : rows) {
      const Json* tool = row.value.Find("tool");
      if (tool != nullptr && tool->is_string()) names_.insert(tool->AsString());
    }
    for (size_t i = 0; i < rows.size(); ++i) {
      HONE_ASSIGN_OR_RETURN(const std::string query, rows[i].Text("query"));
      HONE_ASSIGN_OR_RETURN(SuiteCase one, (this->*make)(rows[i], query));
      one.id = fmt::format("{}/{}", category, i + 1);
      one.category = category;
      suite_.cases.push_back(std::move(one));
    }
    return {};
  }

  Result<SuiteCase> Needed(const SuiteRow& row, const std::string& query) {
    HONE_ASSIGN_OR_RETURN(const Json* needed, row.Member("needs_tool"));
    if (!needed->is_bool()) return row.Problem("\"needs_tool\" must be true or false");
    SuiteCase one;
    one.messages = Asked(std::string(kNeededRules) + query);
    one.scorer = SuiteScorer::kYesNo;
    one.gold = *needed;
    return one;
  }

  Result<SuiteCase> Single(const SuiteRow& row, const std::string& query) {
    HONE_ASSIGN_OR_RETURN(const std::string tool, row.Text("tool"));
    std::vector<std::string> others(names_.begin(), names_.end());
    others.erase(std::remove(others.begin(), others.end(), tool), others.end());
    Rng rng = Rng(seed_).Split("metatool").Split(suite_.cases.size());
    const size_t count = std::min(kOthers, others.size());
    for (size_t i = 0; i < count; ++i) {
      std::swap(others[i], others[i + rng.Below(others.size() - i)]);
    }
    others.resize(count);
    others.insert(others.begin() + static_cast<std::ptrdiff_t>(rng.Below(count + 1)), tool);
    return Choice(kOneRules, query, Json::ArrayOf(others), Json::Array{tool}, descriptions_);
  }

  // The candidates are the benchmark's.
  Result<SuiteCase> Given(const SuiteRow& row, const std::string& query) {
    HONE_ASSIGN_OR_RETURN(const Json* gold, row.Member("gold"));
    HONE_ASSIGN_OR_RETURN(const Json* candidates, row.Member("candidates"));
    const auto is_text = [](const Json& one) { return one.is_string(); };
    if (!candidates->is_array() ||
        !std::all_of(candidates->AsArray().begin(), candidates->AsArray().end(), is_text)) {
      return row.Problem("\"candidates\" must be a list of names");
    }
    const bool several = gold->is_array();
    const Json wanted = several ? *gold : Json(Json::Array{*gold});
    if (wanted.AsArray().empty() ||
        !std::all_of(wanted.AsArray().begin(), wanted.AsArray().end(), is_text)) {
      return row.Problem("\"gold\" must be a name or a list of names");
    }
    return Choice(several ? kTwoRules : kOneRules, query, *candidates, wanted, descriptions_);
  }

  const std::filesystem::path folder_;
  const Descriptions descriptions_;
  const uint64_t seed_;
  std::set<std::string> names_;  // that are right somewhere in the file
  Suite suite_{.name = "metatool"};
};

}  // namespace

Result<Suite> LoadMetaTool(const std::filesystem::path& folder, uint64_t seed) {
  if (!std::filesystem::is_directory(folder)) {
    return Error(ErrorCode::kNotFound,
                 fmt::format("there is no folder {}; metatool wants the one with its files",
                             folder.string()));
  }
  HONE_ASSIGN_OR_RETURN(Descriptions descriptions, ReadDescriptions(folder));
  return Loader(folder, std::move(descriptions), seed).Run();
}

}  // namespace hone
