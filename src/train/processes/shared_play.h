#pragma once

#include <map>
#include <string>
#include <string_view>
#include <vector>

#include "learn/step.h"
#include "train/stages/drawing_lane.h"

// Groups that several processes play together: each takes those whose number leaves its own as the
// rest when it is divided by how many processes there are. What a group is depends on the weights
// and its request alone, so that it does not matter who plays it.

namespace hone {

// How groups are played: as a stage practises, or as the policy is measured.
struct PlayOrder {
  bool practice = true;
  int64_t version = 0, schedule = 0;  // of practice: DrawingLane::Begin
  std::string run;                    // of an evaluation, with the next: EvaluationOptions
  int64_t max_live = 256;
  double temperature = 1;
  bool without_tools = false;
};
template <typename Wire>
void Fields(Wire& wire, PlayOrder& order) {
  wire(order.practice, order.version, order.schedule, order.run, order.max_live, order.temperature,
       order.without_tools);
}

struct Played {
  RolloutResult result;
  std::vector<std::vector<Score>> scores;  // of practice: per tree
  CallCounts calls;                        // of practice
  CallCounts calls_of_others;              // of them, those of other processes than the first
  double seconds = 0;                      // that it took
};

// Those of one process.
template <typename Item>
std::vector<Item> ShareOf(std::span<const Item> all, int rank, int processes) {
  std::vector<Item> share;
  for (auto i = static_cast<size_t>(rank); i < all.size(); i += static_cast<size_t>(processes)) {
    share.push_back(all[i]);
  }
  return share;
}
// Plays requests with the engine of this process. `tools` are those of the stage, for practice.
Result<Played> PlayShare(const PlayOrder& order, const StageContext& context,
                         const DrawingTools* tools, std::span<const GroupRequest> requests,
                         const std::function<void(int64_t ended, int64_t wanted)>& progress = {});
// All of them, from the shares of all processes by rank; `seconds` are those of the first.
Played Together(std::vector<Played> shares);

// What is right in the world that answers, of some tasks (AskForGold).
struct GoldShare {
  std::vector<GoldTask> tasks;
  CallCounts calls;
};
Result<GoldShare> AnswerShare(const StageContext& context, const DrawingTools& tools,
                              std::span<const GoldQuestion> questions, const std::string& run);

std::string WritePlayed(const Played& played);
Result<Played> ReadPlayed(std::string_view bytes);
std::string WriteQuestions(std::span<const GoldQuestion> questions);
Result<std::vector<GoldQuestion>> ReadQuestions(std::string_view bytes);
std::string WriteGoldShare(const GoldShare& answered);
Result<GoldShare> ReadGoldShare(std::string_view bytes);

}  // namespace hone
