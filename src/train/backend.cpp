#include "train/backend.h"

#include <fmt/format.h>

namespace hone {
namespace {

// A record and a simulator know tools by name alone.
Result<void> CanTellApart(const Toolbox& tools) {
  if (tools.ambiguous().empty()) return {};
  return Error(ErrorCode::kUnsupported,
               fmt::format("two environments have a tool \"{}\", which a simulator cannot tell "
                           "apart; give one of them another name, or train with the tools "
                           "themselves (answers.mode = \"live\")",
                           tools.ambiguous()[0]));
}

}  // namespace

bool HasToolsInProcess(const TrainingRecipe& recipe) {
  return recipe.environment.traits.in_process && !recipe.answers.user;
}

Backend::~Backend() {
  executor_.reset();  // before what it asks, and before the timeline they run on
  simulator_.reset();
}

std::optional<Backend::Spent> Backend::spent() const {
  if (bill_ == nullptr) return std::nullopt;
  return Spent{.nanodollars = bill_->nanodollars(),
               .time = virtual_ ? timeline_->Now() : Clock::Duration(0)};
}

Result<void> Backend::Open(const BackendOptions& backend, RoutingOptions answers,
                           const Toolbox& toolbox) {
  HONE_ASSIGN_OR_RETURN(Redactor redactor, Redactor::Create(backend.redaction));
  answers.redactor = std::make_shared<const Redactor>(std::move(redactor));
  HONE_ASSIGN_OR_RETURN(ExecutorOptions options, OptionsFor(answers, toolbox, timeline_.get()));
  executor_ = std::make_unique<Executor>(std::move(options), timeline_.get());
  return {};
}

Result<std::unique_ptr<Backend>> Backend::Real(const TrainingRecipe& recipe,
                                               const LoadedEnvironment& environment,
                                               const std::filesystem::path& journal) {
  auto world = std::unique_ptr<Backend>(new Backend());
  world->timeline_ = HasToolsInProcess(recipe) ? NewVirtualTimeline() : NewRealTimeline();
  RoutingOptions answers{.seed = recipe.run.seed};
  if (!journal.empty()) {
    answers.mode = ToolMode::kRecord;
    HONE_ASSIGN_OR_RETURN(answers.journal, Journal::Open(journal));
  }
  HONE_RETURN_IF_ERROR(
      world->Open(recipe.answers, std::move(answers), *environment.environment->tools()));
  return world;
}

Result<std::unique_ptr<Backend>> Backend::ForDemonstrations(
    const TrainingRecipe& recipe, const LoadedEnvironment& environment,
    const std::filesystem::path& elsewhere) {
  if (HasToolsInProcess(recipe)) return Real(recipe, environment, "");
  // A record that the run makes for itself is not there yet.
  if (recipe.Simulates() || recipe.JournalsItself()) return Real(recipe, environment, elsewhere);
  if (recipe.answers.mode != ToolMode::kReplay) {
    return Real(recipe, environment, recipe.answers.journal);
  }
  auto world = std::unique_ptr<Backend>(new Backend());
  world->timeline_ = NewRealTimeline();
  RoutingOptions answers{.mode = ToolMode::kReplay, .seed = recipe.run.seed};
  HONE_ASSIGN_OR_RETURN(answers.journal, Journal::OpenForReading(recipe.answers.journal));
  HONE_RETURN_IF_ERROR(
      world->Open(recipe.answers, std::move(answers), *environment.environment->tools()));
  return world;
}

Result<std::unique_ptr<Backend>> Backend::ForTraining(const TrainingRecipe& recipe,
                                                      const LoadedEnvironment& environment,
                                                      const std::filesystem::path& learned,
                                                      const std::filesystem::path& recorded) {
  const BackendOptions& backend = recipe.answers;
  const bool in_process = HasToolsInProcess(recipe);
  const std::shared_ptr<const Toolbox>& toolbox = environment.environment->tools();
  if (recipe.Simulates()) HONE_RETURN_IF_ERROR(CanTellApart(*toolbox));
  auto world = std::unique_ptr<Backend>(new Backend());
  // A player that is a model answers many calls together only if they come from many threads.
  const bool at_once =
      in_process && !backend.waits && (!recipe.Simulates() || backend.simulator->kind == "random");
  world->timeline_ = at_once ? NewVirtualTimeline() : NewRealTimeline();
  world->virtual_ = at_once;
  RoutingOptions answers{.mode = backend.mode, .faults = backend.faults, .seed = recipe.run.seed};
  if (!backend.conditions.empty()) {
    world->bill_ = std::make_shared<Bill>();
    answers.conditions = backend.conditions;
    answers.bill = world->bill_;
  }
  // What others answer is written down, so that a run that was killed need not ask again. What is
  // computed here is the same every time.
  if (backend.mode == ToolMode::kLive && !in_process) answers.mode = ToolMode::kRecord;
  const std::filesystem::path shown =
      recorded.empty() ? std::filesystem::path(backend.recorded) : recorded;
  if (answers.mode == ToolMode::kReplay) {
    HONE_ASSIGN_OR_RETURN(
        answers.journal, Journal::OpenForReading(
                             recorded.empty() ? std::filesystem::path(backend.journal) : recorded));
  } else if (answers.mode == ToolMode::kRecord ||
             (answers.mode == ToolMode::kReplayElseSimulate && (!in_process || shown.empty()))) {
    HONE_ASSIGN_OR_RETURN(answers.journal, Journal::Open(backend.journal));
  }
  if (!shown.empty() && answers.mode != ToolMode::kReplay &&
      backend.use() == ToolUse::kAnsweredElsewhere) {
    HONE_ASSIGN_OR_RETURN(answers.recorded, Journal::OpenForReading(shown));
  }
  if (recipe.Simulates()) {
    SimulatorOptions settings = *backend.simulator;
    if (!learned.empty()) settings.folder = learned.string();
    std::shared_ptr<const JournaledCalls> calls;
    if (answers.recorded != nullptr) {
      HONE_ASSIGN_OR_RETURN(JournaledCalls read,
                            ReadRecordedCalls(answers.recorded.get(), toolbox));
      calls = std::make_shared<const JournaledCalls>(std::move(read));
    }
    HONE_ASSIGN_OR_RETURN(std::shared_ptr<Player> player, NewPlayer(settings, calls));
    // Where the record is asked first, it is part of the world that is made up around it.
    world->simulator_ =
        NewSimulator(std::move(player), settings.check, at_once ? nullptr : world->timeline_.get(),
                     answers.mode == ToolMode::kReplayElseSimulate ? std::move(calls) : nullptr);
    answers.simulator =
        WithUser(backend, *toolbox, world->simulator_, world->timeline_.get(), answers.journal);
  }
  HONE_RETURN_IF_ERROR(world->Open(backend, std::move(answers), *toolbox));
  return world;
}

}  // namespace hone
