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

// One running program that answers calls, one JSON line each way:
//
//   {"id": 7, "tool": "name", "arguments": {...}, "session": "..."}
//   {"id": 7, "result": ANY}   or   {"id": 7, "error": "text"}
//
// A string result is the content as it is, anything else its JSON. With an error may stand
// "retry": true (nothing was done, try again), "retry_after_ms" and "status" (tool_error, denied,
// unavailable or timeout; tool_error unless said). Lines with another id are dropped. One thread at
// a time.
class CommandProcess {
 public:
  // Starts it and, where it announces its tools, waits for that line.
  static Result<std::unique_ptr<CommandProcess>> Start(const CommandProgram& program,
                                                       std::stop_token stop = {});

  // What it announced; null when it announces nothing.
  const Json& announced() const { return announced_; }

  // One call. The arguments are an object; `session` is left out when empty.
  ToolReply Call(std::string_view tool, const Json& arguments, std::string_view session,
                 const CallLimits& limits);

  // False after a call that hung or a line that was no answer: what it would say next could belong
  // to anything. Also false when it has ended.
  bool Usable();

 private:
  explicit CommandProcess(const CommandProgram& program) : name_(program.command[0]) {}

  Result<void> ReadAnnouncement(const CommandProgram& program, std::stop_token stop);
  // The reply for an exchange that failed, with the program's last words.
  ToolReply Broken(const Error& error);
  std::string WithLastWords(std::string_view text);

  std::string name_;
  std::unique_ptr<Subprocess> process_;
  Json announced_;
  int64_t next_id_ = 1;
  bool usable_ = true;
};

}  // namespace hone
