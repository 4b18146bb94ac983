#include "learn/together/slices.h"

#include <algorithm>
#include <cstring>
#include <utility>

#include "base/check.h"
#include "cluster/wire.h"
#include "engine/optimizer.h"
#include "learn/together/shared_step.h"

namespace hone {
namespace {

int64_t Middle(const SliceRange& range) { return range.begin + (range.end - range.begin) / 2; }

// The largest sums of the tree over `whole` that consist of slices of `part` alone, in their order.
void SumsWithin(const SliceRange& whole, const SliceRange& part, std::vector<SliceRange>* sums) {
  if (whole.end <= part.begin || part.end <= whole.begin || part.begin >= part.end) return;
  if (part.begin <= whole.begin && whole.end <= part.end) {
    sums->push_back(whole);
    return;
  }
  SumsWithin({whole.begin, Middle(whole)}, part, sums);
  SumsWithin({Middle(whole), whole.end}, part, sums);
}

// The gradients of this process's slices, as far as they can be added up here.
struct Partial {
  SliceRange range;
  Gradients gradients;
};

class Reduction {
 public:
  Reduction(Cluster* cluster, const std::vector<size_t>& sizes, ThreadPool* pool)
      : cluster_(cluster), sizes_(sizes), pool_(pool), owners_(OwnersOf(sizes, cluster->size())) {}

  // `ranges`: of every process's partial sums, by rank.
  // The sums of the tensors that this process has, and none of the others.
  Gradients Run(std::vector<Partial> mine, const std::vector<std::vector<SliceRange>>& ranges,
                int64_t count) {
    const std::vector<std::string> parts = cluster_->Exchange(Parcels(mine));
    mine.clear();
    std::vector<Term> terms;
    for (size_t rank = 0; rank < parts.size(); ++rank) {
      const char* at = parts[rank].data();
      for (const SliceRange& range : ranges[rank]) {
        terms.push_back({range, reinterpret_cast<const float*>(at)});
        at += OwnedBytes();
      }
    }
    Floats sum(OwnedBytes() / sizeof(float));
    AddUp({0, count}, terms, sum);
    Gradients gradients(sizes_.size());
    const float* from = sum.data();
    for (size_t p = 0; p < sizes_.size(); ++p) {
      if (owners_[p] != cluster_->rank()) continue;
      gradients[p].assign(from, from + sizes_[p]);
      from += sizes_[p];
    }
    return gradients;
  }

  // The sums of all tensors, from what each process has.
  Gradients Whole(const Gradients& mine) const {
    std::string bytes;
    for (size_t p = 0; p < sizes_.size(); ++p) {
      if (owners_[p] != cluster_->rank()) continue;
      bytes.append(reinterpret_cast<const char*>(mine[p].data()), sizes_[p] * sizeof(float));
    }
    const std::vector<std::string> sums = cluster_->Share(std::move(bytes));
    std::vector<const char*> at;
    for (const std::string& sum : sums) at.push_back(sum.data());
    Gradients gradients(sizes_.size());
    for (size_t p = 0; p < sizes_.size(); ++p) {
      gradients[p].resize(sizes_[p]);
      const char*& from = at[static_cast<size_t>(owners_[p])];
      std::memcpy(gradients[p].data(), from, sizes_[p] * sizeof(float));
      from += sizes_[p] * sizeof(float);
    }
    return gradients;
  }

 private:
  struct Term {
    SliceRange range;
    const float* values;
  };

  size_t OwnedBytes() const {
    size_t numbers = 0;
    for (size_t p = 0; p < sizes_.size(); ++p) {
      if (owners_[p] == cluster_->rank()) numbers += sizes_[p];
    }
    return numbers * sizeof(float);
  }

  // For each process the tensors that it owns, of one partial sum after the other.
  std::vector<std::string> Parcels(const std::vector<Partial>& mine) const {
    std::vector<std::string> parcels(static_cast<size_t>(cluster_->size()));
    for (const Partial& partial : mine) {
      for (size_t p = 0; p < sizes_.size(); ++p) {
        const Floats& values = partial.gradients[p];
        parcels[static_cast<size_t>(owners_[p])].append(
            reinterpret_cast<const char*>(values.data()), values.size() * sizeof(float));
      }
    }
    return parcels;
  }

  void AddUp(const SliceRange& range, const std::vector<Term>& terms, std::span<float> sum) const {
    for (const Term& term : terms) {
      if (term.range != range) continue;
      std::copy_n(term.values, sum.size(), sum.data());
      return;
    }
    AddUp({range.begin, Middle(range)}, terms, sum);
    Floats right(sum.size());
    AddUp({Middle(range), range.end}, terms, right);
    AddNumbers(right.data(), sum, pool_);
  }

  Cluster* cluster_;
  std::vector<size_t> sizes_;
  ThreadPool* pool_;
  std::vector<int> owners_;
};

Gradients Zeros(const std::vector<size_t>& sizes) {
  Gradients zeros;
  for (const size_t size : sizes) zeros.emplace_back(size, 0.0f);
  return zeros;
}

}  // namespace

std::pair<size_t, size_t> PartOf(size_t items, int64_t count, int64_t part) {
  const auto n = static_cast<size_t>(count), i = static_cast<size_t>(part);
  return {items * i / n, items * (i + 1) / n};
}

SliceRange SlicesOfProcess(int64_t count, int processes, int rank) {
  const int64_t computing = std::min<int64_t>(processes, count);
  if (rank >= computing) return {count, count};
  const auto [begin, end] = PartOf(static_cast<size_t>(count), computing, rank);
  return {static_cast<int64_t>(begin), static_cast<int64_t>(end)};
}

std::vector<SliceRange> SumsOfProcess(int64_t count, int processes, int rank) {
  std::vector<SliceRange> sums;
  SumsWithin({0, count}, SlicesOfProcess(count, processes, rank), &sums);
  return sums;
}

Result<std::vector<std::string>> Slices::Share(Result<std::vector<std::string>> of_mine) const {
  if (processes() == 1) return of_mine;
  Result<std::string> packed = std::string();
  if (of_mine.ok()) {
    CHECK(static_cast<int64_t>(of_mine->size()) == mine().second - mine().first);
    WireWriter writer;
    writer(*of_mine);
    packed = writer.Take();
  } else {
    packed = of_mine.error();
  }
  HONE_ASSIGN_OR_RETURN(const std::vector<std::string> from_each,
                        cluster_->ShareResult(std::move(packed)));
  std::vector<std::string> all;
  for (const std::string& bytes : from_each) {
    std::vector<std::string> slices;
    WireReader reader(bytes);
    reader(slices);
    CHECK(reader.whole(), "a message is cut off");
    for (std::string& slice : slices) all.push_back(std::move(slice));
  }
  CHECK(static_cast<int64_t>(all.size()) == count_, "a process with other slices");
  return all;
}

std::vector<std::string> Slices::Share(std::vector<std::string> of_mine) const {
  return *Share(Result<std::vector<std::string>>(std::move(of_mine)));
}

void Slices::Accumulate(Engine* engine,
                        const std::function<void(int64_t slice)>& accumulate) const {
  const std::function<void(const SliceRange&)> compute = [&](const SliceRange& range) {
    if (range.end - range.begin == 1) return accumulate(range.begin);
    compute({range.begin, Middle(range)});
    engine->SetGradientsAside();
    compute({Middle(range), range.end});
    engine->AddGradientsAside();
  };
  if (processes() == 1) return compute({0, count_});

  const std::vector<size_t> sizes = engine->GradientSizes();
  std::vector<Partial> partial;
  for (const SliceRange& range : SumsOfProcess(count_, processes(), rank())) {
    compute(range);
    Gradients gradients = engine->TakeGradients();
    if (gradients.empty()) gradients = Zeros(sizes);  // there was nothing to learn
    partial.push_back({range, std::move(gradients)});
  }
  std::vector<std::vector<SliceRange>> of_all;
  for (int rank = 0; rank < processes(); ++rank) {
    of_all.push_back(SumsOfProcess(count_, processes(), rank));
  }
  Reduction reduction(cluster_, sizes, engine->pool());
  Gradients sums = reduction.Run(std::move(partial), of_all, count_);
  engine->PutGradients(engine->shares_steps() ? std::move(sums) : reduction.Whole(sums));
}

}  // namespace hone
