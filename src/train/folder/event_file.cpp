#include "train/folder/event_file.h"

#include <array>
#include <bit>
#include <cstring>

#include <fcntl.h>
#include <fmt/format.h>
#include <unistd.h>

#include "base/bytes/protobuf.h"
#include "base/file.h"

// A record is its length, a checksum of the length, the bytes, and their checksum. The bytes are a
// protocol buffer of the few fields used here:
//
//   Event      1 wall_time (double)  2 step (varint)  3 file_version (string)
//              5 summary (Summary)   7 session_log (SessionLog)
//   Summary    1 value (repeated: 1 tag (string), 2 simple_value (float))
//   SessionLog 1 status (varint; 1 = START)

namespace hone {
namespace {

template <typename T>
std::string Fixed(T value) {
  std::string bytes(sizeof value, '\0');
  std::memcpy(bytes.data(), &value, sizeof value);
  return bytes;
}

// As the format wants it: a checksum of data that holds checksums must not be regular.
uint32_t Masked(uint32_t crc) { return std::rotr(crc, 15) + 0xa282ead8u; }

}  // namespace

uint32_t Crc32c(std::string_view bytes) {
  static constexpr auto kTable = [] {
    std::array<uint32_t, 256> table{};
    for (uint32_t i = 0; i < 256; ++i) {
      uint32_t crc = i;
      for (int bit = 0; bit < 8; ++bit) crc = (crc >> 1) ^ ((crc & 1) != 0 ? 0x82f63b78u : 0);
      table[i] = crc;
    }
    return table;
  }();
  uint32_t crc = 0xffffffffu;
  for (const char c : bytes) crc = kTable[(crc ^ static_cast<uint8_t>(c)) & 0xff] ^ (crc >> 8);
  return crc ^ 0xffffffffu;
}

Result<std::unique_ptr<EventFile>> EventFile::New(const std::filesystem::path& folder,
                                                  double wall_time, int64_t first_step) {
  for (int attempt = 0;; ++attempt) {
    const std::filesystem::path path =
        folder / fmt::format("events.out.tfevents.{:010}.{}.{}", static_cast<int64_t>(wall_time),
                             first_step, attempt);
    const int file = ::open(path.c_str(), O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0644);
    if (file < 0 && errno == EEXIST) continue;
    if (file < 0) return ErrnoError("cannot write " + path.string());
    std::unique_ptr<EventFile> events(new EventFile(path, file));
    HONE_RETURN_IF_ERROR(events->Write(ProtoBytesOf(1, wall_time) +
                                       ProtoBytesOf(3, std::string_view("brain.Event:2"))));
    HONE_RETURN_IF_ERROR(events->Write(
        ProtoBytesOf(1, wall_time) + ProtoBytesOf(2, static_cast<uint64_t>(first_step)) +
        ProtoBytesOf(7, std::string_view(ProtoBytesOf(1, uint64_t{1})))));
    return events;
  }
}

EventFile::~EventFile() { ::close(file_); }

Result<void> EventFile::Write(std::string_view event) {
  const std::string length = Fixed(static_cast<uint64_t>(event.size()));
  const std::string record =
      length + Fixed(Masked(Crc32c(length))) + std::string(event) + Fixed(Masked(Crc32c(event)));
  for (size_t done = 0; done < record.size();) {
    const ssize_t written = ::write(file_, record.data() + done, record.size() - done);
    if (written < 0 && errno == EINTR) continue;
    if (written < 0) return ErrnoError("cannot write " + path_.string());
    done += static_cast<size_t>(written);
  }
  return {};
}

Result<void> EventFile::Add(double wall_time, int64_t step,
                            const std::map<std::string, double>& values) {
  std::string summary;
  for (const auto& [tag, value] : values) {
    summary += ProtoBytesOf(1, std::string_view(ProtoBytesOf(1, std::string_view(tag)) +
                                                ProtoBytesOf(2, static_cast<float>(value))));
  }
  return Write(ProtoBytesOf(1, wall_time) + ProtoBytesOf(2, static_cast<uint64_t>(step)) +
               ProtoBytesOf(5, std::string_view(summary)));
}

}  // namespace hone
