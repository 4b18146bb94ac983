#pragma once

#include <mutex>
#include <optional>
#include <string>

#include "simulate/language_model.h"

namespace hone {

// What a model may cost, and what it has cost. A budget is never exceeded, because what a
// completion can cost at most is set aside before it is asked for. Thread-safe.
class ModelBudget {
 public:
  // Prices and limits are those of the options.
  explicit ModelBudget(const LanguageModelOptions& options) : options_(options) {}

  // Why there is no budget for it, or nothing: then it is set aside until Charge.
  std::optional<std::string> SetAside(const TokenUsage& most);
  // It was asked for. `used` counts when it was had (kOk) and was not recorded.
  void Charge(CompletionStatus status, bool recorded, const TokenUsage& used,
              const TokenUsage& most);

  double Price(const TokenUsage& usage) const;
  ModelAccount account() const;

 private:
  const LanguageModelOptions options_;
  mutable std::mutex mutex_;
  ModelAccount account_;
  double held_money_ = 0;
  int64_t held_tokens_ = 0;
};

}  // namespace hone
