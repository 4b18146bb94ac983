#include "support/random_record.h"

#include <algorithm>

namespace hone {
namespace {

constexpr int kVocabulary = 5000;

Json RandomJson(Rng* rng, int depth) {
  switch (rng->Below(depth < 3 ? 8 : 6)) {
    case 0: return Json();
    case 1: return rng->Below(2) == 0;
    case 2: return static_cast<int64_t>(rng->NextU64());
    case 3: return rng->NextNormal();
    case 4: return BigInteger{"1" + std::string(25, '7')};
    case 5: return RandomText(rng, 12);
    case 6: {
      Json::Array array;
      for (uint64_t i = rng->Below(4); i > 0; --i) array.push_back(RandomJson(rng, depth + 1));
      return array;
    }
    default: {
      Json object = Json::Object();
      for (uint64_t i = rng->Below(4); i > 0; --i)
        object.Set(RandomText(rng, 5), RandomJson(rng, depth + 1));
      return object;
    }
  }
}

Json RandomObject(Rng* rng) {
  Json object = Json::Object();
  for (uint64_t i = rng->Below(4); i > 0; --i) object.Set(RandomText(rng, 5), RandomJson(rng, 1));
  return object;
}

std::vector<TokenId> RandomTokens(Rng* rng, uint64_t least) {
  std::vector<TokenId> tokens(least + rng->Below(20));
  for (TokenId& token : tokens) token = static_cast<TokenId>(rng->Below(kVocabulary));
  return tokens;
}

void FillPolicyNode(Rng* rng, Node* node) {
  node->tokens = RandomTokens(rng, 6);
  const bool restricted = rng->Below(2) == 0;
  node->sampling.temperature = restricted ? 0.7f : 1.0f;
  if (restricted) node->sampling.top_k = 4;
  node->policy_version = static_cast<int64_t>(rng->Below(100));
  if (rng->Below(4) == 0) node->token_versions.assign(node->tokens.size(), node->policy_version);
  for (const TokenId token : node->tokens) {
    node->logprobs.push_back(-static_cast<float>(rng->NextDouble()) * 3);
    node->entropies.push_back(static_cast<float>(rng->NextDouble()) * 5);
    if (!restricted) continue;
    Support support;
    for (int i = 0; i < 3; ++i)
      support.kept.push_back(static_cast<TokenId>(rng->Below(kVocabulary)));
    support.kept.push_back(token);
    std::sort(support.kept.begin(), support.kept.end());
    support.kept.erase(std::unique(support.kept.begin(), support.kept.end()), support.kept.end());
    node->supports.push_back(std::move(support));
  }
  for (int32_t c = static_cast<int32_t>(rng->Below(3)); c > 0; --c) {
    const auto at = static_cast<int32_t>(node->calls.size()) * 2;
    node->calls.push_back({"tool_" + RandomText(rng, 4), RandomObject(rng), {at, at + 2}});
  }
  if (rng->Below(5) == 0) {
    node->faults.push_back({FaultKind::kBadJson, RandomText(rng, 20), {4, 6}});
  }
  if (node->policy_version % 3 == 0) {
    node->thoughts = {{3, 4}, {4, 6}};
    node->closed_thoughts = static_cast<int32_t>(node->policy_version % 2);
  }
}

void FillToolNode(Rng* rng, const Node& parent, Node* node) {
  node->tokens = RandomTokens(rng, 1);
  for (size_t c = 0; c < parent.calls.size(); ++c) {
    ToolResult result;
    result.call = static_cast<int32_t>(c);
    result.content = RandomText(rng, 30);
    if (rng->Below(4) == 0) {
      result.status = CallStatus::kTimeout;
      result.blame = Blame::kTool;
      result.attempts = 3;
      result.latency_us = 1234567;
      result.cut_bytes = 99;
      result.injected = "slow";
    }
    node->results.push_back(std::move(result));
  }
}

std::vector<NodeId> Ends(const Tree& tree) {
  std::vector<bool> goes_on(tree.nodes.size(), false);
  for (const Node& node : tree.nodes) {
    if (node.parent != kNoNode) goes_on[node.parent] = true;
    if (node.folded_from != kNoNode) goes_on[node.folded_from] = true;
  }
  std::vector<NodeId> ends;
  for (size_t i = 0; i < goes_on.size(); ++i) {
    if (!goes_on[i]) ends.push_back(static_cast<NodeId>(i));
  }
  return ends;
}

}  // namespace

std::string RandomText(Rng* rng, size_t longest) {
  static const std::vector<std::string> kPieces = {"a",
                                                   "Z",
                                                   "0",
                                                   " ",
                                                   "\n",
                                                   "\t",
                                                   "\"",
                                                   "\\",
                                                   "{",
                                                   "}",
                                                   "<",
                                                   ">",
                                                   "</",
                                                   "é",
                                                   "語",
                                                   "😀",
                                                   std::string("\0", 1),
                                                   "\x7f",
                                                   "<tool_call>",
                                                   "&",
                                                   "'"};
  std::string text;
  for (uint64_t i = rng->Below(longest + 1); i > 0; --i)
    text += kPieces[rng->Below(kPieces.size())];
  return text;
}

ScoredTree RandomRecord(Rng rng) {
  ScoredTree record;
  Tree& tree = record.tree;
  tree.task.id = "task-" + std::to_string(rng.Below(1000));
  tree.task.messages = Json::Array{Json::Of({{"role", "user"}, {"content", RandomText(&rng, 30)}})};
  tree.task.answer = RandomJson(&rng, 0);
  tree.task.metadata = RandomJson(&rng, 0);
  tree.seed = rng.NextU64();
  tree.nodes.emplace_back();
  tree.nodes[0].tokens = RandomTokens(&rng, 3);

  for (uint64_t more = 2 + rng.Below(10); more > 0; --more) {
    Node node;
    const auto last = static_cast<NodeId>(tree.nodes.size()) - 1;
    node.parent = static_cast<NodeId>(rng.Below(tree.nodes.size()));
    if (rng.Below(12) == 0 && tree.nodes[last].author == Author::kPolicy) {
      node.parent = kNoNode;
      node.folded_from = last;
      node.tokens = RandomTokens(&rng, 2);
    } else if (tree.nodes[node.parent].author != Author::kPolicy) {
      node.author = Author::kPolicy;
      FillPolicyNode(&rng, &node);
    } else if (rng.Below(3) == 0) {
      node.author = Author::kUser;
      node.tokens = RandomTokens(&rng, 1);
    } else {
      node.author = Author::kTool;
      FillToolNode(&rng, tree.nodes[node.parent], &node);
    }
    tree.nodes.push_back(std::move(node));
  }
  for (const NodeId end : Ends(tree)) {
    Leaf leaf;
    leaf.node = end;
    leaf.ending = static_cast<Ending>(rng.Below(10));
    if (leaf.ending == Ending::kFailed) leaf.blame = Blame::kInfrastructure;
    leaf.final_state = RandomJson(&rng, 1);
    tree.leaves.push_back(std::move(leaf));
  }
  for (size_t i = 0; i < tree.leaves.size(); ++i) {
    if (rng.Below(3) == 0) continue;  // not every leaf is scored
    const auto path = WholePathTo(tree, tree.leaves[i].node);
    Score score{static_cast<int32_t>(i), {{"outcome", rng.NextNormal(), 10.0, kNoNode, {}}}};
    score.terms.push_back({"judge", std::nullopt, 1.0, path.back(), {}});
    score.terms.push_back(
        {"late", std::nullopt, 1.0, kNoNode, {}, TermFault{Blame::kJudge, "no answer in time"}});
    score.terms.push_back({"syntax", 0.5, 1.0, path[0], Span{0, 2}});
    record.scores.push_back(std::move(score));
    Advantages advantages{static_cast<int32_t>(i), {}};
    for (const NodeId id : path) {
      if (tree.nodes[id].author != Author::kPolicy) continue;
      for (size_t t = 0; t < tree.nodes[id].tokens.size(); ++t) {
        advantages.values.push_back(static_cast<float>(rng.NextNormal()));
      }
    }
    record.advantages.push_back(std::move(advantages));
  }
  return record;
}

}  // namespace hone
