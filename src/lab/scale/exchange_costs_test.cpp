#include "lab/scale/exchange_costs.h"

#include <atomic>
#include <memory>
#include <thread>

#include <gtest/gtest.h>

#include "engine/model.h"
#include "learn/together/slices.h"
#include "support/tested_scale.h"

namespace hone::lab {
namespace {

// Counts what is sent.
class CountingTransport final : public Transport {
 public:
  CountingTransport(std::unique_ptr<Transport> inner, std::atomic<size_t>* bytes)
      : inner_(std::move(inner)), bytes_(bytes) {}
  int rank() const override { return inner_->rank(); }
  int size() const override { return inner_->size(); }
  std::string host() const override { return inner_->host(); }
  void Send(int to, std::string bytes) override {
    *bytes_ += bytes.size();
    inner_->Send(to, std::move(bytes));
  }
  std::string Receive(int from, bool in_time) override { return inner_->Receive(from, in_time); }
  void Close() override { inner_->Close(); }

 private:
  std::unique_ptr<Transport> inner_;
  std::atomic<size_t>* bytes_;
};

// What real processes send to add up the gradients of a model of this shape.
size_t BytesReallySent(const ScaleOptions& options) {
  ModelConfig config;
  config.family = ModelConfig::Family::kLlama;
  config.layers = options.model.layers;
  config.width = options.model.width;
  config.heads = options.model.heads;
  config.kv_heads = options.model.kv_heads;
  config.head_dim = options.model.head_dim;
  config.ffn = options.model.ffn;
  config.vocab = options.model.vocabulary;
  std::atomic<size_t> all = 0, meeting = 0;
  std::vector<std::jthread> threads;
  for (auto& transport : NewThreadTransports(static_cast<int>(options.run.processes))) {
    threads.emplace_back([&, own = std::move(transport)]() mutable {
      const size_t hosts = (own->host().size()) * static_cast<size_t>(own->size() - 1);
      meeting += hosts;  // that all tell each other at the beginning
      Cluster cluster(std::make_unique<CountingTransport>(std::move(own), &all));
      Engine engine(NewModel(config), {.threads = 1});
      const Slices slices(options.run.slices, &cluster);
      slices.Accumulate(&engine, [](int64_t) {});
      cluster.Close();
    });
  }
  threads.clear();
  return all - meeting;
}

TEST(ExchangeCosts, TheBytesAreThoseThatAreSent) {
  for (const int processes : {2, 3, 5}) {
    for (const int slices : {1, 4, 7}) {
      const ScaleOptions options = *ReadTested(
          {"run.processes=" + std::to_string(processes), "run.slices=" + std::to_string(slices)});
      const DeviceCosts costs(options);
      EXPECT_EQ(ExchangeCosts(options, costs).sent_bytes(),
                static_cast<double>(BytesReallySent(options)))
          << processes << " processes, " << slices << " slices";
    }
  }
}

TEST(ExchangeCosts, TwoProcessesOfANodeSendWhatTheyDoNotOwn) {
  const ScaleOptions options =
      *ReadTested({"run.processes=2", "run.slices=2", "machine.host_bandwidth=1e6"});
  const DeviceCosts costs(options);
  const double whole = 4 * costs.model().trained_numbers;
  const ReduceTimes times = ExchangeCosts(options, costs).reduce();
  // Each holds its gradient once: it is packed by both, each sends the other's part through memory
  // that both see, and each adds up two sums of what it owns, which is half up to a tensor.
  const double most = times.exchange * 1e6 - 2 * whole - 2 * whole;
  EXPECT_GE(most, 2 * 1.5 * 2 * whole / 2 - 1);
  EXPECT_LE(most, 2 * 1.5 * 2 * whole * 0.6);
  EXPECT_EQ(times.sums, 0);
}

// Where a byte takes a microsecond, on the link and in the memory of the device. `whole`: seconds
// of a gradient.
ReduceTimes TimesOf(int processes, int slices, double* whole) {
  const ScaleOptions options =
      *ReadTested({"run.processes=" + std::to_string(processes), "machine.device_link=1e6",
                   "run.slices=" + std::to_string(slices), "machine.bandwidth=1e6"});
  const DeviceCosts costs(options);
  *whole = 4 * costs.model().trained_numbers / 1e6;
  return ExchangeCosts(options, costs).reduce();
}

TEST(ExchangeCosts, SlicesAreAddedUpOnTheDeviceAndTheirSumsLeaveIt) {
  double whole = 0;
  const ReduceTimes alone = TimesOf(1, 8, &whole);  // 7 additions, which read two and write one
  EXPECT_NEAR(alone.sums / whole, 7 * 3, 1e-9);
  EXPECT_EQ(alone.exchange + alone.spread, 0);
  EXPECT_EQ(TimesOf(1, 1, &whole).sums, 0);
  EXPECT_NEAR(TimesOf(2, 8, &whole).sums / whole, 3 * 3 + 1, 1e-9);
  // Of three, the second has [2, 4) and [4, 5), which are added to others.
  EXPECT_NEAR(TimesOf(3, 8, &whole).sums / whole, 1 * 3 + 2, 1e-9);
}

TEST(ExchangeCosts, WhatIsSetAsideTakesMemory) {
  const auto gradients = [](int processes, int slices) {
    const auto bytes = [&](int of) {
      const ScaleOptions options = *ReadTested(
          {"run.processes=" + std::to_string(processes), "run.slices=" + std::to_string(of)});
      return DeviceCosts(options).MemoryBytes(true, 0);
    };
    const ScaleOptions options = *ReadTested({});
    return (bytes(slices) - bytes(1)) / (4 * DeviceCosts(options).model().trained_numbers);
  };
  EXPECT_NEAR(gradients(1, 2), 1, 1e-9);
  EXPECT_NEAR(gradients(1, 5), 3, 1e-9);
  EXPECT_NEAR(gradients(1, 64), 6, 1e-9);
  EXPECT_NEAR(gradients(8, 64), 3, 1e-9);
  EXPECT_NEAR(gradients(8, 8), 0, 1e-9);
}

TEST(ExchangeCosts, MessagesGrowWithTheSquareOfProcesses) {
  const std::vector<std::string> words = {"machine.message_seconds=1e-3", "machine.devices=1",
                                          "run.slices=64"};
  const auto seconds = [&](int processes) {
    std::vector<std::string> changes = words;
    changes.push_back("run.processes=" + std::to_string(processes));
    const ScaleOptions options = *ReadTested(changes);
    return ExchangeCosts(options, DeviceCosts(options)).reduce().exchange;
  };
  EXPECT_NEAR(seconds(64) / seconds(8), 63.0 / 7, 1e-6);  // of each; there are as many senders
}

TEST(ExchangeCosts, ATensorHasOneOwnerSoManyProcessesAreUneven) {
  const std::vector<std::string> slow = {"machine.network=1e6", "machine.devices=1",
                                         "run.slices=256"};
  const auto spread = [&](int processes) {
    std::vector<std::string> changes = slow;
    changes.push_back("run.processes=" + std::to_string(processes));
    const ScaleOptions options = *ReadTested(changes);
    return ExchangeCosts(options, DeviceCosts(options)).reduce().spread;
  };
  // Whoever owns the largest tensor sends it to all the others, one after the other.
  EXPECT_GT(spread(256), 3.9 * spread(64));
}

}  // namespace
}  // namespace hone::lab
