#pragma once

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <string>
#include <string_view>

#include "base/check.h"
#include "base/file.h"
#include "base/json.h"

// What the authors' own programs make of random groups (tests/golden/credit/README.md).

namespace hone {

// The cases of one section of the golden.
inline const Json::Array& AuthorsCases(std::string_view section) {
  static const Json golden =
      ParseJson(ReadFile(HONE_SOURCE_DIR "/tests/golden/credit/authors.json").value()).value();
  const Json* cases = golden.Find(section);
  CHECK(cases != nullptr, "no such section");
  return cases->AsArray();
}

// A member that is there.
inline const Json& MemberOf(const Json& json, std::string_view key) {
  const Json* found = json.Find(key);
  CHECK(found != nullptr, "no such member");
  return *found;
}

inline double NumberOf(const Json& json, std::string_view key) {
  return MemberOf(json, key).AsDouble();
}

// What the case's program says, under the name of a variant.
inline const Json& TheirsOf(const Json& one, std::string_view variant) {
  return MemberOf(MemberOf(one, "expected"), variant);
}

inline bool IsTheirs(double ours, double theirs, double tolerance = 1e-5) {
  return std::abs(ours - theirs) <= tolerance * std::max(1.0, std::abs(theirs));
}

}  // namespace hone
