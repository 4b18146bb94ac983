#include "tools/modes.h"

#include <array>

#include <fmt/format.h>

#include "tools/live.h"

namespace hone {
namespace {

constexpr std::array<std::string_view, 5> kNames = {"live", "record", "replay",
                                                    "replay-else-simulate", "simulate"};

bool Simulates(ToolMode mode) {
  return mode == ToolMode::kReplayElseSimulate || mode == ToolMode::kSimulate;
}

}  // namespace

std::string_view ToolModeName(ToolMode mode) { return kNames[static_cast<size_t>(mode)]; }

std::vector<std::string> ToolModeNames() { return {kNames.begin(), kNames.end()}; }

std::optional<ToolMode> ToolModeFromName(std::string_view name) {
  for (size_t i = 0; i < kNames.size(); ++i) {
    if (kNames[i] == name) return static_cast<ToolMode>(i);
  }
  return std::nullopt;
}

Result<ExecutorOptions> OptionsFor(const AnswerPlan& plan, const Toolbox& toolbox,
                                   Timeline* timeline) {
  const ToolMode mode = plan.mode;
  if (mode != ToolMode::kLive && plan.journal == nullptr) {
    return Error(ErrorCode::kInvalidArgument,
                 fmt::format("mode {} needs a journal; name its file", ToolModeName(mode)));
  }
  if (Simulates(mode) && plan.simulator == nullptr) {
    return Error(ErrorCode::kInvalidArgument,
                 fmt::format("mode {} needs a simulator, and there is none; use live, record or "
                             "replay",
                             ToolModeName(mode)));
  }
  ExecutorOptions options{.seed = plan.seed};
  if (mode == ToolMode::kRecord || Simulates(mode)) options.record = plan.journal;

  std::vector<std::shared_ptr<Responder>> fallible;
  if (mode == ToolMode::kReplay || mode == ToolMode::kReplayElseSimulate) {
    fallible.push_back(NewLookupResponder(plan.journal));
  }
  if (mode == ToolMode::kLive || mode == ToolMode::kRecord) {
    fallible.push_back(NewLiveResponder(toolbox, timeline, options.record));
  }
  if (Simulates(mode)) fallible.push_back(plan.simulator);

  if (mode != ToolMode::kLive) options.responders.push_back(NewRecordedResponder(plan.journal));
  for (std::shared_ptr<Responder>& responder : fallible) {
    if (!plan.faults.empty()) {
      HONE_ASSIGN_OR_RETURN(
          responder, NewFaultyResponder(std::move(responder), plan.faults, plan.seed, timeline));
    }
    options.responders.push_back(std::move(responder));
  }
  return options;
}

}  // namespace hone
