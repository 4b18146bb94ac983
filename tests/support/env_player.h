#pragma once

#include <memory>

#include "envs/play.h"
#include "tools/modes.h"

namespace hone {

// An executor with the tools of an environment, on virtual time: the real ones, or whoever the
// backend says.
class EnvPlayer {
 public:
  explicit EnvPlayer(std::shared_ptr<const Environment> environment,
                     const RoutingOptions& backend = {})
      : environment_(std::move(environment)), timeline_(NewVirtualTimeline()) {
    executor_ = std::make_unique<Executor>(
        OptionsFor(backend, *environment_->tools(), timeline_.get()).value(), timeline_.get());
  }

  Playthrough Run(const Task& task, Agent* agent, uint64_t seed = 1) {
    return Play(*environment_, task, seed, agent, executor_.get()).value();
  }
  Playthrough Run(const Task& task, std::unique_ptr<Agent> agent, uint64_t seed = 1) {
    return Run(task, agent.get(), seed);
  }

  const Environment& environment() const { return *environment_; }
  Executor* executor() { return executor_.get(); }

 private:
  std::shared_ptr<const Environment> environment_;
  std::unique_ptr<Timeline> timeline_;
  std::unique_ptr<Executor> executor_;
};

}  // namespace hone
