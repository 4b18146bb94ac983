#include "record/difference.h"

#include <algorithm>
#include <bit>

#include <fmt/format.h>

#include "record/record_json.h"

namespace hone {
namespace {

constexpr size_t kMostShown = 300;  // bytes of a text

std::string Short(std::string text) {
  if (text.size() <= kMostShown) return text;
  text.resize(kMostShown);
  return text + "...";
}

std::string TextOf(const std::string& value) { return Short(DumpJson(Json(value))); }
std::string TextOf(const Json& value) { return Short(DumpJson(value)); }
std::string TextOf(int64_t value) { return fmt::format("{}", value); }
std::string TextOf(int32_t value) { return fmt::format("{}", value); }
std::string TextOf(uint64_t value) { return fmt::format("{}", value); }
std::string TextOf(std::string_view value) { return std::string(value); }
std::string TextOf(float value) {
  return fmt::format("{} (bits {:08x})", value, std::bit_cast<uint32_t>(value));
}
std::string TextOf(double value) {
  return fmt::format("{} (bits {:016x})", value, std::bit_cast<uint64_t>(value));
}
std::string TextOf(const std::optional<double>& value) {
  return value ? TextOf(*value) : "not scored";
}
std::string TextOf(const Support& value) {
  return Short(fmt::format("{}", fmt::join(value.kept, " ")));
}
std::string TextOf(const Span& value) {
  return fmt::format("tokens {} to {}", value.begin, value.end);
}
std::string TextOf(const Call& value) {
  return Short(
      fmt::format("{} {} ({})", value.name, DumpJson(value.arguments), TextOf(value.span)));
}
std::string TextOf(const Fault& value) {
  return Short(
      fmt::format("{}: {} ({})", FaultKindName(value.kind), value.message, TextOf(value.span)));
}
std::string TextOf(const ToolResult& value) { return Short(DumpJson(ToolResultToJson(value))); }
std::string TextOf(const Sampling& value) {
  return fmt::format("temperature {}, top_k {}, top_p {}, min_p {}, forbidden set {}",
                     value.temperature, value.top_k, value.top_p, value.min_p, value.forbidden_set);
}
std::string TextOf(const RewardTerm& value) {
  return fmt::format("{} {} times {} at node {}{}", value.name, TextOf(value.value), value.weight,
                     value.node, value.span ? ", " + TextOf(*value.span) : "");
}

bool Same(float a, float b) { return std::bit_cast<uint32_t>(a) == std::bit_cast<uint32_t>(b); }
// Times are not derived.
bool Same(ToolResult a, ToolResult b) {
  a.latency_us = b.latency_us = 0;
  return a == b;
}
template <typename T>
bool Same(const T& a, const T& b) {
  return a == b;
}

// Looks until something differs; afterwards it looks at nothing.
class Search {
 public:
  Search(const ScoredTree& derived, const ScoredTree& stored)
      : derived_(derived), stored_(stored) {}

  std::optional<RecordDifference> Run() {
    const Tree &a = derived_.tree, &b = stored_.tree;
    One("task", a.task.id, b.task.id);
    One("task", TaskToJson(a.task), TaskToJson(b.task));
    One("seed", a.seed, b.seed);
    for (size_t i = 0; i < std::min(a.nodes.size(), b.nodes.size()); ++i) LookAtNode(i);
    node_.reset();
    One("number of turns", a.nodes.size(), b.nodes.size());
    for (size_t i = 0; i < std::min(a.leaves.size(), b.leaves.size()); ++i) LookAtLeaf(i);
    trajectory_.reset();
    One("number of trajectories", a.leaves.size(), b.leaves.size());
    LookAtScores();
    LookAtAdvantages();
    return found_;
  }

 private:
  template <typename T>
  void One(const char* part, const T& derived, const T& stored,
           std::optional<int64_t> index = std::nullopt) {
    if (found_ || Same(derived, stored)) return;
    found_ = RecordDifference{.part = part,
                              .trajectory = trajectory_,
                              .node = node_,
                              .index = index,
                              .derived = TextOf(derived),
                              .stored = TextOf(stored)};
  }
  template <typename T>
  void All(const char* part, const std::vector<T>& derived, const std::vector<T>& stored) {
    const size_t both = std::min(derived.size(), stored.size());
    for (size_t i = 0; i < both && !found_; ++i) {
      One(part, derived[i], stored[i], static_cast<int64_t>(i));
    }
    if (found_ || derived.size() == stored.size()) return;
    const auto text = [&](const std::vector<T>& list) {
      return list.size() == both ? fmt::format("{} of them", both) : TextOf(list[both]);
    };
    found_ = RecordDifference{.part = part,
                              .trajectory = trajectory_,
                              .node = node_,
                              .index = static_cast<int64_t>(both),
                              .derived = text(derived),
                              .stored = text(stored)};
  }

  // The first trajectory with this node on its path, as it was stored.
  std::optional<int32_t> TrajectoryOf(NodeId node) const {
    const Tree& tree = stored_.tree;
    for (size_t leaf = 0; leaf < tree.leaves.size(); ++leaf) {
      const std::vector<NodeId> path = WholePathTo(tree, tree.leaves[leaf].node);
      if (std::find(path.begin(), path.end(), node) != path.end()) {
        return static_cast<int32_t>(leaf);
      }
    }
    return std::nullopt;
  }

  void LookAtNode(size_t i) {
    const Node &a = derived_.tree.nodes[i], &b = stored_.tree.nodes[i];
    if (found_) return;
    node_ = static_cast<NodeId>(i);
    One("place", a.parent, b.parent);
    One("place", a.folded_from, b.folded_from);
    One("place", a.rewritten, b.rewritten);
    One("author", AuthorName(a.author), AuthorName(b.author));
    All("results", a.results, b.results);  // before their tokens, which are made of them
    All("tokens", a.tokens, b.tokens);
    All("logprobs", a.logprobs, b.logprobs);
    All("entropies", a.entropies, b.entropies);
    All("supports", a.supports, b.supports);
    One("sampling", a.sampling, b.sampling);
    All("calls", a.calls, b.calls);
    All("faults", a.faults, b.faults);
    // Records from before thoughts were told apart have none.
    if (!b.thoughts.empty()) All("thoughts", a.thoughts, b.thoughts);
    One("closed thoughts", a.closed_thoughts, b.closed_thoughts);
    One("policy version", a.policy_version, b.policy_version);
    All("token versions", a.token_versions, b.token_versions);
    if (found_ && !found_->trajectory) found_->trajectory = TrajectoryOf(*node_);
  }

  void LookAtLeaf(size_t i) {
    const Leaf &a = derived_.tree.leaves[i], &b = stored_.tree.leaves[i];
    trajectory_ = static_cast<int32_t>(i);
    One("last turn", a.node, b.node);
    One("ending", EndingName(a.ending), EndingName(b.ending));
    One("blame", BlameName(a.blame), BlameName(b.blame));
    One("final state", a.final_state, b.final_state);
  }

  void LookAtScores() {
    const std::vector<Score>&a = derived_.scores, &b = stored_.scores;
    for (size_t i = 0; i < std::min(a.size(), b.size()) && !found_; ++i) {
      trajectory_ = b[i].leaf;
      One("scored trajectory", a[i].leaf, b[i].leaf);
      for (size_t t = 0; t < std::min(a[i].terms.size(), b[i].terms.size()) && !found_; ++t) {
        if (b[i].terms[t].node != kNoNode) node_ = b[i].terms[t].node;
        One("rewards", a[i].terms[t], b[i].terms[t], static_cast<int64_t>(t));
        node_.reset();
      }
      One("number of rewards", a[i].terms.size(), b[i].terms.size());
    }
    trajectory_.reset();
    One("number of scored trajectories", a.size(), b.size());
  }

  // A place in the flat list of a trajectory's own tokens, as node and token.
  void Locate(int32_t leaf, int64_t flat) {
    const Tree& tree = stored_.tree;
    if (leaf < 0 || static_cast<size_t>(leaf) >= tree.leaves.size()) return;
    for (const NodeId id : WholePathTo(tree, tree.leaves[static_cast<size_t>(leaf)].node)) {
      const Node& node = tree.nodes[static_cast<size_t>(id)];
      if (node.author != Author::kPolicy) continue;
      const auto size = static_cast<int64_t>(node.tokens.size());
      if (flat < size) {
        found_->node = id;
        found_->index = flat;
        return;
      }
      flat -= size;
    }
  }

  void LookAtAdvantages() {
    const std::vector<Advantages>&a = derived_.advantages, &b = stored_.advantages;
    for (size_t i = 0; i < std::min(a.size(), b.size()) && !found_; ++i) {
      trajectory_ = b[i].leaf;
      One("credited trajectory", a[i].leaf, b[i].leaf);
      const bool before = found_.has_value();
      All("advantages", a[i].values, b[i].values);
      if (!before && found_) Locate(b[i].leaf, *found_->index);
    }
    trajectory_.reset();
    One("number of credited trajectories", a.size(), b.size());
  }

  const ScoredTree &derived_, &stored_;
  std::optional<int32_t> trajectory_;
  std::optional<NodeId> node_;
  std::optional<RecordDifference> found_;
};

}  // namespace

std::string RecordDifference::Place() const {
  std::vector<std::string> parts;
  if (trajectory) parts.push_back(fmt::format("trajectory {}", *trajectory));
  if (node) parts.push_back(fmt::format("node {}", *node));
  if (index) {
    const char* what = part == "calls"      ? "call"
                       : part == "results"  ? "call"
                       : part == "faults"   ? "fault"
                       : part == "thoughts" ? "thought"
                       : part == "rewards"  ? "reward"
                                            : "token";
    parts.push_back(fmt::format("{} {}", what, *index));
  }
  return fmt::format("{}", fmt::join(parts, ", "));
}

std::optional<RecordDifference> FirstDifference(const ScoredTree& derived,
                                                const ScoredTree& stored) {
  return Search(derived, stored).Run();
}

}  // namespace hone
