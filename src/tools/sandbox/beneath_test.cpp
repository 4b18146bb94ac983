#include "tools/sandbox/beneath.h"

#include <gtest/gtest.h>

#include <atomic>
#include <cerrno>
#include <filesystem>
#include <thread>

#include <fcntl.h>
#include <unistd.h>

#include "base/file.h"

namespace hone {
namespace {

// Both ways of opening keep the same promises.
class Beneath : public ::testing::TestWithParam<decltype(&OpenBeneath)> {
 protected:
  Beneath() : root_(::open((outer_.path() / "root").c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC)) {}
  static std::filesystem::path Fill(const std::filesystem::path& outer) {
    std::filesystem::create_directories(outer / "root/a/b");
    EXPECT_TRUE(WriteFileAtomic(outer / "secret", "secret").ok());
    EXPECT_TRUE(WriteFileAtomic(outer / "root/a/b/file", "inside").ok());
    std::filesystem::create_symlink(outer / "secret", outer / "root/link");
    std::filesystem::create_directory_symlink(outer, outer / "root/up");
    std::filesystem::create_symlink("a/b/file", outer / "root/harmless");
    return outer;
  }
  std::string ReadAt(const std::string& path) {
    const BeneathDescriptor fd(GetParam()(root_.get(), path, O_RDONLY, 0));
    if (!fd.ok()) return "refused";
    char buffer[100];
    const ssize_t count = ::read(fd.get(), buffer, sizeof buffer);
    return count < 0 ? "unreadable" : std::string(buffer, static_cast<size_t>(count));
  }

  TemporaryDirectory outer_;
  std::filesystem::path filled_ = Fill(outer_.path());
  BeneathDescriptor root_;
};

TEST_P(Beneath, OpensWhatIsInside) {
  EXPECT_EQ(ReadAt("a/b/file"), "inside");
  EXPECT_EQ(ReadAt("a//b/./file"), "inside");
  const BeneathDescriptor self(GetParam()(root_.get(), "", O_RDONLY | O_DIRECTORY, 0));
  EXPECT_TRUE(self.ok());
  EXPECT_EQ(::fcntl(self.get(), F_GETFD) & FD_CLOEXEC, FD_CLOEXEC);
  const BeneathDescriptor made(GetParam()(root_.get(), "a/new", O_WRONLY | O_CREAT, 0600));
  EXPECT_TRUE(made.ok());
  EXPECT_EQ(GetParam()(root_.get(), "none/x", O_RDONLY, 0), -1);
  EXPECT_EQ(errno, ENOENT);
}

TEST_P(Beneath, NothingLeadsOut) {
  for (const char* path : {"..", "../secret", "a/../../secret", "a/b/../../../secret", "link",
                           "up/secret", "up", "harmless", "/etc/passwd", "//etc/passwd"}) {
    EXPECT_EQ(ReadAt(path), "refused") << path;
  }
  EXPECT_EQ(ReadAt((outer_.path() / "secret").string()), "refused");
}

TEST_P(Beneath, ALinkThatAppearsMeanwhileIsNotFollowed) {
  const std::filesystem::path door = outer_.path() / "root/door";
  std::filesystem::create_directories(outer_.path() / "root/real");
  std::filesystem::create_directory_symlink(outer_.path(), outer_.path() / "root/door");
  std::atomic<bool> done = false;
  // Exchanges a folder and a link to the outside under the same name, over and over.
  std::jthread flipper([&] {
    const std::string real = (outer_.path() / "root/real").string();
    while (!done) {
      ::renameat2(AT_FDCWD, door.c_str(), AT_FDCWD, real.c_str(), RENAME_EXCHANGE);
    }
  });
  for (int i = 0; i < 3000; ++i) EXPECT_NE(ReadAt("door/secret"), "secret");
  done = true;
}

INSTANTIATE_TEST_SUITE_P(Both, Beneath, ::testing::Values(&OpenBeneath, &OpenBeneathByParts),
                         [](const auto& way) {
                           return way.param == &OpenBeneath ? "ByTheKernel" : "ByParts";
                         });

}  // namespace
}  // namespace hone
