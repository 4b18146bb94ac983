#include "engine/weights/gguf.h"

#include <algorithm>
#include <bit>
#include <cstring>
#include <limits>
#include <type_traits>

#include <fmt/format.h>

#include "base/utf8.h"

namespace hone {
namespace {

static_assert(std::endian::native == std::endian::little, "files are read as they lie");

constexpr std::string_view kGgufMagic = "GGUF";
constexpr uint32_t kOldestVersion = 2, kNewestVersion = 3;
constexpr uint32_t kMostDimensions = 4;
constexpr uint64_t kLeastKeyBytes = 13;     // a length, a type and a byte
constexpr uint64_t kLeastTensorBytes = 24;  // a length, no dimensions, a type and an offset
constexpr uint32_t kArrayType = 9;

Error Broken(std::string message) { return Error(ErrorCode::kCorrupt, std::move(message)); }

// A name from a file, as it may stand in a message.
std::string Shown(std::string_view name) { return Utf8Lossy(name.substr(0, 100)); }

// What is left of the header. Every read is checked against the end of the file.
class HeaderCursor {
 public:
  explicit HeaderCursor(std::span<const std::byte> bytes) : all_(bytes) {}

  size_t at() const { return at_; }
  size_t left() const { return all_.size() - at_; }

  template <typename T>
  Result<void> Read(T* value) {
    if (left() < sizeof(T)) return Broken("the file ends inside of its header");
    std::memcpy(value, all_.data() + at_, sizeof(T));
    at_ += sizeof(T);
    return {};
  }

  Result<void> Read(bool* value) {
    uint8_t byte = 0;
    HONE_RETURN_IF_ERROR(Read(&byte));
    if (byte > 1) return Broken(fmt::format("a truth value is {}, neither 0 nor 1", byte));
    *value = byte == 1;
    return {};
  }

  Result<void> Read(std::string* value) {
    uint64_t length = 0;
    HONE_RETURN_IF_ERROR(Read(&length));
    if (length > left()) {
      return Broken(fmt::format("a text of {} bytes goes beyond the end of the file", length));
    }
    value->assign(reinterpret_cast<const char*>(all_.data()) + at_, length);
    at_ += length;
    return {};
  }

 private:
  std::span<const std::byte> all_;
  size_t at_ = 0;
};

// The least that an element takes in the file; memory is asked for no more elements than fit.
template <typename T>
constexpr size_t kLeastBytes = std::is_same_v<T, std::string> ? sizeof(uint64_t) : sizeof(T);

template <typename T>
Result<GgufArray> ReadElements(HeaderCursor* cursor) {
  uint64_t count = 0;
  HONE_RETURN_IF_ERROR(cursor->Read(&count));
  if (count > cursor->left() / kLeastBytes<T>) {
    return Broken(fmt::format("an array of {} elements goes beyond the end of the file", count));
  }
  std::vector<T> elements;
  elements.reserve(count);
  for (uint64_t i = 0; i < count; ++i) {
    T element{};
    HONE_RETURN_IF_ERROR(cursor->Read(&element));
    elements.push_back(std::move(element));
  }
  return GgufArray(std::move(elements));
}

// Calls the reader of the array whose type has this number.
template <size_t kIndex = 0>
Result<GgufArray> ReadArray(uint32_t type, HeaderCursor* cursor) {
  if constexpr (kIndex < std::variant_size_v<GgufArray>) {
    using Elements = std::variant_alternative_t<kIndex, GgufArray>;
    if constexpr (!std::is_same_v<Elements, std::monostate>) {
      if (type == kIndex) return ReadElements<typename Elements::value_type>(cursor);
    } else if (type == kIndex) {
      return Error(ErrorCode::kUnsupported, "an array of arrays is not read");
    }
    return ReadArray<kIndex + 1>(type, cursor);
  } else {
    return Broken(fmt::format("an array of the type {}, which there is not", type));
  }
}

template <size_t kIndex = 0>
Result<GgufValue> ReadValue(uint32_t type, HeaderCursor* cursor) {
  if constexpr (kIndex < std::variant_size_v<GgufValue>) {
    using Value = std::variant_alternative_t<kIndex, GgufValue>;
    if (type != kIndex) return ReadValue<kIndex + 1>(type, cursor);
    if constexpr (kIndex == kArrayType) {
      uint32_t element = 0;
      HONE_RETURN_IF_ERROR(cursor->Read(&element));
      HONE_ASSIGN_OR_RETURN(GgufArray array, ReadArray(element, cursor));
      return GgufValue(std::move(array));
    } else {
      Value value{};
      HONE_RETURN_IF_ERROR(cursor->Read(&value));
      return GgufValue(std::in_place_index<kIndex>, std::move(value));
    }
  } else {
    return Broken(fmt::format("a value of the type {}, which there is not", type));
  }
}

struct HeaderCounts {
  uint32_t version = 0;
  uint64_t tensors = 0, keys = 0;
};

Result<HeaderCounts> ReadCounts(std::span<const std::byte> bytes, HeaderCursor* cursor) {
  char magic[4] = {};
  if (bytes.size() < sizeof magic || std::memcmp(bytes.data(), kGgufMagic.data(), 4) != 0) {
    return Broken("not a GGUF file");
  }
  HONE_RETURN_IF_ERROR(cursor->Read(&magic));
  HeaderCounts counts;
  HONE_RETURN_IF_ERROR(cursor->Read(&counts.version));
  if (counts.version < kOldestVersion || counts.version > kNewestVersion) {
    const bool swapped = counts.version != 0 && (counts.version & 0xFFFF) == 0;
    return Error(ErrorCode::kVersion,
                 swapped ? "a big-endian GGUF file; convert it to little-endian"
                         : fmt::format("a GGUF file of version {}; versions {} and {} are read",
                                       counts.version, kOldestVersion, kNewestVersion));
  }
  HONE_RETURN_IF_ERROR(cursor->Read(&counts.tensors));
  HONE_RETURN_IF_ERROR(cursor->Read(&counts.keys));
  if (counts.keys > cursor->left() / kLeastKeyBytes) {
    return Broken(fmt::format("{} keys do not fit into the file", counts.keys));
  }
  if (counts.tensors > cursor->left() / kLeastTensorBytes) {
    return Broken(fmt::format("{} tensors do not fit into the file", counts.tensors));
  }
  return counts;
}

Result<void> ReadMetadata(uint64_t count, HeaderCursor* cursor,
                          std::map<std::string, GgufValue>* metadata) {
  for (uint64_t i = 0; i < count; ++i) {
    std::string key;
    if (Result<void> read = cursor->Read(&key); !read.ok()) {
      return read.error().In(fmt::format("key {} of {}", i, count));
    }
    auto value = [&]() -> Result<GgufValue> {
      uint32_t type = 0;
      HONE_RETURN_IF_ERROR(cursor->Read(&type));
      return ReadValue(type, cursor);
    }();
    if (!value.ok()) return value.error().In("key " + Shown(key));
    if (key.empty() || !metadata->emplace(key, std::move(value).value()).second) {
      return Broken(key.empty() ? "a key without a name" : "two keys are called " + Shown(key));
    }
  }
  return {};
}

// A tensor as the header has it: where it begins behind the header is not yet known.
struct TensorEntry {
  GgufTensor tensor;
  uint64_t offset = 0, size = 0;
};

Result<TensorEntry> ReadTensorEntry(HeaderCursor* cursor) {
  TensorEntry entry;
  uint32_t dimensions = 0, type = 0;
  HONE_RETURN_IF_ERROR(cursor->Read(&dimensions));
  if (dimensions > kMostDimensions) {
    return Broken(fmt::format("it has {} dimensions, of {} at most", dimensions, kMostDimensions));
  }
  entry.tensor.shape.resize(dimensions);
  uint64_t count = 1;
  // The innermost dimension comes first in the file.
  for (uint32_t i = dimensions; i-- > 0;) {
    uint64_t size = 0;
    HONE_RETURN_IF_ERROR(cursor->Read(&size));
    if (size > std::numeric_limits<int64_t>::max() || __builtin_mul_overflow(count, size, &count) ||
        count > std::numeric_limits<int64_t>::max()) {
      return Broken("its shape is out of reach");
    }
    entry.tensor.shape[i] = static_cast<int64_t>(size);
  }
  HONE_RETURN_IF_ERROR(cursor->Read(&type));
  HONE_RETURN_IF_ERROR(cursor->Read(&entry.offset));
  entry.tensor.layout = FindGgmlType(type);
  if (entry.tensor.layout == nullptr) {
    return Error(ErrorCode::kUnsupported, fmt::format("its type {} is not known", type));
  }
  const GgmlTypeLayout& layout = *entry.tensor.layout;
  const int64_t row = dimensions == 0 ? 1 : entry.tensor.shape.back();
  if (row % layout.block != 0) {
    return Broken(fmt::format("rows of {} numbers do not fill whole blocks of {}, {} each", row,
                              layout.name, layout.block));
  }
  if (__builtin_mul_overflow(count / static_cast<uint64_t>(layout.block), uint64_t{layout.bytes},
                             &entry.size)) {
    return Broken("its shape is out of reach");
  }
  return entry;
}

Result<void> PlaceTensor(std::span<const std::byte> data, uint64_t alignment, TensorEntry* entry) {
  if (entry->offset % alignment != 0) {
    return Broken(
        fmt::format("its data is at {}, which is not a multiple of {}", entry->offset, alignment));
  }
  if (entry->offset > data.size() || entry->size > data.size() - entry->offset) {
    return Broken("its data lies outside of the file; the file is cut off or damaged");
  }
  entry->tensor.bytes = data.subspan(entry->offset, entry->size);
  return {};
}

Result<uint64_t> TensorAlignment(const std::map<std::string, GgufValue>& metadata) {
  const auto found = metadata.find("general.alignment");
  if (found == metadata.end()) return uint64_t{32};
  const auto* alignment = std::get_if<uint32_t>(&found->second);
  if (alignment == nullptr || !std::has_single_bit(*alignment)) {
    return Broken("key general.alignment: is not a power of two in 32 bits");
  }
  return uint64_t{*alignment};
}

// Two tensors may not share bytes.
Result<void> CheckApart(const std::map<std::string, GgufTensor>& tensors) {
  std::vector<std::pair<const std::byte*, const std::string*>> order;
  for (const auto& [name, tensor] : tensors) {
    if (!tensor.bytes.empty()) order.emplace_back(tensor.bytes.data(), &name);
  }
  std::sort(order.begin(), order.end());
  for (size_t i = 1; i < order.size(); ++i) {
    const GgufTensor& before = tensors.at(*order[i - 1].second);
    if (before.bytes.data() + before.bytes.size() > order[i].first) {
      return Broken(fmt::format("tensor {}: shares bytes with another", Shown(*order[i].second)));
    }
  }
  return {};
}

Result<void> ReadTensors(uint64_t count, uint64_t alignment, std::span<const std::byte> bytes,
                         HeaderCursor* cursor, std::map<std::string, GgufTensor>* tensors) {
  std::vector<std::pair<std::string, TensorEntry>> entries;
  for (uint64_t i = 0; i < count; ++i) {
    std::string name;
    if (Result<void> read = cursor->Read(&name); !read.ok()) {
      return read.error().In(fmt::format("tensor {} of {}", i, count));
    }
    Result<TensorEntry> entry = ReadTensorEntry(cursor);
    if (!entry.ok()) return entry.error().In("tensor " + Shown(name));
    entries.emplace_back(std::move(name), std::move(entry).value());
  }
  const uint64_t begin = (cursor->at() + alignment - 1) / alignment * alignment;
  const auto data = bytes.subspan(std::min<uint64_t>(begin, bytes.size()));
  for (auto& [name, entry] : entries) {
    if (Result<void> placed = PlaceTensor(data, alignment, &entry); !placed.ok()) {
      return placed.error().In("tensor " + Shown(name));
    }
    if (!tensors->emplace(name, std::move(entry.tensor)).second) {
      return Broken("two tensors are called " + Shown(name));
    }
  }
  return CheckApart(*tensors);
}

}  // namespace

int64_t GgufTensor::count() const {
  int64_t count = 1;
  for (const int64_t size : shape) {
    if (size == 0) return 0;
  }
  for (const int64_t size : shape) count *= size;  // was checked when the file was opened
  return count;
}

Result<GgufFile> GgufFile::Open(const std::filesystem::path& path) {
  GgufFile file;
  file.name_ = path.string();
  HONE_ASSIGN_OR_RETURN(file.mapping_, MappedFile::Open(path));
  const auto bytes = file.mapping_->bytes();
  auto read = [&]() -> Result<void> {
    HeaderCursor cursor(bytes);
    HONE_ASSIGN_OR_RETURN(const HeaderCounts counts, ReadCounts(bytes, &cursor));
    file.version_ = counts.version;
    HONE_RETURN_IF_ERROR(ReadMetadata(counts.keys, &cursor, &file.metadata_));
    HONE_ASSIGN_OR_RETURN(const uint64_t alignment, TensorAlignment(file.metadata_));
    return ReadTensors(counts.tensors, alignment, bytes, &cursor, &file.tensors_);
  }();
  if (!read.ok()) return read.error().In(file.name_);
  return file;
}

const GgufValue* GgufFile::Find(const std::string& key) const {
  const auto found = metadata_.find(key);
  return found == metadata_.end() ? nullptr : &found->second;
}

const GgufTensor* GgufFile::FindTensor(const std::string& name) const {
  const auto found = tensors_.find(name);
  return found == tensors_.end() ? nullptr : &found->second;
}

std::optional<int64_t> GgufFile::Integer(const std::string& key) const {
  const GgufValue* value = Find(key);
  if (value == nullptr) return std::nullopt;
  return std::visit(
      [](const auto& own) -> std::optional<int64_t> {
        using Value = std::decay_t<decltype(own)>;
        if constexpr (std::is_integral_v<Value> && !std::is_same_v<Value, bool>) {
          if (std::in_range<int64_t>(own)) return static_cast<int64_t>(own);
        }
        return std::nullopt;
      },
      *value);
}

std::optional<double> GgufFile::Number(const std::string& key) const {
  const GgufValue* value = Find(key);
  if (value == nullptr) return std::nullopt;
  return std::visit(
      [](const auto& own) -> std::optional<double> {
        using Value = std::decay_t<decltype(own)>;
        if constexpr (std::is_arithmetic_v<Value> && !std::is_same_v<Value, bool>) {
          return static_cast<double>(own);
        }
        return std::nullopt;
      },
      *value);
}

std::optional<bool> GgufFile::Truth(const std::string& key) const {
  const GgufValue* value = Find(key);
  const bool* own = value == nullptr ? nullptr : std::get_if<bool>(value);
  return own == nullptr ? std::nullopt : std::optional(*own);
}

const std::string* GgufFile::Text(const std::string& key) const {
  const GgufValue* value = Find(key);
  return value == nullptr ? nullptr : std::get_if<std::string>(value);
}

const std::vector<std::string>* GgufFile::Texts(const std::string& key) const {
  const GgufValue* value = Find(key);
  const auto* array = value == nullptr ? nullptr : std::get_if<GgufArray>(value);
  return array == nullptr ? nullptr : std::get_if<std::vector<std::string>>(array);
}

std::optional<std::vector<double>> GgufFile::Numbers(const std::string& key) const {
  const GgufValue* value = Find(key);
  const auto* array = value == nullptr ? nullptr : std::get_if<GgufArray>(value);
  if (array == nullptr) return std::nullopt;
  return std::visit(
      [](const auto& own) -> std::optional<std::vector<double>> {
        using Elements = std::decay_t<decltype(own)>;
        if constexpr (!std::is_same_v<Elements, std::monostate>) {
          if constexpr (std::is_arithmetic_v<typename Elements::value_type>) {
            return std::vector<double>(own.begin(), own.end());
          }
        }
        return std::nullopt;
      },
      *array);
}

}  // namespace hone
