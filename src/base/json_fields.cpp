#include "base/json_fields.h"

#include <cmath>
#include <limits>

#include <fmt/format.h>

#include "base/nearest.h"

namespace hone {
namespace {

void WrongKind(const Json& json, const std::string& path, JsonErrors* errors,
               std::string_view wanted) {
  errors->Add(path, fmt::format("wants {}, not {}", wanted, json.KindName()));
}

}  // namespace

void JsonErrors::Add(const std::string& path, std::string_view problem) {
  if (first_.has_value()) return;
  first_ = Error(ErrorCode::kInvalidArgument,
                 path.empty() ? std::string(problem) : path + ": " + std::string(problem));
}

Result<void> JsonErrors::Check() const {
  if (first_.has_value()) return *first_;
  return {};
}

void ReadJson(const Json& json, const std::string& path, JsonErrors* errors, bool* value) {
  if (!json.is_bool()) return WrongKind(json, path, errors, "true or false");
  *value = json.AsBool();
}

void ReadJson(const Json& json, const std::string& path, JsonErrors* errors, int64_t* value) {
  if (json.kind() == Json::Kind::kBigInteger) {
    return errors->Add(path, "the integer does not fit 64 bits");
  }
  if (!json.is_integer()) return WrongKind(json, path, errors, "an integer");
  *value = json.AsInteger();
}

void ReadJson(const Json& json, const std::string& path, JsonErrors* errors, int32_t* value) {
  if (!json.is_integer()) return WrongKind(json, path, errors, "an integer");
  const int64_t wide = json.AsInteger();
  if (wide < std::numeric_limits<int32_t>::min() || wide > std::numeric_limits<int32_t>::max()) {
    return errors->Add(path, "the integer does not fit 32 bits");
  }
  *value = static_cast<int32_t>(wide);
}

void ReadJson(const Json& json, const std::string& path, JsonErrors* errors, uint64_t* value) {
  const std::optional<uint64_t> integer = json.AsUint64();
  if (!integer) return WrongKind(json, path, errors, "a non-negative 64-bit integer");
  *value = *integer;
}

void ReadJson(const Json& json, const std::string& path, JsonErrors* errors, double* value) {
  if (!json.is_number()) return WrongKind(json, path, errors, "a number");
  *value = json.AsDouble();
}

void ReadJson(const Json& json, const std::string& path, JsonErrors* errors, float* value) {
  double wide = 0;
  ReadJson(json, path, errors, &wide);
  *value = static_cast<float>(wide);
  if (std::isinf(*value)) errors->Add(path, "the number does not fit 32 bits");
}

void ReadJson(const Json& json, const std::string& path, JsonErrors* errors, std::string* value) {
  if (!json.is_string()) return WrongKind(json, path, errors, "a string");
  *value = json.AsString();
}

void ReadJson(const Json& json, const std::string&, JsonErrors*, Json* value) { *value = json; }

JsonFields::JsonFields(const Json& object, std::string path, JsonErrors* errors)
    : object_(object), path_(std::move(path)), errors_(errors), is_object_(object.is_object()) {
  if (!is_object_) WrongKind(object, path_, errors_, "an object");
}

JsonFields::~JsonFields() {
  if (!is_object_) return;
  for (const Json::Member& member : object_.AsObject()) {
    if (!errors_->ok()) return;  // only the first problem is kept
    if (known_.contains(member.first)) continue;
    errors_->Add(path_, fmt::format("unknown key \"{}\"{}", member.first,
                                    DidYouMean(member.first, {known_.begin(), known_.end()})));
  }
}

const Json* JsonFields::Take(std::string_view key) {
  known_.emplace(key);
  return object_.Find(key);
}

std::string JsonFields::PathOf(std::string_view key) const {
  return path_.empty() ? std::string(key) : path_ + "." + std::string(key);
}

}  // namespace hone
