#include "lab/scale/run_simulation.h"

#include <algorithm>
#include <cmath>

#include "base/rng.h"
#include "learn/together/slices.h"

namespace hone::lab {
namespace {

// When a process's device is in use for training, which goes before drawing.
struct Interval {
  double begin = 0, end = 0;
};

// When work that begins at `start` is done, in the time that intervals (in their order) leave.
double WorkedOff(double start, double work, const std::vector<Interval>& taken) {
  double now = start;
  for (const Interval& interval : taken) {
    if (interval.end <= now) continue;
    const double free = std::max(0.0, interval.begin - now);
    if (work <= free) break;
    work -= free;
    now = interval.end;
  }
  return now + work;
}

// What one step takes, wherever it begins.
struct StepWork {
  std::vector<PlayTimes> played;  // by process; nothing: it does not play
  std::vector<double> computing;  // by process: of its slices
  double longest = 0;             // of whoever takes longest in each mini-batch
  double gathering = 0, leading = 0, sending = 0;
  double trajectories = 0, drawn_tokens = 0, tree_tokens = 0;
};

class RunSimulation {
 public:
  explicit RunSimulation(const ScaleOptions& options)
      : options_(options),
        costs_(options),
        exchange_(options, costs_),
        processes_(static_cast<size_t>(options.run.processes)) {
    const auto computing = static_cast<size_t>(std::min(options.run.slices, options.run.processes));
    for (size_t p = options.run.trainers_draw ? 0 : computing; p < processes_; ++p) {
      players_.push_back(p);
    }
  }

  ScaleForecast Run() {
    const int64_t ahead = options_.run.ahead;
    // Until as many steps are under way as there can be.
    const int64_t filling = 2 * ahead, all = filling + options_.run.steps;
    ScaleForecast sum;
    double worked = 0;               // of all devices
    std::vector<double> made = {0};  // when there are the weights after so many steps
    std::vector<double> drawn_until(processes_, 0);
    std::vector<std::vector<Interval>> training(processes_);
    for (int64_t step = 0; step < all; ++step) {
      const StepWork work = WorkOf(step);
      const double begun = made[static_cast<size_t>(std::max<int64_t>(0, step - ahead))];
      double drawn = begun;
      for (const size_t p : players_) {
        drawn_until[p] =
            WorkedOff(std::max(begun, drawn_until[p]), work.played[p].busy, training[p]);
        drawn = std::max({drawn, drawn_until[p], begun + work.played[p].span});
      }
      const double at_hand = std::max(drawn + work.gathering, made.back());
      const double start = at_hand + work.leading + work.sending;
      const auto batches = static_cast<double>(Batches());
      for (size_t p = 0; p < processes_; ++p) {
        const double own = work.computing[p] + batches * exchange_.reduce().optimizer;
        training[p].push_back({start, start + own});
        worked += own + work.played[p].busy;
      }
      made.push_back(start + work.longest + batches * exchange_.reduce().Total());
      if (step >= filling) Add(work, &sum);
    }
    sum.busy = worked / static_cast<double>(processes_) / made.back();
    return Mean(sum, made.back() - made[static_cast<size_t>(filling)]);
  }

 private:
  // Groups that are trained on.
  int64_t Trained() const {
    return std::llround(options_.workload.trained_share *
                        static_cast<double>(options_.workload.groups));
  }
  int64_t Batches() const { return std::min(options_.workload.mini_batches, Trained()); }

  StepWork WorkOf(int64_t step) const {
    const Rng rng = Rng(options_.run.seed).Split("step").Split(static_cast<uint64_t>(step));
    const std::vector<PlayedGroup> groups = DrawLengths(options_.workload, rng);
    StepWork work;
    std::vector<double> tokens;  // by group
    for (const PlayedGroup& group : groups) {
      tokens.push_back(group.tree_tokens(options_.workload));
      work.tree_tokens += tokens.back();
      work.drawn_tokens += static_cast<double>(group.drawn_tokens());
      work.trajectories += static_cast<double>(group.trajectories.size());
    }
    Play(groups, tokens, &work);
    Lead(&work);
    Train(tokens, rng, &work);
    return work;
  }

  // Groups are dealt out by their number (train/processes/shared_play.h).
  void Play(const std::vector<PlayedGroup>& groups, const std::vector<double>& tokens,
            StepWork* work) const {
    std::vector<std::vector<const PlayedGroup*>> shares(processes_);
    std::vector<double> bytes(processes_, 0);
    for (size_t g = 0; g < groups.size(); ++g) {
      const size_t player = players_[g % players_.size()];
      shares[player].push_back(&groups[g]);
      bytes[player] += tokens[g] * options_.machine.tree_bytes;
    }
    work->played.resize(processes_);
    for (const size_t p : players_) {
      work->played[p] = SimulatePlay(costs_, options_.workload, shares[p]);
    }
    if (processes_ == 1) return;
    double written = 0, read = 0;
    for (size_t p = 1; p < processes_; ++p) {
      written = std::max(written, bytes[p]);
      read += bytes[p];
    }
    const double rate = options_.machine.tree_rate;
    if (rate > 0) work->gathering = (written + read) / rate;
    work->gathering += exchange_.GatherSeconds(bytes) + exchange_.BroadcastSeconds(0);
  }

  void Lead(StepWork* work) const {
    const ScaleMachineOptions& machine = options_.machine;
    work->leading = machine.leader_seconds + machine.token_seconds * work->tree_tokens;
    if (processes_ == 1) return;
    const double bytes = machine.update_bytes * work->tree_tokens * options_.workload.trained_share;
    work->sending = exchange_.BroadcastSeconds(bytes);
    if (machine.update_rate > 0) work->sending += 2 * bytes / machine.update_rate;
    // What the slices of a mini-batch say of themselves, before and after.
    work->sending += static_cast<double>(2 * Batches()) * exchange_.WordSeconds();
  }

  // Mini-batches of shuffled groups, each in slices (learn/batches.h). Those that are trained on
  // are any of them: the first of the shuffled ones.
  void Train(const std::vector<double>& tokens, const Rng& rng, StepWork* work) const {
    work->computing.assign(processes_, 0);
    const std::vector<size_t> order = Shuffled(tokens.size(), rng.Split("mini-batches"));
    const int64_t batches = Batches(), slices = options_.run.slices;
    for (int64_t batch = 0; batch < batches; ++batch) {
      const auto [begin, end] = PartOf(static_cast<size_t>(Trained()), batches, batch);
      double slowest = 0;
      std::vector<double> own(processes_, 0);
      for (size_t p = 0; p < processes_; ++p) {
        const SliceRange mine =
            SlicesOfProcess(slices, static_cast<int>(processes_), static_cast<int>(p));
        double sum = 0;
        for (int64_t slice = mine.begin; slice < mine.end; ++slice) {
          const auto [first, last] = PartOf(end - begin, slices, slice);
          for (size_t i = first; i < last; ++i) sum += tokens[order[begin + i]];
        }
        const auto share = static_cast<double>(mine.end - mine.begin) / static_cast<double>(slices);
        own[p] = costs_.TrainingSeconds(sum) + costs_.BatchSeconds() * share;
        slowest = std::max(slowest, own[p]);
      }
      // All wait for each other at the end of a mini-batch; what each computes is its own.
      for (size_t p = 0; p < processes_; ++p) work->computing[p] += own[p];
      work->longest += slowest;
    }
  }

  void Add(const StepWork& work, ScaleForecast* sum) const {
    double longest = 0, all = 0, most_tokens = 0;
    for (const size_t p : players_) {
      longest = std::max(longest, work.played[p].span);
      all += work.played[p].span;
      most_tokens = std::max(most_tokens, work.played[p].most_tokens);
    }
    sum->drawing += longest;
    sum->mean_drawing += all / static_cast<double>(players_.size());
    sum->gathering += work.gathering;
    sum->leading += work.leading;
    sum->sending += work.sending;
    sum->computing += work.longest;
    sum->trajectories += work.trajectories;
    sum->drawn_tokens += work.drawn_tokens;
    sum->tree_tokens += work.tree_tokens;
    const bool one_does_both = options_.run.trainers_draw;
    const double of_player = costs_.MemoryBytes(one_does_both, most_tokens);
    const double of_trainer = costs_.MemoryBytes(true, 0);
    sum->memory_bytes = std::max({sum->memory_bytes, of_player, of_trainer});
  }

  ScaleForecast Mean(ScaleForecast sum, double passed) const {
    const auto steps = static_cast<double>(options_.run.steps);
    for (double* value :
         {&sum.drawing, &sum.mean_drawing, &sum.gathering, &sum.leading, &sum.sending,
          &sum.computing, &sum.trajectories, &sum.drawn_tokens, &sum.tree_tokens}) {
      *value /= steps;
    }
    sum.step = passed / steps;
    sum.parameters = costs_.model().parameters;
    const auto batches = static_cast<double>(Batches());
    const ReduceTimes& once = exchange_.reduce();
    sum.reducing = {.sums = batches * once.sums,
                    .exchange = batches * once.exchange,
                    .optimizer = batches * once.optimizer,
                    .spread = batches * once.spread};
    return sum;
  }

  const ScaleOptions& options_;
  DeviceCosts costs_;
  ExchangeCosts exchange_;
  size_t processes_;
  std::vector<size_t> players_;
};

}  // namespace

Json ScaleForecast::ToJson() const {
  return Json::Of({{"step_seconds", step},
                   {"rollout_seconds", Rollout()},
                   {"drawing_seconds", drawing},
                   {"mean_drawing_seconds", mean_drawing},
                   {"gathering_seconds", gathering},
                   {"leading_seconds", leading},
                   {"training_seconds", Training()},
                   {"sending_seconds", sending},
                   {"computing_seconds", computing},
                   {"adding_seconds", reducing.sums + reducing.exchange},
                   {"optimizer_seconds", reducing.optimizer},
                   {"spreading_seconds", reducing.spread},
                   {"trajectories", trajectories},
                   {"drawn_tokens", drawn_tokens},
                   {"tree_tokens", tree_tokens},
                   {"busy_share", busy},
                   {"memory_bytes", memory_bytes},
                   {"parameters", parameters}});
}

ScaleForecast SimulateRun(const ScaleOptions& options) {
  ScaleOptions whole = options;
  if (whole.run.slices == 0) whole.run.slices = whole.run.processes;
  return RunSimulation(whole).Run();
}

}  // namespace hone::lab
