#include "base/result.h"

namespace hone {

std::string_view ErrorCodeName(ErrorCode code) {
  switch (code) {
    case ErrorCode::kInvalidArgument: return "invalid_argument";
    case ErrorCode::kNotFound: return "not_found";
    case ErrorCode::kParse: return "parse";
    case ErrorCode::kUnsupported: return "unsupported";
    case ErrorCode::kVersion: return "version";
    case ErrorCode::kCorrupt: return "corrupt";
    case ErrorCode::kIo: return "io";
    case ErrorCode::kFull: return "full";
    case ErrorCode::kDeadline: return "deadline";
    case ErrorCode::kStopped: return "stopped";
    case ErrorCode::kUnavailable: return "unavailable";
  }
  return "unknown";
}

Error Error::In(std::string_view where) const {
  return Error(code_, std::string(where) + ": " + message_);
}

}  // namespace hone
