#include "engine/families/config_reader.h"

#include <cmath>

#include <fmt/format.h>

namespace hone {

const Json* ConfigReader::Find(std::string_view key) const {
  const Json* value = json_.Find(key);
  return value == nullptr || value->is_null() ? nullptr : value;
}

int64_t ConfigReader::Size(std::string_view key, std::optional<int64_t> otherwise) {
  const Json* value = Find(key);
  if (value == nullptr) {
    if (!otherwise) Problem(key, "is missing");
    return otherwise.value_or(1);
  }
  if (!value->is_integer() || value->AsInteger() < 1 || value->AsInteger() > kLargestSize) {
    Problem(key, fmt::format("must be an integer from 1 to {}", kLargestSize));
    return 1;
  }
  return value->AsInteger();
}

double ConfigReader::Positive(std::string_view key, double otherwise) {
  const Json* value = Find(key);
  if (value == nullptr) return otherwise;
  if (!value->is_number() || !(value->AsDouble() > 0) || !std::isfinite(value->AsDouble())) {
    Problem(key, "must be a number greater than 0");
    return otherwise;
  }
  return value->AsDouble();
}

bool ConfigReader::Flag(std::string_view key, bool otherwise) {
  const Json* value = Find(key);
  if (value == nullptr) return otherwise;
  if (!value->is_bool()) Problem(key, "must be true or false");
  return *value == Json(true);
}

std::string ConfigReader::Text(std::string_view key, std::string_view otherwise) {
  const Json* value = Find(key);
  if (value == nullptr) return std::string(otherwise);
  if (!value->is_string()) {
    Problem(key, "must be a string");
    return std::string(otherwise);
  }
  return value->AsString();
}

void ConfigReader::Problem(std::string_view key, std::string_view text) {
  if (!error_) error_ = Error(ErrorCode::kInvalidArgument, fmt::format("\"{}\" {}", key, text));
}

void ConfigReader::Unsupported(std::string text) {
  if (!error_) error_ = Error(ErrorCode::kUnsupported, std::move(text));
}

}  // namespace hone
