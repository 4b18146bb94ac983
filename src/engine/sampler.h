#pragma once

#include <cstdint>
#include <functional>
#include <map>
#include <span>
#include <vector>

#include "base/result.h"
#include "base/rng.h"
#include "engine/decoder.h"
#include "record/sampling.h"

namespace hone {

// How one turn is drawn. The stream names it (run, task, path): the randomness of the token at a
// position depends on that name and on the position, never on who is sampled beside it.
struct TurnRequest {
  int64_t max_new = 64;
  // Temperature 0 takes the likeliest token and records its probability at temperature 1; such
  // turns are not to be trained on.
  Sampling sampling;
  Rng rng{0};
  std::vector<TokenId> stop_tokens;  // the turn ends with one of these
  // Asked after each token with all new ones; true ends the turn. For stop strings. May be null.
  std::function<bool(std::span<const TokenId>)> stop;
  // Asked before each token with those drawn so far: the tokens that may follow, ascending and not
  // empty. The token is drawn from the distribution over these alone, and its log-probability is of
  // that. Asked by any thread, of one turn by one at a time. May be null: all may follow.
  std::function<std::vector<TokenId>(std::span<const TokenId>)> allow;
  int32_t likeliest = 0;  // so many of the likeliest tokens are told with each that is drawn
  // Which tokens could have been drawn is told too, where that is not all of them: as many numbers
  // for each token as the vocabulary has, at worst. Only who trains on it needs it.
  bool supports = true;
};

struct LikelyToken {
  TokenId token = 0;
  float logprob = 0;
};

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

// The tokens that top_k, top_p and min_p leave of a row of logits, ascending; empty when all are
// left. Ties go to the lower id.
std::vector<TokenId> KeptTokens(std::span<const float> logits, const Sampling& sampling);

struct SamplerOptions {
  int64_t memory = int64_t{4} << 30;  // bytes of keys and values at most
  int64_t rows_per_step = 512;        // tokens that one step computes at most
};

// Continuous batching over paged keys and values. Sequences join, leave and grow between steps;
// forks share the pages of their common beginning; tokens that are appended cost only themselves.
//
// When the memory is full, the youngest sequences give up their pages, those without a turn first,
// and are computed again when there is room: slower, the same bits. The oldest turn always goes on.
//
// Not synchronised. The decoder's weights may change between steps (Decoder::Repack) only while no
// sequence is alive.
class Sampler {
 public:
  using Id = int64_t;

  // `decoder` must outlive it.
  Sampler(Decoder* decoder, const SamplerOptions& options);
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
  std::vector<Id> Step();
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
  int64_t page_bytes() const { return pages_.page_bytes(); }
  int64_t max_pages() const { return pages_.max_pages(); }

 private:
  struct Sequence {
    std::vector<TokenId> tokens;
    KvSequence kv;
    int64_t computed = 0;       // positions of kv that hold their keys and values
    Id origin = -1;             // whose beginning it shares, while its own pages are empty
    int64_t origin_length = 0;  // how much of it
    bool generating = false;
    TurnRequest request;
    SampleResult result;

    int64_t pending() const { return static_cast<int64_t>(tokens.size()) - kv.length(); }
  };
  struct Work {
    Id id;
    int64_t from, count;  // tokens
  };
  Sequence& At(Id id);
  const Sequence& At(Id id) const;
  bool TakeFromOrigin(Id id, Id* missing);
  std::vector<Sequence*> Victims(Id id, Id priority, const std::vector<Work>& batch);
  bool MakeRoom(Id id, int64_t count, Id priority, const std::vector<Work>& batch);
  void Schedule(Id id, int64_t target, Id priority, int64_t* budget, std::vector<Work>* batch);
  void ScheduleTurn(Id id, int64_t* budget, std::vector<Work>* batch);
  std::vector<Work> Plan(const std::vector<Id>& waiting);
  void Compute(const std::vector<Work>& batch);
  std::vector<Id> DrawNext(const std::vector<Work>& batch);
  void Draw(Sequence* sequence, float* logits) const;
  bool TurnIsOver(const Sequence& sequence) const;

  Decoder* decoder_;
  SamplerOptions options_;
  KvPages pages_;
  Id next_ = 0;
  std::map<Id, Sequence> sequences_;  // oldest first
  Counters counters_;
  Floats hidden_, last_, logits_;
};

// Draws all samples, together; equal prompts are computed once. An error when one of them could not
// fit into the memory even alone.
Result<std::vector<SampleResult>> DrawSamples(Decoder* decoder, const SamplerOptions& options,
                                              std::span<const SampleRequest> requests);

}  // namespace hone
