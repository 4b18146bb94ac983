#pragma once

#include <cstdint>
#include <string>
#include <string_view>

namespace hone {

bool IsAscii(std::string_view text);

// Unicode's normalisation forms: canonical (D, C) or compatible (KD, KC) decomposition, composed
// again in C and KC. The text must be UTF-8. The tables are those of Unicode 9, as in Hugging
// Face's tokenizers: younger marks are not moved, younger compatibility characters stay.
enum class UnicodeForm { kNfc, kNfd, kNfkc, kNfkd };
std::string ToForm(UnicodeForm form, std::string_view text);
std::string ToNfc(std::string_view text);

// Unicode's property White_Space.
bool IsWhiteSpace(uint32_t code_point);

}  // namespace hone
