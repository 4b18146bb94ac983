#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>

namespace hone {

// The length of the longest well-formed prefix: text.size() when all of it is UTF-8 (RFC 3629: no
// surrogates, no overlong forms, nothing above U+10FFFF).
size_t Utf8ValidPrefix(std::string_view text);

inline bool IsUtf8(std::string_view text) { return Utf8ValidPrefix(text) == text.size(); }

// Replaces every maximal ill-formed part by U+FFFD, as the Unicode standard recommends and as Rust,
// Python and browsers do.
std::string Utf8Lossy(std::string_view bytes);

// How many bytes at the end of `bytes` are the beginning of a character that more bytes could still
// complete (0 to 3). Everything before them can be shown without waiting.
size_t Utf8IncompleteSuffix(std::string_view bytes);

void AppendUtf8(uint32_t code_point, std::string* out);

// Decodes the character at text[*position] and moves *position past it. The text must be UTF-8.
uint32_t NextCodePoint(std::string_view text, size_t* position);

}  // namespace hone
