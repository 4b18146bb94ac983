#include "simulate/models/model_budget.h"

#include <algorithm>

#include <fmt/format.h>

namespace hone {

double ModelBudget::Price(const TokenUsage& usage) const {
  return (static_cast<double>(usage.prompt) * options_.prompt_price +
          static_cast<double>(usage.completion) * options_.completion_price) /
         1e6;
}

std::optional<std::string> ModelBudget::SetAside(const TokenUsage& most) {
  MutexLock lock(mutex_);
  const double money = account_.money + held_money_ + Price(most);
  const int64_t tokens = account_.usage.prompt + account_.usage.completion + held_tokens_ +
                         most.prompt + most.completion;
  std::optional<std::string> spent;
  if (options_.max_money > 0 && money > options_.max_money) {
    spent = fmt::format("{:.4f} of {:.4f} is spent or set aside, and this could cost {:.4f}",
                        account_.money + held_money_, options_.max_money, Price(most));
  } else if (options_.max_tokens > 0 && tokens > options_.max_tokens) {
    spent = fmt::format("with this completion it could be {} tokens; at most {} are allowed",
                        tokens, options_.max_tokens);
  }
  if (spent) {
    ++account_.refused;
  } else {
    held_money_ += Price(most);
    held_tokens_ += most.prompt + most.completion;
  }
  return spent;
}

TokenUsage PerhapsUsed(const ToolResult& result, const TokenUsage& most) {
  if (result.status != CallStatus::kTimeout && result.status != CallStatus::kOk) return {};
  const int64_t times = std::max<int64_t>(result.attempts, 1);
  return {times * most.prompt, times * most.completion};
}

void ModelBudget::Charge(CompletionStatus status, bool recorded, const TokenUsage& used,
                         const TokenUsage& most) {
  MutexLock lock(mutex_);
  held_money_ -= Price(most);
  held_tokens_ -= most.prompt + most.completion;
  const bool had = status == CompletionStatus::kOk;
  if (!had) {
    ++account_.failures;
  } else if (recorded) {
    ++account_.recorded;
  } else {
    ++account_.completions;
  }
  if (!recorded) {
    account_.usage.prompt += used.prompt;
    account_.usage.completion += used.completion;
    account_.money += Price(used);
  }
}

ModelAccount ModelBudget::account() const {
  MutexLock lock(mutex_);
  return account_;
}

}  // namespace hone
