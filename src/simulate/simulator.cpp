#include "simulate/simulator.h"

#include <algorithm>
#include <atomic>

#include <fmt/format.h>

#include "base/hash.h"
#include "simulate/read_views.h"
#include "simulate/result_check.h"
#include "simulate/single_flight.h"
#include "simulate/write_effects.h"
#include "simulate/written_facts.h"

namespace hone {
namespace {

using EarlierWrite = Sessions::EarlierWrite;

// A call, and the world it is made in.
struct AskedCall {
  std::shared_ptr<const Toolbox> toolbox;
  uint64_t environment_seed = 0;
  const ToolSpec* spec = nullptr;
  Json arguments;
  std::vector<EarlierWrite> writes;  // all of them
  std::string state_hash;            // for players that do not mind what was written
};

// What it is answered, or why it is not.
struct Settled {
  PlayedResult answer;
  std::string fault;
  bool passing = false;   // the fault may be gone the next time
  bool recalled = false;  // the real tool had said it
};

Json WriteJson(const EarlierWrite& write) {
  return Json::Of({{"tool", write.tool},
                   {"arguments", write.arguments},
                   {"status", CallStatusName(write.status)},
                   {"content", write.content}});
}

class PlayingSimulator final : public Simulator,
                               public std::enable_shared_from_this<PlayingSimulator> {
 public:
  PlayingSimulator(std::shared_ptr<Player> player, CheckOptions options, Timeline* timeline,
                   std::shared_ptr<const JournaledCalls> recorded)
      : player_(std::move(player)),
        options_(options),
        timeline_(timeline),
        recorded_(std::move(recorded)),
        states_(recorded_ == nullptr ? std::span<const RecordedCall>() : recorded_->calls) {}

  void Answer(std::shared_ptr<const CallAttempt> attempt, Reply reply) override {
    attempt->sessions->WhenWritesEnded(
        attempt->place, [self = shared_from_this(), attempt,
                         reply = std::move(reply)](std::vector<EarlierWrite> writes) {
          auto work = [self, attempt, reply, writes = std::move(writes)] {
            if (!attempt->stop.stop_requested()) reply(self->AnswerNow(*attempt, writes));
          };
          if (self->timeline_ == nullptr) {
            work();
          } else {
            self->timeline_->Run(std::move(work));
          }
        });
  }

  SimulatorCounts counts() const override {
    return {.computed = computed_,
            .recorded = recalled_,
            .played = played_,
            .tries = tries_,
            .repaired = repaired_,
            .invalid = invalid_,
            .contradicted = contradicted_,
            .faults = faults_};
  }

 private:
  RoutedReply AnswerNow(const CallAttempt& attempt, const std::vector<EarlierWrite>& writes) {
    if (attempt.tool->spec.computable) {
      if (std::optional<ToolReply> reply = Compute(attempt)) {
        ++computed_;
        return {.reply = *std::move(reply), .source = CallSource::kComputed};
      }
    }
    AskedCall question{.toolbox = attempt.sessions->toolbox(),
                       .environment_seed = attempt.content.environment_seed,
                       .spec = &attempt.tool->spec,
                       .arguments = attempt.content.arguments};
    if (player_->minds_state()) {
      question.writes = writes;
    } else {
      question.state_hash = attempt.content.state_hash;
    }
    const Settled settled = Ask(question);
    if (!settled.fault.empty()) {
      ++faults_;
      return {
          .reply = Unavailable("the simulator has no answer: " + settled.fault, Blame::kSimulator),
          .source = CallSource::kSimulator};
    }
    ToolReply reply = settled.answer.status == CallStatus::kOk ? Answered(settled.answer.content)
                                                               : Refuted(settled.answer.content);
    return {.reply = std::move(reply),
            .source = settled.recalled ? CallSource::kJournal : CallSource::kSimulator};
  }

  // The real tool, which is pure: in a session of its own, nothing of the trajectory is touched.
  // Nothing when it is not there to be asked.
  static std::optional<ToolReply> Compute(const CallAttempt& attempt) {
    Toolkit& toolkit = *attempt.sessions->toolbox()->kits()[attempt.tool->kit].toolkit;
    Result<std::unique_ptr<Session>> session = toolkit.Open(attempt.sessions->seed());
    if (!session.ok()) return std::nullopt;
    ToolReply reply = toolkit.Call(attempt.tool->spec.name, attempt.arguments, session->get(),
                                   {.stop = attempt.stop});
    const bool ended = reply.status == CallStatus::kOk || reply.status == CallStatus::kToolError;
    if (!ended) return std::nullopt;
    return reply;
  }

  // Everything that the answer may depend on.
  std::string KeyOf(const AskedCall& question, const SimulatedCall& call) const {
    Json::Array writes, known;
    for (const EarlierWrite& write : call.writes) writes.push_back(WriteJson(write));
    for (const KnownResult& answer : call.known) {
      known.push_back(Json::Array{answer.tool, answer.arguments, answer.answer.content});
    }
    return ContentHash(Json::Of({{"seed", question.environment_seed},
                                 {"tool", question.spec->name},
                                 {"arguments", question.arguments},
                                 {"writes", std::move(writes)},
                                 {"known", std::move(known)},
                                 {"state", question.state_hash},
                                 {"player", player_->version()}}));
  }

  Settled Ask(const AskedCall& question) {
    SimulatedCall call{.spec = question.spec, .arguments = question.arguments};
    if (player_->minds_state()) {
      call.writes = RelevantWrites(question.arguments, question.writes);
    }
    if (const PlayedResult* answer = Recalled(question, call.writes)) {
      ++recalled_;
      return {.answer = *answer, .recalled = true};
    }
    if (player_->minds_state()) {
      std::string passing_fault;
      call.known = KnownOf(question, !call.writes.empty(), &passing_fault);
      // What could not be asked now is not to be left out of what the answer depends on.
      if (!passing_fault.empty()) return {.fault = std::move(passing_fault), .passing = true};
    }
    const std::string key = KeyOf(question, call);
    CheckedPlay play = settled_.Get(key, [&] { return Settle(std::move(call), key); });
    return {std::move(play.answer), std::move(play.fault), play.passing};
  }

  // What the real tool said to this read in the same state. Writes are played: that one was refused
  // or carried out elsewhere is no effect here.
  const PlayedResult* Recalled(const AskedCall& question,
                               std::span<const EarlierWrite> writes) const {
    if (question.spec->effect != Effect::kReads) return nullptr;
    if (!question.state_hash.empty()) return nullptr;  // who knows what was written
    return states_.Find(question.environment_seed, question.spec->name, question.arguments, writes);
  }

  SingleFlight<CheckedPlay>::Made Settle(SimulatedCall call, const std::string& key) {
    CheckedPlay play = PlayChecked(player_.get(), std::move(call), key, options_, &checker_);
    ++played_;
    tries_ += play.tries;
    invalid_ += play.invalid;
    contradicted_ += play.contradicted;
    repaired_ += play.repaired;
    const bool keep = !play.passing;
    return {std::move(play), keep};
  }

  std::vector<KnownResult> KnownOf(const AskedCall& question, bool itself,
                                   std::string* passing_fault) {
    auto ask = [&](const ToolSpec& spec, const Json& arguments,
                   std::vector<EarlierWrite> writes) -> std::optional<PlayedResult> {
      Settled settled = Ask({.toolbox = question.toolbox,
                             .environment_seed = question.environment_seed,
                             .spec = &spec,
                             .arguments = arguments,
                             .writes = std::move(writes)});
      if (settled.passing) *passing_fault = settled.fault;
      if (!settled.fault.empty()) return std::nullopt;
      return std::move(settled.answer);
    };
    std::vector<KnownResult> known = AskViews(*question.toolbox, *question.spec, question.arguments,
                                              [&](const ToolSpec& spec, const Json& arguments) {
                                                return ask(spec, arguments, question.writes);
                                              });
    if (!itself) return known;
    if (std::optional<PlayedResult> before = ask(*question.spec, question.arguments, {})) {
      known.push_back({question.spec->name, question.arguments, *std::move(before)});
    }
    return known;
  }

  const std::shared_ptr<Player> player_;
  const CheckOptions options_;
  Timeline* const timeline_;
  const std::shared_ptr<const JournaledCalls> recorded_;
  const RecordedStates states_;  // of the same
  AnswerChecker checker_;
  SingleFlight<CheckedPlay> settled_;
  std::atomic<int64_t> computed_ = 0, recalled_ = 0, played_ = 0, tries_ = 0, repaired_ = 0,
                       invalid_ = 0, contradicted_ = 0, faults_ = 0;
};

}  // namespace

std::shared_ptr<Simulator> NewSimulator(std::shared_ptr<Player> player, CheckOptions options,
                                        Timeline* timeline,
                                        std::shared_ptr<const JournaledCalls> recorded) {
  return std::make_shared<PlayingSimulator>(std::move(player), options, timeline,
                                            std::move(recorded));
}

}  // namespace hone
