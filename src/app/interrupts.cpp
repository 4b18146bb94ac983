#include "app/interrupts.h"

#include <atomic>
#include <csignal>

namespace hone {
namespace {

std::atomic<bool> interrupted = false;  // what a signal handler may touch

void OnInterrupt(int signal) {
  interrupted = true;
  std::signal(signal, SIG_DFL);
}

}  // namespace

void WatchInterrupts() {
  std::signal(SIGINT, OnInterrupt);
  std::signal(SIGTERM, OnInterrupt);
}

bool Interrupted() { return interrupted; }

}  // namespace hone
