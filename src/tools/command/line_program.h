#pragma once

#include <chrono>
#include <memory>
#include <stop_token>
#include <string>
#include <string_view>
#include <vector>

#include "base/json.h"
#include "base/result.h"
#include "base/subprocess.h"

namespace hone {

// A running program that answers lines, one JSON object each way: a reward, an environment. One
// thread at a time.
//
// After an error of Ask it must be given up: what it says next could belong to anything. Its end
// (~LineProgram) kills it.
class LineProgram {
 public:
  // Starts it and does not wait for it. `role` is what it is wanted for (program_environment.h).
  static Result<std::unique_ptr<LineProgram>> Start(const std::vector<std::string>& command,
                                                    std::string_view role);

  // Writes one line and reads one. kDeadline: it was late; kUnavailable: it ended, and the message
  // says how; kParse: what it wrote is no JSON object.
  Result<Json> Ask(const Json& request, std::chrono::milliseconds deadline,
                   std::stop_token stop = {});

  // The error with the last line that the program wrote to its standard error: of a Python program,
  // what was raised.
  Error WithLastWords(const Error& error);

 private:
  explicit LineProgram(std::unique_ptr<Subprocess> process) : process_(std::move(process)) {}

  Error WhyNoLine(const Error& error);

  const std::unique_ptr<Subprocess> process_;
};

}  // namespace hone
