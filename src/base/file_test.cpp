#include "base/file.h"

#include <gtest/gtest.h>

#include <fstream>

#include <sys/stat.h>

namespace hone {
namespace {

TEST(File, WhatIsWrittenIsReadBack) {
  TemporaryDirectory directory;
  const auto path = directory.path() / "deep" / "er" / "file.bin";
  const std::string content("a\0b\xFF", 4);
  ASSERT_TRUE(WriteFileAtomic(path, content).ok());
  EXPECT_EQ(*ReadFile(path), content);
}

TEST(File, AMissingFileIsNamedInTheError) {
  Result<std::string> content = ReadFile("/nowhere/at/all.txt");
  ASSERT_FALSE(content.ok());
  EXPECT_EQ(content.error().code(), ErrorCode::kNotFound);
  EXPECT_EQ(content.error().message(),
            "cannot open /nowhere/at/all.txt: No such file or directory");
}

TEST(File, ADirectoryIsNotAFile) {
  TemporaryDirectory directory;
  EXPECT_FALSE(ReadFile(directory.path()).ok());
}

TEST(File, APipeOrADeviceIsNoRegularFile) {
  const TemporaryDirectory directory;
  const std::filesystem::path pipe = directory.path() / "pipe";
  ASSERT_EQ(::mkfifo(pipe.c_str(), 0600), 0);
  for (const std::filesystem::path& path : {pipe, std::filesystem::path("/dev/zero")}) {
    const Result<std::string> content = ReadFile(path);
    ASSERT_FALSE(content.ok());
    EXPECT_NE(content.error().message().find(path.string() + " is not a regular file"),
              std::string::npos);
  }
}

TEST(File, AnAtomicWriteReplacesAndLeavesNothingBeside) {
  TemporaryDirectory directory;
  const auto path = directory.path() / "file";
  ASSERT_TRUE(WriteFileAtomic(path, "old").ok());
  ASSERT_TRUE(WriteFileAtomic(path, "new").ok());
  EXPECT_EQ(*ReadFile(path), "new");
  EXPECT_EQ(std::distance(std::filesystem::directory_iterator(directory.path()), {}), 1);
}

TEST(File, AFailedWriteLeavesTheOldContentAndNothingBeside) {
  TemporaryDirectory directory;
  const auto path = directory.path() / "target";
  std::filesystem::create_directory(path);  // rename onto a directory fails
  EXPECT_FALSE(WriteFileAtomic(path, "content").ok());
  EXPECT_EQ(std::distance(std::filesystem::directory_iterator(directory.path()), {}), 1);
}

TEST(File, ATemporaryDirectoryDisappearsWithItsContent) {
  std::filesystem::path path;
  {
    TemporaryDirectory directory;
    path = directory.path();
    std::ofstream(path / "x") << "x";
    EXPECT_TRUE(std::filesystem::exists(path / "x"));
  }
  EXPECT_FALSE(std::filesystem::exists(path));
}

}  // namespace
}  // namespace hone
