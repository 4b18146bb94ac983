#include "train/processes/shared_play.h"

#include <chrono>

#include "cluster/wire.h"
#include "record/array_codec.h"
#include "record/record_json.h"

namespace hone {
namespace {

using SteadyClock = std::chrono::steady_clock;

// A tree as the store keeps it: JSON, and the arrays beside it.
struct PackedTree {
  std::string json, arrays;
};
template <typename Wire>
void Fields(Wire& wire, PackedTree& tree) {
  wire(tree.json, tree.arrays);
}

PackedTree Pack(const Tree& tree, const std::vector<Score>& scores) {
  return {DumpJson(RecordToJson({.tree = tree, .scores = scores}, TokenArrays::kLeftOut)),
          EncodeTreeArrays(tree)};
}

Result<ScoredTree> Unpack(const PackedTree& packed) {
  HONE_ASSIGN_OR_RETURN(const Json json, ParseJson(packed.json));
  HONE_ASSIGN_OR_RETURN(ScoredTree record, RecordFromJson(json));
  HONE_RETURN_IF_ERROR(DecodeTreeArrays(packed.arrays, &record.tree));
  return record;
}

// A task of a question or an answer.
struct PackedTask {
  std::string json, void_because;
  uint64_t seed = 0;
  int64_t again = 0;
};
template <typename Wire>
void Fields(Wire& wire, PackedTask& task) {
  wire(task.json, task.void_because, task.seed, task.again);
}

Result<Task> Unpack(const PackedTask& packed) {
  HONE_ASSIGN_OR_RETURN(const Json json, ParseJson(packed.json));
  Task task;
  JsonErrors errors;
  ReadJson(json, "task", &errors, &task);
  HONE_RETURN_IF_ERROR(errors.Check());
  return task;
}

Error CutOff() { return Error(ErrorCode::kCorrupt, "its message is cut off"); }

// Of the trees that have leaves; the others have nothing to be scored.
Result<void> GiveScores(const PlayOrder& order, const StageContext& context,
                        const DrawingTools& tools, Played* played) {
  std::vector<const Tree*> trees;
  std::vector<size_t> numbers;
  for (size_t i = 0; i < played->result.trees.size(); ++i) {
    if (played->result.trees[i].leaves.empty()) continue;
    trees.push_back(&played->result.trees[i]);
    numbers.push_back(i);
  }
  const RewardContext scoring{.step = order.schedule, .stop = {}, .pool = context.engine->pool()};
  HONE_ASSIGN_OR_RETURN(std::vector<std::vector<Score>> scores,
                        tools.rewarder->ScoreTrees(trees, scoring));
  played->scores.resize(played->result.trees.size());
  for (size_t i = 0; i < numbers.size(); ++i) played->scores[numbers[i]] = std::move(scores[i]);
  return {};
}

}  // namespace

Result<Played> PlayShare(const PlayOrder& order, const StageContext& context,
                         const DrawingTools* tools, std::span<const GroupRequest> requests,
                         const std::function<void(int64_t ended, int64_t wanted)>& progress) {
  Played played;
  if (requests.empty()) return played;
  const SteadyClock::time_point begin = SteadyClock::now();
  if (order.practice) {
    Executor* executor = tools->backend->executor();
    const CallCounts before = executor->counts().by_source;
    HONE_ASSIGN_OR_RETURN(const Rollout rollout,
                          PracticeOf(context, context.engine.get(), executor, order.version));
    HONE_ASSIGN_OR_RETURN(played.result, rollout.Run(requests));
    played.calls = CallsSince(before, executor->counts().by_source);
    HONE_RETURN_IF_ERROR(GiveScores(order, context, *tools, &played));
  } else {
    HONE_ASSIGN_OR_RETURN(const Policy policy, context.PolicyAt(order.temperature, 0));
    HONE_ASSIGN_OR_RETURN(played.result, PlayEvaluation({.without_tools = order.without_tools,
                                                         .run = order.run,
                                                         .max_live = order.max_live,
                                                         .progress = progress,
                                                         .play = nullptr},
                                                        *context.environment.environment, policy,
                                                        context.real->executor(), requests));
  }
  played.seconds = std::chrono::duration<double>(SteadyClock::now() - begin).count();
  return played;
}

Played Together(std::vector<Played> shares) {
  Played all;
  size_t count = 0;
  for (const Played& share : shares) count += share.result.trees.size();
  for (size_t i = 0; i < count; ++i) {
    Played& from = shares[i % shares.size()];
    const size_t at = i / shares.size();
    all.result.trees.push_back(std::move(from.result.trees[at]));
    all.result.groups.push_back(std::move(from.result.groups[at]));
    if (!from.scores.empty()) all.scores.push_back(std::move(from.scores[at]));
  }
  for (const Played& share : shares) {
    all.result.counts.Add(share.result.counts);
    for (const auto& [source, calls] : share.calls) {
      all.calls[source] += calls;
      if (&share != &shares[0]) all.calls_of_others[source] += calls;
    }
  }
  all.result.counts.seconds = shares[0].result.counts.seconds;
  all.seconds = shares[0].seconds;
  return all;
}

std::string WritePlayed(const Played& played) {
  std::vector<PackedTree> trees;
  const std::vector<Score> none;
  for (size_t i = 0; i < played.result.trees.size(); ++i) {
    trees.push_back(Pack(played.result.trees[i], played.scores.empty() ? none : played.scores[i]));
  }
  WireWriter writer;
  writer(!played.scores.empty(), trees, played.result.groups, played.result.counts, played.calls,
         played.seconds);
  return writer.Take();
}

Result<Played> ReadPlayed(std::string_view bytes) {
  Played played;
  std::vector<PackedTree> trees;
  bool scored = false;
  WireReader reader(bytes);
  reader(scored, trees, played.result.groups, played.result.counts, played.calls, played.seconds);
  if (!reader.whole()) return CutOff();
  for (const PackedTree& packed : trees) {
    HONE_ASSIGN_OR_RETURN(ScoredTree record, Unpack(packed));
    played.result.trees.push_back(std::move(record.tree));
    if (scored) played.scores.push_back(std::move(record.scores));
  }
  return played;
}

Result<GoldShare> AnswerShare(const StageContext& context, const DrawingTools& tools,
                              std::span<const GoldQuestion> questions, const std::string& run) {
  Executor* executor = tools.backend->executor();
  const CallCounts before = executor->counts().by_source;
  GoldShare answered;
  HONE_ASSIGN_OR_RETURN(answered.tasks,
                        AskForGold(*context.environment.environment, questions, executor, run));
  answered.calls = CallsSince(before, executor->counts().by_source);
  return answered;
}

std::string WriteQuestions(std::span<const GoldQuestion> questions) {
  std::vector<PackedTask> packed;
  for (const auto& [task, seed, again] : questions) {
    packed.push_back({DumpJson(TaskToJson(task)), "", seed, again});
  }
  WireWriter writer;
  writer(packed);
  return writer.Take();
}

Result<std::vector<GoldQuestion>> ReadQuestions(std::string_view bytes) {
  std::vector<PackedTask> packed;
  WireReader reader(bytes);
  reader(packed);
  if (!reader.whole()) return CutOff();
  std::vector<GoldQuestion> questions;
  for (const PackedTask& one : packed) {
    HONE_ASSIGN_OR_RETURN(Task task, Unpack(one));
    questions.push_back({std::move(task), one.seed, one.again});
  }
  return questions;
}

std::string WriteGoldShare(const GoldShare& answered) {
  std::vector<PackedTask> packed;
  for (const auto& [task, void_because] : answered.tasks) {
    packed.push_back({DumpJson(TaskToJson(task)), void_because});
  }
  WireWriter writer;
  writer(packed, answered.calls);
  return writer.Take();
}

Result<GoldShare> ReadGoldShare(std::string_view bytes) {
  GoldShare answered;
  std::vector<PackedTask> packed;
  WireReader reader(bytes);
  reader(packed, answered.calls);
  if (!reader.whole()) return CutOff();
  for (const PackedTask& one : packed) {
    HONE_ASSIGN_OR_RETURN(Task task, Unpack(one));
    answered.tasks.push_back({std::move(task), one.void_because});
  }
  return answered;
}

}  // namespace hone
