// One step of training, from tasks to new weights, printed piece by piece.
//
//   PoseTasks ─▶ DrawGroups ─▶ ScoreGroups ─▶ CreditGroups ─▶ UpdatePolicy
//
// A small agent at a desk is asked for the time in a city, which it must look up, and for days of
// the week, which it should know. `hone train` calls these functions (learn/step.h, learn/update.h)
// in every step of practice; here each is called once, and shown is the trajectory whose call
// earned the most. Ends with 0 if, on the whole, what had credit is likelier afterwards.

#include <numeric>

#include <fmt/format.h>

#include "base/file.h"
#include "credit/methods.h"
#include "learn/step.h"
#include "learn/update.h"
#include "rewards/presets.h"
#include "train/stage_context.h"

namespace {

using namespace hone;  // NOLINT(google-build-using-namespace): an example reads better so

// A fresh model imitates for some seconds, so that it calls and answers at all.
constexpr char kRecipe[] = R"(
stage = [{kind = "sft", steps = 300, batch = 16, learning_rate = 0.01, warmup = 5}]
environment = {kind = "desk", tasks = {kinds = ["clock", "day_after"]}}
rollout = {turn_tokens = 32}
[model]
dialect = "tagged:desk"
fresh = {layers = 2, width = 64, heads = 4, positions = 192}
tokenizer = {texts = 100, vocabulary = 400, min_frequency = 4}
)";

double Sum(const std::vector<float>& values, const Span& span) {
  return std::accumulate(values.begin() + span.begin, values.begin() + span.end, 0.0);
}

struct CreditedCall {
  size_t group = 0, trajectory = 0;
  NodeId node = kNoNode;  // of the group's tree
  Span span;              // its tokens that spell the call
  double credit = -1e9;
};

CreditedCall BestCall(const std::vector<ScoredTree>& records) {
  CreditedCall best;
  for (size_t g = 0; g < records.size(); ++g) {
    const Group group = GroupOf(records[g]).value();
    for (size_t t = 0; t < group.trajectories.size(); ++t) {
      for (const Action& action : group.trajectories[t].actions) {
        const double credit = records[g].advantages[t].values[action.tokens.begin];
        if (action.kind != ActionKind::kCall || credit <= best.credit) continue;
        best = {g, t, group.trajectories[t].turns[action.turn].node, action.span, credit};
      }
    }
  }
  return best;
}

// What the agent wrote and read, what that was worth, and what its tokens get for it.
void Print(const ScoredTree& record, size_t number, const Tokenizer& tokenizer) {
  for (const NodeId id : WholePathTo(record.tree, record.tree.leaves[number].node)) {
    const Node& node = record.tree.nodes[id];
    fmt::print("    {:<7} {}\n", AuthorName(node.author), tokenizer.Decode(node.tokens));
  }
  for (const RewardTerm& term : record.scores[number].terms) {
    fmt::print("    reward  {:+.2f}  {}\n", term.weight * term.value.value_or(0), term.name);
  }
  const Trajectory trajectory = GroupOf(record)->trajectories[number];
  const std::vector<float>& credit = record.advantages[number].values;
  for (const Span& call : MaskSpans(TokenMask::kActions, trajectory)) {
    fmt::print("    credit  {:+.2f}  each token of a call\n", credit[call.begin]);
  }
  fmt::print("    credit  {:+.2f}  each token of the answer\n", credit.back());
}

// How far the log-probabilities of all tokens have moved, each in the direction of its credit.
double Gain(const std::vector<TrainingGroup>& groups, Engine* engine) {
  double gain = 0;
  for (const TrainingGroup& group : groups) {
    const auto now = LogProbsOf(group, engine->LogProbs({&group.tree, 1})[0]);
    for (size_t s = 0; s < now.size(); ++s) {
      const Sequence& sequence = group.sequences[s];
      for (size_t t = 0; t < sequence.size(); ++t) {
        gain += sequence.advantages[t] * (now[s][t] - sequence.sampled[t]);
      }
    }
  }
  return gain;
}

}  // namespace

int main() {
  Recipe text = Recipe::Parse(kRecipe, "one_step.cpp").value();
  const TrainingRecipe recipe = ReadTrainingRecipe(&text).value();
  const TemporaryDirectory folder;
  const auto clock = NewRealClock();
  PassTimes times(clock.get());
  const auto context = StageContext::Open(recipe, folder.path(), {}, &times).value();
  const Tokenizer& tokenizer = *context->language.tokenizer;
  if (!context->MakeEngine().ok()) return 1;
  const auto imitation = recipe.stages[0]->Open(0, true, context.get()).value();
  for (int64_t step = 0; !imitation->IsOver(step); ++step) imitation->Step(step).value();

  const Rng rng = Rng(recipe.run.seed).Split("one step");
  const auto curriculum = NewCurriculum({}, context->environment.tasks.get(), rng).value();
  const TaskSupply supply{.environment = &context->environment, .curriculum = curriculum.get()};
  const Round round{.groups = 8, .leaves = 8, .scope = "0", .rng = rng};
  PosedTasks posed = PoseTasks(supply, round).value();
  fmt::print("PoseTasks     {} tasks, each to be done {} times\n", posed.asked, round.leaves);

  const Environment* desk = context->environment.environment.get();
  const Policy policy = context->PolicyAt(1, 0).value();
  const Strategy* chains = recipe.rollout.strategy.get();
  const auto rollout = Rollout::New({}, desk, policy, chains, context->real->executor()).value();
  DrawnGroups drawn = DrawGroups(rollout, std::move(posed)).value();
  fmt::print("DrawGroups    {} calls in all\n", drawn.counts.calls);

  const auto rewarder = NewPreset("desk").value();
  ScoredGroups scored = ScoreGroups({.rewarder = rewarder.get()}, std::move(drawn)).value();
  fmt::print("ScoreGroups   {:.0f} % succeed\n", 100 * *ValueOf(scored.measures, "success"));

  const Method method = NewMethod("toolpo").value();
  CreditedGroups credited = CreditGroups({.method = method}, std::move(scored.records), {}).value();
  const CreditedCall best = BestCall(credited.records);
  const ScoredTree& record = credited.records[best.group];
  fmt::print("CreditGroups  by {}; the best call is in this trajectory:\n", method.name);
  Print(record, best.trajectory, tokenizer);

  // Without the momentum that imitation has left in the optimiser.
  const UpdateOptions options{.optimizer = {.learning_rate = 1e-3, .beta1 = 0}, .on_policy = true};
  const auto groups = TrainingGroupsOf(method, credited).value();
  UpdatePolicy(options, groups, rng, context->engine.get());
  const double gain = Gain(groups, context->engine.get());
  fmt::print("UpdatePolicy  credit times change of log-probability: {:+.2f}\n", gain);
  const TreeLogprobs now = context->engine->LogProbs({&record.tree, 1})[0];
  fmt::print("    log-probability of the best call: {:.4f} before, {:.4f} after\n",
             Sum(record.tree.nodes[best.node].logprobs, best.span),
             Sum(now[best.node].logprobs, best.span));
  return gain > 0 ? 0 : 1;
}
