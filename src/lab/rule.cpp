#include "lab/rule.h"

#include <fmt/format.h>

#include "credit/methods.h"
#include "credit/specimens.h"

namespace hone::lab {
namespace {

constexpr uint64_t kDocsSeed = 1;
constexpr int kDocsBatches = 500;
constexpr int kGroupsPerBatch = 4;

double Percent(int64_t part, int64_t whole) {
  return whole == 0 ? 0 : 100.0 * static_cast<double>(part) / static_cast<double>(whole);
}

void Count(const RandomGroup& group, const Credit& credit, RuleFigure* figure) {
  for (const JudgedCall& call : group.calls) {
    double net = 0;
    for (int32_t t = call.tokens.begin; t < call.tokens.end; ++t) {
      net += credit.advantages[call.leaf].values[t];
    }
    ++(call.right ? figure->right_calls : figure->wrong_calls);
    if (call.right && net < -1e-6) ++figure->right_punished;
    if (!call.right && net > 1e-6) ++figure->wrong_paid;
  }
}

}  // namespace

Result<RuleFigure> MeasureRule(const std::string& method, uint64_t seed, int batches) {
  HONE_ASSIGN_OR_RETURN(const Method made, NewMethod(SpecOf(method)));
  RuleFigure figure;
  figure.method = method;
  const RandomGroupOptions options{.criteria = method.starts_with("cm2"),
                                   .greedy = method == "remax"};
  for (int b = 0; b < batches; ++b) {
    std::vector<RandomGroup> groups;
    for (int g = 0; g < kGroupsPerBatch; ++g) {
      groups.push_back(MakeRandomGroup(
          Rng(seed).Split(static_cast<uint64_t>(b)).Split(static_cast<uint64_t>(g)), options));
    }
    std::vector<CreditInput> batch;
    for (const RandomGroup& group : groups) batch.push_back({&group.record, nullptr});
    HONE_ASSIGN_OR_RETURN(const std::vector<Credit> credits, AssignCredit(made, batch));
    for (size_t g = 0; g < groups.size(); ++g) Count(groups[g], credits[g], &figure);
  }
  return figure;
}

Result<std::vector<RuleFigure>> MeasureRuleForDocs() {
  std::vector<RuleFigure> figures;
  for (const std::string& name : MethodNames()) {
    HONE_ASSIGN_OR_RETURN(RuleFigure figure, MeasureRule(name, kDocsSeed, kDocsBatches));
    figures.push_back(std::move(figure));
  }
  return figures;
}

std::string RuleSentence(const RuleFigure& figure) {
  return fmt::format("Right calls punished: {:.1f} %. Wrong calls paid: {:.1f} %.",
                     Percent(figure.right_punished, figure.right_calls),
                     Percent(figure.wrong_paid, figure.wrong_calls));
}

std::string RulePage(const std::vector<RuleFigure>& figures) {
  std::string page = fmt::format(
      "# How often a method breaks the rule\n\n"
      "<!-- Written by `hone lab rule --write docs/algorithms`; a test keeps it true. -->\n\n"
      "The rule: a right call keeps its credit in a trajectory that failed, and a wrong call is "
      "not paid in one that succeeded. Over {} random groups (four to eight trajectories, up to "
      "three new calls each, half of the groups branched, right calls 20 to 80 %, success 70 % "
      "after right calls only, else 25 %), the share of right calls whose tokens got negative net "
      "credit, and of wrong calls whose tokens got positive net credit. Critics are absent "
      "(values 0). A method that pays nobody breaks nothing: read it beside "
      "[gradient.md](gradient.md).\n\n"
      "| method | right calls punished | wrong calls paid |\n|---|---|---|\n",
      kDocsBatches * kGroupsPerBatch);
  for (const RuleFigure& figure : figures) {
    const std::string spec = SpecOf(figure.method);
    page += fmt::format("| [{}]({}.md){} | {:.1f} % | {:.1f} % |\n", figure.method, figure.method,
                        spec == figure.method ? "" : " `" + spec.substr(figure.method.size()) + "`",
                        Percent(figure.right_punished, figure.right_calls),
                        Percent(figure.wrong_paid, figure.wrong_calls));
  }
  return page;
}

}  // namespace hone::lab
