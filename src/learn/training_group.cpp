#include "learn/training_group.h"

#include <algorithm>

#include "base/check.h"

namespace hone {
namespace {

// What the engine reads of a node.
Node BareNode(const Node& node) {
  Node bare;
  bare.parent = node.parent;
  bare.author = node.author;
  bare.tokens = node.tokens;
  bare.sampling = node.sampling;
  bare.supports = node.supports;
  return bare;
}

// Whether the tokens of a node were drawn from a distribution that can be differentiated.
bool WasDrawn(const Node& node) {
  return node.author == Author::kPolicy && node.sampling.temperature > 0 &&
         node.logprobs.size() == node.tokens.size();
}

// Numbers per token of nodes as numbers per position of each path.
std::vector<std::vector<float>> OnPaths(const Tree& tree, const TreeLogprobs& tree_logprobs,
                                        std::vector<float> NodeLogprobs::*member) {
  CHECK(tree_logprobs.size() == tree.nodes.size(), "log-probs of another tree");
  std::vector<std::vector<float>> paths;
  for (const Leaf& leaf : tree.leaves) {
    paths.emplace_back();
    for (const NodeId node : PathTo(tree, leaf.node)) {
      const std::vector<float>& values = tree_logprobs[static_cast<size_t>(node)].*member;
      paths.back().insert(paths.back().end(), values.begin(), values.end());
    }
  }
  return paths;
}

std::vector<float> At(const std::vector<std::vector<float>>& paths, const Sequence& sequence,
                      int32_t shift) {
  std::vector<float> values;
  values.reserve(sequence.size());
  for (const TokenPlace& place : sequence.places) {
    values.push_back(
        paths[static_cast<size_t>(place.path)].at(static_cast<size_t>(place.position - shift)));
  }
  return values;
}

bool AllZero(const Advantages& advantages) {
  return std::all_of(advantages.values.begin(), advantages.values.end(),
                     [](float value) { return value == 0; });
}

}  // namespace

std::vector<NodeId> SegmentEnds(const Tree& tree, NodeId node) {
  std::vector<NodeId> ends;
  while (node != kNoNode) {
    ends.push_back(node);
    const NodeId root = PathTo(tree, node).front();
    node = tree.nodes[static_cast<size_t>(root)].folded_from;
  }
  std::reverse(ends.begin(), ends.end());
  return ends;
}

TrainingGroup MakeTrainingGroup(const Tree& tree, std::span<const Advantages> advantages,
                                const TreeLogprobs* of_results) {
  CHECK(of_results == nullptr || of_results->size() == tree.nodes.size(),
        "log-probs of another tree");
  TrainingGroup group;
  group.tree.seed = tree.seed;
  for (const Node& node : tree.nodes) group.tree.nodes.push_back(BareNode(node));
  group.tokens = CountTokens(tree);
  std::vector<const Advantages*> ordered;
  for (const Advantages& one : advantages) ordered.push_back(&one);
  std::sort(ordered.begin(), ordered.end(),
            [](const Advantages* a, const Advantages* b) { return a->leaf < b->leaf; });
  for (const Advantages* one : ordered) {
    Sequence sequence;
    sequence.leaf = one->leaf;
    const std::vector<NodeId> ends =
        SegmentEnds(tree, tree.leaves.at(static_cast<size_t>(one->leaf)).node);
    auto path = static_cast<int32_t>(group.tree.leaves.size());
    int32_t flat = 0;
    for (const NodeId end : ends) {
      int32_t position = 0;
      for (const NodeId id : PathTo(tree, end)) {
        const Node& node = tree.nodes[static_cast<size_t>(id)];
        const auto begin = static_cast<int32_t>(sequence.size());
        const bool result = of_results != nullptr && node.author == Author::kTool && flat > 0;
        const std::vector<float>& drawn =
            result ? (*of_results)[static_cast<size_t>(id)].logprobs : node.logprobs;
        for (size_t t = 0; t < node.tokens.size(); ++t, ++position) {
          if (!result && node.author != Author::kPolicy) continue;
          const int32_t at = result ? flat - 1 : flat++;
          if ((!result && !WasDrawn(node)) || position == 0) continue;
          sequence.places.push_back({path, position});
          sequence.flat.push_back(at);
          sequence.advantages.push_back(one->values.at(static_cast<size_t>(at)));
          sequence.sampled.push_back(drawn[t]);
        }
        const auto now = static_cast<int32_t>(sequence.size());
        if (now > begin) sequence.turns.push_back({begin, now});
      }
      ++path;
    }
    CHECK(static_cast<size_t>(flat) == one->values.size(), "advantages of another tree");
    if (sequence.size() == 0) continue;
    sequence.old = sequence.sampled;
    for (const NodeId end : ends) group.tree.leaves.push_back({.node = end});
    group.sequences.push_back(std::move(sequence));
  }
  return group;
}

std::vector<Advantages> AdvantagesInLoss(const Credit& credit) {
  std::vector<bool> out(credit.advantages.size(), false);
  for (const Note& note : credit.notes) {
    if (note.kind == NoteKind::kGroupDropped) return {};
    for (size_t i = 0; i < out.size(); ++i) {
      const Advantages& one = credit.advantages[i];
      if (one.leaf != note.leaf) continue;
      if (note.kind == NoteKind::kMasked || note.kind == NoteKind::kOthersFault ||
          (note.kind == NoteKind::kUnscored && AllZero(one))) {
        out[i] = true;
      }
    }
  }
  std::vector<Advantages> in;
  for (size_t i = 0; i < out.size(); ++i) {
    if (!out[i]) in.push_back(credit.advantages[i]);
  }
  // A group that shrank to one has nobody to compare with.
  if (in.size() == 1 && out.size() > 1 && AllZero(in[0])) in.clear();
  return in;
}

std::vector<std::vector<float>> LogProbsOf(const TrainingGroup& group,
                                           const TreeLogprobs& tree_logprobs) {
  const auto on_paths = OnPaths(group.tree, tree_logprobs, &NodeLogprobs::logprobs);
  std::vector<std::vector<float>> logprobs;
  for (const Sequence& sequence : group.sequences) logprobs.push_back(At(on_paths, sequence, 0));
  return logprobs;
}

void SetReference(const TreeLogprobs& tree_logprobs, TrainingGroup* group) {
  std::vector<std::vector<float>> logprobs = LogProbsOf(*group, tree_logprobs);
  for (size_t i = 0; i < logprobs.size(); ++i) {
    group->sequences[i].reference = std::move(logprobs[i]);
  }
}

void SetOld(const TreeLogprobs& tree_logprobs, TrainingGroup* group) {
  std::vector<std::vector<float>> logprobs = LogProbsOf(*group, tree_logprobs);
  const auto values = OnPaths(group->tree, tree_logprobs, &NodeLogprobs::values);
  for (size_t i = 0; i < logprobs.size(); ++i) {
    Sequence& sequence = group->sequences[i];
    sequence.old = std::move(logprobs[i]);
    const bool critic = !values[static_cast<size_t>(sequence.places[0].path)].empty();
    if (critic) sequence.old_values = At(values, sequence, 1);
  }
}

void SetReturns(std::span<const Advantages> returns, TrainingGroup* group) {
  for (Sequence& sequence : group->sequences) {
    const auto found = std::find_if(returns.begin(), returns.end(), [&](const Advantages& one) {
      return one.leaf == sequence.leaf;
    });
    CHECK(found != returns.end(), "a trajectory without returns");
    sequence.returns.clear();
    for (const int32_t at : sequence.flat) {
      sequence.returns.push_back(found->values.at(static_cast<size_t>(at)));
    }
  }
}

CriticValues ValuesBefore(const Tree& tree, const TreeLogprobs& tree_logprobs) {
  CHECK(tree_logprobs.size() == tree.nodes.size(), "log-probs of another tree");
  CriticValues before(tree.nodes.size());
  std::vector<float> last(tree.nodes.size(), 0.0f);  // after each node's last token
  for (size_t n = 0; n < tree.nodes.size(); ++n) {
    const NodeId parent = tree.nodes[n].parent;
    last[n] = parent == kNoNode ? 0.0f : last[static_cast<size_t>(parent)];
    for (const float value : tree_logprobs[n].values) {
      before[n].push_back(last[n]);
      last[n] = value;
    }
  }
  return before;
}

}  // namespace hone
