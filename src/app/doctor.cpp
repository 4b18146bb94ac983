#include "app/doctor.h"

#include <algorithm>
#include <array>
#include <cstdlib>
#include <filesystem>
#include <sstream>
#include <thread>

#include <sys/prctl.h>
#include <unistd.h>

#include <fmt/format.h>

#include "app/doctor_gpu.h"
#include "base/file.h"
#include "base/strings.h"
#include "cluster/mpi.h"
#include "engine/kernels/kernels.h"
#include "tools/sandbox/sandbox.h"

namespace hone {
namespace {

using State = Finding::State;

// The value of the first "key : value" line of a /proc file.
std::string ProcValue(const std::string& text, std::string_view key) {
  for (size_t at = 0; at < text.size();) {
    const size_t end = std::min(text.find('\n', at), text.size());
    const std::string_view line = std::string_view(text).substr(at, end - at);
    if (const size_t colon = line.find(':');
        colon != std::string_view::npos && Trim(line.substr(0, colon)) == key) {
      return std::string(Trim(line.substr(colon + 1)));
    }
    at = end + 1;
  }
  return "";
}

std::string ReadOrEmpty(const char* file) {
  Result<std::string> text = ReadFile(file);
  return text.ok() ? *text : "";
}

bool HasFlag(const std::string& flags, std::string_view flag) {
  return (" " + flags + " ").find(fmt::format(" {} ", flag)) != std::string::npos;
}

}  // namespace

std::string ProcessorName() { return ProcValue(ReadOrEmpty("/proc/cpuinfo"), "model name"); }

namespace {

void ExamineCpu(std::vector<Finding>* out) {
  const std::string info = ReadOrEmpty("/proc/cpuinfo");
  const std::string flags = ProcValue(info, "flags");
  out->push_back({"cpu", "processor", State::kGood, ProcessorName(), ""});
  out->push_back(
      {"cpu", "cores", State::kGood, std::to_string(std::thread::hardware_concurrency()), ""});
  const bool avx2 = HasFlag(flags, "avx2") && HasFlag(flags, "fma");
  const bool avx512 =
      HasFlag(flags, "avx512f") && HasFlag(flags, "avx512bw") && HasFlag(flags, "avx512vl");
  const bool amx = HasFlag(flags, "amx_tile") && HasFlag(flags, "amx_bf16");
  auto feature = [&](const char* name, bool present, const char* advice) {
    out->push_back({"cpu", name, present ? State::kGood : State::kOptional, present ? "yes" : "no",
                    present ? "" : advice});
  };
  feature("AVX2 with FMA", avx2, "plain code is used, which is several times slower");
  feature("AVX-512", avx512, "not needed; AVX2 is used");
  feature("AMX bf16", amx, "not needed; the results are the same bits without it");
  out->push_back({"cpu", "kernels in use", State::kGood, BestKernels().name, ""});
}

void ExamineMemory(std::vector<Finding>* out) {
  const std::string info = ReadOrEmpty("/proc/meminfo");
  auto gibibytes = [&](const char* key) {
    return std::atof(ProcValue(info, key).c_str()) / (1024.0 * 1024.0);
  };
  const double total = gibibytes("MemTotal"), available = gibibytes("MemAvailable");
  out->push_back({"memory", "memory", total >= 4 ? State::kGood : State::kOptional,
                  fmt::format("{:.1f} GiB, {:.1f} available", total, available),
                  total >= 4 ? "" : "small models only"});
  std::error_code failed;
  const auto space = std::filesystem::space(".", failed);
  if (!failed) {
    const double gigabytes = static_cast<double>(space.available) / (1024.0 * 1024.0 * 1024.0);
    out->push_back({"memory", "disk here", gigabytes >= 2 ? State::kGood : State::kMissing,
                    fmt::format("{:.1f} GiB free", gigabytes),
                    gigabytes >= 2 ? "" : "free some space; runs keep every trajectory"});
  }
}

// Whether a shell would find the program. It is not started: npm takes seconds on a busy machine.
bool OnPath(const std::string& program) {
  const char* path = std::getenv("PATH");
  std::stringstream folders(path == nullptr ? "" : path);
  for (std::string folder; std::getline(folders, folder, ':');) {
    if (::access((std::filesystem::path(folder) / program).c_str(), X_OK) == 0) return true;
  }
  return false;
}

void ExamineSandbox(std::vector<Finding>* out) {
  const SandboxProbe probe = ProbeSandbox();
  const auto best = probe.best();
  const bool rooms = probe.bubblewrap_problem.empty(), landlock = probe.landlock_problem.empty();
  const bool seccomp = ::prctl(PR_GET_SECCOMP) >= 0;
  out->push_back({"sandbox", "bubblewrap", rooms ? State::kGood : State::kOptional,
                  rooms ? "works" : probe.bubblewrap_problem,
                  rooms      ? ""
                  : landlock ? "Landlock is used instead"
                             : "needs user namespaces"});
  out->push_back(
      {"sandbox", "Landlock", landlock ? State::kGood : State::kOptional,
       landlock ? fmt::format("works, version {}", probe.landlock_version) : probe.landlock_problem,
       landlock || rooms ? "" : "needs a kernel of version 5.13 or later that has it"});
  out->push_back({"sandbox", "seccomp", seccomp ? State::kGood : State::kMissing,
                  seccomp ? "yes" : "no", seccomp ? "" : "use a kernel with seccomp"});
  const Result<Sandbox> chosen = Sandbox::New({});
  out->push_back(
      {"sandbox", "agents' code", chosen.ok() ? State::kGood : State::kMissing,
       chosen.ok() ? fmt::format("runs under {}", SandboxMethodName(chosen->method()))
                   : "is not run",
       chosen.ok() ? ""
       : best      ? fmt::format("HONE_SANDBOX asks for what does not work here; unset it, or "
                                      "say {}",
                                 SandboxMethodName(*best))
                   : "apt-get install bubblewrap and allow user namespaces, or use a kernel with "
                     "Landlock"});
}

void ExamineOptional(std::vector<Finding>* out) {
  auto part = [&](const char* name, bool present, const char* what_for) {
    out->push_back({"optional", name, present ? State::kGood : State::kOptional,
                    present ? "found" : "not found", present ? "" : what_for});
  };
  part("npm", OnPath("npm"), "for the page of hone dash, and some tests");
  part("git", OnPath("git"), "only to record the code version of a run");
  // The library alone joins processes that nothing here can start.
  const Result<std::string> mpi = MpiVersion();
  const bool whole = mpi.ok() && OnPath("mpirun");
  out->push_back({"optional", "MPI", whole ? State::kGood : State::kOptional,
                  mpi.ok() ? *mpi : "not found",
                  whole ? "" : "for one run in several processes: apt-get install openmpi-bin"});
}

std::string_view StateName(State state) {
  switch (state) {
    case State::kGood: return "good";
    case State::kMissing: return "missing";
    case State::kOptional: return "optional";
  }
  return "unknown";
}

}  // namespace

std::vector<Finding> ExamineMachine() {
  std::vector<Finding> findings;
  ExamineCpu(&findings);
  ExamineMemory(&findings);
  for (Finding& finding : ExamineGpu()) findings.push_back(std::move(finding));
  ExamineSandbox(&findings);
  ExamineOptional(&findings);
  return findings;
}

std::string FindingsView(const std::vector<Finding>& findings, const Terminal& terminal) {
  std::string out, area;
  for (const Finding& finding : findings) {
    if (finding.area != area) {
      area = finding.area;
      out += fmt::format("{}{}\n", out.empty() ? "" : "\n", terminal.Bold(area));
    }
    const std::string mark = finding.state == State::kGood      ? terminal.Green("✓")
                             : finding.state == State::kMissing ? terminal.Red("✗")
                                                                : terminal.Yellow("–");
    out += fmt::format("  {} {} {}", mark, Fitted(finding.name, 14), finding.value);
    if (!finding.advice.empty()) out += terminal.Dim("  (" + finding.advice + ")");
    out += "\n";
  }
  const auto missing = std::count_if(findings.begin(), findings.end(), [](const Finding& finding) {
    return finding.state == State::kMissing;
  });
  out += missing == 0 ? terminal.Green("\nEverything that Hone needs is here.\n")
                      : terminal.Red(fmt::format("\n{} missing: see ✗ above.\n", missing));
  return out;
}

Json FindingsJson(const std::vector<Finding>& findings) {
  Json::Array list;
  for (const Finding& finding : findings) {
    list.push_back(Json::Of({{"area", finding.area},
                             {"name", finding.name},
                             {"state", StateName(finding.state)},
                             {"value", finding.value},
                             {"advice", finding.advice}}));
  }
  return Json::Of({{"findings", std::move(list)}});
}

}  // namespace hone
