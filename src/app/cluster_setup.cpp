#include "app/cluster_setup.h"

#include <unistd.h>

#include <algorithm>
#include <cstdio>
#include <thread>

#include <fmt/format.h>

#include "app/interrupts.h"
#include "cluster/mpi.h"

namespace hone {
namespace {

// A launcher may have given each process cores of its own; else all of them see all.
int64_t ThreadsOf(int64_t processes_here) {
  const auto seen = static_cast<int64_t>(std::max(1u, std::thread::hardware_concurrency()));
  const int64_t online = std::max<int64_t>(1, ::sysconf(_SC_NPROCESSORS_ONLN));
  return seen * processes_here <= online ? seen : std::max<int64_t>(1, online / processes_here);
}

}  // namespace

Result<std::unique_ptr<Cluster>> JoinCluster(TrainingRecipe* recipe) {
  if (!StartedByMpi()) return std::make_unique<Cluster>();
  const MpiOptions options{
      .patience_seconds = recipe->run.patience,
      .ending = Interrupted,
      .note = [](const std::string& sentence) { fmt::print(stderr, "\nhone: {}\n", sentence); }};
  HONE_ASSIGN_OR_RETURN(std::unique_ptr<Transport> transport, OpenMpi(options));
  auto cluster = std::make_unique<Cluster>(std::move(transport));
  if (recipe->run.threads == 0 && cluster->size() > 1) {
    recipe->run.threads = ThreadsOf(cluster->processes_here());
  }
  return cluster;
}

}  // namespace hone
