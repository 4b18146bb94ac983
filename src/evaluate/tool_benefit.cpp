#include "evaluate/tool_benefit.h"

#include <algorithm>

#include "evaluate/statistics.h"

namespace hone {
namespace {

// One trajectory in both conditions.
struct Pair {
  bool with = false, without = false;
  double calls = 0;  // with tools
};

struct FigureKind {
  const char* name;
  const char* about;
  double (*above)(const Pair&);
  double (*below)(const Pair&);
};

double One(const Pair&) { return 1; }
double RightWith(const Pair& p) { return p.with ? 1 : 0; }
double RightWithout(const Pair& p) { return p.without ? 1 : 0; }
double Calls(const Pair& p) { return p.calls; }

constexpr FigureKind kFigures[] = {
    {"with_tools", "tasks that were done with tools", RightWith, One},
    {"without_tools", "tasks that were done without", RightWithout, One},
    {"difference", "what the tools bring, task by task",
     [](const Pair& p) { return RightWith(p) - RightWithout(p); }, One},
    {"tool_use", "tasks with a call", [](const Pair& p) { return p.calls > 0 ? 1.0 : 0.0; }, One},
    {"gain", "of tasks not done without tools, those done with them",
     [](const Pair& p) { return !p.without && p.with ? 1.0 : 0.0; },
     [](const Pair& p) { return 1 - RightWithout(p); }},
    {"overuse", "of tasks done without tools, those with a call",
     [](const Pair& p) { return p.without && p.calls > 0 ? 1.0 : 0.0; }, RightWithout},
    {"overuse_calls", "of all calls, those on such tasks",
     [](const Pair& p) { return p.without ? p.calls : 0; }, Calls},
    {"myopia", "of tasks done without tools, those not done with them",
     [](const Pair& p) { return p.without && !p.with ? 1.0 : 0.0; }, RightWithout},
    {"myopia_with_calls", "of tasks done without tools, those not done after a call",
     [](const Pair& p) { return p.without && !p.with && p.calls > 0 ? 1.0 : 0.0; }, RightWithout},
};

// What is needed of one evaluation; false: it does not say.
struct Outcomes {
  std::string outcomes;
  const Json::Array* calls = nullptr;
  int64_t samples = 1;

  bool Read(const Json* evaluation) {
    if (evaluation == nullptr) return false;
    const Json* text = evaluation->Find("outcomes");
    const Json* made = evaluation->Find("calls_by_task");
    const Json* each = evaluation->Find("samples");
    if (text == nullptr || !text->is_string() || made == nullptr || !made->is_array()) return false;
    outcomes = text->AsString();
    calls = &made->AsArray();
    if (each != nullptr && each->is_integer()) samples = std::max<int64_t>(1, each->AsInteger());
    return calls->size() == outcomes.size();
  }
};

}  // namespace

std::optional<ToolBenefit> ToolBenefitOf(const Json* with, const Json* without) {
  Outcomes a, b;
  if (!a.Read(with) || !b.Read(without)) return std::nullopt;
  if (a.outcomes.size() != b.outcomes.size() || a.samples != b.samples) return std::nullopt;
  ToolBenefit use;
  std::vector<Ratio> ratios(std::size(kFigures));
  for (size_t i = 0; i < a.outcomes.size(); ++i) {
    // Trajectories of a task are resampled together.
    if (i % static_cast<size_t>(a.samples) == 0) {
      for (Ratio& ratio : ratios) {
        ratio.above.push_back(0);
        ratio.below.push_back(0);
      }
    }
    if (a.outcomes[i] == '-' || b.outcomes[i] == '-') continue;
    const Pair pair{.with = a.outcomes[i] == '1',
                    .without = b.outcomes[i] == '1',
                    .calls = (*a.calls)[i].is_number() ? (*a.calls)[i].AsDouble() : 0};
    ++use.pairs;
    ++(pair.with ? (pair.without ? use.both : use.only_with)
                 : (pair.without ? use.only_without : use.neither));
    for (size_t f = 0; f < ratios.size(); ++f) {
      ratios[f].above.back() += kFigures[f].above(pair);
      ratios[f].below.back() += kFigures[f].below(pair);
    }
  }
  if (use.pairs == 0) return std::nullopt;
  const auto values = BootstrapRatios(ratios, Rng(0).Split("tool use"));
  for (size_t f = 0; f < ratios.size(); ++f) {
    if (!values[f]) continue;
    use.rows.push_back(
        {kFigures[f].name, kFigures[f].about, FigureCell{values[f]->value, values[f], true}});
  }
  return use;
}

Json ToJson(const ToolBenefit& use) {
  Json figures = Json::Object();
  for (const ToolBenefit::Row& row : use.rows)
    figures.Set(row.name, IntervalJson(row.cell.interval));
  return Json::Of({{"pairs", use.pairs},
                   {"both", use.both},
                   {"only_with", use.only_with},
                   {"only_without", use.only_without},
                   {"neither", use.neither},
                   {"figures", std::move(figures)}});
}

}  // namespace hone
