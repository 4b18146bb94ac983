#include "envs/rules.h"

#include <algorithm>

#include <fmt/format.h>

namespace hone {
namespace {

struct Used {
  int64_t turns = 0;
  int64_t calls = 0;
  int64_t tokens = 0;
  int64_t context_tokens = 0;
  double money = 0;
};

constexpr std::string_view kVoidHint =
    "Your turn held neither a call nor an answer. Make a call or give an answer.";

// How scarce something is that has this share left.
std::string_view LevelOf(double left) {
  if (left >= 0.7) return "HIGH";
  if (left >= 0.3) return "MEDIUM";
  return left >= 0.1 ? "LOW" : "CRITICAL";
}

template <typename T>
void Describe(std::string_view what, T used, const std::optional<T>& limit, std::string* text) {
  if (!limit) return;
  const T left = std::max(T{0}, *limit - used);
  const double share = *limit > 0 ? static_cast<double>(left) / static_cast<double>(*limit) : 0;
  if (!text->empty()) *text += "; ";
  *text += fmt::format("{} {} of {} left ({})", what, left, *limit, LevelOf(share));
}

std::string BudgetNotice(const Budgets& budgets, const Used& used) {
  std::string text;
  Describe("turns", used.turns, budgets.turns, &text);
  Describe("calls", used.calls, budgets.calls, &text);
  Describe("tokens", used.tokens, budgets.tokens, &text);
  Describe("context", used.context_tokens, budgets.context_tokens, &text);
  Describe("money", used.money, budgets.money, &text);
  return text.empty() ? text : "Budget: " + text + ".";
}

// Which limit has been reached, if any.
std::optional<Ending> ReachedLimit(const Budgets& budgets, const Used& used) {
  if (budgets.calls && used.calls > *budgets.calls) return Ending::kBudget;
  if (budgets.money && used.money > *budgets.money) return Ending::kBudget;
  if (budgets.tokens && used.tokens >= *budgets.tokens) return Ending::kTokenLimit;
  if (budgets.context_tokens && used.context_tokens >= *budgets.context_tokens) {
    return Ending::kTokenLimit;
  }
  if (budgets.turns && used.turns >= *budgets.turns) return Ending::kTurnLimit;
  return std::nullopt;
}

// Somebody who is neither agent nor tool.
bool BreaksEpisode(Blame blame) {
  return blame != Blame::kNone && blame != Blame::kAgent && blame != Blame::kTool;
}

EnvironmentTurn Ended(Ending ending, Blame blame) {
  EnvironmentTurn turn;
  turn.ending = ending;
  turn.blame = blame;
  return turn;
}

class RuledEpisode final : public Episode {
 public:
  RuledEpisode(std::unique_ptr<Episode> inner, std::shared_ptr<const Toolbox> tools,
               const Rules& rules)
      : inner_(std::move(inner)), tools_(std::move(tools)), rules_(rules) {}

  const Opening& opening() const override { return inner_->opening(); }

  EnvironmentTurn Step(const AgentTurn& turn) override {
    Count(turn);
    if (const std::optional<Blame> blame = Broken(turn.results)) {
      return Ended(Ending::kFailed, *blame);
    }
    EnvironmentTurn reply = Judge(turn);
    return Settle(std::move(reply));
  }

  EnvironmentTurn Resume(const std::vector<ToolResult>& results) override {
    if (const std::optional<Blame> blame = Broken(results)) return Ended(Ending::kFailed, *blame);
    return Settle(inner_->Resume(results));
  }

  Json final_state() const override {
    Json state = inner_->final_state();
    state.Set("used", Json::Of({{"turns", used_.turns},
                                {"calls", used_.calls},
                                {"tokens", used_.tokens},
                                {"money", used_.money}}));
    return state;
  }

  Result<std::unique_ptr<Episode>> Clone() const override {
    HONE_ASSIGN_OR_RETURN(std::unique_ptr<Episode> inner, inner_->Clone());
    auto copy = std::make_unique<RuledEpisode>(std::move(inner), tools_, rules_);
    copy->used_ = used_;
    return std::unique_ptr<Episode>(std::move(copy));
  }

 private:
  void Count(const AgentTurn& turn) {
    ++used_.turns;
    used_.calls += static_cast<int64_t>(turn.calls.size());
    used_.tokens += turn.tokens;
    used_.context_tokens = std::max(used_.context_tokens, turn.context_tokens);
    used_.money += rules_.budgets.token_price * static_cast<double>(turn.tokens);
    for (const Call& call : turn.calls) {
      if (const Toolbox::Tool* tool = tools_->Find(call.name)) used_.money += tool->spec.price;
    }
  }

  static std::optional<Blame> Broken(const std::vector<ToolResult>& results) {
    for (const ToolResult& result : results) {
      if (BreaksEpisode(result.blame)) return result.blame;
    }
    return std::nullopt;
  }

  EnvironmentTurn Judge(const AgentTurn& turn) {
    if (turn.faults.empty()) {
      if (!turn.calls.empty() || turn.answer) return inner_->Step(turn);
      if (rules_.on_void == OnMistake::kStop) return Ended(Ending::kVoid, Blame::kAgent);
      EnvironmentTurn reply;
      reply.notices.emplace_back(kVoidHint);
      return reply;
    }
    if (rules_.on_fault == OnMistake::kStop) return Ended(Ending::kInvalid, Blame::kAgent);
    EnvironmentTurn reply;
    if (!turn.calls.empty()) {
      AgentTurn readable = turn;
      readable.answer.reset();
      readable.faults.clear();
      reply = inner_->Step(readable);
    }
    for (const Fault& fault : turn.faults) reply.notices.push_back(FaultNotice(fault));
    return reply;
  }

  // Budgets are looked at when the environment has had its say: an answer in the last turn counts.
  EnvironmentTurn Settle(EnvironmentTurn reply) const {
    if (reply.ending || !reply.calls.empty()) return reply;
    if (const std::optional<Ending> limit = ReachedLimit(rules_.budgets, used_)) {
      reply.ending = limit;
      return reply;
    }
    if (rules_.budgets.show) {
      std::string notice = BudgetNotice(rules_.budgets, used_);
      if (!notice.empty()) reply.notices.push_back(std::move(notice));
    }
    return reply;
  }

  std::unique_ptr<Episode> inner_;
  std::shared_ptr<const Toolbox> tools_;
  const Rules rules_;
  Used used_;
};

class RuledEnvironment final : public Environment {
 public:
  RuledEnvironment(std::shared_ptr<const Environment> inner, const Rules& rules)
      : inner_(std::move(inner)), rules_(rules) {}

  const EnvironmentTraits& traits() const override { return inner_->traits(); }
  const std::shared_ptr<const Toolbox>& tools() const override { return inner_->tools(); }
  Result<std::unique_ptr<Episode>> Open(const Task& task, uint64_t seed) const override {
    HONE_ASSIGN_OR_RETURN(std::unique_ptr<Episode> episode, inner_->Open(task, seed));
    return std::unique_ptr<Episode>(
        std::make_unique<RuledEpisode>(std::move(episode), tools(), rules_));
  }

 private:
  const std::shared_ptr<const Environment> inner_;
  const Rules rules_;
};

void ReadLimit(RecipeTable* table, std::string_view key, std::string_view comment,
               std::optional<int64_t>* limit) {
  int64_t value = limit->value_or(0);
  table->Read(key, &value, comment, AtLeast(0));
  *limit = value == 0 ? std::nullopt : std::optional(value);
}

void ReadMistake(RecipeTable* table, std::string_view key, std::string_view comment,
                 OnMistake* value) {
  std::string name = *value == OnMistake::kStop ? "stop" : "hint_and_continue";
  table->ReadChoice(key, &name, {"hint_and_continue", "stop"}, comment);
  *value = name == "stop" ? OnMistake::kStop : OnMistake::kHintAndContinue;
}

}  // namespace

Rules ReadRules(RecipeTable table, const Rules& defaults) {
  Rules rules = defaults;
  Budgets& budgets = rules.budgets;
  ReadLimit(&table, "turns", "of the agent; 0: no limit", &budgets.turns);
  ReadLimit(&table, "calls", "of the agent; 0: no limit", &budgets.calls);
  ReadLimit(&table, "tokens", "that the agent writes; 0: no limit", &budgets.tokens);
  ReadLimit(&table, "context_tokens", "that the agent has before it; 0: no limit",
            &budgets.context_tokens);
  double money = budgets.money.value_or(0);
  table.Read("money", &money, "prices of calls and tokens; 0: no limit", AtLeast(0));
  budgets.money = money == 0 ? std::nullopt : std::optional(money);
  table.Read("token_price", &budgets.token_price, "of a token that the agent writes", AtLeast(0));
  table.Read("show_budget", &budgets.show, "tell the agent after each turn what is left");
  ReadMistake(&table, "on_fault", "a turn that cannot be read", &rules.on_fault);
  ReadMistake(&table, "on_void", "a turn that says nothing", &rules.on_void);
  return rules;
}

std::string FaultNotice(const Fault& fault) {
  return fmt::format("Your turn could not be read ({}): {}", FaultKindName(fault.kind),
                     fault.message);
}

std::shared_ptr<const Environment> WithRules(std::shared_ptr<const Environment> inner,
                                             Rules rules) {
  return std::make_shared<RuledEnvironment>(std::move(inner), rules);
}

}  // namespace hone
