#include "learn/curriculum.h"

#include <algorithm>
#include <cmath>
#include <iterator>
#include <tuple>

#include <fmt/format.h>

#include "base/exact_math.h"
#include "base/json_fields.h"
#include "learn/shares.h"
#include "learn/running/running_moments.h"
#include "learn/task_stream.h"

namespace hone {
namespace {

using Order = CurriculumOptions::Order;

// What is remembered of a kind.
struct KindState {
  int64_t groups = 0;
  double success = 0;  // over the memory
  double before = 0;   // over four times the memory: what success was
  double entropy = 0;  // of rewards, over the memory
};

void Remember(double rate, double value, bool first, double* average) {
  *average = first ? value : *average + rate * (value - *average);
}

std::map<std::string, double> Normalised(std::map<std::string, double> weights) {
  double sum = 0;
  for (const auto& [kind, weight] : weights) sum += weight;
  for (auto& [kind, weight] : weights) weight /= sum;
  return weights;
}

class Weighted final : public Curriculum {
 public:
  Weighted(const CurriculumOptions& options, const TaskSource* source, const Rng& rng)
      : options_(options), rng_(rng.Split("draws")), tasks_(source, options.by, rng) {
    if (options_.order != Order::kSource) shares_ = tasks_.Shares();
  }

  // What the recipe says of kinds that the source does not have.
  Result<void> CheckKinds() const {
    for (const Phase& phase : options_.phases) {
      for (const auto& [kind, weight] : phase.mix) {
        if (shares_.count(kind) > 0) continue;
        std::string known;
        for (const auto& [name, share] : shares_) known += (known.empty() ? "" : ", ") + name;
        return Error(ErrorCode::kInvalidArgument,
                     fmt::format("phase \"{}\" of the curriculum wants tasks with {} \"{}\", but "
                                 "there are none; there are: {}",
                                 phase.name, options_.by, kind, known));
      }
    }
    return {};
  }

  std::vector<uint64_t> Sample(int64_t step, size_t count) override {
    std::vector<uint64_t> numbers;
    const std::map<std::string, double> weights = Weights();
    if (weights.empty()) {
      while (numbers.size() < count) numbers.push_back(tasks_.Next());
      return numbers;
    }
    // One draw for all: every kind gets its share, rounded up or down.
    Rng rng = rng_.Split(static_cast<uint64_t>(step)).Split(static_cast<uint64_t>(samples_++));
    const double offset = rng.NextDouble();
    double end = 0;
    size_t drawn = 0;
    std::vector<std::string> kinds;
    for (const auto& [kind, weight] : weights) {
      end += weight;
      for (; drawn < count &&
             (static_cast<double>(drawn) + offset) / static_cast<double>(count) < end;
           ++drawn) {
        kinds.push_back(kind);
      }
    }
    while (kinds.size() < count) kinds.push_back(weights.rbegin()->first);  // rounding
    for (size_t i = count; i > 1; --i) std::swap(kinds[i - 1], kinds[rng.Below(i)]);
    for (const std::string& kind : kinds) numbers.push_back(tasks_.Next(kind));
    return numbers;
  }

  void Observe(std::span<const GroupOutcome> groups) override {
    // Sorted by all that is remembered of a group: averages weigh what comes last more, and a task
    // may come twice in a step.
    std::vector<std::tuple<uint64_t, std::string, double, double>> ordered;
    const double alike = Alike(groups);
    for (const GroupOutcome& group : groups) {
      ordered.emplace_back(group.index, group.kind, group.success,
                           RewardEntropy(group.rewards, alike));
    }
    std::sort(ordered.begin(), ordered.end());
    double success = 0;
    for (const auto& [index, kind, succeeded, entropy] : ordered) {
      KindState& state = kinds_[kind];
      const bool first = state.groups++ == 0;
      const double rate = 1 / std::max(options_.memory, 1.0);
      Remember(rate, succeeded, first, &state.success);
      Remember(rate / 4, succeeded, first, &state.before);
      Remember(rate, entropy, first, &state.entropy);
      success += succeeded / static_cast<double>(groups.size());
    }
    samples_ = 0;
    if (options_.order == Order::kPhases && !groups.empty()) GoOn(success);
  }

  std::map<std::string, double> Weights() const override {
    switch (options_.order) {
      case Order::kSource: return {};
      case Order::kPhases: {
        const Phase& phase = options_.phases[static_cast<size_t>(phase_)];
        return phase.mix.empty() ? shares_ : Normalised(phase.mix);
      }
      case Order::kDynamic:
        return Towards([this](const KindState& state) {
          const double need = std::max(options_.target - state.success, 0.0);
          const bool stalls = state.success - state.before < options_.stall;
          return need * (stalls ? options_.boost : 1);
        });
      case Order::kEntropy: return Towards([](const KindState& state) { return state.entropy; });
    }
    return {};
  }

  std::string PhaseName() const override {
    return options_.order == Order::kPhases ? options_.phases[static_cast<size_t>(phase_)].name
                                            : "";
  }

  std::map<std::string, double> RewardWeights() const override {
    if (options_.order != Order::kPhases) return {};
    return options_.phases[static_cast<size_t>(phase_)].rewards;
  }

  Json ToJson() const override {
    Json::Object kinds;
    for (const auto& [kind, state] : kinds_) {
      kinds.emplace_back(kind, Json::Of({{"groups", state.groups},
                                         {"success", state.success},
                                         {"before", state.before},
                                         {"entropy", state.entropy}}));
    }
    Json state = Json::Of({{"tasks", tasks_.ToJson()},
                           {"samples", samples_},
                           {"phase", phase_},
                           {"phase_steps", phase_steps_},
                           {"phase_success", phase_success_},
                           {"kinds", Json(std::move(kinds))}});
    if (options_.order == Order::kEntropy) state.Set("rewards", rewards_.ToJson());
    return state;
  }

  Result<void> Restore(const Json& state) override {
    JsonErrors errors;
    Json tasks, kinds;
    std::optional<Json> rewards;
    int64_t samples = 0, phase = 0, phase_steps = 0;
    double phase_success = 0;
    std::map<std::string, KindState> read;
    {
      JsonFields fields(state, "curriculum", &errors);
      fields.Required("tasks", &tasks);
      fields.Required("samples", &samples);
      fields.Required("phase", &phase);
      fields.Required("phase_steps", &phase_steps);
      fields.Required("phase_success", &phase_success);
      fields.Required("kinds", &kinds);
      fields.Optional("rewards", &rewards);
    }
    if (!kinds.is_object()) errors.Add("curriculum.kinds", "must be an object");
    HONE_RETURN_IF_ERROR(errors.Check());
    for (const auto& [kind, member] : kinds.AsObject()) {
      JsonFields fields(member, "curriculum.kinds." + kind, &errors);
      fields.Required("groups", &read[kind].groups);
      fields.Required("success", &read[kind].success);
      fields.Required("before", &read[kind].before);
      fields.Required("entropy", &read[kind].entropy);
    }
    const auto phases = static_cast<int64_t>(std::max<size_t>(options_.phases.size(), 1));
    if (phase < 0 || phase >= phases) {
      errors.Add("curriculum.phase", "the recipe has no such phase; it is another recipe's");
    }
    HONE_RETURN_IF_ERROR(errors.Check());
    if (rewards) HONE_RETURN_IF_ERROR(rewards_.Restore(*rewards, "curriculum.rewards"));
    HONE_RETURN_IF_ERROR(tasks_.Restore(tasks));
    samples_ = samples;
    phase_ = phase;
    phase_steps_ = phase_steps;
    phase_success_ = phase_success;
    kinds_ = std::move(read);
    return {};
  }

 private:
  // The floor as the source has the kinds, the rest by what `merit` says. A kind of which nothing
  // is known yet is as good as the best.
  template <typename Merit>
  std::map<std::string, double> Towards(const Merit& merit) const {
    double best = 0, sum = 0;
    for (const auto& [kind, state] : kinds_) best = std::max(best, merit(state));
    std::map<std::string, double> weights;
    for (const auto& [kind, share] : shares_) {
      const auto found = kinds_.find(kind);
      weights[kind] = share * (found == kinds_.end() ? best : merit(found->second));
      sum += weights[kind];
    }
    if (sum <= 0) return shares_;
    for (auto& [kind, weight] : weights) {
      weight = options_.floor * shares_.at(kind) + (1 - options_.floor) * weight / sum;
    }
    return weights;
  }

  // How near rewards must be to be alike, once these are among all that were seen.
  double Alike(std::span<const GroupOutcome> groups) {
    constexpr double kRounding = 1e-9;
    if (options_.order != Order::kEntropy) return kRounding;
    std::vector<double> rewards;
    for (const GroupOutcome& group : groups) {
      std::copy_if(group.rewards.begin(), group.rewards.end(), std::back_inserter(rewards),
                   [](double reward) { return std::isfinite(reward); });
    }
    std::sort(rewards.begin(), rewards.end());
    rewards_.Add(rewards);
    return std::max(rewards_.Spread(), kRounding);
  }

  void GoOn(double success) {
    Remember(0.2, success, phase_steps_ == 0, &phase_success_);
    ++phase_steps_;
    const Phase& phase = options_.phases[static_cast<size_t>(phase_)];
    if (phase_ + 1 == static_cast<int64_t>(options_.phases.size())) return;
    if (phase_steps_ >= phase.steps || (phase.success > 0 && phase_success_ >= phase.success)) {
      ++phase_;
      phase_steps_ = 0;
      phase_success_ = 0;
    }
  }

  CurriculumOptions options_;
  Rng rng_;
  TaskStream tasks_;
  std::map<std::string, double> shares_;  // of the source's kinds
  std::map<std::string, KindState> kinds_;
  int64_t samples_ = 0;  // since the last observation
  int64_t phase_ = 0, phase_steps_ = 0;
  double phase_success_ = 0;
  RunningMoments rewards_;  // of all groups; kEntropy
};

Phase ReadPhase(RecipeTable table) {
  Phase phase;
  std::vector<std::string> mix, rewards;
  table.Read("name", &phase.name, "for logs");
  table.Read("steps", &phase.steps, "at most; the last phase has no end", AtLeast(1));
  table.Read("success", &phase.success, "above 0: over as soon as that is reached", Between(0, 1));
  table.Read("mix", &mix, "kinds and their weights: [\"A=0.5\", \"B=0.5\"]");
  for (const std::string& share : mix) {
    if (!ReadShare(share, false, &phase.mix)) {
      table.Problem("mix", fmt::format("\"{}\" must be kind=weight, with a weight above 0, each "
                                       "kind once",
                                       share));
    }
  }
  table.Read("rewards", &rewards, "terms and what their weights are multiplied by: [\"call=0.5\"]");
  for (const std::string& weight : rewards) {
    if (!ReadShare(weight, true, &phase.rewards)) {
      table.Problem("rewards", fmt::format("\"{}\" must be term=weight, with a weight from 0 on, "
                                           "each term once",
                                           weight));
    }
  }
  return phase;
}

}  // namespace

std::vector<Phase> StandardPhases() {
  return {{"when", 40, 0.8, {{"A", 0.5}, {"B", 0.4}, {"C", 0.05}, {"D", 0.05}}},
          {"which", 40, 0.8, {{"A", 0.2}, {"B", 0.6}, {"C", 0.15}, {"D", 0.05}}},
          {"how", 40, 0.8, {{"A", 0.15}, {"B", 0.2}, {"C", 0.5}, {"D", 0.15}}},
          {"pipelines", 60, 0.8, {{"A", 0.15}, {"B", 0.15}, {"C", 0.2}, {"D", 0.5}}},
          {"open", 1, 0, {}}};
}

CurriculumOptions ReadCurriculum(RecipeTable table) {
  CurriculumOptions options;
  std::string order = "source";
  table.ReadChoice("order", &order, {"source", "phases", "dynamic", "entropy"},
                   "which tasks come when");
  options.order = order == "source"    ? Order::kSource
                  : order == "phases"  ? Order::kPhases
                  : order == "dynamic" ? Order::kDynamic
                                       : Order::kEntropy;
  table.Read("by", &options.by, "member of a task's metadata that says its kind; or index");
  table.Read("floor", &options.floor, "share of tasks that stays as the source has them",
             Between(0, 1));
  table.Read("memory", &options.memory, "groups that averages remember", AtLeast(1));
  table.Read("target", &options.target, "dynamic: success at which a kind is mastered",
             Between(0, 1));
  table.Read("stall", &options.stall, "dynamic: success that gains less stalls", Between(0, 1));
  table.Read("boost", &options.boost, "dynamic: how much more what stalls is practised",
             AtLeast(1));
  for (const RecipeTable& phase : table.Tables("phase")) {
    options.phases.push_back(ReadPhase(phase));
  }
  if (!options.phases.empty() && options.order != Order::kPhases) {
    table.Problem("phase", "phases are only for order = \"phases\"");
  }
  return options;
}

double RewardEntropy(std::span<const double> rewards, double alike) {
  std::vector<double> sorted;
  std::copy_if(rewards.begin(), rewards.end(), std::back_inserter(sorted),
               [](double reward) { return std::isfinite(reward); });
  std::sort(sorted.begin(), sorted.end());
  double entropy = 0;
  for (size_t begin = 0, end = 0; begin < sorted.size(); begin = end) {
    while (end < sorted.size() && sorted[end] - sorted[begin] < alike) ++end;
    const double share = static_cast<double>(end - begin) / static_cast<double>(sorted.size());
    entropy -= share * NaturalLog(share);
  }
  return entropy;
}

Result<std::unique_ptr<Curriculum>> NewCurriculum(CurriculumOptions options,
                                                  const TaskSource* source, const Rng& rng) {
  if (source->count(Split::kTrain) == 0) {
    return Error(ErrorCode::kInvalidArgument, "there are no training tasks");
  }
  if (options.order == Order::kPhases && options.phases.empty()) options.phases = StandardPhases();
  auto curriculum = std::make_unique<Weighted>(options, source, rng.Split("curriculum"));
  HONE_RETURN_IF_ERROR(curriculum->CheckKinds());
  return std::unique_ptr<Curriculum>(std::move(curriculum));
}

}  // namespace hone
