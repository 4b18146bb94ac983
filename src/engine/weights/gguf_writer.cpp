// Writing of gguf.h.

#include <type_traits>

#include "base/check.h"
#include "engine/weights/file_aside.h"
#include "engine/weights/gguf.h"

namespace hone {
namespace {

constexpr uint32_t kWrittenVersion = 3;
constexpr size_t kWrittenAlignment = 32;  // what files have that do not say

template <typename T>
void Put(const T& value, std::string* out) {
  if constexpr (std::is_same_v<T, std::string>) {
    Put(uint64_t{value.size()}, out);
    *out += value;
  } else {
    static_assert(std::is_arithmetic_v<T>);
    out->append(reinterpret_cast<const char*>(&value), sizeof value);
  }
}

void PutArray(const GgufArray& array, std::string* out) {
  Put(static_cast<uint32_t>(array.index()), out);
  std::visit(
      [&](const auto& elements) {
        using Elements = std::decay_t<decltype(elements)>;
        if constexpr (!std::is_same_v<Elements, std::monostate>) {
          Put(uint64_t{elements.size()}, out);
          for (const typename Elements::value_type& element : elements) Put(element, out);
        } else {
          CHECK(false, "an array of arrays");
        }
      },
      array);
}

void PutValue(const GgufValue& value, std::string* out) {
  Put(static_cast<uint32_t>(value.index()), out);
  std::visit(
      [&](const auto& own) {
        if constexpr (std::is_same_v<std::decay_t<decltype(own)>, GgufArray>) {
          PutArray(own, out);
        } else {
          Put(own, out);
        }
      },
      value);
}

size_t SizeOf(const GgufTensorSource& tensor) {
  const GgmlTypeLayout& layout = LayoutOf(tensor.type);
  CHECK(tensor.shape.empty() || tensor.shape.back() % layout.block == 0, "blocks across rows");
  int64_t count = 1;
  for (const int64_t size : tensor.shape) count *= size;
  return static_cast<size_t>(count / layout.block) * layout.bytes;
}

size_t Aligned(size_t size) {
  return (size + kWrittenAlignment - 1) / kWrittenAlignment * kWrittenAlignment;
}

std::string HeaderOf(const GgufMetadata& metadata, std::span<const GgufTensorSource> tensors) {
  std::string header = "GGUF";
  Put(kWrittenVersion, &header);
  Put(uint64_t{tensors.size()}, &header);
  Put(uint64_t{metadata.size()}, &header);
  for (const auto& [key, value] : metadata) {
    Put(key, &header);
    PutValue(value, &header);
  }
  uint64_t offset = 0;
  for (const GgufTensorSource& tensor : tensors) {
    Put(tensor.name, &header);
    Put(static_cast<uint32_t>(tensor.shape.size()), &header);
    for (size_t i = tensor.shape.size(); i-- > 0;) {
      Put(static_cast<uint64_t>(tensor.shape[i]), &header);
    }
    Put(static_cast<uint32_t>(tensor.type), &header);
    Put(offset, &header);
    offset += Aligned(SizeOf(tensor));
  }
  header.resize(Aligned(header.size()));
  return header;
}

}  // namespace

Result<void> WriteGguf(const std::filesystem::path& path, const GgufMetadata& metadata,
                       std::span<const GgufTensorSource> tensors) {
  HONE_ASSIGN_OR_RETURN(FileAside file, FileAside::Create(path));
  HONE_RETURN_IF_ERROR(file.Append(HeaderOf(metadata, tensors)));
  for (const GgufTensorSource& tensor : tensors) {
    Result<std::vector<std::byte>> blocks = tensor.blocks();
    if (!blocks.ok()) return blocks.error().In("tensor " + tensor.name);
    CHECK(blocks->size() == SizeOf(tensor), "a tensor of another size than its shape");
    blocks->resize(Aligned(blocks->size()));
    HONE_RETURN_IF_ERROR(file.Append(*blocks));
  }
  return file.Commit();
}

}  // namespace hone
