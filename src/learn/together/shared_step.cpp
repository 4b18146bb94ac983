#include "learn/together/shared_step.h"

#include <algorithm>
#include <cstring>

#include "base/check.h"
#include "cluster/wire.h"
#include "engine/model.h"

namespace hone {
namespace {

void Append(const float* numbers, size_t count, std::string* bytes) {
  bytes->append(reinterpret_cast<const char*>(numbers), count * sizeof(float));
}

// Takes numbers from the beginning of what is left.
void TakeOff(std::string_view* bytes, float* numbers, size_t count) {
  CHECK(bytes->size() >= count * sizeof(float), "a message is cut off");
  // What adapters train is a part of the tensors: others have no numbers, and then no place.
  if (count == 0) return;
  std::memcpy(numbers, bytes->data(), count * sizeof(float));
  bytes->remove_prefix(count * sizeof(float));
}

}  // namespace

std::vector<int> OwnersOf(const std::vector<size_t>& sizes, int processes) {
  std::vector<size_t> order(sizes.size());
  for (size_t i = 0; i < order.size(); ++i) order[i] = i;
  std::stable_sort(order.begin(), order.end(),
                   [&](size_t a, size_t b) { return sizes[a] > sizes[b]; });
  std::vector<size_t> load(static_cast<size_t>(processes), 0);
  std::vector<int> owners(sizes.size(), 0);
  for (const size_t tensor : order) {
    const auto least = std::min_element(load.begin(), load.end());
    owners[tensor] = static_cast<int>(least - load.begin());
    *least += sizes[tensor];
  }
  return owners;
}

SharedStep::SharedStep(Cluster* cluster, std::vector<size_t> sizes)
    : cluster_(cluster), sizes_(std::move(sizes)), owners_(OwnersOf(sizes_, cluster->size())) {
  for (const int owner : owners_) share_.mine.push_back(owner == cluster->rank());
  share_.bring_squares = [this](std::vector<double>* squares) { BringSquares(squares); };
  share_.bring_weights = [this](Model* model) { BringWeights(model); };
  share_.bring_moments = [this](Optimizer* optimizer) { BringMoments(optimizer); };
}

// Each piece is one process's; to the others it is 0.
void SharedStep::BringSquares(std::vector<double>* squares) const {
  WireWriter writer;
  writer(*squares);
  squares->assign(squares->size(), 0.0);
  for (const std::string& bytes : cluster_->Share(writer.Take())) {
    std::vector<double> some;
    WireReader reader(bytes);
    reader(some);
    CHECK(reader.whole() && some.size() == squares->size(), "squares of another model");
    for (size_t i = 0; i < some.size(); ++i) (*squares)[i] += some[i];
  }
}

void SharedStep::BringWeights(Model* model) const {
  std::string mine;
  for (size_t p = 0; p < sizes_.size(); ++p) {
    if (share_.mine[p]) Append(model->parameters[p].value.data(), sizes_[p], &mine);
  }
  const std::vector<std::string> all = cluster_->Share(std::move(mine));
  std::vector<std::string_view> rest(all.begin(), all.end());
  for (size_t p = 0; p < sizes_.size(); ++p) {
    if (share_.mine[p]) continue;
    TakeOff(&rest[static_cast<size_t>(owners_[p])], model->parameters[p].value.data(), sizes_[p]);
  }
}

std::string SharedStep::WriteMoments(const Optimizer& optimizer) const {
  std::string bytes;
  for (size_t p = 0; p < sizes_.size(); ++p) {
    if (!share_.mine[p]) continue;
    Append(optimizer.first_moments[p].data(), sizes_[p], &bytes);
    Append(optimizer.second_moments[p].data(), sizes_[p], &bytes);
  }
  return bytes;
}

void SharedStep::BringMoments(Optimizer* optimizer) const {
  if (tell_others) tell_others();
  const std::vector<std::string> all =
      cluster_->Gather(cluster_->leads() ? "" : WriteMoments(*optimizer));
  if (all.empty()) return;  // process 0 has them
  std::vector<std::string_view> rest(all.begin(), all.end());
  for (size_t p = 0; p < sizes_.size(); ++p) {
    if (share_.mine[p]) continue;
    std::string_view* from = &rest[static_cast<size_t>(owners_[p])];
    for (Floats* moment : {&optimizer->first_moments[p], &optimizer->second_moments[p]}) {
      moment->resize(sizes_[p]);
      TakeOff(from, moment->data(), sizes_[p]);
    }
  }
}

}  // namespace hone
