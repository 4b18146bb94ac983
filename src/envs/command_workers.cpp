#include "envs/command_workers.h"

#include <algorithm>
#include <utility>

#include "tools/command/program_environment.h"

namespace hone {

CommandWorkers::CommandWorkers(const CommandEnvOptions& options) : options_(options) {
  for (int64_t i = 0; i < std::max<int64_t>(options.processes, 1); ++i) {
    workers_.push_back(std::make_unique<Worker>());
  }
}

// A process in place of the one that is gone. It is not waited for.
Result<void> CommandWorkers::Start(Worker* worker) {
  HONE_ASSIGN_OR_RETURN(worker->process, LineProgram::Start(options_.command, kEnvironmentRole));
  const MutexLock lock(worker->mutex);
  ++worker->generation;
  worker->episodes = 0;
  worker->closed.clear();
  return {};
}

Result<Json> CommandWorkers::Exchange(Worker* worker, const Json& request) {
  const auto set_busy = [worker](bool busy) {
    const MutexLock lock(worker->mutex);
    worker->busy = busy;
  };
  set_busy(true);
  Result<Json> reply = worker->process->Ask(request, options_.deadline);
  set_busy(false);
  if (reply.ok()) return reply;
  const Error error = worker->process->WithLastWords(reply.error());
  // What it says next would be taken for the reply to another request.
  worker->process = nullptr;
  if (!Start(worker).ok()) {
    const MutexLock lock(worker->mutex);
    ++worker->generation;  // its episodes are lost all the same
  }
  return error;
}

// What was closed meanwhile. A failure is the next request's: the process is another's then.
Result<void> CommandWorkers::SayClosed(Worker* worker) {
  std::vector<Json> closed;
  {
    const MutexLock lock(worker->mutex);
    closed.swap(worker->closed);
  }
  for (const Json& episode : closed) {
    const Json request = Json::Of({{"method", "close"}, {"episode", episode}});
    HONE_RETURN_IF_ERROR(Exchange(worker, request));
  }
  return {};
}

// All of them begin to load with the first episode, so that none is waited for later.
Result<void> CommandWorkers::StartAll() {
  const MutexLock lock(starting_);
  if (started_) return {};
  for (const std::unique_ptr<Worker>& worker : workers_) {
    const MutexLock talking(worker->talking);
    HONE_RETURN_IF_ERROR(Start(worker.get()));
  }
  started_ = true;
  return {};
}

size_t CommandWorkers::LeastBusy() const {
  // One that hangs is the last to be chosen, however few episodes it has.
  size_t best = 0;
  std::pair<bool, int64_t> least;
  for (size_t i = 0; i < workers_.size(); ++i) {
    const MutexLock lock(workers_[i]->mutex);
    const std::pair<bool, int64_t> load(workers_[i]->busy, workers_[i]->episodes);
    if (i > 0 && load >= least) continue;
    best = i;
    least = load;
  }
  return best;
}

Result<Json> CommandWorkers::Open(const Json& reset, Place* place) {
  *place = {};
  HONE_RETURN_IF_ERROR(StartAll());
  const size_t index = LeastBusy();
  Worker& worker = *workers_[index];
  const MutexLock talking(worker.talking);
  // A process that fails at what is over says nothing about this episode: another has taken its
  // place.
  static_cast<void>(SayClosed(&worker).ok());
  if (worker.process == nullptr) HONE_RETURN_IF_ERROR(Start(&worker));
  HONE_ASSIGN_OR_RETURN(Json reply, Exchange(&worker, reset));
  if (reply.Find("error") != nullptr) return reply;
  const Json* episode = reply.Find("episode");
  if (episode == nullptr) {
    return Error(ErrorCode::kInvalidArgument, "the reply to reset has no \"episode\"");
  }
  const MutexLock lock(worker.mutex);
  ++worker.episodes;
  *place = {.worker = index, .generation = worker.generation, .episode = *episode};
  return reply;
}

Result<Json> CommandWorkers::Ask(const Place& place, const Json& request) {
  Worker& worker = *workers_[place.worker];
  const MutexLock talking(worker.talking);
  const Error lost(ErrorCode::kNotFound, "the environment's program was started afresh");
  if (IsLost(place) || worker.process == nullptr) return lost;
  if (!SayClosed(&worker).ok()) return lost;
  return Exchange(&worker, request);
}

bool CommandWorkers::IsLost(const Place& place) const {
  const Worker& worker = *workers_[place.worker];
  const MutexLock lock(worker.mutex);
  return place.generation == 0 || place.generation != worker.generation;
}

void CommandWorkers::Close(const Place& place) {
  Worker& worker = *workers_[place.worker];
  const MutexLock lock(worker.mutex);
  if (place.generation == 0 || place.generation != worker.generation) return;
  --worker.episodes;
  worker.closed.push_back(place.episode);
}

}  // namespace hone
