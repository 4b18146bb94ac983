#include "evaluate/journaling.h"

#include <algorithm>
#include <utility>

#include <fmt/format.h>

#include "base/mutex.h"
#include "evaluate/mistakes.h"
#include "tools/caller.h"
#include "tools/live.h"

namespace hone {
namespace {

// How many of the tasks that a teacher plays are played a second time, because a teacher hardly
// ever calls in a way that is refused.
constexpr double kSlips = 0.2;
constexpr size_t kCommit = 5000;  // calls that are committed together

// The real tools, and what they answer, to be put into the journal many at a time: a commit per
// call would take most of the time.
class CapturingResponder final : public Responder {
 public:
  explicit CapturingResponder(std::unique_ptr<Responder> real) : real_(std::move(real)) {}

  void Answer(std::shared_ptr<const CallAttempt> attempt, Reply reply) override {
    real_->Answer(attempt, [this, attempt, reply](std::optional<RoutedReply> answer) {
      if (answer) {
        const MutexLock lock(mutex_);
        entries_.push_back({.identity = attempt->identity,
                            .content = attempt->content,
                            .effect = attempt->tool->spec.effect,
                            .source = answer->source,
                            .result = {.call = attempt->identity.call,
                                       .status = answer->reply.status,
                                       .blame = answer->reply.blame,
                                       .content = answer->reply.content}});
      }
      reply(std::move(answer));
    });
  }

  // What was answered since it was asked last.
  std::vector<JournalEntry> Take() {
    const MutexLock lock(mutex_);
    return std::exchange(entries_, {});
  }
  size_t size() const {
    const MutexLock lock(mutex_);
    return entries_.size();
  }

 private:
  const std::unique_ptr<Responder> real_;
  mutable Mutex mutex_;
  std::vector<JournalEntry> entries_ HONE_GUARDED_BY(mutex_);
};

class Recorder {
 public:
  Recorder(const LoadedEnvironment& loaded, const JournalingOptions& options, Journal* journal)
      : loaded_(loaded),
        options_(options),
        journal_(journal),
        mistakes_(loaded, FirstTasks(), options.mistakes),
        // Tasks without end are made by the program, whose tools answer at once; others may hang.
        timeline_(loaded.tasks->count(options.split) ? NewRealTimeline() : NewVirtualTimeline()),
        responder_(std::make_shared<CapturingResponder>(
            NewLiveResponder(*loaded.environment->tools(), timeline_.get(), nullptr))),
        executor_({.responders = {responder_}}, timeline_.get()),
        caller_(&executor_) {}

  Result<JournalingReport> Record() {
    const uint64_t end =
        std::min(options_.episodes, loaded_.tasks->count(options_.split).value_or(UINT64_MAX));
    for (uint64_t i = 0; i < end; ++i) {
      if (options_.stop && options_.stop()) {
        HONE_RETURN_IF_ERROR(Commit());
        return Error(ErrorCode::kStopped,
                     fmt::format("stopped after {} of {} tasks that are played for the record; the "
                                 "same command plays them from the beginning",
                                 i, end));
      }
      if (options_.progress) {
        options_.progress(static_cast<int64_t>(i), static_cast<int64_t>(end));
      }
      const Task task = loaded_.tasks->Make(options_.split, i);
      HONE_RETURN_IF_ERROR(RecordTask(task, Rng(options_.seed).Split("record").Split(i)));
      ++report_.episodes;
      if (responder_->size() >= kCommit) HONE_RETURN_IF_ERROR(Commit());
      if (Left() == 0) break;
    }
    HONE_RETURN_IF_ERROR(Commit());
    return report_;
  }

 private:
  // Enough to take wrong arguments from.
  std::vector<Task> FirstTasks() const {
    std::vector<Task> tasks;
    const uint64_t end =
        std::min<uint64_t>(200, loaded_.tasks->count(options_.split).value_or(UINT64_MAX));
    for (uint64_t i = 0; i < end; ++i) tasks.push_back(loaded_.tasks->Make(options_.split, i));
    return tasks;
  }

  Result<void> RecordTask(const Task& task, const Rng& rng) {
    const bool taught = loaded_.recording.teacher != nullptr;
    if (loaded_.recording.exploration && !options_.gold) return Explore(task, rng);
    if (!taught || options_.gold) {
      HONE_ASSIGN_OR_RETURN(const auto gold, loaded_.gold_agent(task));
      HONE_RETURN_IF_ERROR(PlayOnce(task, gold.get(), "0"));
      if (options_.gold) return {};
    }
    HONE_ASSIGN_OR_RETURN(const auto agent, mistakes_.AgentFor(task, rng));
    HONE_RETURN_IF_ERROR(PlayOnce(task, agent.get(), "1"));
    if (!taught || loaded_.recording.teacher_alone || Rng(rng).NextDouble() >= kSlips) return {};
    HONE_ASSIGN_OR_RETURN(const auto slipping, mistakes_.SlippingAgentFor(task, rng));
    return PlayOnce(task, slipping.get(), "2");
  }

  Result<void> PlayOnce(const Task& task, Agent* agent, const std::string& path) {
    const Result<Playthrough> played = Play(*loaded_.environment, task, options_.seed, agent,
                                            &executor_, {.run = options_.run, .path = path});
    if (!played.ok()) return played.error();
    return {};
  }

  Result<void> Explore(const Task& task, const Rng& rng) {
    HONE_ASSIGN_OR_RETURN(const auto episode, loaded_.environment->Open(task, options_.seed));
    const uint64_t seed = episode->opening().session_seed;
    const auto sessions = std::make_shared<Sessions>(loaded_.environment->For(task).tools(), seed);
    int32_t turn = 0;
    for (const Call& call : loaded_.recording.exploration(seed, rng)) {
      caller_.Call({{options_.run, task.id, "0", turn++, 0}, call.name, call.arguments, sessions});
    }
    return {};
  }

  // Calls that are still wanted beside those that wait to be committed.
  size_t Left() const {
    if (options_.calls == 0) return SIZE_MAX;
    const size_t made = static_cast<size_t>(report_.calls) + responder_->size();
    const auto wanted = static_cast<size_t>(options_.calls);
    return made < wanted ? wanted - made : 0;
  }

  Result<void> Commit() {
    std::vector<JournalEntry> entries = responder_->Take();
    if (options_.calls > 0) {
      const auto room = static_cast<size_t>(options_.calls - report_.calls);
      if (entries.size() > room) entries.resize(room);
    }
    HONE_ASSIGN_OR_RETURN(const AddReport added, journal_->Add(entries, {}));
    if (!added.conflicts.empty()) {
      return Error(ErrorCode::kInvalidArgument,
                   fmt::format("the journal has another outcome of {}; record to a new journal",
                               added.conflicts[0].Text()));
    }
    for (const JournalEntry& entry : entries) {
      ++report_.calls;
      ++report_.by_tool[entry.content.tool];
      if (entry.result.status != CallStatus::kOk) ++report_.refused[entry.content.tool];
    }
    return {};
  }

  const LoadedEnvironment& loaded_;
  const JournalingOptions& options_;
  Journal* const journal_;
  const Mistakes mistakes_;
  const std::unique_ptr<Timeline> timeline_;
  const std::shared_ptr<CapturingResponder> responder_;
  Executor executor_;
  Caller caller_;
  JournalingReport report_;
};

}  // namespace

Json JournalingReport::ToJson() const {
  Json::Object tools;
  for (const auto& [tool, count] : by_tool) {
    const auto found = refused.find(tool);
    tools.emplace_back(tool, Json::Of({{"calls", count},
                                       {"refused", found == refused.end() ? 0 : found->second}}));
  }
  return Json::Of({{"episodes", episodes}, {"calls", calls}, {"tools", std::move(tools)}});
}

std::string JournalingReport::Table() const {
  std::string out = fmt::format("{:<18}{:>9}{:>9}\n", "tool", "calls", "refused");
  for (const auto& [tool, count] : by_tool) {
    const auto found = refused.find(tool);
    out +=
        fmt::format("{:<18}{:>9}{:>9}\n", tool, count, found == refused.end() ? 0 : found->second);
  }
  return out + fmt::format("{} calls of {} episodes\n", calls, episodes);
}

Result<JournalingReport> JournalPlay(const LoadedEnvironment& loaded,
                                     const JournalingOptions& options, Journal* journal) {
  return Recorder(loaded, options, journal).Record();
}

}  // namespace hone
