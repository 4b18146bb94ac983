#include "app/views/tools_view.h"

#include <algorithm>

#include <fmt/format.h>

#include "base/strings.h"

namespace hone {
namespace {

// An argument as its schema describes it.
struct Argument {
  std::string name;
  std::string type;
  std::string description;
  bool required = false;
  const Json* schema = nullptr;
};

std::string TypeOf(const Json& schema) {
  if (const Json* choices = schema.Find("enum"); choices != nullptr && choices->is_array()) {
    std::vector<std::string> words;
    for (const Json& choice : choices->AsArray()) words.push_back(DumpJson(choice));
    return fmt::format("{}", fmt::join(words, " | "));
  }
  const Json* type = schema.Find("type");
  if (type == nullptr) return "any";
  if (type->is_string()) return type->AsString();
  std::vector<std::string> words;
  if (type->is_array()) {
    for (const Json& word : type->AsArray()) {
      if (word.is_string()) words.push_back(word.AsString());
    }
  }
  return fmt::format("{}", fmt::join(words, " | "));
}

// The schema of what a list holds, or of the value itself.
const Json& HeldBy(const Json& schema) {
  const Json* items = schema.Find("items");
  return items != nullptr && items->is_object() ? *items : schema;
}

// The fields of an object's schema.
std::vector<Argument> FieldsOf(const Json& object) {
  std::vector<Argument> arguments;
  const Json* properties = object.Find("properties");
  if (properties == nullptr || !properties->is_object()) return arguments;
  const Json* required = object.Find("required");
  for (const auto& [name, schema] : properties->AsObject()) {
    if (!schema.is_object()) continue;
    Argument argument{.name = name, .type = TypeOf(schema), .schema = &schema};
    if (&HeldBy(schema) != &schema) argument.type += " of " + TypeOf(HeldBy(schema));
    if (const Json* text = schema.Find("description"); text != nullptr && text->is_string()) {
      argument.description = text->AsString();
    }
    if (required != nullptr && required->is_array()) {
      const auto& names = required->AsArray();
      argument.required = std::find(names.begin(), names.end(), Json(name)) != names.end();
    }
    arguments.push_back(std::move(argument));
  }
  return arguments;
}

constexpr int kMaxFieldDepth = 4;  // deeper ones are seen with --json

// A line for each field, with the fields of objects in it further to the right.
std::string FieldsView(const Json& object, int depth, const Terminal& terminal) {
  const std::vector<Argument> fields = FieldsOf(object);
  int columns = 0;
  for (const Argument& field : fields) columns = std::max(columns, Columns(field.name));
  std::string out;
  for (const Argument& field : fields) {
    const std::string name = Printable(field.name) + (field.required ? "*" : "");
    out += fmt::format("{}{}  {}{}\n", std::string(2 + 2 * static_cast<size_t>(depth), ' '),
                       Fitted(name, columns + 1), terminal.Cyan(Printable(field.type)),
                       field.description.empty() ? "" : "  " + Printable(field.description));
    if (depth < kMaxFieldDepth) out += FieldsView(HeldBy(*field.schema), depth + 1, terminal);
  }
  return out;
}

std::string FirstLine(std::string_view text) {
  const std::string_view trimmed = Trim(text);
  return std::string(trimmed.substr(0, trimmed.find('\n')));
}

std::string Milliseconds(std::chrono::milliseconds time) {
  return time.count() % 1000 == 0 ? fmt::format("{} s", time.count() / 1000)
                                  : fmt::format("{} ms", time.count());
}

}  // namespace

Json SpecsJson(const Toolbox& toolbox) {
  Json::Array list;
  for (const Toolbox::Tool& tool : toolbox.tools()) list.push_back(tool.spec.ToJson());
  return Json(std::move(list));
}

std::string ToolsTable(const Toolbox& toolbox, const Terminal& terminal) {
  struct Row {
    std::string name, effect, arguments, about;
  };
  std::vector<Row> rows;
  int name_columns = 4, arguments_columns = 9;
  for (const Toolbox::Tool& tool : toolbox.tools()) {
    std::string arguments;
    for (const Argument& argument : FieldsOf(tool.spec.parameters)) {
      arguments += fmt::format("{}{}{}", arguments.empty() ? "" : " ", argument.name,
                               argument.required ? "*" : "");
    }
    rows.push_back({Printable(tool.spec.name), std::string(EffectName(tool.spec.effect)),
                    Printable(arguments), Printable(FirstLine(tool.spec.description))});
    name_columns = std::max(name_columns, Columns(rows.back().name));
    arguments_columns = std::max(arguments_columns, Columns(rows.back().arguments));
  }
  name_columns = std::min(name_columns, 32);
  arguments_columns = std::min(arguments_columns, 30);
  const int about_columns =
      std::max(20, terminal.width - name_columns - arguments_columns - 12 - 6);
  auto line = [&](const Row& row) {
    return fmt::format("{}  {}  {}  ", Fitted(row.name, name_columns), Fitted(row.effect, 12),
                       Fitted(row.arguments, arguments_columns));
  };
  std::string out =
      terminal.Bold(line({"tool", "effect", "arguments", ""}) + "what it does") + "\n";
  for (const Row& row : rows) {
    const std::string about = Fitted(row.about, about_columns);
    out += fmt::format("{}{}\n", line(row), TrimRight(about, " "));
  }
  return out;
}

std::string ToolView(const Toolbox& toolbox, const Toolbox::Tool& tool, const Terminal& terminal) {
  const ToolSpec& spec = tool.spec;
  const ToolLimits& limits = toolbox.kits()[tool.kit].limits;
  std::string out = fmt::format("{}\n{}\n", terminal.Bold(Printable(spec.name)),
                                Printable(Trim(spec.description)));
  if (!FieldsOf(spec.parameters).empty()) {
    out += terminal.Bold("\narguments") + "\n" + FieldsView(spec.parameters, 0, terminal);
  }
  if (spec.output) out += fmt::format("\nreturns {}\n", Printable(DumpJson(*spec.output)));
  out += terminal.Bold("\neffects and costs") + "\n";
  out += fmt::format("  {}{}{}", EffectName(spec.effect),
                     spec.resource.empty() ? "" : ", of " + Printable(spec.resource),
                     spec.computable ? ", computable" : "");
  if (spec.price > 0) out += fmt::format(", price {}", spec.price);
  if (spec.typical_latency_ms > 0) out += fmt::format(", about {} ms", spec.typical_latency_ms);
  out += fmt::format(
      "\n  deadline {}, {} retries at its own faults, {} at a time, results up to {} bytes\n",
      Milliseconds(limits.deadline), tool.may_repeat ? limits.retries : 0, limits.concurrent,
      limits.max_result_bytes);
  return out;
}

std::string OutcomeView(const CallOutcome& outcome, const Terminal& terminal) {
  const ToolResult& result = outcome.result;
  std::string out = terminal.colour ? Printable(result.content) : result.content;
  if (out.empty() || out.back() != '\n') out += "\n";
  std::string remark;
  if (result.status != CallStatus::kOk) {
    remark = terminal.Red(
        fmt::format("{}, blame {}", CallStatusName(result.status), BlameName(result.blame)));
  }
  auto add = [&](std::string text) { remark += (remark.empty() ? "" : ", ") + std::move(text); };
  if (!result.injected.empty()) add(terminal.Yellow("injected " + result.injected));
  if (result.attempts > 1) add(fmt::format("{} attempts", result.attempts));
  if (remark.empty()) return out;
  return out +
         fmt::format("({}, {:.1f} ms)\n", remark, static_cast<double>(result.latency_us) / 1000);
}

Json OutcomeJson(const std::string& tool, const CallOutcome& outcome) {
  const ToolResult& result = outcome.result;
  return Json::Of({{"tool", tool},
                   {"status", CallStatusName(result.status)},
                   {"blame", BlameName(result.blame)},
                   {"content", result.content},
                   {"source", CallSourceName(outcome.source)},
                   {"latency_us", result.latency_us},
                   {"attempts", result.attempts},
                   {"cut_bytes", result.cut_bytes},
                   {"injected", result.injected}});
}

}  // namespace hone
