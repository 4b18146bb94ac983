#include "tools/sandbox/process_tree.h"

#include <gtest/gtest.h>

#include <algorithm>

#include <unistd.h>

#include "base/subprocess.h"

namespace hone {
namespace {

TEST(ProcessTree, HasAllThatWasStartedByTheRootAndBelowIt) {
  const auto process = Subprocess::Start({"sh", "-c", "sh -c 'sleep 1000 & echo; wait' & wait"});
  ASSERT_TRUE(process.ok());
  ASSERT_TRUE((*process)->ReadLine(std::chrono::seconds(20)).ok());
  const std::vector<TreeProcess> tree = ProcessTree((*process)->pid());
  ASSERT_EQ(tree.size(), 3u);
  for (int depth = 0; depth < 3; ++depth) {
    EXPECT_EQ(tree[static_cast<size_t>(depth)].depth, depth);
    EXPECT_TRUE(tree[static_cast<size_t>(depth)].lives());
  }
  const std::vector<TreeProcess> ours = ProcessTree(::getpid());
  EXPECT_TRUE(std::any_of(ours.begin(), ours.end(), [&](const TreeProcess& one) {
    return one.pid == (*process)->pid() && one.depth == 1;
  }));
}

TEST(ProcessTree, AProcessLivesAsLongAsOneOfItsThreads) {
  const auto process = Subprocess::Start({"python3", "-c", R"(
import ctypes, os, threading, time
def outlive():
    while ') Z ' not in open('/proc/%d/stat' % os.getpid()).read(): time.sleep(0.001)
    print(flush=True)
    time.sleep(1000)
threading.Thread(target=outlive).start()
ctypes.CDLL(None).syscall(60 if os.uname().machine == 'x86_64' else 93, 0))"});
  ASSERT_TRUE(process.ok());
  ASSERT_TRUE((*process)->ReadLine(std::chrono::seconds(20)).ok());
  const pid_t pid = (*process)->pid();
  EXPECT_TRUE(ProcessTree(pid)[0].lives());
  const std::vector<pid_t> threads = LivingThreads(pid);
  ASSERT_EQ(threads.size(), 1u);
  EXPECT_NE(threads[0], pid);
}

TEST(ProcessTree, OfAProcessThatIsNotThereIsItAlone) {
  const std::vector<TreeProcess> tree = ProcessTree(1 << 30);
  ASSERT_EQ(tree.size(), 1u);
  EXPECT_FALSE(tree[0].lives());
}

}  // namespace
}  // namespace hone
