#include "simulate/backend_options.h"

#include <fmt/format.h>

#include "simulate/user_simulator.h"
#include "tools/live.h"
#include "tools/spec_tool.h"

namespace hone {
namespace {

ToolkitOptions ReadUser(RecipeTable table) {
  std::string kind = "endpoint";
  ModelOptions model;
  UserSimulatorOptions options;
  table.ReadChoice("kind", &kind, {"endpoint", "model"}, "who plays the user");
  table.Read("temperature", &options.temperature, "", AtLeast(0));
  table.Read("max_tokens", &options.max_tokens, "of a line", AtLeast(1));
  table.Read("tries", &options.tries, "at a line without fault", AtLeast(1));
  ReadModelOptions(&table, kind, &model);
  ToolkitOptions backend{.kind = "user"};
  // The language model has limits of its own.
  backend.limits = {.deadline = model.language_model.limits.deadline * options.tries,
                    .attempt = model.language_model.limits.deadline * options.tries,
                    .retries = 0,
                    .concurrent = model.language_model.limits.concurrent};
  backend.make = [=]() -> Result<std::shared_ptr<Toolkit>> {
    HONE_ASSIGN_OR_RETURN(std::shared_ptr<LanguageModel> opened, OpenModel(model, kind));
    return NewUserToolkit(std::move(opened), options);
  };
  return backend;
}

// Who plays tools does not play the user: that one is played already.
class PlayersOfBoth final : public Responder {
 public:
  PlayersOfBoth(std::shared_ptr<Responder> user, std::shared_ptr<Responder> tools)
      : user_(std::move(user)), tools_(std::move(tools)) {}

  void Answer(std::shared_ptr<const CallAttempt> attempt, Reply reply) override {
    const bool is_user = attempt->tool->spec.name == UserSpec().name;
    (is_user ? user_ : tools_)->Answer(std::move(attempt), std::move(reply));
  }

 private:
  const std::shared_ptr<Responder> user_, tools_;
};

// Where a run says by whom it is answered.
CallIdentity MarkOf(const std::string& run) { return {run, "", "simulator", 0, 0}; }

Result<void> Mark(Journal* journal, const std::string& run, const std::string& version,
                  const std::string& file) {
  const Result<void> marked = journal->Finish(
      {.identity = MarkOf(run),
       .content = {.tool = "simulator", .arguments = Json::Of({{"version", version}})},
       .source = CallSource::kSimulator,
       .result = {.content = version}});
  if (marked.ok()) return {};
  HONE_ASSIGN_OR_RETURN(const Journal::Found found, journal->Find(MarkOf(run)));
  if (!found.entry) return marked;
  return Error(
      ErrorCode::kInvalidArgument,
      fmt::format("{}: the run \"{}\" was answered by another simulator (its settings, its "
                  "weights or what it was shown have changed); give this run another "
                  "name, or another journal",
                  file, run));
}

// What the real tools said: a language model may be shown it, and in replay-else-simulate it is
// part of the world that is made up around it.
Result<std::shared_ptr<const JournaledCalls>> ReadRecorded(
    const BackendOptions& backend, Journal* journal,
    const std::shared_ptr<const Toolbox>& toolbox) {
  const bool shown = backend.simulator->shows_record();
  if (journal == nullptr || (!shown && backend.mode != ToolMode::kReplayElseSimulate)) {
    return std::shared_ptr<const JournaledCalls>();
  }
  HONE_ASSIGN_OR_RETURN(JournaledCalls recorded, ReadRecordedCalls(journal, toolbox));
  return std::make_shared<const JournaledCalls>(std::move(recorded));
}

Result<std::shared_ptr<Journal>> OpenJournal(const BackendOptions& backend) {
  if (backend.journal.empty() || backend.mode == ToolMode::kLive) return std::shared_ptr<Journal>();
  auto opened = backend.mode == ToolMode::kReplay ? Journal::OpenForReading(backend.journal)
                                                  : Journal::Open(backend.journal);
  if (!opened.ok()) return opened.error();
  return std::shared_ptr<Journal>(*std::move(opened));
}

}  // namespace

ToolUse BackendOptions::use() const {
  return mode == ToolMode::kLive || mode == ToolMode::kRecord ? ToolUse::kInEarnest
                                                              : ToolUse::kAnsweredElsewhere;
}

std::optional<std::string> ProblemOf(const BackendOptions& backend) {
  const bool needs_journal = backend.mode != ToolMode::kLive && backend.mode != ToolMode::kSimulate;
  if (needs_journal && backend.journal.empty()) {
    return fmt::format("{} needs a journal; write journal = \"calls.sqlite\" under [answers]",
                       ToolModeName(backend.mode));
  }
  if (Simulates(backend.mode) && !backend.simulator) {
    return fmt::format("{} needs a table [simulator]; kind = \"random\" is the simplest",
                       ToolModeName(backend.mode));
  }
  return std::nullopt;
}

BackendOptions ReadBackend(RecipeTable root, BackendOptions backend) {
  RecipeTable table = root.Table("answers");
  std::string mode(ToolModeName(backend.mode));
  table.ReadChoice("mode", &mode, ToolModeNames(), "who answers calls");
  backend.mode = ToolModeFromName(mode).value_or(ToolMode::kLive);
  table.Read("journal", &backend.journal, "what calls of this run were answered");
  table.ReadPath("recorded", &backend.recorded, "journal of what the real tools answered",
                 PathUse::kPlace);
  if (root.Has("simulator") || backend.simulator) {
    backend.simulator = ReadSimulatorOptions(root.Table("simulator"),
                                             backend.simulator.value_or(SimulatorOptions()));
  }
  if (const auto user = root.OptionalTable("user")) backend.user = ReadUser(*user);
  backend.faults = ReadFaultRules(root);
  backend.conditions = ReadServingConditions(root);
  table.Read("waits", &backend.waits,
             "the latencies of [[conditions]] pass on the machine's clock, not on a virtual one");
  if (backend.waits && backend.conditions.empty()) {
    table.Problem("waits", "there is nothing to wait for: write [[conditions]]");
  }
  backend.redaction = ReadRedactionOptions(root.Table("redact"));
  if (const std::optional<std::string> problem = ProblemOf(backend))
    table.Problem("mode", *problem);
  return backend;
}

Result<std::shared_ptr<const Toolbox>> MakeTools(const BackendOptions& backend,
                                                 std::vector<ToolkitOptions> tools) {
  if (backend.user) {
    tools.push_back(*backend.user);
    // A replay needs neither a model nor its key.
    if (backend.mode == ToolMode::kReplay) {
      tools.back().make = []() -> Result<std::shared_ptr<Toolkit>> {
        return NewSpecToolkitOf({UserSpec()});
      };
    }
  }
  return MakeToolbox(tools, backend.use());
}

std::shared_ptr<Responder> WithUser(const BackendOptions& backend, const Toolbox& toolbox,
                                    std::shared_ptr<Responder> tools, Timeline* timeline,
                                    std::shared_ptr<Journal> journal) {
  if (!backend.user || toolbox.Find(UserSpec().name) == nullptr) return tools;
  return std::make_shared<PlayersOfBoth>(NewLiveResponder(toolbox, timeline, std::move(journal)),
                                         std::move(tools));
}

Result<BackendParts> MakeBackendParts(const BackendOptions& backend, const std::string& run,
                                      uint64_t seed, const std::shared_ptr<const Toolbox>& toolbox,
                                      Timeline* timeline) {
  BackendParts answering;
  RoutingOptions answers{.mode = backend.mode, .faults = backend.faults, .seed = seed};
  HONE_ASSIGN_OR_RETURN(answers.journal, OpenJournal(backend));
  if (!backend.recorded.empty() && backend.use() == ToolUse::kAnsweredElsewhere) {
    HONE_ASSIGN_OR_RETURN(answers.recorded, Journal::OpenForReading(backend.recorded));
  }
  HONE_ASSIGN_OR_RETURN(Redactor redactor, Redactor::Create(backend.redaction));
  answers.redactor = std::make_shared<const Redactor>(std::move(redactor));
  if (Simulates(backend.mode)) {
    Journal* real = answers.recorded != nullptr ? answers.recorded.get() : answers.journal.get();
    HONE_ASSIGN_OR_RETURN(const auto recorded, ReadRecorded(backend, real, toolbox));
    HONE_ASSIGN_OR_RETURN(std::shared_ptr<Player> player, NewPlayer(*backend.simulator, recorded));
    const bool in_world = backend.mode == ToolMode::kReplayElseSimulate;
    if (answers.journal != nullptr) {
      const std::string version =
          player->version() + (in_world && recorded != nullptr ? " " + recorded->hash : "");
      HONE_RETURN_IF_ERROR(Mark(answers.journal.get(), run, version, backend.journal));
    }
    answering.simulator = NewSimulator(std::move(player), backend.simulator->check, timeline,
                                       in_world ? recorded : nullptr);
    answers.simulator = WithUser(backend, *toolbox, answering.simulator, timeline, answers.journal);
    answering.simulated = true;
  } else if (backend.mode == ToolMode::kReplay) {
    HONE_ASSIGN_OR_RETURN(const Journal::Found found, answers.journal->Find(MarkOf(run)));
    answering.simulated = found.entry.has_value();
  }
  HONE_ASSIGN_OR_RETURN(answering.options, OptionsFor(answers, *toolbox, timeline));
  return answering;
}

}  // namespace hone
