#include "text/byte_level.h"

#include <gtest/gtest.h>

#include <set>

namespace hone {
namespace {

TEST(ByteLevel, SpellsSpaceAndNewlineAsGpt2Does) {
  EXPECT_EQ(SpellBytes(" a\n"), "ĠaĊ");
  EXPECT_EQ(SpellBytes("é"), "Ã©");
}

TEST(ByteLevel, EveryByteHasASpellingOfItsOwn) {
  std::set<std::string_view> spellings;
  std::string all;
  for (int byte = 0; byte < 256; ++byte) {
    spellings.insert(ByteSpelling(static_cast<uint8_t>(byte)));
    all += static_cast<char>(byte);
  }
  EXPECT_EQ(spellings.size(), 256u);
  EXPECT_EQ(UnspellBytes(SpellBytes(all)), all);
  EXPECT_EQ(UnspellBytes("語"), std::nullopt);
  EXPECT_EQ(UnspellBytes(" "), std::nullopt);
}

}  // namespace
}  // namespace hone
