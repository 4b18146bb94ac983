#include "base/hash.h"

#include <gtest/gtest.h>

#include <vector>

#include "base/hashing/sha256_blocks.h"

namespace hone {
namespace {

// FIPS 180-4 / NIST example values.
TEST(Sha256, MatchesTheVectorsOfNist) {
  EXPECT_EQ(Sha256Hex(""), "e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855");
  EXPECT_EQ(Sha256Hex("abc"), "ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad");
  EXPECT_EQ(Sha256Hex("abcdbcdecdefdefgefghfghighijhijkijkljklmklmnlmnomnopnopq"),
            "248d6a61d20638b8e5c026930c3e6039a33ce45964ff2167f6ecedd419db06c1");
  EXPECT_EQ(Sha256Hex(std::string(1000000, 'a')),
            "cdc76e5c9914fb9281a1c7e284d73e67f1809a48a497200e046d39ccc7112cd0");
}

// Lengths around the block boundary, against sha256sum of coreutils (strings of 'x').
TEST(Sha256, PadsRightAroundTheBlockBoundary) {
  EXPECT_EQ(Sha256Hex(std::string(55, 'x')),
            "d5e285683cd4efc02d021a5c62014694958901005d6f71e89e0989fac77e4072");
  EXPECT_EQ(Sha256Hex(std::string(56, 'x')),
            "04c26261370ee7541549d16dee320c723e3fd14671e66a099afe0a377c16888e");
  EXPECT_EQ(Sha256Hex(std::string(64, 'x')),
            "7ce100971f64e7001e8fe5a51973ecdfe1ced42befe7ee8d5fd6219506b5393c");
}

TEST(Sha256, TheProcessorsInstructionsDoWhatTheDefinitionDoes) {
  const Sha256Blocks fast = Sha256BlocksOfProcessor();
  if (fast == nullptr) GTEST_SKIP() << "this processor has none";
  std::vector<uint8_t> data(64 * 40);
  for (size_t i = 0; i < data.size(); ++i) data[i] = static_cast<uint8_t>(i * i * 31 + i / 7);
  for (const size_t blocks : {0, 1, 2, 40}) {
    Sha256State plain = {1, 2, 3, 4, 0xffffffff, 6, 7, 8}, other = plain;
    Sha256BlocksPlain(data.data(), blocks, &plain);
    fast(data.data(), blocks, &other);
    EXPECT_EQ(other, plain) << blocks;
  }
}

TEST(Hash64, IsFrozen) {
  EXPECT_EQ(Hash64(""), 18284041282127212159u);  // tests/golden/rng.py
  EXPECT_NE(Hash64("ab"), Hash64("ba"));
}

}  // namespace
}  // namespace hone
