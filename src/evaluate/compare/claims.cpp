#include "evaluate/compare/claims.h"

#include <algorithm>
#include <cmath>

#include <fmt/format.h>

namespace hone {
namespace {

const ComparedArm* ArmOf(const ComparedSection& section, std::string_view name) {
  for (const ComparedArm& arm : section.arms) {
    if (arm.name == name) return &arm;
  }
  return nullptr;
}

// The two of the claim alone, so that the report of the section is about them.
std::optional<ComparedSection> PairIn(const ComparedSection& section, const Claim& claim) {
  const ComparedArm* arm = ArmOf(section, claim.arm);
  const ComparedArm* against = ArmOf(section, claim.against);
  if (arm == nullptr || against == nullptr) return std::nullopt;
  ComparedSection pair{.arms = {*against, *arm}, .seeds = section.seeds, .goal = section.goal};
  pair.given_start = section.given_start;
  return pair;
}

// Of what `b` took over what `a` took, as far as it is known: who never arrived took at least what
// it was watched for. Where that leaves the side open on which the ratio lies, it is 1.
double KnownLogRatio(const Reached& a, const Reached& b) {
  const double ratio = std::log(b.AtLeast() / a.AtLeast());
  if (a.at && b.at) return ratio;
  if (a.at) return std::max(ratio, 0.0);
  return b.at ? std::min(ratio, 0.0) : 0.0;
}

void FindRatio(const ComparedSection& pair, Effort effort, const BootstrapOptions& options,
               ClaimFinding* finding) {
  Table logarithms;
  std::vector<std::vector<std::string>> starts;
  std::vector<Reached> own, others;
  for (const uint64_t seed : pair.seeds) {
    const ComparedRun *against = pair.arms[0].OfSeed(seed), *run = pair.arms[1].OfSeed(seed);
    if (against == nullptr || run == nullptr) continue;
    const std::optional<Reached> a = ReachedOn(*run, pair.goal, effort),
                                 b = ReachedOn(*against, pair.goal, effort);
    if (!a || !b || a->AtLeast() <= 0 || b->AtLeast() <= 0) continue;
    logarithms.push_back({KnownLogRatio(*a, *b)});
    starts.push_back({against->start, run->start});
    own.push_back(*a);
    others.push_back(*b);
    finding->arrived += a->at ? 1 : 0;
    finding->arrived_against += b->at ? 1 : 0;
  }
  finding->pairs = static_cast<int64_t>(logarithms.size());
  if (logarithms.empty()) return;
  const Clusters clusters = pair.given_start ? Clusters() : ClustersByStart(starts);
  finding->clusters = ClusterCount(clusters, logarithms.size());
  finding->log_rank = LogRankTest(own, others, clusters);
  const Interval mean = BootstrapMean(logarithms, Rng(0).Split("claim"), options, clusters);
  finding->value = Interval{std::exp(mean.value), std::exp(mean.low), std::exp(mean.high)};
}

void FindDifference(const SectionReport& report, const std::string& measure,
                    ClaimFinding* finding) {
  for (size_t k = 0; k < report.kinds.size(); ++k) {
    if (report.kinds[k].name != measure || !report.kinds[k].paired) continue;
    const Difference& difference = report.differences[1][k];
    finding->kind = report.kinds[k];
    finding->value = difference.mean;
    finding->pairs = difference.more + difference.less + difference.equal;
    finding->clusters = ClusterCount(difference.clusters, static_cast<size_t>(finding->pairs));
  }
}

// A prediction as its measurement is written.
std::string PredictedText(const Claim& claim, const ClaimFinding& finding) {
  if (!claim.predicted) return "-";
  if (claim.effort()) return fmt::format("{:.2f}x", *claim.predicted);
  const bool share = finding.kind.unit == QuantityKind::Unit::kShare;
  return fmt::format("{:+.{}f}", *claim.predicted, share ? 1 : 2);
}

std::string MeasuredText(const Claim& claim, const ClaimFinding& finding) {
  if (!finding.value) return "-";
  const bool says_more = finding.clusters > 2;
  if (!claim.effort()) {
    return DifferenceText(finding.kind, {.mean = finding.value, .has_interval = says_more});
  }
  std::string text = fmt::format("{:.2f}x", finding.value->value);
  if (says_more) text += fmt::format(" [{:.2f}, {:.2f}]", finding.value->low, finding.value->high);
  return text;
}

// What was predicted, in the unit of the finding.
double PredictedValue(const Claim& claim, const ClaimFinding& finding) {
  const bool share = !claim.effort() && finding.kind.unit == QuantityKind::Unit::kShare;
  return *claim.predicted / (share ? 100 : 1);
}

std::string InsideText(const Claim& claim, const ClaimFinding& finding) {
  if (!claim.predicted || !finding.value || finding.clusters < 3) return "-";
  const double predicted = PredictedValue(claim, finding);
  return predicted >= finding.value->low && predicted <= finding.value->high ? "yes" : "no";
}

TableRows RowsOf(const std::vector<Claim>& claims, const std::vector<ClaimFinding>& findings,
                 const std::vector<ComparedSection>& sections, bool primary) {
  TableRows rows = {{"claim", "where", "of", "predicted", "measured", "prediction inside",
                     "arrived, of pairs", "log-rank p", "what it shows"}};
  for (size_t i = 0; i < claims.size(); ++i) {
    const Claim& claim = claims[i];
    const ClaimFinding& finding = findings[i];
    if (claim.primary != primary) continue;
    const bool times = claim.effort().has_value();
    rows.push_back({claim.title, sections[claim.section].title,
                    times                        ? claim.measure + " to the goal"
                    : finding.kind.label.empty() ? claim.measure
                                                 : finding.kind.label,
                    PredictedText(claim, finding), MeasuredText(claim, finding),
                    InsideText(claim, finding),
                    times ? fmt::format("{} and {} of {}", finding.arrived, finding.arrived_against,
                                        finding.pairs)
                          : fmt::format("{} pairs", finding.pairs),
                    finding.log_rank ? fmt::format("{:.3f}", finding.log_rank->p) : "-",
                    ClaimVerdict(claim, finding)});
  }
  return rows.size() > 1 ? rows : TableRows();
}

}  // namespace

std::optional<Effort> Claim::effort() const {
  if (measure == "trajectories") return Effort::kTrajectories;
  if (measure == "dollars") return Effort::kDollars;
  if (measure == "hours") return Effort::kHours;
  return std::nullopt;
}

ClaimFinding FindingOf(const Claim& claim, const std::vector<ComparedSection>& sections,
                       const BootstrapOptions& options) {
  ClaimFinding finding;
  finding.neutral = claim.effort() ? 1 : 0;
  const std::optional<ComparedSection> pair = PairIn(sections[claim.section], claim);
  if (!pair) return finding;
  if (const std::optional<Effort> effort = claim.effort()) {
    FindRatio(*pair, *effort, options, &finding);
  } else {
    FindDifference(ReportSection(*pair, options), claim.measure, &finding);
  }
  return finding;
}

std::string ClaimVerdict(const Claim& claim, const ClaimFinding& finding) {
  if (!finding.value) return "not measured";
  if (finding.clusters < 3) return "too few seeds";
  const Interval& value = *finding.value;
  if (value.low <= finding.neutral && value.high >= finding.neutral) return "no effect shown";
  // Where nothing else was predicted the arm should be better: more.
  const bool less = claim.predicted && PredictedValue(claim, finding) < finding.neutral;
  if (less != (value.high < finding.neutral)) return "the other way";
  const double scale = !claim.effort() && finding.kind.unit == QuantityKind::Unit::kShare ? 100 : 1;
  const double least = !less            ? scale * value.low
                       : claim.effort() ? 1 / value.high
                                        : -scale * value.high;
  return claim.large && least >= *claim.large ? "shown, large" : "shown";
}

std::vector<ReportTable> ClaimTables(const std::vector<Claim>& claims,
                                     const std::vector<ClaimFinding>& findings,
                                     const std::vector<ComparedSection>& sections) {
  constexpr char kRatio[] =
      "To the goal: how many times as many the other arm takes, the geometric mean over pairs of "
      "one seed. Who did not arrive took at least what the run took; a pair in which that leaves "
      "open who was first counts as 1. In brackets 95 % intervals over seeds.";
  std::vector<ReportTable> tables;
  for (const bool primary : {true, false}) {
    TableRows rows = RowsOf(claims, findings, sections, primary);
    if (rows.empty()) continue;
    tables.push_back(
        {primary ? "What was claimed beforehand: the primary measures" : "What else was predicted",
         std::move(rows), kRatio});
  }
  return tables;
}

Json ToJson(const Claim& claim, const ClaimFinding& finding) {
  Json json = Json::Of({{"title", claim.title},
                        {"arm", claim.arm},
                        {"against", claim.against},
                        {"measure", claim.measure},
                        {"primary", claim.primary},
                        {"predicted", claim.predicted ? Json(*claim.predicted) : Json()},
                        {"measured", IntervalJson(finding.value)},
                        {"pairs", finding.pairs},
                        {"verdict", ClaimVerdict(claim, finding)}});
  if (claim.effort()) {
    json.Set("arrived", Json::Of({{"arm", finding.arrived}, {"against", finding.arrived_against}}));
    json.Set("log_rank_p", finding.log_rank ? Json(finding.log_rank->p) : Json());
  }
  return json;
}

}  // namespace hone
