#include "app/views/run_curves.h"

#include <algorithm>
#include <set>

namespace hone {
namespace {

struct Series {
  const char* metric;
  const char* name;
  bool dots = false;
};

struct Picture {
  const char* title;
  const char* y_label;
  std::vector<Series> series;
  bool share = false;  // from 0 to 1
};

std::vector<Picture> Pictures() {
  return {{"Success",
           "share of tasks",
           {{"success", "in training"},
            {"dev/sampled", "dev, real tools, sampled", true},
            {"dev/greedy", "dev, real tools, greedy", true}},
           true},
          {"When, which, how",
           "share",
           {{"when", "called when needed"}, {"which", "right tool"}, {"how", "right arguments"}},
           true},
          {"Calls that were not needed, or missed",
           "share of tasks",
           {{"needless_call_rate", "needless"}, {"missed_call_rate", "missed"}}},
          {"Calls per task", "calls", {{"tool_calls", "calls"}, {"num_turns", "turns"}}},
          {"Entropy", "nats per token", {{"entropy", "entropy"}}},
          {"KL to the policy that drew", "nats per token", {{"kl", "KL"}}},
          {"Length",
           "tokens per trajectory",
           {{"response_length", "written by the policy"}, {"thought_tokens", "of its thoughts"}}},
          {"Speed", "tokens per second", {{"tokens_per_second", "tokens per second"}}},
          {"Imitation",
           "loss per token",
           {{"sft/loss", "of the agent's tokens"}, {"sft/other_loss", "of other tokens"}}},
          {"Preferences", "share of pairs", {{"preference/accuracy", "preferred as wanted"}}}};
}

Curve CurveOf(const RunHistory& run, const std::string& metric, std::string name, bool dots) {
  Curve curve{.name = std::move(name), .dots = dots};
  for (const auto& [step, value] : SeriesOf(run, metric)) {
    curve.points.push_back({static_cast<double>(step), value, value, value});
  }
  return curve;
}

// The mean reward and every term that it is made of.
Plot RewardsOf(const RunHistory& run) {
  Plot plot{.title = "Reward", .x_label = "step", .y_label = "mean over trajectories"};
  std::set<std::string> terms;
  for (const RunHistory::Step& step : run.steps) {
    for (const auto& [name, value] : step.values) {
      if (name.starts_with("reward/") && name != "reward/mean") terms.insert(name);
    }
  }
  plot.curves.push_back(CurveOf(run, "reward/mean", "all terms", false));
  for (const std::string& term : terms) {
    plot.curves.push_back(CurveOf(run, term, term.substr(7), false));
    plot.curves.back().dashed = true;
  }
  return plot;
}

// Without a value other than 0: a recipe without that part.
bool Empty(const Plot& plot) {
  return std::all_of(plot.curves.begin(), plot.curves.end(), [](const Curve& curve) {
    return std::all_of(curve.points.begin(), curve.points.end(),
                       [](const PlotPoint& point) { return point.y == 0; });
  });
}

std::vector<Plot::Mark> MarksOf(const RunHistory& run) {
  std::vector<Plot::Mark> marks;
  if (!run.state) return marks;
  const auto success = SeriesOf(run, "success");
  const int64_t first = success.empty() ? 1 : static_cast<int64_t>(success[0].first);
  for (const Json& alarm : run.state->alarms) {
    const std::optional<int64_t> step = StepOfAlarm(alarm, first);
    const Json* name = alarm.Find("name");
    if (!step || name == nullptr || !name->is_string()) continue;
    marks.push_back({static_cast<double>(*step), name->AsString()});
  }
  constexpr size_t kMostMarks = 6;  // more could not be read
  if (marks.size() > kMostMarks) marks.resize(kMostMarks);
  return marks;
}

}  // namespace

std::vector<Plot> CurvesOf(const RunHistory& run) {
  std::vector<Plot> plots;
  const auto add = [&](Plot plot) {
    if (!Empty(plot)) plots.push_back(std::move(plot));
  };
  const std::vector<Picture> pictures = Pictures();
  for (size_t i = 0; i < pictures.size(); ++i) {
    const Picture& picture = pictures[i];
    Plot plot{.title = picture.title, .x_label = "step", .y_label = picture.y_label};
    for (const Series& series : picture.series) {
      Curve curve = CurveOf(run, series.metric, series.name, series.dots);
      if (!curve.points.empty()) plot.curves.push_back(std::move(curve));
    }
    if (picture.share) plot.y_range = {0, 1};
    if (i == 0) plot.marks = MarksOf(run);
    add(std::move(plot));
    if (i == 0) add(RewardsOf(run));
  }
  return plots;
}

}  // namespace hone
