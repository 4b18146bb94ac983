#include "envs/switchboard/switchboard_teacher.h"

#include <fmt/format.h>

#include "envs/agents.h"
#include "envs/switchboard/switchboard_tools.h"

namespace hone::switchboard {
namespace {

// What the request asks for.
struct Asked {
  std::vector<size_t> operations;
  std::string first;  // code
};

Result<Asked> AskedIn(const Task& task, const Board& board) {
  const Error bad(ErrorCode::kInvalidArgument,
                  fmt::format("task \"{}\" has no plan of operations to demonstrate", task.id));
  HONE_ASSIGN_OR_RETURN(const std::optional<Plan> plan, PlanOf(task));
  if (!plan || plan->calls.empty()) return bad;
  Asked asked;
  for (const PlannedCall& call : plan->calls) {
    const Json *name = call.arguments.Find("n"), *code = call.arguments.Find("c");
    if (name == nullptr || !name->is_string() || code == nullptr || !code->is_string()) return bad;
    const std::optional<size_t> operation = PlaceIn(board.operations(), name->AsString());
    if (!operation) return bad;
    if (asked.operations.empty()) asked.first = code->AsString();
    asked.operations.push_back(*operation);
  }
  return asked;
}

class SwitchboardTeacher final : public Agent {
 public:
  SwitchboardTeacher(std::shared_ptr<const Board> board, Asked asked, int64_t skip_after,
                     const Rng& rng)
      : board_(std::move(board)),
        asked_(std::move(asked)),
        skip_after_(skip_after),
        code_(asked_.first),
        rng_(rng) {}

  AgentTurn Act(const Opening&, const std::vector<PlayedTurn>& turns) override {
    if (!turns.empty()) Observe(turns.back().agent);
    if (done_ == asked_.operations.size()) return Says(code_);
    const size_t operation = asked_.operations[done_];
    AgentTurn turn;
    turn.calls = {{kOperationTool,
                   Json::Of({{"n", board_->operations()[operation]},
                             {"f", board_->forms()[TaughtForm(*board_, operation, &rng_)]},
                             {"c", code_}}),
                   {}}};
    return turn;
  }

 private:
  void Observe(const AgentTurn& turn) {
    if (turn.results.empty() || turn.results[0].status != CallStatus::kOk) return Refused();
    const Result<Json> value = ParseJson(turn.results[0].content);
    const Json* code = value.ok() ? value->Find("c") : nullptr;
    if (code == nullptr || !code->is_string()) return;
    code_ = code->AsString();
    refused_ = 0;
    ++done_;
  }

  void Refused() {
    if (skip_after_ == 0 || ++refused_ < skip_after_) return;
    refused_ = 0;
    ++done_;
  }

  const std::shared_ptr<const Board> board_;
  const Asked asked_;
  const int64_t skip_after_;
  std::string code_;  // the last one
  size_t done_ = 0;   // operations, or given up
  int64_t refused_ = 0;
  Rng rng_;
};

}  // namespace

size_t TaughtForm(const Board& board, size_t operation, Rng* rng) {
  const size_t right = board.Accepted(operation, /*drifted=*/false);
  const bool at_work = rng->NextDouble() < board.HabitShare(operation);
  const double drawn = rng->NextDouble();
  if (drawn < (at_work ? kRightWithHabit : kRightWithout)) return right;
  const size_t habit = board.Habit(operation);
  if (at_work && drawn < kRightWithHabit + kHabitual) return habit;
  std::vector<size_t> others;
  for (size_t form = 0; form < board.forms().size(); ++form) {
    if (form != right && !(at_work && form == habit)) others.push_back(form);
  }
  return others[rng->Below(others.size())];
}

TeacherMaker NewSwitchboardTeacher(std::shared_ptr<const Board> board, int64_t skip_after) {
  return [board = std::move(board), skip_after](const Task& task, double /*error*/,
                                                Rng rng) -> Result<std::unique_ptr<Agent>> {
    HONE_ASSIGN_OR_RETURN(Asked asked, AskedIn(task, *board));
    return std::unique_ptr<Agent>(
        std::make_unique<SwitchboardTeacher>(board, std::move(asked), skip_after, rng));
  };
}

}  // namespace hone::switchboard
