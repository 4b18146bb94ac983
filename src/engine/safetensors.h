#pragma once

#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <functional>
#include <map>
#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"
#include "engine/weights/mapped_file.h"

namespace hone {

// Element types that checkpoints hold. Others are refused.
enum class DType { kF32, kF16, kBF16, kI64, kI32 };

std::string_view DTypeName(DType dtype);  // "F32", as in the file
size_t DTypeSize(DType dtype);

// A tensor inside a file; the bytes are little-endian, row-major, and live as long as the file.
struct TensorView {
  DType dtype = DType::kF32;
  std::vector<int64_t> shape;
  std::span<const std::byte> bytes;

  int64_t count() const;  // of elements
};

// Any floating type as float32. The view must be of one (CHECK).
void CopyAsF32(const TensorView& view, std::span<float> out);

// A .safetensors file, memory-mapped: opening reads the header only. Immutable and thread-safe.
class SafetensorsFile {
 public:
  // The error names the file and, where it is one tensor's fault, the tensor.
  static Result<SafetensorsFile> Open(const std::filesystem::path& path);

  const std::map<std::string, TensorView>& tensors() const { return tensors_; }
  const TensorView* Find(const std::string& name) const;
  // The strings under "__metadata__".
  const std::map<std::string, std::string>& metadata() const { return metadata_; }

 private:
  std::shared_ptr<const MappedFile> mapping_;
  std::map<std::string, TensorView> tensors_;
  std::map<std::string, std::string> metadata_;
};

// Writes the file atomically, tensors in the order of their names: equal tensors give equal bytes.
Result<void> WriteSafetensors(const std::filesystem::path& path,
                              const std::map<std::string, TensorView>& tensors,
                              const std::map<std::string, std::string>& metadata);

// A tensor to be written. `bytes` is asked once, when its turn has come, for as many as the shape
// and the type take (CHECK).
struct SafetensorsSource {
  DType dtype = DType::kF32;
  std::vector<int64_t> shape;
  std::function<Result<std::vector<std::byte>>()> bytes;
};

// The same file from tensors that are made one at a time: one is in memory. An error of a source
// is returned with its tensor's name, and no file is left.
Result<void> WriteSafetensors(const std::filesystem::path& path,
                              const std::map<std::string, SafetensorsSource>& tensors,
                              const std::map<std::string, std::string>& metadata);

// The tensors of a model's folder: model.safetensors, or the shards that
// model.safetensors.index.json names. A tensor that the index names and no shard holds is an error.
class CheckpointTensors {
 public:
  static Result<CheckpointTensors> Open(const std::filesystem::path& folder);

  const std::map<std::string, TensorView>& tensors() const { return tensors_; }
  const TensorView* Find(const std::string& name) const;

 private:
  std::vector<SafetensorsFile> files_;
  std::map<std::string, TensorView> tensors_;
};

}  // namespace hone
