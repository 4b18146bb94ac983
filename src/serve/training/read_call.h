#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "base/json.h"
#include "base/json_fields.h"
#include "base/result.h"

namespace hone {

// A body that is one JSON object, whose members `read` takes: read(fields, &errors, &call).
template <typename Call, typename Read>
Result<Call> ReadCall(std::string_view body, const Read& read) {
  const Result<Json> json = ParseJson(body);
  if (!json.ok()) {
    return Error(ErrorCode::kParse, "the body is not JSON: " + json.error().message());
  }
  if (!json->is_object()) return Error(ErrorCode::kParse, "the body is not a JSON object");
  Call call;
  JsonErrors errors;
  {
    JsonFields fields(*json, "", &errors);
    fields.Take("type");  // says again what the path says
    read(fields, &errors, &call);
  }
  HONE_RETURN_IF_ERROR(errors.Check());
  return call;
}

// The tokens of a model_input. Only chunks of text have any here.
void ReadModelInput(const Json& json, const std::string& path, JsonErrors* errors,
                    std::vector<int64_t>* tokens);

}  // namespace hone
