#include "tools/toolkit.h"

namespace hone {

ToolReply Answered(std::string content) { return {.content = std::move(content)}; }

ToolReply Refuted(std::string content) {
  return {.status = CallStatus::kToolError, .blame = Blame::kAgent, .content = std::move(content)};
}

ToolReply Unavailable(std::string content, Blame blame) {
  return {.status = CallStatus::kUnavailable, .blame = blame, .content = std::move(content)};
}

ToolReply TimedOut(std::string content) {
  return {.status = CallStatus::kTimeout, .blame = Blame::kTool, .content = std::move(content)};
}

ToolReply FromError(const Error& error) {
  const bool late = error.code() == ErrorCode::kDeadline || error.code() == ErrorCode::kStopped;
  return late ? TimedOut(error.message()) : Unavailable(error.message());
}

Result<std::unique_ptr<Session>> Session::Clone() {
  return Error(ErrorCode::kUnsupported, "this session cannot be copied");
}

}  // namespace hone
