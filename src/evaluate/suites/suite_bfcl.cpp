#include "evaluate/suites/suite_bfcl.h"

#include <algorithm>
#include <map>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "base/nearest.h"
#include "evaluate/suites/suite_rows.h"

namespace hone {
namespace {

constexpr std::string_view kTextRules =
    "You can call functions. Answer with the calls and nothing else, as a list in Python: "
    "[name(parameter=value, ...), ...]. If none of the functions fits the request, or a value that "
    "a function needs is missing, say so in words and call nothing.\n\nThe functions, as JSON:\n";

// Those of several turns.
bool HasSeveralTurns(std::string_view category) {
  for (const char* part : {"multi_turn", "memory", "web_search", "format_sensitivity"}) {
    if (category.find(part) != std::string_view::npos) return true;
  }
  return false;
}

bool IsRelevance(const std::string& category) {
  return category.find("relevance") != std::string::npos;
}

// "BFCL_v4_simple_python.json" is simple_python; others are none.
std::string CategoryOf(const std::filesystem::path& file) {
  const std::string name = file.stem().string();
  const size_t begin = name.starts_with("BFCL_v") ? name.find('_', 6) : std::string::npos;
  const std::string ending = file.extension().string();
  if (begin == std::string::npos || (ending != ".json" && ending != ".jsonl")) return "";
  return name.substr(begin + 1);
}

// Question files by category.
Result<std::map<std::string, std::filesystem::path>> QuestionFiles(
    const std::filesystem::path& path) {
  std::map<std::string, std::filesystem::path> files;
  std::error_code ignored;
  if (std::filesystem::is_regular_file(path, ignored)) {
    const std::string category = CategoryOf(path);
    files[category.empty() ? path.stem().string() : category] = path;
    return files;
  }
  for (const std::filesystem::path& folder : {path / "question", path}) {
    for (std::filesystem::directory_iterator at(folder, ignored), end; at != end;
         at.increment(ignored)) {
      const std::string category = CategoryOf(at->path());
      if (!category.empty()) files.emplace(category, at->path());
    }
    if (!files.empty()) return files;
  }
  return Error(ErrorCode::kNotFound,
               fmt::format("there are no files of BFCL in {}; name the folder that holds "
                           "BFCL_v4_*.json, or question/ with them",
                           path.string()));
}

Result<std::map<std::string, Json>> AnswersFor(const std::filesystem::path& question) {
  const std::filesystem::path name = question.filename();
  std::filesystem::path found;
  for (const std::filesystem::path& folder :
       {question.parent_path() / "possible_answer",
        question.parent_path().parent_path() / "possible_answer"}) {
    if (std::filesystem::exists(folder / name)) found = folder / name;
  }
  if (found.empty()) {
    return Error(ErrorCode::kNotFound,
                 fmt::format("the accepted answers of {} are not there; they belong in "
                             "possible_answer/{} beside it",
                             question.string(), name.string()));
  }
  HONE_ASSIGN_OR_RETURN(const std::vector<SuiteRow> rows, ReadSuiteRows(found));
  std::map<std::string, Json> answers;
  for (const SuiteRow& row : rows) {
    HONE_ASSIGN_OR_RETURN(std::string id, row.Text("id"));
    HONE_ASSIGN_OR_RETURN(const Json* truth, row.Member("ground_truth"));
    answers.emplace(std::move(id), *truth);
  }
  return answers;
}

// JSON Schema's name of a type.
std::string TypeName(const std::string& type) {
  static const std::map<std::string, std::string> kNames = {
      {"dict", "object"},  {"object", "object"},  {"float", "number"}, {"number", "number"},
      {"tuple", "array"},  {"array", "array"},    {"list", "array"},   {"integer", "integer"},
      {"bool", "boolean"}, {"boolean", "boolean"}};
  const auto found = kNames.find(type);
  return found == kNames.end() ? "string" : found->second;
}

// The schema with its types renamed, all the way down.
Json ShownSchema(const Json& schema) {
  if (!schema.is_object()) return schema;
  Json shown = Json::Of({});
  for (const auto& [key, value] : schema.AsObject()) {
    if (key == "type" && value.is_string()) {
      shown.Set("type", TypeName(value.AsString()));
    } else if (key == "properties" && value.is_object()) {
      Json properties = Json::Of({});
      for (const auto& [name, inner] : value.AsObject()) properties.Set(name, ShownSchema(inner));
      shown.Set(key, std::move(properties));
    } else if (key == "items") {
      shown.Set(key, ShownSchema(value));
    } else if (key != "required" || value.is_array()) {  // some documents say it of a parameter
      shown.Set(key, value);
    }
  }
  return shown;
}

// A parameter of Java or JavaScript.
Json SourceText(const Json& schema, std::string_view language) {
  const auto text = [](const Json* found) {
    return found != nullptr && found->is_string() ? found->AsString() : std::string();
  };
  std::string type = text(schema.Find("type"));
  const Json* items = schema.Find("items");
  if (items != nullptr) type += " of " + text(items->Find("type"));
  return Json::Of({{"type", "string"},
                   {"description", fmt::format("{} Written as {} source text; its type is {}.",
                                               text(schema.Find("description")), language, type)}});
}

Result<Json> BfclMessages(const SuiteRow& row) {
  HONE_ASSIGN_OR_RETURN(const Json* question, row.Member("question"));
  if (!question->is_array() || question->AsArray().size() != 1 ||
      !question->AsArray()[0].is_array() || question->AsArray()[0].AsArray().empty()) {
    return row.Problem("\"question\" must be a list of one list of messages");
  }
  return question->AsArray()[0];
}

Json WithTextRules(const Json& messages, const Json& functions) {
  std::string rules = std::string(kTextRules) + DumpJson(functions, JsonStyle::kPretty);
  Json::Array told;
  const Json* role = messages.AsArray()[0].Find("role");
  size_t first = 0;
  if (role != nullptr && *role == Json("system")) {
    const Json* content = messages.AsArray()[0].Find("content");
    if (content != nullptr && content->is_string()) rules += "\n\n" + content->AsString();
    first = 1;
  }
  told.push_back(Json::Of({{"role", "system"}, {"content", std::move(rules)}}));
  for (size_t i = first; i < messages.AsArray().size(); ++i) told.push_back(messages.AsArray()[i]);
  return told;
}

Result<SuiteCase> CaseOf(const SuiteRow& row, const std::string& category,
                         const std::map<std::string, Json>& answers, const BfclOptions& options) {
  SuiteCase one;
  HONE_ASSIGN_OR_RETURN(one.id, row.Text("id"));
  one.category = one.rule = category;
  HONE_ASSIGN_OR_RETURN(one.messages, BfclMessages(row));
  HONE_ASSIGN_OR_RETURN(const Json* functions, row.Member("function"));
  // A case of irrelevance may have none at all.
  if (!functions->is_array() || (functions->AsArray().empty() && !IsRelevance(category))) {
    return row.Problem("\"function\" must be a list of functions");
  }
  one.functions = *functions;
  one.dots_as_underscores = options.dots_as_underscores && !options.calls_as_text;
  one.calls_as_text = options.calls_as_text;
  if (one.calls_as_text) {
    one.messages = WithTextRules(one.messages, *functions);
  } else {
    for (const Json& function : functions->AsArray()) {
      one.tools.AsArray().push_back(ShownBfclFunction(function, category, one.dots_as_underscores));
    }
  }
  if (IsRelevance(category)) {
    one.scorer = category.find("irrelevance") == std::string::npos ? SuiteScorer::kRelevance
                                                                   : SuiteScorer::kIrrelevance;
    return one;
  }
  const auto found = answers.find(one.id);
  if (found == answers.end()) {
    return row.Problem(fmt::format("\"{}\" has no accepted answer in possible_answer/", one.id));
  }
  one.scorer = SuiteScorer::kBfclCalls;
  one.gold = found->second;
  // Anything is wrong with the gold when even no output at all cannot be judged.
  if (const auto tried = JudgeCase(one, {}); !tried.ok()) {
    return row.Problem(tried.error().message());
  }
  return one;
}

}  // namespace

Json ShownBfclFunction(const Json& function, const std::string& category,
                       bool dots_as_underscores) {
  std::string name;
  if (const Json* given = function.Find("name"); given != nullptr && given->is_string()) {
    name = given->AsString();
  }
  if (dots_as_underscores) std::replace(name.begin(), name.end(), '.', '_');
  const bool javascript = category.find("javascript") != std::string::npos;
  const bool source = category.find("java") != std::string::npos;
  const Json* documented = function.Find("parameters");
  Json parameters = documented != nullptr ? ShownSchema(*documented) : Json::Of({});
  parameters.Set("type", "object");
  const Json* properties = documented != nullptr ? documented->Find("properties") : nullptr;
  if (source && properties != nullptr && properties->is_object()) {
    Json texts = Json::Of({});
    for (const auto& [parameter, schema] : properties->AsObject()) {
      texts.Set(parameter, SourceText(schema, javascript ? "JavaScript" : "Java"));
    }
    parameters.Set("properties", std::move(texts));
  }
  const Json* description = function.Find("description");
  return Json::Of(
      {{"type", "function"},
       {"function", Json::Of({{"name", std::move(name)},
                              {"description", description != nullptr ? *description : Json("")},
                              {"parameters", std::move(parameters)}})}});
}

Result<Suite> LoadBfcl(const std::filesystem::path& path, const BfclOptions& options) {
  HONE_ASSIGN_OR_RETURN(const auto files, QuestionFiles(path));
  std::vector<std::string> there;
  for (const auto& [category, file] : files) {
    if (!HasSeveralTurns(category)) there.push_back(category);
  }
  for (const std::string& wanted : options.categories) {
    if (HasSeveralTurns(wanted)) {
      return Error(ErrorCode::kUnsupported,
                   fmt::format("{} has several turns; of BFCL the categories of one turn are "
                               "measured: {}",
                               wanted, fmt::join(there, ", ")));
    }
    if (std::find(there.begin(), there.end(), wanted) != there.end()) continue;
    return Error(ErrorCode::kNotFound,
                 fmt::format("{} has no category \"{}\"{}; there are: {}", path.string(), wanted,
                             DidYouMean(wanted, there), fmt::join(there, ", ")));
  }
  Suite suite{.name = "bfcl"};
  for (const std::string& category : there) {
    const auto& wanted = options.categories;
    if (!wanted.empty() && std::find(wanted.begin(), wanted.end(), category) == wanted.end()) {
      continue;
    }
    // Their values are source text of that language, which is not read as Python.
    if (options.calls_as_text && category.find("java") != std::string::npos) {
      if (wanted.empty()) continue;
      return Error(ErrorCode::kUnsupported,
                   fmt::format("{} cannot be measured with calls as text: they are read as Python",
                               category));
    }
    const std::filesystem::path& file = files.at(category);
    std::map<std::string, Json> answers;
    if (!IsRelevance(category)) {
      HONE_ASSIGN_OR_RETURN(answers, AnswersFor(file));
    }
    HONE_ASSIGN_OR_RETURN(const std::vector<SuiteRow> rows, ReadSuiteRows(file));
    for (const SuiteRow& row : rows) {
      HONE_ASSIGN_OR_RETURN(SuiteCase one, CaseOf(row, category, answers, options));
      suite.cases.push_back(std::move(one));
    }
  }
  return suite;
}

}  // namespace hone
