#include "rewards/reward_options.h"

#include <algorithm>
#include <cmath>
#include <tuple>
#include <type_traits>

#include <fmt/format.h>

#include "base/json_fields.h"

namespace hone {
namespace {

constexpr double kMostSteps =
    static_cast<double>(int64_t{1} << 40);  // begin + steps stays a number

// JSON with the interface of a RecipeTable, as far as descriptions use it.
class JsonTable {
 public:
  JsonTable(const Json& json, std::string path, JsonErrors* errors)
      : fields_(json, std::move(path), errors), errors_(errors) {}

  template <typename T>
  void Read(std::string_view key, T* value, std::string_view /*comment*/, Range range = {}) {
    fields_.Optional(key, value);
    if constexpr (std::is_arithmetic_v<T>) {
      const auto number = static_cast<double>(*value);
      if (number >= range.min && number <= range.max) return;
      errors_->Add(fields_.PathOf(key), std::isfinite(range.max)
                                            ? fmt::format("must be from {} to {}", range.min,
                                                          static_cast<int64_t>(range.max))
                                            : fmt::format("must be at least {}", range.min));
    }
  }

  void ReadChoice(std::string_view key, std::string* value, const std::vector<std::string>& choices,
                  std::string_view /*comment*/) {
    fields_.Optional(key, value);
    if (std::find(choices.begin(), choices.end(), *value) != choices.end()) return;
    errors_->Add(fields_.PathOf(key), fmt::format("must be one of {}", fmt::join(choices, ", ")));
  }

  void ReadCommand(std::string_view key, std::vector<std::string>* value,
                   std::string_view comment) {
    Read(key, value, comment);
  }

  void Problem(std::string_view key, std::string_view text) {
    errors_->Add(fields_.PathOf(key), text);
  }

  JsonFields& fields() { return fields_; }

 private:
  JsonFields fields_;
  JsonErrors* errors_;
};

// Writes what a description would read.
class JsonWriter {
 public:
  template <typename T>
  void Read(std::string_view key, const T* value, std::string_view /*comment*/, Range = {}) {
    if constexpr (std::is_same_v<T, std::vector<std::string>> ||
                  std::is_same_v<T, std::vector<double>>) {
      json.Set(std::string(key), Json::ArrayOf(*value));
    } else {
      json.Set(std::string(key), *value);
    }
  }
  void ReadChoice(std::string_view key, const std::string* value, const std::vector<std::string>&,
                  std::string_view /*comment*/) {
    json.Set(std::string(key), *value);
  }
  void ReadCommand(std::string_view key, const std::vector<std::string>* value,
                   std::string_view comment) {
    Read(key, value, comment);
  }
  void Problem(std::string_view, std::string_view) {}

  Json json = Json::Of({});
};

// The descriptions: what the keys are called, what they mean and which values they take.

template <typename Table>
void Describe(Table* table, CommandRewarderOptions* command) {
  table->ReadCommand("command", &command->command, "a program that scores");
  table->Read("term", &command->term, "the name of what it gives, where it gives no names");
  int64_t deadline_ms = command->deadline.count();
  table->Read("deadline_ms", &deadline_ms, "per tree, its start included", Between(1, 86'400'000));
  command->deadline = std::chrono::milliseconds(deadline_ms);
  table->Read("processes", &command->processes, "that score at the same time", Between(1, 1024));
}

template <typename Table>
void Describe(Table* table, CostOptions* costs) {
  table->Read("per_call", &costs->per_call, "taken away", AtLeast(0));
  table->Read("per_token", &costs->per_token, "of the policy", AtLeast(0));
  table->Read("per_second", &costs->per_second, "of latency", AtLeast(0));
  table->Read("money", &costs->money, "per unit of the tools' prices", AtLeast(0));
  table->Read("over_budget", &costs->over_budget, "once, where a task's budget is exceeded",
              AtLeast(0));
}

template <typename Table>
void Describe(Table* table, ThoughtPay* thoughts) {
  table->Read("most", &thoughts->most, "tokens of thought that cost all of `overlong`; 0: none do",
              AtLeast(0));
  table->Read("buffer", &thoughts->buffer, "tokens before `most`, over which the cost grows",
              AtLeast(0));
  table->Read("overlong", &thoughts->overlong, "taken away at `most` and beyond", AtLeast(0));
  table->Read("shorter", &thoughts->shorter, "paid to the shortest of the right ones of a group",
              AtLeast(0));
  if (thoughts->most > 0 && (thoughts->buffer < 1 || thoughts->buffer > thoughts->most)) {
    table->Problem("buffer", "must be from 1 to most");
  }
  if (thoughts->most == 0 && thoughts->shorter == 0) {
    table->Problem("most", "or shorter says what the length of thoughts pays; set one of them");
  }
}

template <typename Table>
void Describe(Table* table, TermGate* gate) {
  table->Read("term", &gate->term, "of any part, that must be earned for this part to count");
  table->Read("at_least", &gate->at_least, "that much of it");
  if (gate->term.empty()) table->Problem("term", "name the term that must be earned");
}

template <typename Table>
void Describe(Table* table, FlipOptions* flip) {
  auto seed = static_cast<int64_t>(flip->seed);
  table->Read("share", &flip->share, "of the values, turned round", Between(0, 1));
  table->Read("terms", &flip->terms, "of these terms");
  table->Read("seed", &seed, "of which ones", AtLeast(0));
  flip->seed = static_cast<uint64_t>(seed);
}

template <typename Table>
void Describe(Table* table, Schedule* schedule) {
  const std::vector<std::string> shapes = {"linear", "cosine", "step"};
  std::string shape = shapes[static_cast<size_t>(schedule->shape)];
  table->Read("from", &schedule->from, "weight at first");
  table->Read("to", &schedule->to, "and at last");
  table->Read("begin", &schedule->begin, "step", Between(0, kMostSteps));
  table->Read("steps", &schedule->steps, "that the change takes", Between(0, kMostSteps));
  table->ReadChoice("shape", &shape, shapes, "of the change");
  const auto found = std::find(shapes.begin(), shapes.end(), shape);
  if (found != shapes.end()) schedule->shape = static_cast<Schedule::Shape>(found - shapes.begin());
}

template <typename Table>
void Describe(Table* table, ComponentPays* components) {
  constexpr std::tuple<const char*, Pay ComponentPays::*, const char*> kPays[] = {
      {"called", &ComponentPays::called, "when a tool is needed: paid for calling, lost otherwise"},
      {"refrained", &ComponentPays::refrained, "when none is: for not calling, per call"},
      {"which", &ComponentPays::which, "the right tool, another one"},
      {"syntax", &ComponentPays::syntax, "a call that can be read and fits, one that does not"},
      {"execution", &ComponentPays::execution, "the tool ran, or did not"},
      {"arguments", &ComponentPays::arguments, "the right arguments, none of them"},
      {"outcome", &ComponentPays::outcome, "the right answer, a wrong one"}};
  for (const auto& [key, member, comment] : kPays) {
    Pay& pay = components->*member;
    std::vector<double> numbers = {pay.paid, pay.lost};
    table->Read(key, &numbers, comment);
    if (numbers.size() == 2 && numbers[0] >= 0 && numbers[1] >= 0) {
      pay = {numbers[0], numbers[1]};
    } else {
      table->Problem(key, "must be [what is paid, what is lost], two numbers from 0 on");
    }
  }
  std::vector<std::string> weights = ToTexts(components->weights);
  table->Read("weights", &weights, "what components are multiplied by: [\"outcome=0.5\"]");
  if (auto read = WeightsFrom(weights); read.ok()) {
    components->weights = *std::move(read);
  } else {
    table->Problem("weights", read.error().message());
  }
}

constexpr const char* kOnlyDefault = "only the preset \"default\" has components";

constexpr const char* kTermsComment = "only these; empty: all";

// The table [key] of a recipe, where there is one.
template <typename Options>
void ReadInner(RecipeTable* table, std::string_view key, std::optional<Options>* options) {
  if (std::optional<RecipeTable> inner = table->OptionalTable(key)) {
    Describe(&*inner, &options->emplace());
  }
}

// The same of JSON, where what decides most has to be said.
template <typename Options>
void ReadInner(const Json& json, const std::string& path, std::initializer_list<const char*> needed,
               JsonErrors* errors, Options* options) {
  JsonTable inner(json, path, errors);
  for (const char* key : needed) {
    if (json.is_object() && json.Find(key) == nullptr) inner.Problem(key, "is missing");
  }
  Describe(&inner, options);
}

template <typename Options>
void WriteInner(std::string_view key, const std::optional<Options>& options, Json* json) {
  if (!options) return;
  JsonWriter writer;
  Options copy = *options;
  Describe(&writer, &copy);
  json->Set(std::string(key), std::move(writer.json));
}

void ReadSchedule(const Json& json, const std::string& path, JsonErrors* errors,
                  Schedule* schedule) {
  if (json.is_number()) {
    schedule->from = schedule->to = json.AsDouble();
    return;
  }
  ReadInner(json, path, {"from", "to", "steps"}, errors, schedule);
}

}  // namespace

void ReadJson(const Json& json, const std::string& path, JsonErrors* errors, RewardOptions* part) {
  if (json.is_string()) {
    part->preset = json.AsString();
    return;
  }
  JsonTable table(json, path, errors);
  JsonFields& fields = table.fields();
  int sources = 0;
  for (const char* key : {"preset", "command", "costs", "thoughts", "sum"}) {
    sources += fields.Take(key) != nullptr ? 1 : 0;
  }
  if (sources != 1) {
    errors->Add(path,
                "needs exactly one of \"preset\", \"command\", \"costs\", \"thoughts\", \"sum\"");
  }
  fields.Optional("preset", &part->preset);
  if (const Json* components = fields.Take("components")) {
    ReadInner(*components, fields.PathOf("components"), {}, errors, &part->components.emplace());
    if (part->preset != "default") errors->Add(fields.PathOf("components"), kOnlyDefault);
  }
  if (fields.Take("command") != nullptr) Describe(&table, &part->command.emplace());
  if (const Json* costs = fields.Take("costs")) {
    ReadInner(*costs, fields.PathOf("costs"), {}, errors, &part->costs.emplace());
  }
  if (const Json* thoughts = fields.Take("thoughts")) {
    ReadInner(*thoughts, fields.PathOf("thoughts"), {}, errors, &part->thoughts.emplace());
  }
  fields.Optional("sum", &part->sum);
  if (part->sum && part->sum->empty()) errors->Add(fields.PathOf("sum"), "wants a list of rewards");
  table.Read("terms", &part->terms, kTermsComment);
  if (const Json* gate = fields.Take("gate")) {
    ReadInner(*gate, fields.PathOf("gate"), {"term", "at_least"}, errors, &part->gate.emplace());
  }
  if (const Json* flip = fields.Take("flip")) {
    ReadInner(*flip, fields.PathOf("flip"), {"share"}, errors, &part->flip.emplace());
  }
  if (const Json* weight = fields.Take("weight")) {
    ReadSchedule(*weight, fields.PathOf("weight"), errors, &part->weight);
  }
}

namespace {

Json WeightToJson(const Schedule& weight) {
  JsonWriter writer;
  Schedule copy = weight;
  Describe(&writer, &copy);
  return std::move(writer.json);
}

}  // namespace

RewardOptions ReadRewardPart(RecipeTable* table) {
  RewardOptions part;
  // Before any table inside: in what is written down, those stand behind the part that they are of.
  table->Read("terms", &part.terms, kTermsComment);
  if (table->Has("command")) {
    Describe(table, &part.command.emplace());
  } else if (table->Has("costs")) {
    ReadInner(table, "costs", &part.costs);
  } else if (table->Has("thoughts")) {
    ReadInner(table, "thoughts", &part.thoughts);
  } else {
    table->Read("preset", &part.preset.emplace("default"), "of rewards");
  }
  ReadInner(table, "components", &part.components);
  if (part.components && part.preset != "default") table->Problem("components", kOnlyDefault);
  ReadInner(table, "gate", &part.gate);
  ReadInner(table, "flip", &part.flip);
  if (table->Has("schedule")) {
    RecipeTable schedule = table->Table("schedule");
    Describe(&schedule, &part.weight);
  } else {
    table->Read("weight", &part.weight.from, "of its terms");
    part.weight.to = part.weight.from;
  }
  return part;
}

Result<RewardOptions> RewardOptionsFromJson(const Json& json, const std::string& path) {
  RewardOptions options;
  JsonErrors errors;
  ReadJson(json, path, &errors, &options);
  HONE_RETURN_IF_ERROR(errors.Check());
  return options;
}

Json ToJson(const RewardOptions& options) {
  JsonWriter writer;
  if (options.command) {
    CommandRewarderOptions command = *options.command;
    Describe(&writer, &command);
  }
  Json& json = writer.json;
  WriteInner("costs", options.costs, &json);
  WriteInner("thoughts", options.thoughts, &json);
  WriteInner("components", options.components, &json);
  if (options.preset) json.Set("preset", *options.preset);
  if (options.sum) {
    Json::Array parts;
    for (const RewardOptions& part : *options.sum) parts.push_back(ToJson(part));
    json.Set("sum", std::move(parts));
  }
  if (!options.terms.empty()) json.Set("terms", Json::ArrayOf(options.terms));
  WriteInner("gate", options.gate, &json);
  WriteInner("flip", options.flip, &json);
  const Schedule& weight = options.weight;
  if (weight.steps == 0 && weight.begin == 0 && weight.from == weight.to) {
    if (weight.from != 1) json.Set("weight", weight.from);
  } else {
    json.Set("weight", WeightToJson(weight));
  }
  return std::move(writer.json);
}

Result<Schedule> ScheduleFromJson(const Json& json, const std::string& path) {
  Schedule schedule;
  JsonErrors errors;
  ReadSchedule(json, path, &errors, &schedule);
  HONE_RETURN_IF_ERROR(errors.Check());
  return schedule;
}

}  // namespace hone
