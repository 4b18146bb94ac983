#pragma once

#include <array>
#include <cstddef>
#include <cstdint>

namespace hone {

// The inner loop of SHA-256: takes whole blocks of 64 bytes into the state.
using Sha256State = std::array<uint32_t, 8>;
using Sha256Blocks = void (*)(const uint8_t* data, size_t blocks, Sha256State* state);

// The definition, on any processor.
void Sha256BlocksPlain(const uint8_t* data, size_t blocks, Sha256State* state);
// The same with the processor's own instructions, several times faster; null where it has none.
// Checkpoints of gigabytes are hashed whenever they are written and read.
Sha256Blocks Sha256BlocksOfProcessor();

}  // namespace hone
