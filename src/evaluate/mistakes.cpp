#include "evaluate/mistakes.h"

namespace hone {
namespace {

using Values = Mistakes::Values;

class SlippingAgent final : public Agent {
 public:
  SlippingAgent(std::unique_ptr<Agent> inner, std::shared_ptr<const Values> values, double rate,
                Rng rng)
      : inner_(std::move(inner)), values_(std::move(values)), rate_(rate), rng_(rng) {}

  AgentTurn Act(const Opening& opening, const std::vector<PlayedTurn>& turns) override {
    AgentTurn turn = inner_->Act(opening, turns);
    for (Call& call : turn.calls) {
      if (rng_.NextDouble() < rate_) Spoil(&call);
    }
    return turn;
  }
  bool left() const override { return inner_->left(); }

 private:
  void Spoil(Call* call) {
    if (!call->arguments.is_object() || call->arguments.AsObject().empty()) return;
    Json::Object& arguments = call->arguments.AsObject();
    auto& [name, value] = arguments[rng_.Below(arguments.size())];
    const auto found = values_->by_place.find({call->name, name});
    if (found == values_->by_place.end()) return;
    const std::vector<Json>& from = rng_.Below(2) == 0 ? found->second : values_->all;
    const Json& other = from[rng_.Below(from.size())];
    // What does not even fit the schema never gets to the tool.
    if (other.kind() == value.kind()) value = other;
  }

  const std::unique_ptr<Agent> inner_;
  const std::shared_ptr<const Values> values_;
  const double rate_;
  Rng rng_;
};

void AddGoldArguments(const Task& task, Values* values) {
  const Json* calls = task.reward.Find("calls");
  if (calls == nullptr || !calls->is_array()) return;
  for (const Json& call : calls->AsArray()) {
    const Json *name = call.Find("name"), *arguments = call.Find("arguments");
    if (name == nullptr || !name->is_string() || arguments == nullptr || !arguments->is_object()) {
      continue;
    }
    for (const auto& [argument, value] : arguments->AsObject()) {
      values->by_place[{name->AsString(), argument}].push_back(value);
      values->all.push_back(value);
    }
  }
}

}  // namespace

Mistakes::Mistakes(const LoadedEnvironment& loaded, const std::vector<Task>& tasks, double rate)
    : gold_agent_(loaded.gold_agent), teacher_(loaded.recording.teacher), rate_(rate) {
  auto values = std::make_shared<Values>();
  for (const Task& task : tasks) AddGoldArguments(task, values.get());
  values_ = std::move(values);
}

Result<std::unique_ptr<Agent>> Mistakes::AgentFor(const Task& task, Rng rng) const {
  if (teacher_) return teacher_(task, rate_, rng);
  return SlippingAgentFor(task, rng);
}

Result<std::unique_ptr<Agent>> Mistakes::SlippingAgentFor(const Task& task, Rng rng) const {
  HONE_ASSIGN_OR_RETURN(std::unique_ptr<Agent> gold, gold_agent_(task));
  return std::unique_ptr<Agent>(
      std::make_unique<SlippingAgent>(std::move(gold), values_, rate_, rng));
}

}  // namespace hone
