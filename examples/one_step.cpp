// One step of training, from tasks to new weights, printed piece by piece.
//
//   PoseTasks ─▶ DrawGroups ─▶ ScoreGroups ─▶ CreditGroups ─▶ UpdatePolicy
//
// A small agent at a desk is asked for the time and for days of the week. It may call tools, and
// should where it cannot know the answer. These five functions (learn/step.h, learn/update.h) are
// the ones that `hone train` calls in every step; here each is called once, and what it made is
// shown for one trajectory: the one with the call that earned the most credit.
//
// Ends with 0 if that call is likelier after the step. A few seconds, the same bits every time.

#include <numeric>

#include <fmt/format.h>

#include "base/file.h"
#include "credit/methods.h"
#include "learn/step.h"
#include "learn/update.h"
#include "learn/workshop.h"
#include "rewards/presets.h"

namespace {

using namespace hone;  // NOLINT(google-build-using-namespace): an example reads better so

constexpr char kRecipe[] = R"(
[model]
dialect = "tagged:desk"   # how calls and answers are written down
fresh = {layers = 2, width = 64, heads = 4, positions = 192}
tokenizer = {texts = 100, vocabulary = 400, min_frequency = 4}
[environment]
kind = "desk"
tasks = {kinds = ["clock", "day_after"]}
[rollout]
turn_tokens = 32
[[stage]]
kind = "sft"              # imitation, so that the agent calls and answers at all
steps = 80
batch = 8
learning_rate = 0.01
warmup = 5
)";

double Sum(const std::vector<float>& values, const Span& span) {
  return std::accumulate(values.begin() + span.begin, values.begin() + span.end, 0.0);
}

// Of the tokens of a trajectory, per token.
double CreditOf(const ScoredTree& record, size_t trajectory, const Span& tokens) {
  return Sum(record.advantages[trajectory].values, tokens) / (tokens.end - tokens.begin);
}

struct CreditedCall {
  size_t group = 0, trajectory = 0;
  NodeId node = kNoNode;  // of the group's tree, and which of its tokens spell the call
  Span span;
  double credit = -1e9;
};

CreditedCall BestCall(const std::vector<ScoredTree>& records) {
  CreditedCall best;
  for (size_t g = 0; g < records.size(); ++g) {
    const Group group = GroupOf(records[g]).value();
    for (size_t t = 0; t < group.trajectories.size(); ++t) {
      for (const Action& action : group.trajectories[t].actions) {
        const double credit = CreditOf(records[g], t, action.tokens);
        if (action.kind != ActionKind::kCall || credit <= best.credit) continue;
        best = {g, t, group.trajectories[t].turns[action.turn].node, action.span, credit};
      }
    }
  }
  return best;
}

// What the agent wrote and read, what that was worth, and who earned it.
void Print(const ScoredTree& record, size_t number, const Tokenizer& tokenizer) {
  const Trajectory trajectory = GroupOf(record)->trajectories[number];
  for (const NodeId id : WholePathTo(record.tree, record.tree.leaves[number].node)) {
    const Node& node = record.tree.nodes[id];
    fmt::print("    {:<7} {}\n", AuthorName(node.author), tokenizer.Decode(node.tokens));
  }
  fmt::print("  rewards\n");
  for (const RewardTerm& term : record.scores[number].terms) {
    const int32_t action = PlaceOf(term, trajectory).action;
    fmt::print("    {:<7} {:+.2f}  {}\n", term.name, term.weight * term.value.value_or(0),
               action < 0 ? "the trajectory" : fmt::format("call {}", action + 1));
  }
  fmt::print("  credit per token\n");
  for (const Span& span : MaskSpans(TokenMask::kActions, trajectory)) {
    fmt::print("    call    {:+.2f}\n", CreditOf(record, number, span));
  }
  for (const Span& span : MaskSpans(TokenMask::kOffActions, trajectory)) {
    fmt::print("    other   {:+.2f}\n", CreditOf(record, number, span));
  }
}

}  // namespace

int main() {
  // An environment with its tools, a tokenizer, and a fresh model that imitates for a little while.
  Recipe text = Recipe::Parse(kRecipe, "one_step.cpp").value();
  const TrainingRecipe recipe = ReadTrainingRecipe(&text).value();
  const TemporaryDirectory folder;
  const auto clock = NewRealClock();
  PassTimes times(clock.get());
  const auto shop = Workshop::Open(recipe, folder.path(), {}, &times).value();
  const Tokenizer& tokenizer = *shop->language.tokenizer;
  shop->engine =
      std::make_unique<Engine>(MakeModel(recipe.model, tokenizer, 1).value(), shop->engine_options);
  const auto imitation = recipe.stages[0]->Open(0, true, shop.get()).value();
  for (int64_t step = 0; !imitation->IsOver(step); ++step) imitation->Step(step).value();

  // The step.
  const Rng rng = Rng(recipe.run.seed).Split("one step");
  const LoadedEnvironment& desk = shop->environment;
  const auto curriculum = NewCurriculum({}, desk.tasks.get(), rng).value();
  const Round round{.groups = 8, .leaves = 8, .scope = "0", .rng = rng};
  const TaskSupply supply{.environment = &desk, .curriculum = curriculum.get()};
  PosedTasks posed = PoseTasks(supply, round).value();
  fmt::print("PoseTasks     {} tasks, each to be done {} times\n", posed.asked, round.leaves);

  const Rollout rollout = Rollout::New({}, desk.environment.get(), shop->PolicyAt(1, 0).value(),
                                       recipe.rollout.strategy.get(), shop->real->executor())
                              .value();
  DrawnGroups drawn = DrawGroups(rollout, std::move(posed)).value();
  const RolloutCounts& counts = drawn.counts;
  fmt::print("DrawGroups    {} trajectories with {} calls\n", counts.leaves, counts.calls);

  const auto rewarder = NewPreset("desk").value();
  ScoredGroups scored = ScoreGroups({.rewarder = rewarder.get()}, std::move(drawn)).value();
  const double success = ValueOf(scored.measures, "success").value();
  fmt::print("ScoreGroups   {:.0f} % of them succeed\n", 100 * success);

  const Method method = NewMethod("toolpo").value();
  CreditedGroups credited = CreditGroups({.method = method}, std::move(scored.records), {}).value();
  const CreditedCall best = BestCall(credited.records);
  const ScoredTree& record = credited.records[best.group];
  fmt::print("CreditGroups  by {}; the best call is in this trajectory:\n", method.name);
  Print(record, best.trajectory, tokenizer);

  const UpdatePlan plan{.optimizer = {.learning_rate = 1e-3}, .on_policy = true};
  const auto groups = TrainingGroupsOf(method, credited).value();
  const UpdateReport update = UpdatePolicy(plan, groups, rng, shop->engine.get());
  fmt::print("UpdatePolicy  one step on {} tokens\n", update.all.tokens);
  const TreeScores now = shop->engine->LogProbs({&record.tree, 1})[0];
  const double before = Sum(record.tree.nodes[best.node].logprobs, best.span);
  const double after = Sum(now[best.node].logprobs, best.span);
  fmt::print("  log-probability of the best call: {:.4f} before, {:.4f} after\n", before, after);
  return after > before ? 0 : 1;
}
