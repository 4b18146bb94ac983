// The tag sets that come with Hone, and reading others from a file.

#include <set>

#include <fmt/format.h>

#include "base/recipe.h"
#include "text/tagged.h"

namespace hone {
namespace {

ActionTag TextAction(std::string tag, std::string tool, std::string argument, std::string result) {
  ActionTag action;
  action.tag = std::move(tag);
  action.tool = std::move(tool);
  action.argument = std::move(argument);
  action.result_open = fmt::format("\n\n<{}>", result);
  action.result_close = fmt::format("</{}>\n\n", result);
  return action;
}

TagSet Desk() {
  ActionTag call;
  call.tag = "tool_call";
  call.body = ActionBody::kJson;
  call.result_open = "<tool_response>";
  call.result_close = "</tool_response>";
  return {.name = "desk", .chat = false, .think = "", .actions = {call}};
}

TagSet Tapo() {
  return {.name = "tapo",
          .actions = {TextAction("search", "search", "query", "response"),
                      TextAction("code", "code", "code", "response")}};
}

// TAPO's tags at their shortest, for small models: every token of an episode counts.
TagSet Study() {
  TagSet tags{.name = "study",
              .chat = false,
              .actions = {TextAction("search", "search", "query", "response"),
                          TextAction("code", "python", "code", "response")}};
  for (ActionTag& action : tags.actions) {
    action.result_open = "<response>";
    action.result_close = "</response>";
  }
  return tags;
}

TagSet SearchR1() {
  return {.name = "search-r1",
          .free_text = true,
          .actions = {TextAction("search", "search", "query", "information")}};
}

TagSet Retool() {
  ActionTag code = TextAction("code", "code_interpreter", "code", "interpreter");
  code.body_open = "\n```python\n";
  code.body_close = "\n```\n";
  code.result_open += "\n";
  code.result_close = "\n" + code.result_close;
  return {.name = "retool", .free_text = true, .boxed = true, .actions = {code}};
}

TagSet DeepAgent() {
  ActionTag search = TextAction("tool_search", "tool_search", "query", "tool_search_result");
  ActionTag call = TextAction("tool_call", "", "", "tool_call_result");
  call.body = ActionBody::kJson;
  ActionTag fold = TextAction("fold_thought", "fold_thought", "", "fold_thought_result");
  fold.body = ActionBody::kMarker;
  return {.name = "deepagent",
          .think = "",
          .free_text = true,
          .answer = "",
          .boxed = true,
          .actions = {search, call, fold}};
}

bool IsTagName(const std::string& name) {
  return !name.empty() && name.find_first_of("<>/ \t\r\n") == std::string::npos;
}

ActionTag ReadAction(RecipeTable table) {
  ActionTag action;
  std::string body = "text", result = "result";
  table.Read("tag", &action.tag, "name of the tag");
  table.ReadChoice("body", &body, {"text", "json", "marker"}, "what stands in the tag");
  table.Read("tool", &action.tool, "the tool it calls (text, marker)");
  table.Read("argument", &action.argument, "the argument the text is (text)");
  table.Read("body_open", &action.body_open, "written before the text");
  table.Read("body_close", &action.body_close, "written after the text");
  table.Read("result", &result, "tag around the result");
  action.result_open = fmt::format("\n\n<{}>", result);
  action.result_close = fmt::format("</{}>\n\n", result);
  table.Read("result_open", &action.result_open, "before the result, instead of its tag");
  table.Read("result_close", &action.result_close, "after the result, instead of its tag");
  action.body = body == "json"     ? ActionBody::kJson
                : body == "marker" ? ActionBody::kMarker
                                   : ActionBody::kText;
  if (!IsTagName(action.tag)) table.Problem("tag", "wants the name of a tag, without brackets");
  if (action.body != ActionBody::kJson && action.tool.empty()) {
    table.Problem("tool", "is missing: which tool does the tag call?");
  }
  if (action.body == ActionBody::kText && action.argument.empty()) {
    table.Problem("argument", "is missing: which argument is the text?");
  }
  return action;
}

}  // namespace

std::vector<TagSet> BuiltInTagSets() {
  return {Desk(), Tapo(), Study(), SearchR1(), Retool(), DeepAgent()};
}

Result<TagSet> LoadTagSet(const std::filesystem::path& file) {
  HONE_ASSIGN_OR_RETURN(Recipe recipe, Recipe::Load(file));
  TagSet tags;
  tags.name = file.stem().string();
  RecipeTable root = recipe.Root();
  root.Read("chat", &tags.chat, "messages in ChatML, results inside the policy's turn");
  root.Read("think", &tags.think, "tag around thought; empty for none");
  root.Read("free_text", &tags.free_text, "text outside tags is allowed");
  root.Read("answer", &tags.answer, "tag around the answer; empty for none");
  root.Read("boxed", &tags.boxed, "the last \\boxed{} answers");
  for (const RecipeTable& table : root.Tables("action")) {
    tags.actions.push_back(ReadAction(table));
  }
  for (const auto& [key, tag] :
       {std::pair("think", &tags.think), std::pair("answer", &tags.answer)}) {
    if (!tag->empty() && !IsTagName(*tag)) root.Problem(key, "wants the name of a tag");
  }
  if (tags.answer.empty() && !(tags.boxed && tags.free_text)) {
    root.Problem("answer", "nothing can answer: set it, or boxed together with free_text");
  }
  std::set<std::string> seen;
  auto must_differ = [&](const char* key, const std::string& tag) {
    if (!tag.empty() && !seen.insert(tag).second) {
      root.Problem(key, fmt::format("<{}> has a meaning already", tag));
    }
  };
  must_differ("think", tags.think);
  must_differ("answer", tags.answer);
  for (const ActionTag& action : tags.actions) must_differ("action", action.tag);
  HONE_RETURN_IF_ERROR(recipe.Finish());
  return tags;
}

}  // namespace hone
