#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <variant>

#include "base/check.h"

// How expected failure travels through Hone: a value or an Error, never an exception. A bug is a
// CHECK; a failure inside an episode is data on the record; everything else is a Result.

namespace hone {

// What kind of failure it is, for callers that decide by it; people read the message.
enum class ErrorCode {
  kInvalidArgument,  // the caller asked for something that cannot be
  kNotFound,         // a file, key or row that is not there
  kParse,            // text that does not follow its grammar
  kUnsupported,      // well-formed, but not something Hone can do
  kVersion,          // a file of a format version this program does not read
  kCorrupt,          // bytes that were once right and are not now
  kIo,               // the operating system refused
  kFull,             // no space left
  kDeadline,         // ran out of time
  kStopped,          // the caller's stop token was triggered
  kUnavailable,      // the other side did not answer
};

// The stable lower-case name used in JSON, e.g. "not_found".
std::string_view ErrorCodeName(ErrorCode code);

// A failure with a message that names the thing at fault and says what to do about it.
class [[nodiscard]] Error {
 public:
  Error(ErrorCode code, std::string message) : code_(code), message_(std::move(message)) {}

  ErrorCode code() const { return code_; }
  const std::string& message() const { return message_; }

  // The same error seen from further out: "where: message".
  Error In(std::string_view where) const;

 private:
  ErrorCode code_;
  std::string message_;
};

// A T, or why there is none. Reading the value of a failure is a bug (CHECK).
template <typename T>
class [[nodiscard]] Result {
 public:
  Result(T value) : state_(std::in_place_index<0>, std::move(value)) {}      // NOLINT: implicit
  Result(Error error) : state_(std::in_place_index<1>, std::move(error)) {}  // NOLINT: implicit

  bool ok() const { return state_.index() == 0; }
  explicit operator bool() const { return ok(); }

  T& value() & {
    CHECK(ok(), error_message());
    return std::get<0>(state_);
  }
  const T& value() const& {
    CHECK(ok(), error_message());
    return std::get<0>(state_);
  }
  // By value, so that `for (auto& x : *F())` does not walk over a Result that is gone.
  T value() && {
    CHECK(ok(), error_message());
    return std::get<0>(std::move(state_));
  }
  T& operator*() & { return value(); }
  const T& operator*() const& { return value(); }
  T operator*() && { return std::move(*this).value(); }
  T* operator->() { return &value(); }
  const T* operator->() const { return &value(); }

  const Error& error() const {
    CHECK(!ok(), "error() of a Result that holds a value");
    return std::get<1>(state_);
  }

 private:
  std::string_view error_message() const { return std::get<1>(state_).message(); }

  std::variant<T, Error> state_;
};

// Success, or why not.
template <>
class [[nodiscard]] Result<void> {
 public:
  Result() = default;
  Result(Error error) : error_(std::move(error)) {}  // NOLINT: implicit

  bool ok() const { return !error_.has_value(); }
  explicit operator bool() const { return ok(); }
  const Error& error() const {
    CHECK(!ok(), "error() of a Result that holds success");
    return *error_;
  }

 private:
  std::optional<Error> error_;
};

}  // namespace hone

#define HONE_CONCAT_INNER(a, b) a##b
#define HONE_CONCAT(a, b) HONE_CONCAT_INNER(a, b)

// Returns the error of `expression` (a Result) from the enclosing function, if it is one.
#define HONE_RETURN_IF_ERROR(expression)               \
  do {                                                 \
    auto hone_result = (expression);                   \
    if (!hone_result.ok()) return hone_result.error(); \
  } while (false)

// HONE_ASSIGN_OR_RETURN(auto x, F()): declares x from the value of F(), or returns F()'s error.
#define HONE_ASSIGN_OR_RETURN(declaration, expression) \
  HONE_ASSIGN_OR_RETURN_INNER(HONE_CONCAT(hone_result_, __LINE__), declaration, expression)
#define HONE_ASSIGN_OR_RETURN_INNER(result, declaration, expression) \
  auto result = (expression);                                        \
  if (!result.ok()) return result.error();                           \
  declaration = std::move(result).value()
