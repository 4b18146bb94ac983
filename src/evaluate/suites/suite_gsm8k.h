#pragma once

#include <filesystem>
#include <string>

#include "evaluate/suites/suite.h"

namespace hone {

// Which tool the model has for GSM8K.
inline constexpr const char* kGsm8kTools[] = {"calculator", "python", "none"};

// GSM8K's problems, from its own file (test.jsonl) or the folder that holds it: {"question",
// "answer"} per line. With a tool the model calls until it answers; what it answers is compared by
// that benchmark's rule (the number behind "####"). Errors name the file and the line.
Result<Suite> LoadGsm8k(const std::filesystem::path& path, const std::string& tool);

}  // namespace hone
