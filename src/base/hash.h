#pragma once

#include <array>
#include <cstdint>
#include <string>
#include <string_view>

namespace hone {

// 64-bit hash of bytes for tables and stream names: FNV-1a with a final mix. Stable for ever, not
// meant to withstand an adversary.
uint64_t Hash64(std::string_view bytes);

// SHA-256 (FIPS 180-4), the content hash of everything Hone stores or compares by content.
std::array<uint8_t, 32> Sha256(std::string_view bytes);

// Sha256 as 64 lower-case hexadecimal digits.
std::string Sha256Hex(std::string_view bytes);

}  // namespace hone
