#pragma once

#include <chrono>
#include <csignal>
#include <cstdio>
#include <filesystem>
#include <functional>
#include <string>
#include <thread>
#include <vector>

#include <fcntl.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/file.h"
#include "base/json.h"
#include "base/rng.h"

// Runs of the program that end before they are done.

namespace hone {

struct StoppedRun {
  int status = 0;      // as waitpid says it
  pid_t process = 0;   // that it was
  std::string output;  // standard output and error up to then
  bool killed() const { return WIFSIGNALED(status); }
};

// Starts the program, waits until `ready` (or its end), then for a while, and sends it a signal.
inline StoppedRun StartAndSignal(const std::string& program,
                                 const std::vector<std::string>& arguments, int signal,
                                 std::chrono::microseconds after,
                                 const std::function<bool()>& ready = nullptr) {
  const TemporaryDirectory folder;
  const std::filesystem::path output = folder.path() / "output";
  StoppedRun run;
  run.process = ::fork();
  if (run.process == 0) {
    std::vector<char*> argv = {const_cast<char*>(program.c_str())};
    for (const std::string& argument : arguments) {
      argv.push_back(const_cast<char*>(argument.c_str()));
    }
    argv.push_back(nullptr);
    const int file = ::open(output.c_str(), O_WRONLY | O_CREAT | O_APPEND, 0644);
    if (::dup2(file, STDOUT_FILENO) < 0 || ::dup2(file, STDERR_FILENO) < 0) ::_exit(126);
    ::execv(program.c_str(), argv.data());
    ::_exit(127);
  }
  bool ended = false;
  while (ready && !ended && !ready()) {
    ended = ::waitpid(run.process, &run.status, WNOHANG) != 0;
    std::this_thread::sleep_for(std::chrono::microseconds(50));
  }
  if (!ended) {
    std::this_thread::sleep_for(after);
    ::kill(run.process, signal);
    ::waitpid(run.process, &run.status, 0);
  }
  if (const Result<std::string> text = ReadFile(output); text.ok()) run.output = *text;
  return run;
}

// Whether something in the folder has a name with this part.
inline bool HasPart(const std::filesystem::path& folder, const std::string& part) {
  std::error_code error;
  std::filesystem::directory_iterator entry(folder, error), end;
  while (!error && entry != end) {
    if (entry->path().filename().string().find(part) != std::string::npos) return true;
    entry.increment(error);
  }
  return false;
}

// What a killed run with --json was at: what it left half-written, or what it said last.
inline std::string WhereItWas(const StoppedRun& run, const std::filesystem::path& folder,
                              const std::filesystem::path& cache) {
  if (HasPart(folder / "checkpoints", "unfinished")) return "checkpoint";
  if (HasPart(cache, "." + std::to_string(run.process))) return "stage cache";
  const size_t end = run.output.rfind('\n');
  if (end == std::string::npos || end == 0) return "start";
  const size_t begin = run.output.rfind('\n', end - 1);
  const size_t from = begin == std::string::npos ? 0 : begin + 1;
  const Result<Json> last = ParseJson(run.output.substr(from, end - from));
  if (!last.ok() || last->Find("event") == nullptr) return "start";
  const std::string event = last->Find("event")->AsString();
  if (event == "step") return last->Find("stage")->AsString();
  if (event != "stage") return event;
  // The first thing that rl does is to measure what it begins with.
  const std::string kind = last->Find("kind")->AsString();
  return kind == "rl" ? "evaluation" : kind;
}

// Moments to be killed at.
enum class Moment { kAnywhere, kCheckpoint, kStageCache, kEvaluation, kTrialAndError };
inline constexpr Moment kMoments[] = {Moment::kAnywhere, Moment::kCheckpoint, Moment::kStageCache,
                                      Moment::kEvaluation, Moment::kTrialAndError};

// Kills a run at such a moment. `whole`: how long an uninterrupted one takes.
inline StoppedRun KillAt(Moment moment, const std::string& program,
                         const std::vector<std::string>& arguments,
                         const std::filesystem::path& folder, const std::filesystem::path& cache,
                         std::chrono::microseconds whole, Rng* rng) {
  const auto share = [&](double of_whole) {
    return std::chrono::microseconds(
        static_cast<int64_t>(rng->NextDouble() * of_whole * static_cast<double>(whole.count())));
  };
  const auto lines = [store = folder / "metrics.jsonl"] {
    std::error_code error;
    const auto size = std::filesystem::file_size(store, error);
    return error ? uintmax_t{0} : size;
  };
  std::function<bool()> ready;
  std::chrono::microseconds after = share(0.01);
  switch (moment) {
    case Moment::kAnywhere: after = share(0.9); break;
    case Moment::kCheckpoint:
      ready = [=] { return HasPart(folder / "checkpoints", "unfinished"); };
      after = share(0.002);
      break;
    case Moment::kStageCache:
      // The names of what is being made end with a process.
      ready = [=] {
        std::error_code error;
        for (std::filesystem::directory_iterator entry(cache, error), end; !error && entry != end;
             entry.increment(error)) {
          const std::string extension = entry->path().extension().string();
          if (!extension.empty() && extension != ".lock") return true;
        }
        return false;
      };
      after = share(0.005);
      break;
    case Moment::kEvaluation:  // the checkpoint behind a stage is there; the next begins
      ready = [=] { return !HasPart(folder / "checkpoints", "unfinished") && lines() > 0; };
      after = share(0.2);
      break;
    case Moment::kTrialAndError: {
      // Only a step of rl says how often it succeeded.
      ready = [=, before = lines()] {
        const Result<std::string> text = ReadFile(folder / "metrics.jsonl");
        return lines() > before && text.ok() && text->find("\"success\"") != std::string::npos;
      };
      after = share(0.05);
      break;
    }
  }
  return StartAndSignal(program, arguments, SIGKILL, after, ready);
}

}  // namespace hone
