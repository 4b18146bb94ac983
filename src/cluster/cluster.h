#pragma once

#include <memory>
#include <string>
#include <vector>

#include "base/result.h"
#include "cluster/transport.h"

namespace hone {

// The processes that carry one run out together. Process 0 leads. Every process calls the same
// functions in the same order; one process alone is the same code.
//
// Not synchronised. Whatever fails throws ClusterError.
class Cluster {
 public:
  Cluster() = default;  // one process
  explicit Cluster(std::unique_ptr<Transport> transport);

  int rank() const { return transport_ == nullptr ? 0 : transport_->rank(); }
  int size() const { return transport_ == nullptr ? 1 : transport_->size(); }
  bool leads() const { return rank() == 0; }
  int processes_here() const;  // on this machine
  // "process 1 (node-b)", for people.
  std::string NameOf(int rank) const;

  // What process 0 gives, to all.
  std::string Broadcast(std::string bytes);
  // The same for others than process 0, who wait for it for as long as that may work alone.
  std::string AwaitOrder() { return Spread("", /*in_time=*/false); }
  // What each gives, by rank, to process 0; nothing for the others.
  std::vector<std::string> Gather(std::string bytes);
  // What each gives, by rank, to all.
  std::vector<std::string> Share(std::string bytes);
  // The same of what may have failed. Where it did anywhere, all have the error, of the process
  // with the lowest number, which is named.
  Result<std::vector<std::string>> ShareResult(Result<std::string> bytes);
  // What each gives, by rank, to process 0, or the error; nothing for the others.
  Result<std::vector<std::string>> GatherResult(Result<std::string> bytes);
  // One message for each process; returns those from each, by rank.
  std::vector<std::string> Exchange(std::vector<std::string> bytes);
  // At the end of a run that went well.
  void Close();

 private:
  std::string Spread(std::string bytes, bool in_time);
  Result<std::vector<std::string>> Unpacked(std::vector<std::string> all) const;

  std::unique_ptr<Transport> transport_;
  std::vector<std::string> hosts_;
};

}  // namespace hone
