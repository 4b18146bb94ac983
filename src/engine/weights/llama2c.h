#pragma once

#include <filesystem>
#include <memory>
#include <string>

#include "base/result.h"
#include "engine/weights/mapped_file.h"
#include "engine/weights/model_stream.h"

namespace hone {

// A checkpoint of llama2.c (its first format: seven whole numbers, then float32), memory-mapped.
// Immutable and thread-safe.
class Llama2cFile {
 public:
  // Sizes that are absurd or do not fit the file's own are kCorrupt. The error names the file.
  static Result<Llama2cFile> Open(const std::filesystem::path& path);

  const ModelConfig& config() const { return config_; }
  // Names, and the order of the rows of queries and keys, become Hugging Face's. A number that is
  // not finite is an error that names the tensor. It holds the file.
  ParameterReader Reader() const;

 private:
  std::string name_;
  std::shared_ptr<const MappedFile> mapping_;
  ModelConfig config_;
};

}  // namespace hone
