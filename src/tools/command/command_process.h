#pragma once

#include <chrono>
#include <memory>
#include <stop_token>
#include <string>
#include <vector>

#include "base/json.h"
#include "base/result.h"
#include "base/subprocess.h"
#include "tools/toolkit.h"

namespace hone {

// How a program is started, and how much it may say.
struct CommandProgram {
  std::vector<std::string> command;
  SubprocessOptions process;
  bool announces = true;  // its first line says which tools it has
  std::chrono::milliseconds startup{10000};
};

// What a program says of itself in its first line.
struct CommandAnnouncement {
  Json tools;                  // null: it announces nothing
  bool many_sessions = false;  // it keeps sessions apart by "episode"
  bool resets = false;         // it understands {"method": "reset"}
};

// Whose call it is; empty words are left out of the line.
struct CommandCaller {
  std::string_view session;  // its seed
  std::string_view episode;  // its name, for a program that keeps many apart
};

// One running program that answers calls, one JSON line each way:
//
//   {"id": 7, "tool": "name", "arguments": {...}, "session": "...", "episode": "..."}
//   {"id": 7, "result": ANY}   or   {"id": 7, "error": "text"}
//
// A string result is the content as it is, anything else its JSON. With an error may stand
// "retry": true (nothing was done, try again), "retry_after_ms" and "status" (tool_error, denied,
// unavailable or timeout; tool_error unless said). Lines with another id are dropped. One thread at
// a time.
//
// Besides calls there are {"id": 8, "method": "reset", "session": "..."}, which is answered as a
// call is, and {"method": "close", "episode": "..."}, which is not answered.
class CommandProcess {
 public:
  // Starts it and does not wait for it.
  static Result<std::unique_ptr<CommandProcess>> Launch(const CommandProgram& program);
  // Waits, where it announces its tools, for that line; at once when it has come before.
  Result<void> Await(std::chrono::milliseconds startup, std::stop_token stop = {});
  // Both.
  static Result<std::unique_ptr<CommandProcess>> Start(const CommandProgram& program,
                                                       std::stop_token stop = {});

  const CommandAnnouncement& announced() const { return announced_; }

  // One call. The arguments are an object.
  ToolReply Call(std::string_view tool, const Json& arguments, const CommandCaller& caller,
                 const CallLimits& limits);

  // The state of the program is that of a fresh one now, for a session of this seed.
  ToolReply Reset(std::string_view session, const CallLimits& limits);

  // The program may forget a session.
  void Close(std::string_view episode);

  // False after a call that hung or a line that was no answer: what it would say next could belong
  // to anything. Also false when it has ended.
  bool Usable();

 private:
  explicit CommandProcess(const CommandProgram& program)
      : name_(program.command[0]), awaited_(!program.announces) {}

  Result<void> ReadAnnouncement(std::chrono::milliseconds startup, std::stop_token stop);
  // Writes the line, whose id is the last one, and waits for the reply to it.
  ToolReply Exchange(const Json& request, const CallLimits& limits);
  // The reply for an exchange that failed, with the program's last words.
  ToolReply Broken(const Error& error);
  std::string WithLastWords(std::string_view text);

  std::string name_;
  std::unique_ptr<Subprocess> process_;
  CommandAnnouncement announced_;
  bool awaited_;
  int64_t last_id_ = 0;
  bool usable_ = true;
};

}  // namespace hone
