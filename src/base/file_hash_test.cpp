#include "base/file_hash.h"

#include <gtest/gtest.h>

#include "base/file.h"
#include "base/hash.h"

namespace hone {
namespace {

TEST(FileHash, IsThatOfTheWholeFile) {
  const TemporaryDirectory directory;
  for (const std::string& content : {std::string(), std::string("abc"), std::string(99'999, 'x')}) {
    ASSERT_TRUE(WriteFileAtomic(directory.path() / "file", content).ok());
    EXPECT_EQ(*HashFile(directory.path() / "file"), Sha256Hex(content));
  }
}

TEST(FileHash, WhatIsNoFileIsNamed) {
  const TemporaryDirectory directory;
  EXPECT_EQ(HashFile(directory.path() / "none").error().code(), ErrorCode::kNotFound);
  const Result<std::string> folder = HashFile(directory.path());
  ASSERT_FALSE(folder.ok());
  EXPECT_NE(folder.error().message().find("is not a regular file"), std::string::npos);
}

TEST(FileHash, OfAFolderIsThatOfItsFilesAndTheirNames) {
  const TemporaryDirectory directory;
  const std::filesystem::path a = directory.path() / "a", b = directory.path() / "b";
  for (const auto& folder : {a, b}) {
    ASSERT_TRUE(WriteFileAtomic(folder / "in" / "one.txt", "1").ok());
    ASSERT_TRUE(WriteFileAtomic(folder / "two.txt", "2").ok());
  }
  ASSERT_TRUE(WriteFileAtomic(b / ".git" / "three", "3").ok());
  const std::string hash = *HashFolder(a);
  EXPECT_EQ(*HashFolder(b), hash);
  EXPECT_EQ(*HashFolder(b / ""), hash);
  ASSERT_TRUE(WriteFileAtomic(b / "two.txt", "3").ok());
  EXPECT_NE(*HashFolder(b), hash);
  std::filesystem::rename(a / "two.txt", a / "other.txt");
  EXPECT_NE(*HashFolder(a), hash);
  EXPECT_FALSE(HashFolder(directory.path() / "none").ok());
}

}  // namespace
}  // namespace hone
