#pragma once

#include <string>
#include <string_view>

#include "base/result.h"
#include "record/score.h"

namespace hone {

// The binary companion of RecordToJson(…, kLeftOut): the per-token arrays of a record, which make
// up nearly all of its bytes, as little-endian arrays inside one zstd frame with a checksum.

std::string EncodeTreeArrays(const Tree& tree);
// Fills the arrays of a tree whose nodes are there already. kCorrupt when the blob does not fit.
Result<void> DecodeTreeArrays(std::string_view blob, Tree* tree);

std::string EncodeAdvantages(const std::vector<Advantages>& advantages);
Result<std::vector<Advantages>> DecodeAdvantages(std::string_view blob);

// One zstd frame with a checksum; Decompress refuses a damaged frame or one over 2 GiB.
std::string Compress(std::string_view bytes);
Result<std::string> Decompress(std::string_view frame);

}  // namespace hone
