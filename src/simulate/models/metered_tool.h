#pragma once

#include <memory>
#include <optional>
#include <string>

#include "simulate/models/language_model.h"
#include "simulate/models/model_budget.h"
#include "tools/caller.h"

namespace hone {

// A tool that language models stand behind: every call goes through an executor (limits, retries,
// deadlines, the journal) and is paid from a budget that is never exceeded, because what a call can
// cost at most is set aside before it is made. Thread-safe; Ask blocks.
class MeteredTool {
 public:
  // The toolkit must have `tool` (CHECK). Its calls carry `run` in the journal.
  static Result<std::unique_ptr<MeteredTool>> New(std::shared_ptr<Toolkit> toolkit,
                                                  std::string_view tool, std::string_view run,
                                                  LanguageModelOptions options,
                                                  std::unique_ptr<Timeline> timeline);

  struct Asked {
    std::optional<std::string> refused;  // the budget is spent: nothing was asked
    ToolResult result;
    bool recorded = false;  // the result came out of the journal and cost nothing
    TokenUsage set_aside;
  };
  // `key` names the request: what the journal has under it is not asked again, but for failures.
  // What is asked must then be settled with Charge.
  Asked Ask(const std::string& key, const Json& arguments, const TokenUsage& most);
  // What a call that was not refused came to; `used` counts where the status is kOk.
  void Charge(const Asked& asked, CompletionStatus status, const TokenUsage& used);

  const std::string& name() const { return options_.name; }
  ModelAccount account() const { return budget_.account(); }
  double Price(const TokenUsage& usage) const { return budget_.Price(usage); }

 private:
  MeteredTool(std::string_view tool, std::string_view run, LanguageModelOptions options,
              std::shared_ptr<const Toolbox> toolbox, std::unique_ptr<Timeline> timeline);
  CallIdentity IdentityOf(const std::string& key, int32_t turn) const;
  bool IsRecorded(const std::string& key) const;

  const std::string tool_, run_;
  const LanguageModelOptions options_;
  ModelBudget budget_;
  const std::shared_ptr<Sessions> sessions_;
  const std::unique_ptr<Timeline> timeline_;
  std::unique_ptr<Executor> executor_;
  std::unique_ptr<Caller> caller_;
};

}  // namespace hone
