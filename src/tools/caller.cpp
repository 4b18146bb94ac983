#include "tools/caller.h"

namespace hone {

CallOutcome Caller::Call(CallRequest request, std::stop_token stop) {
  const int32_t number = request.identity.call;
  return Await(executor_->Submit(std::move(request)), number, std::move(stop));
}

std::vector<CallOutcome> Caller::CallAll(std::vector<CallRequest> requests, std::stop_token stop) {
  std::vector<std::pair<uint64_t, int32_t>> tickets;
  for (CallRequest& request : requests) {
    const int32_t number = request.identity.call;
    tickets.emplace_back(executor_->Submit(std::move(request)), number);
  }
  std::vector<CallOutcome> outcomes;
  for (const auto& [ticket, number] : tickets) outcomes.push_back(Await(ticket, number, stop));
  return outcomes;
}

CallOutcome Caller::Await(uint64_t ticket, int32_t number, std::stop_token stop) {
  MutexLock lock(mutex_);
  while (true) {
    if (const auto found = ended_.find(ticket); found != ended_.end()) {
      CallOutcome outcome = std::move(found->second);
      ended_.erase(found);
      return outcome;
    }
    if (stop.stop_requested()) {
      lock.unlock();
      executor_->Cancel(ticket);
      lock.lock();
      stop = {};  // its outcome is on its way
      continue;
    }
    if (fetching_) {
      changed_.wait(lock, stop,
                    [&]() HONE_REQUIRES(mutex_) { return !fetching_ || ended_.contains(ticket); });
      continue;
    }
    fetching_ = true;
    lock.unlock();
    std::optional<CallOutcome> outcome = executor_->Next(stop);
    lock.lock();
    fetching_ = false;
    if (outcome) {
      ended_[outcome->ticket] = *std::move(outcome);
    } else if (!stop.stop_requested()) {
      // Nothing under way could bring an outcome: time stands still.
      changed_.notify_all();
      return {.ticket = ticket,
              .result = {.call = number,
                         .status = CallStatus::kInterrupted,
                         .blame = Blame::kInfrastructure,
                         .content = "nobody carries this call out"},
              .source = CallSource::kExecutor};
    }
    changed_.notify_all();
  }
}

}  // namespace hone
