#include "base/hash.h"

#include <cstring>

#include "base/hashing/sha256_blocks.h"

namespace hone {
namespace {

void AddBlocks(const uint8_t* data, size_t blocks, Sha256State* state) {
  static const Sha256Blocks fast = Sha256BlocksOfProcessor();
  (fast != nullptr ? fast : Sha256BlocksPlain)(data, blocks, state);
}

}  // namespace

uint64_t Hash64(std::string_view bytes) {
  uint64_t hash = 0xcbf29ce484222325;
  for (const char c : bytes) hash = (hash ^ static_cast<uint8_t>(c)) * 0x100000001b3;
  // FNV's low bits are good and its high bits slow to fill: one finaliser round spreads them.
  hash = (hash ^ (hash >> 32)) * 0xd6e8feb86659fd93;
  return hash ^ (hash >> 32);
}

std::array<uint8_t, 32> Sha256(std::string_view bytes) {
  Sha256State state = {0x6a09e667, 0xbb67ae85, 0x3c6ef372, 0xa54ff53a,
                       0x510e527f, 0x9b05688c, 0x1f83d9ab, 0x5be0cd19};
  const auto* data = reinterpret_cast<const uint8_t*>(bytes.data());
  const size_t done = bytes.size() / 64 * 64;
  AddBlocks(data, done / 64, &state);

  // The tail: the remaining bytes, 0x80, zeros, and the length in bits in the last eight bytes.
  std::array<uint8_t, 128> tail{};
  const size_t rest = bytes.size() - done;
  if (rest > 0) std::memcpy(tail.data(), data + done, rest);
  tail[rest] = 0x80;
  const size_t tail_size = rest < 56 ? 64 : 128;
  const uint64_t bits = static_cast<uint64_t>(bytes.size()) * 8;
  for (int i = 0; i < 8; ++i) tail[tail_size - 1 - i] = static_cast<uint8_t>(bits >> (8 * i));
  AddBlocks(tail.data(), tail_size / 64, &state);

  std::array<uint8_t, 32> digest;
  for (int i = 0; i < 32; ++i) digest[i] = static_cast<uint8_t>(state[i / 4] >> (24 - 8 * (i % 4)));
  return digest;
}

std::string Sha256Hex(std::string_view bytes) {
  constexpr std::string_view kDigits = "0123456789abcdef";
  std::string hex;
  for (const uint8_t byte : Sha256(bytes)) {
    hex += kDigits[byte >> 4];
    hex += kDigits[byte & 15];
  }
  return hex;
}

}  // namespace hone
