#include "train/processes/message_costs.h"

#include <algorithm>
#include <functional>
#include <limits>
#include <string>

#include "base/clock.h"
#include "learn/step.h"
#include "learn/together/update_message.h"
#include "train/processes/shared_play.h"

namespace hone {
namespace {

double BestSeconds(const std::function<void()>& work) {
  constexpr int kRounds = 5;
  const std::unique_ptr<Clock> clock = NewRealClock();
  double best = std::numeric_limits<double>::infinity();
  for (int round = 0; round < kRounds; ++round) {
    const Clock::Duration begin = clock->Now();
    work();
    best = std::min(best, std::chrono::duration<double>(clock->Now() - begin).count());
  }
  return best;
}

}  // namespace

Result<MessageCosts> MeasureMessages(std::vector<ScoredTree> records, const Method& method) {
  MessageCosts costs{.trees = std::ssize(records)};
  Played played;
  for (ScoredTree& record : records) {
    record.advantages.clear();  // they are made again below
    for (const Node& node : record.tree.nodes) costs.tokens += std::ssize(node.tokens);
    played.result.trees.push_back(record.tree);
    played.result.groups.emplace_back();
    played.scores.push_back(record.scores);
  }
  if (costs.tokens == 0) return Error(ErrorCode::kNotFound, "there are no tokens in these trees");
  const auto tokens = static_cast<double>(costs.tokens);

  std::string message = WritePlayed(played);
  HONE_RETURN_IF_ERROR(ReadPlayed(message));
  costs.tree_bytes = static_cast<double>(message.size()) / tokens;
  costs.tree_seconds = (BestSeconds([&] { message = WritePlayed(played); }) +
                        BestSeconds([&] { static_cast<void>(ReadPlayed(message)); })) /
                       2 / tokens;

  const CreditOptions crediting{.method = method, .terms_required = false};
  const auto credit = [&] { return CreditGroups(crediting, records, {}); };
  HONE_ASSIGN_OR_RETURN(const CreditedGroups credited, credit());
  HONE_ASSIGN_OR_RETURN(const std::vector<TrainingGroup> groups,
                        TrainingGroupsOf(method, credited));
  const double copying = BestSeconds([&] { const std::vector<ScoredTree> copied = records; });
  const double crediting_seconds = BestSeconds([&] { static_cast<void>(credit()); });
  const double making = BestSeconds([&] { static_cast<void>(TrainingGroupsOf(method, credited)); });
  costs.credit_seconds = (std::max(0.0, crediting_seconds - copying) + making) / tokens;

  std::string update = WriteUpdate({}, groups);
  costs.update_bytes = static_cast<double>(update.size()) / tokens;
  costs.update_seconds = (BestSeconds([&] { update = WriteUpdate({}, groups); }) +
                          BestSeconds([&] { ReadUpdate(update); })) /
                         2 / tokens;
  return costs;
}

}  // namespace hone
