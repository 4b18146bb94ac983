#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "text/jinja/jinja_run.h"
#include "text/jinja/jinja_value.h"

// The objects that templates make, and the functions they are given.

namespace hone {

// namespace(...): the one thing a template may change.
class JinjaNamespace final : public JinjaObject {
 public:
  explicit JinjaNamespace(JinjaDict members) : members_(std::move(members)) {}
  std::string TypeName() const override { return "Namespace"; }
  std::optional<JinjaValue> Member(std::string_view name) const override;
  void Set(std::string_view name, JinjaValue value);

 private:
  JinjaDict members_;
};

// `loop` inside of {% for %}.
class JinjaLoop final : public JinjaObject {
 public:
  JinjaLoop(std::vector<JinjaValue> items, int depth, JinjaRun* run)
      : items_(std::move(items)), depth_(depth), run_(run) {}

  std::string TypeName() const override { return "LoopContext"; }
  std::optional<JinjaValue> Member(std::string_view name) const override;

  const std::vector<JinjaValue>& items() const { return items_; }
  int depth() const { return depth_; }
  void GoTo(size_t index) { index_ = index; }
  void Release() { items_.clear(), items_.shrink_to_fit(); }

  // loop.changed(...): whether these are others than last time.
  bool Changed(std::vector<JinjaValue> values);
  size_t index() const { return index_; }

 private:
  std::vector<JinjaValue> items_;
  int depth_;
  JinjaRun* run_;
  size_t index_ = 0;
  std::optional<std::vector<JinjaValue>> last_;
};

// The function of that name that every template has: range, dict, namespace, cycler, joiner,
// raise_exception, strftime_now. Null when there is none.
JinjaFunction::Body FindJinjaGlobal(std::string_view name);

// strftime of a time in seconds since 1970, in UTC.
std::string FormatTime(int64_t time, const std::string& format);

}  // namespace hone
