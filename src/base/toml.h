#pragma once

#include <map>
#include <string>
#include <string_view>
#include <vector>

#include "base/json.h"
#include "base/result.h"

namespace hone {

struct TomlMember;

// A TOML value with the line it stands on.
struct TomlValue {
  enum class Kind { kTable, kArray, kScalar } kind = Kind::kTable;
  Json scalar;                      // kScalar: bool, integer, real (inf and nan included) or string
  std::vector<TomlMember> members;  // kTable, in the order of the file; add with Add
  std::vector<TomlValue> elements;  // kArray
  int line = 1;

  TomlValue* Find(std::string_view key);
  // Adds a member; the key must be new.
  TomlValue* Add(std::string key, TomlValue value);
  std::string_view KindName() const;

  // How a table came to be; decides whether the file may still add to it.
  enum class Origin { kImplicit, kHeader, kDotted, kInline } origin = Origin::kImplicit;

 private:
  std::map<std::string, size_t, std::less<>> index_;  // key to its place in members
};

struct TomlMember {
  std::string key;
  TomlValue value;
};

// A TOML 1.0 document as a table. Dates and times are not taken (nothing here has them as values):
// write them as strings. Errors read "FILE:LINE: not TOML: why".
Result<TomlValue> ParseToml(std::string_view text, std::string_view file_name);

// One TOML value alone, as it stands to the right of an equals sign.
Result<TomlValue> ParseTomlValue(std::string_view text);

}  // namespace hone
