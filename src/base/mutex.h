#pragma once

#include <condition_variable>
#include <mutex>

// What a mutex guards is written where it is declared, and clang checks it
// (scripts/check_threads.py):
//
//   Mutex mutex_;
//   ConditionVariable changed_;
//   int inside_ HONE_GUARDED_BY(mutex_) = 0;          // only read and written with mutex_ locked
//   void Leave() HONE_REQUIRES(mutex_);               // only called with mutex_ locked
//   void Enter() HONE_EXCLUDES(mutex_);               // locks it itself: not called with it locked
//   changed_.wait(lock, [&]() HONE_REQUIRES(mutex_) { return inside_ == 0; });
//
// Other compilers see nothing of the attributes.
#ifdef __clang__
#define HONE_THREAD_ATTRIBUTE(...) __attribute__((__VA_ARGS__))
#else
#define HONE_THREAD_ATTRIBUTE(...)
#endif
#define HONE_GUARDED_BY(mutex) HONE_THREAD_ATTRIBUTE(guarded_by(mutex))
#define HONE_PT_GUARDED_BY(mutex) HONE_THREAD_ATTRIBUTE(pt_guarded_by(mutex))  // what it points at
#define HONE_REQUIRES(...) HONE_THREAD_ATTRIBUTE(exclusive_locks_required(__VA_ARGS__))
#define HONE_EXCLUDES(...) HONE_THREAD_ATTRIBUTE(locks_excluded(__VA_ARGS__))
#define HONE_ACQUIRE(...) HONE_THREAD_ATTRIBUTE(acquire_capability(__VA_ARGS__))
#define HONE_RELEASE(...) HONE_THREAD_ATTRIBUTE(release_capability(__VA_ARGS__))
// For a function whose locking clang cannot follow; a comment beside it says why it is right.
#define HONE_UNCHECKED_LOCKING HONE_THREAD_ATTRIBUTE(no_thread_safety_analysis)

namespace hone {

// std::mutex, known to clang's analysis. Its functions have the names that the standard's locks
// want.
class HONE_THREAD_ATTRIBUTE(capability("mutex")) Mutex {
 public:
  Mutex() = default;
  Mutex(const Mutex&) = delete;
  Mutex& operator=(const Mutex&) = delete;

  void lock() HONE_ACQUIRE() { mutex_.lock(); }
  void unlock() HONE_RELEASE() { mutex_.unlock(); }

 private:
  std::mutex mutex_;
};

// Holds the mutex until it goes out of scope; may be unlocked and locked in between, as a condition
// variable does.
class HONE_THREAD_ATTRIBUTE(scoped_lockable) MutexLock {
 public:
  explicit MutexLock(Mutex& mutex) HONE_ACQUIRE(mutex) : lock_(mutex) {}
  ~MutexLock() HONE_RELEASE() {}
  MutexLock(const MutexLock&) = delete;
  MutexLock& operator=(const MutexLock&) = delete;

  void lock() HONE_ACQUIRE() { lock_.lock(); }
  void unlock() HONE_RELEASE() { lock_.unlock(); }

 private:
  std::unique_lock<Mutex> lock_;
};

// Waits with a MutexLock; a stop token can end the wait.
using ConditionVariable = std::condition_variable_any;

}  // namespace hone
