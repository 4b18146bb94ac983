#include "rewards/compose.h"

#include <algorithm>

#include <fmt/format.h>

#include "base/json_fields.h"
#include "rewards/command_rewarder.h"
#include "rewards/cost.h"
#include "rewards/flipped.h"

namespace hone {
namespace {

// The sum of the values of a term on one leaf; nothing when none has one.
std::optional<double> SumOf(const std::vector<std::vector<Score>>& parts, size_t leaf,
                            const std::string& name) {
  std::optional<double> sum;
  for (const std::vector<Score>& scores : parts) {
    for (const RewardTerm& term : scores[leaf].terms) {
      if (term.name == name && term.value) sum = sum.value_or(0) + *term.value;
    }
  }
  return sum;
}

class Sum final : public Rewarder {
 public:
  explicit Sum(std::vector<RewardPart> parts) : parts_(std::move(parts)) {}

  Result<std::vector<Score>> ScoreTree(const Tree& tree, const RewardContext& context) override {
    std::vector<std::vector<Score>> given;
    for (const RewardPart& part : parts_) {
      HONE_ASSIGN_OR_RETURN(std::vector<Score> scores, part.rewarder->ScoreTree(tree, context));
      CHECK(scores.size() == tree.leaves.size(), "a rewarder gives one score per leaf");
      given.push_back(std::move(scores));
    }
    std::vector<Score> all;
    for (size_t leaf = 0; leaf < tree.leaves.size(); ++leaf) {
      Score score{static_cast<int32_t>(leaf), {}};
      for (size_t p = 0; p < parts_.size(); ++p) {
        Append(parts_[p], given, p, leaf, context.step, &score);
      }
      all.push_back(std::move(score));
    }
    return all;
  }

 private:
  static void Append(const RewardPart& part, const std::vector<std::vector<Score>>& given,
                     size_t index, size_t leaf, int64_t step, Score* score) {
    std::optional<double> gate;
    if (part.gate) gate = SumOf(given, leaf, part.gate->term);
    const double weight = part.weight.At(step);
    for (RewardTerm term : given[index][leaf].terms) {
      if (!part.terms.empty() &&
          std::find(part.terms.begin(), part.terms.end(), term.name) == part.terms.end()) {
        continue;
      }
      if (part.gate && !gate) term.value.reset();
      if (part.gate && gate && *gate < part.gate->at_least && term.value) term.value = 0;
      term.weight *= weight;
      score->terms.push_back(std::move(term));
    }
  }

  std::vector<RewardPart> parts_;
};

Result<RewardPart> PartFromJson(const Json& json, const std::string& path,
                                const PresetOptions& options);

Result<std::unique_ptr<Rewarder>> SumFromJson(const Json& list, const std::string& path,
                                              const PresetOptions& options) {
  if (!list.is_array() || list.AsArray().empty()) {
    return Error(ErrorCode::kInvalidArgument, path + ": wants a list of rewards");
  }
  std::vector<RewardPart> parts;
  for (size_t i = 0; i < list.AsArray().size(); ++i) {
    HONE_ASSIGN_OR_RETURN(RewardPart part,
                          PartFromJson(list.AsArray()[i], fmt::format("{}[{}]", path, i), options));
    parts.push_back(std::move(part));
  }
  return NewSum(std::move(parts));
}

struct PartFields {
  const Json *preset, *command, *costs, *sum, *weight;
  std::optional<int64_t> deadline_ms;
  std::optional<std::string> term;
};

Result<std::unique_ptr<Rewarder>> CommandFromJson(const PartFields& fields) {
  CommandRewarderOptions command;
  JsonErrors errors;
  ReadJson(*fields.command, "command", &errors, &command.command);
  HONE_RETURN_IF_ERROR(errors.Check());
  if (fields.term) command.term = *fields.term;
  if (fields.deadline_ms) {
    if (*fields.deadline_ms <= 0 || *fields.deadline_ms > 86400000) {
      return Error(ErrorCode::kInvalidArgument, "deadline_ms: must be from 1 to 86400000");
    }
    command.deadline = std::chrono::milliseconds(*fields.deadline_ms);
  }
  return NewCommandRewarder(std::move(command));
}

Result<std::unique_ptr<Rewarder>> SourceFromJson(const PartFields& fields, const std::string& path,
                                                 const PresetOptions& options) {
  const int sources = (fields.preset != nullptr) + (fields.command != nullptr) +
                      (fields.costs != nullptr) + (fields.sum != nullptr);
  if (sources != 1) {
    return Error(ErrorCode::kInvalidArgument,
                 "needs exactly one of \"preset\", \"command\", \"costs\", \"sum\"");
  }
  if (fields.command != nullptr) return CommandFromJson(fields);
  if (fields.sum != nullptr) return SumFromJson(*fields.sum, path + ".sum", options);
  if (fields.costs != nullptr) {
    HONE_ASSIGN_OR_RETURN(const CostOptions costs, CostOptionsFromJson(*fields.costs));
    return NewCosts(costs);
  }
  if (!fields.preset->is_string()) {
    return Error(ErrorCode::kInvalidArgument, "\"preset\" must be a name");
  }
  return NewPreset(fields.preset->AsString(), options);
}

Result<RewardPart> PartFromJson(const Json& json, const std::string& path,
                                const PresetOptions& options) {
  RewardPart part;
  if (json.is_string()) {
    HONE_ASSIGN_OR_RETURN(part.rewarder, NewPreset(json.AsString(), options));
    return part;
  }
  JsonErrors errors;
  PartFields found{};
  std::optional<FlipOptions> flip;
  {
    JsonFields fields(json, path, &errors);
    found.preset = fields.Take("preset");
    found.command = fields.Take("command");
    found.costs = fields.Take("costs");
    found.sum = fields.Take("sum");
    found.weight = fields.Take("weight");
    fields.Optional("deadline_ms", &found.deadline_ms);
    fields.Optional("term", &found.term);
    fields.Optional("terms", &part.terms);
    if (const Json* turned = fields.Take("flip")) {
      JsonFields inside(*turned, fields.PathOf("flip"), &errors);
      flip.emplace();
      inside.Required("share", &flip->share);
      inside.Optional("terms", &flip->terms);
      inside.Optional("seed", &flip->seed);
    }
    if (const Json* gate = fields.Take("gate")) {
      JsonFields inside(*gate, fields.PathOf("gate"), &errors);
      part.gate.emplace();
      inside.Required("term", &part.gate->term);
      inside.Required("at_least", &part.gate->at_least);
    }
  }
  HONE_RETURN_IF_ERROR(errors.Check());
  if (found.weight != nullptr) {
    Result<Schedule> weight = ScheduleFromJson(*found.weight);
    if (!weight.ok()) return weight.error().In(path + ".weight");
    part.weight = *weight;
  }
  Result<std::unique_ptr<Rewarder>> rewarder = SourceFromJson(found, path, options);
  if (!rewarder.ok()) return rewarder.error().In(path);
  part.rewarder = std::move(rewarder).value();
  if (flip && !(flip->share >= 0 && flip->share <= 1)) {
    return Error(ErrorCode::kInvalidArgument, path + ".flip.share: must be from 0 to 1");
  }
  if (flip) part.rewarder = NewFlippedRewarder(std::move(part.rewarder), *std::move(flip));
  return part;
}

}  // namespace

std::unique_ptr<Rewarder> NewSum(std::vector<RewardPart> parts) {
  return std::make_unique<Sum>(std::move(parts));
}

Result<std::unique_ptr<Rewarder>> RewarderFromJson(const Json& json, const PresetOptions& options) {
  std::vector<RewardPart> parts;
  HONE_ASSIGN_OR_RETURN(RewardPart part, PartFromJson(json, "reward", options));
  parts.push_back(std::move(part));
  return NewSum(std::move(parts));
}

}  // namespace hone
