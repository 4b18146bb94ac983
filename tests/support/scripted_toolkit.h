#pragma once

#include <atomic>
#include <functional>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "tools/toolbox.h"
#include "tools/toolkit.h"

namespace hone {

// A toolkit whose tools are functions of the test, without sessions.
class ScriptedToolkit : public Toolkit {
 public:
  using Function = std::function<ToolReply(const Json& arguments, const CallLimits& limits)>;

  ScriptedToolkit& Add(ToolSpec spec, Function function);
  // A tool of this name and effect that takes any arguments.
  ScriptedToolkit& Add(std::string name, Effect effect, Function function);

  const std::vector<ToolSpec>& tools() const override { return specs_; }
  Sharing sharing() const override { return Sharing::kNothing; }
  Result<std::unique_ptr<Session>> Open(uint64_t) override { return std::unique_ptr<Session>(); }
  ToolReply Call(std::string_view tool, const Json& arguments, Session*,
                 const CallLimits& limits) override;

 private:
  std::vector<ToolSpec> specs_;
  std::vector<Function> functions_;
};

// A session that is a sum: `add` {"n"} adds to it and answers the sum; a sum of 13 is refused and
// "lost": true loses it. Its effects stay in the session.
class SumToolkit final : public Toolkit {
 public:
  explicit SumToolkit(Sharing sharing) : sharing_(sharing) {}

  const std::vector<ToolSpec>& tools() const override { return specs_; }
  Sharing sharing() const override { return sharing_; }
  Result<std::unique_ptr<Session>> Open(uint64_t seed) override;
  ToolReply Call(std::string_view tool, const Json& arguments, Session* session,
                 const CallLimits& limits) override;

  int opened() const { return opened_; }
  int called() const { return called_; }

 private:
  const Sharing sharing_;
  const std::vector<ToolSpec> specs_ = {{.name = "add",
                                         .description = "Adds to a sum",
                                         .parameters = Json::Of({{"type", "object"}}),
                                         .effect = Effect::kWrites,
                                         .resource = std::string(kSessionResource)}};
  std::atomic<int> opened_ = 0;
  std::atomic<int> called_ = 0;
};

// A toolbox of these toolkits, all with the same limits.
std::shared_ptr<const Toolbox> ToolboxOf(std::vector<std::shared_ptr<Toolkit>> toolkits,
                                         const ToolLimits& limits = {});

}  // namespace hone
