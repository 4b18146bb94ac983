#include "record/record_json.h"

#include <algorithm>
#include <array>

#include <fmt/format.h>

namespace hone {
namespace {

// --- names of enumerations -----------------------------------------------------------------------

constexpr std::array kAuthors = {Author::kSystem, Author::kUser, Author::kPolicy, Author::kTool};
constexpr std::array kEndings = {
    Ending::kAnswered, Ending::kEos,  Ending::kTurnLimit, Ending::kTokenLimit,  Ending::kBudget,
    Ending::kUserStop, Ending::kVoid, Ending::kInvalid,   Ending::kInterrupted, Ending::kFailed};
constexpr std::array kBlames = {Blame::kNone,        Blame::kAgent,         Blame::kTool,
                                Blame::kSimulator,   Blame::kUserSimulator, Blame::kJudge,
                                Blame::kEnvironment, Blame::kInfrastructure};
constexpr std::array kFaultKinds = {FaultKind::kIncomplete, FaultKind::kBadJson,
                                    FaultKind::kBadCall, FaultKind::kUnexpectedText,
                                    FaultKind::kNoAction};
constexpr std::array kStatuses = {CallStatus::kOk,          CallStatus::kToolError,
                                  CallStatus::kUnknownTool, CallStatus::kInvalidArguments,
                                  CallStatus::kDenied,      CallStatus::kTimeout,
                                  CallStatus::kUnavailable, CallStatus::kInterrupted};

constexpr std::array kSources = {CallSource::kComputed, CallSource::kExecutor, CallSource::kJournal,
                                 CallSource::kSimulator, CallSource::kTool};

template <typename Enum, size_t N>
void ReadName(const Json& json, const std::string& path, JsonErrors* errors,
              const std::array<Enum, N>& values, std::string_view (*name)(Enum), Enum* value) {
  std::string word;
  ReadJson(json, path, errors, &word);
  for (const Enum candidate : values) {
    if (name(candidate) == word) {
      *value = candidate;
      return;
    }
  }
  std::vector<std::string> names;
  for (const Enum candidate : values) names.emplace_back(name(candidate));
  errors->Add(path, fmt::format("\"{}\" is not one of {}", word, fmt::join(names, ", ")));
}

}  // namespace

// Overloads live in namespace hone, so that JsonFields finds them.
static void ReadJson(const Json& json, const std::string& path, JsonErrors* errors, Author* value) {
  ReadName(json, path, errors, kAuthors, &AuthorName, value);
}
static void ReadJson(const Json& json, const std::string& path, JsonErrors* errors, Ending* value) {
  ReadName(json, path, errors, kEndings, &EndingName, value);
}
static void ReadJson(const Json& json, const std::string& path, JsonErrors* errors, Blame* value) {
  ReadName(json, path, errors, kBlames, &BlameName, value);
}
static void ReadJson(const Json& json, const std::string& path, JsonErrors* errors,
                     FaultKind* value) {
  ReadName(json, path, errors, kFaultKinds, &FaultKindName, value);
}
void ReadJson(const Json& json, const std::string& path, JsonErrors* errors, CallStatus* value) {
  ReadName(json, path, errors, kStatuses, &CallStatusName, value);
}
void ReadJson(const Json& json, const std::string& path, JsonErrors* errors, CallSource* value) {
  ReadName(json, path, errors, kSources, &CallSourceName, value);
}

static void ReadJson(const Json& json, const std::string& path, JsonErrors* errors, Span* span) {
  std::vector<int32_t> ends;
  ReadJson(json, path, errors, &ends);
  if (ends.size() != 2) return errors->Add(path, "wants [begin, end]");
  *span = {ends[0], ends[1]};
}

static void ReadJson(const Json& json, const std::string& path, JsonErrors* errors,
                     Sampling* sampling) {
  JsonFields fields(json, path, errors);
  fields.Optional("temperature", &sampling->temperature);
  fields.Optional("top_k", &sampling->top_k);
  fields.Optional("top_p", &sampling->top_p);
  fields.Optional("min_p", &sampling->min_p);
  fields.Optional("forbidden_set", &sampling->forbidden_set);
}

static void ReadJson(const Json& json, const std::string& path, JsonErrors* errors,
                     Support* support) {
  ReadJson(json, path, errors, &support->kept);
}

static void ReadJson(const Json& json, const std::string& path, JsonErrors* errors, Call* call) {
  JsonFields fields(json, path, errors);
  fields.Required("name", &call->name);
  fields.Required("arguments", &call->arguments);
  fields.Required("span", &call->span);
}

static void ReadJson(const Json& json, const std::string& path, JsonErrors* errors, Fault* fault) {
  JsonFields fields(json, path, errors);
  fields.Required("kind", &fault->kind);
  fields.Optional("message", &fault->message);
  fields.Optional("span", &fault->span);
}

void ReadJson(const Json& json, const std::string& path, JsonErrors* errors, ToolResult* result) {
  JsonFields fields(json, path, errors);
  fields.Required("call", &result->call);
  fields.Optional("status", &result->status);
  fields.Optional("blame", &result->blame);
  fields.Optional("content", &result->content);
  fields.Optional("latency_us", &result->latency_us);
  fields.Optional("attempts", &result->attempts);
  fields.Optional("cut_bytes", &result->cut_bytes);
  fields.Optional("injected", &result->injected);
}

static void ReadJson(const Json& json, const std::string& path, JsonErrors* errors, Node* node) {
  JsonFields fields(json, path, errors);
  fields.Optional("parent", &node->parent);
  fields.Required("author", &node->author);
  fields.Optional("tokens", &node->tokens);
  fields.Optional("logprobs", &node->logprobs);
  fields.Optional("entropies", &node->entropies);
  fields.Optional("sampling", &node->sampling);
  fields.Optional("supports", &node->supports);
  fields.Optional("calls", &node->calls);
  fields.Optional("faults", &node->faults);
  fields.Optional("thoughts", &node->thoughts);
  fields.Optional("closed_thoughts", &node->closed_thoughts);
  fields.Optional("policy_version", &node->policy_version);
  fields.Optional("token_versions", &node->token_versions);
  fields.Optional("results", &node->results);
  fields.Optional("folded_from", &node->folded_from);
  fields.Optional("rewritten", &node->rewritten);
}

static void ReadJson(const Json& json, const std::string& path, JsonErrors* errors, Leaf* leaf) {
  JsonFields fields(json, path, errors);
  fields.Required("node", &leaf->node);
  fields.Required("ending", &leaf->ending);
  fields.Optional("blame", &leaf->blame);
  fields.Optional("final_state", &leaf->final_state);
}

static void ReadJson(const Json& json, const std::string& path, JsonErrors* errors,
                     TermFault* fault) {
  JsonFields fields(json, path, errors);
  fields.Required("blame", &fault->blame);
  fields.Optional("message", &fault->message);
}

static void ReadJson(const Json& json, const std::string& path, JsonErrors* errors,
                     RewardTerm* term) {
  JsonFields fields(json, path, errors);
  fields.Required("name", &term->name);
  fields.Required("value", &term->value);
  fields.Optional("weight", &term->weight);
  fields.Optional("node", &term->node);
  fields.Optional("span", &term->span);
  fields.Optional("fault", &term->fault);
}

static void ReadJson(const Json& json, const std::string& path, JsonErrors* errors,
                     Advantages* advantages) {
  JsonFields fields(json, path, errors);
  fields.Required("leaf", &advantages->leaf);
  fields.Optional("values", &advantages->values);
}

void ReadJson(const Json& json, const std::string& path, JsonErrors* errors, Score* score) {
  JsonFields fields(json, path, errors);
  fields.Required("leaf", &score->leaf);
  fields.Required("terms", &score->terms);
}

void ReadJson(const Json& json, const std::string& path, JsonErrors* errors, Task* task) {
  JsonFields fields(json, path, errors);
  fields.Required("id", &task->id);
  std::optional<std::string> prompt;
  fields.Optional("prompt", &prompt);
  fields.Optional("messages", &task->messages);
  if (prompt) {
    if (json.Find("messages") != nullptr) errors->Add(path, "has both \"prompt\" and \"messages\"");
    task->messages = Json::Array{Json::Of({{"role", "user"}, {"content", *prompt}})};
  }
  fields.Optional("tools", &task->tools);
  fields.Optional("answer", &task->answer);
  fields.Optional("reward", &task->reward);
  fields.Optional("metadata", &task->metadata);
}

namespace {

// --- value to JSON -------------------------------------------------------------------------------

Json ToJson(const Span& span);
Json ToJson(const Call& call);
Json ToJson(const Fault& fault);
Json ToJson(const ToolResult& result);
Json ToJson(const Leaf& leaf);
Json ToJson(const RewardTerm& term);

template <typename T>
Json ListToJson(const std::vector<T>& values) {
  Json::Array array;
  for (const T& value : values) array.push_back(ToJson(value));
  return array;
}

Json ToJson(const Span& span) { return Json::Array{span.begin, span.end}; }

template <typename T>
Json FloatsToJson(const std::vector<T>& values) {
  Json::Array array;
  array.reserve(values.size());
  // A float widened to double is exact, and its shortest digits read back to the same float.
  for (const T value : values) array.emplace_back(static_cast<double>(value));
  return array;
}

// Adds the member unless it says what is assumed anyway.
template <typename T>
void SetUnless(Json* json, std::string_view key, const T& value, const T& assumed) {
  if (!(value == assumed)) json->Set(key, Json(value));
}

void SetName(Json* json, std::string_view key, std::string_view name, std::string_view assumed) {
  if (name != assumed) json->Set(key, name);
}

Json ToJson(const Sampling& sampling) {
  const Sampling plain;
  Json json = Json::Of({{"temperature", static_cast<double>(sampling.temperature)}});
  SetUnless(&json, "top_k", sampling.top_k, plain.top_k);
  if (sampling.top_p != plain.top_p) json.Set("top_p", static_cast<double>(sampling.top_p));
  if (sampling.min_p != plain.min_p) json.Set("min_p", static_cast<double>(sampling.min_p));
  SetUnless(&json, "forbidden_set", sampling.forbidden_set, plain.forbidden_set);
  return json;
}

Json ToJson(const Call& call) {
  return Json::Of(
      {{"name", call.name}, {"arguments", call.arguments}, {"span", ToJson(call.span)}});
}

Json ToJson(const Fault& fault) {
  return Json::Of({{"kind", FaultKindName(fault.kind)},
                   {"message", fault.message},
                   {"span", ToJson(fault.span)}});
}

Json ToJson(const ToolResult& result) {
  Json json = Json::Of({{"call", result.call}});
  SetName(&json, "status", CallStatusName(result.status), "ok");
  SetName(&json, "blame", BlameName(result.blame), "none");
  json.Set("content", result.content);
  SetUnless(&json, "latency_us", result.latency_us, int64_t{0});
  SetUnless(&json, "attempts", result.attempts, 1);
  SetUnless(&json, "cut_bytes", result.cut_bytes, int64_t{0});
  SetName(&json, "injected", result.injected, "");
  return json;
}

Json ToJson(const Node& node, TokenArrays arrays) {
  Json json = Json::Of({{"parent", node.parent}, {"author", AuthorName(node.author)}});
  const bool inline_arrays = arrays == TokenArrays::kInline;
  if (inline_arrays) json.Set("tokens", Json::ArrayOf(node.tokens));
  if (node.author == Author::kPolicy) {
    if (inline_arrays) {
      json.Set("logprobs", FloatsToJson(node.logprobs));
      json.Set("entropies", FloatsToJson(node.entropies));
      if (!node.supports.empty()) {
        Json::Array supports;
        for (const Support& support : node.supports)
          supports.push_back(Json::ArrayOf(support.kept));
        json.Set("supports", std::move(supports));
      }
      if (!node.token_versions.empty()) {
        json.Set("token_versions", Json::ArrayOf(node.token_versions));
      }
    }
    json.Set("sampling", ToJson(node.sampling));
    if (!node.calls.empty()) json.Set("calls", ListToJson(node.calls));
    if (!node.faults.empty()) json.Set("faults", ListToJson(node.faults));
    if (!node.thoughts.empty()) json.Set("thoughts", ListToJson(node.thoughts));
    SetUnless(&json, "closed_thoughts", node.closed_thoughts, 0);
    json.Set("policy_version", node.policy_version);
  }
  if (!node.results.empty()) json.Set("results", ListToJson(node.results));
  SetUnless(&json, "folded_from", node.folded_from, kNoNode);
  if (node.rewritten) json.Set("rewritten", true);
  return json;
}

Json ToJson(const Leaf& leaf) {
  Json json = Json::Of({{"node", leaf.node}, {"ending", EndingName(leaf.ending)}});
  SetName(&json, "blame", BlameName(leaf.blame), "none");
  if (!leaf.final_state.is_null()) json.Set("final_state", leaf.final_state);
  return json;
}

Json ToJson(const RewardTerm& term) {
  Json json = Json::Of({{"name", term.name}, {"value", term.value ? Json(*term.value) : Json()}});
  SetUnless(&json, "weight", term.weight, 1.0);
  SetUnless(&json, "node", term.node, kNoNode);
  if (term.span) json.Set("span", ToJson(*term.span));
  if (term.fault) {
    json.Set("fault",
             Json::Of({{"blame", BlameName(term.fault->blame)}, {"message", term.fault->message}}));
  }
  return json;
}

}  // namespace

Json TaskToJson(const Task& task) {
  Json json = Json::Of({{"id", task.id}, {"messages", task.messages}});
  if (!(task.tools == Json(Json::Array()))) json.Set("tools", task.tools);
  if (!task.answer.is_null()) json.Set("answer", task.answer);
  if (!task.reward.is_null()) json.Set("reward", task.reward);
  if (!task.metadata.is_null()) json.Set("metadata", task.metadata);
  return json;
}

Json ToolResultToJson(const ToolResult& result) { return ToJson(result); }

Json ScoresToJson(const std::vector<Score>& scores) {
  Json::Array array;
  for (const Score& score : scores) {
    array.push_back(Json::Of({{"leaf", score.leaf}, {"terms", ListToJson(score.terms)}}));
  }
  return array;
}

Json RecordToJson(const ScoredTree& record, TokenArrays arrays) {
  const Tree& tree = record.tree;
  Json::Array nodes;
  for (const Node& node : tree.nodes) nodes.push_back(ToJson(node, arrays));
  Json json = Json::Of({{"format", kTreeFormat},
                        {"version", kTreeVersion},
                        {"task", TaskToJson(tree.task)},
                        {"seed", tree.seed},
                        {"nodes", std::move(nodes)},
                        {"leaves", ListToJson(tree.leaves)}});
  if (!record.scores.empty()) json.Set("scores", ScoresToJson(record.scores));
  if (!record.advantages.empty() && arrays == TokenArrays::kInline) {
    Json::Array advantages;
    for (const Advantages& leaf : record.advantages) {
      advantages.push_back(Json::Of({{"leaf", leaf.leaf}, {"values", FloatsToJson(leaf.values)}}));
    }
    json.Set("advantages", std::move(advantages));
  }
  return json;
}

Result<ScoredTree> RecordFromJson(const Json& json) {
  const Json* format = json.Find("format");
  if (format == nullptr || !(*format == Json(kTreeFormat))) {
    return Error(ErrorCode::kInvalidArgument,
                 fmt::format("not a tree: \"format\": \"{}\" is missing", kTreeFormat));
  }
  ScoredTree record;
  JsonErrors errors;
  {
    JsonFields fields(json, "", &errors);
    fields.Take("format");
    int64_t version = 0;
    fields.Required("version", &version);
    if (errors.ok() && version != kTreeVersion) {
      return Error(ErrorCode::kVersion,
                   fmt::format("a tree of format version {}; this program reads version {}",
                               version, kTreeVersion));
    }
    fields.Required("task", &record.tree.task);
    fields.Optional("seed", &record.tree.seed);
    fields.Required("nodes", &record.tree.nodes);
    fields.Required("leaves", &record.tree.leaves);
    fields.Optional("scores", &record.scores);
    fields.Optional("advantages", &record.advantages);
  }
  HONE_RETURN_IF_ERROR(errors.Check());
  return record;
}

}  // namespace hone
