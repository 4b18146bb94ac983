#include "app/chat/line_buffer.h"

#include <gtest/gtest.h>

namespace hone {
namespace {

// The line after these bytes of a terminal.
LineBuffer Typed(std::string bytes) {
  LineBuffer line;
  while (const std::optional<Key> key = TakeKey(&bytes, false)) line.Press(*key);
  EXPECT_EQ(bytes, "");
  return line;
}

std::string Marked(const LineBuffer& line) {
  std::string text = line.text();
  return text.insert(line.cursor(), "|");
}

TEST(LineBuffer, KeysMoveAndChangeAsInShells) {
  EXPECT_EQ(Marked(Typed("weathr\x1b[De")), "weathe|r");
  EXPECT_EQ(Marked(Typed("abc\x1b[D\x1b[D\x1b[C-")), "ab-|c");
  EXPECT_EQ(Marked(Typed("abc\x01>")), ">|abc");
  EXPECT_EQ(Marked(Typed("abc\x1b[H>\x1b[F<")), ">abc<|");
  EXPECT_EQ(Marked(Typed("abc\x1bOH>\x1b[4~<")), ">abc<|");
  EXPECT_EQ(Marked(Typed("abc\x01\x1b[3~\x05\x7f")), "b|");
  EXPECT_EQ(Marked(Typed("one two\x1b[D\x1b[D\x0b")), "one t|");
  EXPECT_EQ(Marked(Typed("one two\x1b[D\x15")), "|o");
  EXPECT_EQ(Marked(Typed("one two  \x17x")), "one x|");
  EXPECT_EQ(Marked(Typed("one two\x17\x17\x19")), "one |") << "what was killed last";
  EXPECT_EQ(Marked(Typed("one two\x1b[1;5D^\x1b"
                         "f$")),
            "one ^two$|");
  EXPECT_EQ(Marked(Typed("\x7f\x1b[D\x1b[C\x0b\x15\x17")), "|") << "nothing to do";
  EXPECT_EQ(Marked(Typed("a\x1b[99zb\x1bq\x02")), "a|b") << "unknown keys do nothing";
}

TEST(LineBuffer, CharactersOfSeveralBytesAreOne) {
  EXPECT_EQ(Marked(Typed("Zürich\x1b[D\x1b[D\x1b[D\x1b[D\x7f")), "Z|rich");
  EXPECT_EQ(Marked(Typed("日本語\x1b[D\x7f")), "日|語");
  EXPECT_EQ(Marked(Typed("e\xcc\x81!\x1b[D\x1b[D")), "|e\xcc\x81!") << "an accent stays with it";
}

TEST(LineBuffer, HalfAKeyWaitsForItsOtherHalf) {
  std::string bytes = "\xc3";
  EXPECT_EQ(TakeKey(&bytes, true), std::nullopt);
  bytes += "\xbc\x1b";
  EXPECT_EQ(TakeKey(&bytes, true), (Key{KeyKind::kText, "ü"}));
  EXPECT_EQ(TakeKey(&bytes, true), std::nullopt);
  bytes += "[";
  EXPECT_EQ(TakeKey(&bytes, true), std::nullopt);
  bytes += "Ax";
  EXPECT_EQ(TakeKey(&bytes, true), (Key{KeyKind::kUp, ""}));
  EXPECT_EQ(TakeKey(&bytes, true), (Key{KeyKind::kText, "x"}));
  bytes = "\x1b";
  EXPECT_EQ(TakeKey(&bytes, false), (Key{KeyKind::kUnknown, ""})) << "nothing follows";
}

TEST(LineBuffer, OfALongLineThePartAroundTheCursorIsShown) {
  const std::string digits = "0123456789";
  EXPECT_EQ(WindowOf(LineBuffer(digits), 20).shown, digits);
  const LineWindow end = WindowOf(LineBuffer(digits), 5);
  EXPECT_EQ(end.shown, "6789");
  EXPECT_EQ(end.cursor_column, 4);
  LineBuffer begin(digits);
  begin.Press({KeyKind::kHome, ""});
  EXPECT_EQ(WindowOf(begin, 5).shown, "0123");
  EXPECT_EQ(WindowOf(begin, 5).cursor_column, 0);
  EXPECT_EQ(WindowOf(LineBuffer("日本語"), 5).shown, "本語");
  EXPECT_EQ(WindowOf(LineBuffer("日本語"), 5).cursor_column, 4);
}

TEST(LineHistory, IsWalkedWithTheArrowsAndKeepsWhatIsBeingWritten) {
  LineHistory history(3);
  for (const char* line : {"one", "two", "two", "", "three", "four"}) history.Add(line);
  EXPECT_EQ(history.lines(), (std::vector<std::string>{"two", "three", "four"}));
  EXPECT_EQ(history.Down(), std::nullopt);
  EXPECT_EQ(history.Up("dra"), "four");
  EXPECT_EQ(history.Up("four"), "three");
  EXPECT_EQ(history.Up("three"), "two");
  EXPECT_EQ(history.Up("two"), std::nullopt);
  EXPECT_EQ(history.Down(), "three");
  EXPECT_EQ(history.Down(), "four");
  EXPECT_EQ(history.Down(), "dra");
  EXPECT_EQ(history.Down(), std::nullopt);
}

}  // namespace
}  // namespace hone
