#pragma once

#include <filesystem>
#include <string>
#include <vector>

#include "evaluate/suites/suite.h"

namespace hone {

struct BfclOptions {
  // Names are shown with "_" for ".", which OpenAI's API does not take in names.
  bool dots_as_underscores = false;
  // Functions are described in words, and calls are read from the text, as Python.
  bool calls_as_text = false;
  std::vector<std::string> categories;  // that are read; empty: all of one turn
};

// The single-turn categories of the Berkeley Function-Calling Leaderboard, from its own files: a
// folder with question/BFCL_v4_*.json (or those files themselves) and possible_answer/, or one
// question file beside which possible_answer/ lies. Categories of several turns are passed over,
// and an error when they are asked for. Errors name the file and the line, or the category.
Result<Suite> LoadBfcl(const std::filesystem::path& path, const BfclOptions& options);

// A documented function as an OpenAI schema: its own type names become those of JSON Schema;
// parameters of Java and JavaScript are texts that hold source code.
Json ShownBfclFunction(const Json& function, const std::string& category, bool dots_as_underscores);

}  // namespace hone
