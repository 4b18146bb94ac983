#pragma once

#include <array>
#include <cstdint>
#include <filesystem>
#include <string>
#include <string_view>

#include "base/result.h"

namespace hone {

// SHA-512 (FIPS 180-4), which package registries name their files by. Takes bytes piece by piece.
class Sha512 {
 public:
  void Update(std::string_view bytes);
  std::array<uint8_t, 64> Digest();  // once, at the end

 private:
  void Block(const uint8_t* data);

  std::array<uint64_t, 8> state_ = {0x6a09e667f3bcc908, 0xbb67ae8584caa73b, 0x3c6ef372fe94f82b,
                                    0xa54ff53a5f1d36f1, 0x510e527fade682d1, 0x9b05688c2b3e6c1f,
                                    0x1f83d9abfb41bd6b, 0x5be0cd19137e2179};
  std::array<uint8_t, 128> rest_{};
  uint64_t size_ = 0;
};

// "sha512-" and the digest in base 64, as npm writes it ("integrity").
std::string IntegrityOf(std::string_view bytes);

// The same of a file, which may be larger than memory.
Result<std::string> IntegrityOfFile(const std::filesystem::path& path);

}  // namespace hone
