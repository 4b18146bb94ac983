#include "learn/objective.h"

#include <algorithm>
#include <cmath>
#include <cstring>
#include <numeric>
#include <utility>

#include "base/check.h"
#include "base/exact_math.h"
#include "cluster/wire.h"
#include "learn/covariance.h"
#include "learn/critic.h"
#include "learn/kl.h"
#include "learn/losses/policy_loss.h"

namespace hone {
namespace {

double LogWeight(const Sequence& sequence, size_t t) {
  return static_cast<double>(sequence.old[t]) - static_cast<double>(sequence.sampled[t]);
}

double WeightOf(const CorrectionOptions& options, double log_weight) {
  const double weight = Exponential(std::clamp(log_weight, -kMostLogRatio, kMostLogRatio));
  if (options.kind == CorrectionOptions::Kind::kFull) return weight;
  if (options.kind == CorrectionOptions::Kind::kTruncate) return std::min(weight, options.cap);
  const bool out = weight > options.cap || (options.two_sided && weight < 1 / options.cap);
  return out ? 0 : weight;
}

std::vector<double> WeightsOf(const CorrectionOptions& options, const Sequence& sequence) {
  std::vector<double> weights(sequence.size());
  double sum = 0;
  for (size_t t = 0; t < weights.size(); ++t) {
    weights[t] = WeightOf(options, LogWeight(sequence, t));
    sum += LogWeight(sequence, t);
  }
  if (options.sequence) std::fill(weights.begin(), weights.end(), WeightOf(options, sum));
  return weights;
}

bool IsVetoed(const CorrectionOptions& options, const Sequence& sequence) {
  double moved = 0;
  for (size_t t = 0; t < sequence.size(); ++t) {
    const double log_weight = std::clamp(LogWeight(sequence, t), -kMostLogRatio, kMostLogRatio);
    const double weight = Exponential(log_weight);
    if (weight < options.veto) return true;
    moved += weight - 1 - log_weight;
  }
  return options.most_kl > 0 && moved > options.most_kl * static_cast<double>(sequence.size());
}

float& At(const TokenPlace& place, std::vector<float> PathTerms::*member,
          std::vector<PathTerms>* paths) {
  return ((*paths)[static_cast<size_t>(place.path)].*member)[static_cast<size_t>(place.position)];
}

// The critic speaks of the state in which a token is drawn after the token before it.
TokenPlace Before(TokenPlace place) { return {place.path, place.position - 1}; }

double LogRatio(float a, float b) { return static_cast<double>(a) - static_cast<double>(b); }

}  // namespace

Objective::Objective(const ObjectiveOptions& options, std::vector<const TrainingGroup*> groups,
                     const Rng& rng)
    : options_(options), rng_(rng), groups_(std::move(groups)) {
  const bool kl = options_.kl.coefficient > 0 && options_.kl.place == KlPlace::kLoss;
  CHECK(options_.aggregation != Aggregation::kSequenceSumConstant || options_.norm_length > 0,
        "seq-mean-token-sum-norm wants a norm_length");
  for (const TrainingGroup* group : groups_) {
    prepared_.emplace_back();
    for (const Sequence& sequence : group->sequences) {
      CHECK(!kl || sequence.reference.size() == sequence.size(), "KL wants a reference");
      CHECK(!options_.NeedsCritic() || (sequence.returns.size() == sequence.size() &&
                                        sequence.old_values.size() == sequence.size()),
            "a value loss wants returns and old values");
      prepared_.back().push_back({.sequence = &sequence});
    }
  }
  Correct();
}

void Objective::Correct() {
  const CorrectionOptions& correction = options_.correction;
  const bool corrects = correction.Corrects();
  double sum = 0;
  for (std::vector<Prepared>& group : prepared_) {
    for (Prepared& prepared : group) {
      if (corrects && IsVetoed(correction, *prepared.sequence)) {
        prepared.vetoed = true;
        ++vetoed_;
        continue;
      }
      ++sequences_;
      tokens_ += static_cast<int64_t>(prepared.sequence->size());
      if (!corrects) continue;
      prepared.corrections = WeightsOf(correction, *prepared.sequence);
      sum = std::accumulate(prepared.corrections.begin(), prepared.corrections.end(), sum);
    }
  }
  if (!corrects || !correction.normalise || sum <= 0) return;
  const double mean = sum / static_cast<double>(tokens_);
  for (std::vector<Prepared>& group : prepared_) {
    for (Prepared& prepared : group) {
      for (double& weight : prepared.corrections) weight /= mean;
    }
  }
}

bool Objective::WantsCurrentLogprobs() const {
  return options_.policy == PolicyLoss::kCovarianceClip ||
         options_.policy == PolicyLoss::kCovarianceKl;
}

void Objective::SetCurrentLogprobs(std::span<const TreeLogprobs> logprobs) {
  CHECK(logprobs.size() == groups_.size(), "log-probs of other groups");
  std::vector<CovarianceToken> tokens;
  for (size_t g = 0; g < groups_.size(); ++g) {
    const std::vector<std::vector<float>> now = LogProbsOf(*groups_[g], logprobs[g]);
    for (size_t s = 0; s < now.size(); ++s) {
      if (prepared_[g][s].vetoed) continue;
      const Sequence& sequence = groups_[g]->sequences[s];
      for (size_t t = 0; t < sequence.size(); ++t) {
        tokens.push_back({now[s][t], sequence.old[t], sequence.advantages[t]});
      }
    }
  }
  const std::vector<char> chosen = ChooseByCovariance(options_, tokens, rng_.Split("covariance"));
  size_t next = 0;
  for (std::vector<Prepared>& group : prepared_) {
    for (Prepared& prepared : group) {
      if (prepared.vetoed) continue;
      const size_t size = prepared.sequence->size();
      prepared.chosen.assign(chosen.begin() + static_cast<ptrdiff_t>(next),
                             chosen.begin() + static_cast<ptrdiff_t>(next + size));
      next += size;
    }
  }
  chosen_ = true;
}

Loss Objective::LossOf(size_t begin, size_t end) {
  CHECK(begin <= end && end <= groups_.size());
  CHECK(chosen_ || !WantsCurrentLogprobs(), "the loss chooses tokens by their current log-probs");
  return [this, begin, end](std::span<TreeTerms> terms) {
    CHECK(terms.size() == end - begin, "other trees than those of the loss");
    for (size_t g = begin; g < end; ++g) {
      std::vector<PathTerms>* paths = &terms[g - begin].paths;
      for (const Prepared& prepared : prepared_[g]) {
        if (prepared.vetoed) continue;
        ++sums_.sequences;
        sums_.tokens += static_cast<int64_t>(prepared.sequence->size());
        AddPolicy(prepared, paths);
        AddKlAndEntropy(*prepared.sequence, paths);
        if (options_.NeedsCritic()) AddValues(*prepared.sequence, paths);
      }
    }
  };
}

double Objective::TokenShare(const Sequence& sequence) const {
  const double weight = options_.weight;
  switch (options_.aggregation) {
    case Aggregation::kTokenMean: return weight / static_cast<double>(tokens_);
    case Aggregation::kSequenceSum: return weight / static_cast<double>(sequences_);
    case Aggregation::kSequenceMean:
      return weight / (static_cast<double>(sequences_) * static_cast<double>(sequence.size()));
    case Aggregation::kSequenceSumConstant:
      return weight / (static_cast<double>(sequences_) * static_cast<double>(options_.norm_length));
  }
  return 0;
}

void Objective::AddPolicy(const Prepared& prepared, std::vector<PathTerms>* paths) {
  const Sequence& sequence = *prepared.sequence;
  std::vector<float> logprobs;
  for (const TokenPlace& place : sequence.places) {
    logprobs.push_back(At(place, &PathTerms::logprobs, paths));
  }
  std::vector<double> weights(sequence.size(), TokenShare(sequence));
  double correction = static_cast<double>(sequence.size());
  if (!prepared.corrections.empty()) {
    correction = 0;
    for (size_t t = 0; t < weights.size(); ++t) {
      weights[t] *= prepared.corrections[t];
      correction += prepared.corrections[t];
    }
  }
  const double sequence_weight = options_.weight * correction /
                                 static_cast<double>(sequence.size()) /
                                 static_cast<double>(sequences_);
  const PolicyOutput output =
      PolicyLossOf(options_, {logprobs, sequence.old, sequence.advantages, weights, sequence_weight,
                              sequence.turns, prepared.chosen});
  for (size_t t = 0; t < sequence.size(); ++t) {
    double derivative = output.derivatives[t];
    if (options_.low_probability > 0 && sequence.advantages[t] < 0) {
      const double probability = Exponential(logprobs[t]);
      if (probability < options_.low_probability) {
        derivative *= probability / options_.low_probability;
        ++sums_.limited;
      }
    }
    At(sequence.places[t], &PathTerms::dlogprobs, paths) += static_cast<float>(derivative);
    const double log_ratio = LogRatio(logprobs[t], sequence.old[t]);
    const double ratio = Exponential(std::clamp(log_ratio, -kMostLogRatio, kMostLogRatio));
    sums_.approx_kl -= log_ratio;
    sums_.mean_ratio += ratio;
    sums_.max_ratio = std::max(sums_.max_ratio, ratio);
    if (Exponential(LogRatio(logprobs[t], sequence.sampled[t])) == 1) ++sums_.ratio_one;
  }
  sums_.policy_loss += output.loss;
  sums_.clip_fraction += static_cast<double>(output.clipped);
  sums_.mean_weight += correction;
}

void Objective::AddKlAndEntropy(const Sequence& sequence, std::vector<PathTerms>* paths) {
  const double share = TokenShare(sequence);
  const double in_loss = options_.kl.place == KlPlace::kLoss ? options_.kl.coefficient : 0;
  for (size_t t = 0; t < sequence.size(); ++t) {
    const TokenPlace& place = sequence.places[t];
    const float entropy = At(place, &PathTerms::entropies, paths);
    sums_.entropy += entropy;
    if (options_.entropy > 0) {
      sums_.entropy_loss -= options_.entropy * share * entropy;
      At(place, &PathTerms::dentropies, paths) -= static_cast<float>(options_.entropy * share);
    }
    if (sequence.reference.empty()) continue;
    const float logprob = At(place, &PathTerms::logprobs, paths);
    KlTerm kl = KlOf(options_.kl, LogRatio(logprob, sequence.reference[t]));
    sums_.reference_kl += kl.value;
    if (in_loss == 0) continue;
    if (options_.kl.unbiased) {
      const double log_ratio = LogRatio(logprob, sequence.old[t]);
      const double clamped = std::clamp(log_ratio, -kMostLogRatio, kMostLogRatio);
      const double ratio = Exponential(clamped);
      kl = {ratio * kl.value,
            ratio * kl.derivative + (clamped == log_ratio ? ratio * kl.value : 0.0)};
    }
    sums_.kl_loss += in_loss * share * kl.value;
    At(place, &PathTerms::dlogprobs, paths) += static_cast<float>(in_loss * share * kl.derivative);
  }
}

void Objective::AddValues(const Sequence& sequence, std::vector<PathTerms>* paths) {
  const double weight = options_.value.coefficient * TokenShare(sequence);
  for (size_t t = 0; t < sequence.size(); ++t) {
    const TokenPlace place = Before(sequence.places[t]);
    CHECK(!(*paths)[static_cast<size_t>(place.path)].values.empty(),
          "a value loss wants a model with a scalar head");
    const ValueTerm term = ValueLossOf(options_.value, At(place, &PathTerms::values, paths),
                                       sequence.old_values[t], sequence.returns[t]);
    sums_.value_loss += weight * term.loss;
    if (term.clipped) sums_.value_clip_fraction += 1;
    At(place, &PathTerms::dvalues, paths) += static_cast<float>(weight * term.derivative);
  }
}

ObjectiveMetrics Objective::TakeSums() { return std::exchange(sums_, {}); }

ObjectiveMetrics Objective::MetricsOf(std::span<const ObjectiveMetrics> sums) const {
  ObjectiveMetrics metrics;
  for (size_t i = 0; i < sums.size(); ++i) {
    if (i == 0) metrics = sums[0];
    if (i > 0) AddSums(sums[i], &metrics);
  }
  metrics.vetoed = vetoed_;
  metrics.loss = metrics.policy_loss + metrics.kl_loss + metrics.entropy_loss + metrics.value_loss;
  if (metrics.tokens == 0) return metrics;
  for (double* mean :
       {&metrics.clip_fraction, &metrics.approx_kl, &metrics.reference_kl, &metrics.entropy,
        &metrics.mean_ratio, &metrics.mean_weight, &metrics.value_clip_fraction}) {
    *mean /= static_cast<double>(metrics.tokens);
  }
  return metrics;
}

// --- through the engine --------------------------------------------------------------------------

namespace {

std::vector<const TrainingGroup*> Pick(std::span<const TrainingGroup> groups,
                                       const MiniBatch& batch) {
  std::vector<const TrainingGroup*> used;
  for (const size_t group : batch.Groups()) used.push_back(&groups[group]);
  return used;
}

size_t CountGroups(const EngineCalls& calls) {
  size_t count = 0;
  for (const std::vector<size_t>& call : calls) count += call.size();
  return count;
}

}  // namespace

ObjectivePass::ObjectivePass(const Given& given, const MiniBatch& batch, const Rng& rng,
                             const Slices& slices, Engine* engine)
    : groups_(given.groups),
      batch_(batch),
      shared_(given.shared),
      slices_(slices),
      engine_(engine),
      objective_(given.options, Pick(given.groups, batch), rng) {
  CHECK(static_cast<int64_t>(batch.slices.size()) == slices.count(), "cut into other slices");
  if (objective_.WantsCurrentLogprobs()) TellCurrentLogprobs();
}

std::vector<Tree> ObjectivePass::TreesOf(const std::vector<size_t>& call) const {
  std::vector<Tree> trees;
  for (const size_t group : call) trees.push_back(groups_[group].tree);
  return trees;
}

// Each process asks its engine of its own slices.
void ObjectivePass::TellCurrentLogprobs() {
  std::vector<std::string> of_mine;
  const auto [begin, end] = slices_.mine();
  for (int64_t slice = begin; slice < end; ++slice) {
    std::vector<TreeLogprobs> logprobs;
    for (const std::vector<size_t>& call : batch_.slices[static_cast<size_t>(slice)]) {
      for (TreeLogprobs& one : engine_->LogProbs(TreesOf(call))) logprobs.push_back(std::move(one));
    }
    WireWriter writer;
    writer(logprobs);
    of_mine.push_back(writer.Take());
  }
  std::vector<TreeLogprobs> all;
  for (const std::string& bytes : slices_.Share(std::move(of_mine))) {
    std::vector<TreeLogprobs> logprobs;
    WireReader reader(bytes);
    reader(logprobs);
    CHECK(reader.whole(), "log-probs of another process are cut off");
    for (TreeLogprobs& one : logprobs) all.push_back(std::move(one));
  }
  objective_.SetCurrentLogprobs(all);
}

bool ObjectivePass::Accumulate(int64_t slice) {
  size_t begin = 0;
  for (int64_t before = 0; before < slice; ++before) {
    begin += CountGroups(batch_.slices[static_cast<size_t>(before)]);
  }
  for (const std::vector<size_t>& call : batch_.slices[static_cast<size_t>(slice)]) {
    engine_->Accumulate(TreesOf(call), objective_.LossOf(begin, begin + call.size()), shared_);
    begin += call.size();
  }
  sums_.push_back(objective_.TakeSums());
  const ObjectiveMetrics& sums = sums_.back();
  return std::isfinite(sums.policy_loss + sums.kl_loss + sums.entropy_loss + sums.value_loss);
}

ObjectiveMetrics ObjectivePass::Metrics() {
  std::vector<std::string> of_mine;
  for (const ObjectiveMetrics& sums : sums_) {
    of_mine.emplace_back(reinterpret_cast<const char*>(&sums), sizeof(sums));
  }
  std::vector<ObjectiveMetrics> all;
  for (const std::string& bytes : slices_.Share(std::move(of_mine))) {
    std::memcpy(&all.emplace_back(), bytes.data(), sizeof(ObjectiveMetrics));
  }
  return objective_.MetricsOf(all);
}

ObjectiveMetrics AccumulateObjective(const ObjectiveOptions& options,
                                     std::span<const TrainingGroup> groups, const MiniBatch& batch,
                                     SharedTokens shared, const Rng& rng, Engine* engine) {
  const Slices slices(static_cast<int64_t>(batch.slices.size()));
  ObjectivePass pass({options, groups, shared}, batch, rng, slices, engine);
  slices.Accumulate(engine, [&](int64_t slice) { pass.Accumulate(slice); });
  return pass.Metrics();
}

}  // namespace hone
