#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

namespace hone {

// GPT-2's spelling of bytes: each of the 256 bytes is written as one printable character, so that a
// vocabulary of byte strings can be stored as text. "Ġ" is the space, "Ċ" the newline.

// The character that spells a byte, as UTF-8.
std::string_view ByteSpelling(uint8_t byte);

// Bytes to their spelling, and back. The second is empty when a character spells no byte.
std::string SpellBytes(std::string_view bytes);
std::optional<std::string> UnspellBytes(std::string_view spelling);

}  // namespace hone
