#include "learn/batches.h"

#include <algorithm>
#include <numeric>

#include "base/check.h"
#include "learn/together/slices.h"

namespace hone {

std::vector<size_t> MiniBatch::Groups() const {
  std::vector<size_t> groups;
  for (const EngineCalls& slice : slices) {
    for (const std::vector<size_t>& call : slice) {
      groups.insert(groups.end(), call.begin(), call.end());
    }
  }
  return groups;
}

EngineCalls PackByTokens(std::span<const size_t> order, std::span<const int64_t> tokens,
                         int64_t limit) {
  EngineCalls runs;
  int64_t used = 0;
  for (const size_t item : order) {
    CHECK(item < tokens.size(), "an item without a number of tokens");
    if (runs.empty() || used + tokens[item] > limit) {
      runs.emplace_back();
      used = 0;
    }
    runs.back().push_back(item);
    used += tokens[item];
  }
  return runs;
}

std::vector<EngineCalls> SlicesOf(std::span<const size_t> order, std::span<const int64_t> tokens,
                                  int64_t slices, int64_t limit) {
  std::vector<EngineCalls> cut;
  for (int64_t slice = 0; slice < slices; ++slice) {
    const auto [begin, end] = PartOf(order.size(), slices, slice);
    cut.push_back(PackByTokens(order.subspan(begin, end - begin), tokens, limit));
  }
  return cut;
}

std::vector<MiniBatch> MakeMiniBatches(const BatchOptions& options, std::span<const int64_t> tokens,
                                       const Rng& rng) {
  std::vector<MiniBatch> batches;
  const size_t groups = tokens.size();
  const size_t parts = std::min(static_cast<size_t>(options.mini_batches), groups);
  for (int64_t epoch = 0; epoch < options.epochs; ++epoch) {
    const std::vector<size_t> order =
        Shuffled(groups, rng.Split("epoch").Split(static_cast<uint64_t>(epoch)));
    for (size_t part = 0; part < parts; ++part) {
      const size_t begin = groups * part / parts, end = groups * (part + 1) / parts;
      batches.push_back({epoch, SlicesOf(std::span(order).subspan(begin, end - begin), tokens,
                                         options.slices, options.call_tokens)});
    }
  }
  return batches;
}

}  // namespace hone
