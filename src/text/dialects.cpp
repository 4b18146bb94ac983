// The built-in dialects by name.

#include <fmt/format.h>

#include "base/nearest.h"
#include "text/action_json.h"
#include "text/dialect.h"
#include "text/frame.h"
#include "text/hermes.h"
#include "text/tagged.h"
#include "text/template_dialect.h"

namespace hone {

std::vector<std::pair<std::string, std::string>> BuiltInDialects() {
  return {
      {"hermes", "ChatML with <tool_call> JSON, as Qwen2.5's template (same as hermes:qwen2.5)"},
      {"hermes:qwen3", "as Qwen3's template, which forgets earlier reasoning"},
      {"hermes:qwen3-training", "as Qwen3's template with all reasoning kept; only ever appends"},
      {"action-json", "one <action>{when, which, how}</action> per turn, in ChatML"},
      {"action-json:plain", "the same between plain <user> tags"},
      {"tagged:desk", "<tool_call> JSON and <answer> between plain tags (same as tagged)"},
      {"tagged:tapo", "<think>, <search>, <code>, results in <response>, <answer>"},
      {"tagged:study", "the same between plain tags, where <code> calls python"},
      {"tagged:search-r1", "<think>, <search>, results in <information>, <answer>"},
      {"tagged:retool", "<think>, <code>, results in <interpreter>, <answer> with \\boxed{}"},
      {"tagged:deepagent", "<tool_search>, <tool_call>, <fold_thought>, \\boxed{}"},
      {"llama3", "Llama 3.1's format: one JSON call {name, parameters} as a turn"},
      {"template:FOLDER", "a model's own chat template, or a .jinja file (docs/dialects.md)"},
      {"tagged:FILE.toml", "tags of your own (docs/dialects.md)"},
  };
}

Result<std::unique_ptr<Dialect>> NewDialect(std::string_view name) {
  if (name == "hermes" || name == "hermes:qwen2.5") return NewHermes(HermesVariant::kQwen25);
  if (name == "hermes:qwen3") return NewHermes(HermesVariant::kQwen3);
  if (name == "hermes:qwen3-training") return NewHermes(HermesVariant::kQwen3Training);
  if (name == "action-json") return NewActionJson(ChatMlFrame(), std::string(name));
  if (name == "action-json:plain") return NewActionJson(PlainFrame(), std::string(name));
  if (name == "llama3") return NewLlama3();
  if (name == "template" || name.starts_with("template:") || name.starts_with("template?")) {
    return NewTemplateDialect(name);
  }
  const std::string_view tags = name == "tagged" ? "tagged:desk" : name;
  if (tags.starts_with("tagged:")) {
    const std::string set(tags.substr(std::string_view("tagged:").size()));
    if (set.ends_with(".toml")) {
      HONE_ASSIGN_OR_RETURN(TagSet loaded, LoadTagSet(set));
      return NewTagged(std::move(loaded));
    }
    for (TagSet& built_in : BuiltInTagSets()) {
      if (built_in.name == set) return NewTagged(std::move(built_in));
    }
  }
  std::vector<std::string> known;
  for (const auto& [built_in, about] : BuiltInDialects()) known.push_back(built_in);
  return Error(ErrorCode::kNotFound, fmt::format("unknown dialect \"{}\"{}; there are: {}", name,
                                                 DidYouMean(name, known), fmt::join(known, ", ")));
}

}  // namespace hone
