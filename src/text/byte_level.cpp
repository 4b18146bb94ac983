#include "text/byte_level.h"

#include <array>

#include "base/utf8.h"

namespace hone {
namespace {

struct Tables {
  std::array<std::string, 256> spelling;
  std::array<int16_t, 512> byte_of{};  // by code point; -1: spells no byte

  Tables() {
    byte_of.fill(-1);
    uint32_t next = 256;
    for (uint32_t byte = 0; byte < 256; ++byte) {
      // Printable Latin-1 characters spell themselves, the others get characters from 256 on.
      const bool printable = (byte >= '!' && byte <= '~') || (byte >= 0xA1 && byte <= 0xAC) ||
                             (byte >= 0xAE && byte <= 0xFF);
      const uint32_t code_point = printable ? byte : next++;
      AppendUtf8(code_point, &spelling[byte]);
      byte_of[code_point] = static_cast<int16_t>(byte);
    }
  }
};

const Tables& TheTables() {
  static const Tables tables;
  return tables;
}

}  // namespace

std::string_view ByteSpelling(uint8_t byte) { return TheTables().spelling[byte]; }

std::string SpellBytes(std::string_view bytes) {
  std::string spelling;
  for (const char byte : bytes) spelling += ByteSpelling(static_cast<uint8_t>(byte));
  return spelling;
}

std::optional<std::string> UnspellBytes(std::string_view spelling) {
  const Tables& tables = TheTables();
  std::string bytes;
  for (size_t at = 0; at < spelling.size();) {
    const uint32_t code_point = NextCodePoint(spelling, &at);
    if (code_point >= tables.byte_of.size() || tables.byte_of[code_point] < 0) return std::nullopt;
    bytes += static_cast<char>(tables.byte_of[code_point]);
  }
  return bytes;
}

}  // namespace hone
