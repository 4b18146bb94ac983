#include "train/folder/checksums.h"

#include <gtest/gtest.h>

#include "base/file.h"

namespace hone {
namespace {

TEST(Checksums, AChangedFileAndOneThatIsGoneAreNamed) {
  const TemporaryDirectory directory;
  ASSERT_TRUE(WriteFileAtomic(directory.path() / "weights", "abc").ok());
  ASSERT_TRUE(WriteFileAtomic(directory.path() / "deeper/state", "def").ok());
  ASSERT_TRUE(WriteChecksums(directory.path()).ok());
  EXPECT_TRUE(VerifyChecksums(directory.path()).ok());
  ASSERT_TRUE(WriteFileAtomic(directory.path() / "later", "new").ok());
  EXPECT_TRUE(VerifyChecksums(directory.path()).ok());

  ASSERT_TRUE(WriteFileAtomic(directory.path() / "deeper/state", "deg").ok());
  const Result<void> changed = VerifyChecksums(directory.path());
  ASSERT_FALSE(changed.ok());
  EXPECT_EQ(changed.error().code(), ErrorCode::kCorrupt);
  EXPECT_NE(changed.error().message().find("deeper/state is damaged"), std::string::npos);
  ASSERT_TRUE(WriteFileAtomic(directory.path() / "deeper/state", "def").ok());
  EXPECT_TRUE(VerifyChecksums(directory.path()).ok());

  std::filesystem::remove(directory.path() / "weights");
  EXPECT_NE(VerifyChecksums(directory.path()).error().message().find("it is gone"),
            std::string::npos);
  EXPECT_TRUE(VerifyChecksums(directory.path(), GoneFiles::kAreFine).ok());
}

TEST(Checksums, AFolderFromBeforeThereWereAnyIsTakenAndDamagedOnesAreNot) {
  const TemporaryDirectory directory;
  ASSERT_TRUE(WriteFileAtomic(directory.path() / "weights", "abc").ok());
  EXPECT_TRUE(VerifyChecksums(directory.path()).ok());
  ASSERT_TRUE(WriteFileAtomic(directory.path() / "checksums.json", "{\"sha2").ok());
  EXPECT_EQ(VerifyChecksums(directory.path()).error().code(), ErrorCode::kCorrupt);
}

}  // namespace
}  // namespace hone
