#pragma once

#include <cstdint>
#include <map>
#include <memory>
#include <optional>
#include <span>
#include <vector>

#include "base/result.h"
#include "engine/draw.h"
#include "engine/model_runner.h"

namespace hone {

struct SampleResult {
  std::vector<TokenId> tokens;  // the new ones
  std::vector<float> logprobs;  // of the distribution each was drawn from
  std::vector<float> entropies;
  std::vector<Support> supports;  // per token; empty when all were the whole vocabulary, or unasked
  bool stopped = false;  // by a stop token or `stop`; else by max_new or the model's positions
  // Per token, where the request asks: of the distribution it was drawn from, the likeliest first.
  std::vector<std::vector<LikelyToken>> likeliest;
};

// A turn after a prompt of its own.
struct SampleRequest : TurnRequest {
  std::vector<TokenId> prompt;  // not empty
};

struct SamplerOptions {
  int64_t memory = int64_t{4} << 30;  // bytes of keys and values at most
  int64_t rows_per_step = 0;  // tokens that one step computes at most; 0: what suits the runner
};

// Continuous batching over paged keys and values. Sequences join, leave and grow between steps;
// forks share the pages of their common beginning; tokens that are appended cost only themselves.
//
// When the memory is full, the youngest sequences give up their pages, those without a turn first,
// and are computed again when there is room: slower, the same bits. The oldest turn always goes on.
//
// Not synchronised. The weights may change between steps only while no sequence is alive.
class Sampler {
 public:
  using Id = int64_t;

  // `runner` must outlive it.
  Sampler(ModelRunner* runner, const SamplerOptions& options);
  ~Sampler();
  Sampler(const Sampler&) = delete;  // sequences point into its pages
  Sampler& operator=(const Sampler&) = delete;

  // A sequence that begins with these tokens. Nothing is computed before a turn needs it.
  Id Start(std::vector<TokenId> tokens);
  // A sequence that begins with the first `length` tokens of another; -1: with all of them.
  Id Fork(Id from, int64_t length = -1);
  // Adds tokens that the policy did not write. Not during a turn.
  void Append(Id id, std::span<const TokenId> tokens);
  // Asks for a turn. An error when it could not fit into the memory even alone, or when the
  // settings are none: temperature 0 or at least 1e-4, top_p in (0, 1], min_p in [0, 1), top_k from
  // 0 on.
  Result<void> Generate(Id id, TurnRequest request);
  // Computes some tokens, and draws one for each sequence that is ready. Returns those whose turn
  // ended, in the order they were started.
  std::vector<Id> Step() {
    Begin();
    return End();
  }
  // The same in two halves, between which a device computes. In between, all may be asked but to
  // release a sequence whose turn was under way at the beginning, and to ask anything else of the
  // runner; what is asked for has its effect in the next step. Begin does nothing where no turn is
  // under way, and End then gives nothing.
  void Begin();
  std::vector<Id> End();
  bool under_way() const { return step_.has_value(); }  // begun and not ended
  // What a turn has given so far, while it is under way.
  const SampleResult& Drawn(Id id) const { return At(id).result; }
  // Of a turn that ended. Its tokens are part of the sequence.
  SampleResult Take(Id id);
  // Also during a turn, which is then given up.
  void Release(Id id);

  const std::vector<TokenId>& Tokens(Id id) const { return At(id).tokens; }
  bool idle() const;  // no turn is under way

  struct Counters {
    int64_t steps = 0, rows = 0, drawn = 0, preemptions = 0, most_pages = 0;
  };
  const Counters& counters() const { return counters_; }
  int64_t page_bytes() const { return pages_->page_bytes(); }
  int64_t max_pages() const { return pages_->max_pages(); }

 private:
  struct Sequence {
    std::vector<TokenId> tokens;
    KvSequence kv;
    int64_t computed = 0;       // positions of kv that hold their keys and values
    Id origin = -1;             // whose beginning it shares, while its own pages are empty
    int64_t origin_length = 0;  // how much of it
    bool generating = false;
    int64_t step = -1;  // the last one that it was part of
    TurnRequest request;
    SampleResult result;

    int64_t pending() const { return static_cast<int64_t>(tokens.size()) - kv.length(); }
  };
  struct Work {
    Id id;
    Sequence* sequence;
    int64_t from, count;  // tokens
  };
  Sequence& At(Id id);
  const Sequence& At(Id id) const;
  bool TakeFromOrigin(Id id, Sequence* sequence, Id* missing);
  std::vector<Sequence*> Victims(const Sequence& sequence, Id priority);
  bool MakeRoom(Sequence* sequence, int64_t count, Id priority);
  void Schedule(Work work, Id priority, int64_t* budget, std::vector<Work>* batch);
  struct Waiting {
    Id id;
    Sequence* sequence;
  };
  void ScheduleTurn(const Waiting& turn, int64_t* budget, std::vector<Work>* batch);
  std::vector<Work> Plan(const std::vector<Waiting>& waiting);
  // A step that was begun: what is computed, as the runner was told, and the turns that were over
  // before.
  struct StepUnderWay {
    std::vector<Work> batch;
    std::vector<Chunk> chunks;
    std::vector<DrawOrder> orders;  // of each chunk; those of no request draw nothing
    std::vector<Id> ended;
  };
  void Finish(Id id, Sequence* sequence, std::vector<Id>* ended);
  void BeginCompute(StepUnderWay* step);
  std::vector<Id> EndCompute(const StepUnderWay& step);
  bool TurnIsOver(const Sequence& sequence) const;

  ModelRunner* runner_;
  SamplerOptions options_;
  std::unique_ptr<PagePool> pages_;  // outlives the sequences
  Id next_ = 0;
  std::map<Id, Sequence> sequences_;  // oldest first
  std::optional<StepUnderWay> step_;
  Counters counters_;
};

// Draws all samples, together; equal prompts are computed once. An error when one of them could not
// fit into the memory even alone.
Result<std::vector<SampleResult>> DrawSamples(ModelRunner* runner, const SamplerOptions& options,
                                              std::span<const SampleRequest> requests);

}  // namespace hone
