#pragma once

#include <string>
#include <string_view>
#include <vector>

// Small operations on what people and models write, all on UTF-8. Bytes that are not UTF-8 count
// as U+FFFD.

namespace hone {

std::string LowerCased(std::string_view text);

// Compatibility forms, case and kinds of blanks made alike; blanks and the punctuation around the
// text gone: "  Paris. " and "paris" become the same.
std::string NormalisedText(std::string_view text);

// As question-answering benchmarks compare: lower case, no ASCII punctuation, no articles (a, an,
// the), single blanks.
std::string QaNormalised(std::string_view text);

// The parts between blanks of any kind.
std::vector<std::string> Words(std::string_view text);

// Whether the phrase stands in the text with the edge of a word at both of its ends, as \b of
// regular expressions has it. Letters, numbers and the underscore make words.
bool HoldsWholeWords(std::string_view text, std::string_view phrase);

// All occurrences of `from`, left to right.
std::string Replaced(std::string_view text, std::string_view from, std::string_view to);

// The text inside the last \boxed{...} with its braces balanced, or "" when there is none.
std::string_view LastBoxed(std::string_view text);

// The text inside the last ``` fence with the language's name left out, or the whole text when
// there is no closed fence.
std::string_view InsideFence(std::string_view text);

// 1 - edit distance / length of the longer, in characters; both empty: 1. Texts of more than 2000
// characters are compared by their first 2000 and their lengths.
double TextSimilarity(std::string_view a, std::string_view b);

}  // namespace hone
