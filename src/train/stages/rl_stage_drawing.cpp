// The part of practice that draws: now, or ahead of training.

#include <algorithm>

#include "base/check.h"
#include "train/processes/crew.h"
#include "train/stages/rl_stage.h"

namespace hone {

Result<RlTraining::Practice> RlTraining::Practise(int64_t step, double clock, const Method& method,
                                                  DynamicSampler* rounds) {
  Practice practice;
  const CallCounts asked = tools_.backend->executor()->counts().by_source;
  if (ahead_ && !ahead_->Has(step)) HONE_RETURN_IF_ERROR(BeginAhead(step));
  Round round = RoundOf(step, method);
  while (const size_t more = rounds->Missing()) {
    round.first = practice.groups.asked;
    round.groups = more;
    ScoringOptions scoring = ScoringAt(clock);
    std::optional<DrawnGroups> drawn;
    if (ahead_ && round.first == 0) {
      HONE_ASSIGN_OR_RETURN(drawn, TakeBegun(step, &practice));
      scoring.rewarder = nullptr;  // it was asked where they were drawn
    } else {
      HONE_ASSIGN_OR_RETURN(PosedTasks posed,
                            Timed("tasks", PoseTasks, Supply(&practice.calls), round));
      if (context_->crew != nullptr) {
        HONE_ASSIGN_OR_RETURN(drawn,
                              DrawTogether(step, static_cast<int64_t>(clock), posed, &practice));
        scoring.rewarder = nullptr;  // the same
      } else if (context_->remote != nullptr) {
        HONE_ASSIGN_OR_RETURN(drawn, DrawRemotely(step, posed, &practice));
      } else {
        HONE_ASSIGN_OR_RETURN(drawn, Draw(step, std::move(posed)));
      }
    }
    HONE_ASSIGN_OR_RETURN(ScoredGroups scored,
                          Timed("rewards", ScoreGroups, scoring, *std::move(drawn)));
    rounds->Add(scored.Values(context_->recipe->dynamic_sampling.metric));
    practice.groups.Append(std::move(scored));
  }
  for (const auto& [source, count] :
       CallsSince(asked, tools_.backend->executor()->counts().by_source)) {
    practice.calls[source] += count;
  }
  return practice;
}

Result<DrawnGroups> RlTraining::Draw(int64_t step, PosedTasks posed) {
  HONE_ASSIGN_OR_RETURN(const Rollout rollout, PracticeOf(*context_, context_->engine.get(),
                                                          tools_.backend->executor(), step));
  HONE_ASSIGN_OR_RETURN(DrawnGroups drawn, Timed("rollout", DrawGroups, rollout, std::move(posed),
                                                 context_->engine->pool(), std::stop_token()));
  TellApart(drawn.counts.seconds);
  return drawn;
}

Result<DrawnGroups> RlTraining::DrawRemotely(int64_t step, const PosedTasks& posed,
                                             Practice* practice) {
  RemoteEngine& remote = *context_->remote;
  if (remote.options().push && !pushed_) {
    HONE_RETURN_IF_ERROR(Timed("push", [&]() -> Result<void> {
      const std::filesystem::path folder = PushFolder(*context_);
      HONE_RETURN_IF_ERROR(WriteForServer(*context_->engine, remote.options().api, folder));
      return remote.Push(folder, step, context_->stop);
    }));
    pushed_ = true;
  }
  // A server that keeps its weights has, as far as anybody knows, those that the stage began with.
  const int64_t version = remote.options().push ? step : 0;
  const int64_t retries = remote.retries();
  HONE_ASSIGN_OR_RETURN(const Rollout rollout, PracticeOf(*context_, context_->engine.get(),
                                                          tools_.backend->executor(), version));
  HONE_ASSIGN_OR_RETURN(RolloutResult played, Timed("rollout", &Rollout::Run, rollout,
                                                    posed.requests, std::stop_token()));
  TellApart(played.counts.seconds);
  practice->of_earlier = true;
  practice->retries += remote.retries() - retries;
  practice->mismatch.Add(Timed("reference", CompareWithPolicy, context_->engine.get(),
                               stage_.batches.call_tokens, &played.trees));
  return GroupsOf(posed, std::move(played), context_->engine->pool());
}

Result<DrawnGroups> RlTraining::DrawTogether(int64_t step, int64_t schedule,
                                             const PosedTasks& posed, Practice* practice) {
  const PlayOrder order{.version = step, .schedule = schedule};
  HONE_ASSIGN_OR_RETURN(Played played, Timed("rollout", &Crew::Play, *context_->crew, order,
                                             *context_, &tools_, posed.requests, nullptr));
  TellApart(played.result.counts.seconds);
  for (const auto& [source, calls] : played.calls_of_others) practice->calls[source] += calls;
  HONE_ASSIGN_OR_RETURN(DrawnGroups drawn,
                        GroupsOf(posed, std::move(played.result), context_->engine->pool()));
  std::erase_if(played.scores, [](const std::vector<Score>& scores) { return scores.empty(); });
  CHECK(drawn.records.size() == played.scores.size(), "a group without scores");
  for (size_t i = 0; i < drawn.records.size(); ++i) {
    drawn.records[i].scores = std::move(played.scores[i]);
  }
  return drawn;
}

// Where trajectories end the stage, no step is begun that those begun before would leave nothing to
// do for.
Result<void> RlTraining::BeginAhead(int64_t done) {
  ahead_->PolicyMade(done, Spent().time);
  while (ahead_->count() < ahead_->most()) {
    const int64_t step = done + ahead_->count();
    const int64_t coming = trajectories_ + ahead_->count() * stage_.groups * stage_.group;
    if (step >= stage_.steps || (stage_.trajectories > 0 && coming >= stage_.trajectories)) break;
    const auto schedule = static_cast<int64_t>(Clock(step));
    HONE_ASSIGN_OR_RETURN(const Method method, context_->recipe->MethodAt(schedule));
    Round round = RoundOf(step, method);
    round.groups = static_cast<size_t>(stage_.groups);
    CallCounts of_others;  // there are none
    HONE_ASSIGN_OR_RETURN(PosedTasks posed, Timed("tasks", PoseTasks, Supply(&of_others), round));
    HONE_RETURN_IF_ERROR(ahead_->Begin(std::move(posed), schedule, Spent().time));
  }
  return {};
}

Result<DrawnGroups> RlTraining::TakeBegun(int64_t step, Practice* practice) {
  CHECK(ahead_->Has(step), "steps are begun in their order");
  HONE_ASSIGN_OR_RETURN(DrawingAhead::Taken taken, Timed("rollout", &DrawingAhead::Take, *ahead_));
  practice->of_earlier = taken.version != step;
  practice->calls = std::move(taken.drawn.calls);
  spent_ahead_.nanodollars += taken.drawn.nanodollars;
  // Its tools were asked while those of the steps before it were: only what is left is waited for.
  spent_ahead_.time += std::max(Clock::Duration(0), taken.ended - Spent().time);
  return std::move(taken.drawn.groups);
}

}  // namespace hone
