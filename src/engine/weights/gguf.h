#pragma once

#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <utility>
#include <variant>
#include <vector>

#include "base/result.h"
#include "engine/weights/ggml_types.h"
#include "engine/weights/mapped_file.h"

namespace hone {

// A value of the metadata. The place of a type in these lists is its number in the file: 9 is an
// array, and an array of arrays is refused, as ggml does.
using GgufArray =
    std::variant<std::vector<uint8_t>, std::vector<int8_t>, std::vector<uint16_t>,
                 std::vector<int16_t>, std::vector<uint32_t>, std::vector<int32_t>,
                 std::vector<float>, std::vector<bool>, std::vector<std::string>, std::monostate,
                 std::vector<uint64_t>, std::vector<int64_t>, std::vector<double>>;
using GgufValue = std::variant<uint8_t, int8_t, uint16_t, int16_t, uint32_t, int32_t, float, bool,
                               std::string, GgufArray, uint64_t, int64_t, double>;

// A tensor inside a file; the bytes live as long as the file.
struct GgufTensor {
  const GgmlTypeLayout* layout = nullptr;
  std::vector<int64_t> shape;  // the outermost first, as in Hugging Face's files
  std::span<const std::byte> bytes;

  int64_t count() const;  // of numbers
};

// A GGUF file of version 2 or 3, memory-mapped: opening reads the header only, and takes memory in
// proportion to the bytes that the file really has. Immutable and thread-safe.
class GgufFile {
 public:
  // The error names the file and, where it is one key's or one tensor's fault, that one.
  static Result<GgufFile> Open(const std::filesystem::path& path);

  const std::string& name() const { return name_; }  // of the file, for messages
  uint32_t version() const { return version_; }

  const std::map<std::string, GgufValue>& metadata() const { return metadata_; }
  const GgufValue* Find(const std::string& key) const;
  // A key's value: any integer that fits, any number, a text, a truth value. Nothing where the key
  // is absent or of another kind.
  std::optional<int64_t> Integer(const std::string& key) const;
  std::optional<double> Number(const std::string& key) const;
  std::optional<bool> Truth(const std::string& key) const;
  const std::string* Text(const std::string& key) const;
  const std::vector<std::string>* Texts(const std::string& key) const;
  // An array of any numbers as doubles, which hold all that metadata has (32 bits).
  std::optional<std::vector<double>> Numbers(const std::string& key) const;

  const std::map<std::string, GgufTensor>& tensors() const { return tensors_; }
  const GgufTensor* FindTensor(const std::string& name) const;

 private:
  std::string name_;
  uint32_t version_ = 0;
  std::shared_ptr<const MappedFile> mapping_;
  std::map<std::string, GgufValue> metadata_;
  std::map<std::string, GgufTensor> tensors_;
};

// The metadata of a file to be written, in its order.
using GgufMetadata = std::vector<std::pair<std::string, GgufValue>>;

// A tensor to be written. `blocks` is asked once, when its turn has come, for as many bytes as the
// shape and the type take (CHECK).
struct GgufTensorSource {
  std::string name;
  GgmlType type = GgmlType::kF32;
  std::vector<int64_t> shape;  // the outermost first; the innermost fills whole blocks (CHECK)
  std::function<Result<std::vector<std::byte>>()> blocks;
};

// Writes a file of version 3 atomically, one tensor in memory at a time.
Result<void> WriteGguf(const std::filesystem::path& path, const GgufMetadata& metadata,
                       std::span<const GgufTensorSource> tensors);

}  // namespace hone
