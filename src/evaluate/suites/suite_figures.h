#pragma once

#include <map>
#include <optional>
#include <string>
#include <vector>

#include "evaluate/pass_at_k.h"
#include "evaluate/suites/suite_run.h"

namespace hone {

// What the cases of one category show, or all of them.
struct SuiteShare {
  std::string name;               // of the category; "all"
  int64_t cases = 0;              // that were measured at least once
  std::optional<Interval> right;  // the share of right samples, by cases; absent: nothing measured
  std::map<std::string, int64_t> errors;  // wrong samples by why
};

// Several trials of the same thing: the time it took in milliseconds.
struct SuiteLatency {
  double p50 = 0, p90 = 0, p99 = 0;
};

struct SuiteFigures {
  std::vector<SuiteShare> categories;  // in the order of the suite
  SuiteShare all;
  std::optional<double> mean_of_categories;
  std::vector<PassShare> passes;  // of several samples; empty: of one
  int64_t samples = 0;            // that were measured
  int64_t not_measured = 0;
  std::string problem;  // of the first that was not, or whose prompt was not taken
  int64_t turns = 0, calls = 0, tool_errors = 0;
  TokenUsage tokens;
  double money = 0;
  std::optional<SuiteLatency> latency;  // absent: nothing was asked of an endpoint

  Json ToJson() const;
};

// Intervals are over cases (bootstrap). `samples` of each case.
SuiteFigures FiguresOf(const Suite& suite, const SuiteOutcomes& outcomes, int64_t samples, Rng rng);

// How a changed suite differs from the plain one, case by case: changed - plain.
struct SuiteDifference {
  std::string name;   // of the category; "all"
  int64_t cases = 0;  // measured in both
  Interval value;
};
// By category, then all; those without cases are left out. The suites have the same cases (CHECK).
std::vector<SuiteDifference> DifferencesOf(const Suite& suite, const SuiteOutcomes& changed,
                                           const SuiteOutcomes& plain, int64_t samples, Rng rng);
Json ToJson(const std::vector<SuiteDifference>& differences);

// One line of the file that has every case: {"id", "category", "sample", "prompt", "tools",
// "output", "calls", "right", "error_type", "turns", "tokens", "money", "latency_ms"}, with
// "problem" where there is one.
Json OutcomeJson(const SuiteCase& one, int64_t sample, const SuiteOutcome& outcome);

}  // namespace hone
