#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <utility>
#include <vector>

#include "base/result.h"
#include "text/jinja/jinja_value.h"

namespace hone {

// What running a template may cost. Every one of them ends the run with an error, never the
// program.
struct JinjaLimits {
  int64_t work = 10'000'000;  // steps, and values and stretches of text gone through
  size_t output = 64u << 20;  // bytes
  int depth = 400;            // statements, expressions and calls inside of each other
};

// One run of a template: what it may still do, the time it is told, and the objects it made.
class JinjaRun {
 public:
  // The time that strftime_now tells, in seconds since 1970 in UTC.
  JinjaRun(const JinjaLimits& limits, int64_t now) : limits_(limits), now_(now) {}
  JinjaRun(const JinjaRun&) = delete;
  JinjaRun& operator=(const JinjaRun&) = delete;

  const JinjaLimits& limits() const { return limits_; }
  int64_t now() const { return now_; }

  Result<void> Charge(int64_t work) {
    if (work <= limits_.work - spent_) {
      spent_ += work;
      return {};
    }
    return Error(ErrorCode::kUnsupported, "the template does not come to an end: too many steps");
  }
  // For going through these, or making a text of that many bytes.
  Result<void> Charge(const JinjaValue& value) { return Charge(value.Extent().count); }
  Result<void> ChargeText(size_t bytes) { return Charge(1 + static_cast<int64_t>(bytes / 16)); }

  template <typename T>
  T* Keep(std::unique_ptr<T> object) {
    T* kept = object.get();
    kept_.push_back(std::move(object));
    return kept;
  }

 private:
  const JinjaLimits limits_;
  const int64_t now_;
  int64_t spent_ = 0;
  std::vector<std::unique_ptr<JinjaObject>> kept_;
};

// Arguments by their parameters' names: a value or nothing for each. Fails for too many, unknown
// and double ones, and when one of the first `required` is missing.
Result<std::vector<std::optional<JinjaValue>>> BindArguments(
    std::string_view function, const JinjaArguments& arguments,
    const std::vector<std::string_view>& parameters, size_t required);

// A function of the program's, or a method with the value it belongs to.
class JinjaFunction final : public JinjaObject {
 public:
  using Body = Result<JinjaValue> (*)(JinjaRun*, const JinjaValue& self, const JinjaArguments&);
  JinjaFunction(std::string name, JinjaValue self, Body body)
      : name_(std::move(name)), self_(std::move(self)), body_(body) {}

  std::string TypeName() const override { return "builtin_function_or_method"; }
  std::string Repr() const override { return "<built-in function " + name_ + ">"; }
  bool callable() const override { return true; }
  Result<JinjaValue> Call(JinjaRun* run, const JinjaArguments& arguments) override {
    return body_(run, self_, arguments);
  }

 private:
  std::string name_;
  JinjaValue self_;
  Body body_;
};

}  // namespace hone
