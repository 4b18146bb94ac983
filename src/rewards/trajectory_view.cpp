#include "rewards/trajectory_view.h"

#include <algorithm>

#include "record/final_state.h"
#include "tools/tool_spec.h"

namespace hone {
namespace {

// [begin, end) inside the node's tokens, or nothing.
std::optional<Span> SpanIn(const Json* json, const Node& node) {
  if (json == nullptr || !json->is_array() || json->AsArray().size() != 2) return std::nullopt;
  const Json &begin = json->AsArray()[0], &end = json->AsArray()[1];
  if (!begin.is_integer() || !end.is_integer()) return std::nullopt;
  const auto size = static_cast<int64_t>(node.tokens.size());
  if (begin.AsInteger() < 0 || begin.AsInteger() >= end.AsInteger() || end.AsInteger() > size) {
    return std::nullopt;
  }
  return Span{static_cast<int32_t>(begin.AsInteger()), static_cast<int32_t>(end.AsInteger())};
}

std::optional<Span> Unless(const Span& span) {
  return span.empty() ? std::nullopt : std::optional<Span>(span);
}

}  // namespace

TrajectoryView TrajectoryOf(const Tree& tree, int32_t leaf_index) {
  const Leaf& leaf = tree.leaves[leaf_index];
  TrajectoryView trajectory;
  trajectory.tree = &tree;
  trajectory.leaf = leaf_index;
  trajectory.ending = leaf.ending;
  trajectory.blame = leaf.blame;
  trajectory.final_state = &leaf.final_state;
  std::map<std::pair<NodeId, int32_t>, size_t> index_of;
  for (const NodeId id : WholePathTo(tree, leaf.node)) {
    const Node& node = tree.nodes[id];
    trajectory.all_tokens += static_cast<int64_t>(node.tokens.size());
    trajectory.folded = trajectory.folded || IsFold(node);
    if (node.author != Author::kSystem) ++trajectory.turns;
    if (node.author == Author::kPolicy) {
      trajectory.last_turn = id;
      trajectory.policy_tokens += static_cast<int64_t>(node.tokens.size());
      trajectory.thought_tokens += ThoughtTokens(node);
      for (size_t i = 0; i < node.calls.size(); ++i) {
        index_of[{id, static_cast<int32_t>(i)}] = trajectory.calls.size();
        trajectory.calls.push_back({id, &node.calls[i], nullptr});
      }
      for (const Fault& fault : node.faults) trajectory.faults.push_back({id, &fault});
    }
    for (const ToolResult& result : node.results) {
      const auto found = index_of.find({node.parent, result.call});
      if (found != index_of.end()) trajectory.calls[found->second].result = &result;
      trajectory.latency_us += result.latency_us;
    }
  }
  trajectory.ends_in_turn = tree.nodes[leaf.node].author == Author::kPolicy;
  if (trajectory.ends_in_turn) {
    trajectory.answer_span =
        SpanIn(FinalState(leaf.final_state).answer_span(), tree.nodes[leaf.node]);
  }
  return trajectory;
}

const Json& TrajectoryView::answer() const {
  static const Json kNone(nullptr);
  const Json* answer = FinalState(*final_state).answer();
  return answer == nullptr ? kNone : *answer;
}

RewardTerm TrajectoryView::AtAnswer(std::string name, std::optional<double> value) const {
  // A turn that calls, or cannot be read, is no answer: there the term would be taken for the
  // call's or the fault's own.
  const Node* last = ends_in_turn ? &tree->nodes[last_turn] : nullptr;
  const bool answers =
      last != nullptr && (answer_span || (last->calls.empty() && last->faults.empty()));
  if (!answers) return Overall(std::move(name), value);
  return {std::move(name), value, 1, last_turn, answer_span};
}

RewardTerm TrajectoryView::AtCall(std::string name, std::optional<double> value,
                                  const MadeCall& call) const {
  return {std::move(name), value, 1, call.node, Unless(call.call->span)};
}

RewardTerm TrajectoryView::AtFault(std::string name, std::optional<double> value,
                                   const MadeFault& fault) const {
  return {std::move(name), value, 1, fault.node, Unless(fault.fault->span)};
}

RewardTerm TrajectoryView::Overall(std::string name, std::optional<double> value) const {
  return {std::move(name), value, 1, kNoNode, std::nullopt};
}

bool TrajectoryView::failed_by_others() const {
  return BrokenByOthers({.ending = ending, .blame = blame});
}

std::optional<std::vector<bool>> TrajectoryView::said_right() const {
  const Json* said = FinalState(*final_state).call_scores();
  if (said == nullptr || !said->is_array()) return std::nullopt;
  const Json::Array& scores = said->AsArray();
  std::vector<bool> right(calls.size(), false);
  for (size_t i = 0; i < right.size() && i < scores.size(); ++i) {
    right[i] = scores[i].is_number() && scores[i].AsDouble() >= 1;
  }
  return right;
}

std::vector<const Call*> TrajectoryView::bare_calls() const {
  std::vector<const Call*> bare;
  for (const MadeCall& made : calls) bare.push_back(made.call);
  return bare;
}

CallRun RunOf(const TrajectoryView::MadeCall& call) {
  if (call.result == nullptr) return CallRun::kUnknown;
  switch (call.result->status) {
    case CallStatus::kOk: return CallRun::kRan;
    case CallStatus::kUnknownTool:
    case CallStatus::kInvalidArguments: return CallRun::kNeverRan;
    // A tool that reports an error usually answers a wrong call; a shield stops a forbidden one.
    case CallStatus::kToolError:
    case CallStatus::kDenied:
      return call.result->blame == Blame::kNone || call.result->blame == Blame::kAgent
                 ? CallRun::kFailed
                 : CallRun::kUnknown;
    // Nobody calls so wrongly that the tool cannot be reached; unless it is said.
    case CallStatus::kTimeout:
    case CallStatus::kUnavailable:
    case CallStatus::kInterrupted:
      return call.result->blame == Blame::kAgent ? CallRun::kFailed : CallRun::kUnknown;
  }
  return CallRun::kUnknown;
}

struct TaskTools::Known {
  double price = 0;
  std::optional<ArgumentChecker> checker;  // absent: the schema is not one that can be checked
};

TaskTools TaskTools::Of(const Task& task) {
  TaskTools tools;
  if (!task.tools.is_array()) return tools;
  for (const Json& json : task.tools.AsArray()) {
    const Result<ToolSpec> spec = ToolSpecFromJson(json);
    if (!spec.ok()) continue;
    auto known = std::make_shared<Known>();
    known->price = spec->price;
    if (Result<ArgumentChecker> checker = ArgumentChecker::For(*spec); checker.ok()) {
      known->checker = std::move(checker).value();
    }
    tools.tools_[spec->name] = std::move(known);
  }
  return tools;
}

CallForm TaskTools::FormOf(const TrajectoryView::MadeCall& call) const {
  if (call.result != nullptr) {
    switch (call.result->status) {
      case CallStatus::kUnknownTool:
      case CallStatus::kInvalidArguments: return CallForm::kWrong;
      default: return CallForm::kRight;
    }
  }
  if (tools_.empty()) return CallForm::kUnknown;
  const auto found = tools_.find(call.call->name);
  if (found == tools_.end()) return CallForm::kWrong;
  if (!found->second->checker) return CallForm::kUnknown;
  return found->second->checker->Problem(call.call->arguments) ? CallForm::kWrong
                                                               : CallForm::kRight;
}

double TaskTools::PriceOf(const std::string& tool) const {
  const auto found = tools_.find(tool);
  return found == tools_.end() ? 0 : found->second->price;
}

}  // namespace hone
