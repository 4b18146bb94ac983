#include "lab/proof.h"

#include <algorithm>
#include <array>
#include <charconv>
#include <cmath>

#include <fmt/format.h>

#include "base/hash.h"

namespace hone {
namespace {

struct RoleNames {
  std::string_view name, label;
};
constexpr std::array<RoleNames, kProofRoles> kRoles = {{
    {"smeared-real", "smeared, real tools"},
    {"attributed-real", "attributed, real tools"},
    {"smeared-simulated", "smeared, simulated tools"},
    {"attributed-simulated", "attributed, simulated tools"},
    {"placebo-real", "placebo, real tools"},
    {"flipped-real", "20 % flipped labels, real tools"},
}};

struct EffectPlan {
  const char* name;
  ProofRole without, with;
};
constexpr EffectPlan kEffects[] = {
    {"credit on the calls, real tools", ProofRole::kSmearedReal, ProofRole::kAttributedReal},
    {"credit on the calls, simulated tools", ProofRole::kSmearedSimulated,
     ProofRole::kAttributedSimulated},
    {"simulated tools, smeared credit", ProofRole::kSmearedReal, ProofRole::kSmearedSimulated},
    {"simulated tools, credit on the calls", ProofRole::kAttributedReal,
     ProofRole::kAttributedSimulated},
    {"credit on the calls against the wrong place", ProofRole::kPlacebo,
     ProofRole::kAttributedReal},
    {"a fifth of the call labels flipped", ProofRole::kAttributedReal, ProofRole::kFlipped},
    {"call rewards on every token against the wrong place", ProofRole::kPlacebo,
     ProofRole::kSmearedReal},
    {"credit on the calls by flipped labels against smeared", ProofRole::kSmearedReal,
     ProofRole::kFlipped},
};

struct Named {
  ProofRole role = ProofRole::kSmearedReal;
  int length = 0;
};

std::optional<Named> Parse(std::string_view arm) {
  for (int i = 0; i < kProofRoles; ++i) {
    const std::string_view role = kRoles[static_cast<size_t>(i)].name;
    if (!arm.starts_with(role) || arm.size() <= role.size() + 1 || arm[role.size()] != '-') {
      continue;
    }
    Named named{.role = static_cast<ProofRole>(i)};
    const char* end = arm.data() + arm.size();
    const auto [stop, error] = std::from_chars(arm.data() + role.size() + 1, end, named.length);
    if (error == std::errc() && stop == end && named.length > 0) return named;
  }
  return std::nullopt;
}

std::optional<size_t> KindNamed(const SectionReport& report, std::string_view name) {
  for (size_t k = 0; k < report.kinds.size(); ++k) {
    if (report.kinds[k].name == name) return k;
  }
  return std::nullopt;
}

// Runs of seeds that both arms have finished.
struct Pairs {
  std::vector<Reached> without, with;
};
Pairs PairsOf(const ComparedArm& without, const ComparedArm& with, double goal) {
  Pairs pairs;
  for (const ComparedRun* a : without.runs) {
    for (const ComparedRun* b : with.runs) {
      if (a->seed != b->seed) continue;
      const auto at_a = ReachedOn(*a, goal), at_b = ReachedOn(*b, goal);
      if (!at_a || !at_b) continue;
      pairs.without.push_back(*at_a);
      pairs.with.push_back(*at_b);
    }
  }
  return pairs;
}

ProofEffect MeasureEffect(const EffectPlan& plan, const ComparedSection& section,
                          const ComparedArm& without, const ComparedArm& with,
                          const BootstrapOptions& options) {
  ProofEffect effect{.name = plan.name, .without = plan.without, .with = plan.with};
  const Pairs pairs = PairsOf(without, with, section.goal);
  if (!pairs.with.empty()) {
    effect.race = Race(pairs.with, pairs.without);
    effect.ratio = MedianRatio(pairs.without, pairs.with,
                               Rng(Hash64(without.name + " " + with.name)), options);
  }
  // The two of them alone, so that what is compared is what both have.
  ComparedSection two = section;
  two.arms = {without, with};
  two.baseline = 0;
  const SectionReport report = ReportSection(two, options);
  for (const auto& [name, into] :
       {std::pair{"test/sampled", &effect.success}, std::pair{"calls", &effect.calls},
        std::pair{"dev/mean", &effect.on_the_way}}) {
    if (const auto kind = KindNamed(report, name)) *into = report.differences[1][*kind];
  }
  return effect;
}

Result<ProofRow> MakeRow(const ComparedSection& section, const BootstrapOptions& options) {
  ProofRow row{.goal = section.goal, .seeds = static_cast<int64_t>(section.seeds.size())};
  row.reached.resize(kProofRoles);
  row.before.resize(kProofRoles);
  row.success.resize(kProofRoles);
  row.calls.resize(kProofRoles);
  row.on_the_way.resize(kProofRoles);
  row.before_greedy.resize(kProofRoles);
  row.greedy.resize(kProofRoles);
  std::array<const ComparedArm*, kProofRoles> arms{};
  const SectionReport report = ReportSection(section, options);
  for (size_t i = 0; i < section.arms.size(); ++i) {
    const ComparedArm& arm = section.arms[i];
    const std::optional<Named> named = Parse(arm.name);
    if (!named || (row.length != 0 && row.length != named->length)) {
      return Error(ErrorCode::kInvalidArgument,
                   fmt::format("the arm \"{}\" of \"{}\": hone prove wants arms named ROLE-LENGTH "
                               "and one length per section, such as smeared-real-4 (see "
                               "comparisons/prove.toml)",
                               arm.name, section.title));
    }
    row.length = named->length;
    const auto role = static_cast<size_t>(named->role);
    arms[role] = &arm;
    row.reached[role] = report.goals[i].median;
    for (const auto& [name, into] :
         {std::pair{"start/sampled", &row.before}, std::pair{"test/sampled", &row.success},
          std::pair{"start/greedy", &row.before_greedy}, std::pair{"test/greedy", &row.greedy},
          std::pair{"calls", &row.calls}, std::pair{"dev/mean", &row.on_the_way}}) {
      if (const auto kind = KindNamed(report, name)) (*into)[role] = report.quantities[i][*kind];
    }
  }
  for (const EffectPlan& plan : kEffects) {
    const ComparedArm* without = arms[static_cast<size_t>(plan.without)];
    const ComparedArm* with = arms[static_cast<size_t>(plan.with)];
    if (without == nullptr || with == nullptr) continue;
    row.effects.push_back(MeasureEffect(plan, section, *without, *with, options));
  }
  return row;
}

// The values of seeds as one difference; `cells` and `clusters` as Difference has them.
Difference Pool(std::vector<std::optional<double>> by_seed, Table cells, Clusters clusters,
                const std::string& name, const BootstrapOptions& options) {
  Difference pooled;
  for (const std::optional<double>& one : by_seed) {
    if (!one) continue;
    pooled.more += *one > 0;
    pooled.less += *one < 0;
    pooled.equal += *one == 0;
  }
  pooled.by_seed = std::move(by_seed);
  pooled.cells = std::move(cells);
  pooled.clusters = std::move(clusters);
  if (pooled.cells.empty()) return pooled;
  pooled.mean =
      BootstrapMean(pooled.cells, Rng(Hash64("pooled " + name)), options, pooled.clusters);
  pooled.has_interval = !pooled.TooFewSeeds();
  return pooled;
}

Table OneCellEach(const std::vector<std::optional<double>>& by_seed) {
  Table cells;
  for (const std::optional<double>& one : by_seed) {
    if (one) cells.push_back({*one});
  }
  return cells;
}

// Of every seed that all lengths have, the mean over lengths.
std::vector<std::optional<double>> MeansBySeed(std::span<const Difference* const> lengths) {
  std::vector<std::optional<double>> means;
  for (size_t s = 0; s < lengths[0]->by_seed.size(); ++s) {
    double sum = 0;
    bool all = true;
    for (const Difference* one : lengths) {
      all = all && s < one->by_seed.size() && one->by_seed[s];
      if (all) sum += *one->by_seed[s];
    }
    means.push_back(all ? std::optional(sum / static_cast<double>(lengths.size())) : std::nullopt);
  }
  return means;
}

// The tasks of all lengths beside each other, weighed so that each length counts alike. Where tasks
// are not known there is one cell a seed: lengths are no sample of anything.
Table CellsOfAll(std::span<const Difference* const> lengths,
                 const std::vector<std::optional<double>>& means) {
  size_t columns = 0;
  for (const Difference* one : lengths) {
    if (one->cells.empty() || one->cells[0].size() < 2) return OneCellEach(means);
    columns += one->cells[0].size();
  }
  Table cells;
  std::vector<size_t> rows(lengths.size());  // the next one of each length
  for (size_t s = 0; s < means.size(); ++s) {
    if (means[s]) cells.emplace_back();
    for (size_t i = 0; i < lengths.size(); ++i) {
      const Difference& one = *lengths[i];
      if (s >= one.by_seed.size() || !one.by_seed[s]) continue;
      const std::vector<double>& row = one.cells[rows[i]++];
      if (!means[s]) continue;
      const double weight =
          static_cast<double>(columns) / static_cast<double>(lengths.size() * row.size());
      for (const double cell : row) cells.back().push_back(weight * cell);
    }
  }
  return cells;
}

// Seeds that share their start at any length are one cluster.
Clusters ClustersOfAll(std::span<const Difference* const> lengths,
                       const std::vector<std::optional<double>>& means) {
  std::vector<std::vector<std::string>> starts;
  std::vector<size_t> rows(lengths.size());  // the next one of each length
  for (size_t s = 0; s < means.size(); ++s) {
    if (means[s]) starts.emplace_back();
    for (size_t i = 0; i < lengths.size(); ++i) {
      const Difference& one = *lengths[i];
      if (s >= one.by_seed.size() || !one.by_seed[s]) continue;
      const size_t row = rows[i]++;
      if (means[s] && !one.clusters.empty()) {
        starts.back().push_back(fmt::format("{} {}", i, one.clusters[row]));
      }
    }
  }
  return ClustersByStart(starts);
}

void AddPooled(const BootstrapOptions& options, Proof* proof) {
  if (proof->rows.size() < 2) return;
  const auto differences = [&](const EffectPlan& plan, const Difference ProofEffect::*which) {
    std::vector<const Difference*> found;
    for (const ProofRow& row : proof->rows) {
      for (const ProofEffect& effect : row.effects) {
        if (effect.name == plan.name) found.push_back(&(effect.*which));
      }
    }
    return found;
  };
  const auto pool = [&](const std::vector<const Difference*>& lengths, const std::string& name) {
    std::vector<std::optional<double>> means = MeansBySeed(lengths);
    Table cells = CellsOfAll(lengths, means);
    Clusters clusters = ClustersOfAll(lengths, means);
    return Pool(std::move(means), std::move(cells), std::move(clusters), name, options);
  };
  for (const EffectPlan& plan : kEffects) {
    const auto way = differences(plan, &ProofEffect::on_the_way);
    if (way.size() < proof->rows.size()) continue;
    proof->pooled.push_back(
        {plan.name, plan.without, plan.with, pool(way, std::string("dev ") + plan.name),
         pool(differences(plan, &ProofEffect::success), std::string("test ") + plan.name)});
  }
  const auto real = differences(kEffects[0], &ProofEffect::on_the_way),
             simulated = differences(kEffects[1], &ProofEffect::on_the_way);
  if (real.size() < proof->rows.size() || simulated.size() < proof->rows.size()) return;
  std::vector<std::optional<double>> by_seed = MeansBySeed(simulated);
  const std::vector<std::optional<double>> other = MeansBySeed(real);
  for (size_t s = 0; s < by_seed.size(); ++s) {
    if (by_seed[s] && s < other.size() && other[s]) {
      *by_seed[s] -= *other[s];
    } else {
      by_seed[s].reset();
    }
  }
  std::vector<const Difference*> both = real;
  both.insert(both.end(), simulated.begin(), simulated.end());
  Table cells = OneCellEach(by_seed);
  Clusters clusters = ClustersOfAll(both, by_seed);
  proof->interaction =
      Pool(std::move(by_seed), std::move(cells), std::move(clusters), "interaction", options);
}

// What the laboratory says of chains of this length on their way to this goal, in the order of
// PredictedMethods. Of another goal, or without one of the methods, it says nothing.
void TakePrediction(const std::vector<lab::ChainPrediction>& predictions, ProofRow* row) {
  const auto one =
      std::find_if(predictions.begin(), predictions.end(), [&](const lab::ChainPrediction& chain) {
        return chain.length == row->length && chain.goal == row->goal;
      });
  if (one == predictions.end()) return;
  for (const std::string& name : PredictedMethods()) {
    const auto found = std::find_if(one->methods.begin(), one->methods.end(),
                                    [&](const auto& method) { return method.method == name; });
    if (found == one->methods.end()) {
      row->noise.clear();
      row->root_noise.clear();
      return;
    }
    row->noise.push_back(found->sum);
    row->root_noise.push_back(one->RootSum(static_cast<size_t>(found - one->methods.begin())));
  }
}

Json FiniteOr(double value) { return std::isfinite(value) ? Json(value) : Json(); }

// Of a Quantity or a Difference: without an interval where few seeds allow none.
template <typename Measured>
Json MeasuredJson(const Measured& measured) {
  if (!measured.mean) return {};
  if (!measured.has_interval) return Json::Of({{"value", measured.mean->value}});
  return IntervalJson(measured.mean);
}

Json EffectJson(const ProofRow& row, const ProofEffect& effect) {
  Json json = Json::Of({{"name", effect.name},
                        {"without", RoleName(effect.without)},
                        {"with", RoleName(effect.with)}});
  json.Set("trajectories_ratio", effect.ratio ? Json::Of({{"value", effect.ratio->value},
                                                          {"at_least", effect.ratio->at_least},
                                                          {"at_most", effect.ratio->at_most},
                                                          {"low", effect.ratio->low},
                                                          {"high", FiniteOr(effect.ratio->high)}})
                                              : Json());
  if (effect.race) {
    json.Set("race", Json::Of({{"with_first", effect.race->a_first},
                               {"without_first", effect.race->b_first},
                               {"ties", effect.race->ties},
                               {"p", effect.race->p}}));
  }
  for (const bool root : {false, true}) {
    const std::optional<double> predicted = row.Predicted(effect.without, effect.with, root);
    json.Set(root ? "predicted_ratio_root" : "predicted_ratio",
             predicted ? FiniteOr(*predicted) : Json());
  }
  json.Set("success", MeasuredJson(effect.success));
  json.Set("calls", MeasuredJson(effect.calls));
  json.Set("on_the_way", MeasuredJson(effect.on_the_way));
  return json;
}

}  // namespace

std::string_view RoleName(ProofRole role) { return kRoles[static_cast<size_t>(role)].name; }
std::string_view RoleLabel(ProofRole role) { return kRoles[static_cast<size_t>(role)].label; }

const std::vector<std::string>& PredictedMethods() {
  static const std::vector<std::string> methods = {
      "smeared:norm=mean_std", "toolpo-per-call:norm=mean_std", "placebo:norm=mean_std"};
  return methods;
}

std::optional<double> ProofRow::Predicted(ProofRole without, ProofRole with, bool root) const {
  // Where in PredictedMethods a role's method is.
  const auto place = [](ProofRole role) -> std::optional<size_t> {
    switch (role) {
      case ProofRole::kSmearedReal:
      case ProofRole::kSmearedSimulated: return 0;
      case ProofRole::kAttributedReal:
      case ProofRole::kAttributedSimulated: return 1;
      case ProofRole::kPlacebo: return 2;
      case ProofRole::kFlipped: return std::nullopt;
    }
    return std::nullopt;
  };
  const std::vector<double>& sums = root ? root_noise : noise;
  const std::optional<size_t> above = place(without), below = place(with);
  if (!above || !below || *above >= sums.size() || *below >= sums.size()) return std::nullopt;
  return sums[*above] / sums[*below];
}

Result<Proof> MakeProof(const std::vector<ComparedSection>& sections,
                        const std::vector<lab::ChainPrediction>& predictions,
                        const BootstrapOptions& options) {
  Proof proof;
  for (const ComparedSection& section : sections) {
    HONE_ASSIGN_OR_RETURN(ProofRow row, MakeRow(section, options));
    TakePrediction(predictions, &row);
    proof.rows.push_back(std::move(row));
  }
  std::stable_sort(proof.rows.begin(), proof.rows.end(),
                   [](const ProofRow& a, const ProofRow& b) { return a.length < b.length; });
  AddPooled(options, &proof);
  return proof;
}

Json ToJson(const Proof& proof) {
  Json::Array rows;
  for (const ProofRow& row : proof.rows) {
    Json::Array roles, effects;
    for (int i = 0; i < kProofRoles; ++i) {
      const auto role = static_cast<size_t>(i);
      if (!row.reached[role] && !row.success[role].mean) continue;
      Json one = Json::Of({{"role", RoleName(static_cast<ProofRole>(i))},
                           {"before", MeasuredJson(row.before[role])},
                           {"before_greedy", MeasuredJson(row.before_greedy[role])},
                           {"success", MeasuredJson(row.success[role])},
                           {"greedy", MeasuredJson(row.greedy[role])},
                           {"calls", MeasuredJson(row.calls[role])},
                           {"on_the_way", MeasuredJson(row.on_the_way[role])}});
      if (row.reached[role]) {
        one.Set("trajectories", Json::Of({{"median", row.reached[role]->value},
                                          {"later", row.reached[role]->later},
                                          {"reached", row.reached[role]->reached},
                                          {"runs", row.reached[role]->runs}}));
      }
      roles.push_back(std::move(one));
    }
    for (const ProofEffect& effect : row.effects) effects.push_back(EffectJson(row, effect));
    rows.push_back(Json::Of({{"length", static_cast<int64_t>(row.length)},
                             {"goal", row.goal},
                             {"seeds", row.seeds},
                             {"roles", std::move(roles)},
                             {"effects", std::move(effects)}}));
  }
  Json::Array pooled;
  for (const PooledEffect& one : proof.pooled) {
    pooled.push_back(Json::Of({{"name", one.name},
                               {"without", RoleName(one.without)},
                               {"with", RoleName(one.with)},
                               {"on_the_way", MeasuredJson(one.on_the_way)},
                               {"success", MeasuredJson(one.success)}}));
  }
  return Json::Of({{"chains", std::move(rows)},
                   {"pooled", std::move(pooled)},
                   {"interaction", MeasuredJson(proof.interaction)}});
}

}  // namespace hone
