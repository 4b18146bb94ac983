#include "envs/gold.h"

#include <map>
#include <memory>
#include <optional>

#include <fmt/format.h>

#include "base/rng.h"
#include "envs/plan.h"

namespace hone {
namespace {

// The gold calls of a task as a plan without references; nothing when it does not know them.
std::optional<Plan> FixedCalls(const Task& task) {
  const Json* calls = task.reward.Find("calls");
  if (calls == nullptr || !calls->is_array()) return std::nullopt;
  Plan plan;
  for (const Json& call : calls->AsArray()) {
    const Json* name = call.Find("name");
    const Json* arguments = call.Find("arguments");
    if (name == nullptr || !name->is_string() || arguments == nullptr || !arguments->is_object()) {
      return std::nullopt;
    }
    plan.calls.push_back({name->AsString(), *arguments, {}, {}});
  }
  return plan;
}

// One task on its way. Not to be moved: the run points to the plan.
class Inquiry {
 public:
  static Result<std::unique_ptr<Inquiry>> Open(const Environment& environment, const Task& task,
                                               uint64_t seed, const std::string& run,
                                               std::string path) {
    HONE_ASSIGN_OR_RETURN(const std::unique_ptr<Episode> episode, environment.Open(task, seed));
    std::unique_ptr<Inquiry> inquiry(new Inquiry(task));
    const Result<std::optional<Plan>> plan = PlanOf(task);
    if (!plan.ok()) return plan.error().In(fmt::format("task \"{}\"", task.id));
    inquiry->planned_ = plan->has_value();
    if (*plan) {
      inquiry->plan_ = **plan;
    } else if (std::optional<Plan> fixed = FixedCalls(task)) {
      inquiry->plan_ = *std::move(fixed);
    } else {
      inquiry->invented_ = true;  // who knows what the answer rests on
    }
    inquiry->run_.emplace(&inquiry->plan_);
    inquiry->sessions_ =
        std::make_shared<Sessions>(environment.For(task).tools(), episode->opening().session_seed);
    inquiry->identity_ = {run, task.id, std::move(path), 0, 0};
    return inquiry;
  }

  // Of a task that cannot be asked about.
  static std::unique_ptr<Inquiry> Void(const Task& task, std::string why) {
    std::unique_ptr<Inquiry> inquiry(new Inquiry(task));
    inquiry->out_.void_because = std::move(why);
    return inquiry;
  }

  // Of a task that nothing is asked about.
  static std::unique_ptr<Inquiry> AsItIs(const Task& task) {
    return std::unique_ptr<Inquiry>(new Inquiry(task));
  }

  // Asks what comes next; nothing when there is nothing to ask any more.
  std::optional<uint64_t> Ask(Executor* executor) {
    if (!run_ || !out_.void_because.empty()) return std::nullopt;
    Result<std::optional<Call>> call = run_->Next();
    if (!call.ok()) return End(call.error().message());
    if (!*call) return Finish();
    const uint64_t ticket =
        executor->Submit({identity_, (*call)->name, (*call)->arguments, sessions_});
    ++identity_.turn;
    return ticket;
  }

  // Takes the answer; then it can be asked again, unless it is over.
  bool Hear(const CallOutcome& outcome) {
    const ToolResult& result = outcome.result;
    if (outcome.source != CallSource::kJournal && outcome.source != CallSource::kComputed)
      invented_ = true;
    if (result.status != CallStatus::kOk) {
      End(fmt::format("call {} of its plan ended {}: {}", identity_.turn - 1,
                      CallStatusName(result.status), result.content));
      return false;
    }
    Result<Json> value = ParseJson(result.content);
    const Result<void> given = run_->Give(value.ok() ? *std::move(value) : Json(result.content));
    if (!given.ok()) End(given.error().message());
    return given.ok();
  }

  GoldTask Take() { return std::move(out_); }

 private:
  explicit Inquiry(const Task& task) { out_.task = task; }

  std::optional<uint64_t> End(std::string why) {
    // Gold calls that nobody promised to be a plan need not all succeed.
    if (planned_) {
      out_.void_because = std::move(why);
    } else {
      out_.task.answer = Json();
    }
    return std::nullopt;
  }

  std::optional<uint64_t> Finish() {
    if (!planned_) {
      if (invented_) out_.task.answer = Json();
      return std::nullopt;
    }
    const Result<ResolvedPlan> gold = run_->Finish();
    if (!gold.ok()) return End(gold.error().message());
    SetGold(*gold, &out_.task);
    return std::nullopt;
  }

  GoldTask out_;
  Plan plan_;
  bool planned_ = false;   // else there are at best gold calls
  bool invented_ = false;  // something was made up
  std::optional<PlanRun> run_;
  std::shared_ptr<Sessions> sessions_;
  CallIdentity identity_;
};

}  // namespace

uint64_t WorldSeed(uint64_t seed, const Task& task) {
  constexpr uint64_t kSeeds = uint64_t{1} << 40;  // exact in every reader of JSON
  return Rng(seed).Split("world").Split(task.id).Below(kSeeds);
}

std::vector<GoldQuestion> QuestionsAbout(std::span<const Task> tasks,
                                         std::span<const uint64_t> seeds) {
  CHECK(tasks.size() == seeds.size(), "one seed per task");
  std::vector<GoldQuestion> questions;
  std::map<std::string, int64_t> met;
  for (size_t i = 0; i < tasks.size(); ++i) {
    questions.push_back({tasks[i], seeds[i], met[tasks[i].id]++});
  }
  return questions;
}

Result<std::vector<GoldTask>> GoldInWorld(const Environment& environment,
                                          std::span<const Task> tasks,
                                          std::span<const uint64_t> seeds, Executor* executor,
                                          const std::string& run) {
  return AskForGold(environment, QuestionsAbout(tasks, seeds), executor, run);
}

Result<std::vector<GoldTask>> AskForGold(const Environment& environment,
                                         std::span<const GoldQuestion> questions,
                                         Executor* executor, const std::string& run) {
  std::vector<std::unique_ptr<Inquiry>> inquiries;
  for (const auto& [task, seed, again] : questions) {
    if (environment.For(task).traits().judged_by_answers) {
      inquiries.push_back(Inquiry::AsItIs(task));
      continue;
    }
    std::string path = again == 0 ? "gold" : fmt::format("gold-{}", again);
    auto inquiry = Inquiry::Open(environment, task, seed, run, std::move(path));
    // An environment that is gone for the moment makes one task void, not the whole run.
    if (!inquiry.ok() && inquiry.error().code() != ErrorCode::kUnavailable &&
        inquiry.error().code() != ErrorCode::kDeadline) {
      return inquiry.error();
    }
    inquiries.push_back(inquiry.ok() ? *std::move(inquiry)
                                     : Inquiry::Void(task, inquiry.error().message()));
  }
  // All ask at once: who answers may be a model that is faster with many.
  std::map<uint64_t, Inquiry*> waiting;
  const auto ask = [&](Inquiry* inquiry) {
    if (const std::optional<uint64_t> ticket = inquiry->Ask(executor)) waiting[*ticket] = inquiry;
  };
  for (const auto& inquiry : inquiries) ask(inquiry.get());
  while (!waiting.empty()) {
    const std::optional<CallOutcome> outcome = executor->Next();
    CHECK(outcome.has_value(), "an executor that gives no outcome for a call under way");
    const auto found = waiting.find(outcome->ticket);
    if (found == waiting.end()) continue;
    Inquiry* inquiry = found->second;
    waiting.erase(found);
    if (inquiry->Hear(*outcome)) ask(inquiry);
  }
  std::vector<GoldTask> out;
  for (const auto& inquiry : inquiries) out.push_back(inquiry->Take());
  return out;
}

}  // namespace hone
