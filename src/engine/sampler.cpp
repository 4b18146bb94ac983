#include "engine/sampler.h"

#include <algorithm>
#include <cmath>
#include <numeric>

#include <fmt/format.h>

#include "base/check.h"
#include "engine/decoder_parts.h"
#include "engine/distribution.h"
#include "engine/reduce.h"

namespace hone {
namespace {

// The first token, in vocabulary order, at which the running probability exceeds u.
TokenId DrawToken(std::span<const float> logits, const Distribution& d,
                  std::span<const TokenId> kept, double u, const Kernels& kernels) {
  static thread_local Floats p;
  const size_t count = kept.empty() ? logits.size() : kept.size();
  Room(&p, static_cast<int64_t>(count));
  if (kept.empty()) {
    kernels.probabilities(logits.data(), static_cast<int64_t>(count), d.inverse_temperature,
                          d.log_sum, p.data());
  } else {
    for (size_t i = 0; i < count; ++i) {
      p[i] = ExpF32(d.LogProb(logits[static_cast<size_t>(kept[i])]));
    }
  }
  const size_t place = DrawnPlace({p.data(), count}, u);
  return kept.empty() ? static_cast<TokenId>(place) : kept[place];
}

// Both ascend.
void MaskOthers(std::span<const TokenId> allowed, std::span<float> logits) {
  CHECK(!allowed.empty(), "a turn in which nothing may follow");
  size_t next = 0;
  for (const TokenId token : allowed) {
    std::fill(logits.begin() + static_cast<std::ptrdiff_t>(next), logits.begin() + token,
              kForbiddenLogit);
    next = static_cast<size_t>(token) + 1;
  }
  std::fill(logits.begin() + static_cast<std::ptrdiff_t>(next), logits.end(), kForbiddenLogit);
}

// Those of `kept` that are allowed; no `kept` is all.
std::vector<TokenId> Among(std::vector<TokenId> kept, std::vector<TokenId> allowed) {
  if (kept.empty()) return allowed;
  std::vector<TokenId> both;
  std::set_intersection(kept.begin(), kept.end(), allowed.begin(), allowed.end(),
                        std::back_inserter(both));
  return both;
}

// Ties go to the lower id. Tokens that could not have been drawn are not among them.
std::vector<LikelyToken> Likeliest(std::span<const float> logits, const Distribution& d,
                                   std::span<const TokenId> kept, int32_t count) {
  std::vector<LikelyToken> tokens;
  const size_t size = kept.empty() ? logits.size() : kept.size();
  for (size_t i = 0; i < size; ++i) {
    const TokenId token = kept.empty() ? static_cast<TokenId>(i) : kept[i];
    const float logprob = d.LogProb(logits[static_cast<size_t>(token)]);
    if (std::isfinite(logprob)) tokens.push_back({token, logprob});
  }
  const size_t most = std::min(tokens.size(), static_cast<size_t>(count));
  std::partial_sort(tokens.begin(), tokens.begin() + static_cast<std::ptrdiff_t>(most),
                    tokens.end(), [](const LikelyToken& a, const LikelyToken& b) {
                      return a.logprob != b.logprob ? a.logprob > b.logprob : a.token < b.token;
                    });
  tokens.resize(most);
  return tokens;
}

}  // namespace

std::vector<TokenId> KeptTokens(std::span<const float> logits, const Sampling& sampling) {
  const bool all = sampling.top_k == 0 && sampling.top_p >= 1 && sampling.min_p <= 0;
  if (all) return {};  // the usual case of training: no sort of the vocabulary
  const FloatMode mode;
  std::vector<TokenId> order(logits.size());
  std::iota(order.begin(), order.end(), 0);
  auto likelier = [&](TokenId a, TokenId b) {
    const float x = logits[static_cast<size_t>(a)], y = logits[static_cast<size_t>(b)];
    return x != y ? x > y : a < b;
  };
  if (sampling.top_k > 0 && sampling.top_k < static_cast<int32_t>(order.size())) {
    std::nth_element(order.begin(), order.begin() + sampling.top_k, order.end(), likelier);
    order.resize(static_cast<size_t>(sampling.top_k));
  }
  std::sort(order.begin(), order.end(), likelier);
  const float inverse = 1.0f / sampling.temperature;
  const float largest = logits[static_cast<size_t>(order[0])] * inverse;
  std::vector<float> weights;  // relative to the likeliest
  for (const TokenId token : order) {
    weights.push_back(ExpF32(logits[static_cast<size_t>(token)] * inverse - largest));
  }
  size_t keep = order.size();
  if (sampling.top_p < 1) {
    // Of what top_k left. Both sums run in the same order, so the last running one is the total.
    float total = 0, running = 0;
    for (const float weight : weights) total += weight;
    for (size_t i = 0; i < keep; ++i) {
      running += weights[i];
      if (running >= sampling.top_p * total) {
        keep = i + 1;
        break;
      }
    }
  }
  // Sorted by weight, so what min_p cuts off is at the end; the likeliest token always stays.
  while (keep > 1 && weights[keep - 1] < sampling.min_p) --keep;
  if (keep == logits.size()) return {};
  order.resize(keep);
  // Ascending: the draw walks in vocabulary order, and so does whoever scores the turn again.
  std::sort(order.begin(), order.end());
  return order;
}

Sampler::Sampler(Decoder* decoder, const SamplerOptions& options)
    : decoder_(decoder),
      options_(options),
      // At least one page, so that a sampler can be made in any memory; Generate then says what is
      // missing.
      pages_(decoder->config(), decoder->options().precision,
             std::max<int64_t>(
                 1, options.memory /
                        KvPages(decoder->config(), decoder->options().precision).page_bytes())) {
  CHECK(options.rows_per_step > 0);
}

Sampler::Sequence& Sampler::At(Id id) {
  const auto found = sequences_.find(id);
  CHECK(found != sequences_.end(), "a sequence that is not alive");
  return found->second;
}

const Sampler::Sequence& Sampler::At(Id id) const { return const_cast<Sampler*>(this)->At(id); }

Sampler::Id Sampler::Start(std::vector<TokenId> tokens) {
  CHECK(!tokens.empty(), "a sequence needs tokens");
  sequences_.emplace(next_, Sequence{std::move(tokens), KvSequence(&pages_)});
  return next_++;
}

Sampler::Id Sampler::Fork(Id from, int64_t length) {
  const Sequence& parent = At(from);
  if (length < 0) length = static_cast<int64_t>(parent.tokens.size());
  CHECK(length > 0 && length <= static_cast<int64_t>(parent.tokens.size()));
  Sequence fork{{parent.tokens.begin(), parent.tokens.begin() + length}, KvSequence(&pages_)};
  fork.origin = from;
  // The last token is computed by the fork itself: its hidden state draws the first new token.
  fork.origin_length = length - 1;
  sequences_.emplace(next_, std::move(fork));
  return next_++;
}

void Sampler::Append(Id id, std::span<const TokenId> tokens) {
  Sequence& sequence = At(id);
  CHECK(!sequence.generating, "tokens are appended between turns");
  sequence.tokens.insert(sequence.tokens.end(), tokens.begin(), tokens.end());
}

Result<void> Sampler::Generate(Id id, TurnRequest request) {
  Sequence& sequence = At(id);
  CHECK(!sequence.generating, "one turn at a time");
  const Sampling& s = request.sampling;
  constexpr float kColdest = 1e-4f;  // below, logits over temperature leave float32
  if (!(s.temperature == 0 || (s.temperature >= kColdest && std::isfinite(s.temperature))) ||
      !(s.top_p > 0 && s.top_p <= 1) || !(s.min_p >= 0 && s.min_p < 1) || s.top_k < 0) {
    return Error(ErrorCode::kInvalidArgument,
                 "temperature must be 0 or at least 0.0001, top_p in (0, 1], min_p in [0, 1), and "
                 "top_k at least 0");
  }
  const auto length = static_cast<int64_t>(sequence.tokens.size());
  const int64_t free_positions = std::max<int64_t>(0, decoder_->config().max_positions - length);
  const int64_t most = length + std::clamp<int64_t>(request.max_new, 0, free_positions);
  const int64_t pages = (most + kKeyBlock - 1) / kKeyBlock;
  if (pages > pages_.max_pages()) {
    return Error(ErrorCode::kInvalidArgument,
                 fmt::format("a sequence of {} tokens needs {} MiB of keys and values, the sampler "
                             "has {} MiB; raise its memory or shorten the turn",
                             most, pages * pages_.page_bytes() >> 20,
                             pages_.max_pages() * pages_.page_bytes() >> 20));
  }
  sequence.request = std::move(request);
  sequence.result = {};
  sequence.generating = true;
  return {};
}

SampleResult Sampler::Take(Id id) {
  Sequence& sequence = At(id);
  CHECK(!sequence.generating, "the turn has not ended");
  auto& supports = sequence.result.supports;
  const bool whole = std::all_of(supports.begin(), supports.end(),
                                 [](const Support& support) { return support.kept.empty(); });
  if (whole) supports.clear();  // "the whole vocabulary" needs no list per token
  return std::move(sequence.result);
}

void Sampler::Release(Id id) {
  At(id);
  sequences_.erase(id);
}

bool Sampler::idle() const {
  return std::none_of(sequences_.begin(), sequences_.end(),
                      [](const auto& entry) { return entry.second.generating; });
}

// A sequence without pages takes over those of the one it was forked from. False while that one is
// still to be computed: `missing` is then the fork whose origin comes next.
bool Sampler::TakeFromOrigin(Id id, Id* missing) {
  Sequence& sequence = At(id);
  if (sequence.origin < 0 || sequence.kv.length() > 0) return true;
  const auto found = sequences_.find(sequence.origin);
  if (found == sequences_.end() || sequence.origin_length == 0) {
    sequence.origin = -1;  // it is gone: the tokens are computed again
    return true;
  }
  // The origin may itself be a fork that has yet to take over its pages.
  if (found->second.computed < sequence.origin_length &&
      !TakeFromOrigin(sequence.origin, missing)) {
    return false;
  }
  if (found->second.computed < sequence.origin_length) {
    *missing = id;
    return false;
  }
  std::optional<KvSequence> shared = found->second.kv.Fork(sequence.origin_length);
  if (shared) {
    sequence.kv = std::move(*shared);
    sequence.computed = sequence.origin_length;
    counters_.most_pages = std::max(counters_.most_pages, pages_.in_use());
  }
  sequence.origin = -1;  // without a page for the copy it computes its own
  return true;
}

// Who gives up pages for a turn of this priority (its id: older is smaller), in this order: those
// nobody waits for, then younger turns; the youngest first. Never one that is part of this step.
std::vector<Sampler::Sequence*> Sampler::Victims(Id id, Id priority,
                                                 const std::vector<Work>& batch) {
  std::map<Id, Id> waiting;  // origins, and the oldest turn that waits for each
  for (const auto& [fork, sequence] : sequences_) {
    if (sequence.generating && sequence.origin >= 0 && sequence.kv.length() == 0) {
      waiting.emplace(sequence.origin, fork);  // ids ascend: the first is the oldest
    }
  }
  std::vector<Sequence*> idle, younger;
  for (auto entry = sequences_.rbegin(); entry != sequences_.rend(); ++entry) {
    Sequence& other = entry->second;
    const bool busy = std::any_of(batch.begin(), batch.end(),
                                  [&](const Work& work) { return work.id == entry->first; });
    if (other.kv.length() == 0 || entry->first == id || busy) continue;
    const auto waiter = waiting.find(entry->first);
    if (other.generating) {
      if (entry->first > priority) younger.push_back(&other);
    } else if (waiter == waiting.end()) {
      idle.push_back(&other);
    } else if (waiter->second > priority) {
      younger.push_back(&other);
    }
  }
  idle.insert(idle.end(), younger.begin(), younger.end());
  return idle;
}

// Pages for `count` more tokens, taken from others if need be; nobody loses any when it is not
// enough.
bool Sampler::MakeRoom(Id id, int64_t count, Id priority, const std::vector<Work>& batch) {
  Sequence& sequence = At(id);
  if (!sequence.kv.Extend(count)) {
    const std::vector<Sequence*> victims = Victims(id, priority, batch);
    std::map<PageId, int64_t> owned;  // by victims
    for (const Sequence* victim : victims) {
      for (const PageId page : victim->kv.table()) ++owned[page];
    }
    // A page that forks share is only free when all of its owners let go of it.
    int64_t free_pages = pages_.max_pages() - pages_.in_use();
    for (const auto& [page, owners] : owned) free_pages += owners == pages_.Owners(page) ? 1 : 0;
    if (free_pages < sequence.kv.PagesFor(count)) return false;
    for (Sequence* victim : victims) {
      victim->kv.Clear();  // its tokens stay: it is computed again when there is room
      victim->computed = 0;
      ++counters_.preemptions;
      if (sequence.kv.Extend(count)) break;
    }
  }
  counters_.most_pages = std::max(counters_.most_pages, pages_.in_use());
  return true;
}

// Puts the tokens of a sequence up to `target` into the step, as many as the budget leaves.
void Sampler::Schedule(Id id, int64_t target, Id priority, int64_t* budget,
                       std::vector<Work>* batch) {
  // Forks of one prompt all ask for it; it is computed once.
  const bool scheduled =
      std::any_of(batch->begin(), batch->end(), [&](const Work& work) { return work.id == id; });
  const int64_t from = At(id).kv.length(), count = std::min(target - from, *budget);
  if (scheduled || count <= 0 || !MakeRoom(id, count, priority, *batch)) return;
  batch->push_back({id, from, count});
  *budget -= count;
}

// The next tokens of a turn, or of the beginning that it waits for.
void Sampler::ScheduleTurn(Id id, int64_t* budget, std::vector<Work>* batch) {
  Id missing = -1;
  if (TakeFromOrigin(id, &missing)) {
    Schedule(id, static_cast<int64_t>(At(id).tokens.size()), id, budget, batch);
  } else {
    const Sequence& fork = At(missing);
    Schedule(fork.origin, fork.origin_length, id, budget, batch);
  }
}

bool Sampler::TurnIsOver(const Sequence& sequence) const {
  return sequence.result.stopped ||
         static_cast<int64_t>(sequence.result.tokens.size()) >= sequence.request.max_new ||
         static_cast<int64_t>(sequence.tokens.size()) >= decoder_->config().max_positions;
}

void Sampler::Draw(Sequence* sequence, float* row) const {
  const FloatMode mode;
  const TurnRequest& request = sequence->request;
  const std::span<float> logits(row, static_cast<size_t>(decoder_->config().vocab));
  decoder_->MaskForbidden(request.sampling, row);
  std::vector<TokenId> allowed;
  if (request.allow) {
    allowed = request.allow(sequence->result.tokens);
    MaskOthers(allowed, logits);
  }
  // The likeliest token has probability 1 at temperature 0, which says nothing: what is recorded is
  // its probability at temperature 1.
  const bool greedy = request.sampling.temperature == 0;
  std::vector<TokenId> kept =
      greedy ? std::vector<TokenId>() : KeptTokens(logits, request.sampling);
  if (request.allow) kept = Among(std::move(kept), std::move(allowed));
  const Distribution d = DistributionOf(logits, greedy ? 1.0f : request.sampling.temperature, kept,
                                        decoder_->kernels());
  // The stream goes by the position and not by the number of draws so far: a sequence that was
  // preempted, forked or continued draws the same numbers.
  const auto position = static_cast<uint64_t>(sequence->tokens.size());
  const TokenId token =
      greedy ? static_cast<TokenId>(std::max_element(logits.begin(), logits.end()) - logits.begin())
             : DrawToken(logits, d, kept, request.rng.Split("token").Split(position).NextDouble(),
                         decoder_->kernels());
  sequence->tokens.push_back(token);
  SampleResult& result = sequence->result;
  result.tokens.push_back(token);
  result.logprobs.push_back(d.LogProb(logits[static_cast<size_t>(token)]));
  result.entropies.push_back(d.entropy);
  if (request.likeliest > 0) {
    result.likeliest.push_back(Likeliest(logits, d, kept, request.likeliest));
  }
  if (request.supports) result.supports.push_back({std::move(kept)});
}

// What the step computes for the turns that wait. The oldest turn comes first, whatever it needs:
// only it may take pages from everybody, so the sampler always gets on. Then come those that need
// one token, so that long prompts do not hold them up; then the others.
std::vector<Sampler::Work> Sampler::Plan(const std::vector<Id>& waiting) {
  std::vector<Work> batch;
  int64_t budget = options_.rows_per_step;
  if (!waiting.empty()) ScheduleTurn(waiting[0], &budget, &batch);
  for (const bool one_token : {true, false}) {
    for (const Id id : waiting) {
      if ((At(id).pending() == 1) == one_token) ScheduleTurn(id, &budget, &batch);
    }
  }
  return batch;
}

void Sampler::Compute(const std::vector<Work>& batch) {
  std::vector<Decoder::Chunk> chunks;
  for (const Work& work : batch) {
    const Sequence& sequence = At(work.id);
    chunks.push_back({sequence.kv.table(),
                      work.from,
                      std::span(sequence.tokens)
                          .subspan(static_cast<size_t>(work.from), static_cast<size_t>(work.count)),
                      {}});
    counters_.rows += work.count;
  }
  ++counters_.steps;
  decoder_->Forward(chunks, &pages_, &hidden_);
  // Only now may forks take these positions over: Extend has made room for them, no more.
  for (const Work& work : batch) At(work.id).computed = work.from + work.count;
}

// The last row of a sequence that is all computed predicts its next token. Only those rows go
// through the output layer, whose matrix is the largest of all.
std::vector<Sampler::Id> Sampler::DrawNext(const std::vector<Work>& batch) {
  const int64_t width = decoder_->config().width, vocab = decoder_->config().vocab;
  std::vector<Id> ids;
  std::vector<Sequence*> ready;
  Room(&last_, static_cast<int64_t>(batch.size()) * width);
  int64_t row = -1;
  for (const Work& work : batch) {
    row += work.count;
    Sequence& sequence = At(work.id);
    // A prompt that is half computed, or one that is computed for its forks alone, draws nothing.
    if (!sequence.generating || sequence.pending() > 0) continue;
    std::copy_n(hidden_.data() + row * width, width,
                last_.data() + static_cast<int64_t>(ready.size()) * width);
    ids.push_back(work.id);
    ready.push_back(&sequence);
  }
  if (ready.empty()) return ids;
  decoder_->Logits(last_.data(), static_cast<int64_t>(ready.size()), &logits_);
  decoder_->pool()->ParallelFor(ready.size(), 4, [&](size_t begin, size_t end) {
    for (size_t i = begin; i < end; ++i) {
      Draw(ready[i], logits_.data() + static_cast<int64_t>(i) * vocab);
    }
  });
  counters_.drawn += static_cast<int64_t>(ready.size());
  return ids;
}

std::vector<Sampler::Id> Sampler::Step() {
  std::vector<Id> ended, waiting;
  auto finish = [&](Id id, Sequence* sequence) {
    sequence->generating = false;
    sequence->request.stop = nullptr;  // what the asker gave it to hold need not outlive the turn
    sequence->request.allow = nullptr;
    ended.push_back(id);
  };
  for (auto& [id, sequence] : sequences_) {
    if (!sequence.generating) continue;
    if (TurnIsOver(sequence)) {  // nothing was asked for, or there is no position left
      finish(id, &sequence);
    } else {
      waiting.push_back(id);
    }
  }
  const std::vector<Work> batch = Plan(waiting);
  if (batch.empty()) {
    CHECK(waiting.empty() || !ended.empty(), "the sampler cannot go on");
    return ended;
  }
  Compute(batch);
  // By one thread: `stop` is the asker's, who need not expect to be asked by several at a time.
  for (const Id id : DrawNext(batch)) {
    Sequence& sequence = At(id);
    SampleResult& result = sequence.result;
    const auto& stops = sequence.request.stop_tokens;
    result.stopped = std::find(stops.begin(), stops.end(), result.tokens.back()) != stops.end() ||
                     (sequence.request.stop && sequence.request.stop(result.tokens));
    if (TurnIsOver(sequence)) finish(id, &sequence);
  }
  std::sort(ended.begin(), ended.end());
  return ended;
}

Result<std::vector<SampleResult>> DrawSamples(Decoder* decoder, const SamplerOptions& options,
                                              std::span<const SampleRequest> requests) {
  Sampler sampler(decoder, options);
  std::map<std::vector<TokenId>, Sampler::Id> prompts;
  std::vector<Sampler::Id> ids;
  for (const SampleRequest& request : requests) {
    const auto [found, fresh] = prompts.emplace(request.prompt, -1);
    if (fresh) found->second = sampler.Start(request.prompt);
    // Forks are made before anything is computed: the first request computes the prompt for all.
    ids.push_back(fresh ? found->second : sampler.Fork(found->second));
  }
  std::map<Sampler::Id, size_t> index;
  for (size_t i = 0; i < requests.size(); ++i) {
    index[ids[i]] = i;
    HONE_RETURN_IF_ERROR(sampler.Generate(ids[i], requests[i]));
  }
  std::vector<SampleResult> results(requests.size());
  while (!sampler.idle()) {
    for (const Sampler::Id id : sampler.Step()) results[index.at(id)] = sampler.Take(id);
  }
  return results;
}

}  // namespace hone
