#pragma once

#include <string>
#include <string_view>

namespace hone {

// What BERT's tokenizers do to text before WordPiece: the steps of "BertNormalizer" and the cut of
// "BertPreTokenizer". All texts must be UTF-8.

// Control characters go; whatever is a blank becomes a space.
std::string CleanedText(std::string_view text);
// A space on either side of every Chinese character, so that each is a word.
std::string WithSpacedIdeographs(std::string_view text);
// Without the marks that take no room of their own (Mn). Accents are marks in decomposed text.
std::string WithoutNonspacingMarks(std::string_view text);
// The regular expression of one character of punctuation.
std::string BertPunctuation();

}  // namespace hone
