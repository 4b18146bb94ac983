#include "base/hashing/sha512.h"

#include <gtest/gtest.h>

#include "base/bytes/base64.h"
#include "base/file.h"

namespace hone {
namespace {

// What Python's hashlib and base64 give.
TEST(Sha512, IntegritiesAreThoseOfPython) {
  std::string all;
  for (int i = 0; i < 3 * 256; ++i) all += static_cast<char>(i);
  const std::vector<std::pair<std::string, std::string>> cases = {
      {"",
       "z4PhNX7vuL3xVChQ1m2AB9Yg5AULVxXcg/SpIdNs6c5H0NE8XYXysP+DGNKHfuwvY7kxvUdBeoGlODJ6+SfaPg=="},
      {"abc",
       "3a81oZNherrMQXNJriBBMRLm+k6JqX6iCp7u5ktV05ohkpkqJ0/BqDa6PCOj/uu9RU1EI2Q86A4qmslPpUyknw=="},
      {std::string(1000000, 'a'),
       "5xhIPQznaWROLkLHvBW0Y44fmLE7IEQoVjKoA6+pc+veD/JEh36mCkywQyzld8Mb6wCcXCxJqi5OrbIXrYzAmw=="},
      {all + std::string(111, 'x'),
       "XecMBnxh601FjRIrsvUeWAmbMZxf3rc+xP80FDbh1dFzMrRBEUejWkTKTPS6HOmqVpKsmYDcNsJu1GpxqZcDoQ=="},
      {std::string(112, 'y'),
       "iptJYLi6KD8/9K58DNnajBKpUgcBEiYwqfkDvgdcGQR+yFdDrJO5GvXZs9Qodk8Z5xL1IjLTIFpei20MBK7NPg=="},
      {std::string(239, 'z'),
       "pibYFad0j8JyKvD2byNvPpbVe9ALbdRa7sjpgZ+yOv1MqFJF+OwTfn1faKArnv/kGjGSI6te8qliRvUHXDbaxw=="},
      {std::string(240, 'q'),
       "bSHgRCh6PAL3cUR0YqrydYTJZx5Fd6j8TjOGlZioR9GrCaZR1kXtoYOWV4+M23gljWU4VlhLi8b9dZcLz4MMuA=="}};
  const TemporaryDirectory directory;
  const auto path = directory.path() / "x";
  for (const auto& [text, integrity] : cases) {
    EXPECT_EQ(IntegrityOf(text), "sha512-" + integrity);
    ASSERT_TRUE(WriteFileAtomic(path, text).ok());
    EXPECT_EQ(*IntegrityOfFile(path), "sha512-" + integrity);
  }
}

TEST(Sha512, PiecesDoNotMatter) {
  const std::string text(1000, 'p');
  for (const size_t piece : {1u, 7u, 64u, 127u, 128u, 129u}) {
    Sha512 pieces, whole;
    whole.Update(text);
    for (size_t at = 0; at < text.size(); at += piece) pieces.Update(text.substr(at, piece));
    EXPECT_EQ(pieces.Digest(), whole.Digest());
  }
}

// RFC 4648, section 10.
TEST(Base64, IsThatOfTheStandard) {
  EXPECT_EQ(ToBase64(""), "");
  EXPECT_EQ(ToBase64("f"), "Zg==");
  EXPECT_EQ(ToBase64("fo"), "Zm8=");
  EXPECT_EQ(ToBase64("foo"), "Zm9v");
  EXPECT_EQ(ToBase64("foobar"), "Zm9vYmFy");
  EXPECT_EQ(ToBase64("\xff\xfe"), "//4=");
}

}  // namespace
}  // namespace hone
