#include "record/validate.h"

#include <algorithm>
#include <cmath>
#include <optional>
#include <set>
#include <string>
#include <string_view>

#include <fmt/format.h>

namespace hone {
namespace {

constexpr size_t kMostProblems = 100;

// What is looked at, of which most is right: it is put into words only where it is wrong.
struct Place {
  const char* list;
  std::optional<size_t> index = {};
  const char* part = nullptr;
  std::optional<size_t> part_index = {};

  Place Part(const char* name, std::optional<size_t> number = {}) const {
    return {list, index, name, number};
  }
  std::string Text() const {
    std::string text = list;
    if (index) text += fmt::format("[{}]", *index);
    if (part != nullptr) text += fmt::format(".{}", part);
    if (part_index) text += fmt::format("[{}]", *part_index);
    return text;
  }
};

class Validator {
 public:
  explicit Validator(const ScoredTree& record) : record_(record), tree_(record.tree) {}

  std::vector<std::string> Run() {
    CheckTask();
    if (CheckShape()) {
      NumberNodes();
      for (size_t i = 0; i < tree_.nodes.size(); ++i) CheckNode(static_cast<NodeId>(i));
      CheckLeaves();
      CheckScores();
      CheckAdvantages();
    }
    return std::move(problems_);
  }

 private:
  void Problem(const Place& where, std::string_view text) {
    if (problems_.size() >= kMostProblems) return;
    problems_.push_back(fmt::format("{}: {}", where.Text(), text));
  }

  bool IsNode(NodeId id) const { return id >= 0 && id < static_cast<NodeId>(tree_.nodes.size()); }

  void CheckTask() {
    if (tree_.task.id.empty()) Problem({"task"}, "has no id");
    if (!tree_.task.messages.is_array()) Problem({"task.messages"}, "is not an array");
    if (!tree_.task.tools.is_array()) Problem({"task.tools"}, "is not an array");
  }

  // Whether parents and folds point backwards; the other checks walk along them.
  bool CheckShape() {
    if (tree_.nodes.empty()) Problem({"nodes"}, "there is none");
    bool sound = !tree_.nodes.empty();
    for (size_t i = 0; i < tree_.nodes.size(); ++i) {
      const Node& node = tree_.nodes[i];
      const Place where{"nodes", i};
      const auto id = static_cast<NodeId>(i);
      if (node.parent < kNoNode || node.parent >= id) {
        Problem(where, fmt::format("parent {} does not come before it", node.parent));
        sound = false;
      }
      if (node.folded_from < kNoNode || node.folded_from >= id) {
        Problem(where, fmt::format("folded_from {} does not come before it", node.folded_from));
        sound = false;
      } else if (node.folded_from != kNoNode && node.parent != kNoNode) {
        Problem(where, "only a root can point back to a folded segment");
      } else if (i > 0 && node.parent == kNoNode && node.folded_from == kNoNode) {
        Problem(where, "a second root must say which segment it folds (folded_from)");
      }
      if (node.rewritten && node.folded_from == kNoNode) {
        Problem(where, "only a root that takes the place of a segment can be rewritten");
      }
    }
    return sound;
  }

  // Numbers the nodes so that "lies on the path to" is two comparisons: the paths of a tree can
  // hold far more nodes than the tree. Parents and folds point backwards, so one pass each way
  // does.
  void NumberNodes() {
    const size_t size = tree_.nodes.size();
    std::vector<int64_t> below(size, 1);
    policy_tokens_.assign(size, 0);
    for (size_t i = size; i-- > 1;) {
      if (const NodeId before = Before(i); before != kNoNode) below[before] += below[i];
    }
    first_.assign(size, 0);
    last_.assign(size, 0);
    std::vector<int64_t> next(size, 0);  // where the next child of a node is numbered from
    int64_t next_root = 0;
    for (size_t i = 0; i < size; ++i) {
      const NodeId before = Before(i);
      int64_t& from = before == kNoNode ? next_root : next[before];
      first_[i] = from;
      last_[i] = from + below[i];
      from += below[i];
      next[i] = first_[i] + 1;
      const bool policy = tree_.nodes[i].author == Author::kPolicy;
      policy_tokens_[i] = (before == kNoNode ? 0 : policy_tokens_[before]) +
                          (policy ? tree_.nodes[i].tokens.size() : 0);
    }
  }

  NodeId Before(size_t id) const {
    const Node& node = tree_.nodes[id];
    return node.parent != kNoNode ? node.parent : node.folded_from;
  }

  bool IsOnPathTo(NodeId node, NodeId end) const {
    return first_[node] <= first_[end] && first_[end] < last_[node];
  }

  void CheckNode(NodeId id) {
    const Node& node = tree_.nodes[id];
    const Place where{"nodes", static_cast<size_t>(id)};
    if (std::any_of(node.tokens.begin(), node.tokens.end(), [](TokenId t) { return t < 0; })) {
      Problem(where, "a token id is negative");
    }
    if (node.author == Author::kPolicy) {
      CheckPolicyNode(node, where);
    } else if (!node.logprobs.empty() || !node.entropies.empty() || !node.supports.empty() ||
               !node.calls.empty() || !node.faults.empty() || !node.thoughts.empty() ||
               node.closed_thoughts != 0 || !node.token_versions.empty()) {
      Problem(where, fmt::format("a {} node has what only a policy node can have",
                                 AuthorName(node.author)));
    }
    if (node.author == Author::kTool) {
      CheckResults(node, where);
    } else if (!node.results.empty()) {
      Problem(where, "only a tool node can have results");
    }
  }

  void CheckPolicyNode(const Node& node, const Place& where) {
    if (node.tokens.empty()) Problem(where, "a policy node without tokens");
    CheckPerToken(node, node.logprobs.size(), where, "logprobs");
    CheckPerToken(node, node.entropies.size(), where, "entropies");
    if (!node.supports.empty()) CheckPerToken(node, node.supports.size(), where, "supports");
    if (!node.token_versions.empty()) {
      CheckPerToken(node, node.token_versions.size(), where, "token_versions");
    }
    if (std::any_of(node.logprobs.begin(), node.logprobs.end(),
                    [](float x) { return !std::isfinite(x) || x > 0; })) {
      Problem(where, "a log-probability is not a finite number of at most 0");
    }
    if (std::any_of(node.entropies.begin(), node.entropies.end(),
                    [](float x) { return !std::isfinite(x) || x < 0; })) {
      Problem(where, "an entropy is not a finite number of at least 0");
    }
    CheckSampling(node.sampling, where.Part("sampling"));
    CheckSupports(node, where);
    CheckSpans(node, where);
    CheckThoughts(node, where);
  }

  void CheckPerToken(const Node& node, size_t size, const Place& where, std::string_view name) {
    if (size == node.tokens.size()) return;
    Problem(where, fmt::format("{} has {} entries for {} tokens", name, size, node.tokens.size()));
  }

  void CheckSampling(const Sampling& sampling, const Place& where) {
    if (!(sampling.temperature >= 0 && std::isfinite(sampling.temperature))) {
      Problem(where, "temperature must be a finite number of at least 0");
    }
    if (sampling.top_k < 0) Problem(where, "top_k must be at least 0");
    if (!(sampling.top_p > 0 && sampling.top_p <= 1)) Problem(where, "top_p must be in (0, 1]");
    if (!(sampling.min_p >= 0 && sampling.min_p < 1)) Problem(where, "min_p must be in [0, 1)");
  }

  void CheckSupports(const Node& node, const Place& where) {
    if (node.supports.size() != node.tokens.size()) return;  // reported already, or none
    for (size_t t = 0; t < node.supports.size(); ++t) {
      const std::vector<TokenId>& kept = node.supports[t].kept;
      if (kept.empty()) continue;
      if (std::adjacent_find(kept.begin(), kept.end(), std::greater_equal<>()) != kept.end()) {
        Problem(where.Part("supports", t), "is not in ascending order");
      } else if (!std::binary_search(kept.begin(), kept.end(), node.tokens[t])) {
        Problem(where.Part("supports", t), "does not hold the token that was drawn");
      }
    }
  }

  void CheckSpans(const Node& node, const Place& where) {
    int32_t end_of_last = 0;
    for (size_t c = 0; c < node.calls.size(); ++c) {
      const Call& call = node.calls[c];
      const Place at = where.Part("calls", c);
      if (call.name.empty()) Problem(at, "has no name");
      if (!call.arguments.is_object()) Problem(at, "arguments is not an object");
      if (call.span.empty() || !IsInside(call.span, node)) {
        Problem(at, "its span lies outside the node's tokens");
      } else if (call.span.begin < end_of_last) {
        Problem(at, "its span overlaps the call before it");
      }
      end_of_last = std::max(end_of_last, call.span.end);
    }
    for (size_t f = 0; f < node.faults.size(); ++f) {
      if (!IsInside(node.faults[f].span, node)) {
        Problem(where.Part("faults", f), "its span lies outside the node's tokens");
      }
    }
  }

  void CheckThoughts(const Node& node, const Place& where) {
    int32_t end_of_last = 0;
    for (size_t i = 0; i < node.thoughts.size(); ++i) {
      const Span& span = node.thoughts[i];
      if (span.empty() || !IsInside(span, node)) {
        Problem(where.Part("thoughts", i), "its span lies outside the node's tokens");
      } else if (span.begin < end_of_last) {
        Problem(where.Part("thoughts", i), "its span overlaps the thought before it");
      }
      end_of_last = std::max(end_of_last, span.end);
    }
    if (node.closed_thoughts < 0 ||
        node.closed_thoughts > static_cast<int32_t>(node.thoughts.size())) {
      Problem(where, fmt::format("{} of its {} thoughts cannot have been closed by a limit",
                                 node.closed_thoughts, node.thoughts.size()));
    }
  }

  static bool IsInside(const Span& span, const Node& node) {
    return span.begin >= 0 && span.begin <= span.end &&
           span.end <= static_cast<int32_t>(node.tokens.size());
  }

  void CheckResults(const Node& node, const Place& where) {
    const Node* parent = node.parent == kNoNode ? nullptr : &tree_.nodes[node.parent];
    std::set<int32_t> answered;
    for (size_t r = 0; r < node.results.size(); ++r) {
      const ToolResult& result = node.results[r];
      const Place at = where.Part("results", r);
      if (parent == nullptr || result.call < 0 ||
          result.call >= static_cast<int32_t>(parent->calls.size())) {
        Problem(at, fmt::format("call {} is not a call of the parent node", result.call));
      } else if (!answered.insert(result.call).second) {
        Problem(at, fmt::format("call {} is answered twice", result.call));
      }
      if (result.attempts < 1) Problem(at, "attempts must be at least 1");
      if (result.latency_us < 0) Problem(at, "latency_us must be at least 0");
      if (result.cut_bytes < 0) Problem(at, "cut_bytes must be at least 0");
    }
  }

  void CheckLeaves() {
    std::vector<bool> goes_on(tree_.nodes.size(), false), is_leaf(tree_.nodes.size(), false);
    for (const Node& node : tree_.nodes) {
      if (node.parent != kNoNode) goes_on[node.parent] = true;
      if (node.folded_from != kNoNode) goes_on[node.folded_from] = true;
    }
    for (size_t i = 0; i < tree_.leaves.size(); ++i) {
      const Leaf& leaf = tree_.leaves[i];
      const Place where{"leaves", i};
      if (!IsNode(leaf.node)) {
        Problem(where, fmt::format("node {} does not exist", leaf.node));
        continue;
      }
      if (goes_on[leaf.node]) Problem(where, fmt::format("node {} has children", leaf.node));
      if (is_leaf[leaf.node]) Problem(where, fmt::format("node {} is a leaf already", leaf.node));
      is_leaf[leaf.node] = true;
      if (leaf.ending == Ending::kFailed && leaf.blame == Blame::kNone) {
        Problem(where, "ended as failed but nobody is blamed");
      }
    }
    for (size_t i = 0; i < tree_.nodes.size(); ++i) {
      if (!goes_on[i] && !is_leaf[i]) {
        Problem({"nodes", i}, "ends a path but is no leaf");
      }
    }
  }

  bool CheckLeafOf(int32_t leaf, const Place& where, std::set<int32_t>* seen) {
    if (leaf < 0 || leaf >= static_cast<int32_t>(tree_.leaves.size()) ||
        !IsNode(tree_.leaves[leaf].node)) {
      Problem(where, fmt::format("leaf {} does not exist", leaf));
      return false;
    }
    if (!seen->insert(leaf).second) {
      Problem(where, fmt::format("leaf {} has one already", leaf));
      return false;
    }
    return true;
  }

  void CheckScores() {
    std::set<int32_t> seen;
    for (size_t i = 0; i < record_.scores.size(); ++i) {
      const Score& score = record_.scores[i];
      const Place where{"scores", i};
      if (!CheckLeafOf(score.leaf, where, &seen)) continue;
      for (size_t t = 0; t < score.terms.size(); ++t) {
        CheckTerm(score.terms[t], tree_.leaves[score.leaf].node, where.Part("terms", t));
      }
    }
  }

  void CheckTerm(const RewardTerm& term, NodeId end, const Place& where) {
    if (term.name.empty()) Problem(where, "has no name");
    if (term.value && !std::isfinite(*term.value)) Problem(where, "value is not finite");
    if (!std::isfinite(term.weight)) Problem(where, "weight is not finite");
    if (term.value && term.fault) Problem(where, "has a value and a fault: it can have only one");
    if (term.fault && term.fault->blame == Blame::kNone) Problem(where, "its fault blames nobody");
    if (term.node == kNoNode) {
      if (term.span) Problem(where, "has a span but no node");
    } else if (!IsNode(term.node) || !IsOnPathTo(term.node, end)) {
      Problem(where, fmt::format("node {} is not on the leaf's path", term.node));
    } else if (term.span && !IsInside(*term.span, tree_.nodes[term.node])) {
      Problem(where, "its span lies outside the node's tokens");
    }
  }

  void CheckAdvantages() {
    std::set<int32_t> seen;
    for (size_t i = 0; i < record_.advantages.size(); ++i) {
      const Advantages& advantages = record_.advantages[i];
      const Place where{"advantages", i};
      if (!CheckLeafOf(advantages.leaf, where, &seen)) continue;
      const size_t policy_tokens = policy_tokens_[tree_.leaves[advantages.leaf].node];
      if (advantages.values.size() != policy_tokens) {
        Problem(where, fmt::format("has {} values for {} policy tokens", advantages.values.size(),
                                   policy_tokens));
      }
      if (std::any_of(advantages.values.begin(), advantages.values.end(),
                      [](float x) { return !std::isfinite(x); })) {
        Problem(where, "a value is not finite");
      }
    }
  }

  const ScoredTree& record_;
  const Tree& tree_;
  std::vector<std::string> problems_;
  // Per node: the numbers of the nodes below it, itself first, are [first_, last_); the tokens of
  // the policy up to its end.
  std::vector<int64_t> first_, last_;
  std::vector<size_t> policy_tokens_;
};

}  // namespace

std::vector<std::string> Validate(const ScoredTree& record) { return Validator(record).Run(); }

}  // namespace hone
