#include "evaluate/world_audit.h"

#include <algorithm>
#include <atomic>
#include <optional>
#include <thread>

#include <fmt/format.h>

#include "envs/plan.h"
#include "evaluate/mistakes.h"
#include "tools/caller.h"
#include "tools/live.h"

namespace hone {
namespace {

constexpr size_t kKindsShown = 12;

// One task in one world.
struct TaskReport {
  std::string void_reason;  // empty: the plan was carried out
  Task task;                // with the gold of this world
  bool gold_success = false;
  FaultCount right, wrong;
};

double Fraction(int64_t part, int64_t all) {
  return all == 0 ? 0 : static_cast<double>(part) / static_cast<double>(all);
}

// Whether the simulator was asked: neither computed nor refused at the door.
bool WasPlayed(const Toolbox& toolbox, const std::string& tool, const ToolResult& result) {
  const Toolbox::Tool* found = toolbox.Find(tool);
  return found != nullptr && !found->spec.computable &&
         result.status != CallStatus::kInvalidArguments;
}

void Count(const Toolbox& toolbox, const Call& call, const ToolResult& result, FaultCount* count) {
  if (!WasPlayed(toolbox, call.name, result)) return;
  ++count->calls;
  count->faults += result.blame == Blame::kSimulator;
}

std::string CallText(const std::string& name, const Json& arguments) {
  return name + " " + DumpJson(arguments, JsonStyle::kCanonical);
}

// One thread's way through tasks of a world.
class Auditor {
 public:
  Auditor(const LoadedEnvironment& loaded, const WorldAnswers& world, const Mistakes* mistakes,
          const AuditOptions& options)
      : loaded_(loaded),
        mistakes_(mistakes),
        options_(options),
        executor_({.responders = world(timeline_.get())}, timeline_.get()) {}

  Result<TaskReport> Audit(const Task& task) {
    TaskReport report;
    report.task = task;
    HONE_RETURN_IF_ERROR(CarryOutPlan(&report));
    if (!report.void_reason.empty()) return report;
    HONE_ASSIGN_OR_RETURN(const auto gold, loaded_.gold_agent(report.task));
    HONE_ASSIGN_OR_RETURN(const Playthrough played, PlayWith(report.task, gold.get(), "gold"));
    report.gold_success = played.success();
    if (mistakes_ != nullptr) HONE_RETURN_IF_ERROR(MakeMistakes(&report));
    return report;
  }

 private:
  const Toolbox& toolbox() const { return *loaded_.environment->tools(); }

  Result<Playthrough> PlayWith(const Task& task, Agent* agent, const std::string& path) {
    return Play(*loaded_.environment, task, options_.seed, agent, &executor_,
                {.run = "audit", .path = path});
  }

  // GoldInWorld (envs/gold.h) would say that a call failed; here it matters how.
  Result<void> CarryOutPlan(TaskReport* report) {
    Task& task = report->task;
    HONE_ASSIGN_OR_RETURN(const std::optional<Plan> plan, PlanOf(task));
    if (!plan) {
      return Error(ErrorCode::kInvalidArgument,
                   fmt::format("task \"{}\" has no plan (metadata.plan) to carry out", task.id));
    }
    HONE_ASSIGN_OR_RETURN(const auto episode, loaded_.environment->Open(task, options_.seed));
    const auto sessions = std::make_shared<Sessions>(loaded_.environment->For(task).tools(),
                                                     episode->opening().session_seed);
    Caller caller(&executor_);
    int32_t turn = 0;
    const auto perform = [&](const Call& call) -> Result<Json> {
      const ToolResult result =
          caller.Call({{"audit", task.id, "plan", turn++, 0}, call.name, call.arguments, sessions})
              .result;
      Count(toolbox(), call, result, &report->right);
      if (result.status != CallStatus::kOk) {
        report->void_reason = fmt::format("{} {}", call.name, CallStatusName(result.status));
        return Error(ErrorCode::kUnavailable, result.content);
      }
      Result<Json> value = ParseJson(result.content);
      return value.ok() ? std::move(value) : Result<Json>(Json(result.content));
    };
    const Result<ResolvedPlan> gold = CarryOut(*plan, perform);
    if (gold.ok()) {
      SetGold(*gold, &task);
    } else if (report->void_reason.empty()) {
      report->void_reason = "an answer without what the plan refers to";
    }
    return {};
  }

  Result<void> MakeMistakes(TaskReport* report) {
    const Rng rng = Rng(options_.seed).Split("mistakes").Split(report->task.id);
    HONE_ASSIGN_OR_RETURN(const auto agent, mistakes_->AgentFor(report->task, rng));
    HONE_ASSIGN_OR_RETURN(const Playthrough played,
                          PlayWith(report->task, agent.get(), "mistakes"));
    std::vector<std::string> gold;
    for (const Json& call : report->task.reward.Find("calls")->AsArray()) {
      gold.push_back(CallText(call.Find("name")->AsString(), *call.Find("arguments")));
    }
    for (const PlayedTurn& turn : played.turns) {
      for (size_t i = 0; i < turn.agent.calls.size(); ++i) {
        const Call& call = turn.agent.calls[i];
        const std::string text = CallText(call.name, call.arguments);
        if (std::find(gold.begin(), gold.end(), text) != gold.end()) continue;
        Count(toolbox(), call, turn.agent.results[i], &report->wrong);
      }
    }
    return {};
  }

  const LoadedEnvironment& loaded_;
  const Mistakes* const mistakes_;  // null: nobody slips
  const AuditOptions& options_;
  const std::unique_ptr<Timeline> timeline_ = NewVirtualTimeline();
  Executor executor_;
};

Result<std::vector<TaskReport>> AuditAll(const LoadedEnvironment& loaded,
                                         const std::vector<Task>& tasks, const WorldAnswers& world,
                                         const Mistakes* mistakes, const AuditOptions& options) {
  std::vector<std::optional<Result<TaskReport>>> reports(tasks.size());
  std::atomic<size_t> next = 0;
  {
    std::vector<std::jthread> workers;
    for (int t = 0; t < std::max(options.threads, 1); ++t) {
      workers.emplace_back([&] {
        Auditor auditor(loaded, world, mistakes, options);
        for (size_t i = next++; i < tasks.size(); i = next++) reports[i] = auditor.Audit(tasks[i]);
      });
    }
  }
  std::vector<TaskReport> all;
  for (std::optional<Result<TaskReport>>& report : reports) {
    if (!report->ok()) return report->error();
    all.push_back(*std::move(*report));
  }
  return all;
}

Result<WorldReport> Summary(const LoadedEnvironment& loaded, std::vector<TaskReport> reports,
                            uint64_t seed) {
  WorldReport out;
  int64_t successes = 0;
  std::vector<Task> fit;
  for (TaskReport& report : reports) {
    ++out.tasks;
    auto& [void_tasks, all] = out.by_kind[SplitMarksOf(report.task).kind];
    ++all;
    if (!report.void_reason.empty()) {
      ++out.void_tasks;
      ++void_tasks;
      ++out.void_reasons[report.void_reason];
      continue;
    }
    successes += report.gold_success;
    fit.push_back(std::move(report.task));
  }
  out.gold_success = Fraction(successes, static_cast<int64_t>(fit.size()));
  HONE_ASSIGN_OR_RETURN(out.shortcuts, MeasureShortcuts(*loaded.environment, fit, seed));
  return out;
}

Json WorldJson(const WorldReport& world) {
  Json::Object kinds, reasons;
  for (const auto& [kind, counts] : world.by_kind) {
    kinds.emplace_back(kind, Json::Of({{"tasks", counts.second}, {"void", counts.first}}));
  }
  for (const auto& [reason, count] : world.void_reasons) reasons.emplace_back(reason, count);
  return Json::Of({{"tasks", world.tasks},
                   {"void", world.void_tasks},
                   {"gold_success", world.gold_success},
                   {"constant_answer", world.shortcuts.answer},
                   {"constant_success", world.shortcuts.constant},
                   {"without_call_success", world.shortcuts.without_call},
                   {"shortcuts_measured_on", world.shortcuts.tasks},
                   {"kinds", std::move(kinds)},
                   {"void_reasons", std::move(reasons)}});
}

Json FaultJson(const FaultCount& count) {
  return Json::Of({{"calls", count.calls}, {"faults", count.faults}, {"rate", count.rate()}});
}

}  // namespace

WorldAnswers RealWorld(std::shared_ptr<const Toolbox> toolbox) {
  return [toolbox](Timeline* timeline) -> std::vector<std::shared_ptr<Responder>> {
    return {NewLiveResponder(*toolbox, timeline, nullptr)};
  };
}

double FaultCount::rate() const { return Fraction(faults, calls); }

Json WorldAudit::ToJson() const {
  return Json::Of({{"simulated", WorldJson(simulated)},
                   {"real", WorldJson(real)},
                   {"faults", Json::Of({{"right_calls", FaultJson(right)},
                                        {"wrong_calls", FaultJson(wrong)}})}});
}

std::string WorldAudit::Table() const {
  std::string out = fmt::format("{:<34}{:>12}{:>12}\n", "", "simulated", "real");
  const auto counts = [&](std::string_view name, int64_t a, int64_t b) {
    out += fmt::format("{:<34}{:>12}{:>12}\n", name, a, b);
  };
  const auto shares = [&](std::string_view name, double a, double b) {
    out += fmt::format("{:<34}{:>11.1f}%{:>11.1f}%\n", name, 100 * a, 100 * b);
  };
  counts("tasks", simulated.tasks, real.tasks);
  counts("void: the gold plan fails", simulated.void_tasks, real.void_tasks);
  shares("success of the gold agent", simulated.gold_success, real.gold_success);
  shares("success of the best constant answer", simulated.shortcuts.constant,
         real.shortcuts.constant);
  shares("success without calls, by kind", simulated.shortcuts.without_call,
         real.shortcuts.without_call);
  for (const auto& [name, count] : {std::pair("right", &right), std::pair("wrong", &wrong)}) {
    out += fmt::format("simulator faults on {} calls: {} of {} ({:.2f}%)\n", name, count->faults,
                       count->calls, 100 * count->rate());
  }
  if (simulated.void_tasks == 0) return out;
  out += fmt::format("\n{:<34}{:>12}{:>12}\n", "kind", "void", "tasks");
  std::vector<std::pair<int64_t, std::string>> worst;
  for (const auto& [kind, voids] : simulated.by_kind) {
    if (voids.first > 0) worst.emplace_back(-voids.first, kind);
  }
  std::sort(worst.begin(), worst.end());
  for (size_t i = 0; i < std::min(worst.size(), kKindsShown); ++i) {
    counts(worst[i].second, -worst[i].first, simulated.by_kind.at(worst[i].second).second);
  }
  if (worst.size() > kKindsShown) out += fmt::format("and {} more\n", worst.size() - kKindsShown);
  out += fmt::format("\n{:<34}{:>12}\n", "void because of", "tasks");
  for (const auto& [reason, count] : simulated.void_reasons) {
    out += fmt::format("{:<34}{:>12}\n", reason, count);
  }
  return out;
}

Result<WorldAudit> AuditWorld(const LoadedEnvironment& loaded, const std::vector<Task>& tasks,
                              const WorldAnswers& simulated, const WorldAnswers& real,
                              const AuditOptions& options) {
  const Mistakes mistakes(loaded, tasks, options.mistakes);
  WorldAudit audit;
  HONE_ASSIGN_OR_RETURN(std::vector<TaskReport> made,
                        AuditAll(loaded, tasks, simulated, &mistakes, options));
  for (const TaskReport& report : made) {
    audit.right.calls += report.right.calls;
    audit.right.faults += report.right.faults;
    audit.wrong.calls += report.wrong.calls;
    audit.wrong.faults += report.wrong.faults;
  }
  HONE_ASSIGN_OR_RETURN(audit.simulated, Summary(loaded, std::move(made), options.seed));
  AuditOptions alone = options;
  alone.threads = 1;  // the real tools may be few
  HONE_ASSIGN_OR_RETURN(std::vector<TaskReport> lived,
                        AuditAll(loaded, tasks, real, nullptr, alone));
  HONE_ASSIGN_OR_RETURN(audit.real, Summary(loaded, std::move(lived), options.seed));
  return audit;
}

}  // namespace hone
