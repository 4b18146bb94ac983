#pragma once

#include <cstdio>
#include <string>
#include <string_view>
#include <vector>

namespace hone {

// How text is made visible: colours only where a person looks, never in a file or pipe.
struct Terminal {
  bool colour = false;
  int width = 100;  // columns

  // What the stream and the environment (NO_COLOR, TERM, COLUMNS) say.
  static Terminal Of(std::FILE* stream);

  // The text in a style, or as it is without colour.
  std::string Bold(std::string_view text) const { return Styled("1", text); }
  std::string Dim(std::string_view text) const { return Styled("2", text); }
  std::string Red(std::string_view text) const { return Styled("31", text); }
  std::string Green(std::string_view text) const { return Styled("32", text); }
  std::string Yellow(std::string_view text) const { return Styled("33", text); }
  std::string Magenta(std::string_view text) const { return Styled("35", text); }
  std::string Cyan(std::string_view text) const { return Styled("36", text); }
  // `codes` are the numbers of an ANSI SGR sequence.
  std::string Styled(std::string_view codes, std::string_view text) const;
};

// Text that is safe to print: characters that would move the cursor or change colours are shown as
// symbols. What a tool returned must not be able to rewrite the screen.
std::string Printable(std::string_view text);

// How many columns the (printable) text takes: one per character, two for East Asian wide ones and
// most emoji.
int Columns(std::string_view text);

// The text filled up with blanks to `columns`, or cut with "…".
std::string Fitted(std::string_view text, int columns);

// The text filled up with blanks to `columns`, at least one, never cut. Before it is coloured:
// colours take no room.
std::string Padded(std::string_view text, int columns);

// The line broken into lines of at most `columns`, styles carried over each break.
std::vector<std::string> Wrapped(std::string_view line, int columns);

}  // namespace hone
