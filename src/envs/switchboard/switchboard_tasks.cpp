#include "envs/switchboard/switchboard_tasks.h"

#include <algorithm>

#include <fmt/format.h>

#include "base/check.h"
#include "base/hash.h"
#include "base/rng.h"
#include "envs/plan.h"
#include "envs/switchboard/switchboard_tools.h"

namespace hone::switchboard {
namespace {

// One combination in ten is of dev: nobody waits that long, where there are enough of them.
constexpr int kMostDraws = 10'000;

// The split that a combination belongs to: seven tenths, one and two.
Split SplitOfCombination(const std::string& key) {
  const uint64_t tenth = Hash64("switchboard " + key) % 10;
  return tenth < 7 ? Split::kTrain : tenth < 8 ? Split::kDev : Split::kTest;
}

std::vector<size_t> DifferentOperations(size_t count, int64_t wanted, Rng* rng) {
  std::vector<size_t> drawn;
  while (static_cast<int64_t>(drawn.size()) < wanted) {
    const size_t one = rng->Below(count);
    if (std::find(drawn.begin(), drawn.end(), one) == drawn.end()) drawn.push_back(one);
  }
  return drawn;
}

class SwitchboardTasks final : public TaskSource {
 public:
  SwitchboardTasks(std::shared_ptr<const Board> board, const SwitchboardOptions& options)
      : board_(std::move(board)), options_(options) {}

  std::optional<uint64_t> count(Split split) const override {
    const bool unseen = split == Split::kUnseenKinds || split == Split::kUnseenPhrases;
    return unseen ? std::optional<uint64_t>(0) : std::nullopt;
  }

  Task Make(Split split, uint64_t index) const override {
    Rng rng = Rng(options_.seed).Split("switchboard").Split(SplitName(split)).Split(index);
    const std::optional<std::vector<size_t>> operations = Draw(split, &rng);
    CHECK(operations.has_value(), "options that were not checked");
    const bool drifted = options_.drift > 0 && (split != Split::kTrain || index >= options_.drift);
    const std::string& first = board_->codes()[rng.Below(board_->codes().size())];
    const Plan plan = PlanFor(*operations, first, drifted);
    Task task;
    task.id = fmt::format("switchboard-{}-{}", SplitName(split), index);
    task.messages = Json::Array{Json::Of(
        {{"role", "user"}, {"content", fmt::format("Do {} from {}.", Names(*operations), first)}})};
    task.metadata = Json::Of({{"environment", "switchboard"},
                              {"kind", fmt::format("{}_{}{}", options_.loud ? "loud" : "silent",
                                                   options_.calls, drifted ? "_drifted" : "")},
                              {"phrase", "do"},
                              {"seed", board_->SessionSeed(drifted)},
                              {"keys", Json::Array{KeyOf(*operations)}},
                              {"plan", PlanToJson(plan)}});
    const Result<ResolvedPlan> gold = CarryOut(plan, [&](const Call& call) {
      return AnswerOf(*board_, options_.loud, drifted, call.arguments);
    });
    CHECK(gold.ok(), "a plan that its own world does not carry out");
    SetGold(*gold, &task);
    return task;
  }

  // A combination of the split, in some order; nothing when none was met.
  std::optional<std::vector<size_t>> Draw(Split split, Rng* rng) const {
    for (int i = 0; i < kMostDraws; ++i) {
      std::vector<size_t> drawn =
          DifferentOperations(board_->operations().size(), options_.calls, rng);
      if (SplitOfCombination(KeyOf(drawn)) == split) return drawn;
    }
    return std::nullopt;
  }

 private:
  std::string Names(const std::vector<size_t>& operations) const {
    std::vector<std::string> names;
    for (const size_t one : operations) names.push_back(board_->operations()[one]);
    return fmt::format("{}", fmt::join(names, " "));
  }

  std::string KeyOf(std::vector<size_t> operations) const {
    std::sort(operations.begin(), operations.end());
    return Names(operations);
  }

  Plan PlanFor(const std::vector<size_t>& operations, const std::string& first,
               bool drifted) const {
    Plan plan;
    std::string code = first;
    for (size_t i = 0; i < operations.size(); ++i) {
      const size_t form = board_->Accepted(operations[i], drifted);
      PlannedCall call;
      call.name = kOperationTool;
      call.arguments = Json::Of(
          {{"n", board_->operations()[operations[i]]}, {"f", board_->forms()[form]}, {"c", code}});
      plan.calls.push_back(std::move(call));
      code = fmt::format("${{{}.c}}", i);
    }
    plan.answers = {{code, std::nullopt}};
    return plan;
  }

  const std::shared_ptr<const Board> board_;
  const SwitchboardOptions options_;
};

}  // namespace

Result<void> CheckSwitchboard(const SwitchboardOptions& options) {
  const auto bad = [](std::string text) { return Error(ErrorCode::kInvalidArgument, text); };
  const BoardOptions& board = options.board;
  if (board.operations < 2 || board.operations > kMostOperations) {
    return bad(fmt::format("operations: from 2 to {}", kMostOperations));
  }
  if (board.forms < 3 || board.forms > kMostForms) {
    return bad(fmt::format("forms: from 3 to {}: a right one, a habit and others", kMostForms));
  }
  if (board.codes < board.forms || board.codes > kMostCodes) {
    return bad(fmt::format("codes: at least as many as forms, at most {}", kMostCodes));
  }
  if (options.calls < 2 || options.calls > board.operations) {
    return bad("calls: at least 2, at most as many as there are operations");
  }
  const SwitchboardTasks tasks(std::make_shared<const Board>(board), options);
  for (const Split split : {Split::kTrain, Split::kDev, Split::kTest}) {
    Rng rng = Rng(1).Split("check");
    if (tasks.Draw(split, &rng)) continue;
    return bad(fmt::format("operations: too few combinations of {} operations: {} would be empty",
                           options.calls, SplitName(split)));
  }
  return {};
}

SwitchboardOptions ReadSwitchboardOptions(RecipeTable table) {
  SwitchboardOptions options;
  BoardOptions& board = options.board;
  int64_t seed = 1, world = 1, names = 0, drift = 0;
  std::string mode = "silent";
  table.Read("seed", &seed, "of the tasks", AtLeast(0));
  table.Read("world", &world, "seed of the conventions, the codes and the habits", AtLeast(0));
  table.Read("names", &names, "seed of what operations are called", AtLeast(0));
  table.Read("operations", &board.operations, "that there are", Between(2, kMostOperations));
  table.Read("forms", &board.forms, "of which an operation accepts one", Between(3, kMostForms));
  table.Read("codes", &board.codes, "words that operations take and return",
             Between(3, kMostCodes));
  table.Read("calls", &options.calls, "operations of a request", Between(2, kMostOperations));
  table.ReadChoice("mode", &mode, {"silent", "loud"}, "what a wrong form gets");
  table.Read("tries", &options.tries, "loud: of one call", AtLeast(1));
  std::string refused = "end";
  table.ReadChoice("refused", &refused, {"end", "skip"},
                   "loud: after the last try the episode ends, or the next operation is due");
  options.skip_refused = refused == "skip";
  std::string judge = "gold";
  table.ReadChoice("judge", &judge, {"gold", "accepted"},
                   "what makes a call right: the task's plan, or (loud) that it was accepted");
  options.judge_by_acceptance = judge == "accepted";
  table.Read("habits", &board.habits, "share of operations with a bad habit of the teacher's",
             Between(0, 1));
  table.Read("shared_habit", &board.shared_habit, "one form and one habit for all: the control");
  table.Read("drift", &drift, "first training task with other conventions; 0: none", AtLeast(0));
  options.loud = mode == "loud";
  if (options.judge_by_acceptance && !options.loud) {
    table.Problem("judge", "\"accepted\" wants mode = \"loud\": a silent world accepts everything");
  }
  if (options.skip_refused && !options.loud) {
    table.Problem("refused", "\"skip\" wants mode = \"loud\": a silent world refuses nothing");
  }
  options.seed = static_cast<uint64_t>(seed);
  board.world = static_cast<uint64_t>(world);
  board.names = static_cast<uint64_t>(names);
  options.drift = static_cast<uint64_t>(drift);
  if (const Result<void> checked = CheckSwitchboard(options); !checked.ok()) {
    const std::string& message = checked.error().message();
    table.Problem(message.substr(0, message.find(':')), message.substr(message.find(':') + 2));
  }
  return options;
}

std::unique_ptr<TaskSource> NewSwitchboardTasks(std::shared_ptr<const Board> board,
                                                const SwitchboardOptions& options) {
  return std::make_unique<SwitchboardTasks>(std::move(board), options);
}

}  // namespace hone::switchboard
