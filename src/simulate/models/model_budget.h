#pragma once

#include <optional>
#include <string>

#include "base/mutex.h"
#include "simulate/models/language_model.h"

namespace hone {

// What the server may be paid for a completion that was not had: all of it, as often as it was
// asked for, where no answer came in time or one that cannot be read; nothing where it refused.
TokenUsage PerhapsUsed(const ToolResult& result, const TokenUsage& most);

// What a model may cost, and what it has cost. What a completion can cost at most is set aside
// before it is asked for, so that nothing but retries of what took too long can exceed a budget.
// Thread-safe.
class ModelBudget {
 public:
  // Prices and limits are those of the options.
  explicit ModelBudget(const LanguageModelOptions& options) : options_(options) {}

  // Why there is no budget for it, or nothing: then it is set aside until Charge.
  std::optional<std::string> SetAside(const TokenUsage& most);
  // It was asked for. `used` counts where it was not recorded: also of a failure, where the server
  // may have done the work.
  void Charge(CompletionStatus status, bool recorded, const TokenUsage& used,
              const TokenUsage& most);

  double Price(const TokenUsage& usage) const;
  ModelAccount account() const;

 private:
  const LanguageModelOptions options_;
  mutable Mutex mutex_;
  ModelAccount account_ HONE_GUARDED_BY(mutex_);
  double held_money_ HONE_GUARDED_BY(mutex_) = 0;
  int64_t held_tokens_ HONE_GUARDED_BY(mutex_) = 0;
};

}  // namespace hone
