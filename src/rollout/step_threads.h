#pragma once

#include <chrono>
#include <deque>
#include <functional>
#include <thread>
#include <utility>
#include <vector>

#include "base/mutex.h"

namespace hone {

struct LiveTrajectory;

// Steps of environments that wait for others, each on a thread, so that one that hangs holds up
// nobody else. There are as many threads as there were steps at the same time; they are kept. Who
// asks is one thread; the end waits for the steps that are under way.
class StepThreads {
 public:
  StepThreads() = default;
  ~StepThreads();
  StepThreads(const StepThreads&) = delete;
  StepThreads& operator=(const StepThreads&) = delete;

  // Runs the step of a trajectory, which is not to be touched before it is handed back.
  void Run(LiveTrajectory* trajectory, std::function<void()> step);

  // One whose step is done; null when there is none, at the latest after `most`.
  LiveTrajectory* Poll() { return Wait(std::chrono::milliseconds(0)); }
  LiveTrajectory* Wait(std::chrono::milliseconds most);

  // Steps that were not handed back.
  int64_t under_way() const { return under_way_; }

 private:
  using Work = std::pair<LiveTrajectory*, std::function<void()>>;

  void Serve();

  int64_t under_way_ = 0;
  Mutex mutex_;
  ConditionVariable more_, done_changed_;
  std::deque<Work> waiting_ HONE_GUARDED_BY(mutex_);
  std::deque<LiveTrajectory*> done_ HONE_GUARDED_BY(mutex_);
  size_t idle_ HONE_GUARDED_BY(mutex_) = 0;
  bool over_ HONE_GUARDED_BY(mutex_) = false;
  std::vector<std::thread> threads_;
};

}  // namespace hone
