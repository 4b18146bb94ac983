#pragma once

#include <cstdint>
#include <optional>
#include <set>
#include <string>
#include <string_view>
#include <vector>

#include "base/json.h"
#include "base/result.h"

// Reading structs out of JSON with errors that say where: "nodes[3].tokens[5]: wants an integer,
// not a string". One JsonErrors is shared by everything read from one document; the first problem
// is kept, reading goes on harmlessly, and the caller asks once at the end.

namespace hone {

class JsonErrors {
 public:
  void Add(const std::string& path, std::string_view problem);
  bool ok() const { return !first_.has_value(); }
  // Success, or the first problem.
  Result<void> Check() const;

 private:
  std::optional<Error> first_;
};

// Each reads `json` into *value or adds a problem at `path`. Structs add overloads of their own.
void ReadJson(const Json& json, const std::string& path, JsonErrors* errors, bool* value);
void ReadJson(const Json& json, const std::string& path, JsonErrors* errors, int32_t* value);
void ReadJson(const Json& json, const std::string& path, JsonErrors* errors, int64_t* value);
void ReadJson(const Json& json, const std::string& path, JsonErrors* errors, uint64_t* value);
void ReadJson(const Json& json, const std::string& path, JsonErrors* errors, float* value);
void ReadJson(const Json& json, const std::string& path, JsonErrors* errors, double* value);
void ReadJson(const Json& json, const std::string& path, JsonErrors* errors, std::string* value);
void ReadJson(const Json& json, const std::string& path, JsonErrors* errors, Json* value);

template <typename T>
void ReadJson(const Json& json, const std::string& path, JsonErrors* errors,
              std::vector<T>* value) {
  if (!json.is_array()) {
    errors->Add(path, "wants an array, not " + std::string(json.KindName()));
    return;
  }
  value->resize(json.AsArray().size());
  for (size_t i = 0; i < value->size(); ++i) {
    ReadJson(json.AsArray()[i], path + "[" + std::to_string(i) + "]", errors, &(*value)[i]);
  }
}

// null reads as absent.
template <typename T>
void ReadJson(const Json& json, const std::string& path, JsonErrors* errors,
              std::optional<T>* value) {
  if (json.is_null()) {
    value->reset();
  } else {
    ReadJson(json, path, errors, &value->emplace());
  }
}

// The members of one object. Every key must be asked for: the destructor reports those that were
// not, with the nearest key that exists.
class JsonFields {
 public:
  JsonFields(const Json& object, std::string path, JsonErrors* errors);
  ~JsonFields();
  JsonFields(const JsonFields&) = delete;
  JsonFields& operator=(const JsonFields&) = delete;

  template <typename T>
  void Required(std::string_view key, T* value) {
    if (const Json* member = Take(key)) {
      ReadJson(*member, PathOf(key), errors_, value);
    } else if (is_object_) {
      errors_->Add(path_, "the key \"" + std::string(key) + "\" is missing");
    }
  }

  // Leaves *value as it is when the key is absent.
  template <typename T>
  void Optional(std::string_view key, T* value) {
    if (const Json* member = Take(key)) ReadJson(*member, PathOf(key), errors_, value);
  }

  // Marks the key as known without reading it; null when absent.
  const Json* Take(std::string_view key);
  std::string PathOf(std::string_view key) const;

 private:
  const Json& object_;
  std::string path_;
  JsonErrors* errors_;
  bool is_object_;
  std::set<std::string, std::less<>> known_;
};

}  // namespace hone
