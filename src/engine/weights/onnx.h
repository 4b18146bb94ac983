#pragma once

#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <map>
#include <memory>
#include <span>
#include <string>
#include <vector>

#include "base/result.h"
#include "engine/weights/mapped_file.h"

namespace hone {

// Types of elements, with the numbers they have in ONNX files. Tensors of others are left out.
enum class OnnxType {
  kFloat = 1,
  kUint8 = 2,
  kInt8 = 3,
  kInt64 = 7,
  kFloat16 = 10,
  kBfloat16 = 16
};

// A constant of the graph ("initializer").
struct OnnxTensor {
  OnnxType type = OnnxType::kFloat;
  std::vector<int64_t> shape;        // empty: one number
  std::span<const std::byte> bytes;  // little-endian, row-major; they live as long as the file
  std::shared_ptr<const std::vector<std::byte>> own;  // where they lie, unless in the file

  int64_t count() const;
  // Numbers of a floating type, or whole numbers of 8 bits, as float32 (CHECK: not kInt64).
  void CopyAsF32(std::span<float> out) const;
};

// An operation of the graph; names of tensors go in and come out.
struct OnnxNode {
  std::string name, operation;
  std::vector<std::string> inputs, outputs;
};

// The constants and operations of an .onnx file, memory-mapped. Opening takes memory in proportion
// to the bytes that the file really has. Immutable and thread-safe.
class OnnxFile {
 public:
  // The error names the file and, where it is one tensor's fault, the tensor. Tensors whose bytes
  // lie in other files are kUnsupported.
  static Result<OnnxFile> Open(const std::filesystem::path& path);

  const std::string& name() const { return name_; }  // of the file, for messages
  const std::map<std::string, OnnxTensor>& tensors() const { return tensors_; }
  const OnnxTensor* Find(const std::string& name) const;
  const std::vector<OnnxNode>& nodes() const { return nodes_; }
  // By its name; null: there is none.
  const OnnxNode* FindNode(const std::string& name) const;

 private:
  Result<void> ReadGraph(std::span<const std::byte> bytes);

  std::string name_;
  std::shared_ptr<const MappedFile> mapping_;
  std::map<std::string, OnnxTensor> tensors_;
  std::vector<OnnxNode> nodes_;
  std::map<std::string, size_t> places_;  // of nodes, by name
};

}  // namespace hone
