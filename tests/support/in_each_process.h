#pragma once

#include <functional>
#include <memory>
#include <thread>
#include <vector>

#include "cluster/cluster.h"

namespace hone {

// Runs it in each of so many processes, which are threads here.
inline void InEachProcess(int count, const std::function<void(Cluster*)>& run) {
  std::vector<std::jthread> threads;
  for (std::unique_ptr<Transport>& transport : NewThreadTransports(count)) {
    threads.emplace_back([&run, own = std::move(transport)]() mutable {
      Cluster cluster(std::move(own));
      run(&cluster);
      cluster.Close();
    });
  }
}

}  // namespace hone
