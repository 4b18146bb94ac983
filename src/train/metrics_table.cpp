#include "train/metrics_table.h"

#include <fmt/format.h>

namespace hone {
namespace {

constexpr Better kHigher = Better::kHigher, kLower = Better::kLower, kNeither = Better::kNeither;

constexpr MetricSection kAgent = MetricSection::kAgent, kDrawn = MetricSection::kDrawn,
                        kUpdate = MetricSection::kUpdate, kImitation = MetricSection::kImitation,
                        kTime = MetricSection::kTime;

constexpr Metric kMetrics[] = {
    {kAgent, "success", "share", kHigher,
     "trajectories whose task was done, as the environment judges"},
    {kAgent, "when", "share", kHigher,
     "trajectories that called a tool when, and only when, one was needed"},
    {kAgent, "which", "share", kHigher, "calls that are of a right tool"},
    {kAgent, "which_accuracy", "share", kHigher, "another name of `which`"},
    {kAgent, "how", "share", kHigher, "calls of a right tool that have the right arguments"},
    {kAgent, "needless_call_rate", "share", kLower, "tasks that need no tool, with a call"},
    {kAgent, "missed_call_rate", "share", kLower, "tasks that need a tool, without a call"},
    {kAgent, "unused_call_rate", "share", kLower,
     "calls that brought nothing that the task needs, where that is known"},
    {kAgent, "hollow_reward", "reward", kLower,
     "paid for such calls, per trajectory with a call; absent: nothing was"},
    {kAgent, "tool_calls", "calls", kNeither, "per trajectory"},
    {kAgent, "num_turns", "turns", kNeither, "of the agent, per trajectory"},
    {kAgent, "response_length", "tokens", kNeither, "of the agent, per trajectory"},
    {kAgent, "thought_tokens", "tokens", kNeither,
     "of the agent's thoughts, per trajectory; absent, as the next two: there were none"},
    {kAgent, "thoughtful_turns", "share", kNeither, "turns of the agent with a thought"},
    {kAgent, "closed_thoughts", "share", kNeither, "thoughts that a limit of `rollout` closed"},
    {kAgent, "reward/mean", "reward", kHigher, "all terms, each times its weight"},
    {kAgent, "reward/*", "reward", kNeither, "one term, times its weight"},
    {kAgent, "unscored", "trajectories", kLower, "without a reward (a judge that failed)"},
    {kAgent, "faults", "actions", kLower, "that could not be read, per trajectory"},
    {kAgent, "valid_action_rate", "share", kHigher,
     "actions (calls, answers, unreadable ones) that could be read"},
    {kAgent, "unread_call_rate", "share", kLower,
     "turns that look like a call in a format that the dialect does not read; absent: none"},
    {kAgent, "execution_failure_rate", "share", kLower,
     "calls that did not run, whoever is to blame"},
    {kAgent, "fault_rate", "share", kLower,
     "trajectories that somebody other than the agent broke"},
    {kAgent, "truncated_rate", "share", kLower,
     "trajectories cut off by a limit of tokens or turns, at their end or inside a turn"},
    {kAgent, "dev/sampled", "share", kHigher,
     "success on dev with the real tools, drawn; in steps with an evaluation"},
    {kAgent, "dev/greedy", "share", kHigher, "the same with the likeliest tokens"},
    {kAgent, "dev/sampled/*", "share", kHigher, "`dev/sampled` of one of several environments"},
    {kAgent, "dev/greedy/*", "share", kHigher, "`dev/greedy` of one of several environments"},
    {kAgent, "dev/success", "share", kHigher, "what alarms call `dev/sampled`; not written"},

    {kDrawn, "groups", "groups", kNeither, "that are trained on"},
    {kDrawn, "trajectories", "trajectories", kNeither, "that were drawn"},
    {kDrawn, "drawn_groups", "groups", kNeither,
     "with dynamic sampling: drawn to have those that are trained on"},
    {kDrawn, "void_tasks", "tasks", kLower,
     "left out because they make no sense in the world that answers"},
    {kDrawn, "unopened_groups", "groups", kLower,
     "that could not begin, such as those whose prompt does not fit the model; their trajectories "
     "count in `fault_rate`"},
    {kDrawn, "sampled_tokens", "tokens", kNeither, "that were drawn"},
    {kDrawn, "shared_tokens", "share", kNeither, "tokens that several trajectories have in common"},
    {kDrawn, "real_calls", "calls", kNeither, "answered by real tools"},
    {kDrawn, "simulated_calls", "calls", kNeither, "answered by the simulator"},
    {kDrawn, "spent/dollars", "dollars", kLower, "what real tools cost on their `[[conditions]]`"},
    {kDrawn, "spent/hours", "hours", kLower,
     "how long they took on these conditions, on a virtual clock; drawing tokens takes no time "
     "there"},
    {kDrawn, "lag", "steps", kLower,
     "with `rollout.ahead` or an endpoint: by which the weights that drew a token were behind, on "
     "average"},
    {kDrawn, "mismatch/tokens", "tokens", kNeither,
     "with an endpoint: that it drew and the policy was asked about"},
    {kDrawn, "mismatch/exact_share", "share", kHigher,
     "those of which both log-probs have the same bits, so that their ratio is exactly 1"},
    {kDrawn, "mismatch/mean_abs", "nats", kLower,
     "the policy's log-prob minus the endpoint's, without sign, per token"},
    {kDrawn, "mismatch/kl", "nats", kLower,
     "distance of the policy from who drew, per token (r - 1 - log r, r = policy / endpoint)"},
    {kDrawn, "mismatch/max_ratio", "ratio", kLower, "the largest of one probability to the other"},
    {kDrawn, "remote_retries", "requests", kLower, "to the endpoint that had to be made again"},
    {kDrawn, "curriculum/*", "weight", kNeither,
     "how often the curriculum draws this kind of task"},
    {kDrawn, "reward_deviation/*", "reward", kNeither,
     "with `rewards.normalise.scale`: what this term's values were divided by"},
    {kDrawn, "zero_advantage_groups", "share", kLower,
     "groups without any credit: all fared alike"},
    {kDrawn, "left_out", "share", kLower,
     "trajectories that a channel of the method left out, because what it compares was not scored "
     "(`hone credit explain` says which, and why)"},

    {kUpdate, "loss", "", kNeither, "the sum of the four below"},
    {kUpdate, "policy_loss", "", kNeither, "of the advantages"},
    {kUpdate, "kl_loss", "", kNeither, "of the distance to the reference"},
    {kUpdate, "entropy_loss", "", kNeither, "of the entropy bonus"},
    {kUpdate, "value_loss", "", kNeither, "of the critic"},
    {kUpdate, "approx_kl", "nats", kNeither, "old minus new log-probability, per token"},
    {kUpdate, "kl", "nats", kNeither, "distance to the reference, per token; 0 without one"},
    {kUpdate, "kl_coefficient", "", kNeither, "what that distance weighs"},
    {kUpdate, "entropy", "nats", kNeither, "of the policy, per token"},
    {kUpdate, "entropy_coefficient", "", kNeither,
     "with `entropy_target`: the bonus per nat that was given"},
    {kUpdate, "clip_fraction", "share", kNeither, "tokens whose ratio was cut"},
    {kUpdate, "value_clip_fraction", "share", kNeither, "tokens whose value was cut"},
    {kUpdate, "ratio_mean", "ratio", kNeither, "new to old probability"},
    {kUpdate, "ratio_max", "ratio", kNeither, "the largest of them"},
    {kUpdate, "ratio_one_tokens", "tokens", kNeither,
     "of the step's first mini-batch, where no earlier weights drew"},
    {kUpdate, "ratio_one_share", "share", kHigher,
     "those with a ratio of exactly 1 to the policy that drew them; anything but 1 stops the run; "
     "absent where earlier weights drew (`rollout.ahead`) or an "
     "endpoint"},
    {kUpdate, "correction_weight", "weight", kNeither,
     "mean weight of the correction; 1 where nothing is corrected"},
    {kUpdate, "vetoed_sequences", "trajectories", kNeither, "that the correction left out"},
    {kUpdate, "limited_tokens", "tokens", kNeither, "that `low_probability` held back"},
    {kUpdate, "loss_sequences", "trajectories", kNeither, "in the loss"},
    {kUpdate, "loss_tokens", "tokens", kNeither, "in the loss"},
    {kUpdate, "replayed", "groups", kNeither, "replayed"},
    {kUpdate, "imitated_tokens", "tokens", kNeither, "of demonstrations mixed in by a remedy"},
    {kUpdate, "grad_norm", "", kNeither, "largest of the step, before clipping"},
    {kUpdate, "learning_rate", "", kNeither, "of the optimiser"},
    {kUpdate, "value_learning_rate", "", kNeither,
     "of the critic's head, where it has its own rate or a warm-up"},

    {kImitation, "sft/loss", "nats", kLower, "per token of the agent"},
    {kImitation, "sft/other_loss", "nats", kLower, "per token of others"},
    {kImitation, "preference/loss", "nats", kLower, "of a stage of preferences, per pair"},
    {kImitation, "preference/accuracy", "share", kHigher,
     "pairs whose chosen side gained more on the reference than the rejected one"},
    {kImitation, "preference/margin", "", kHigher, "`preference/chosen` - `preference/rejected`"},
    {kImitation, "preference/chosen", "", kNeither,
     "beta times what the policy's log-probability of the chosen side has gained on the reference"},
    {kImitation, "preference/rejected", "", kLower, "the same of the rejected side"},
    {kImitation, "tokens", "tokens", kNeither, "trained on since the line before"},

    {kTime, "time/step", "seconds", kLower, "all of it"},
    {kTime, "time/sampling", "seconds", kLower, "drawing tokens"},
    {kTime, "time/tools", "seconds", kLower, "waiting for tools or the simulator"},
    {kTime, "time/rollout", "seconds", kLower, "the rest of the rollout"},
    {kTime, "time/push", "seconds", kLower, "writing weights for an endpoint, which loads them"},
    {kTime, "time/tasks", "seconds", kLower, "what is asked"},
    {kTime, "time/rewards", "seconds", kLower, "scoring"},
    {kTime, "time/measuring", "seconds", kLower, "figures"},
    {kTime, "time/credit", "seconds", kLower, "credit"},
    {kTime, "time/reference", "seconds", kLower,
     "asking the reference, the critic, and the policy about what an endpoint drew"},
    {kTime, "time/training", "seconds", kLower, "forward, backward and optimiser"},
    {kTime, "time/demonstrations", "seconds", kLower, "making demonstrations"},
    {kTime, "time/recording", "seconds", kLower, "recording calls for a simulator or a record"},
    {kTime, "time/evaluation", "seconds", kLower, "measuring on dev"},
    {kTime, "time/checkpoint", "seconds", kLower, "saving"},
    {kTime, "time/store", "seconds", kLower, "writing this"},
    {kTime, "time/set-up", "seconds", kLower, "loading"},
    {kTime, "process/*/rollout", "seconds", kLower, "playing and scoring in each process"},
    {kTime, "time/waiting", "seconds", kLower, "for another run that makes the same stage"},
    {kTime, "tokens_per_second", "tokens/s", kHigher,
     "drawn (rl) or trained on (sft), by `time/step`"},
    {kTime, "device_busy_share", "share", kHigher,
     "of `time/step`, in which the GPU was at work for this run; only where one computes"},
};

bool Covers(const Metric& metric, std::string_view name) {
  if (!metric.name.ends_with('*')) return metric.name == name;
  return name.starts_with(metric.name.substr(0, metric.name.size() - 1));
}

std::string_view BetterText(Better better) {
  return better == kHigher ? "higher" : better == kLower ? "lower" : "";
}

}  // namespace

std::span<const Metric> MetricsTable() { return kMetrics; }

const Metric* FindMetric(std::string_view name) {
  const Metric* found = nullptr;
  for (const Metric& metric : kMetrics) {
    if (metric.name == name) return &metric;
    if (Covers(metric, name)) found = &metric;
  }
  return found;
}

std::string MetricRows(MetricSection section) {
  std::string rows = "| key | unit | better | |\n|---|---|---|---|\n";
  for (const Metric& metric : kMetrics) {
    if (metric.section != section) continue;
    rows += fmt::format("| `{}` | {} | {} | {} |\n", metric.name, metric.unit,
                        BetterText(metric.better), metric.meaning);
  }
  return rows;
}

}  // namespace hone
