#include "app/input.h"

#include <gtest/gtest.h>

#include <fstream>
#include <thread>

#include <sys/resource.h>
#include <sys/stat.h>

#include "base/file.h"

namespace hone {
namespace {

TEST(Input, MayBeAFileOrAPipeAndNoDevice) {
  const TemporaryDirectory directory;
  ASSERT_TRUE(WriteFileAtomic(directory.path() / "file", "in a file").ok());
  EXPECT_EQ(*ReadInput((directory.path() / "file").string()), "in a file");
  const std::filesystem::path pipe = directory.path() / "pipe";
  ASSERT_EQ(::mkfifo(pipe.c_str(), 0600), 0);
  std::thread writer([&] { std::ofstream(pipe) << "through a pipe"; });
  EXPECT_EQ(*ReadInput(pipe.string()), "through a pipe");
  writer.join();
  EXPECT_FALSE(ReadInput("/dev/zero").ok());
  EXPECT_EQ(ReadInput("/nowhere").error().code(), ErrorCode::kNotFound);
}

TEST(Input, APipeThatCannotBeOpenedIsAnError) {
#ifdef HONE_SANITIZED
  GTEST_SKIP() << "sanitizers look at memory through descriptors, and here there are none";
#endif
  const TemporaryDirectory directory;
  const std::filesystem::path pipe = directory.path() / "pipe";
  ASSERT_EQ(::mkfifo(pipe.c_str(), 0600), 0);
  rlimit before{};
  ::getrlimit(RLIMIT_NOFILE, &before);
  const rlimit none{0, before.rlim_max};  // permissions would not stop root
  ::setrlimit(RLIMIT_NOFILE, &none);
  const Result<std::string> text = ReadInput(pipe.string());
  ::setrlimit(RLIMIT_NOFILE, &before);
  ASSERT_FALSE(text.ok());
  EXPECT_EQ(text.error().code(), ErrorCode::kIo);
}

}  // namespace
}  // namespace hone
