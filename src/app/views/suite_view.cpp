#include "app/views/suite_view.h"

#include <algorithm>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "app/terminal.h"
#include "evaluate/figure_text.h"

namespace hone {
namespace {

constexpr int kSuiteLabel = 26, kSuiteCount = 8, kSuiteCell = 24;
constexpr size_t kMostErrors = 5;

std::string Share(const std::optional<Interval>& value) {
  return value ? FigureCell{value->value, value, true}.Text() : "-";
}

// "-3.1 [-5.0, -1.2]", in points of per cent.
std::string Points(const Interval& value) {
  return fmt::format("{:+.1f} [{:+.1f}, {:+.1f}]", 100 * value.value, 100 * value.low,
                     100 * value.high);
}

const SuiteShare* ShareNamed(const SuiteFigures& figures, const std::string& name) {
  if (name == figures.all.name) return &figures.all;
  for (const SuiteShare& share : figures.categories) {
    if (share.name == name) return &share;
  }
  return nullptr;
}

std::string Line(std::string text) {
  text.erase(text.find_last_not_of(' ') + 1);
  return text + "\n";
}

std::string CategoryRow(const std::vector<ShownSuite>& shown, const std::string& name) {
  const SuiteShare* plain = ShareNamed(shown[0].figures, name);
  std::string line = "  " + Padded(Printable(name), kSuiteLabel) +
                     Padded(std::to_string(plain->cases), kSuiteCount) +
                     Padded(Share(plain->right), kSuiteCell);
  for (size_t i = 1; i < shown.size(); ++i) {
    const SuiteShare* share = ShareNamed(shown[i].figures, name);
    line += Padded(share != nullptr ? Share(share->right) : "-", kSuiteCell);
    std::string points = "-";
    for (const SuiteDifference& one : shown[i].differences) {
      if (one.name == name) points = Points(one.value);
    }
    line += Padded(points, kSuiteCell);
  }
  return Line(std::move(line));
}

std::string Passes(const ShownSuite& suite) {
  std::string text;
  for (const PassShare& pass : suite.figures.passes) {
    text +=
        Line(fmt::format("  {}{}{}", Padded(fmt::format("pass@{0}, pass^{0}", pass.k), kSuiteLabel),
                         Padded(Share(pass.one), kSuiteCell), Share(pass.every)));
  }
  return text;
}

std::string Cost(const ShownSuite& suite) {
  const SuiteFigures& figures = suite.figures;
  std::string text = fmt::format("  {}{} turns, {} calls, {} tokens read, {} written",
                                 Padded(suite.name, kSuiteLabel), figures.turns, figures.calls,
                                 figures.tokens.prompt, figures.tokens.completion);
  text += fmt::format(", {:.1f} s", suite.seconds);
  if (figures.tool_errors > 0) text += fmt::format(", {} tool errors", figures.tool_errors);
  if (figures.money > 0) text += fmt::format(", money {:.4f}", figures.money);
  if (figures.latency) {
    text += fmt::format(", latency {:.0f} ms (90 %: {:.0f}, 99 %: {:.0f})", figures.latency->p50,
                        figures.latency->p90, figures.latency->p99);
  }
  return text + "\n";
}

std::string Errors(const ShownSuite& suite) {
  std::vector<std::pair<int64_t, std::string>> errors;
  for (const auto& [type, count] : suite.figures.all.errors) errors.emplace_back(-count, type);
  if (errors.empty()) return "";
  std::sort(errors.begin(), errors.end());
  std::vector<std::string> words;
  for (size_t i = 0; i < std::min(errors.size(), kMostErrors); ++i) {
    words.push_back(fmt::format("{} {}", errors[i].second, -errors[i].first));
  }
  return fmt::format("  {}{}\n", Padded(suite.name, kSuiteLabel), fmt::join(words, ", "));
}

}  // namespace

std::string SuiteView(const std::vector<ShownSuite>& shown, const Terminal& terminal) {
  std::string head =
      "  " + Padded("", kSuiteLabel) + Padded("cases", kSuiteCount) + Padded("right", kSuiteCell);
  for (size_t i = 1; i < shown.size(); ++i) {
    head += Padded(shown[i].name, kSuiteCell) + Padded("difference, points", kSuiteCell);
  }
  std::string text = terminal.Dim(Line(std::move(head)));
  const SuiteFigures& plain = shown[0].figures;
  for (const SuiteShare& share : plain.categories) text += CategoryRow(shown, share.name);
  if (plain.categories.size() > 1) {
    text += CategoryRow(shown, plain.all.name);
    if (plain.mean_of_categories) {
      text += fmt::format("  {}{:.1f} %\n", Padded("mean of categories", kSuiteLabel + kSuiteCount),
                          100 * *plain.mean_of_categories);
    }
  }
  if (!plain.passes.empty()) {
    text += terminal.Bold("of several samples") + "\n";
    for (const ShownSuite& suite : shown) {
      if (shown.size() > 1) text += "  " + suite.name + "\n";
      text += Passes(suite);
    }
  }
  text += terminal.Bold("cost") + "\n";
  for (const ShownSuite& suite : shown) text += Cost(suite);
  std::string errors;
  for (const ShownSuite& suite : shown) errors += Errors(suite);
  if (!errors.empty()) text += terminal.Bold("what went wrong most") + "\n" + errors;
  for (const ShownSuite& suite : shown) {
    const SuiteFigures& figures = suite.figures;
    if (figures.not_measured > 0) {
      text += terminal.Yellow(fmt::format(
          "{}: {} of {} samples were not measured: {}\n", suite.name, figures.not_measured,
          figures.not_measured + figures.samples, Printable(figures.problem)));
    } else if (!figures.problem.empty()) {
      text +=
          terminal.Yellow(fmt::format("{}: prompts that the model does not take count as wrong: "
                                      "{}\n",
                                      suite.name, Printable(figures.problem)));
    }
  }
  return text;
}

}  // namespace hone
