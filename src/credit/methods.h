#pragma once

#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"
#include "credit/method.h"
#include "credit/method_options.h"

namespace hone {

// A method of credit assignment under its name: all that registering one takes
// (docs/howto/add-a-method.md).
struct MethodEntry {
  std::string_view name;
  Method (*make)(MethodOptions*);  // asks for its settings; the name is filled in
};

// Those that Hone has, in the order of docs/algorithms. The functions below look there unless they
// are given another table.
std::span<const MethodEntry> BuiltInMethods();
using MethodTable = std::span<const MethodEntry>;

// The method of a name, with settings behind a colon: "grpo", "toolpo-per-call:baseline=pooled".
// The error for an unknown name or setting says the nearest and lists the others.
Result<Method> NewMethod(std::string_view spec, MethodTable table = BuiltInMethods());

// The same at a step of training, for methods that change with it (spear's bonus fades): those have
// a setting `step`, which counts unless the name sets it.
Result<Method> NewMethodAt(std::string_view spec, int64_t step,
                           MethodTable table = BuiltInMethods());

struct MethodSummary {
  std::string name;
  std::string about;
  std::string needs;
  std::vector<std::string> settings;  // "key=default"
  Promises promises;
};

// All methods, in the order of the table.
std::vector<MethodSummary> ListMethods(MethodTable table = BuiltInMethods());
std::vector<std::string> MethodNames(MethodTable table = BuiltInMethods());

}  // namespace hone
