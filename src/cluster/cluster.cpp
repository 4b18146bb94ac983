#include "cluster/cluster.h"

#include <algorithm>
#include <utility>

#include "base/check.h"

namespace hone {

namespace {

// A byte says which of the two it is: the code of an error, or none.
constexpr char kFine = '\x7f';

std::string Packed(Result<std::string> bytes) {
  if (bytes.ok()) return kFine + *std::move(bytes);
  return static_cast<char>(bytes.error().code()) + bytes.error().message();
}

}  // namespace

Cluster::Cluster(std::unique_ptr<Transport> transport) : transport_(std::move(transport)) {
  hosts_ = Share(transport_->host());
  std::vector<std::string> names;
  for (int rank = 0; rank < size(); ++rank) names.push_back(NameOf(rank));
  transport_->NameProcesses(std::move(names));
}

int Cluster::processes_here() const {
  if (hosts_.empty()) return 1;
  const std::string& here = hosts_[static_cast<size_t>(rank())];
  return static_cast<int>(std::count(hosts_.begin(), hosts_.end(), here));
}

std::string Cluster::NameOf(int rank) const {
  std::string name = "process " + std::to_string(rank);
  if (static_cast<size_t>(rank) < hosts_.size()) {
    name += " (" + hosts_[static_cast<size_t>(rank)] + ")";
  }
  return name;
}

std::string Cluster::Broadcast(std::string bytes) { return Spread(std::move(bytes), true); }

// Down a binary tree: whoever has it hands it to the process half as far away as the last time.
std::string Cluster::Spread(std::string bytes, bool in_time) {
  const int rank = this->rank(), size = this->size();
  int step = 1;
  while (step < size) step *= 2;
  for (; step >= 1; step /= 2) {
    if (rank % (2 * step) == step) bytes = transport_->Receive(rank - step, in_time);
    if (rank % (2 * step) == 0 && rank + step < size) transport_->Send(rank + step, bytes);
  }
  if (transport_ != nullptr) transport_->Flush();  // the others begin before this process computes
  return bytes;
}

std::vector<std::string> Cluster::Gather(std::string bytes) {
  std::vector<std::string> all;
  if (!leads()) {
    transport_->Send(0, std::move(bytes));
    return all;
  }
  all.push_back(std::move(bytes));
  for (int from = 1; from < size(); ++from) all.push_back(transport_->Receive(from));
  return all;
}

std::vector<std::string> Cluster::Share(std::string bytes) {
  return Exchange(std::vector<std::string>(static_cast<size_t>(size()), bytes));
}

// In the order of their distance: at a time, everybody sends to somebody else.
std::vector<std::string> Cluster::Exchange(std::vector<std::string> bytes) {
  const int rank = this->rank(), size = this->size();
  CHECK(static_cast<int>(bytes.size()) == size, "one message for each process");
  for (int away = 1; away < size; ++away) {
    const int to = (rank + away) % size;
    transport_->Send(to, std::move(bytes[static_cast<size_t>(to)]));
  }
  for (int away = 1; away < size; ++away) {
    const int from = (rank + size - away) % size;
    bytes[static_cast<size_t>(from)] = transport_->Receive(from);
  }
  if (transport_ != nullptr) transport_->Flush();
  return bytes;
}

Result<std::vector<std::string>> Cluster::Unpacked(std::vector<std::string> all) const {
  for (size_t rank = 0; rank < all.size(); ++rank) {
    const char kind = all[rank].at(0);
    all[rank].erase(0, 1);
    if (kind == kFine) continue;
    const Error error(static_cast<ErrorCode>(kind), all[rank]);
    return rank == 0 ? error : error.In(NameOf(static_cast<int>(rank)));
  }
  return all;
}

Result<std::vector<std::string>> Cluster::ShareResult(Result<std::string> bytes) {
  return Unpacked(Share(Packed(std::move(bytes))));
}

Result<std::vector<std::string>> Cluster::GatherResult(Result<std::string> bytes) {
  return Unpacked(Gather(Packed(std::move(bytes))));
}

void Cluster::Close() {
  if (transport_ != nullptr) transport_->Close();
}

}  // namespace hone
