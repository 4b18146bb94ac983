#include "evaluate/conduct.h"

#include "evaluate/measures.h"

namespace hone {
namespace {

double Share(int64_t part, int64_t whole) {
  return whole == 0 ? 0.0 : static_cast<double>(part) / static_cast<double>(whole);
}

Conduct ConductOf(const Measures& shown) {
  Conduct conduct;
  conduct.trajectories = 1;
  conduct.turns = shown.turns;
  conduct.tokens = shown.tokens;
  conduct.calls = shown.calls;
  conduct.faults = shown.unreadable;
  conduct.failed_calls = shown.calls - shown.ran;
  conduct.judged = shown.success ? 1 : 0;
  conduct.succeeded = shown.success == true ? 1 : 0;
  if (shown.tool_needed) {
    (*shown.tool_needed ? conduct.busy_tasks : conduct.idle_tasks) = 1;
    conduct.missed = *shown.tool_needed && !shown.called ? 1 : 0;
    conduct.needless = !*shown.tool_needed && shown.called ? 1 : 0;
  }
  if (shown.gold_calls) {
    conduct.known_tasks = 1;
    conduct.gold_calls = *shown.gold_calls;
    conduct.known_calls = shown.calls;
    conduct.right_tool = shown.matched;
    conduct.right_call = shown.right;
  }
  return conduct;
}

}  // namespace

double Conduct::Success() const { return Share(succeeded, judged); }
double Conduct::When() const {
  const int64_t tasks = idle_tasks + busy_tasks;
  return Share(tasks - needless - missed, tasks);
}
double Conduct::Which() const { return Share(right_tool, known_calls); }
double Conduct::How() const { return Share(right_call, right_tool); }
double Conduct::Needless() const { return Share(needless, idle_tasks); }
double Conduct::Missed() const { return Share(missed, busy_tasks); }
double Conduct::CallsPerTask() const { return Share(calls, trajectories); }
double Conduct::GoldCallsPerTask() const { return Share(gold_calls, known_tasks); }

void Conduct::Add(const Conduct& other) {
  for (int64_t Conduct::*count :
       {&Conduct::trajectories, &Conduct::judged, &Conduct::succeeded, &Conduct::turns,
        &Conduct::tokens, &Conduct::calls, &Conduct::faults, &Conduct::failed_calls,
        &Conduct::idle_tasks, &Conduct::needless, &Conduct::busy_tasks, &Conduct::missed,
        &Conduct::known_tasks, &Conduct::gold_calls, &Conduct::known_calls, &Conduct::right_tool,
        &Conduct::right_call}) {
    this->*count += other.*count;
  }
}

Json Conduct::ToJson() const {
  return Json::Of({{"trajectories", trajectories},
                   {"success", Success()},
                   {"when", When()},
                   {"which", Which()},
                   {"how", How()},
                   {"needless_calls", Needless()},
                   {"missed_calls", Missed()},
                   {"calls_per_task", CallsPerTask()},
                   {"gold_calls_per_task", GoldCallsPerTask()},
                   {"faults", faults},
                   {"failed_calls", failed_calls},
                   {"tokens", tokens},
                   {"turns", turns}});
}

Result<Conduct> ConductOf(const Tree& tree) {
  HONE_ASSIGN_OR_RETURN(const std::vector<Measures> leaves, MeasureTree(tree));
  Conduct sum;
  for (const Measures& leaf : leaves) {
    if (leaf.counts) sum.Add(ConductOf(leaf));
  }
  return sum;
}

}  // namespace hone
