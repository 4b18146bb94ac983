// Drawing tokens: one block per row does all of it, in one launch. Whatever decides is an integer
// sum or a sum in a fixed order, so a row's token and its bits depend on the row alone.

#include "engine/kernels/cuda/context.h"
#include "engine/kernels/cuda/distribution.cuh"

namespace hone::cuda {
namespace {

// ---- Selection: the likeliest items of a row, so many or so much of the weight.
//
// Items are first counted in bins of their distance from the likeliest, which spread them well;
// then those of the one bin that is cut in two are told apart by the digits of exact keys.

constexpr int kBins = 2048;
constexpr int kDigitBits = 11;
constexpr float kBinsPerNat = 64;
constexpr float kWholeWeight = 17592186044416.0f;  // 2^44, of the likeliest; a row's fits 64 bits

// What items are ordered by. `origin` is what z is measured from, and not smaller but for rounding.
struct Measure {
  float inverse, origin;
  // The tokens that are told as likely: by their log-probability, of which origin is the sum, and
  // without those that are masked. Else by the logit, which tells more apart.
  bool likely;

  __device__ __forceinline__ bool Has(float logit) const { return !likely || logit > kMaskedLogit; }
  __device__ __forceinline__ float Distance(float logit) const {
    return fmaxf(origin - logit * inverse, 0.0f);
  }
  // The last bin has all that is farther away, and not-a-numbers.
  __device__ __forceinline__ int Bin(float logit) const {
    return max(static_cast<int>(fminf((origin - logit * inverse) * kBinsPerNat, kBins - 1.0f)), 0);
  }
  // Less is likelier.
  __device__ __forceinline__ uint32_t Key(float logit) const {
    if (likely) return __float_as_uint(Distance(logit));
    const uint32_t bits = logit == 0 ? 0 : __float_as_uint(logit);  // 0 and -0 are equal
    return bits >> 31 ? bits : ~bits & 0x7fffffffu;
  }
  // e^-distance in units that sums of any order agree on; 0 in the last bin.
  __device__ __forceinline__ uint64_t Weight(float logit) const {
    if (Bin(logit) == kBins - 1) return 0;
    return __float2ull_rz(FastExp(-Distance(logit)) * kWholeWeight);
  }
};

// Counts and weights in bins; these in halves, for there are no fast atomics of 64 bits.
struct Tally {
  uint32_t count[kBins], low[kBins], high[kBins];

  __device__ __forceinline__ void Clear() {
    for (int i = threadIdx.x; i < kBins; i += kRowThreads) count[i] = low[i] = high[i] = 0;
    __syncthreads();
  }
  __device__ __forceinline__ void Add(int bin, uint64_t weight) {
    atomicAdd(&count[bin], 1u);
    if (weight == 0) return;
    const auto part = static_cast<uint32_t>(weight);
    const uint32_t before = atomicAdd(&low[bin], part);
    const uint32_t rest = static_cast<uint32_t>(weight >> 32) + (before + part < before ? 1 : 0);
    if (rest != 0) atomicAdd(&high[bin], rest);
  }
  __device__ __forceinline__ uint64_t Weight(int bin) const {
    return static_cast<uint64_t>(high[bin]) << 32 | low[bin];
  }
};

// How much is to be selected: so many items, or at least this share of the weight of all. `amount`
// is in items, or in units of weight once FindDistance has seen them all.
struct Need {
  bool by_weight;
  int64_t amount;
  float share;
};

// The bin, or the key, at which what is selected is reached; what comes before it, and what it has.
struct Border {
  uint32_t at;
  uint64_t count_before, weight_before, count, weight;
};

constexpr int kMaskWindow = static_cast<int>(sizeof(Tally)) * 8;  // tokens, a bit for each
struct SelectRoom {
  union {
    Tally tally;
    uint32_t allowed[kMaskWindow / 32];
    struct {
      uint32_t key[kMostLikely];
      int32_t id[kMostLikely];
    } likely;
  };
  uint64_t sums[kRowWarps];
  uint32_t packed[2][kRowWarps];
  float largest[kRowWarps];
  Border border;
};

// Calls f with the logit of every item, many loads ahead.
template <typename F>
__device__ __forceinline__ void ForEachLogit(const RowItems& row, F f) {
  constexpr int kAhead = 8;
  for (int32_t i = threadIdx.x; i < row.count; i += kAhead * kRowThreads) {
    int32_t id[kAhead];
    float logit[kAhead];
#pragma unroll
    for (int j = 0; j < kAhead; ++j) {
      id[j] = i + j * kRowThreads < row.count ? row.Id(i + j * kRowThreads) : -1;
    }
#pragma unroll
    for (int j = 0; j < kAhead; ++j) logit[j] = id[j] >= 0 ? row.logits[id[j]] : 0;
#pragma unroll
    for (int j = 0; j < kAhead; ++j) {
      if (id[j] >= 0) f(logit[j]);
    }
  }
}

__device__ __noinline__ float LargestLogit(const RowItems row, float* room) {
  float largest = -FLT_MAX;
  ForEachLogit(row, [&](float logit) { largest = fmaxf(largest, logit); });
  largest = WarpMax(largest);
  if (threadIdx.x % 32 == 0) room[threadIdx.x / 32] = largest;
  __syncthreads();
  largest = WarpMax(room[threadIdx.x % 32]);
  __syncthreads();
  return largest;
}

// The amounts that a tally has: in all, and before the two bins of this thread.
struct TallyRunning {
  Running<uint64_t> count, weight;
};
__device__ __forceinline__ TallyRunning RunningOf(SelectRoom* room) {
  const Tally& tally = room->tally;
  const int bin = 2 * threadIdx.x;
  const uint64_t count = tally.count[bin] + tally.count[bin + 1];
  return {BlockRunning(count, room->sums),
          BlockRunning(tally.Weight(bin) + tally.Weight(bin + 1), room->sums)};
}

// The bin of the tally at which `amount` (at least 1) is reached. Every thread gets it.
__device__ __forceinline__ Border FindBin(const TallyRunning& running, bool by_weight,
                                          uint64_t amount, SelectRoom* room) {
  const Tally& tally = room->tally;
  if (threadIdx.x == 0) room->border = {kBins - 1, 0, 0, 0, 0};  // where nothing weighs anything
  __syncthreads();
  uint64_t count = running.count.before, weight = running.weight.before;
  for (uint32_t bin = 2 * threadIdx.x; bin < 2 * threadIdx.x + 2; ++bin) {
    const uint64_t counts = tally.count[bin], weights = tally.Weight(bin);
    const uint64_t before = by_weight ? weight : count, own = by_weight ? weights : counts;
    if (before < amount && amount <= before + own) {
      room->border = {bin, count, weight, counts, weights};
    }
    count += counts;
    weight += weights;
  }
  __syncthreads();
  const Border border = room->border;
  __syncthreads();
  return border;
}

// The bin of distances at which `need` is reached; need->amount is set to what
// there is of it.
__device__ __noinline__ Border FindDistance(const RowItems row, const Measure measure, Need* need,
                                            SelectRoom* room) {
  Tally& tally = room->tally;
  tally.Clear();
  uint32_t far = 0;  // counted apart: there may be many of them
  ForEachLogit(row, [&](float logit) {
    if (!measure.Has(logit)) return;
    const int bin = measure.Bin(logit);
    if (bin == kBins - 1) {
      ++far;
    } else {
      tally.Add(bin, need->by_weight ? measure.Weight(logit) : 0);
    }
  });
  far = WarpSum(far);
  if (threadIdx.x % 32 == 0) atomicAdd(&tally.count[kBins - 1], far);
  __syncthreads();
  const TallyRunning running = RunningOf(room);
  if (need->by_weight) {
    const double weight = static_cast<double>(need->share) * running.weight.total;
    need->amount = max(static_cast<int64_t>(ceil(weight)), int64_t{1});
  } else {
    need->amount = min(need->amount, static_cast<int64_t>(running.count.total));
  }
  return FindBin(running, need->by_weight, need->amount, room);
}

// The key at which `need` is reached, within a bin that FindDistance gave for it.
__device__ __noinline__ Border FindKey(const RowItems row, const Measure measure, const Need need,
                                       const Border distance, SelectRoom* room) {
  Border border{0, distance.count_before, distance.weight_before, 0, 0};
  uint32_t known = 0;  // digits of border.at
  for (int end = 32; end > 0; end -= kDigitBits) {
    const int shift = max(end - kDigitBits, 0);
    const uint32_t digit = (1u << (end - shift)) - 1;
    room->tally.Clear();
    ForEachLogit(row, [&](float logit) {
      if (!measure.Has(logit) || measure.Bin(logit) != static_cast<int>(distance.at)) return;
      const uint32_t key = measure.Key(logit);
      if ((key & known) != border.at) return;
      room->tally.Add(key >> shift & digit, need.by_weight ? measure.Weight(logit) : 0);
    });
    __syncthreads();
    const uint64_t before = need.by_weight ? border.weight_before : border.count_before;
    const Border found = FindBin(RunningOf(room), need.by_weight, need.amount - before, room);
    border = {border.at | (found.at & digit) << shift, border.count_before + found.count_before,
              border.weight_before + found.weight_before, found.count, found.weight};
    known |= digit << shift;
  }
  return border;
}

// Copies the ids of items to `out`, in their order: those for which f(id, logit) is 1, and the
// first `ties` of those for which it is 2. Returns their number. `out` may be the row's own list.
template <typename F>
__device__ __forceinline__ int32_t Collect(const RowItems& row, uint32_t ties, int32_t* out,
                                           SelectRoom* room, F f) {
  constexpr int kEach = 8;  // a warp has kEach rows of 32 items at a time
  const int warp = threadIdx.x / 32, lane = threadIdx.x % 32;
  const unsigned lower = (1u << lane) - 1;
  uint32_t surely = 0, tied = 0;  // found so far
  for (int32_t start = 0, turn = 0; start < row.count; start += kEach * kRowThreads, turn ^= 1) {
    int32_t id[kEach];
    float logit[kEach];
    unsigned sure[kEach], tie[kEach];
    uint32_t counts = 0;  // of both kinds, in 16 bits each
#pragma unroll
    for (int j = 0; j < kEach; ++j) {
      const int32_t i = start + (warp * kEach + j) * 32 + lane;
      id[j] = i < row.count ? row.Id(i) : -1;
    }
#pragma unroll
    for (int j = 0; j < kEach; ++j) logit[j] = id[j] >= 0 ? row.logits[id[j]] : 0;
#pragma unroll
    for (int j = 0; j < kEach; ++j) {
      const int kind = id[j] >= 0 ? f(id[j], logit[j]) : 0;
      sure[j] = __ballot_sync(kAllLanes, kind == 1);
      tie[j] = __ballot_sync(kAllLanes, kind == 2);
      counts += __popc(sure[j]) | __popc(tie[j]) << 16;
    }
    if (lane == 0) room->packed[turn][warp] = counts;
    __syncthreads();  // also: all of these items have been read
    const uint32_t others = room->packed[turn][lane];
    const uint32_t before = __reduce_add_sync(kAllLanes, lane < warp ? others : 0);
    const uint32_t all = __reduce_add_sync(kAllLanes, others);
    uint32_t sure_before = surely + (before & 0xffff), tie_before = tied + (before >> 16);
#pragma unroll
    for (int j = 0; j < kEach; ++j) {
      const uint32_t sure_place = sure_before + __popc(sure[j] & lower);
      const uint32_t tie_place = tie_before + __popc(tie[j] & lower);
      const bool stays = sure[j] >> lane & 1 || (tie[j] >> lane & 1 && tie_place < ties);
      if (stays) out[sure_place + min(tie_place, ties)] = id[j];
      sure_before += __popc(sure[j]);
      tie_before += __popc(tie[j]);
    }
    surely += all & 0xffff;
    tied += all >> 16;
  }
  __syncthreads();
  return static_cast<int32_t>(surely + min(tied, ties));
}

// Of several with the key of the border, how many are needed.
__device__ __forceinline__ uint32_t TiesOf(const Border& border, const Need& need) {
  if (!need.by_weight) return static_cast<uint32_t>(need.amount - border.count_before);
  if (border.weight == 0) return border.count;
  const uint64_t each = border.weight / border.count;  // exact: they are equal
  return static_cast<uint32_t>((need.amount - border.weight_before + each - 1) / each);
}

// The tokens of the row that are needed, to `kept`, which may be the row's own list. Ties go to the
// lower id. Returns their number.
__device__ __noinline__ int32_t Cut(const RowItems row, const Measure measure, Need need,
                                    int32_t* kept, SelectRoom* room) {
  const Border bin = FindDistance(row, measure, &need, room);
  const int32_t close = Collect(row, 0, kept, room, [&](int32_t, float logit) {
    return measure.Bin(logit) <= static_cast<int>(bin.at) ? 1 : 0;
  });
  const RowItems list{row.logits, kept, close};
  const Border border = FindKey(list, measure, need, bin, room);
  return Collect(list, TiesOf(border, need), kept, room, [&](int32_t, float logit) {
    const uint32_t key = measure.Key(logit);
    return key < border.at ? 1 : key == border.at ? 2 : 0;
  });
}

// ---- The rules of a row.

// A list of tokens, ascending.
struct TokenList {
  const int32_t* ids;
  int32_t count;

  __device__ __forceinline__ bool Has(int32_t id) const {
    int32_t first = 0, last = count;
    while (first < last) {
      const int32_t middle = (first + last) / 2;
      if (ids[middle] < id) {
        first = middle + 1;
      } else {
        last = middle;
      }
    }
    return first < count && ids[first] == id;
  }
};

// Masks all but the allowed ones, a window of the vocabulary after the other.
__device__ __noinline__ void MaskOthers(const TokenList allowed, int32_t vocab, float* logits,
                                        SelectRoom* room) {
  for (int32_t start = 0; start < vocab; start += kMaskWindow) {
    for (int i = threadIdx.x; i < kMaskWindow / 32; i += kRowThreads) room->allowed[i] = 0;
    __syncthreads();
    for (int32_t i = threadIdx.x; i < allowed.count; i += kRowThreads) {
      const int32_t place = allowed.ids[i] - start;
      if (place >= 0 && place < kMaskWindow) atomicOr(&room->allowed[place / 32], 1u << place % 32);
    }
    __syncthreads();
    const int32_t size = min(kMaskWindow, vocab - start);
    for (int32_t i = threadIdx.x; i < size; i += kRowThreads) {
      if (!(room->allowed[i / 32] >> i % 32 & 1)) logits[start + i] = kMaskedLogit;
    }
    __syncthreads();
  }
}

// What top_k, top_p and min_p leave of the whole row, to `kept` where that is not all of it; the
// meaning of KeptTokens in sampler.cpp. Returns how many.
__device__ __forceinline__ int32_t Truncate(const RowItems& whole, const DrawRule& rule,
                                            int32_t* kept, SelectRoom* room) {
  const bool top_k = rule.top_k > 0 && rule.top_k < whole.count;
  if (!(rule.temperature > 0) || !(top_k || rule.top_p < 1 || rule.min_p > 0)) return whole.count;
  const float inverse = 1.0f / rule.temperature;
  const Measure measure{inverse, LargestLogit(whole, room->largest) * inverse, false};
  RowItems row = whole;
  if (top_k) row = {whole.logits, kept, Cut(row, measure, {false, rule.top_k, 0}, kept, room)};
  if (rule.top_p < 1) {
    row = {whole.logits, kept, Cut(row, measure, {true, 0, rule.top_p}, kept, room)};
  }
  if (rule.min_p > 0) {  // the likeliest has weight 1, and stays
    row.count = Collect(row, 0, kept, room, [&](int32_t, float logit) {
      return FastExp(-measure.Distance(logit)) >= rule.min_p ? 1 : 0;
    });
  }
  return row.count;
}

// The tokens that can be drawn, to `kept`. Returns how many; 0: the whole vocabulary.
__device__ __forceinline__ int32_t KeptOf(const RowItems& whole, const DrawRule& rule,
                                          const TokenList& allowed, int32_t* kept,
                                          SelectRoom* room) {
  int32_t count = Truncate(whole, rule, kept, room);
  if (count == whole.count) count = 0;
  if (allowed.count == 0) return count;
  if (count > 0) {
    const RowItems row{whole.logits, kept, count};
    count = Collect(row, 0, kept, room, [&](int32_t id, float) { return allowed.Has(id) ? 1 : 0; });
  }
  if (count > 0) return count;
  for (int32_t i = threadIdx.x; i < allowed.count; i += kRowThreads) kept[i] = allowed.ids[i];
  __syncthreads();
  return allowed.count;
}

// Where the likeliest tokens of a row are told: at most so many.
struct LikelyTokens {
  int32_t most;
  int32_t* token;
  float* logprob;
};

// The likeliest of the items, the likeliest first; ties: the lower id. Returns their number.
__device__ __noinline__ int32_t TellLikeliest(const RowItems row, const Measure measure,
                                              const LikelyTokens told, SelectRoom* room) {
  if (!isfinite(measure.origin)) return 0;
  Need need{false, min(told.most, kMostLikely), 0};
  const Border bin = FindDistance(row, measure, &need, room);
  const auto count = static_cast<int32_t>(need.amount);
  if (count <= 0) return 0;
  const Border border = FindKey(row, measure, need, bin, room);
  Collect(row, TiesOf(border, need), told.token, room, [&](int32_t, float logit) {
    const uint32_t key = measure.Key(logit);
    return !measure.Has(logit) || key > border.at ? 0 : key < border.at ? 1 : 2;
  });
  const auto i = static_cast<int32_t>(threadIdx.x);
  if (i < count) {
    room->likely.id[i] = told.token[i];
    room->likely.key[i] = measure.Key(row.logits[told.token[i]]);
  }
  __syncthreads();
  if (i < count) {
    int32_t rank = 0;  // ids ascend so far
    const uint32_t key = room->likely.key[i];
    for (int32_t j = 0; j < count; ++j) {
      rank += room->likely.key[j] < key || (room->likely.key[j] == key && j < i) ? 1 : 0;
    }
    told.token[rank] = room->likely.id[i];
    told.logprob[rank] = LogProbOf(row.logits[room->likely.id[i]], measure.inverse, measure.origin);
  }
  return count;
}

// Draws one of the items of the block's row, and tells of it.
template <RowRead kRead, bool kPlain>
__device__ __forceinline__ void DrawFrom(const RowItems& row, const DeviceDraw& d,
                                         DrawRoom* draw_room, SelectRoom* select_room) {
  const int64_t r = blockIdx.x;
  const DrawRule& rule = d.rules[r];
  const bool greedy = !(rule.temperature > 0);
  const float inverse = greedy ? 1.0f : 1.0f / rule.temperature;
  const RowStatistics statistics = StatisticsOf<kRead>(row, inverse, draw_room->segments);
  const int32_t place = greedy
                            ? LikeliestPlace(row, statistics.top, draw_room)
                            : DrawnPlace<kRead>(row, {inverse, statistics.top}, rule.u, draw_room);
  int32_t told = 0;
  if constexpr (!kPlain) {
    if (rule.likeliest > 0) {
      const LikelyTokens out{rule.likeliest, d.likely + r * kMostLikely,
                             d.likely_logprob + r * kMostLikely};
      told = TellLikeliest(row, {inverse, statistics.log_sum, true}, out, select_room);
    }
  }
  if (threadIdx.x != 0) return;
  const int32_t token = row.Id(place);
  d.drawn[r] = {token, LogProbOf(row.logits[token], inverse, statistics.log_sum),
                statistics.entropy, row.list ? row.count : 0, told};
}

// Without truncation and lists. The smaller kernel: two blocks fit a multiprocessor.
template <RowRead kWhole>
__global__ __launch_bounds__(kRowThreads, 2) void DrawPlainKernel(const DeviceDraw d) {
  __shared__ DrawRoom draw_room;
  const int64_t r = blockIdx.x;
  if (d.rules[r].skip) return;
  float* const logits = d.logits + r * d.vocab;
  if (d.rules[r].forbidden) MaskForbidden(d.forbidden, d.forbidden_count, logits);
  DrawFrom<kWhole, true>({logits, nullptr, static_cast<int32_t>(d.vocab)}, d, &draw_room, nullptr);
}

template <RowRead kWhole>
__global__ __launch_bounds__(kRowThreads) void DrawKernel(const DeviceDraw d) {
  __shared__ DrawRoom draw_room;
  __shared__ SelectRoom select_room;
  const int64_t r = blockIdx.x;
  const DrawRule rule = d.rules[r];
  if (rule.skip) return;
  float* const logits = d.logits + r * d.vocab;
  int32_t* const kept = d.kept + r * d.vocab;
  const RowItems whole{logits, nullptr, static_cast<int32_t>(d.vocab)};
  const TokenList allowed{d.allowed + rule.allowed_first, rule.allowed_count};
  if (rule.forbidden) MaskForbidden(d.forbidden, d.forbidden_count, logits);
  if (allowed.count > 0) MaskOthers(allowed, whole.count, logits, &select_room);
  const int32_t count = KeptOf(whole, rule, allowed, kept, &select_room);
  if (count > 0) {
    DrawFrom<RowRead::kList, false>({logits, kept, count}, d, &draw_room, &select_room);
  } else {
    DrawFrom<kWhole, false>(whole, d, &draw_room, &select_room);
  }
}

template <RowRead kWhole>
void LaunchDraw(DeviceContext* context, const DeviceDraw& d) {
  const auto blocks = static_cast<unsigned>(d.rows);
  if (d.plain) {
    DrawPlainKernel<kWhole><<<blocks, kRowThreads, 0, context->stream>>>(d);
  } else {
    DrawKernel<kWhole><<<blocks, kRowThreads, 0, context->stream>>>(d);
  }
  Launched(context, "draw");
}

}  // namespace

void Draw(DeviceContext* context, const DeviceDraw& d) {
  if (d.rows == 0) return;
  if (InQuads(d.logits, d.vocab)) {
    LaunchDraw<RowRead::kQuads>(context, d);
  } else {
    LaunchDraw<RowRead::kSingles>(context, d);
  }
}

}  // namespace hone::cuda
