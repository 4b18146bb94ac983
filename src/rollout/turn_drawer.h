#pragma once

#include <chrono>
#include <cstdint>
#include <memory>
#include <span>
#include <vector>

#include "base/result.h"
#include "engine/engine.h"

namespace hone {

// Who draws the turns of a rollout: sequences of tokens that grow by turns and by what others say.
// Everything is meant as by engine/sampler.h, whose words these are; a drawer may take the turns
// elsewhere (rollout/remote_drawer.h). Not synchronised.
class TurnDrawer {
 public:
  using Id = int64_t;

  virtual ~TurnDrawer() = default;

  virtual Id Start(std::vector<TokenId> tokens) = 0;
  virtual Id Fork(Id from, int64_t length) = 0;  // -1: with all of its tokens
  virtual void Append(Id id, std::span<const TokenId> tokens) = 0;
  virtual Result<void> Generate(Id id, TurnRequest request) = 0;
  virtual SampleResult Take(Id id) = 0;
  virtual void Release(Id id) = 0;
  virtual const std::vector<TokenId>& Tokens(Id id) const = 0;

  // Begins what computes beside the caller, where something does.
  virtual void Begin() {}
  // Goes on drawing, and returns the turns that ended, in the order in which their sequences were
  // started; none where none has by now. Whoever waits for others to draw waits up to `patience`.
  // An error where turns cannot be had any more.
  virtual Result<std::vector<Id>> Draw(std::chrono::milliseconds patience) = 0;

  struct Counters {
    int64_t passes = 0, preemptions = 0;  // as RolloutCounts has them
  };
  virtual Counters counters() const { return {}; }
};

// The engine draws, which must outlive it.
std::unique_ptr<TurnDrawer> NewEngineDrawer(Engine* engine);

}  // namespace hone
