#pragma once

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <map>
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

// Equal but for the last digits; the worst difference of a test goes into its report
// (--gtest_output=json).
inline bool IsTheirs(double ours, double theirs, double tolerance = 1e-5) {
  static std::map<std::string, double> worst;
  const double difference = std::abs(ours - theirs) / std::max(1.0, std::abs(theirs));
  if (!(difference <= tolerance)) return false;
  const testing::TestInfo* test = testing::UnitTest::GetInstance()->current_test_info();
  double& before = worst[test == nullptr ? "" : test->name()];
  if (test != nullptr && difference >= before) {
    before = difference;
    testing::Test::RecordProperty("worst_difference", std::to_string(difference * 1e9) + "e-9");
  }
  return true;
}

}  // namespace hone
