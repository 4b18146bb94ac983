#include "simulate/simulator.h"

#include <algorithm>
#include <atomic>

#include <fmt/format.h>

#include "base/hash.h"
#include "simulate/answer_check.h"
#include "simulate/single_flight.h"
#include "simulate/views.h"
#include "simulate/written_facts.h"

namespace hone {
namespace {

using EarlierWrite = Sessions::EarlierWrite;

// A call, and the world it is made in.
struct Question {
  std::shared_ptr<const Toolbox> toolbox;
  uint64_t environment_seed = 0;
  const ToolSpec* spec = nullptr;
  Json arguments;
  std::vector<EarlierWrite> writes;
  std::string state_hash;  // for players that do not mind what was written
};

// What came of a question: an answer, or why there is none.
struct Settled {
  PlayedAnswer answer;
  std::string fault;
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
  PlayingSimulator(std::shared_ptr<Player> player, SimulatorOptions options, Timeline* timeline)
      : player_(std::move(player)), options_(options), timeline_(timeline) {}

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
            .played = played_,
            .tries = tries_,
            .repaired = repaired_,
            .invalid = invalid_,
            .contradicted = contradicted_,
            .faults = faults_};
  }

 private:
  CallAnswer AnswerNow(const CallAttempt& attempt, const std::vector<EarlierWrite>& writes) {
    if (attempt.tool->spec.computable) {
      if (std::optional<ToolReply> reply = Compute(attempt)) {
        ++computed_;
        return {.reply = *std::move(reply), .source = "computed"};
      }
    }
    Question question{.toolbox = attempt.sessions->toolbox(),
                      .environment_seed = attempt.content.environment_seed,
                      .spec = &attempt.tool->spec,
                      .arguments = attempt.content.arguments};
    if (player_->minds_state()) {
      question.writes = RelevantWrites(question.arguments, writes);
    } else {
      question.state_hash = attempt.content.state_hash;
    }
    const Settled settled = Ask(question);
    if (!settled.fault.empty()) {
      ++faults_;
      return {
          .reply = Unavailable("the simulator has no answer: " + settled.fault, Blame::kSimulator),
          .source = "simulator"};
    }
    ToolReply reply = settled.answer.status == CallStatus::kOk ? Answered(settled.answer.content)
                                                               : Refuted(settled.answer.content);
    return {.reply = std::move(reply), .source = "simulator"};
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

  std::string KeyOf(const Question& question) const {
    Json::Array writes;
    for (const EarlierWrite& write : question.writes) writes.push_back(WriteJson(write));
    return ContentHash(Json::Of({{"seed", question.environment_seed},
                                 {"tool", question.spec->name},
                                 {"arguments", question.arguments},
                                 {"writes", std::move(writes)},
                                 {"state", question.state_hash},
                                 {"player", player_->version()}}));
  }

  Settled Ask(const Question& question) {
    const std::string key = KeyOf(question);
    return settled_.Get(key, [&] { return Settle(question, key); });
  }

  SingleFlight<Settled>::Made Settle(const Question& question, const std::string& key) {
    SimulatedCall call{
        .spec = question.spec, .arguments = question.arguments, .writes = question.writes};
    if (player_->minds_state()) call.known = KnownOf(question);
    ++played_;
    for (int64_t attempt = 0; attempt < options_.tries; ++attempt) {
      call.rng = Rng(Hash64(key)).Split(static_cast<uint64_t>(attempt));
      ++tries_;
      Result<PlayedAnswer> played = player_->Play(call);
      // Nobody there: that is not what the answer is, and may pass.
      if (!played.ok()) return {{.fault = played.error().message()}, false};
      if (std::optional<PlayedAnswer> good = Checked(question, *std::move(played), &call.problem)) {
        return {{.answer = *std::move(good)}, true};
      }
    }
    return {
        {.fault = fmt::format("{} tries, the last one because: {}", options_.tries, call.problem)},
        true};
  }

  // What this world says of the same things before anything was written.
  std::vector<KnownAnswer> KnownOf(const Question& question) {
    std::vector<KnownAnswer> known;
    for (const View& view :
         ViewsOf(*question.toolbox, *question.spec, question.arguments, !question.writes.empty())) {
      Question before{.toolbox = question.toolbox,
                      .environment_seed = question.environment_seed,
                      .spec = view.spec,
                      .arguments = view.arguments};
      Settled settled = Ask(before);
      if (!settled.fault.empty()) continue;
      known.push_back({view.spec->name, view.arguments, std::move(settled.answer)});
    }
    return known;
  }

  // The answer as it can be given, or what is wrong with it.
  std::optional<PlayedAnswer> Checked(const Question& question, PlayedAnswer answer,
                                      std::string* problem) {
    if (answer.problem.empty() && answer.content.empty()) answer.problem = "it was empty";
    if (!answer.problem.empty()) {
      ++invalid_;
      *problem = std::move(answer.problem);
      return std::nullopt;
    }
    if (answer.status != CallStatus::kOk) return answer;
    if (!question.writes.empty()) {
      const Json value = ValueOf(answer.content);
      const std::vector<Contradiction> found =
          Contradictions(question.arguments, value, question.writes);
      if (!found.empty()) {
        ++contradicted_;
        *problem = found[0].Text();
        if (!options_.repair) return std::nullopt;
        ++repaired_;
        answer.content =
            DumpJson(WithoutContradictions(question.arguments, value, question.writes));
      }
    }
    if (std::optional<std::string> misfit = checker_.Problem(*question.spec, answer.content)) {
      ++invalid_;
      *problem = *std::move(misfit);
      return std::nullopt;
    }
    return answer;
  }

  const std::shared_ptr<Player> player_;
  const SimulatorOptions options_;
  Timeline* const timeline_;
  AnswerChecker checker_;
  SingleFlight<Settled> settled_;
  std::atomic<int64_t> computed_ = 0, played_ = 0, tries_ = 0, repaired_ = 0, invalid_ = 0,
                       contradicted_ = 0, faults_ = 0;
};

}  // namespace

std::shared_ptr<Simulator> NewSimulator(std::shared_ptr<Player> player, SimulatorOptions options,
                                        Timeline* timeline) {
  return std::make_shared<PlayingSimulator>(std::move(player), options, timeline);
}

}  // namespace hone
