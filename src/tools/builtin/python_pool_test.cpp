#include "tools/builtin/python_pool.h"

#include <csignal>

#include "support/confinement.h"

namespace hone {
namespace {

using std::chrono::milliseconds;
using std::chrono::seconds;

class PythonPoolTest : public ConfinementTest {
 protected:
  std::shared_ptr<PythonPool> New(bool keep_state, int workers) const {
    SandboxOptions sandbox;
    sandbox.isolation = method();
    PythonWorkerOptions options;
    options.keep_state = keep_state;
    auto pool = PythonPool::New(Sandbox::New(sandbox).value(), options, workers);
    CHECK(pool.ok(), pool.error().message());
    return *pool;
  }
};
HONE_UNDER_EVERY_METHOD(PythonPoolTest);

TEST_P(PythonPoolTest, WithoutStateThereAreNeverMoreThanItsWorkers) {
  const auto pool = New(false, 1);
  auto worker = pool->Take(seconds(20), {}).value();
  const auto second = pool->Take(milliseconds(30), {});
  ASSERT_FALSE(second.ok());
  EXPECT_EQ(second.error().code(), ErrorCode::kDeadline);
  std::stop_source stop;
  stop.request_stop();
  EXPECT_EQ(pool->Take(seconds(20), stop.get_token()).error().code(), ErrorCode::kStopped);
  const int pid = worker->pid();
  pool->GiveBack(std::move(worker), true);
  auto again = pool->Take(seconds(20), {}).value();
  EXPECT_EQ(again->pid(), pid);
  pool->GiveBack(std::move(again), true);
}

TEST_P(PythonPoolTest, WithStateSessionsTakeAsManyAsThereAre) {
  const auto pool = New(true, 1);
  std::vector<std::unique_ptr<PythonWorker>> held;
  for (int i = 0; i < 3; ++i) held.push_back(pool->Take(seconds(20), {}).value());
  for (size_t i = 0; i < held.size(); ++i) {
    EXPECT_EQ(held[i]->Execute(std::to_string(i), 0, seconds(20), {})->value, std::to_string(i));
  }
  for (auto& worker : held) pool->GiveBack(std::move(worker), true);
}

TEST_P(PythonPoolTest, ALostWorkerIsReplacedHeldOrIdle) {
  const auto pool = New(false, 1);
  auto worker = pool->Take(seconds(20), {}).value();
  const int first = worker->pid();
  ::kill(-first, SIGKILL);
  pool->GiveBack(std::move(worker), true);
  worker = pool->Take(seconds(20), {}).value();
  if (!worker->Execute("1", 0, seconds(20), {}).ok()) {
    // It died so slowly that it could still be told to renew.
    pool->GiveBack(std::move(worker), false);
    worker = pool->Take(seconds(20), {}).value();
  }
  EXPECT_NE(worker->pid(), first);
  EXPECT_EQ(worker->Execute("1", 0, seconds(20), {})->value, "1");
  pool->GiveBack(std::move(worker), false);
  worker = pool->Take(seconds(20), {}).value();
  EXPECT_EQ(worker->Execute("2", 0, seconds(20), {})->value, "2");
  pool->GiveBack(std::move(worker), true);
}

TEST_P(PythonPoolTest, WhyNoneCanBeStartedReachesTheCaller) {
  SandboxOptions sandbox;
  sandbox.isolation = method();
  PythonWorkerOptions options;
  options.python = "/bin/true";
  const auto pool = PythonPool::New(Sandbox::New(sandbox).value(), options, 1);
  ASSERT_FALSE(pool.ok());
  EXPECT_NE(pool.error().message().find("/bin/true does not start"), std::string::npos);
}

}  // namespace
}  // namespace hone
