#include "base/bytes/protobuf.h"

#include <bit>
#include <cstring>

namespace hone {
namespace {

static_assert(std::endian::native == std::endian::little, "the format is little-endian");

template <typename T>
std::string FixedBytes(T value) {
  std::string bytes(sizeof value, '\0');
  std::memcpy(bytes.data(), &value, sizeof value);
  return bytes;
}

std::string VarintBytes(uint64_t value) {
  std::string bytes;
  for (; value >= 0x80; value >>= 7) bytes += static_cast<char>((value & 0x7f) | 0x80);
  bytes += static_cast<char>(value);
  return bytes;
}

enum WireKind : uint64_t { kVarint = 0, kFixed64 = 1, kLength = 2, kFixed32 = 5 };

std::string TagBytes(int number, WireKind kind) {
  return VarintBytes(static_cast<uint64_t>(number) << 3 | kind);
}

}  // namespace

std::optional<uint64_t> ProtoReader::Varint() {
  uint64_t value = 0;
  for (int shift = 0; shift < 64 && !bytes_.empty(); shift += 7) {
    const auto byte = static_cast<uint64_t>(bytes_[0]);
    bytes_ = bytes_.subspan(1);
    value |= (byte & 0x7f) << shift;
    if (byte < 0x80) return value;
  }
  return std::nullopt;
}

std::optional<ProtoField> ProtoReader::Next() {
  const auto tag = Varint();
  if (!tag || *tag >> 3 == 0) return std::nullopt;
  ProtoField field{.number = *tag >> 3};
  const uint64_t kind = *tag & 7;
  if (kind == kVarint) {
    const auto value = Varint();
    if (!value) return std::nullopt;
    field.value = *value;
    return field;
  }
  uint64_t size = kind == kFixed64 ? 8 : 4;
  if (kind == kLength) {
    const auto length = Varint();
    if (!length) return std::nullopt;
    size = *length;
    field.has_bytes = true;
  } else if (kind != kFixed64 && kind != kFixed32) {
    return std::nullopt;
  }
  if (size > bytes_.size()) return std::nullopt;
  field.bytes = bytes_.first(size);
  bytes_ = bytes_.subspan(size);
  if (kind != kLength) std::memcpy(&field.value, field.bytes.data(), size);
  return field;
}

std::string ProtoBytesOf(int number, uint64_t value) {
  return TagBytes(number, kVarint) + VarintBytes(value);
}
std::string ProtoBytesOf(int number, double value) {
  return TagBytes(number, kFixed64) + FixedBytes(value);
}
std::string ProtoBytesOf(int number, float value) {
  return TagBytes(number, kFixed32) + FixedBytes(value);
}
std::string ProtoBytesOf(int number, std::string_view bytes) {
  return TagBytes(number, kLength) + VarintBytes(bytes.size()) + std::string(bytes);
}

}  // namespace hone
