#pragma once

#include <functional>
#include <map>
#include <string>

#include "envs/environments.h"
#include "tools/journal/journal.h"

namespace hone {

struct JournalingOptions {
  std::string run = "record";  // under which the calls are recorded; no two recordings alike
  Split split = Split::kTrain;
  uint64_t episodes = 1000;  // less where there are fewer tasks
  int64_t calls = 0;         // over once so many are there, the rest is left out; 0: all
  bool gold = false;         // gold agents play, and nobody else
  double mistakes = 0.6;     // share of calls that go wrong
  uint64_t seed = 1;         // of the mistakes; which tasks there are is the environment's
  // Asked before each task; true: kStopped, with what was committed in the journal. Null: never.
  std::function<bool()> stop = nullptr;
  // Told before each task how many are done, and of how many; null: nobody is.
  std::function<void(int64_t done, int64_t all)> progress = nullptr;
};

struct JournalingReport {
  int64_t episodes = 0;
  int64_t calls = 0;
  std::map<std::string, int64_t> by_tool;
  std::map<std::string, int64_t> refused;  // of these, by tool

  Json ToJson() const;
  std::string Table() const;  // for people
};

// Plays the first tasks of a split against the real tools and puts every call into the journal, for
// a simulator to learn from or to be measured on. Who plays is the environment's choice
// (JournalingManner): its teacher, and at times the gold agent that slips (evaluate/mistakes.h); an
// explorer; or else the gold agent, and once more while it slips. An error when the journal cannot
// be written, when a task cannot be played, or when the journal has other calls under the same run.
Result<JournalingReport> JournalPlay(const LoadedEnvironment& loaded,
                                     const JournalingOptions& options, Journal* journal);

}  // namespace hone
