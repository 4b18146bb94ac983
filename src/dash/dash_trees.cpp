#include "dash/dash_trees.h"

#include <algorithm>
#include <cctype>
#include <cmath>
#include <set>

#include <fmt/format.h>

#include "base/utf8.h"
#include "credit/methods.h"
#include "evaluate/measures.h"
#include "record/record_json.h"
#include "text/token_texts.h"

namespace hone {
namespace {

constexpr int64_t kMostRecords = 600;  // that are decoded for one page

double Short(double value) { return std::strtod(fmt::format("{:.5g}", value).c_str(), nullptr); }

Json ShortArray(const std::vector<float>& values) {
  Json::Array array;
  array.reserve(values.size());
  for (const float value : values) {
    array.push_back(std::isfinite(value) ? Json(Short(static_cast<double>(value))) : Json());
  }
  return array;
}

Json ShortOrNull(const std::optional<double>& value) {
  return value ? Json(Short(*value)) : Json();
}

std::string Lower(std::string_view text) {
  std::string lower(text);
  for (char& c : lower) c = static_cast<char>(std::tolower(static_cast<unsigned char>(c)));
  return lower;
}

std::vector<std::optional<double>> RewardsOf(const ScoredTree& record) {
  std::vector<std::optional<double>> rewards(record.tree.leaves.size());
  for (const Score& score : record.scores) {
    rewards[static_cast<size_t>(score.leaf)] = Total(score);
  }
  return rewards;
}

bool Differ(const std::vector<std::optional<double>>& rewards) {
  std::optional<double> first;
  for (const std::optional<double>& reward : rewards) {
    if (!reward) continue;
    if (first && *first != *reward) return true;
    first = reward;
  }
  return false;
}

// What is listed of a group, and what filters look at.
struct Glance {
  std::string request;
  std::set<std::string> tools;
  std::vector<std::optional<double>> rewards;
  std::vector<std::string> endings;
  int64_t calls = 0;
  int64_t faults = 0;  // unreadable actions, failed calls, ends that somebody is to blame for
};

Glance GlanceAt(const ScoredTree& record) {
  Glance glance{.request = RequestOf(record.tree.task), .rewards = RewardsOf(record)};
  for (const Node& node : record.tree.nodes) {
    glance.calls += static_cast<int64_t>(node.calls.size());
    glance.faults += static_cast<int64_t>(node.faults.size());
    for (const Call& call : node.calls) glance.tools.insert(call.name);
    for (const ToolResult& result : node.results) {
      if (result.status != CallStatus::kOk) ++glance.faults;
    }
  }
  for (const Leaf& leaf : record.tree.leaves) {
    glance.endings.emplace_back(EndingName(leaf.ending));
    if (leaf.blame != Blame::kNone) ++glance.faults;
  }
  return glance;
}

bool Passes(const GroupFilter& filter, const std::string& task, const Glance& glance) {
  if (filter.differing && !Differ(glance.rewards)) return false;
  if (filter.faults && glance.faults == 0) return false;
  if (!filter.tool.empty() && !glance.tools.contains(filter.tool)) return false;
  if (!filter.ending.empty() && std::find(glance.endings.begin(), glance.endings.end(),
                                          filter.ending) == glance.endings.end()) {
    return false;
  }
  if (filter.text.empty()) return true;
  const std::string wanted = Lower(filter.text);
  const auto has = [&](const std::string& text) {
    return Lower(text).find(wanted) != std::string::npos;
  };
  return has(task) || has(glance.request) ||
         std::any_of(glance.tools.begin(), glance.tools.end(), has);
}

Json GroupLine(const RunStore::TreeSummary& summary) {
  return Json::Of({{"id", summary.id},
                   {"step", summary.step + 1},
                   {"task", summary.task},
                   {"leaves", summary.leaves},
                   {"tokens", summary.tokens},
                   {"mean_reward", ShortOrNull(summary.mean_reward)}});
}

void AddGlance(const Glance& glance, Json* line) {
  Json::Array rewards;
  for (const std::optional<double>& reward : glance.rewards) rewards.push_back(ShortOrNull(reward));
  line->Set("request", glance.request);
  line->Set("rewards", std::move(rewards));
  line->Set("endings", Json::ArrayOf(glance.endings));
  line->Set("tools", Json::ArrayOf(glance.tools));
  line->Set("calls", glance.calls);
  line->Set("faults", glance.faults);
}

Json SpanToJson(const Span& span) { return Json(Json::Array{span.begin, span.end}); }

Json TermToJson(const RewardTerm& term) {
  Json json = Json::Of({{"name", term.name},
                        {"value", ShortOrNull(term.value)},
                        {"weight", Short(term.weight)},
                        {"node", term.node == kNoNode ? Json() : Json(term.node)}});
  if (term.span) json.Set("span", SpanToJson(*term.span));
  if (term.fault) {
    json.Set("blame", BlameName(term.fault->blame));
    json.Set("message", term.fault->message);
  }
  return json;
}

Json NodeToJson(const Node& node, const Tokenizer* tokenizer) {
  Json json = Json::Of({{"parent", node.parent == kNoNode ? Json() : Json(node.parent)},
                        {"author", AuthorName(node.author)},
                        {"tokens", Json::ArrayOf(TokenTexts(tokenizer, node.tokens))}});
  if (node.folded_from != kNoNode) json.Set("folded_from", node.folded_from);
  if (node.author == Author::kPolicy) {
    json.Set("ids", Json::ArrayOf(node.tokens));
    json.Set("logprobs", ShortArray(node.logprobs));
    json.Set("entropies", ShortArray(node.entropies));
    json.Set("version", node.policy_version);
    Json::Array calls, faults;
    for (const Call& call : node.calls) {
      calls.push_back(Json::Of(
          {{"name", call.name}, {"arguments", call.arguments}, {"span", SpanToJson(call.span)}}));
    }
    for (const Fault& fault : node.faults) {
      faults.push_back(Json::Of({{"kind", FaultKindName(fault.kind)},
                                 {"message", fault.message},
                                 {"span", SpanToJson(fault.span)}}));
    }
    json.Set("calls", std::move(calls));
    json.Set("faults", std::move(faults));
    if (!node.thoughts.empty()) {
      Json::Array thoughts;
      for (const Span& span : node.thoughts) thoughts.push_back(SpanToJson(span));
      json.Set("thoughts", std::move(thoughts));
      json.Set("closed_thoughts", node.closed_thoughts);
    }
  }
  if (!node.results.empty()) {
    Json::Array results;
    for (const ToolResult& result : node.results) {
      results.push_back(
          Json::Of({{"call", result.call},
                    {"status", CallStatusName(result.status)},
                    {"blame", BlameName(result.blame)},
                    {"content", Utf8Lossy(result.content)},
                    {"latency_ms", Short(static_cast<double>(result.latency_us) / 1e3)},
                    {"attempts", result.attempts},
                    {"cut_bytes", result.cut_bytes},
                    {"injected", result.injected}}));
    }
    json.Set("results", std::move(results));
  }
  return json;
}

Json LeafToJson(const ScoredTree& record, size_t index, const std::vector<Measures>& measures) {
  const Leaf& leaf = record.tree.leaves[index];
  Json json = Json::Of({{"node", leaf.node},
                        {"ending", EndingName(leaf.ending)},
                        {"blame", BlameName(leaf.blame)},
                        {"final_state", leaf.final_state},
                        {"path", Json::ArrayOf(WholePathTo(record.tree, leaf.node))}});
  if (index < measures.size()) {
    const Measures& one = measures[index];
    json.Set("success", one.success ? Json(*one.success) : Json());
    json.Set("tool_needed", one.tool_needed ? Json(*one.tool_needed) : Json());
    json.Set("called", one.called);
    json.Set("calls", one.calls);
    json.Set("gold_calls", one.gold_calls ? Json(*one.gold_calls) : Json());
    json.Set("right_tools", one.matched);
    json.Set("right_arguments", one.right);
  }
  Json::Array terms;
  std::optional<double> reward;
  for (const Score& score : record.scores) {
    if (static_cast<size_t>(score.leaf) != index) continue;
    reward = Total(score);
    for (const RewardTerm& term : score.terms) terms.push_back(TermToJson(term));
  }
  json.Set("reward", ShortOrNull(reward));
  json.Set("terms", std::move(terms));
  for (const Advantages& advantages : record.advantages) {
    if (static_cast<size_t>(advantages.leaf) == index) {
      json.Set("credit", ShortArray(advantages.values));
    }
  }
  return json;
}

// Credit of the same values up to what float sums in another order may differ by.
bool Same(const std::vector<Advantages>& a, const std::vector<Advantages>& b) {
  if (a.size() != b.size()) return false;
  for (size_t i = 0; i < a.size(); ++i) {
    if (a[i].values.size() != b[i].values.size()) return false;
    for (size_t t = 0; t < a[i].values.size(); ++t) {
      if (std::abs(a[i].values[t] - b[i].values[t]) > 1e-4f * (1 + std::abs(b[i].values[t]))) {
        return false;
      }
    }
  }
  return true;
}

Json CreditToJson(const ScoredTree& record, const GroupCredit& group) {
  Json json = Json::Of({{"method", group.method}});
  if (!group.credit) {
    json.Set("problem", group.problem);
    return json;
  }
  const auto by_leaf = [](const std::vector<Advantages>& advantages) {
    Json::Array leaves;
    for (const Advantages& leaf : advantages) leaves.push_back(ShortArray(leaf.values));
    return Json(std::move(leaves));
  };
  Json::Array layers, notes;
  for (const Layer& layer : group.credit->layers) {
    layers.push_back(Json::Of({{"name", layer.name}, {"leaves", by_leaf(layer.advantages)}}));
  }
  for (const Note& note : group.credit->notes) {
    notes.push_back(Json::Of({{"kind", NoteKindName(note.kind)},
                              {"leaf", note.leaf < 0 ? Json() : Json(note.leaf)},
                              {"channel", note.channel},
                              {"text", note.text}}));
  }
  json.Set("same", !record.advantages.empty() && Same(group.credit->advantages, record.advantages));
  json.Set("leaves", by_leaf(group.credit->advantages));
  json.Set("layers", std::move(layers));
  json.Set("notes", std::move(notes));
  return json;
}

}  // namespace

Result<Json> ListGroups(const RunStore& store, const GroupFilter& filter, const GroupPage& page) {
  RunStore::TreeQuery query{.first_step = std::max<int64_t>(filter.first_step, 1) - 1,
                            .least_reward = filter.least_reward,
                            .most_reward = filter.most_reward,
                            .newest_first = page.newest_first,
                            .behind = page.behind,
                            .limit = page.limit};
  if (filter.last_step) query.last_step = std::max<int64_t>(*filter.last_step, 0) - 1;
  Json::Array groups;
  std::optional<RunStore::TreePlace> next = page.behind;
  int64_t decoded = 0;
  do {
    query.behind = next;
    HONE_ASSIGN_OR_RETURN(const RunStore::TreePage found, store.PageTrees(query));
    next = found.next;
    for (size_t i = 0; i < found.trees.size(); ++i) {
      const RunStore::TreeSummary& summary = found.trees[i];
      ++decoded;
      Json line = GroupLine(summary);
      const Result<ScoredTree> record = store.ReadTree(summary.id);
      if (!record.ok()) {
        if (record.error().code() == ErrorCode::kNotFound) continue;  // just taken back
        line.Set("problem", record.error().message());
        groups.push_back(std::move(line));
      } else if (const Glance glance = GlanceAt(*record); Passes(filter, summary.task, glance)) {
        AddGlance(glance, &line);
        groups.push_back(std::move(line));
      }
      if (static_cast<int64_t>(groups.size()) == page.limit && i + 1 < found.trees.size()) {
        next = RunStore::TreePlace{summary.step, summary.id};
        break;
      }
    }
  } while (next && filter.NeedsRecords() && decoded < kMostRecords &&
           static_cast<int64_t>(groups.size()) < page.limit);
  return Json::Of({{"groups", std::move(groups)},
                   {"next", next ? Json::Of({{"step", next->step}, {"id", next->id}}) : Json()},
                   {"looked_at", decoded}});
}

GroupCredit CreditOf(const ScoredTree& record, const std::string& method, int64_t stage_step) {
  GroupCredit group{.method = method, .credit = std::nullopt, .problem = ""};
  if (record.scores.empty()) {
    group.problem = "the group has no rewards";
    return group;
  }
  const Result<Method> made = NewMethodAt(method, stage_step);
  if (!made.ok()) {
    group.problem = made.error().message();
    return group;
  }
  Result<Credit> credit = AssignCredit(*made, record, {.layers = true});
  if (credit.ok()) {
    group.credit = *std::move(credit);
  } else {
    group.problem = credit.error().message();
  }
  return group;
}

Json GroupToJson(const ScoredTree& record, const Tokenizer* tokenizer, const GroupCredit& credit) {
  const Tree& tree = record.tree;
  const Result<std::vector<Measures>> measured = MeasureTree(tree);
  const std::vector<Measures> measures = measured.ok() ? *measured : std::vector<Measures>();
  Json::Array nodes, leaves;
  for (const Node& node : tree.nodes) nodes.push_back(NodeToJson(node, tokenizer));
  for (size_t i = 0; i < tree.leaves.size(); ++i) {
    leaves.push_back(LeafToJson(record, i, measures));
  }
  return Json::Of({{"task", Json::Of({{"id", tree.task.id},
                                      {"request", RequestOf(tree.task)},
                                      {"answer", tree.task.answer},
                                      {"metadata", tree.task.metadata}})},
                   {"text", tokenizer != nullptr},
                   {"nodes", std::move(nodes)},
                   {"leaves", std::move(leaves)},
                   {"credit", CreditToJson(record, credit)}});
}

}  // namespace hone
