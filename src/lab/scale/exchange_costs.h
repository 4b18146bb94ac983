#pragma once

#include <vector>

#include "lab/scale/device_costs.h"

// What processes tell each other, and how long that takes: as src/cluster and src/learn/together do
// it through the memory of hosts, and as devices could do it by themselves.

namespace hone::lab {

// Of one mini-batch, in seconds of the process that takes longest.
struct ReduceTimes {
  double sums = 0;       // slices of a process are added up, and their sums leave the device
  double exchange = 0;   // parts of gradients go to those who add them up
  double optimizer = 0;  // the step
  double spread = 0;     // sums or weights come to all

  double Total() const { return sums + exchange + optimizer + spread; }
};

class ExchangeCosts {
 public:
  explicit ExchangeCosts(const ScaleOptions& options, const DeviceCosts& costs);

  // Gradients of a mini-batch become a step of all.
  const ReduceTimes& reduce() const { return reduce_; }
  // What all processes send for that through their hosts.
  double sent_bytes() const { return sent_bytes_; }
  // A word of each for all.
  double WordSeconds() const;
  // A message of process 0 for all, handed on from one to two.
  double BroadcastSeconds(double bytes) const;
  // A message of each for process 0, which takes one after the other: `bytes` by process.
  double GatherSeconds(const std::vector<double>& bytes) const;

 private:
  // What a process sends or gets, by whether it stays within the node.
  struct Traffic {
    double here = 0, elsewhere = 0;
  };
  double MeetSeconds(const std::vector<Traffic>& of_all) const;
  double CopySeconds(double bytes) const;  // all processes of a node at the same time
  std::vector<double> OwnedBytes() const;
  ReduceTimes ThroughHosts();
  ReduceTimes BetweenDevices() const;

  const ScaleOptions& options_;
  const DeviceCosts& costs_;
  double here_ = 1;  // processes of a node
  double nodes_ = 1;
  double sent_bytes_ = 0;
  ReduceTimes reduce_;
};

}  // namespace hone::lab
