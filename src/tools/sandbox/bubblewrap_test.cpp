#include "tools/sandbox/bubblewrap.h"

#include <gtest/gtest.h>

#include <algorithm>

namespace hone {
namespace {

// Where a run of words stands in the line; its size when it does not.
size_t Find(const std::vector<std::string>& line, const std::vector<std::string>& words) {
  return static_cast<size_t>(std::search(line.begin(), line.end(), words.begin(), words.end()) -
                             line.begin());
}

TEST(Bubblewrap, TheCommandStandsBehindTheRoom) {
  BubblewrapRoom room;
  room.readable = {"/usr"};
  room.scratch = "/tmp/there";
  room.temporary_bytes = 1000;
  room.environment = {"A=b=c"};
  room.directory = "/scratch";
  room.filter_descriptor = 7;
  const auto line = BubblewrapCommand(room, {"/bin/echo", "--", "--bind"});
  const std::vector<std::string> end(line.end() - 4, line.end());
  EXPECT_EQ(end, (std::vector<std::string>{"--", "/bin/echo", "--", "--bind"}));
  for (const auto& words :
       std::vector<std::vector<std::string>>{{"--unshare-all"},
                                             {"--unshare-user"},
                                             {"--die-with-parent"},
                                             {"--new-session"},
                                             {"--clearenv"},
                                             {"--cap-drop", "ALL"},
                                             {"--setenv", "A", "b=c"},
                                             {"--ro-bind-try", "/usr", "/usr"},
                                             {"--size", "1000", "--tmpfs", "/tmp"},
                                             {"--bind", "/tmp/there", "/scratch"},
                                             {"--chdir", "/scratch"},
                                             {"--seccomp", "7"}}) {
    EXPECT_LT(Find(line, words), line.size() - 4) << words[0];
  }
  EXPECT_EQ(Find(line, {"--as-pid-1"}), line.size());
  // Closed after everything was put into it.
  EXPECT_GT(Find(line, {"--remount-ro", "/"}), Find(line, {"--bind", "/tmp/there", "/scratch"}));
}

TEST(Bubblewrap, NothingIsSharedThatWasNotAskedFor) {
  BubblewrapRoom room;
  room.as_first_process = true;
  const auto line = BubblewrapCommand(room, {"/bin/true"});
  EXPECT_LT(Find(line, {"--as-pid-1"}), line.size());
  for (const char* word : {"--bind", "--ro-bind", "--ro-bind-try", "--seccomp", "--share-net"}) {
    EXPECT_EQ(Find(line, {word}), line.size()) << word;
  }
}

}  // namespace
}  // namespace hone
