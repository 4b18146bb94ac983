#include "base/fetch/tar.h"

#include <algorithm>
#include <optional>
#include <utility>
#include <vector>

#include <fcntl.h>
#include <fmt/format.h>
#include <unistd.h>

#include "base/descriptor.h"
#include "base/fetch/gzip.h"
#include "base/fetch/inside_path.h"
#include "base/file.h"
#include "base/strings.h"

namespace hone {
namespace {

constexpr size_t kTarBlock = 512;
constexpr int64_t kLongestName = 1 << 16;  // of a long name, or of all pax records of a file

Error Damaged(std::string what) {
  return Error(ErrorCode::kCorrupt, "the archive is damaged: " + std::move(what));
}

// A text that ends at its first zero, or with its field.
std::string Field(std::string_view header, size_t at, size_t size) {
  const std::string_view field = header.substr(at, size);
  return std::string(field.substr(0, field.find('\0')));
}

// An octal number, or GNU's binary one (its first bit is set).
std::optional<int64_t> TarNumber(std::string_view header, size_t at, size_t size) {
  const std::string_view field = header.substr(at, size);
  const auto first = static_cast<uint8_t>(field[0]);
  if (first & 0x80) {
    if (first != 0x80) return std::nullopt;  // negative, or beyond all files
    uint64_t value = 0;
    for (const char c : field.substr(1)) {
      if (value >> 55 != 0) return std::nullopt;
      value = value << 8 | static_cast<uint8_t>(c);
    }
    return static_cast<int64_t>(value);
  }
  const std::string text(Trim(Field(header, at, size)));
  int64_t value = 0;
  for (const char c : text) {
    if (c < '0' || c > '7') return std::nullopt;
    value = value * 8 + (c - '0');
  }
  return value;
}

bool ChecksumFits(std::string_view header) {
  uint32_t sum = 0;
  for (size_t i = 0; i < kTarBlock; ++i) {
    const bool own = i >= 148 && i < 156;
    sum += own ? ' ' : static_cast<uint8_t>(header[i]);
  }
  return TarNumber(header, 148, 8) == sum;
}

// The records "LENGTH key=value\n" of pax.
Result<void> ReadPax(std::string_view records, std::string* path, int64_t* size) {
  while (!records.empty()) {
    const size_t space = records.find(' ');
    int64_t length = 0;
    if (space == 0 || space > 9) return Damaged("a pax record without a length");
    for (const char c : records.substr(0, space)) {
      if (!IsDigit(c)) return Damaged("a pax record without a length");
      length = length * 10 + (c - '0');
    }
    if (length <= static_cast<int64_t>(space) + 1 ||
        length > static_cast<int64_t>(records.size()) ||
        records[static_cast<size_t>(length) - 1] != '\n') {
      return Damaged("a pax record of another length");
    }
    const std::string_view record =
        records.substr(space + 1, static_cast<size_t>(length) - space - 2);
    const size_t equals = record.find('=');
    if (equals == std::string_view::npos) return Damaged("a pax record without a value");
    const std::string_view key = record.substr(0, equals), value = record.substr(equals + 1);
    if (key == "path") *path = value;
    if (key == "size") {
      if (value.empty() || value.size() > 15) return Damaged("a size that is no number");
      *size = 0;
      for (const char c : value) {
        if (!IsDigit(c)) return Damaged("a size that is no number");
        *size = *size * 10 + (c - '0');
      }
    }
    records.remove_prefix(static_cast<size_t>(length));
  }
  return {};
}

// The whole path of a header, with ustar's prefix.
std::string HeaderPath(std::string_view header) {
  const std::string name = Field(header, 0, 100);
  const bool ustar = header.substr(257, 5) == "ustar" && header[262] == '\0';
  const std::string prefix = ustar ? Field(header, 345, 155) : "";
  return prefix.empty() ? name : prefix + "/" + name;
}

}  // namespace

TarReader::TarReader(TarVisitor visitor, TarLimits limits)
    : visitor_(std::move(visitor)), limits_(limits) {}

Result<void> TarReader::Feed(std::string_view bytes) {
  while (!bytes.empty() && part_ != Part::kEnd) {
    if (part_ == Part::kHeader) {
      const size_t count = std::min(kTarBlock - header_.size(), bytes.size());
      header_.append(bytes.substr(0, count));
      bytes.remove_prefix(count);
      if (header_.size() < kTarBlock) break;
      HONE_RETURN_IF_ERROR(TakeHeader());
      header_.clear();
      continue;
    }
    const auto body = static_cast<size_t>(std::min<int64_t>(left_, std::ssize(bytes)));
    if (body > 0) {
      HONE_RETURN_IF_ERROR(TakeBody(bytes.substr(0, body)));
      left_ -= static_cast<int64_t>(body);
      bytes.remove_prefix(body);
    }
    const auto padding = static_cast<size_t>(std::min<int64_t>(padding_, std::ssize(bytes)));
    if (left_ == 0) {
      padding_ -= static_cast<int64_t>(padding);
      bytes.remove_prefix(padding);
      if (padding_ == 0) HONE_RETURN_IF_ERROR(EndBody());
    }
  }
  return {};
}

Result<void> TarReader::TakeHeader() {
  if (std::all_of(header_.begin(), header_.end(), [](char c) { return c == '\0'; })) {
    part_ = Part::kEnd;
    return {};
  }
  if (!ChecksumFits(header_)) return Damaged("a header's checksum differs");
  if (++entries_ > limits_.entries) {
    return Error(ErrorCode::kCorrupt,
                 fmt::format("the archive has more than {} entries", limits_.entries));
  }
  const auto stated = TarNumber(header_, 124, 12);
  if (!stated) return Damaged("a size that is no number");
  type_ = header_[156] == '\0' ? '0' : header_[156];
  const bool name = type_ == 'x' || type_ == 'L' || type_ == 'g';
  left_ = !name && next_size_ >= 0 ? next_size_ : *stated;
  padding_ = static_cast<int64_t>((kTarBlock - static_cast<size_t>(left_) % kTarBlock) % kTarBlock);
  if (name) {
    if (left_ > kLongestName) return Damaged("a name of absurd length");
    name_.clear();
    part_ = Part::kName;
  } else {
    const std::string path = next_path_.empty() ? HeaderPath(header_) : std::move(next_path_);
    next_path_.clear();
    next_size_ = -1;
    if (type_ != '0' && type_ != '5') {
      return Error(ErrorCode::kCorrupt,
                   "the archive holds a link or a device, which is not unpacked");
    }
    if (!StaysInside(path)) {
      return Error(ErrorCode::kCorrupt, "the archive holds a path that leads outside of it");
    }
    if (__builtin_add_overflow(bytes_, left_, &bytes_) || bytes_ > limits_.bytes) {
      return Error(ErrorCode::kCorrupt,
                   fmt::format("the archive holds more than {} bytes", limits_.bytes));
    }
    bool wanted = false;
    if (type_ == '0') {
      HONE_ASSIGN_OR_RETURN(wanted, visitor_.begin(path, left_));
    }
    part_ = wanted ? Part::kFile : Part::kSkipped;
  }
  return left_ == 0 ? EndBody() : Result<void>();
}

Result<void> TarReader::TakeBody(std::string_view bytes) {
  if (part_ == Part::kName) name_.append(bytes);
  return part_ == Part::kFile ? visitor_.bytes(bytes) : Result<void>();
}

Result<void> TarReader::EndBody() {
  if (part_ == Part::kName && type_ == 'x') {
    HONE_RETURN_IF_ERROR(ReadPax(name_, &next_path_, &next_size_));
  } else if (part_ == Part::kName && type_ == 'L') {
    next_path_ = name_.substr(0, name_.find('\0'));
  }
  part_ = Part::kHeader;
  return {};
}

Result<void> TarReader::Finish() const {
  // Some writers leave out the zeros at the end.
  if (part_ == Part::kEnd || (part_ == Part::kHeader && header_.empty() && entries_ > 0)) return {};
  return Damaged("it is cut off");
}

Result<void> ReadTarGz(const std::filesystem::path& path, const TarVisitor& visitor,
                       const TarLimits& limits) {
  const Descriptor fd(::open(path.c_str(), O_RDONLY | O_CLOEXEC | O_NONBLOCK));
  if (!fd.ok()) return ErrnoError("cannot open " + path.string());
  TarReader tar(visitor, limits);
  GzipReader gzip([&](std::string_view bytes) { return tar.Feed(bytes); });
  std::vector<char> buffer(1 << 17);
  while (true) {
    const ssize_t count = ::read(fd.get(), buffer.data(), buffer.size());
    if (count < 0 && errno == EINTR) continue;
    if (count < 0) return ErrnoError("cannot read " + path.string());
    if (count == 0) break;
    Result<void> fed = gzip.Feed({buffer.data(), static_cast<size_t>(count)});
    if (!fed.ok()) return fed.error().In(path.string());
  }
  if (Result<void> end = gzip.Finish(); !end.ok()) return end.error().In(path.string());
  if (Result<void> end = tar.Finish(); !end.ok()) return end.error().In(path.string());
  return {};
}

}  // namespace hone
