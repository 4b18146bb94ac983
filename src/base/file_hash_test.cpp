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

}  // namespace
}  // namespace hone
