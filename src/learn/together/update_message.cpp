#include "learn/together/update_message.h"

#include "base/check.h"
#include "cluster/wire.h"

// Every field of what is sent, once for both ways. What is added to one of these types and not here
// would be another thing in another process: the sizes say so when this is compiled.

namespace hone {

template <typename Wire>
void Fields(Wire& wire, KlOptions& o) {
  static_assert(sizeof(KlOptions) == 56);
  wire(o.coefficient, o.estimator, o.straight_through, o.unbiased, o.place, o.target, o.horizon,
       o.sync_every, o.sync_mix);
}
template <typename Wire>
void Fields(Wire& wire, ValueOptions& o) {
  static_assert(sizeof(ValueOptions) == 40);
  wire(o.coefficient, o.clip, o.learning_rate, o.warmup, o.normalise);
}
template <typename Wire>
void Fields(Wire& wire, CorrectionOptions& o) {
  static_assert(sizeof(CorrectionOptions) == 40);
  wire(o.kind, o.sequence, o.cap, o.two_sided, o.normalise, o.veto, o.most_kl);
}
template <typename Wire>
void Fields(Wire& wire, CovarianceOptions& o) {
  static_assert(sizeof(CovarianceOptions) == 32);
  wire(o.share, o.lower, o.upper, o.kl_coefficient);
}
template <typename Wire>
void Fields(Wire& wire, EntropyTarget& o) {
  static_assert(sizeof(EntropyTarget) == 24);
  wire(o.nats, o.step, o.most);
}
template <typename Wire>
void Fields(Wire& wire, ObjectiveOptions& o) {
  static_assert(sizeof(ObjectiveOptions) == 320);
  wire(o.name, o.policy, o.clip_low, o.clip_high, o.dual_clip, o.ratio, o.aggregation,
       o.norm_length, o.temperature_up, o.temperature_down, o.weight, o.entropy, o.entropy_target,
       o.low_probability, o.learn_results, o.covariance, o.kl, o.value, o.correction);
}
template <typename Wire>
void Fields(Wire& wire, OptimizerOptions& o) {
  static_assert(sizeof(OptimizerOptions) == 80);
  wire(o.kind, o.learning_rate, o.beta1, o.beta2, o.eps, o.momentum, o.weight_decay, o.max_norm,
       o.head_learning_rate, o.head_only);
}
template <typename Wire>
void Fields(Wire& wire, BatchOptions& o) {
  static_assert(sizeof(BatchOptions) == 32);
  wire(o.mini_batches, o.epochs, o.call_tokens, o.slices);
}
template <typename Wire>
void Fields(Wire& wire, UpdateOptions& o) {
  wire(o.objective, o.optimizer, o.batches, o.shared, o.on_policy, o.replayed, o.replay_objective);
}

template <typename Wire>
void Fields(Wire& wire, TokenPlace& place) {
  wire(place.path, place.position);
}
template <typename Wire>
void Fields(Wire& wire, Span& span) {
  wire(span.begin, span.end);
}
template <typename Wire>
void Fields(Wire& wire, Sequence& s) {
  static_assert(sizeof(Sequence) == 8 + 9 * sizeof(std::vector<float>));
  wire(s.leaf, s.places, s.flat, s.advantages, s.sampled, s.old, s.reference, s.old_values,
       s.returns, s.turns);
}
template <typename Wire>
void Fields(Wire& wire, Sampling& s) {
  wire(s.temperature, s.top_k, s.top_p, s.min_p, s.forbidden_set);
}
template <typename Wire>
void Fields(Wire& wire, Support& support) {
  wire(support.kept);
}
// What training and the engine read of a tree (MakeTrainingGroup).
template <typename Wire>
void Fields(Wire& wire, Node& node) {
  wire(node.parent, node.author, node.tokens, node.sampling, node.supports);
}
template <typename Wire>
void Fields(Wire& wire, Leaf& leaf) {
  wire(leaf.node);
}
template <typename Wire>
void Fields(Wire& wire, TrainingGroup& group) {
  wire(group.tree.seed, group.tree.nodes, group.tree.leaves, group.sequences, group.tokens);
}

std::string WriteUpdate(const UpdateOptions& options, std::span<const TrainingGroup> groups) {
  WireWriter writer;
  writer(options, groups.size());
  for (const TrainingGroup& group : groups) writer(group);
  return writer.Take();
}

UpdateMessage ReadUpdate(std::string_view bytes) {
  UpdateMessage message;
  WireReader reader(bytes);
  reader(message.options, message.groups);
  CHECK(reader.whole(), "an update of another process is cut off");
  return message;
}

}  // namespace hone
