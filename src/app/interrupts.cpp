#include "app/interrupts.h"

#include <atomic>
#include <cerrno>
#include <csignal>

#include <semaphore.h>

namespace hone {
namespace {

// What a signal handler may touch.
std::atomic<bool> interrupted = false;
sem_t arrived;

void OnInterrupt(int) {
  const int before = errno;
  interrupted = true;
  std::signal(SIGINT, SIG_DFL);
  std::signal(SIGTERM, SIG_DFL);
  sem_post(&arrived);
  errno = before;
}

}  // namespace

void WatchInterrupts() {
  sem_init(&arrived, /*pshared=*/0, 0);
  std::signal(SIGINT, OnInterrupt);
  std::signal(SIGTERM, OnInterrupt);
}

bool Interrupted() { return interrupted; }

void AwaitInterrupt() {
  while (sem_wait(&arrived) != 0) {  // others' signals
  }
}

}  // namespace hone
