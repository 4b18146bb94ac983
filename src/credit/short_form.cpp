#include "credit/short_form.h"

#include <cmath>

#include <fmt/format.h>

#include "base/json_fields.h"
#include "record/validate.h"

namespace hone {
namespace {

constexpr int64_t kMostDrawnTokens = 10'000'000;

class Reader {
 public:
  Result<ShortGroup> Read(const Json& json) {
    ScoredTree& record = group_.record;
    record.tree.task.id = "short";
    Node prompt;
    prompt.tokens = {0};
    record.tree.nodes.push_back(std::move(prompt));
    {
      JsonFields fields(json, "", &errors_);
      const Json* members = fields.Take("group");
      if (members == nullptr || !members->is_array() || members->AsArray().empty()) {
        errors_.Add("group", "wants an array of at least one member");
      } else {
        for (size_t i = 0; i < members->AsArray().size() && errors_.ok(); ++i) {
          ReadMember(members->AsArray()[i], fmt::format("group[{}]", i));
        }
      }
    }
    HONE_RETURN_IF_ERROR(errors_.Check());
    group_.values.resize(record.tree.nodes.size());
    if (const auto problems = Validate(record); !problems.empty()) {
      return Error(ErrorCode::kInvalidArgument, "the group is not sound: " + problems.front());
    }
    return std::move(group_);
  }

 private:
  void ReadMember(const Json& json, const std::string& path) {
    JsonFields fields(json, path, &errors_);
    score_ = Score{static_cast<int32_t>(group_.record.tree.leaves.size()), {}};
    last_ = 0;
    if (const Json* terms = fields.Take("terms")) {
      ReadTerms(*terms, fields.PathOf("terms"), kNoNode, std::nullopt);
    }
    const Json* turns = fields.Take("turns");
    if (turns == nullptr || !turns->is_array() || turns->AsArray().empty()) {
      errors_.Add(path, "wants \"turns\", an array of at least one");
      return;
    }
    for (size_t t = 0; t < turns->AsArray().size() && errors_.ok(); ++t) {
      ReadTurn(turns->AsArray()[t], fmt::format("{}.turns[{}]", path, t));
    }
    Leaf leaf;
    leaf.node = last_;
    std::string ending = "answered", blame = "none";
    fields.Optional("ending", &ending);
    fields.Optional("blame", &blame);
    leaf.ending = Named<Ending>(ending, EndingName, Ending::kFailed, fields.PathOf("ending"));
    leaf.blame = Named<Blame>(blame, BlameName, Blame::kInfrastructure, fields.PathOf("blame"));
    group_.record.tree.leaves.push_back(std::move(leaf));
    if (!score_.terms.empty()) group_.record.scores.push_back(std::move(score_));
  }

  // The value of an enumeration (whose last value is `last`) by its name.
  template <typename Enum>
  Enum Named(const std::string& name, std::string_view (*name_of)(Enum), Enum last,
             const std::string& path) {
    for (int i = 0; i <= static_cast<int>(last); ++i) {
      if (name_of(static_cast<Enum>(i)) == name) return static_cast<Enum>(i);
    }
    errors_.Add(path, "\"" + name + "\" is not known");
    return static_cast<Enum>(0);
  }

  void ReadTurn(const Json& json, const std::string& path) {
    JsonFields fields(json, path, &errors_);
    Node node;
    const auto id = static_cast<NodeId>(group_.record.tree.nodes.size());
    node.parent = last_;
    std::string author = "policy";
    fields.Optional("author", &author);
    node.author = Named<Author>(author, AuthorName, Author::kTool, fields.PathOf("author"));
    ReadTokens(fields, &node);
    if (const Json* terms = fields.Take("terms")) {
      ReadTerms(*terms, fields.PathOf("terms"), id, std::nullopt);
    }
    if (node.author == Author::kPolicy) {
      ReadPolicy(fields, id, &node);
    } else if (node.author == Author::kTool) {
      const Node& before = group_.record.tree.nodes[last_];
      for (size_t c = 0; c < before.calls.size(); ++c) {
        ToolResult result;
        result.call = static_cast<int32_t>(c);
        node.results.push_back(std::move(result));
      }
    }
    group_.record.tree.nodes.push_back(std::move(node));
    last_ = id;
  }

  void ReadTokens(JsonFields& fields, Node* node) {
    const Json* tokens = fields.Take("tokens");
    int64_t count = 0;
    if (tokens != nullptr && tokens->is_array()) {
      ReadJson(*tokens, fields.PathOf("tokens"), &errors_, &node->tokens);
      count = static_cast<int64_t>(node->tokens.size());
    } else if (tokens != nullptr && tokens->is_integer() && tokens->AsInteger() >= 0) {
      count = tokens->AsInteger();
    } else {
      errors_.Add(fields.PathOf("tokens"), "wants a number of tokens, or a list of ids");
    }
    tokens_ += std::min(count, kMostDrawnTokens + 1);
    if (tokens_ > kMostDrawnTokens) {
      errors_.Add(fields.PathOf("tokens"), "more than ten million tokens; give a full tree");
      return;
    }
    node->tokens.resize(static_cast<size_t>(count), 0);
  }

  void ReadPolicy(JsonFields& fields, NodeId id, Node* node) {
    const size_t size = node->tokens.size();
    node->logprobs.assign(size, 0.0f);
    node->entropies.assign(size, 0.0f);
    fields.Optional("logprobs", &node->logprobs);
    fields.Optional("entropies", &node->entropies);
    bool greedy = false;
    fields.Optional("greedy", &greedy);
    if (greedy) node->sampling.temperature = 0;
    if (fields.Take("values") != nullptr) {
      group_.has_values = true;
      group_.values.resize(static_cast<size_t>(id) + 1);
      fields.Optional("values", &group_.values.back());
      if (group_.values.back().size() != size) {
        errors_.Add(fields.PathOf("values"),
                    fmt::format("wants one number for each of {} tokens", size));
      }
    }
    ReadSpans(fields, "calls", id, [&](const Span& span) {
      node->calls.push_back({"tool", Json::Object(), span});
    });
    ReadSpans(fields, "faults", id, [&](const Span& span) {
      node->faults.push_back({FaultKind::kBadCall, "", span});
    });
  }

  template <typename Add>
  void ReadSpans(JsonFields& fields, std::string_view key, NodeId id, const Add& add) {
    const Json* list = fields.Take(key);
    if (list == nullptr) return;
    if (!list->is_array()) {
      errors_.Add(fields.PathOf(key), "wants an array");
      return;
    }
    for (size_t i = 0; i < list->AsArray().size(); ++i) {
      JsonFields call(list->AsArray()[i], fmt::format("{}[{}]", fields.PathOf(key), i), &errors_);
      Span span;
      call.Required("begin", &span.begin);
      call.Required("end", &span.end);
      add(span);
      if (const Json* terms = call.Take("terms")) {
        ReadTerms(*terms, call.PathOf("terms"), id, span);
      }
    }
  }

  void ReadTerms(const Json& json, const std::string& path, NodeId node, std::optional<Span> span) {
    if (!json.is_object()) {
      errors_.Add(path, "wants an object of names and numbers");
      return;
    }
    for (const auto& [name, value] : json.AsObject()) {
      RewardTerm term;
      term.name = name;
      term.node = node;
      term.span = span;
      ReadJson(value, path + "." + name, &errors_, &term.value);
      score_.terms.push_back(std::move(term));
    }
  }

  ShortGroup group_;
  JsonErrors errors_;
  Score score_;
  NodeId last_ = 0;
  int64_t tokens_ = 0;
};

}  // namespace

bool IsShortForm(const Json& json) { return json.Find("group") != nullptr; }

Result<ShortGroup> ReadShortForm(const Json& json) { return Reader().Read(json); }

Json AdvantagesToShortForm(const std::vector<Advantages>& advantages) {
  Json::Array members;
  for (const Advantages& one : advantages) {
    Json::Array values;
    for (const float value : one.values) values.emplace_back(static_cast<double>(value));
    members.emplace_back(std::move(values));
  }
  return Json::Of({{"advantages", std::move(members)}});
}

}  // namespace hone
