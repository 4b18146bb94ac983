#include "credit/term_needs.h"

#include <algorithm>
#include <set>

#include <fmt/format.h>

namespace hone {
namespace {

bool Meets(const std::set<std::string>& given, const TermNeed& need) {
  return std::any_of(given.begin(), given.end(),
                     [&](const std::string& name) { return need.terms.Has(name); });
}

std::string InWords(const TermNeed& need) {
  const std::vector<std::string>& names = need.terms.names;
  if (names == std::vector<std::string>{"*"}) return "any term";
  return fmt::format("{} {}", names.size() == 1 ? "the term" : "one of the terms",
                     fmt::join(names, ", "));
}

// The names that scored trajectories of a batch have, and whether any of them made a call.
struct Survey {
  std::set<std::string> names;
  bool scored = false;
  bool calls = false;

  void Add(const Trajectory& trajectory) {
    if (!trajectory.counts || trajectory.score == nullptr || !Total(*trajectory.score)) return;
    scored = true;
    for (const RewardTerm& term : trajectory.score->terms) names.insert(term.name);
    calls |= std::any_of(trajectory.actions.begin(), trajectory.actions.end(),
                         [](const Action& action) { return action.kind == ActionKind::kCall; });
  }
};

}  // namespace

std::vector<TermNeed> NeedsOf(const Method& method) {
  if (!method.term_needs.empty()) return method.term_needs;
  return {{method.reads}};
}

std::vector<std::string> OpenNeeds(const Method& method, const std::vector<std::string>& given) {
  const std::set<std::string> names(given.begin(), given.end());
  std::vector<TermNeed> needs = NeedsOf(method);
  for (const std::string& name : method.named) needs.push_back({{{name}, {}}});
  std::vector<std::string> open;
  for (const TermNeed& need : needs) {
    std::string words = InWords(need);
    if (Meets(names, need) || std::find(open.begin(), open.end(), words) != open.end()) continue;
    open.push_back(std::move(words));
  }
  return open;
}

Result<void> CheckTermNeeds(const Method& method, std::span<const Group> batch) {
  Survey survey;
  for (const Group& group : batch) {
    for (const Trajectory& trajectory : group.trajectories) survey.Add(trajectory);
  }
  if (!survey.scored) return {};
  for (const TermNeed& need : NeedsOf(method)) {
    if (Meets(survey.names, need) || (need.on_calls && !survey.calls)) continue;
    return Error(
        ErrorCode::kInvalidArgument,
        fmt::format("{} needs {}; the scores have only {}. Choose a reward that gives it (hone "
                    "rewards list; a program's plain numbers are called what rewards.term says), a "
                    "method that reads what there is, or say which terms it is to read "
                    "(docs/algorithms/{}.md)",
                    method.name, InWords(need), fmt::join(survey.names, ", "), method.name));
  }
  return {};
}

}  // namespace hone
