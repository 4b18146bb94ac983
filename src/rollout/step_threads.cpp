#include "rollout/step_threads.h"

namespace hone {

StepThreads::~StepThreads() {
  {
    const MutexLock lock(mutex_);
    over_ = true;
    waiting_.clear();
  }
  more_.notify_all();
  for (std::thread& thread : threads_) thread.join();
}

void StepThreads::Run(LiveTrajectory* trajectory, std::function<void()> step) {
  ++under_way_;
  bool another = false;
  {
    const MutexLock lock(mutex_);
    waiting_.emplace_back(trajectory, std::move(step));
    another = idle_ < waiting_.size();
  }
  if (another) {
    threads_.emplace_back([this] { Serve(); });
  } else {
    more_.notify_one();
  }
}

LiveTrajectory* StepThreads::Wait(std::chrono::milliseconds most) {
  if (under_way_ == 0) return nullptr;
  MutexLock lock(mutex_);
  if (most.count() > 0) {
    done_changed_.wait_for(lock, most, [this]() HONE_REQUIRES(mutex_) { return !done_.empty(); });
  }
  if (done_.empty()) return nullptr;
  LiveTrajectory* trajectory = done_.front();
  done_.pop_front();
  --under_way_;
  return trajectory;
}

void StepThreads::Serve() {
  MutexLock lock(mutex_);
  while (true) {
    ++idle_;
    more_.wait(lock, [this]() HONE_REQUIRES(mutex_) { return over_ || !waiting_.empty(); });
    --idle_;
    if (over_) return;
    Work work = std::move(waiting_.front());
    waiting_.pop_front();
    lock.unlock();
    work.second();
    lock.lock();
    done_.push_back(work.first);
    done_changed_.notify_one();
  }
}

}  // namespace hone
