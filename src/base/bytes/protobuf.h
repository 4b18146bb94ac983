#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>

// Protobuf's wire format, field by field: what a message means is its reader's to know.

namespace hone {

// One field of a message.
struct ProtoField {
  uint64_t number = 0;
  uint64_t value = 0;                // of a varint, or of a fixed number's bits
  std::span<const std::byte> bytes;  // of what has a length, in what is read
  bool has_bytes = false;

  std::string_view text() const {
    return {reinterpret_cast<const char*>(bytes.data()), bytes.size()};
  }
};

// The fields of one message, one after the other. Groups are refused.
class ProtoReader {
 public:
  explicit ProtoReader(std::span<const std::byte> bytes) : bytes_(bytes) {}
  explicit ProtoReader(std::string_view bytes)
      : bytes_(reinterpret_cast<const std::byte*>(bytes.data()), bytes.size()) {}

  bool AtEnd() const { return bytes_.empty(); }
  // Absent where the bytes are not protobuf.
  std::optional<uint64_t> Varint();
  std::optional<ProtoField> Next();

 private:
  std::span<const std::byte> bytes_;
};

// One field as bytes; a message is its fields behind each other. Text is also a message inside.
std::string ProtoBytesOf(int number, uint64_t value);  // a varint
std::string ProtoBytesOf(int number, double value);
std::string ProtoBytesOf(int number, float value);
std::string ProtoBytesOf(int number, std::string_view bytes);

}  // namespace hone
