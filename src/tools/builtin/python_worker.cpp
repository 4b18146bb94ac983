#include "tools/builtin/python_worker.h"

#include <algorithm>
#include <cerrno>
#include <csignal>
#include <cstring>

#include <fcntl.h>
#include <poll.h>
#include <sys/mman.h>
#include <sys/random.h>
#include <sys/socket.h>
#include <sys/wait.h>

#include <fmt/format.h>

#include "base/file.h"
#include "base/json.h"
#include "base/strings.h"
#include "base/utf8.h"
#include "tools/builtin/python_script.h"

namespace hone {
namespace {

using std::chrono::milliseconds;
using SteadyClock = std::chrono::steady_clock;

// How long the supervisor, whose work is a fork, may take on a busy machine.
constexpr milliseconds kPatience{20000};
// How long a wait lasts before the stop token is looked at again.
constexpr milliseconds kSlice{20};

int MillisecondsLeft(SteadyClock::time_point deadline, milliseconds most) {
  const auto left = std::chrono::ceil<milliseconds>(deadline - SteadyClock::now());
  return static_cast<int>(std::clamp(left, milliseconds(0), most).count());
}

// Two connected sockets, the first of which does not block.
Result<std::pair<Descriptor, Descriptor>> NewSocketPair(int type) {
  int ends[2];
  if (::socketpair(AF_UNIX, type | SOCK_CLOEXEC, 0, ends) != 0) return ErrnoError("socketpair");
  ::fcntl(ends[0], F_SETFL, O_NONBLOCK);
  return std::pair(Descriptor(ends[0]), Descriptor(ends[1]));
}

// The reading end of a pipe, which does not block, and the writing end.
Result<std::pair<Descriptor, Descriptor>> NewPipe() {
  int ends[2];
  if (::pipe2(ends, O_CLOEXEC) != 0) return ErrnoError("cannot create a pipe");
  ::fcntl(ends[0], F_SETFL, O_NONBLOCK);
  return std::pair(Descriptor(ends[0]), Descriptor(ends[1]));
}

// Sends a packet with descriptors.
Result<void> SendWith(int socket, std::string_view packet, std::initializer_list<int> descriptors) {
  iovec part{const_cast<char*>(packet.data()), packet.size()};
  alignas(cmsghdr) char space[CMSG_SPACE(3 * sizeof(int))] = {};
  msghdr message{};
  message.msg_iov = &part;
  message.msg_iovlen = 1;
  if (descriptors.size() > 0) {
    message.msg_control = space;
    message.msg_controllen = CMSG_SPACE(descriptors.size() * sizeof(int));
    cmsghdr* header = CMSG_FIRSTHDR(&message);
    header->cmsg_level = SOL_SOCKET;
    header->cmsg_type = SCM_RIGHTS;
    header->cmsg_len = CMSG_LEN(descriptors.size() * sizeof(int));
    std::memcpy(CMSG_DATA(header), descriptors.begin(), descriptors.size() * sizeof(int));
  }
  while (::sendmsg(socket, &message, MSG_NOSIGNAL) < 0) {
    if (errno != EINTR) return ErrnoError("the Python worker is gone");
  }
  return {};
}

// Appends what can be read without waiting, at most until `most` bytes are there. Closes the
// descriptor at the end of the stream.
void ReadAll(Descriptor* from, std::string* into, size_t most) {
  char buffer[1 << 16];
  while (from->ok() && into->size() <= most) {
    const ssize_t count = ::read(from->get(), buffer, sizeof buffer);
    if (count > 0) {
      into->append(buffer, static_cast<size_t>(count));
    } else if (count == 0 || (errno != EINTR && errno != EAGAIN)) {
      from->Close();
    } else if (errno == EAGAIN) {
      return;
    }
  }
}

// What the code cannot have known before it was called.
std::string Nonce() {
  uint64_t words[2] = {};
  CHECK(::getrandom(words, sizeof words, 0) == sizeof words);
  return fmt::format("{:016x}{:016x}", words[0], words[1]);
}

std::string SignalSentence(int signal, const SandboxOptions& limits) {
  if (signal == SIGXCPU) {
    return fmt::format("the code used more than {} seconds of processor time", limits.cpu_seconds);
  }
  const char* advice = signal == SIGSEGV ? "; recursion that is too deep does that" : "";
  return fmt::format("the interpreter was ended by signal {} ({}){}", signal, ::strsignal(signal),
                     advice);
}

}  // namespace

PythonWorker::PythonWorker(const Sandbox& sandbox, const PythonWorkerOptions& options)
    : options_(options), limits_(sandbox.options()) {
  // What code leaves running in the background dies with its namespace, or with its group; the
  // supervisor itself cannot tell such processes from others.
  reusable_ = sandbox.method() == SandboxMethod::kBubblewrap || limits_.max_processes == 1;
}

Result<std::unique_ptr<PythonWorker>> PythonWorker::Start(const Sandbox& sandbox,
                                                          const PythonWorkerOptions& options) {
  std::unique_ptr<PythonWorker> worker(new PythonWorker(sandbox, options));
  HONE_RETURN_IF_ERROR(worker->Launch(sandbox));
  if (const auto ready = worker->Acknowledged(kPatience, {}); !ready.ok()) {
    return worker->StartError(ready.error());
  }
  HONE_RETURN_IF_ERROR(worker->Renew());
  // Not every fault shows before code has run once.
  const Result<PythonOutcome> tried = worker->Execute("1 + 1", 0, kPatience, {});
  if (!tried.ok()) return worker->StartError(tried.error());
  if (tried->value != "2") {
    return worker->StartError(
        Error(ErrorCode::kUnavailable, fmt::format("{} {}", tried->ended, tried->standard_error)));
  }
  HONE_RETURN_IF_ERROR(worker->Renew());
  return worker;
}

PythonWorker::~PythonWorker() {
  if (pid_ < 0) return;
  ::kill(-pid_, SIGKILL);
  while (::waitpid(pid_, nullptr, 0) < 0 && errno == EINTR) {
  }
}

Result<void> PythonWorker::Launch(const Sandbox& sandbox) {
  if (sandbox.method() != SandboxMethod::kBubblewrap) {
    HONE_ASSIGN_OR_RETURN(scratch_, Scratch::New(sandbox.identity()));
  }
  HONE_ASSIGN_OR_RETURN(auto control, NewSocketPair(SOCK_SEQPACKET));
  control_ = std::move(control.first);
  log_ = Descriptor(::memfd_create("python", MFD_CLOEXEC));
  const Descriptor nothing(::open("/dev/null", O_RDONLY | O_CLOEXEC));
  if (!log_.ok() || !nothing.ok()) return ErrnoError("cannot prepare a Python worker");

  const std::vector<sock_filter> filter = sandbox.InnerFilter();
  std::string filter_text;
  for (const sock_filter& instruction : filter) {
    const auto* bytes = reinterpret_cast<const unsigned char*>(&instruction);
    for (size_t i = 0; i < sizeof instruction; ++i)
      fmt::format_to(std::back_inserter(filter_text), "{:02x}", bytes[i]);
  }
  const Json settings = Json::Of({
      {"directory", sandbox.DirectoryInside(scratch_.get())},
      {"filter", filter_text},
      {"own_process", uint64_t{kOwnProcess}},
      {"max_tasks", sandbox.InnerProcessLimit()},
      {"processes", limits_.max_processes > 1},
      {"cpu_seconds", options_.keep_state ? int64_t{0} : limits_.cpu_seconds},
      {"max_output_bytes", static_cast<uint64_t>(options_.max_output_bytes)},
  });
  Sandbox::Program program;
  program.command = {options_.python, "-s", "-B",          "-X",
                     "utf8",          "-c", kPythonScript, DumpJson(settings)};
  // Sets of strings in the same order every time, and libraries that start no threads unasked.
  program.environment = {"PYTHONHASHSEED=0", "OPENBLAS_NUM_THREADS=1", "OMP_NUM_THREADS=1"};
  program.descriptors = {nothing.get(), log_.get(), log_.get(), control.second.get()};
  program.scratch = scratch_.get();
  program.supervisor = true;
  program.same_addresses = true;
  HONE_ASSIGN_OR_RETURN(pid_, sandbox.Start(program));
  watch_ = std::make_unique<SandboxWatch>(sandbox, scratch_.get(), true);
  return {};
}

Error PythonWorker::StartError(const Error& cause) const {
  std::string said(4096, '\0');
  const ssize_t count = ::pread(log_.get(), said.data(), said.size(), 0);
  said.resize(static_cast<size_t>(std::max<ssize_t>(count, 0)));
  return Error(cause.code(), fmt::format("{} does not start in the sandbox: {}", options_.python,
                                         said.empty() ? cause.message() : Utf8Lossy(Trim(said))));
}

Result<std::string> PythonWorker::Acknowledged(milliseconds time, const std::stop_token& stop) {
  const auto deadline = SteadyClock::now() + time;
  char buffer[256];
  while (true) {
    const ssize_t count = ::recv(control_.get(), buffer, sizeof buffer, 0);
    if (count > 0) return std::string(buffer, static_cast<size_t>(count));
    if (count == 0 || (errno != EAGAIN && errno != EINTR)) {
      return Error(ErrorCode::kUnavailable, "the Python worker is gone");
    }
    if (stop.stop_requested()) return Error(ErrorCode::kStopped, "python: stopped");
    if (SteadyClock::now() >= deadline) {
      return Error(ErrorCode::kDeadline, "the Python worker did not answer in time");
    }
    pollfd polled{control_.get(), POLLIN, 0};
    ::poll(&polled, 1, MillisecondsLeft(deadline, kSlice));
  }
}

Result<void> PythonWorker::Renew() {
  HONE_RETURN_IF_ERROR(Ready(kPatience, {}));
  HONE_ASSIGN_OR_RETURN(auto conversation, NewSocketPair(SOCK_STREAM));
  HONE_ASSIGN_OR_RETURN(auto output, NewPipe());
  HONE_ASSIGN_OR_RETURN(auto error, NewPipe());
  HONE_RETURN_IF_ERROR(
      SendWith(control_.get(), "next",
               {conversation.second.get(), output.second.get(), error.second.get()}));
  starting_ = true;
  paused_ = false;
  watch_->Renewed();
  conversation_ = std::move(conversation.first);
  output_ = std::move(output.first);
  error_ = std::move(error.first);
  return {};
}

Result<void> PythonWorker::Ready(milliseconds time, const std::stop_token& stop) {
  if (!starting_) return {};
  HONE_RETURN_IF_ERROR(Acknowledged(time, stop));
  starting_ = false;
  return {};
}

Result<std::string> PythonWorker::HowItEnded() {
  HONE_RETURN_IF_ERROR(SendWith(control_.get(), "end", {}));
  HONE_ASSIGN_OR_RETURN(const std::string packet, Acknowledged(kPatience, {}));
  HONE_ASSIGN_OR_RETURN(const Json how, ParseJson(packet));
  if (const Json* code = how.Find("exit")) {
    if (*code == Json(kBrokenExit)) return std::string("the code broke its interpreter");
    return fmt::format("the code ended its interpreter (exit code {})", code->AsInteger());
  }
  if (const Json* signal = how.Find("signal")) {
    return SignalSentence(static_cast<int>(signal->AsInteger()), limits_);
  }
  return std::string("the code closed its interpreter's connection");
}

bool PythonWorker::ReadOutputs(PythonOutcome* outcome) {
  const size_t most = options_.max_output_bytes;
  ReadAll(&output_, &outcome->standard_output, most);
  ReadAll(&error_, &outcome->standard_error, most);
  return std::max(outcome->standard_output.size(), outcome->standard_error.size()) <= most;
}

bool PythonWorker::IsExcessive() {
  const auto now = SteadyClock::now();
  if (now < look_again_) return false;
  if (std::optional<std::string> excess = watch_->Excess(pid_)) excess_ = *std::move(excess);
  // A look takes long where there is much to see; it must not be all that we do.
  const auto looked = SteadyClock::now();
  look_again_ = looked + std::max<SteadyClock::duration>(kBetweenLooks, 4 * (looked - now));
  return !excess_.empty();
}

PythonWorker::Finish PythonWorker::Converse(std::string_view request, milliseconds time,
                                            const std::stop_token& stop, PythonOutcome* outcome,
                                            std::string* reply) {
  const auto deadline = SteadyClock::now() + time;
  // A fresh interpreter has nothing yet; in one that is kept, many short calls add up.
  if (!options_.keep_state) look_again_ = SteadyClock::now() + kBetweenLooks;
  // Escapes make up to six characters of one.
  const size_t longest_reply = 6 * options_.max_output_bytes + 4096;
  while (true) {
    if (stop.stop_requested()) return Finish::kStopped;
    if (SteadyClock::now() >= deadline) return Finish::kLate;
    if (IsExcessive()) return Finish::kExcess;
    const short wanted = request.empty() ? POLLIN : POLLIN | POLLOUT;
    pollfd polled[3] = {
        {conversation_.get(), wanted, 0}, {output_.get(), POLLIN, 0}, {error_.get(), POLLIN, 0}};
    ::poll(polled, 3, MillisecondsLeft(deadline, kBetweenLooks));
    if (!request.empty() && (polled[0].revents & POLLOUT) != 0) {
      const ssize_t count =
          ::send(conversation_.get(), request.data(), request.size(), MSG_NOSIGNAL);
      if (count > 0) request.remove_prefix(static_cast<size_t>(count));
      if (count < 0 && errno != EAGAIN && errno != EINTR) request = {};  // the end is read below
    }
    if (!ReadOutputs(outcome)) return Finish::kTooMuch;
    if ((polled[0].revents & ~POLLOUT) == 0) continue;
    ReadAll(&conversation_, reply, longest_reply);
    if (reply->size() > longest_reply) return Finish::kTooMuch;
    const bool whole = reply->ends_with('\n');
    if (!whole && conversation_.ok()) continue;
    // It flushed before it answered: what it printed is in the pipes.
    if (!ReadOutputs(outcome)) return Finish::kTooMuch;
    return whole ? Finish::kReplied : Finish::kClosed;
  }
}

Result<void> PythonWorker::End(Finish finish, milliseconds time, PythonOutcome* outcome) {
  conversation_.Close();
  switch (finish) {
    case Finish::kReplied:
      outcome->ended = "the code wrote to its interpreter's connection";
      return {};
    case Finish::kClosed: {
      HONE_ASSIGN_OR_RETURN(outcome->ended, HowItEnded());
      return {};
    }
    case Finish::kTooMuch:
      outcome->ended =
          fmt::format("the code printed or returned more than {} bytes", options_.max_output_bytes);
      return {};
    case Finish::kExcess: outcome->ended = "the code " + std::exchange(excess_, {}); return {};
    case Finish::kLate:
      outcome->ended = fmt::format("the code ran longer than {} ms", time.count());
      outcome->out_of_time = true;
      return {};
    case Finish::kStopped: return Error(ErrorCode::kStopped, "python: stopped");
  }
  return {};
}

Result<PythonOutcome> PythonWorker::Execute(std::string_view code, uint64_t seed, milliseconds time,
                                            std::stop_token stop) {
  HONE_RETURN_IF_ERROR(Ready(kPatience, stop));
  CHECK(conversation_.ok(), "an interpreter that is gone was not renewed");
  const std::string nonce = Nonce();
  const std::string request =
      DumpJson(Json::Of({{"nonce", nonce}, {"seed", seed}, {"code", code}})) + "\n";
  PythonOutcome outcome;
  std::string reply;
  if (paused_) watch_->Continue(pid_);
  paused_ = false;
  Finish finish = Converse(request, time, stop, &outcome, &reply);
  if (finish == Finish::kReplied) {
    // Whatever is not our script's answer to this very request was written by the code.
    const Result<Json> answer = ParseJson(Trim(reply));
    const Json* echoed = answer.ok() ? answer->Find("nonce") : nullptr;
    const Json* value = answer.ok() ? answer->Find("value") : nullptr;
    const Json* raised = answer.ok() ? answer->Find("raised") : nullptr;
    const bool ours = echoed != nullptr && *echoed == Json(nonce) &&
                      (value == nullptr || value->is_string()) &&
                      (raised == nullptr || raised->is_string());
    if (ours && answer->Find("long") != nullptr) {
      finish = Finish::kTooMuch;
    } else if (ours && options_.keep_state && IsExcessive()) {
      finish = Finish::kExcess;
    } else if (ours) {
      if (value != nullptr) outcome.value = value->AsString();
      if (raised != nullptr) outcome.raised = raised->AsString();
    }
    if (!ours || finish != Finish::kReplied) {
      HONE_RETURN_IF_ERROR(End(finish, time, &outcome));
    }
  } else {
    HONE_RETURN_IF_ERROR(End(finish, time, &outcome));
  }
  if (options_.keep_state && outcome.ended.empty()) {
    // Threads, timers and processes that the code left behind use no processor between its calls.
    watch_->Pause(pid_);
    paused_ = true;
  }
  outcome.standard_output = Utf8Lossy(outcome.standard_output);
  outcome.standard_error = Utf8Lossy(outcome.standard_error);
  return outcome;
}

}  // namespace hone
