#include "tools/command/line_program.h"

#include <algorithm>

#include <fmt/format.h>

#include "base/strings.h"
#include "tools/command/program_environment.h"

namespace hone {

using std::chrono::milliseconds;

Result<std::unique_ptr<LineProgram>> LineProgram::Start(const std::vector<std::string>& command,
                                                        std::string_view role) {
  constexpr size_t kLastWords = 8192;
  HONE_ASSIGN_OR_RETURN(std::unique_ptr<Subprocess> process,
                        Subprocess::Start(command, {.environment = ProgramEnvironment(role),
                                                    .keep_error_bytes = kLastWords}));
  return std::unique_ptr<LineProgram>(new LineProgram(std::move(process)));
}

Result<Json> LineProgram::Ask(const Json& request, milliseconds deadline, std::stop_token stop) {
  const auto end = std::chrono::steady_clock::now() + deadline;
  HONE_RETURN_IF_ERROR(process_->Write(DumpJson(request) + "\n", deadline, stop));
  const auto left =
      std::chrono::duration_cast<milliseconds>(end - std::chrono::steady_clock::now());
  const Result<std::string> line = process_->ReadLine(std::max(left, milliseconds(0)), stop);
  if (!line.ok()) return WhyNoLine(line.error());
  HONE_ASSIGN_OR_RETURN(Json reply, ParseJson(*line));
  if (!reply.is_object()) {
    return Error(ErrorCode::kParse, fmt::format("wants an object, not {}", reply.KindName()));
  }
  return reply;
}

Error LineProgram::WhyNoLine(const Error& error) {
  if (error.code() != ErrorCode::kUnavailable) return error;
  const Result<int> status = process_->Wait(milliseconds(1000));
  if (!status.ok()) return Error(ErrorCode::kUnavailable, "it closed its output");
  return Error(ErrorCode::kUnavailable,
               fmt::format("it ended with status {} without an answer", *status));
}

Error LineProgram::WithLastWords(const Error& error) {
  const std::string errors = process_->LastErrors();
  const std::string_view rest = Trim(errors);
  if (rest.empty()) return error;
  const size_t line = rest.rfind('\n');
  return Error(error.code(),
               fmt::format("{}; it last wrote: {}", error.message(),
                           line == std::string_view::npos ? rest : Trim(rest.substr(line + 1))));
}

}  // namespace hone
