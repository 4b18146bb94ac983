#include "evaluate/suites/suite_figures.h"

#include <algorithm>

#include "base/check.h"

namespace hone {
namespace {

// The samples of a case that were measured: how many there are, and how many are right.
struct CaseTally {
  double right = 0, all = 0;
};

CaseTally TallyOf(const SuiteOutcomes& outcomes, size_t index, int64_t samples) {
  CaseTally tally;
  for (int64_t i = 0; i < samples; ++i) {
    const SuiteOutcome& outcome =
        outcomes[index * static_cast<size_t>(samples) + static_cast<size_t>(i)];
    if (!outcome.measured) continue;
    tally.all += 1;
    tally.right += outcome.verdict.right ? 1 : 0;
  }
  return tally;
}

// The categories in the order of their first case.
std::vector<std::string> CategoriesOf(const Suite& suite) {
  std::vector<std::string> names;
  for (const SuiteCase& one : suite.cases) {
    if (std::find(names.begin(), names.end(), one.category) == names.end()) {
      names.push_back(one.category);
    }
  }
  return names;
}

// Of a category, or, without a name, of all.
SuiteShare ShareOf(const Suite& suite, const SuiteOutcomes& outcomes, int64_t samples,
                   const std::string* category, Rng rng) {
  SuiteShare share{.name = category != nullptr ? *category : "all"};
  Ratio ratio;
  for (size_t i = 0; i < suite.cases.size(); ++i) {
    if (category != nullptr && suite.cases[i].category != *category) continue;
    const CaseTally tally = TallyOf(outcomes, i, samples);
    if (tally.all == 0) continue;
    ++share.cases;
    ratio.above.push_back(tally.right);
    ratio.below.push_back(tally.all);
    for (int64_t k = 0; k < samples; ++k) {
      const SuiteOutcome& outcome =
          outcomes[i * static_cast<size_t>(samples) + static_cast<size_t>(k)];
      if (outcome.measured && !outcome.verdict.right) ++share.errors[outcome.verdict.error_type];
    }
  }
  share.right = BootstrapRatio(ratio.above, ratio.below, rng);
  return share;
}

double Percentile(const std::vector<double>& sorted, double share) {
  const auto at = static_cast<size_t>(share * static_cast<double>(sorted.size() - 1) + 0.5);
  return sorted[at];
}

std::vector<Measures> AsMeasures(const Suite& suite, const SuiteOutcomes& outcomes,
                                 int64_t samples) {
  std::vector<Measures> measures(outcomes.size());
  for (size_t i = 0; i < outcomes.size(); ++i) {
    measures[i].task = suite.cases[i / static_cast<size_t>(samples)].id;
    measures[i].counts = outcomes[i].measured;
    measures[i].success = outcomes[i].verdict.right;
  }
  return measures;
}

Json ShareJson(const SuiteShare& share) {
  Json errors = Json::Of({});
  for (const auto& [type, count] : share.errors) errors.Set(type, count);
  return Json::Of({{"cases", share.cases},
                   {"right", IntervalJson(share.right)},
                   {"errors", std::move(errors)}});
}

}  // namespace

SuiteFigures FiguresOf(const Suite& suite, const SuiteOutcomes& outcomes, int64_t samples,
                       Rng rng) {
  CHECK(outcomes.size() == suite.cases.size() * static_cast<size_t>(samples),
        "an outcome for every sample of every case");
  SuiteFigures figures;
  double sum = 0, counted = 0;
  for (const std::string& category : CategoriesOf(suite)) {
    figures.categories.push_back(
        ShareOf(suite, outcomes, samples, &category, rng.Split("category").Split(category)));
    if (const auto& right = figures.categories.back().right) {
      sum += right->value;
      counted += 1;
    }
  }
  figures.all = ShareOf(suite, outcomes, samples, nullptr, rng.Split("all"));
  if (counted > 0) figures.mean_of_categories = sum / counted;
  if (samples > 1) {
    figures.passes = PassesOf(AsMeasures(suite, outcomes, samples), samples, rng.Split("passes"));
  }
  std::vector<double> times;
  for (const SuiteOutcome& outcome : outcomes) {
    if (figures.problem.empty()) figures.problem = outcome.problem;
    if (!outcome.measured) {
      ++figures.not_measured;
      continue;
    }
    ++figures.samples;
    figures.turns += outcome.turns;
    figures.calls += outcome.calls;
    figures.tool_errors += outcome.tool_errors;
    figures.tokens.prompt += outcome.tokens.prompt;
    figures.tokens.completion += outcome.tokens.completion;
    figures.money += outcome.money;
    if (outcome.latency_us > 0) times.push_back(static_cast<double>(outcome.latency_us) / 1000);
  }
  if (!times.empty()) {
    std::sort(times.begin(), times.end());
    figures.latency = {Percentile(times, 0.5), Percentile(times, 0.9), Percentile(times, 0.99)};
  }
  return figures;
}

Json SuiteFigures::ToJson() const {
  Json by_category = Json::Of({});
  for (const SuiteShare& share : categories) by_category.Set(share.name, ShareJson(share));
  Json json =
      Json::Of({{"all", ShareJson(all)},
                {"categories", std::move(by_category)},
                {"mean_of_categories", mean_of_categories ? Json(*mean_of_categories) : Json()},
                {"samples", samples},
                {"not_measured", not_measured},
                {"turns", turns},
                {"calls", calls},
                {"tool_errors", tool_errors},
                {"prompt_tokens", tokens.prompt},
                {"completion_tokens", tokens.completion},
                {"money", money}});
  if (!problem.empty()) json.Set("problem", problem);
  if (!passes.empty()) json.Set("pass", hone::ToJson(passes));
  if (latency) {
    json.Set("latency_ms",
             Json::Of({{"p50", latency->p50}, {"p90", latency->p90}, {"p99", latency->p99}}));
  }
  return json;
}

std::vector<SuiteDifference> DifferencesOf(const Suite& suite, const SuiteOutcomes& changed,
                                           const SuiteOutcomes& plain, int64_t samples, Rng rng) {
  CHECK(changed.size() == plain.size(), "the same cases in both");
  std::vector<std::string> names = CategoriesOf(suite);
  names.emplace_back();  // all
  std::vector<SuiteDifference> differences;
  for (const std::string& name : names) {
    Table a(1), b(1);
    for (size_t i = 0; i < suite.cases.size(); ++i) {
      if (!name.empty() && suite.cases[i].category != name) continue;
      const CaseTally now = TallyOf(changed, i, samples), before = TallyOf(plain, i, samples);
      if (now.all == 0 || before.all == 0) continue;
      a[0].push_back(now.right / now.all);
      b[0].push_back(before.right / before.all);
    }
    if (a[0].empty()) continue;
    differences.push_back({name.empty() ? "all" : name, static_cast<int64_t>(a[0].size()),
                           PairedDifference(a, b, rng.Split(name))});
  }
  return differences;
}

Json ToJson(const std::vector<SuiteDifference>& differences) {
  Json json = Json::Of({});
  for (const SuiteDifference& one : differences) {
    Json difference = IntervalJson(one.value);
    difference.Set("cases", one.cases);
    json.Set(one.name, std::move(difference));
  }
  return json;
}

Json OutcomeJson(const SuiteCase& one, int64_t sample, const SuiteOutcome& outcome) {
  Json json =
      Json::Of({{"id", one.id},
                {"category", one.category},
                {"sample", sample},
                {"prompt", one.messages},
                {"tools", one.tools},
                {"output", outcome.output.text},
                {"calls", outcome.output.calls},
                {"right", outcome.measured ? Json(outcome.verdict.right) : Json()},
                {"error_type",
                 outcome.verdict.error_type.empty() ? Json() : Json(outcome.verdict.error_type)},
                {"turns", outcome.turns},
                {"prompt_tokens", outcome.tokens.prompt},
                {"completion_tokens", outcome.tokens.completion},
                {"money", outcome.money},
                {"latency_ms", static_cast<double>(outcome.latency_us) / 1000}});
  if (!outcome.problem.empty()) json.Set("problem", outcome.problem);
  return json;
}

}  // namespace hone
