#pragma once

#include <chrono>
#include <map>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "tools/tool_spec.h"
#include "tools/toolkit.h"

namespace hone {

// The resource of a tool whose effects stay inside its session. Such a session can be built again
// from its history, so that its calls may be repeated whatever they do.
inline constexpr std::string_view kSessionResource = "session";

// Whether a call that may have been carried out may be carried out again: it changes nothing, or
// only a session that can be built again.
bool MayRepeat(const ToolSpec& spec, Sharing sharing);

// How patiently and how hard a toolkit is used.
struct ToolLimits {
  std::chrono::milliseconds deadline{30000};  // of a call, everything included
  std::chrono::milliseconds attempt{15000};   // of one attempt at it
  int64_t retries = 2;                        // attempts after the first, at a tool's faults only
  std::chrono::milliseconds backoff{200};     // before the first retry; doubles with each
  int64_t concurrent = 8;                     // calls carried out at a time
  double per_second = 0;                      // calls begun per second; 0: no limit
  int64_t max_result_bytes = 16 << 10;        // what is longer is cut (tools/cut.h)
  int64_t max_argument_bytes = 1 << 20;
  bool assert_format = false;  // of all its tools, as ToolSpec says of one
};

// All tools of a run, by name. Immutable.
class Toolbox {
 public:
  struct Kit {
    std::shared_ptr<Toolkit> toolkit;
    ToolLimits limits;
  };
  struct Tool {
    ToolSpec spec;
    ArgumentChecker checker;
    size_t kit;               // index into kits()
    bool may_repeat = false;  // MayRepeat
  };

  // Names must differ and schemas must be such as Hone can check.
  static Result<Toolbox> Of(std::vector<Kit> kits);

  // All toolkits of several, each once. Of tools with the same name it has the first: calls go by
  // the toolbox of their sessions, which is one of the several.
  static Toolbox Joined(const std::vector<std::shared_ptr<const Toolbox>>& boxes);

  // The same with some of the tools: those of these names, or whose name begins as one of them does
  // before its final "*".
  Toolbox Only(const std::vector<std::string>& names) const;

  const Tool* Find(std::string_view name) const;
  // What to tell an agent that called a tool which is not there.
  std::string UnknownTool(std::string_view name) const;
  // In the order of the kits.
  const std::vector<Tool>& tools() const { return tools_; }
  const std::vector<Kit>& kits() const { return kits_; }
  // Names that more than one of the joined ones has, for different toolkits.
  const std::vector<std::string>& ambiguous() const { return ambiguous_; }

 private:
  std::vector<Kit> kits_;
  std::vector<Tool> tools_;
  std::map<std::string, size_t, std::less<>> by_name_;
  std::vector<std::string> ambiguous_;
};

}  // namespace hone
