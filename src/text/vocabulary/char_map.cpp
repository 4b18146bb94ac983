#include "text/vocabulary/char_map.h"

#include <cstring>

#include <utf8proc.h>

#include "base/utf8.h"

namespace hone {
namespace {

// A unit of the double array holds a label, an offset to its children, and whether a value is
// among them; a value is a unit of its own.
bool HasValue(uint32_t unit) { return (unit >> 8 & 1) != 0; }
uint32_t ValueOf(uint32_t unit) { return unit & 0x7FFFFFFF; }
uint32_t LabelOf(uint32_t unit) { return unit & 0x800000FF; }
uint32_t OffsetOf(uint32_t unit) { return (unit >> 10) << ((unit & 0x200) >> 6); }

// A cluster of more bytes is looked up character by character.
constexpr size_t kLongestCluster = 5;

// Where the cluster of characters that begins at `at` ends.
size_t EndOfCluster(std::string_view text, size_t at) {
  auto before = static_cast<utf8proc_int32_t>(NextCodePoint(text, &at));
  utf8proc_int32_t state = 0;
  while (at < text.size()) {
    size_t end = at;
    const auto after = static_cast<utf8proc_int32_t>(NextCodePoint(text, &end));
    if (utf8proc_grapheme_break_stateful(before, after, &state)) break;
    before = after;
    at = end;
  }
  return at;
}

}  // namespace

Result<CharMap> CharMap::FromBytes(std::string_view bytes) {
  const auto cut_short = [] {
    return Error(ErrorCode::kParse, "precompiled_charsmap is cut short");
  };
  uint32_t size = 0;
  if (bytes.size() < sizeof size) return cut_short();
  std::memcpy(&size, bytes.data(), sizeof size);
  bytes.remove_prefix(sizeof size);
  if (size > bytes.size() || size % sizeof(uint32_t) != 0 || size == 0) return cut_short();
  CharMap map;
  map.units_.resize(size / sizeof(uint32_t));
  std::memcpy(map.units_.data(), bytes.data(), size);
  map.texts_ = bytes.substr(size);
  return map;
}

Result<CharMap> CharMap::FromBase64(std::string_view text) {
  const std::optional<std::string> bytes = hone::FromBase64(text);
  if (!bytes) return Error(ErrorCode::kParse, "precompiled_charsmap is not base64");
  return FromBytes(*bytes);
}

// The shortest entry that the text begins with decides, even where it does not reach the end: so
// the library does, and vocabularies were made with it.
std::optional<std::string_view> CharMap::Find(std::string_view text) const {
  uint32_t node = OffsetOf(units_[0]);
  for (const char c : text) {
    const auto byte = static_cast<uint8_t>(c);
    if (byte == 0) break;
    node ^= byte;
    if (node >= units_.size() || LabelOf(units_[node]) != byte) return std::nullopt;
    const uint32_t unit = units_[node];
    node ^= OffsetOf(unit);
    if (!HasValue(unit)) continue;
    if (node >= units_.size() || ValueOf(units_[node]) > texts_.size()) return std::nullopt;
    const std::string_view rest = std::string_view(texts_).substr(ValueOf(units_[node]));
    const std::string_view found = rest.substr(0, rest.find('\0'));
    if (!IsUtf8(found)) return std::nullopt;
    return found;
  }
  return std::nullopt;
}

std::string CharMap::Apply(std::string_view text) const {
  std::string out;
  out.reserve(text.size());
  for (size_t at = 0; at < text.size();) {
    const size_t end = EndOfCluster(text, at);
    const std::string_view cluster = text.substr(at, end - at);
    if (cluster.size() <= kLongestCluster) {
      if (const auto found = Find(cluster)) {
        out += *found;
        at = end;
        continue;
      }
    }
    while (at < end) {
      const size_t begin = at;
      NextCodePoint(text, &at);
      const std::string_view character = text.substr(begin, at - begin);
      out += Find(character).value_or(character);
    }
  }
  return out;
}

std::optional<std::string> FromBase64(std::string_view text) {
  while (text.ends_with('=')) text.remove_suffix(1);
  constexpr std::string_view kDigits =
      "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
  std::string bytes;
  bytes.reserve(text.size() * 3 / 4);
  uint32_t waiting = 0;
  int bits = 0;
  for (const char c : text) {
    const size_t digit = kDigits.find(c);
    if (digit == std::string_view::npos) return std::nullopt;
    waiting = waiting << 6 | static_cast<uint32_t>(digit);
    bits += 6;
    if (bits < 8) continue;
    bits -= 8;
    bytes += static_cast<char>(waiting >> bits & 0xFF);
  }
  return bytes;
}

}  // namespace hone
