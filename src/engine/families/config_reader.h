#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include "base/json.h"
#include "base/result.h"

namespace hone {

// Reads keys of a config.json; the first problem is kept, and the values go on as they may.
class ConfigReader {
 public:
  // Far above any model there is, and small enough that products of sizes do not overflow.
  static constexpr int64_t kLargestSize = int64_t{1} << 22;

  explicit ConfigReader(const Json& json) : json_(json) {}

  // Null counts as absent; Given tells a null from what is not there.
  const Json* Find(std::string_view key) const;
  const Json* Given(std::string_view key) const { return json_.Find(key); }
  // From 1 on. Absent without another value: a problem.
  int64_t Size(std::string_view key, std::optional<int64_t> otherwise = std::nullopt);
  double Positive(std::string_view key, double otherwise);
  bool Flag(std::string_view key, bool otherwise);
  std::string Text(std::string_view key, std::string_view otherwise);

  void Problem(std::string_view key, std::string_view text);
  void Unsupported(std::string text);
  const std::optional<Error>& error() const { return error_; }

 private:
  const Json& json_;
  std::optional<Error> error_;
};

}  // namespace hone
