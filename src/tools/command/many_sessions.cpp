#include "tools/command/many_sessions.h"

#include <atomic>
#include <utility>

#include <fmt/format.h>

#include "base/gate.h"
#include "base/mutex.h"

namespace hone {
namespace {

using std::chrono::milliseconds;
using SteadyClock = std::chrono::steady_clock;

// One process and the sessions in it.
struct SessionWorker {
  Gate talking{1};  // held for one call; guards the process
  std::unique_ptr<CommandProcess> process;

  Mutex mutex;
  uint64_t generation HONE_GUARDED_BY(mutex) = 1;  // goes up when the process is lost
  int64_t sessions HONE_GUARDED_BY(mutex) = 0;
  std::vector<std::string> closed HONE_GUARDED_BY(mutex);  // and not said yet

  uint64_t CurrentGeneration() {
    const MutexLock lock(mutex);
    return generation;
  }

  void Lose() {
    process = nullptr;
    const MutexLock lock(mutex);
    ++generation;
    sessions = 0;
    closed.clear();
  }
};

using SessionWorkers = std::vector<std::unique_ptr<SessionWorker>>;

class ManySession final : public Session {
 public:
  ManySession(std::shared_ptr<SessionWorkers> all, uint64_t seed_number, uint64_t number)
      : seed(fmt::format("{}", seed_number)),
        episode(fmt::format("{}", number)),
        all_(std::move(all)) {}

  ~ManySession() override {
    if (worker == nullptr) return;
    const MutexLock lock(worker->mutex);
    if (worker->generation != generation) return;
    --worker->sessions;
    worker->closed.push_back(episode);  // it hears it before the next call
  }

  const std::string seed, episode;
  SessionWorker* worker = nullptr;  // null: nothing was called yet
  uint64_t generation = 0;

 private:
  const std::shared_ptr<SessionWorkers> all_;  // the workers live as long as their sessions
};

class ManySessionsToolkit final : public Toolkit {
 public:
  ManySessionsToolkit(std::shared_ptr<CommandPool> pool, std::vector<ToolSpec> tools,
                      int64_t processes)
      : pool_(std::move(pool)),
        tools_(std::move(tools)),
        workers_(std::make_shared<SessionWorkers>()) {
    for (int64_t i = 0; i < processes; ++i) workers_->push_back(std::make_unique<SessionWorker>());
    pool_->Prepare(static_cast<size_t>(processes));
  }

  const std::vector<ToolSpec>& tools() const override { return tools_; }
  Sharing sharing() const override { return Sharing::kReplay; }

  Result<std::unique_ptr<Session>> Open(uint64_t seed) override {
    return std::unique_ptr<Session>(std::make_unique<ManySession>(workers_, seed, ++sessions_));
  }

  ToolReply Call(std::string_view tool, const Json& arguments, Session* session,
                 const CallLimits& limits) override {
    const auto begin = SteadyClock::now();
    auto* own = static_cast<ManySession*>(session);
    CHECK(own != nullptr, "a session of another toolkit");
    SessionWorker* worker = own->worker != nullptr ? own->worker : LeastBusy();
    // The caller requests stop at the latest when the time is over, so waiting here is bounded too.
    const Gate::Pass pass = worker->talking.Enter(limits.stop);
    if (!pass) return TimedOut(pool_->name() + ": was busy with other sessions until the end");
    if (worker->process != nullptr && !worker->process->Usable()) worker->Lose();
    if (own->worker != nullptr && own->generation != worker->CurrentGeneration()) {
      return Lost(Unavailable(pool_->name() + ": was started afresh between two calls"));
    }
    if (worker->process == nullptr) {
      Result<std::unique_ptr<CommandProcess>> fresh = pool_->TakeFresh(limits);
      if (!fresh.ok()) {
        ToolReply reply = FromError(fresh.error());
        reply.refused = true;  // nothing was sent, so nothing was done
        return reply;
      }
      worker->process = *std::move(fresh);
    }
    Settle(worker, own);
    CallLimits rest = limits;
    rest.time -= std::chrono::duration_cast<milliseconds>(SteadyClock::now() - begin);
    ToolReply reply = worker->process->Call(tool, arguments,
                                            {.session = own->seed, .episode = own->episode}, rest);
    if (worker->process->Usable()) return reply;
    worker->Lose();
    pool_->Prepare(1);
    return Lost(std::move(reply));
  }

 private:
  static ToolReply Lost(ToolReply reply) {
    reply.session_lost = true;
    return reply;
  }

  // The session lives there from now on; what was closed before is said first.
  static void Settle(SessionWorker* worker, ManySession* session) {
    std::vector<std::string> closed;
    {
      const MutexLock lock(worker->mutex);
      if (session->worker == nullptr) ++worker->sessions;
      session->generation = worker->generation;
      closed.swap(worker->closed);
    }
    session->worker = worker;
    for (const std::string& episode : closed) worker->process->Close(episode);
  }

  SessionWorker* LeastBusy() {
    // One that hangs is the last to be chosen, however few sessions it has.
    SessionWorker* best = nullptr;
    std::pair<bool, int64_t> least;
    for (const std::unique_ptr<SessionWorker>& worker : *workers_) {
      const bool busy = worker->talking.inside() > 0;
      const MutexLock lock(worker->mutex);
      const std::pair<bool, int64_t> load(busy, worker->sessions);
      if (best != nullptr && load >= least) continue;
      best = worker.get();
      least = load;
    }
    return best;
  }

  const std::shared_ptr<CommandPool> pool_;
  const std::vector<ToolSpec> tools_;
  const std::shared_ptr<SessionWorkers> workers_;
  std::atomic<uint64_t> sessions_ = 0;
};

}  // namespace

std::shared_ptr<Toolkit> NewManySessionsToolkit(std::shared_ptr<CommandPool> pool,
                                                std::vector<ToolSpec> tools, int64_t processes) {
  return std::make_shared<ManySessionsToolkit>(std::move(pool), std::move(tools), processes);
}

}  // namespace hone
