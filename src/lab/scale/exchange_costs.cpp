#include "lab/scale/exchange_costs.h"

#include <algorithm>
#include <cmath>

#include "learn/together/shared_step.h"
#include "learn/together/slices.h"

namespace hone::lab {
namespace {

constexpr double kNumberBytes = 4;  // gradients and weights travel as float32
constexpr double kAddition = 1.5;   // of copies: it reads two and writes one

double Rounds(double among) { return among > 1 ? std::ceil(std::log2(among)) : 0; }

}  // namespace

ExchangeCosts::ExchangeCosts(const ScaleOptions& options, const DeviceCosts& costs)
    : options_(options), costs_(costs), here_(ProcessesOfNode(options)) {
  nodes_ = std::ceil(static_cast<double>(options.run.processes) / here_);
  reduce_ = options.run.collectives ? BetweenDevices() : ThroughHosts();
}

// A copy reads and writes; the rate is of what is copied.
double ExchangeCosts::CopySeconds(double bytes) const {
  return options_.machine.host_bandwidth == 0 ? 0 : bytes * here_ / options_.machine.host_bandwidth;
}

// All send to all. The processes of a node share its network and its memory; what is sent within
// the node is copied twice, into what both see and out of it.
double ExchangeCosts::MeetSeconds(const std::vector<Traffic>& of_all) const {
  const ScaleMachineOptions& machine = options_.machine;
  double slowest = 0;
  const auto node = static_cast<size_t>(here_);
  for (size_t first = 0; first < of_all.size(); first += node) {
    Traffic all;
    for (size_t i = first; i < std::min(first + node, of_all.size()); ++i) {
      all.here += of_all[i].here;
      all.elsewhere += of_all[i].elsewhere;
    }
    double seconds = 2 * all.here / machine.host_bandwidth;
    if (all.elsewhere > 0) seconds = std::max(seconds, all.elsewhere / machine.network);
    slowest = std::max(slowest, seconds);
  }
  return slowest + WordSeconds();
}

// Of gradients, by process: whole tensors are owned, so the shares are uneven.
std::vector<double> ExchangeCosts::OwnedBytes() const {
  const ScaleRunOptions& run = options_.run;
  const std::vector<size_t>& tensors = costs_.model().trained;
  const std::vector<int> owners = OwnersOf(tensors, static_cast<int>(run.processes));
  std::vector<double> owned(static_cast<size_t>(run.processes), 0);
  for (size_t p = 0; p < owners.size(); ++p) {
    owned[static_cast<size_t>(owners[p])] +=
        static_cast<double>(tensors[p]) * kNumberBytes / static_cast<double>(run.tensor_parallel);
  }
  return owned;
}

// As Slices::Accumulate and SharedStep do it.
ReduceTimes ExchangeCosts::ThroughHosts() {
  const ScaleRunOptions& run = options_.run;
  const ScaleMachineOptions& machine = options_.machine;
  const auto processes = static_cast<size_t>(run.processes);
  const ScaleModel& model = costs_.model();
  const double whole =
      model.trained_numbers * kNumberBytes / static_cast<double>(run.tensor_parallel);
  ReduceTimes times;
  times.optimizer = costs_.OptimizerSeconds(model.trained_numbers);

  const std::vector<double> owned = OwnedBytes();
  const double largest = *std::max_element(owned.begin(), owned.end());
  const double link = machine.device_link == 0 ? 0 : 1 / machine.device_link;
  std::vector<double> sums(processes);
  double all_sums = 0;
  for (size_t rank = 0; rank < processes; ++rank) {
    const auto number = static_cast<int>(rank);
    const SliceRange mine = SlicesOfProcess(run.slices, static_cast<int>(processes), number);
    const auto slices = static_cast<double>(mine.end - mine.begin);
    sums[rank] =
        static_cast<double>(SumsOfProcess(run.slices, static_cast<int>(processes), number).size());
    all_sums += sums[rank];
    // Where they were computed; what others have to add to leaves it.
    const double added = costs_.AdditionSeconds((slices - sums[rank]) * model.trained_numbers);
    times.sums = std::max(times.sums, added + (processes > 1 ? sums[rank] * whole * link : 0));
  }
  if (processes == 1) return times;

  const auto node = static_cast<size_t>(here_);
  std::vector<Traffic> gradients(processes), results(processes);
  for (size_t first = 0; first < processes; first += node) {
    double of_node = 0;
    const size_t end = std::min(first + node, processes);
    for (size_t i = first; i < end; ++i) of_node += owned[i];
    for (size_t i = first; i < end; ++i) {
      gradients[i] = {sums[i] * (of_node - owned[i]), sums[i] * (whole - of_node)};
      results[i] = {owned[i] * static_cast<double>(end - first - 1),
                    owned[i] * static_cast<double>(processes - (end - first))};
      sent_bytes_ += gradients[i].here + gradients[i].elsewhere;
      sent_bytes_ += results[i].here + results[i].elsewhere;
    }
  }
  const double most_sums = *std::max_element(sums.begin(), sums.end());
  times.exchange = CopySeconds(most_sums * whole) + MeetSeconds(gradients) +
                   CopySeconds(kAddition * all_sums * largest);
  // A message of its own for each process, and what comes is put in its place.
  times.spread = CopySeconds(static_cast<double>(processes) * largest) + MeetSeconds(results) +
                 CopySeconds(whole) + whole * link;
  const double numbers = largest / kNumberBytes * static_cast<double>(run.tensor_parallel);
  if (run.shared_step) times.optimizer = costs_.OptimizerSeconds(numbers);
  return times;
}

// Proposed: even parts of the gradient are added up within nodes first and between them then, and
// come back as weights the same way.
ReduceTimes ExchangeCosts::BetweenDevices() const {
  const ScaleMachineOptions& machine = options_.machine;
  const double numbers = costs_.model().trained_numbers;
  const auto processes = static_cast<double>(options_.run.processes);
  const double whole = numbers * kNumberBytes / static_cast<double>(options_.run.tensor_parallel);
  double once = 0;
  if (here_ > 1) {
    once += (here_ - 1) / here_ * whole / machine.device_network +
            Rounds(here_) * machine.collective_seconds;
  }
  if (nodes_ > 1) {
    const double network = machine.network / static_cast<double>(machine.devices);
    once += (nodes_ - 1) / nodes_ * whole / here_ / network +
            Rounds(nodes_) * (machine.collective_seconds + machine.message_seconds);
  }
  const double share = options_.run.shared_step ? processes : 1;
  return {.sums = 0,
          .exchange = once,
          .optimizer = costs_.OptimizerSeconds(numbers / share),
          .spread = once};
}

double ExchangeCosts::WordSeconds() const {
  return 2 * static_cast<double>(options_.run.processes - 1) * options_.machine.message_seconds;
}

double ExchangeCosts::BroadcastSeconds(double bytes) const {
  const ScaleMachineOptions& machine = options_.machine;
  if (options_.run.processes == 1) return 0;
  double seconds =
      Rounds(static_cast<double>(options_.run.processes)) * 2 * machine.message_seconds;
  if (nodes_ > 1) seconds += Rounds(nodes_) * bytes / machine.network;
  if (here_ > 1) seconds += Rounds(here_) * 2 * CopySeconds(bytes) / here_;
  return seconds;
}

double ExchangeCosts::GatherSeconds(const std::vector<double>& bytes) const {
  const ScaleMachineOptions& machine = options_.machine;
  double seconds = 0;
  for (size_t rank = 1; rank < bytes.size(); ++rank) {
    const bool near = static_cast<double>(rank) < here_;
    seconds += machine.message_seconds +
               (near ? 2 * bytes[rank] / machine.host_bandwidth : bytes[rank] / machine.network);
  }
  return seconds;
}

}  // namespace hone::lab
