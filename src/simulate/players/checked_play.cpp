#include "simulate/players/checked_play.h"

#include <fmt/format.h>

#include "base/hash.h"
#include "simulate/written_facts.h"

namespace hone {
namespace {

// The answer as it can be given, or what is wrong with it in call->problem.
std::optional<PlayedResult> Checked(SimulatedCall* call, PlayedResult answer,
                                    const CheckOptions& options, AnswerChecker* checker,
                                    CheckedPlay* play) {
  if (answer.problem.empty() && answer.content.empty()) answer.problem = "it was empty";
  if (!answer.problem.empty()) {
    ++play->invalid;
    call->problem = std::move(answer.problem);
    return std::nullopt;
  }
  if (answer.status != CallStatus::kOk) return answer;
  // A write may say something new; a read must not.
  if (!call->writes.empty() && call->spec->effect == Effect::kReads) {
    const Json value = ValueOf(answer.content);
    const std::vector<Contradiction> found = Contradictions(call->arguments, value, call->writes);
    if (!found.empty()) {
      ++play->contradicted;
      call->problem = found[0].Text();
      if (!options.repair) return std::nullopt;
      play->repaired = true;
      answer.content = DumpJson(WithoutContradictions(call->arguments, value, call->writes));
    }
  }
  if (std::optional<std::string> misfit = checker->Problem(*call->spec, answer.content)) {
    ++play->invalid;
    call->problem = *std::move(misfit);
    return std::nullopt;
  }
  return answer;
}

}  // namespace

CheckedPlay PlayChecked(Player* player, SimulatedCall call, const std::string& key,
                        const CheckOptions& options, AnswerChecker* checker) {
  CheckedPlay play;
  const Rng rng(Hash64(key));
  for (int64_t attempt = 0; attempt < options.tries; ++attempt) {
    call.rng = rng.Split(static_cast<uint64_t>(attempt));
    ++play.tries;
    Result<PlayedResult> played = player->Play(call);
    if (!played.ok()) {
      // Nobody there: that is not what the answer is, and may pass.
      play.fault = played.error().message();
      play.passing = true;
      return play;
    }
    std::optional<PlayedResult> good = Checked(&call, *std::move(played), options, checker, &play);
    if (good) {
      play.answer = *std::move(good);
      return play;
    }
  }
  play.fault = fmt::format("{} tries, the last one because: {}", options.tries, call.problem);
  return play;
}

}  // namespace hone
