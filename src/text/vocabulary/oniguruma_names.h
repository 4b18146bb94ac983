#pragma once

#include <string>
#include <string_view>

namespace hone {

// What Oniguruma's names of characters stand for, as members of a class of PCRE2.

// \s: Unicode's white space (PCRE2's own also takes U+180E).
inline constexpr std::string_view kOnigurumaSpace = R"(\t-\r\x{85}\p{Z})";
// \w in a class: letters, marks, decimal digits and connectors.
inline constexpr std::string_view kOnigurumaWord = R"(\p{Alphabetic}\p{M}\p{Nd}\p{Pc})";
// \w by itself: the exponents and fractions of Latin-1, too.
inline constexpr std::string_view kOnigurumaLoneWord =
    R"(\p{Alphabetic}\p{M}\p{Nd}\p{Pc}\x{B2}\x{B3}\x{B9}\x{BC}-\x{BE})";

// The name of \p{...} or [:...:], however it is spelled (case, blanks, hyphens and underscores do
// not count): a general category, a class of POSIX, a script, a property. "" when nobody knows it.
std::string OnigurumaProperty(std::string_view name);

}  // namespace hone
