#pragma once

#include <chrono>
#include <csignal>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <string>
#include <thread>
#include <vector>

#include <gtest/gtest.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/file.h"
#include "base/rng.h"
#include "base/subprocess.h"

// Runs of the program in several processes, which mpirun starts.

namespace hone {

// As Debian names the launchers of both.
inline constexpr char kOpenMpi[] = "/usr/bin/mpirun.openmpi";
inline constexpr char kMpich[] = "/usr/bin/mpirun.mpich";
inline bool HasLauncher(const char* launcher) { return ::access(launcher, X_OK) == 0; }
inline bool HasMpirun() { return HasLauncher(kOpenMpi); }

inline std::vector<std::string> Mpirun(int processes, const std::vector<std::string>& arguments,
                                       const std::string& launcher = kOpenMpi) {
  std::vector<std::string> command = {launcher};
  if (launcher == kOpenMpi) {
    command.insert(command.end(), {"--allow-run-as-root", "--oversubscribe", "--bind-to", "none"});
  }
  command.insert(command.end(), {"-n", std::to_string(processes), HONE_BINARY});
  command.insert(command.end(), arguments.begin(), arguments.end());
  return command;
}

inline SubprocessResult RunIn(int processes, const std::vector<std::string>& arguments,
                              const std::string& launcher = kOpenMpi) {
  auto result =
      RunSubprocess(Mpirun(processes, arguments, launcher), "", std::chrono::seconds(280));
  EXPECT_TRUE(result.ok()) << (result.ok() ? "" : result.error().message());
  return result.ok() ? *result : SubprocessResult{-1, "", ""};
}

// The weights that `hone train --json` ends with; empty: it did not come to its end.
inline std::string WeightsIn(const std::string& output) {
  const std::string before = "\"weights\":\"";
  const size_t at = output.rfind(before);
  return at == std::string::npos ? "" : output.substr(at + before.size(), 64);
}

// Those that were started with these arguments, whoever their parent is by now.
inline std::vector<pid_t> ProcessesWith(const std::vector<std::string>& arguments) {
  std::string wanted;
  for (const std::string& argument : arguments) wanted += argument + '\0';
  std::vector<pid_t> found;
  for (const auto& entry : std::filesystem::directory_iterator("/proc")) {
    const pid_t process = std::atoi(entry.path().filename().c_str());
    std::ifstream file(entry.path() / "cmdline", std::ios::binary);
    const std::string line((std::istreambuf_iterator<char>(file)),
                           std::istreambuf_iterator<char>());
    if (process > 0 && line.find(wanted) != std::string::npos) found.push_back(process);
  }
  return found;
}

// Starts a run in so many processes, and kills one of them after a while: what was printed.
// `which`: of the processes that compute, or one more: the launcher.
inline std::string KillOneOf(int processes, const std::vector<std::string>& arguments, int which,
                             std::chrono::milliseconds after) {
  const TemporaryDirectory folder;
  const std::filesystem::path output = folder.path() / "output";
  const std::vector<std::string> command = Mpirun(processes, arguments);
  const pid_t launcher = ::fork();
  if (launcher == 0) {
    std::vector<char*> argv;
    for (const std::string& part : command) argv.push_back(const_cast<char*>(part.c_str()));
    argv.push_back(nullptr);
    if (std::freopen(output.c_str(), "a", stdout) == nullptr || ::dup2(1, 2) < 0) ::_exit(126);
    ::setpgid(0, 0);
    ::execv(argv[0], argv.data());
    ::_exit(127);
  }
  std::this_thread::sleep_for(after);
  std::vector<pid_t> children;
  std::ifstream list("/proc/" + std::to_string(launcher) + "/task/" + std::to_string(launcher) +
                     "/children");
  for (pid_t child = 0; list >> child;) children.push_back(child);
  const bool one_of_them = which < processes && !children.empty();
  ::kill(one_of_them ? children[static_cast<size_t>(which) % children.size()] : launcher, SIGKILL);
  int status = 0;
  ::waitpid(launcher, &status, 0);
  // A launcher that was killed leaves them, and they are at their end without it; also those that
  // it had just begun to start.
  for (int tries = 0; !ProcessesWith(arguments).empty() && tries < 200; ++tries) {
    std::this_thread::sleep_for(std::chrono::milliseconds(10));
  }
  for (const pid_t left : ProcessesWith(arguments)) ::kill(left, SIGKILL);
  const Result<std::string> text = ReadFile(output);
  return text.ok() ? *text : "";
}

// Kills a run again and again, each time in another number of processes, and lets it finish: the
// weights.
inline std::string KillAndFinishIn(const std::vector<std::string>& arguments, int kills,
                                   std::chrono::milliseconds whole, Rng* rng) {
  for (int kill = 0; kill < kills; ++kill) {
    const int processes = 1 + static_cast<int>(rng->Below(4));
    const auto after = std::chrono::milliseconds(
        static_cast<int64_t>(rng->Below(static_cast<uint64_t>(whole.count() * 6 / 5))));
    const int which = static_cast<int>(rng->Below(static_cast<uint64_t>(processes) + 1));
    const std::string output = KillOneOf(processes, arguments, which, after);
    EXPECT_EQ(output.find("CHECK failed"), std::string::npos) << output;
  }
  const SubprocessResult end = RunIn(1 + static_cast<int>(rng->Below(4)), arguments);
  EXPECT_EQ(end.exit_code, 0) << end.standard_output << end.standard_error;
  return WeightsIn(end.standard_output);
}

}  // namespace hone
