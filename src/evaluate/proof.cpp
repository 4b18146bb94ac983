#include "evaluate/proof.h"

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

Json IntervalJson(const std::optional<Interval>& interval) {
  if (!interval) return {};
  return Json::Of({{"value", interval->value}, {"low", interval->low}, {"high", interval->high}});
}

Json FiniteOr(double value) { return std::isfinite(value) ? Json(value) : Json(); }

Json EffectJson(const ProofEffect& effect) {
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
  json.Set("success", IntervalJson(effect.success.mean));
  json.Set("calls", IntervalJson(effect.calls.mean));
  json.Set("on_the_way", IntervalJson(effect.on_the_way.mean));
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

Result<Proof> MakeProof(const std::vector<ComparedSection>& sections,
                        const std::vector<lab::ChainPrediction>& predictions,
                        const BootstrapOptions& options) {
  Proof proof;
  for (const ComparedSection& section : sections) {
    HONE_ASSIGN_OR_RETURN(ProofRow row, MakeRow(section, options));
    for (const lab::ChainPrediction& one : predictions) {
      if (one.length != row.length || one.methods.size() < 2) continue;
      for (const lab::PredictedMethod& method : one.methods) row.noise.push_back(method.sum);
      row.predicted = one.Ratio(0, 1);
      if (one.methods.size() > 2) row.predicted_placebo = one.Ratio(2, 1);
    }
    proof.rows.push_back(std::move(row));
  }
  std::stable_sort(proof.rows.begin(), proof.rows.end(),
                   [](const ProofRow& a, const ProofRow& b) { return a.length < b.length; });
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
                           {"before", IntervalJson(row.before[role].mean)},
                           {"success", IntervalJson(row.success[role].mean)},
                           {"calls", IntervalJson(row.calls[role].mean)},
                           {"on_the_way", IntervalJson(row.on_the_way[role].mean)}});
      if (row.reached[role]) {
        one.Set("trajectories", Json::Of({{"median", row.reached[role]->value},
                                          {"later", row.reached[role]->later},
                                          {"reached", row.reached[role]->reached},
                                          {"runs", row.reached[role]->runs}}));
      }
      roles.push_back(std::move(one));
    }
    for (const ProofEffect& effect : row.effects) effects.push_back(EffectJson(effect));
    rows.push_back(Json::Of({{"length", static_cast<int64_t>(row.length)},
                             {"goal", row.goal},
                             {"seeds", row.seeds},
                             {"predicted_ratio", row.predicted ? FiniteOr(*row.predicted) : Json()},
                             {"predicted_placebo_ratio",
                              row.predicted_placebo ? FiniteOr(*row.predicted_placebo) : Json()},
                             {"roles", std::move(roles)},
                             {"effects", std::move(effects)}}));
  }
  return Json::Of({{"chains", std::move(rows)}});
}

}  // namespace hone
