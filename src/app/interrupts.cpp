#include "app/interrupts.h"

#include <atomic>
#include <cerrno>
#include <csignal>
#include <cstring>

#include <semaphore.h>
#include <unistd.h>

namespace hone {
namespace {

constexpr int kInterrupts[] = {SIGINT, SIGTERM, SIGUSR1};

// What a signal handler may touch.
std::atomic<bool> interrupted = false;
sem_t arrived;
std::atomic<const char*> last_words = nullptr;

void OnInterrupt(int) {
  const int before = errno;
  interrupted = true;
  std::signal(SIGINT, SIG_DFL);
  std::signal(SIGTERM, SIG_DFL);
  sem_post(&arrived);
  errno = before;
}

// The signal then does what it usually does, so that whoever started the program sees why it ended.
void OnEnd(int signal) {
  const char* text = last_words;
  const ssize_t written = write(STDERR_FILENO, text, std::strlen(text));
  static_cast<void>(written);
  std::signal(signal, SIG_DFL);
  raise(signal);
}

}  // namespace

void EndAtInterrupts(const char* text) {
  last_words = text;
  for (const int signal : kInterrupts) std::signal(signal, OnEnd);
}

void WatchInterrupts() {
  sem_init(&arrived, /*pshared=*/0, 0);
  for (const int signal : kInterrupts) std::signal(signal, OnInterrupt);
}

bool Interrupted() { return interrupted; }

void AwaitInterrupt() {
  while (sem_wait(&arrived) != 0) {  // others' signals
  }
}

}  // namespace hone
