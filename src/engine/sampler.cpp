#include "engine/sampler.h"

#include <algorithm>
#include <cmath>
#include <utility>

#include <fmt/format.h>

#include "base/check.h"

namespace hone {

Sampler::Sampler(ModelRunner* runner, const SamplerOptions& options)
    : runner_(runner), options_(options), pages_(runner->NewPages(options.memory)) {
  if (options_.rows_per_step == 0) options_.rows_per_step = runner->rows_per_step();
  CHECK(options_.rows_per_step > 0);
}

Sampler::~Sampler() {
  if (step_ && !step_->batch.empty()) runner_->AbandonAdvance();
}

Sampler::Sequence& Sampler::At(Id id) {
  const auto found = sequences_.find(id);
  CHECK(found != sequences_.end(), "a sequence that is not alive");
  return found->second;
}

const Sampler::Sequence& Sampler::At(Id id) const { return const_cast<Sampler*>(this)->At(id); }

Sampler::Id Sampler::Start(std::vector<TokenId> tokens) {
  CHECK(!tokens.empty(), "a sequence needs tokens");
  sequences_.emplace(next_, Sequence{std::move(tokens), KvSequence(pages_.get())});
  return next_++;
}

Sampler::Id Sampler::Fork(Id from, int64_t length) {
  const Sequence& parent = At(from);
  if (length < 0) length = static_cast<int64_t>(parent.tokens.size());
  CHECK(length > 0 && length <= static_cast<int64_t>(parent.tokens.size()));
  Sequence fork{{parent.tokens.begin(), parent.tokens.begin() + length}, KvSequence(pages_.get())};
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
  const int64_t free_positions = std::max<int64_t>(0, runner_->config().max_positions - length);
  const int64_t most = length + std::clamp<int64_t>(request.max_new, 0, free_positions);
  const int64_t pages = (most + pages_->positions() - 1) / pages_->positions();
  if (pages > pages_->max_pages()) {
    return Error(ErrorCode::kInvalidArgument,
                 fmt::format("a sequence of {} tokens needs {} MiB of keys and values, the sampler "
                             "has {} MiB; raise its memory or shorten the turn",
                             most, pages * pages_->page_bytes() >> 20,
                             pages_->max_pages() * pages_->page_bytes() >> 20));
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
  CHECK(!step_ || std::none_of(step_->batch.begin(), step_->batch.end(),
                               [&](const Work& work) { return work.id == id; }),
        "a sequence of the step that is under way");
  At(id);
  sequences_.erase(id);
}

bool Sampler::idle() const {
  return std::none_of(sequences_.begin(), sequences_.end(),
                      [](const auto& entry) { return entry.second.generating; });
}

// A sequence without pages takes over those of the one it was forked from. False while that one is
// still to be computed: `missing` is then the fork whose origin comes next.
bool Sampler::TakeFromOrigin(Id id, Sequence* sequence, Id* missing) {
  if (sequence->origin < 0 || sequence->kv.length() > 0) return true;
  const auto found = sequences_.find(sequence->origin);
  if (found == sequences_.end() || sequence->origin_length == 0) {
    sequence->origin = -1;  // it is gone: the tokens are computed again
    return true;
  }
  // The origin may itself be a fork that has yet to take over its pages.
  if (found->second.computed < sequence->origin_length &&
      !TakeFromOrigin(sequence->origin, &found->second, missing)) {
    return false;
  }
  if (found->second.computed < sequence->origin_length) {
    *missing = id;
    return false;
  }
  std::optional<KvSequence> shared = found->second.kv.Fork(sequence->origin_length);
  if (shared) {
    sequence->kv = std::move(*shared);
    sequence->computed = sequence->origin_length;
    counters_.most_pages = std::max(counters_.most_pages, pages_->in_use());
  }
  sequence->origin = -1;  // without a page for the copy it computes its own
  return true;
}

// Who gives up pages for a turn of this priority (its id: older is smaller), in this order: those
// nobody waits for, then younger turns; the youngest first. Never one that is part of this step.
std::vector<Sampler::Sequence*> Sampler::Victims(const Sequence& sequence, Id priority) {
  std::map<Id, Id> waiting;  // origins, and the oldest turn that waits for each
  for (const auto& [fork, other] : sequences_) {
    if (other.generating && other.origin >= 0 && other.kv.length() == 0) {
      waiting.emplace(other.origin, fork);  // ids ascend: the first is the oldest
    }
  }
  std::vector<Sequence*> idle, younger;
  for (auto entry = sequences_.rbegin(); entry != sequences_.rend(); ++entry) {
    Sequence& other = entry->second;
    const bool busy = other.step == counters_.steps;
    if (other.kv.length() == 0 || &other == &sequence || busy) continue;
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
bool Sampler::MakeRoom(Sequence* sequence, int64_t count, Id priority) {
  if (!sequence->kv.Extend(count)) {
    const std::vector<Sequence*> victims = Victims(*sequence, priority);
    std::map<PageId, int64_t> owned;  // by victims
    for (const Sequence* victim : victims) {
      for (const PageId page : victim->kv.table()) ++owned[page];
    }
    // A page that forks share is only free when all of its owners let go of it.
    int64_t free_pages = pages_->max_pages() - pages_->in_use();
    for (const auto& [page, owners] : owned) free_pages += owners == pages_->Owners(page) ? 1 : 0;
    if (free_pages < sequence->kv.PagesFor(count)) return false;
    for (Sequence* victim : victims) {
      victim->kv.Clear();  // its tokens stay: it is computed again when there is room
      victim->computed = 0;
      ++counters_.preemptions;
      if (sequence->kv.Extend(count)) break;
    }
  }
  counters_.most_pages = std::max(counters_.most_pages, pages_->in_use());
  return true;
}

// Puts the tokens of a sequence into the step: those that `work` has, or as many as the budget
// leaves.
void Sampler::Schedule(Work work, Id priority, int64_t* budget, std::vector<Work>* batch) {
  // Forks of one prompt all ask for it; it is computed once.
  const bool scheduled = work.sequence->step == counters_.steps;
  work.count = std::min(work.count, *budget);
  if (scheduled || work.count <= 0 || !MakeRoom(work.sequence, work.count, priority)) return;
  work.sequence->step = counters_.steps;
  batch->push_back(work);
  *budget -= work.count;
}

// The next tokens of a turn, or of the beginning that it waits for.
void Sampler::ScheduleTurn(const Waiting& turn, int64_t* budget, std::vector<Work>* batch) {
  Id missing = -1, id = turn.id;
  Sequence* sequence = turn.sequence;
  const bool whole = TakeFromOrigin(id, sequence, &missing);
  auto target = static_cast<int64_t>(sequence->tokens.size());
  if (!whole) {
    const Sequence& fork = At(missing);
    target = fork.origin_length;
    id = fork.origin;
    sequence = &At(id);
  }
  const int64_t from = sequence->kv.length();
  Schedule({id, sequence, from, target - from}, turn.id, budget, batch);
}

bool Sampler::TurnIsOver(const Sequence& sequence) const {
  return sequence.result.stopped ||
         static_cast<int64_t>(sequence.result.tokens.size()) >= sequence.request.max_new ||
         static_cast<int64_t>(sequence.tokens.size()) >= runner_->config().max_positions;
}

// What the step computes for the turns that wait. The oldest turn comes first, whatever it needs:
// only it may take pages from everybody, so the sampler always gets on. Then come those that need
// one token, so that long prompts do not hold them up; then the others.
std::vector<Sampler::Work> Sampler::Plan(const std::vector<Waiting>& waiting) {
  std::vector<Work> batch;
  int64_t budget = options_.rows_per_step;
  if (!waiting.empty()) ScheduleTurn(waiting[0], &budget, &batch);
  for (const bool one_token : {true, false}) {
    for (const Waiting& turn : waiting) {
      if (turn.sequence->step == counters_.steps) continue;  // has its place
      if ((turn.sequence->pending() == 1) == one_token) ScheduleTurn(turn, &budget, &batch);
    }
  }
  return batch;
}

// Has the batch computed and drawn: the last row of a sequence that is all computed predicts its
// next token.
void Sampler::BeginCompute(StepUnderWay* step) {
  step->orders.resize(step->batch.size());
  step->chunks.reserve(step->batch.size());
  for (size_t i = 0; i < step->batch.size(); ++i) {
    const Work& work = step->batch[i];
    const Sequence& sequence = *work.sequence;
    step->chunks.push_back(
        {sequence.kv.table(),
         work.from,
         std::span(sequence.tokens)
             .subspan(static_cast<size_t>(work.from), static_cast<size_t>(work.count)),
         {}});
    counters_.rows += work.count;
    // A prompt that is half computed, or one that is computed for its forks alone, draws nothing.
    if (!sequence.generating || sequence.pending() > 0) continue;
    step->orders[i] = {&sequence.request, sequence.result.tokens,
                       static_cast<int64_t>(sequence.tokens.size())};
  }
  ++counters_.steps;
  runner_->BeginAdvance(step->chunks, pages_.get(), step->orders);
}

// Returns those that got a token.
std::vector<Sampler::Id> Sampler::EndCompute(const StepUnderWay& step) {
  std::vector<DrawnToken> drawn = runner_->EndAdvance();
  std::vector<Id> ids;
  for (size_t i = 0; i < step.batch.size(); ++i) {
    const Work& work = step.batch[i];
    Sequence& sequence = *work.sequence;
    // Only now may forks take these positions over: Extend has made room for them, no more.
    sequence.computed = work.from + work.count;
    if (step.orders[i].request == nullptr) continue;
    sequence.tokens.push_back(drawn[i].token);
    SampleResult& result = sequence.result;
    result.tokens.push_back(drawn[i].token);
    result.logprobs.push_back(drawn[i].logprob);
    result.entropies.push_back(drawn[i].entropy);
    if (sequence.request.likeliest > 0) {
      result.likeliest.push_back(std::move(drawn[i].likeliest));
    }
    if (sequence.request.supports) result.supports.push_back(std::move(drawn[i].support));
    ids.push_back(work.id);
  }
  counters_.drawn += static_cast<int64_t>(ids.size());
  return ids;
}

void Sampler::Finish(Id id, Sequence* sequence, std::vector<Id>* ended) {
  sequence->generating = false;
  sequence->request.stop = nullptr;  // what the asker gave it to hold need not outlive the turn
  sequence->request.allow = nullptr;
  ended->push_back(id);
}

void Sampler::Begin() {
  CHECK(!step_, "one step at a time");
  StepUnderWay step;
  std::vector<Waiting> waiting;
  for (auto& [id, sequence] : sequences_) {
    if (!sequence.generating) continue;
    if (TurnIsOver(sequence)) {  // nothing was asked for, or there is no position left
      Finish(id, &sequence, &step.ended);
    } else {
      waiting.push_back({id, &sequence});
    }
  }
  step.batch = Plan(waiting);
  CHECK(!step.batch.empty() || waiting.empty() || !step.ended.empty(), "the sampler cannot go on");
  if (step.batch.empty() && step.ended.empty()) return;
  if (!step.batch.empty()) BeginCompute(&step);
  step_ = std::move(step);  // what the runner was told stays where it is
}

std::vector<Sampler::Id> Sampler::End() {
  if (!step_) return {};
  const StepUnderWay step = *std::exchange(step_, std::nullopt);
  std::vector<Id> ended = step.ended;
  if (step.batch.empty()) return ended;
  auto work = step.batch.begin();
  // By one thread: `stop` is the asker's, who need not expect to be asked by several at a time.
  for (const Id id : EndCompute(step)) {
    while (work->id != id) ++work;  // those of a step that got a token, in the step's order
    Sequence& sequence = *work->sequence;
    SampleResult& result = sequence.result;
    const auto& stops = sequence.request.stop_tokens;
    result.stopped = std::find(stops.begin(), stops.end(), result.tokens.back()) != stops.end() ||
                     (sequence.request.stop && sequence.request.stop(result.tokens));
    if (TurnIsOver(sequence)) Finish(id, &sequence, &ended);
  }
  std::sort(ended.begin(), ended.end());
  return ended;
}

Result<std::vector<SampleResult>> DrawSamples(ModelRunner* runner, const SamplerOptions& options,
                                              std::span<const SampleRequest> requests) {
  Sampler sampler(runner, options);
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
