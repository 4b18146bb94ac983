#include "evaluate/measures.h"

#include <algorithm>
#include <map>
#include <numeric>
#include <set>

#include "base/check.h"
#include "record/final_state.h"
#include "rewards/labels.h"
#include "rewards/matching/call_match.h"

namespace hone {
namespace {

std::string TextOf(const Json& object, std::string_view name) {
  const Json* found = object.Find(name);
  return found != nullptr && found->is_string() ? found->AsString() : "";
}

std::optional<bool> NeedsTool(const Labels& labels) {
  if (labels.tool_needed) return labels.tool_needed;
  if (labels.calls) return !labels.calls->calls.empty();
  return std::nullopt;
}

void CountCalls(const TrajectoryView& trajectory, const Labels& labels, const TaskTools& tools,
                Measures* out) {
  std::set<std::string> seen;
  for (const TrajectoryView::MadeCall& made : trajectory.calls) {
    const std::string text =
        made.call->name + "\n" + DumpJson(made.call->arguments, JsonStyle::kCanonical);
    out->repeats += seen.insert(text).second ? 0 : 1;
    out->misfits += tools.FormOf(made) == CallForm::kWrong ? 1 : 0;
    const CallRun run = RunOf(made);
    out->judged += run == CallRun::kUnknown ? 0 : 1;
    out->ran += run == CallRun::kRan ? 1 : 0;
    out->money += tools.PriceOf(made.call->name);
  }
  for (const TrajectoryView::MadeCall& made : trajectory.calls) ++out->calls_of[made.call->name];
  if (!trajectory.calls.empty()) out->first_tool = trajectory.calls[0].call->name;
  if (!labels.calls) return;
  const std::vector<GoldCall>& gold = labels.calls->calls;
  out->gold_calls = static_cast<int64_t>(gold.size());
  if (gold.size() == 1) out->gold_tool = gold[0].name;
  const std::vector<const Call*> calls = trajectory.bare_calls();
  const CallScore score = ScoreCalls(calls, *labels.calls);
  for (size_t i = 0; i < calls.size(); ++i) {
    if (score.gold_of[i] < 0) continue;
    const GoldCall& stands_for = gold[static_cast<size_t>(score.gold_of[i])];
    ++out->matched;
    out->right += IsRightCall(*calls[i], stands_for) ? 1 : 0;
    out->argument_score += ArgumentScore(calls[i]->arguments, stands_for);
  }
}

void CountTurn(const Node& node, Measures* out) {
  if (node.author != Author::kPolicy) return;
  ++out->turns;
  out->thoughtful_turns += node.thoughts.empty() ? 0 : 1;
  out->thoughts += static_cast<int64_t>(node.thoughts.size());
  out->closed_thoughts += node.closed_thoughts;
  out->entropy = std::accumulate(node.entropies.begin(), node.entropies.end(), out->entropy);
}

// A figure is a sum over trajectories divided by another.
struct ShareKind {
  const char* part;
  const char* name;
  const char* about;
  double (*above)(const Measures&);
  double (*below)(const Measures&);
  bool if_any = false;  // where nothing is above, nobody has it and nothing is told
};

double One(const Measures&) { return 1; }
double If(bool condition) { return condition ? 1 : 0; }
bool Needed(const Measures& m) { return m.tool_needed == true; }
bool NotNeeded(const Measures& m) { return m.tool_needed == false; }
double Calls(const Measures& m) { return static_cast<double>(m.calls); }
double CallsWithGold(const Measures& m) { return m.gold_calls ? Calls(m) : 0; }
double GoldCount(const Measures& m) { return static_cast<double>(m.gold_calls.value_or(0)); }
double Matched(const Measures& m) { return static_cast<double>(m.matched); }
double Wasted(const Measures& m) {
  return m.gold_calls ? static_cast<double>(m.calls - m.matched) : 0;
}
double Right(const Measures& m) { return static_cast<double>(m.right); }
double Actions(const Measures& m) { return static_cast<double>(m.calls + m.unreadable); }
double Succeeded(const Measures& m) { return If(m.success == true); }

constexpr ShareKind kShares[] = {
    {"outcome", "success", "tasks that were done", Succeeded,
     [](const Measures& m) { return If(m.success.has_value()); }},
    {"outcome", "success_with_need", "of tasks that need a tool, those that were done",
     [](const Measures& m) { return If(Needed(m) && m.success == true); },
     [](const Measures& m) { return If(Needed(m) && m.success.has_value()); }},
    {"outcome", "success_without_need", "of tasks that need no tool, those that were done",
     [](const Measures& m) { return If(NotNeeded(m) && m.success == true); },
     [](const Measures& m) { return If(NotNeeded(m) && m.success.has_value()); }},
    {"outcome", "unaided", "of tasks that were done, those without a call",
     [](const Measures& m) { return If(m.success == true && !m.called); }, Succeeded},
    {"when", "when", "of tasks that say whether a tool is needed, those where that was done",
     [](const Measures& m) { return If(m.tool_needed == m.called); },
     [](const Measures& m) { return If(m.tool_needed.has_value()); }},
    {"when", "needless_calls", "of tasks that need no tool, those where one was called",
     [](const Measures& m) { return If(NotNeeded(m) && m.called); },
     [](const Measures& m) { return If(NotNeeded(m)); }},
    {"when", "missed_calls", "of tasks that need a tool, those where none was called",
     [](const Measures& m) { return If(Needed(m) && !m.called); },
     [](const Measures& m) { return If(Needed(m)); }},
    {"when", "when_precision", "of tasks where a tool was called, those that need one",
     [](const Measures& m) { return If(Needed(m) && m.called); },
     [](const Measures& m) { return If(m.tool_needed.has_value() && m.called); }},
    {"which", "which", "of calls, those of a tool that was needed", Matched, CallsWithGold},
    {"which", "which_recall", "of needed calls, those whose tool was called", Matched, GoldCount},
    {"which", "repeats", "of calls, those that repeat an earlier one",
     [](const Measures& m) { return static_cast<double>(m.repeats); }, Calls},
    {"which", "unused_calls", "of calls, those that brought nothing that the task needs",
     [](const Measures& m) { return static_cast<double>(m.unused); },
     [](const Measures& m) { return static_cast<double>(m.weighed); }},
    {"how", "how", "of calls of a needed tool, those with right arguments", Right, Matched},
    {"how", "arguments", "how right the arguments of such calls are",
     [](const Measures& m) { return m.argument_score; }, Matched},
    {"how", "readable", "of actions, those that could be read", Calls, Actions},
    {"how", "fitting", "of calls, those of a known tool with arguments that fit",
     [](const Measures& m) { return static_cast<double>(m.calls - m.misfits); }, Calls},
    {"how", "executed", "of calls, those that ran",
     [](const Measures& m) { return static_cast<double>(m.ran); },
     [](const Measures& m) { return static_cast<double>(m.judged); }},
    {"cost", "calls", "per task", Calls, One},
    {"cost", "gold_calls", "that are needed, per task", GoldCount,
     [](const Measures& m) { return If(m.gold_calls.has_value()); }},
    {"cost", "wasted_calls", "that are not, per task", Wasted,
     [](const Measures& m) { return If(m.gold_calls.has_value()); }},
    {"cost", "calls_per_success", "", Calls, Succeeded},
    {"cost", "productivity", "tasks done per call", Succeeded, Calls},
    {"cost", "turns", "of the agent, per task",
     [](const Measures& m) { return static_cast<double>(m.turns); }, One},
    {"cost", "tokens", "that the agent wrote, per task",
     [](const Measures& m) { return static_cast<double>(m.tokens); }, One},
    {"cost", "thought_tokens", "of the agent's thoughts, per task",
     [](const Measures& m) { return static_cast<double>(m.thought_tokens); }, One, true},
    {"cost", "entropy", "of the tokens that it wrote, in nats",
     [](const Measures& m) { return m.entropy; },
     [](const Measures& m) { return m.entropy > 0 ? static_cast<double>(m.tokens) : 0; }},
    {"cost", "latency_ms", "of all calls, per task",
     [](const Measures& m) { return static_cast<double>(m.latency_us) / 1000; }, One},
    {"cost", "money", "per task", [](const Measures& m) { return m.money; }, One},
    {"thought", "thoughtful_turns", "of the agent's turns, those with a thought",
     [](const Measures& m) { return static_cast<double>(m.thoughtful_turns); },
     [](const Measures& m) { return static_cast<double>(m.turns); }, true},
    {"thought", "closed_thoughts", "of thoughts, those that a limit closed",
     [](const Measures& m) { return static_cast<double>(m.closed_thoughts); },
     [](const Measures& m) { return static_cast<double>(m.thoughts); }, true},
};

const ShareKind& ShareNamed(std::string_view name) {
  const auto* share = std::find_if(std::begin(kShares), std::end(kShares),
                                   [&](const ShareKind& one) { return one.name == name; });
  CHECK(share != std::end(kShares), "there is no figure of that name");
  return *share;
}

bool IsZero(double value) { return value == 0; }

// Sums of the trajectories of each task, which are resampled together.
Ratio RatioOf(std::span<const Measures> measures, const ShareKind& share, int64_t* trajectories) {
  std::map<std::string_view, size_t> places;
  Ratio ratio;
  *trajectories = 0;  // that say something
  for (const Measures& m : measures) {
    if (!m.counts) continue;
    const auto [at, fresh] = places.emplace(m.task, places.size());
    if (fresh) {
      ratio.above.push_back(0);
      ratio.below.push_back(0);
    }
    const double below = share.below(m);
    ratio.above[at->second] += share.above(m);
    ratio.below[at->second] += below;
    *trajectories += below > 0 ? 1 : 0;
  }
  if (share.if_any && std::all_of(ratio.above.begin(), ratio.above.end(), IsZero)) {
    ratio.below.assign(ratio.below.size(), 0);
    *trajectories = 0;
  }
  return ratio;
}

}  // namespace

std::optional<std::vector<bool>> CallsThatHelped(const TrajectoryView& trajectory,
                                                 const Labels& labels) {
  if (std::optional<std::vector<bool>> said = trajectory.said_right()) return said;
  if (!labels.calls) return std::nullopt;
  const std::vector<const Call*> calls = trajectory.bare_calls();
  const CallScore score = ScoreCalls(calls, *labels.calls);
  std::vector<bool> helped(calls.size(), false);
  for (size_t i = 0; i < calls.size(); ++i) {
    if (score.gold_of[i] < 0) continue;
    helped[i] = IsRightCall(*calls[i], labels.calls->calls[static_cast<size_t>(score.gold_of[i])]);
  }
  return helped;
}

Result<std::vector<Measures>> MeasureTree(const Tree& tree) {
  const Result<Labels> labels = LabelsOf(tree.task);
  if (!labels.ok()) return labels.error().In("task \"" + tree.task.id + "\"");
  const TaskTools tools = TaskTools::Of(tree.task);
  std::vector<Measures> out;
  for (size_t leaf = 0; leaf < tree.leaves.size(); ++leaf) {
    const TrajectoryView trajectory = TrajectoryOf(tree, static_cast<int32_t>(leaf));
    Measures& m = out.emplace_back();
    m.task = tree.task.id;
    m.family = TextOf(tree.task.metadata, "family");
    m.kind = TextOf(tree.task.metadata, "kind");
    m.environment = TextOf(tree.task.metadata, "environment");
    m.ending = trajectory.ending;
    m.blame = trajectory.blame;
    m.counts = !trajectory.failed_by_others();
    if (m.counts) m.success = FinalState(*trajectory.final_state).is_right();
    m.tool_needed = NeedsTool(*labels);
    m.calls = static_cast<int64_t>(trajectory.calls.size());
    m.called = m.calls > 0;
    m.unreadable = static_cast<int64_t>(trajectory.faults.size());
    CountCalls(trajectory, *labels, tools, &m);
    if (const auto helped = CallsThatHelped(trajectory, *labels)) {
      m.weighed = std::ssize(*helped);
      m.unused = std::count(helped->begin(), helped->end(), false);
    }
    for (const NodeId node : WholePathTo(tree, tree.leaves[leaf].node)) {
      CountTurn(tree.nodes[static_cast<size_t>(node)], &m);
    }
    m.tokens = trajectory.policy_tokens;
    m.thought_tokens = trajectory.thought_tokens;
    m.latency_us = trajectory.latency_us;
  }
  return out;
}

std::vector<FigureInfo> KnownFigures() {
  std::vector<FigureInfo> known;
  for (const ShareKind& share : kShares) known.push_back({share.name, share.part, share.about});
  return known;
}

std::vector<Figure> FiguresOf(std::span<const Measures> measures, Rng rng,
                              const BootstrapOptions& options) {
  std::vector<Figure> figures;
  std::vector<Ratio> ratios;
  for (const ShareKind& share : kShares) {
    Figure& figure = figures.emplace_back();
    figure.name = share.name;
    figure.about = share.about;
    ratios.push_back(RatioOf(measures, share, &figure.units));
  }
  const std::vector<std::optional<Interval>> values = BootstrapRatios(ratios, rng, options);
  for (size_t i = 0; i < figures.size(); ++i) figures[i].value = values[i];
  return figures;
}

std::optional<double> ValueOf(std::span<const Measures> measures, std::string_view name) {
  const ShareKind& share = ShareNamed(name);
  double above = 0, below = 0;
  for (const Measures& m : measures) {
    if (!m.counts) continue;
    above += share.above(m);
    below += share.below(m);
  }
  if (below == 0 || (share.if_any && above == 0)) return std::nullopt;
  return above / below;
}

int64_t UnitsOf(std::span<const Measures> measures, std::string_view name) {
  const ShareKind& share = ShareNamed(name);
  return std::count_if(measures.begin(), measures.end(),
                       [&](const Measures& m) { return m.counts && share.below(m) > 0; });
}

Json ToJson(std::span<const Figure> figures) {
  Json out = Json::Object();
  for (const Figure& figure : figures) {
    if (!figure.value) continue;
    out.Set(figure.name, Json::Of({{"value", figure.value->value},
                                   {"low", figure.value->low},
                                   {"high", figure.value->high},
                                   {"trajectories", figure.units}}));
  }
  return out;
}

std::map<std::string, std::vector<Measures>> GroupedBy(std::span<const Measures> measures,
                                                       GroupFunction group) {
  std::map<std::string, std::vector<Measures>> groups;
  for (const Measures& m : measures) groups[group(m)].push_back(m);
  return groups;
}

std::vector<GroupSuccess> SuccessBy(std::span<const Measures> measures, GroupFunction group,
                                    Rng rng, const BootstrapOptions& options) {
  std::vector<GroupSuccess> out;
  for (const auto& [name, members] : GroupedBy(measures, group)) {
    int64_t trajectories = 0;
    const Ratio success = RatioOf(members, kShares[0], &trajectories);
    out.push_back({name, trajectories,
                   BootstrapRatio(success.above, success.below, rng.Split(name), options)});
  }
  return out;
}

Confusion ConfusionOf(std::span<const Measures> measures) {
  std::set<std::string> tools;
  for (const Measures& m : measures) {
    if (!m.counts || m.gold_tool.empty()) continue;
    tools.insert(m.gold_tool);
    if (!m.first_tool.empty()) tools.insert(m.first_tool);
  }
  Confusion confusion{.tools = {tools.begin(), tools.end()}};
  const auto place = [&](const std::string& tool) {
    return static_cast<size_t>(std::distance(tools.begin(), tools.find(tool)));
  };
  confusion.counts.assign(tools.size(), std::vector<int64_t>(tools.size() + 1, 0));
  for (const Measures& m : measures) {
    if (!m.counts || m.gold_tool.empty()) continue;
    ++confusion
          .counts[place(m.gold_tool)][m.first_tool.empty() ? tools.size() : place(m.first_tool)];
  }
  return confusion;
}

}  // namespace hone
