#include "train/folder/event_file.h"

#include <gtest/gtest.h>

#include <fmt/format.h>

#include "base/file.h"

namespace hone {
namespace {

std::string Hex(std::string_view bytes) {
  std::string hex;
  for (const char c : bytes) hex += fmt::format("{:02x}", static_cast<uint8_t>(c));
  return hex;
}

TEST(EventFile, ChecksumsAreThoseOfRfc3720) {
  EXPECT_EQ(Crc32c("123456789"), 0xe3069283u);
  EXPECT_EQ(Crc32c(std::string(32, '\0')), 0x8a9136aau);
  EXPECT_EQ(Crc32c(std::string(32, '\xff')), 0x62a8ab43u);
  EXPECT_EQ(Crc32c(""), 0u);
}

TEST(EventFile, BeginsAsOtherWritersBeginAndHoldsEveryNumber) {
  const TemporaryDirectory directory;
  const auto file = EventFile::New(directory.path(), 1.5, 3).value();
  ASSERT_TRUE(file->Add(2.0, 4, {{"loss", 0.5}}).ok());
  const std::string bytes = *ReadFile(file->path());
  // The first record: 24 bytes, wall_time 1.5, version.
  EXPECT_EQ(Hex(bytes.substr(0, 8)), "1800000000000000");
  EXPECT_EQ(Hex(bytes.substr(8, 4)), "a37f4b22");  // what every such file begins with
  EXPECT_EQ(Hex(bytes.substr(12, 9)), "09000000000000f83f");
  EXPECT_EQ(bytes.substr(21, 15),
            "\x1a\x0d"
            "brain.Event:2");
  // The last one: wall_time 2, step 4, a value "loss" of 0.5.
  EXPECT_EQ(Hex(bytes.substr(bytes.size() - 4 - 26, 26)),
            "09"
            "0000000000000040"
            "1004"
            "2a0d"
            "0a0b"
            "0a046c6f7373"
            "150000003f");
}

TEST(EventFile, NeverWritesIntoAnother) {
  const TemporaryDirectory directory;
  const auto one = EventFile::New(directory.path(), 7, 0).value();
  const auto two = EventFile::New(directory.path(), 7, 0).value();
  EXPECT_NE(one->path(), two->path());
}

TEST(EventFile, AFolderThatIsNotThereIsAnError) {
  const auto file = EventFile::New("/nowhere/at/all", 0, 0);
  ASSERT_FALSE(file.ok());
  EXPECT_NE(file.error().message().find("/nowhere/at/all"), std::string::npos);
}

}  // namespace
}  // namespace hone
