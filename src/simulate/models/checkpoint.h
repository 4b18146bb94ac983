#pragma once

#include <filesystem>
#include <memory>
#include <string>

#include "base/result.h"
#include "engine/device/device.h"
#include "tools/toolkit.h"

namespace hone {

struct CheckpointOptions {
  std::filesystem::path folder;    // a Hugging Face folder with its tokenizer
  std::string dialect = "hermes";  // how the model writes conversations (text/dialect.h)
  DeviceKind device = DeviceKind::kCpu;
  int threads = 0;  // 0: as many as the machine has
};

// A toolkit of the tool `complete` (simulate/models/language_model.h) on a local model. What is
// asked at once is drawn together. The same request has the same completion, on any machine with
// the same kind of device. JSON mode is not enforced.
Result<std::shared_ptr<Toolkit>> NewCheckpointToolkit(const CheckpointOptions& options);

}  // namespace hone
