#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"
#include "credit/method.h"

namespace hone {

// The method of a name, with settings behind a colon: "grpo", "toolpo-per-call:baseline=pooled".
// The error for an unknown name or setting says the nearest and lists the others.
Result<Method> NewMethod(std::string_view spec);

// The same at a step of training, for methods that change with it (spear's bonus fades): those have
// a setting `step`, which counts unless the name sets it.
Result<Method> NewMethodAt(std::string_view spec, int64_t step);

struct MethodSummary {
  std::string name;
  std::string about;
  std::string needs;
  std::vector<std::string> settings;  // "key=default"
  Promises promises;
};

// All methods, in the order of docs/algorithms.
std::vector<MethodSummary> ListMethods();
std::vector<std::string> MethodNames();

}  // namespace hone
