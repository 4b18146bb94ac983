#include "tools/modes.h"

#include <array>

#include <fmt/format.h>

#include "tools/live.h"

namespace hone {
namespace {

constexpr std::array<std::string_view, 5> kModeNames = {"live", "record", "replay",
                                                        "replay-else-simulate", "simulate"};

// Takes secrets out of answers before anything else is done to them: a fault could hide a secret
// from the rules that find it.
class RedactingResponder final : public Responder {
 public:
  RedactingResponder(std::shared_ptr<Responder> inner, std::shared_ptr<const Redactor> redactor)
      : inner_(std::move(inner)), redactor_(std::move(redactor)) {}

  void Answer(std::shared_ptr<const CallAttempt> attempt, Reply reply) override {
    inner_->Answer(std::move(attempt),
                   [redactor = redactor_, reply](std::optional<RoutedReply> answer) {
                     if (answer) {
                       answer->reply.content = redactor->Content(std::move(answer->reply.content));
                     }
                     reply(std::move(answer));
                   });
  }

 private:
  const std::shared_ptr<Responder> inner_;
  const std::shared_ptr<const Redactor> redactor_;
};

// On their conditions, where there are any.
std::shared_ptr<Responder> RealTools(const RoutingOptions& routing, const Toolbox& toolbox,
                                     const std::shared_ptr<Journal>& journal, Timeline* timeline) {
  std::shared_ptr<Responder> live = NewLiveResponder(toolbox, timeline, journal);
  if (routing.conditions.empty()) return live;
  return NewServedResponder(std::move(live), routing.conditions, routing.seed, timeline,
                            routing.bill);
}

}  // namespace

std::string_view ToolModeName(ToolMode mode) { return kModeNames[static_cast<size_t>(mode)]; }

std::vector<std::string> ToolModeNames() { return {kModeNames.begin(), kModeNames.end()}; }

bool Simulates(ToolMode mode) {
  return mode == ToolMode::kReplayElseSimulate || mode == ToolMode::kSimulate;
}

std::optional<ToolMode> ToolModeFromName(std::string_view name) {
  for (size_t i = 0; i < kModeNames.size(); ++i) {
    if (kModeNames[i] == name) return static_cast<ToolMode>(i);
  }
  return std::nullopt;
}

Result<ExecutorOptions> OptionsFor(const RoutingOptions& routing, const Toolbox& toolbox,
                                   Timeline* timeline) {
  const ToolMode mode = routing.mode;
  // A simulator gives the same answers without one, and a record can stand in its place.
  const bool needs_journal = mode != ToolMode::kLive && mode != ToolMode::kSimulate &&
                             (mode != ToolMode::kReplayElseSimulate || routing.recorded == nullptr);
  if (needs_journal && routing.journal == nullptr) {
    return Error(ErrorCode::kInvalidArgument,
                 fmt::format("mode {} needs a journal; name its file", ToolModeName(mode)));
  }
  if (Simulates(mode) && routing.simulator == nullptr) {
    return Error(ErrorCode::kInvalidArgument,
                 fmt::format("mode {} needs a simulator, and there is none; use live, record or "
                             "replay",
                             ToolModeName(mode)));
  }
  ExecutorOptions options{.seed = routing.seed};
  for (const FaultRule& rule : routing.faults) {
    options.remember_answers |= rule.kind == InjectedFault::kStale;
  }
  if (routing.redactor != nullptr) {
    options.redact_arguments = [redactor = routing.redactor](const Json& value) {
      return redactor->Arguments(value);
    };
    options.redact_content = [redactor = routing.redactor](std::string text) {
      return redactor->Content(std::move(text));
    };
  }
  if (mode == ToolMode::kRecord || Simulates(mode)) options.journal = routing.journal;
  if (Simulates(mode)) options.patience = std::chrono::minutes(10);

  std::vector<std::shared_ptr<Responder>> fallible;
  if (mode == ToolMode::kReplay || mode == ToolMode::kReplayElseSimulate) {
    if (routing.journal != nullptr) fallible.push_back(NewLookupResponder(routing.journal));
    if (routing.recorded != nullptr) fallible.push_back(NewLookupResponder(routing.recorded));
  }
  if (mode == ToolMode::kLive || mode == ToolMode::kRecord) {
    fallible.push_back(RealTools(routing, toolbox, options.journal, timeline));
  }
  if (Simulates(mode)) fallible.push_back(routing.simulator);

  if (mode != ToolMode::kLive && routing.journal != nullptr) {
    options.responders.push_back(NewRecordedResponder(routing.journal));
  }
  for (std::shared_ptr<Responder>& responder : fallible) {
    if (routing.redactor != nullptr) {
      responder = std::make_shared<RedactingResponder>(std::move(responder), routing.redactor);
    }
    if (!routing.faults.empty()) {
      HONE_ASSIGN_OR_RETURN(responder, NewFaultyResponder(std::move(responder), routing.faults,
                                                          routing.seed, timeline));
    }
    options.responders.push_back(std::move(responder));
  }
  return options;
}

}  // namespace hone
