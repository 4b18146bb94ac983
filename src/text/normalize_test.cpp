#include "text/normalize.h"

#include <gtest/gtest.h>

namespace hone {
namespace {

TEST(Normalize, ComposesAndKeepsWhatHasNoComposition) {
  EXPECT_EQ(ToNfc("plain"), "plain");
  EXPECT_EQ(ToNfc("e\u0301"), "\u00e9");
  EXPECT_EQ(ToNfc("\u212b"), "\u00c5") << "the angstrom sign is a singleton";
  EXPECT_EQ(ToNfc("\ufb01"), "\ufb01") << "compatibility characters are left alone";
  EXPECT_EQ(ToNfc(std::string("a\0e\u0301", 5)), std::string("a\0\u00e9", 4));
}

TEST(Normalize, MarksArePutInOrderAndHangulIsComposed) {
  EXPECT_EQ(ToNfc("a\u0301\u0323"), "\u1ea1\u0301");
  EXPECT_EQ(ToNfc("\u1112\u1161\u11ab"), "\ud55c");
  EXPECT_EQ(ToNfc("q\u0307\u0323"), "q\u0323\u0307");
}

TEST(Normalize, AFloodOfMarksTakesNoTime) {
  std::string marks = "x";
  for (int i = 0; i < 100000; ++i) marks += i % 2 == 0 ? "\u0301" : "\u0323";
  EXPECT_EQ(ToNfc(marks).size(), marks.size());
}

// By Hugging Face's tokenizers 0.23.2.
TEST(Normalize, CharactersYoungerThanUnicode9AreLeftAlone) {
  EXPECT_EQ(ToNfc("a\u0345\u08D3b"), "a\u0345\u08D3b") << "newer tables would exchange the marks";
  EXPECT_EQ(ToNfc("a\u08D3\u0301"), "a\u08D3\u0301");
  EXPECT_EQ(ToForm(UnicodeForm::kNfkc, "\u32FF①"), "\u32FF1");
}

}  // namespace
}  // namespace hone
