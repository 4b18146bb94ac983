#pragma once

#include <filesystem>
#include <string>
#include <string_view>
#include <vector>

#include "base/json.h"
#include "base/result.h"

namespace hone {

// One object of a JSON Lines file, with where it stands.
struct SuiteRow {
  std::string place;  // "cases.jsonl:3"
  Json value;         // an object

  // Errors name the place and the key.
  Result<const Json*> Member(std::string_view key) const;
  Result<std::string> Text(std::string_view key) const;
  Error Problem(std::string_view text) const;
};

// All of them; blank lines are passed over. An error: there is no such file, it has no rows, or a
// line is no JSON object (file and line are named).
Result<std::vector<SuiteRow>> ReadSuiteRows(const std::filesystem::path& file);

}  // namespace hone
