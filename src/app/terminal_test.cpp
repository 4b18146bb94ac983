#include "app/terminal.h"

#include <gtest/gtest.h>

namespace hone {
namespace {

TEST(Terminal, AFileGetsNoColour) {
  std::FILE* file = std::tmpfile();
  EXPECT_FALSE(Terminal::Of(file).colour);
  EXPECT_EQ(Terminal::Of(file).Red("x"), "x");
  std::fclose(file);
}

TEST(Terminal, StylesEndWhereTheTextEnds) {
  const Terminal terminal{.colour = true};
  EXPECT_EQ(terminal.Bold("x"), "\x1b[1mx\x1b[0m");
  EXPECT_EQ(terminal.Bold(""), "");
}

TEST(Terminal, ForeignTextCannotMoveTheCursor) {
  EXPECT_EQ(Printable("a\x1b[2Jb\r\x7f"), "a␛[2Jb␍␡");
  EXPECT_EQ(Printable("\u009b1m\u202e"), "\uFFFD1m\uFFFD");
  EXPECT_EQ(Printable("é\n\t語\xFF"), "é\n\t語\uFFFD");
}

TEST(Terminal, ColumnsCountWideCharactersTwice) {
  EXPECT_EQ(Columns("aé"), 2);
  EXPECT_EQ(Columns("語😀"), 4);
  EXPECT_EQ(Columns("e\u0301"), 1);
  EXPECT_EQ(Fitted("abc", 5), "abc  ");
  EXPECT_EQ(Fitted("abcdef", 4), "abc…");
  EXPECT_EQ(Fitted("語語語", 4), "語… ");
}

TEST(Terminal, WrappingCountsColumnsAndCarriesStyles) {
  EXPECT_EQ(Wrapped("abcde", 2), (std::vector<std::string>{"ab", "cd", "e"}));
  EXPECT_EQ(Wrapped("", 2), std::vector<std::string>{""});
  EXPECT_EQ(Wrapped("a\x1b[1mbcd\x1b[0me", 2),
            (std::vector<std::string>{"a\x1b[1mb\x1b[0m", "\x1b[1mcd\x1b[0m", "e"}));
  EXPECT_EQ(Wrapped("語語", 3), (std::vector<std::string>{"語", "語"}));
}

}  // namespace
}  // namespace hone
