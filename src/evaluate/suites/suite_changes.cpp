#include "evaluate/suites/suite_changes.h"

#include <algorithm>
#include <array>
#include <functional>
#include <vector>

#include <fmt/format.h>

#include "base/rng.h"
#include "evaluate/suites/suite_bfcl.h"
#include "evaluate/suites/suite_rows.h"
#include "rewards/matching/plain_text.h"

namespace hone {
namespace {

using Names = std::map<std::string, std::string>;  // old to new

Rng RngOf(uint64_t seed, std::string_view change, const std::string& id) {
  return Rng(seed).Split(change).Split(id);
}

template <typename T>
void Shuffle(std::vector<T>* items, Rng* rng) {
  for (size_t i = items->size(); i > 1; --i) std::swap((*items)[i - 1], (*items)[rng->Below(i)]);
}

std::string TextIn(const Json& object, std::string_view key) {
  const Json* found = object.Find(key);
  return found != nullptr && found->is_string() ? found->AsString() : "";
}

std::string NewName(const Names& names, const std::string& old) {
  const auto found = names.find(old);
  return found == names.end() ? old : found->second;
}

std::string Underscored(std::string name) {
  std::replace(name.begin(), name.end(), '.', '_');
  return name;
}

// The schemas of tools, nested or flat, with `change` done to each {"name", "parameters", ...}.
void ForEachTool(Json* tools, const std::function<void(Json*)>& change) {
  for (Json& tool : tools->AsArray()) {
    const Json* function = tool.Find("function");
    if (function == nullptr) {
      change(&tool);
      continue;
    }
    Json inner = *function;
    change(&inner);
    tool.Set("function", std::move(inner));
  }
}

// The system message that describes functions in words, made again of what they are now.
void DescribeAgain(const Json& before, SuiteCase* one) {
  if (!one->calls_as_text) return;
  Json& first = one->messages.AsArray()[0];
  first.Set("content", Replaced(TextIn(first, "content"), DumpJson(before, JsonStyle::kPretty),
                                DumpJson(one->functions, JsonStyle::kPretty)));
}

// --- names ---------------------------------------------------------------------------------------

void RenameGold(const Names& names, SuiteCase* one) {
  if (one->scorer == SuiteScorer::kBfclCalls) {
    for (Json& call : one->gold.AsArray()) {
      for (auto& [name, arguments] : call.AsObject()) name = NewName(names, name);
    }
  } else if (one->scorer == SuiteScorer::kCalls) {
    for (Json& call : one->gold.AsArray()) call.Set("name", NewName(names, TextIn(call, "name")));
  } else if (one->scorer == SuiteScorer::kToolNames) {
    for (Json& name : one->gold.AsArray()) name = Json(NewName(names, name.AsString()));
  }
}

// Of a choice by name, the names stand in the text of the question.
void RenameCandidates(const Names& names, SuiteCase* one) {
  Json& question = one->messages.AsArray().back();
  std::string text = TextIn(question, "content");
  for (Json& candidate : one->candidates.AsArray()) {
    const std::string old = candidate.AsString(), fresh = NewName(names, old);
    text = Replaced(text, fmt::format("\n- {}: ", old), fmt::format("\n- {}: ", fresh));
    candidate = Json(fresh);
  }
  question.Set("content", std::move(text));
}

std::vector<std::string> ToolNamesOf(const SuiteCase& one) {
  std::vector<std::string> names;
  if (one.scorer == SuiteScorer::kToolNames) {
    for (const Json& name : one.candidates.AsArray()) names.push_back(name.AsString());
  } else if (!one.functions.AsArray().empty()) {
    for (const Json& function : one.functions.AsArray()) names.push_back(TextIn(function, "name"));
  } else {
    Json tools = one.tools;
    ForEachTool(&tools, [&](Json* tool) { names.push_back(TextIn(*tool, "name")); });
  }
  return names;
}

// --- parameters ----------------------------------------------------------------------------------

// Another style for the same words.
std::string Restyled(const std::string& name) {
  if (name.find('_') == std::string::npos) return name + "_value";
  std::string camel;
  bool upper = false;
  for (const char c : name) {
    if (c == '_' && !camel.empty()) {
      upper = true;
      continue;
    }
    camel += upper && c >= 'a' && c <= 'z' ? static_cast<char>(c - 'a' + 'A') : c;
    upper = false;
  }
  return camel == name ? name + "_value" : camel;
}

// New names that differ from each other and from the old ones.
Names RestyledAll(const Json& properties) {
  Names names;
  const auto taken = [&](const std::string& fresh) {
    return properties.Find(fresh) != nullptr ||
           std::any_of(names.begin(), names.end(),
                       [&](const auto& pair) { return pair.second == fresh; });
  };
  for (const auto& [old, schema] : properties.AsObject()) {
    std::string fresh = Restyled(old);
    while (taken(fresh)) fresh += "_value";
    names[old] = fresh;
  }
  return names;
}

Json WithoutDescription(const Json& schema) {
  if (!schema.is_object()) return schema;
  Json out = Json::Of({});
  for (const auto& [key, value] : schema.AsObject()) {
    if (key != "description") out.Set(key, value);
  }
  return out;
}

// Changes one function's parameters in the order that `order` draws; returns their new names.
Names ChangeParameters(Rng order, Json* function) {
  const Json* found = function->Find("parameters");
  const Json* properties = found != nullptr ? found->Find("properties") : nullptr;
  if (properties == nullptr || !properties->is_object()) return {};
  const Names names = RestyledAll(*properties);
  Json::Object changed;
  for (const auto& [old, schema] : properties->AsObject()) {
    changed.emplace_back(names.at(old), WithoutDescription(schema));
  }
  Shuffle(&changed, &order);
  Json parameters = *found;
  parameters.Set("properties", Json(std::move(changed)));
  if (const Json* required = found->Find("required"); required != nullptr && required->is_array()) {
    Json::Array fresh;
    for (const Json& name : required->AsArray()) {
      fresh.push_back(name.is_string() ? Json(NewName(names, name.AsString())) : name);
    }
    parameters.Set("required", Json(std::move(fresh)));
  }
  function->Set("parameters", std::move(parameters));
  return names;
}

Json WithNewKeys(const Json& object, const Names& names) {
  Json out = Json::Of({});
  for (const auto& [key, value] : object.AsObject()) out.Set(NewName(names, key), value);
  return out;
}

void ChangeSchemas(uint64_t seed, SuiteCase* one) {
  std::map<std::string, Names> by_tool;
  if (!one->functions.AsArray().empty()) {  // of BFCL: what is shown is made of it
    const Json before = one->functions;
    one->tools.AsArray().clear();
    for (Json& function : one->functions.AsArray()) {
      const std::string name = TextIn(function, "name");
      by_tool[name] = ChangeParameters(RngOf(seed, "schemas", one->id).Split(name), &function);
      if (one->calls_as_text) continue;
      one->tools.AsArray().push_back(
          ShownBfclFunction(function, one->rule, one->dots_as_underscores));
    }
    DescribeAgain(before, one);
  } else {
    ForEachTool(&one->tools, [&](Json* tool) {
      const std::string name = TextIn(*tool, "name");
      by_tool[name] = ChangeParameters(RngOf(seed, "schemas", one->id).Split(name), tool);
    });
  }
  if (one->scorer == SuiteScorer::kBfclCalls) {
    for (Json& call : one->gold.AsArray()) {
      for (auto& [name, arguments] : call.AsObject()) {
        arguments = WithNewKeys(arguments, by_tool[name]);
      }
    }
  } else if (one->scorer == SuiteScorer::kCalls) {
    for (Json& call : one->gold.AsArray()) {
      const Names& names = by_tool[TextIn(call, "name")];
      if (const Json* arguments = call.Find("arguments")) {
        call.Set("arguments", WithNewKeys(*arguments, names));
      }
      if (const Json* optional = call.Find("optional")) {
        Json::Array fresh;
        for (const Json& name : optional->AsArray()) {
          fresh.emplace_back(NewName(names, name.AsString()));
        }
        call.Set("optional", Json(std::move(fresh)));
      }
    }
  }
}

// --- words ---------------------------------------------------------------------------------------

struct Wording {
  std::string_view usual, other;
};
// The first that the message begins with.
constexpr std::array<Wording, 15> kOpenings = {{{"What's ", "Tell me: what is "},
                                                {"Can you ", "Could you please "},
                                                {"Could you ", "Would you kindly "},
                                                {"Please ", "I would like you to "},
                                                {"Find ", "Look for "},
                                                {"Calculate ", "Work out "},
                                                {"Compute ", "Work out "},
                                                {"Get ", "Fetch "},
                                                {"Show me ", "I want to see "},
                                                {"Give me ", "I want to have "},
                                                {"I want to ", "I would like to "},
                                                {"I need ", "What I need is "},
                                                {"I'd like to ", "My wish is to "},
                                                {"How do I ", "In which way do I "},
                                                {"Book ", "Make a booking of "}}};
constexpr std::array<std::string_view, 6> kFrames = {
    "{}\nThank you in advance.", "Hello. {}",          "Here is what I have for you: {}",
    "{} That is all for now.",   "Quick question. {}", "Listen, I could use some help. {}"};

std::string InOtherWords(const std::string& text, Rng rng) {
  std::string changed = text;
  for (const Wording& wording : kOpenings) {
    if (!text.starts_with(wording.usual)) continue;
    changed = std::string(wording.other) + text.substr(wording.usual.size());
    break;
  }
  return Replaced(kFrames[rng.Below(kFrames.size())], "{}", changed);
}

}  // namespace

Suite WithRenamedTools(const Suite& suite, uint64_t seed,
                       std::map<std::string, std::string>* names) {
  names->clear();
  for (size_t i = 0; i < suite.tools.size(); ++i) {
    (*names)[suite.tools[i]] = fmt::format("tool_{}", 100 + i);
  }
  Suite changed = suite;
  for (SuiteCase& one : changed.cases) {
    const std::vector<std::string> old = ToolNamesOf(one);
    std::vector<size_t> numbers(old.size());
    for (size_t i = 0; i < numbers.size(); ++i) numbers[i] = i + 1;
    Rng rng = RngOf(seed, "names", one.id);
    Shuffle(&numbers, &rng);
    Names fresh;
    for (size_t i = 0; i < old.size(); ++i) fresh[old[i]] = fmt::format("tool_{}", numbers[i]);
    const Json before = one.functions;
    ForEachTool(&one.functions, [&](Json* function) {
      function->Set("name", NewName(fresh, TextIn(*function, "name")));
    });
    ForEachTool(&one.tools, [&](Json* tool) {
      const std::string shown = TextIn(*tool, "name");
      for (const auto& [from, to] : fresh) {
        if (shown == from || (one.dots_as_underscores && shown == Underscored(from))) {
          tool->Set("name", to);
        }
      }
    });
    RenameGold(fresh, &one);
    if (one.scorer == SuiteScorer::kToolNames) RenameCandidates(fresh, &one);
    DescribeAgain(before, &one);
  }
  return changed;
}

Suite WithChangedSchemas(const Suite& suite, uint64_t seed) {
  Suite changed = suite;
  for (SuiteCase& one : changed.cases) ChangeSchemas(seed, &one);
  return changed;
}

Suite Paraphrased(const Suite& suite, uint64_t seed,
                  const std::map<std::string, std::string>& rewritten) {
  Suite changed = suite;
  for (SuiteCase& one : changed.cases) {
    Json::Array& messages = one.messages.AsArray();
    const auto last = std::find_if(messages.rbegin(), messages.rend(), [](const Json& message) {
      return TextIn(message, "role") == "user";
    });
    if (last == messages.rend()) continue;
    const auto found = rewritten.find(one.id);
    last->Set("content", found != rewritten.end() ? found->second
                                                  : InOtherWords(TextIn(*last, "content"),
                                                                 RngOf(seed, "words", one.id)));
  }
  return changed;
}

Result<std::map<std::string, std::string>> ReadParaphrases(const std::filesystem::path& file) {
  HONE_ASSIGN_OR_RETURN(const std::vector<SuiteRow> rows, ReadSuiteRows(file));
  std::map<std::string, std::string> texts;
  for (const SuiteRow& row : rows) {
    HONE_ASSIGN_OR_RETURN(std::string id, row.Text("id"));
    HONE_ASSIGN_OR_RETURN(std::string prompt, row.Text("prompt"));
    if (!texts.emplace(id, std::move(prompt)).second) {
      return row.Problem(fmt::format("the id \"{}\" comes twice", id));
    }
  }
  return texts;
}

}  // namespace hone
