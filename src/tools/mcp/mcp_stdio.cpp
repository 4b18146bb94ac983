#include "tools/mcp/mcp_stdio.h"

#include <deque>
#include <map>
#include <thread>

#include <fmt/format.h>

#include "base/mutex.h"
#include "base/strings.h"
#include "base/subprocess.h"
#include "base/utf8.h"
#include "tools/mcp/mcp_secrets.h"

namespace hone {
namespace {

using std::chrono::milliseconds;
using SteadyClock = std::chrono::steady_clock;

// A reader or writer waits as long as the server lives.
constexpr milliseconds kForever = std::chrono::hours(24 * 365);
// What a server that was asked to end gets before it is killed.
constexpr milliseconds kGrace{500};
constexpr size_t kKeptErrors = 4096;
constexpr size_t kShownErrors = 600;
// Answers and cancellations that a server does not read; more and it is beyond help.
constexpr size_t kMaxUnsentStdio = 1000;

// The end of a text that a stranger wrote, fit for a message of ours.
std::string Tail(std::string_view text, size_t most) {
  text = Trim(text);
  if (text.size() > most) text = text.substr(text.size() - most);
  return Utf8Lossy(text);
}

class StdioTransport final : public McpTransport {
 public:
  StdioTransport(std::unique_ptr<Subprocess> process, const McpStdioOptions& options,
                 McpReceive receive)
      : name_(options.command[0]),
        secrets_(options.secrets),
        receive_(std::move(receive)),
        process_(std::move(process)),
        writer_([this](const std::stop_token& stop) { WriteAll(stop); }),
        reader_([this](const std::stop_token& stop) { ReadAll(stop); }) {}

  ~StdioTransport() override {
    // Once its input has ended a server has nothing to do and goes; the reader sees that.
    writer_.request_stop();
    writer_.join();
    process_->CloseInput();
    {
      MutexLock lock(mutex_);
      changed_.wait_for(lock, kGrace, [&]() HONE_REQUIRES(mutex_) { return broken_.has_value(); });
    }
    reader_.request_stop();
    reader_.join();
  }

  McpOutcome Ask(const JsonRpcRequest& request, const McpLimits& limits) override {
    const auto end = SteadyClock::now() + limits.time;
    MutexLock lock(mutex_);
    if (broken_) return McpFailure{.error = *broken_, .refused = true, .session_lost = true};
    std::optional<McpOutcome>& answer = waiting_[request.id];
    unsent_.push_back({request.id, WriteJsonRpc(request) + "\n"});
    changed_.notify_all();
    const bool done = changed_.wait_until(lock, limits.stop, end, [&]() HONE_REQUIRES(mutex_) {
      return answer.has_value() || broken_.has_value();
    });
    // What the server has not begun to read can still be taken back.
    const bool untouched =
        std::erase_if(unsent_, [&](const Line& line) { return line.id == request.id; }) > 0;
    std::optional<McpOutcome> outcome = std::move(answer);
    waiting_.erase(request.id);
    if (outcome) return RedactedErrors(*std::move(outcome), secrets_);
    if (done) return McpFailure{.error = *broken_, .refused = untouched, .session_lost = true};
    const bool stopped = limits.stop.stop_requested();
    Error late(stopped ? ErrorCode::kStopped : ErrorCode::kDeadline,
               fmt::format("{}: {} was {}{}", name_, request.method,
                           stopped ? "stopped"
                                   : fmt::format("not answered within {} ms", limits.time.count()),
                           StrayLine()));
    return McpFailure{.error = std::move(late), .refused = untouched};
  }

  Result<void> Tell(const JsonRpcNotification& notification, const McpLimits&) override {
    Post(notification);
    const MutexLock lock(mutex_);
    if (broken_) return *broken_;
    return {};
  }

  void Post(JsonRpcMessage message) override {
    std::string text = WriteJsonRpc(message) + "\n";
    const MutexLock lock(mutex_);
    if (broken_ || unsent_.size() >= kMaxUnsentStdio) return;
    unsent_.push_back({std::nullopt, std::move(text)});
    changed_.notify_all();
  }

  void SetVersion(const std::string&) override {}

  bool alive() const override {
    const MutexLock lock(mutex_);
    return !broken_.has_value();
  }

 private:
  struct Line {
    std::optional<JsonRpcId> id;  // of a request
    std::string text;
  };

  // Lines go out one by one and whole, whatever becomes of those who asked.
  void WriteAll(const std::stop_token& stop) {
    while (true) {
      std::string text;
      {
        MutexLock lock(mutex_);
        changed_.wait(lock, stop, [&]() HONE_REQUIRES(mutex_) {
          return !unsent_.empty() || broken_.has_value();
        });
        if (stop.stop_requested() || broken_) return;
        text = std::move(unsent_.front().text);
        unsent_.pop_front();
      }
      if (process_->Write(text, kForever, stop).ok()) continue;
      // A server that no longer reads mostly ends its output too, and then the reader knows better.
      MutexLock lock(mutex_);
      changed_.wait_for(lock, stop, kGrace,
                        [&]() HONE_REQUIRES(mutex_) { return broken_.has_value(); });
      if (!broken_) {
        broken_ = Error(ErrorCode::kUnavailable, name_ + ": the server no longer reads its input");
      }
      changed_.notify_all();
      return;
    }
  }

  void ReadAll(const std::stop_token& stop) {
    while (true) {
      Result<std::string> line = process_->ReadLine(kForever, stop);
      if (!line.ok()) {
        Break(line.error());
        return;
      }
      if (!Trim(*line).empty()) Take(*line);
    }
  }

  void Take(const std::string& line) {
    const auto read = ReadJsonRpc(line);
    if (const auto* problem = std::get_if<JsonRpcProblem>(&read)) {
      const MutexLock lock(mutex_);
      stray_ = Tail(Redacted(line, secrets_), 200);
      if (problem->id) {
        Answer(*problem->id, McpFailure{Error(ErrorCode::kUnavailable,
                                              fmt::format("{}: an answer that is none: {}", name_,
                                                          problem->message))});
      }
      return;
    }
    const auto& message = std::get<JsonRpcMessage>(read);
    if (const auto* response = std::get_if<JsonRpcResponse>(&message)) {
      const MutexLock lock(mutex_);
      Answer(response->id, response->result);
    } else if (const auto* failed = std::get_if<JsonRpcErrorResponse>(&message)) {
      const MutexLock lock(mutex_);
      if (failed->id) Answer(*failed->id, failed->error);
    } else if (std::optional<JsonRpcMessage> reply = receive_(message)) {
      Post(*std::move(reply));
    }
  }

  // Only the first answer to a request that is still waited for counts.
  void Answer(const JsonRpcId& id, McpOutcome outcome) HONE_REQUIRES(mutex_) {
    const auto found = waiting_.find(id);
    if (found == waiting_.end() || found->second) return;
    found->second = std::move(outcome);
    changed_.notify_all();
  }

  // The reader's last act: nobody will be answered any more.
  void Break(const Error& why) {
    std::string what = why.message();
    if (why.code() == ErrorCode::kUnavailable) {
      const Result<int> code = process_->Wait(kGrace);
      what = code.ok() ? fmt::format("the server ended with exit code {}", *code)
                       : "the server closed its output";
    }
    const std::string errors = Tail(Redacted(process_->LastErrors(), secrets_), kShownErrors);
    const MutexLock lock(mutex_);
    what = fmt::format("{}: {}{}", name_, what, StrayLine());
    if (!errors.empty()) what += "; its last words: " + errors;
    broken_ = Error(ErrorCode::kUnavailable, std::move(what));
    changed_.notify_all();
  }

  std::string StrayLine() const HONE_REQUIRES(mutex_) {
    return stray_.empty() ? "" : "; it printed a line that is no message: " + stray_;
  }

  const std::string name_;
  const std::vector<std::string> secrets_;
  const McpReceive receive_;
  const std::unique_ptr<Subprocess> process_;

  mutable Mutex mutex_;
  ConditionVariable changed_;
  std::deque<Line> unsent_ HONE_GUARDED_BY(mutex_);
  std::map<JsonRpcId, std::optional<McpOutcome>> waiting_ HONE_GUARDED_BY(mutex_);
  std::optional<Error> broken_ HONE_GUARDED_BY(mutex_);
  std::string stray_ HONE_GUARDED_BY(mutex_);

  std::jthread writer_;  // the last members: they use all of the above
  std::jthread reader_;
};

}  // namespace

Result<std::unique_ptr<McpTransport>> NewMcpStdio(const McpStdioOptions& options,
                                                  McpReceive receive) {
  SubprocessOptions process_options;
  process_options.directory = options.directory;
  process_options.environment = options.environment;
  process_options.max_output_bytes = options.max_message_bytes;
  process_options.keep_error_bytes = kKeptErrors;
  Result<std::unique_ptr<Subprocess>> process = Subprocess::Start(options.command, process_options);
  if (!process.ok()) return process.error();
  return std::unique_ptr<McpTransport>(
      std::make_unique<StdioTransport>(*std::move(process), options, std::move(receive)));
}

}  // namespace hone
