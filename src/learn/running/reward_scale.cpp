#include "learn/running/reward_scale.h"

#include <algorithm>

namespace hone {

RewardScaleOptions ReadRewardScale(RecipeTable table) {
  RewardScaleOptions options;
  table.Read("scale", &options.scale, "values are divided by their term's running deviation");
  table.Read("centre", &options.centre, "before that their running mean is taken off");
  table.Read("clip", &options.clip, "after that they are cut to +- this; 0: not", AtLeast(0));
  table.Read("terms", &options.terms, "only these; empty: all");
  if (!options.terms.empty() && !options.on()) {
    table.Problem("terms", "nothing is done to them without scale, centre or clip");
  }
  return options;
}

bool RewardScale::Wants(const std::string& term) const {
  return options_.terms.empty() ||
         std::find(options_.terms.begin(), options_.terms.end(), term) != options_.terms.end();
}

void RewardScale::Apply(std::vector<ScoredTree>* records) {
  if (!options_.on()) return;
  std::map<std::string, std::vector<double>> values;
  std::vector<RewardTerm*> terms;
  for (ScoredTree& record : *records) {
    for (Score& score : record.scores) {
      for (RewardTerm& term : score.terms) {
        if (!term.value || !Wants(term.name)) continue;
        values[term.name].push_back(*term.value);
        terms.push_back(&term);
      }
    }
  }
  for (const auto& [name, given] : values) moments_[name].Add(given);
  for (RewardTerm* term : terms) {
    const RunningMoments& moments = moments_.at(term->name);
    double& value = *term->value;
    if (options_.centre) value -= moments.mean();
    if (options_.scale) value /= moments.Deviation();
    if (options_.clip > 0) value = std::clamp(value, -options_.clip, options_.clip);
  }
}

std::map<std::string, double> RewardScale::Deviations() const {
  std::map<std::string, double> deviations;
  if (!options_.scale) return deviations;
  for (const auto& [name, moments] : moments_) deviations[name] = moments.Deviation();
  return deviations;
}

Json RewardScale::ToJson() const {
  Json terms = Json::Object();
  for (const auto& [name, moments] : moments_) terms.Set(name, moments.ToJson());
  return terms;
}

Result<void> RewardScale::Restore(const Json& state) {
  if (!state.is_object()) return Error(ErrorCode::kCorrupt, "reward_scale: must be an object");
  std::map<std::string, RunningMoments> read;
  for (const auto& [name, moments] : state.AsObject()) {
    HONE_RETURN_IF_ERROR(read[name].Restore(moments, "reward_scale." + name));
  }
  moments_ = std::move(read);
  return {};
}

}  // namespace hone
