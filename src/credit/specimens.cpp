#include "credit/specimens.h"

#include "record/reward_terms.h"

#include <map>

namespace hone::lab {

std::string SpecOf(const std::string& method) {
  static const std::map<std::string, std::string> settings = {
      {"gae-token", "whiten=no"},
      {"gae-turn", "whiten=no"},
      {"gae-two-level", "whiten=no"},
      {"turn-ppo", "whiten=no"},
      {"igpo", "turns=call"},
      {"stepsearch", "turns=call"},
      {"steptool", "steps=call,whiten=no"},
      {"otc-ppo", "whiten=no"},
      {"awpo", "quality=call"},
      {"spear-replay", "baseline=0.5"},
      {"cm2-turn", "least=2"},
      {"cm2-step", "least=2"},
  };
  const auto found = settings.find(method);
  return found == settings.end() ? method : method + ":" + found->second;
}

namespace {

Node PolicyNode(NodeId parent, int tokens) {
  Node node;
  node.parent = parent;
  node.author = Author::kPolicy;
  node.tokens.assign(tokens, 7);
  node.logprobs.assign(tokens, -0.5f);
  node.entropies.assign(tokens, 0.7f);
  return node;
}

class Maker {
 public:
  Maker(Rng rng, const RandomGroupOptions& options) : rng_(rng), options_(options) {
    skill_ = 0.2 + 0.6 * rng_.NextDouble();
  }

  RandomGroup Make() {
    Tree& tree = group_.record.tree;
    tree.task.id = "random";
    Node prompt;
    prompt.tokens = {1, 2, 3};
    tree.nodes.push_back(std::move(prompt));
    const bool branches = rng_.Below(2) == 0;
    const int leaves = 4 + static_cast<int>(rng_.Below(5));
    for (int i = 0; i < leaves; ++i) {
      // A branch goes on behind a tool result of an earlier trajectory.
      const bool shares = branches && !results_.empty() && rng_.Below(2) == 0;
      Extend(shares ? results_[rng_.Below(results_.size())] : NodeId{0}, i);
    }
    return std::move(group_);
  }

 private:
  void Extend(NodeId from, int leaf) {
    Tree& tree = group_.record.tree;
    NodeId last = from;
    const auto calls = static_cast<int>(rng_.Below(4));
    for (int c = 0; c < calls; ++c) {
      const int before = static_cast<int>(rng_.Below(4)),
                size = 2 + static_cast<int>(rng_.Below(4));
      Node turn = PolicyNode(last, before + size + static_cast<int>(rng_.Below(2)));
      turn.calls.push_back({"tool", Json::Object(), {before, before + size}});
      last = static_cast<NodeId>(tree.nodes.size());
      const double draw = rng_.NextDouble();
      value_[last] = draw < skill_ ? 1.0 : draw < 0.5 + skill_ / 2 ? -0.25 : -0.5;
      tree.nodes.push_back(std::move(turn));
      Node result;
      result.parent = last;
      result.author = Author::kTool;
      result.tokens = {static_cast<TokenId>(10 + rng_.Below(2))};
      ToolResult answer;
      answer.status = value_[last] == -0.5 ? CallStatus::kToolError : CallStatus::kOk;
      answer.blame = value_[last] == -0.5 ? Blame::kAgent : Blame::kNone;
      result.results.push_back(std::move(answer));
      last = static_cast<NodeId>(tree.nodes.size());
      tree.nodes.push_back(std::move(result));
      results_.push_back(last);
    }
    tree.nodes.push_back(PolicyNode(last, 1 + static_cast<int>(rng_.Below(5))));
    tree.leaves.push_back(
        {static_cast<NodeId>(tree.nodes.size()) - 1, Ending::kAnswered, Blame::kNone, Json()});
    if (options_.greedy && leaf == 0) {
      for (Node& node : tree.nodes) node.sampling.temperature = 0;
    }
    Judge(leaf);
  }

  void Judge(int32_t leaf) {
    const Tree& tree = group_.record.tree;
    Score score{leaf, {}};
    int32_t flat = 0;
    int rights = 0;
    bool clean = true;
    for (const NodeId id : WholePathTo(tree, tree.leaves[leaf].node)) {
      const Node& node = tree.nodes[id];
      if (node.author != Author::kPolicy) continue;
      for (const Call& call : node.calls) {
        const bool right = value_[id] > 0;
        group_.calls.push_back({leaf, {flat + call.span.begin, flat + call.span.end}, right});
        clean = clean && right;
        if (options_.criteria && right) AddCriterion(++rights, 1.0, id, &score);
        if (!options_.criteria) score.terms.push_back({kCallTerm, value_[id], 1, id, call.span});
      }
      flat += static_cast<int32_t>(node.tokens.size());
    }
    for (int c = rights + 1; options_.criteria && c <= 3; ++c) {
      AddCriterion(c, 0.0, tree.leaves[leaf].node, &score);
    }
    const double outcome = rng_.NextDouble() < (clean ? 0.7 : 0.25) ? 1 : 0;
    if (!options_.criteria) score.terms.push_back({kOutcomeTerm, outcome, 1, kNoNode, {}});
    group_.record.scores.push_back(std::move(score));
  }

  static void AddCriterion(int number, double met, NodeId node, Score* score) {
    score->terms.push_back({"criterion:" + std::to_string(number), met, 1.0 / 3, node, {}});
  }

  Rng rng_;
  RandomGroupOptions options_;
  double skill_;
  RandomGroup group_;
  std::vector<NodeId> results_;
  std::map<NodeId, double> value_;  // what the call of a node earned
};

}  // namespace

RandomGroup MakeRandomGroup(Rng rng, const RandomGroupOptions& options) {
  return Maker(rng, options).Make();
}

}  // namespace hone::lab
