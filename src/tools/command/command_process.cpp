#include "tools/command/command_process.h"

#include <algorithm>
#include <optional>

#include <fmt/format.h>

#include "base/strings.h"
#include "base/utf8.h"

namespace hone {
namespace {

using std::chrono::milliseconds;
using SteadyClock = std::chrono::steady_clock;

// How much of a wrong line, and of the error output, is shown.
constexpr size_t kShownBytes = 200;
constexpr size_t kShownLines = 5;

std::string Shown(std::string_view line) {
  const bool cut = line.size() > kShownBytes;
  return Utf8Lossy(line.substr(0, kShownBytes)) + (cut ? "..." : "");
}

// The last lines of a text.
std::string_view LastLines(std::string_view text) {
  text = TrimRight(text);
  size_t begin = text.size();
  for (size_t i = 0; i < kShownLines && begin != std::string_view::npos && begin > 0; ++i) {
    begin = text.rfind('\n', begin - 1);
  }
  return begin == std::string_view::npos ? text : text.substr(begin + (text[begin] == '\n'));
}

Error NoReply(std::string_view line, std::string_view why) {
  return Error(ErrorCode::kParse,
               fmt::format("printed a line that is no reply ({}): {}", why, Shown(line)));
}

// The reply an error of the program stands for.
Result<ToolReply> ReadError(const Json& line, const std::string& text) {
  const Json* retry = line.Find("retry");
  const Json* after = line.Find("retry_after_ms");
  const Json* status = line.Find("status");
  if (retry != nullptr && !retry->is_bool()) {
    return Error(ErrorCode::kParse, "\"retry\" is true or false");
  }
  if (after != nullptr && (!after->is_integer() || after->AsInteger() < 0)) {
    return Error(ErrorCode::kParse, "\"retry_after_ms\" is a whole number");
  }
  const bool again = retry != nullptr && retry->AsBool();
  std::string name = again ? "unavailable" : "tool_error";
  if (status != nullptr && status->is_string()) name = status->AsString();
  ToolReply reply;
  if (name == "tool_error") {
    reply = Refuted(text);
  } else if (name == "unavailable") {
    reply = Unavailable(text);
  } else if (name == "timeout") {
    reply = TimedOut(text);
  } else if (name == "denied") {
    reply = {.status = CallStatus::kDenied, .blame = Blame::kAgent, .content = text};
  } else {
    return Error(ErrorCode::kParse,
                 "\"status\" is one of tool_error, denied, unavailable, timeout");
  }
  reply.refused = again;
  if (after != nullptr) reply.retry_after = milliseconds(after->AsInteger());
  return reply;
}

// The reply in a line to the call `id`; nothing when the line answers another call.
Result<std::optional<ToolReply>> ReadReply(std::string_view line, int64_t id) {
  const Result<Json> json = ParseJson(line);
  if (!json.ok()) return NoReply(line, json.error().message());
  const Json* answered = json->Find("id");
  if (answered == nullptr) return NoReply(line, "an object with \"id\" is wanted");
  if (*answered != Json(id)) return std::optional<ToolReply>();
  const Json* result = json->Find("result");
  const Json* error = json->Find("error");
  if ((result == nullptr) == (error == nullptr)) {
    return NoReply(line, "either \"result\" or \"error\" is wanted");
  }
  if (result != nullptr) {
    return std::optional(Answered(result->is_string() ? result->AsString() : DumpJson(*result)));
  }
  Result<ToolReply> reply =
      ReadError(*json, error->is_string() ? error->AsString() : DumpJson(*error));
  if (!reply.ok()) return NoReply(line, reply.error().message());
  return std::optional(*std::move(reply));
}

}  // namespace

Result<std::unique_ptr<CommandProcess>> CommandProcess::Launch(const CommandProgram& program) {
  std::unique_ptr<CommandProcess> process(new CommandProcess(program));
  HONE_ASSIGN_OR_RETURN(process->process_, Subprocess::Start(program.command, program.process));
  return process;
}

Result<std::unique_ptr<CommandProcess>> CommandProcess::Start(const CommandProgram& program,
                                                              std::stop_token stop) {
  HONE_ASSIGN_OR_RETURN(std::unique_ptr<CommandProcess> process, Launch(program));
  HONE_RETURN_IF_ERROR(process->Await(program.startup, std::move(stop)));
  return process;
}

Result<void> CommandProcess::Await(milliseconds startup, std::stop_token stop) {
  if (awaited_) return {};
  if (Result<void> read = ReadAnnouncement(startup, std::move(stop)); !read.ok()) {
    usable_ = false;
    return Error(read.error().code(), WithLastWords(read.error().message()));
  }
  awaited_ = true;
  return {};
}

Result<void> CommandProcess::ReadAnnouncement(milliseconds startup, std::stop_token stop) {
  const Result<std::string> line = process_->ReadLine(startup, std::move(stop));
  if (!line.ok()) {
    if (line.error().code() != ErrorCode::kDeadline) return line.error();
    return Error(ErrorCode::kDeadline,
                 fmt::format("did not say within {} ms which tools it has; its first line must be "
                             "{{\"tools\": [...]}}, or the recipe names a file with \"specs\"",
                             startup.count()));
  }
  Result<Json> json = ParseJson(*line);
  const Json* tools = json.ok() ? json->Find("tools") : nullptr;
  if (tools == nullptr) {
    return Error(
        ErrorCode::kParse,
        fmt::format("the first line must be {{\"tools\": [...]}}, but it is: {}", Shown(*line)));
  }
  announced_.tools = *tools;
  const Json *sessions = json->Find("sessions"), *reset = json->Find("reset");
  announced_.many_sessions = sessions != nullptr && *sessions == Json("many");
  announced_.resets = reset != nullptr && *reset == Json(true);
  return {};
}

ToolReply CommandProcess::Call(std::string_view tool, const Json& arguments,
                               const CommandCaller& caller, const CallLimits& limits) {
  Json call = Json::Of({{"id", ++last_id_}, {"tool", tool}, {"arguments", arguments}});
  if (!caller.session.empty()) call.Set("session", caller.session);
  if (!caller.episode.empty()) call.Set("episode", caller.episode);
  return Exchange(call, limits);
}

ToolReply CommandProcess::Reset(std::string_view session, const CallLimits& limits) {
  return Exchange(Json::Of({{"id", ++last_id_}, {"method", "reset"}, {"session", session}}),
                  limits);
}

void CommandProcess::Close(std::string_view episode) {
  const Json line = Json::Of({{"method", "close"}, {"episode", episode}});
  // Who does not take it in at once is busy or gone, and the next call will find out.
  constexpr milliseconds kAtOnce{100};
  if (!process_->Write(DumpJson(line) + "\n", kAtOnce).ok()) usable_ = false;
}

ToolReply CommandProcess::Exchange(const Json& request, const CallLimits& limits) {
  const auto end = SteadyClock::now() + limits.time;
  auto left = [&] {
    return std::max(std::chrono::duration_cast<milliseconds>(end - SteadyClock::now()),
                    milliseconds(0));
  };
  if (Result<void> sent = process_->Write(DumpJson(request) + "\n", left(), limits.stop);
      !sent.ok()) {
    return Broken(sent.error());
  }
  while (true) {
    const Result<std::string> line = process_->ReadLine(left(), limits.stop);
    if (!line.ok()) return Broken(line.error());
    Result<std::optional<ToolReply>> reply = ReadReply(*line, last_id_);
    if (!reply.ok()) return Broken(reply.error());
    if (reply->has_value()) return **std::move(reply);
  }
}

bool CommandProcess::Usable() {
  // An end that was seen is an end: waiting a second time would be a mistake.
  if (usable_ && process_->Wait(milliseconds(0)).ok()) usable_ = false;
  return usable_;
}

ToolReply CommandProcess::Broken(const Error& error) {
  usable_ = false;
  ToolReply reply = FromError(error);
  std::string text = error.message();
  if (error.code() == ErrorCode::kUnavailable) {
    // Its pipes are closed, so its end is near; how it ended says the most.
    const Result<int> code = process_->Wait(milliseconds(200));
    if (code.ok()) text = fmt::format("ended with exit code {} before it answered", *code);
  } else if (reply.status == CallStatus::kTimeout) {
    text = error.code() == ErrorCode::kStopped ? "was stopped before it answered"
                                               : "did not answer in time";
  }
  reply.content = WithLastWords(text);
  return reply;
}

std::string CommandProcess::WithLastWords(std::string_view text) {
  const std::string words = Utf8Lossy(LastLines(process_->LastErrors()));
  return fmt::format("{}: {}{}{}", name_, text, words.empty() ? "" : "; it last wrote:\n", words);
}

}  // namespace hone
