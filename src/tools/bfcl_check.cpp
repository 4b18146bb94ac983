// The rule is Python's, so values are compared as Python compares them: true equals 1, 1 equals
// 1.0, but types are told apart exactly where the rule looks at types.

#include "tools/bfcl_check.h"

#include <algorithm>
#include <cctype>
#include <optional>

#include "tools/foreign_values.h"

namespace hone {
namespace {

using Failure = std::optional<std::string>;  // the error type; none: it passes

enum class PyType { kString, kInteger, kFloat, kBool, kList, kDict, kNone };

PyType TypeOf(const Json& value) {
  switch (value.kind()) {
    case Json::Kind::kNull: return PyType::kNone;
    case Json::Kind::kBool: return PyType::kBool;
    case Json::Kind::kInteger:
    case Json::Kind::kBigInteger: return PyType::kInteger;
    case Json::Kind::kReal: return PyType::kFloat;
    case Json::Kind::kString: return PyType::kString;
    case Json::Kind::kArray: return PyType::kList;
    case Json::Kind::kObject: return PyType::kDict;
  }
  return PyType::kNone;
}

std::optional<PyType> DocumentedType(const std::string& name) {
  if (name == "string" || name == "any") return PyType::kString;
  if (name == "integer") return PyType::kInteger;
  if (name == "float") return PyType::kFloat;
  if (name == "boolean") return PyType::kBool;
  if (name == "array" || name == "tuple") return PyType::kList;
  if (name == "dict" || name == "object") return PyType::kDict;
  return std::nullopt;
}

// Python's ==.
bool PyEqual(const Json& a, const Json& b) {
  auto as_number = [](const Json& value) -> std::optional<Json> {
    if (value.is_bool()) return Json(value.AsBool() ? 1 : 0);
    if (value.is_number()) return value;
    return std::nullopt;
  };
  const auto x = as_number(a), y = as_number(b);
  if (x && y) {
    if (x->kind() == y->kind()) return *x == *y;
    return x->AsDouble() == y->AsDouble();
  }
  if (a.kind() != b.kind()) return false;
  if (a.is_array()) {
    return std::equal(a.AsArray().begin(), a.AsArray().end(), b.AsArray().begin(),
                      b.AsArray().end(), PyEqual);
  }
  if (a.is_object()) {
    if (a.AsObject().size() != b.AsObject().size()) return false;
    return std::all_of(a.AsObject().begin(), a.AsObject().end(), [&](const Json::Member& member) {
      const Json* other = b.Find(member.first);
      return other != nullptr && PyEqual(member.second, *other);
    });
  }
  return a == b;
}

// Spaces and most punctuation do not matter in texts, nor does case.
std::string Normalised(const std::string& text) {
  std::string out;
  for (const char c : text) {
    if (std::string_view(" ,./-_*^").find(c) != std::string_view::npos) continue;
    out += c == '\'' ? '"' : c;
  }
  std::transform(out.begin(), out.end(), out.begin(),
                 [](unsigned char c) { return static_cast<char>(c < 0x80 ? std::tolower(c) : c); });
  return out;
}

Json NormalisedValue(const Json& value) {
  return value.is_string() ? Json(Normalised(value.AsString())) : value;
}

Json NormalisedList(const Json& list) {
  Json::Array out;
  for (const Json& value : list.AsArray()) out.push_back(NormalisedValue(value));
  return out;
}

bool IsEmptyText(const Json& value) { return value.is_string() && value.AsString().empty(); }

bool Accepts(const Json& accepted, const Json& value) {
  const auto& list = accepted.AsArray();
  return std::any_of(list.begin(), list.end(),
                     [&](const Json& one) { return PyEqual(one, value); });
}

const Json* FirstNotEmpty(const Json& accepted) {
  for (const Json& one : accepted.AsArray()) {
    if (!IsEmptyText(one)) return &one;
  }
  return nullptr;
}

Failure CheckString(const std::string& value, const Json& accepted) {
  const std::string normalised = Normalised(value);
  for (const Json& one : accepted.AsArray()) {
    if (one.is_string() && Normalised(one.AsString()) == normalised) return std::nullopt;
  }
  return "value_error:string";
}

Failure CheckList(const Json& value, const Json& accepted) {
  const Json normalised = NormalisedList(value);
  for (const Json& one : accepted.AsArray()) {
    // "" stands for nothing, and nothing is an empty list.
    const Json list = one.is_array() ? NormalisedList(one) : Json(Json::Array());
    if ((one.is_array() || IsEmptyText(one)) && PyEqual(list, normalised)) return std::nullopt;
  }
  return "value_error:list/tuple";
}

Failure CheckDict(const Json& value, const Json& accepted) {
  Failure failure = "value_error:dict_key";
  for (const Json& one : accepted.AsArray()) {
    if (!one.is_object()) continue;
    failure.reset();
    for (const auto& [key, given] : value.AsObject()) {
      const Json* allowed = one.Find(key);
      if (allowed == nullptr) {
        failure = "value_error:dict_key";
        break;
      }
      const Json normalised = NormalisedValue(given);
      const Json list = allowed->is_array() ? NormalisedList(*allowed) : Json(Json::Array());
      if (!Accepts(list, normalised)) {
        failure = "value_error:dict_value";
        break;
      }
    }
    for (const auto& [key, allowed] : one.AsObject()) {
      const bool optional = allowed.is_array() && Accepts(allowed, Json(""));
      if (value.Find(key) == nullptr && !optional) failure = "value_error:dict_key";
    }
    if (!failure) return failure;
  }
  return failure;
}

Failure CheckListOfDicts(const Json& value, const Json& accepted) {
  Failure failure = "value_error:list_dict_count";
  for (const Json& one : accepted.AsArray()) {
    if (!one.is_array()) continue;
    if (one.AsArray().size() != value.AsArray().size()) {
      failure = "value_error:list_dict_count";
      continue;
    }
    failure.reset();
    for (size_t i = 0; i < value.AsArray().size() && !failure; ++i) {
      const Json& element = value.AsArray()[i];
      failure = element.is_object() ? CheckDict(element, Json(Json::Array{one.AsArray()[i]}))
                                    : Failure("value_error:list_dict_count");
    }
    if (!failure) return failure;
  }
  return failure;
}

// Some accepted list must allow every element's type.
bool ElementTypesFit(const Json& value, PyType element, const Json& accepted) {
  for (const Json& one : accepted.AsArray()) {
    if (!one.is_array()) return true;
    std::optional<PyType> alternative;
    if (const Json* first = FirstNotEmpty(one)) alternative = TypeOf(*first);
    const auto& elements = value.AsArray();
    if (std::all_of(elements.begin(), elements.end(), [&](const Json& each) {
          return TypeOf(each) == element || TypeOf(each) == alternative;
        })) {
      return true;
    }
  }
  return false;
}

enum class Language { kPython, kJava, kJavaScript };

Failure CheckParameter(const Json& documented, const Json& accepted, Json value,
                       Language language) {
  auto type_in = [](const Json* schema) {
    const Json* type = schema != nullptr ? schema->Find("type") : nullptr;
    return type != nullptr && type->is_string() ? type->AsString() : std::string();
  };
  std::string type = type_in(&documented);
  const std::string element = type_in(documented.Find("items"));
  if (language != Language::kPython) {
    const bool java = language == Language::kJava;
    if (!value.is_string()) return java ? "type_error:java" : "type_error:js";
    value = java ? FromJava(value.AsString(), type, element)
                 : FromJavaScript(value.AsString(), type, element);
    type = java ? PythonNameOfJava(type) : PythonNameOfJavaScript(type);
  }
  const std::optional<PyType> wanted = DocumentedType(type);
  if (wanted == PyType::kFloat && value.is_integer()) {
    value = Json(static_cast<double>(value.AsInteger()));
  }
  const Json* first = FirstNotEmpty(accepted);
  const bool variable = first != nullptr && TypeOf(*first) != wanted;
  if (TypeOf(value) != wanted) {
    if (first == nullptr || TypeOf(value) != TypeOf(*first)) return "type_error:simple";
  } else if (wanted == PyType::kList && language == Language::kPython) {
    const auto element_type = DocumentedType(element);
    if (element_type && !ElementTypesFit(value, *element_type, accepted)) {
      return accepted.AsArray().empty() ? "type_error:simple" : "type_error:nested";
    }
  }
  if (!variable) {
    if (wanted == PyType::kDict && value.is_object()) return CheckDict(value, accepted);
    if (wanted == PyType::kList && value.is_array() && element == "dict") {
      return CheckListOfDicts(value, accepted);
    }
    if (wanted == PyType::kString && value.is_string())
      return CheckString(value.AsString(), accepted);
    if (wanted == PyType::kList && value.is_array()) return CheckList(value, accepted);
  }
  return Accepts(accepted, value) ? Failure() : Failure("value_error:others");
}

Failure CheckOne(const Json& function, const Json& accepted_call, const Json& call,
                 bool dots_as_underscores, Language language) {
  const Json* documented_name = function.Find("name");
  std::string name =
      documented_name != nullptr && documented_name->is_string() ? documented_name->AsString() : "";
  const Json& accepted = accepted_call.AsObject()[0].second;
  if (dots_as_underscores) std::replace(name.begin(), name.end(), '.', '_');
  const auto& [called, arguments] = call.AsObject()[0];
  if (called != name) return "simple_function_checker:wrong_func_name";
  const Json* parameters = function.Find("parameters");
  const Json* properties = parameters != nullptr ? parameters->Find("properties") : nullptr;
  const Json* required = parameters != nullptr ? parameters->Find("required") : nullptr;
  if (required != nullptr && required->is_array()) {
    for (const Json& one : required->AsArray()) {
      if (one.is_string() && arguments.Find(one.AsString()) == nullptr) {
        return "simple_function_checker:missing_required";
      }
    }
  }
  for (const auto& [parameter, value] : arguments.AsObject()) {
    const Json* documented = properties != nullptr ? properties->Find(parameter) : nullptr;
    const Json* allowed = accepted.Find(parameter);
    if (documented == nullptr || allowed == nullptr || !allowed->is_array()) {
      return "simple_function_checker:unexpected_param";
    }
    if (Failure failure = CheckParameter(*documented, *allowed, value, language)) return failure;
  }
  for (const auto& [parameter, allowed] : accepted.AsObject()) {
    const bool optional = allowed.is_array() && Accepts(allowed, Json(""));
    if (arguments.Find(parameter) == nullptr && !optional) {
      return "simple_function_checker:missing_optional";
    }
  }
  return std::nullopt;
}

// [{"name": {...}}, ...]
bool IsCallList(const Json& calls) {
  if (!calls.is_array()) return false;
  return std::all_of(calls.AsArray().begin(), calls.AsArray().end(), [](const Json& call) {
    return call.is_object() && call.AsObject().size() == 1 && call.AsObject()[0].second.is_object();
  });
}

const Json* FunctionNamed(const Json& functions, const std::string& name) {
  for (const Json& function : functions.AsArray()) {
    const Json* own = function.Find("name");
    if (own != nullptr && *own == Json(name)) return &function;
  }
  return nullptr;
}

}  // namespace

Result<BfclVerdict> CheckBfclCalls(const std::string& category, const Json& functions,
                                   const Json& accepted, const Json& calls,
                                   bool dots_as_underscores) {
  if (!functions.is_array() || functions.AsArray().empty()) {
    return Error(ErrorCode::kInvalidArgument,
                 "functions: a list of documented functions is wanted");
  }
  if (!IsCallList(accepted) || accepted.AsArray().empty()) {
    return Error(ErrorCode::kInvalidArgument,
                 "accepted: a list of [{\"name\": {\"parameter\": [values]}}] is wanted");
  }
  auto failed = [](std::string type) { return BfclVerdict{false, std::move(type)}; };
  if (calls.is_null()) return failed("ast_decoder:decoder_failed");  // it could not be read
  if (!IsCallList(calls)) return failed("ast_decoder:decoder_wrong_output_format");
  const bool parallel = category.find("parallel") != std::string::npos;
  const bool multiple = !parallel && category.find("multiple") != std::string::npos;
  const Language language = category.find("javascript") != std::string::npos ? Language::kJavaScript
                            : category.find("java") != std::string::npos     ? Language::kJava
                                                                             : Language::kPython;
  const auto& expected = accepted.AsArray();
  const auto& given = calls.AsArray();
  if (!parallel) {
    if (given.size() != 1 || expected.size() != 1) {
      return failed(multiple ? "multiple_function_checker:wrong_count"
                             : "simple_function_checker:wrong_count");
    }
    const Json* function = multiple ? FunctionNamed(functions, expected[0].AsObject()[0].first)
                                    : &functions.AsArray()[0];
    if (function == nullptr) {
      return Error(ErrorCode::kInvalidArgument, "functions: the expected one is not documented");
    }
    const Failure failure =
        CheckOne(*function, expected[0], given[0], dots_as_underscores, language);
    return failure ? failed(*failure) : BfclVerdict{true, ""};
  }
  if (given.size() != expected.size()) {
    return failed("parallel_function_checker_no_order:wrong_count");
  }
  std::vector<bool> used(given.size(), false);
  for (const Json& wanted : expected) {
    const Json* function = FunctionNamed(functions, wanted.AsObject()[0].first);
    bool found = false;
    for (size_t i = 0; i < given.size() && !found && function != nullptr; ++i) {
      if (used[i] || CheckOne(*function, wanted, given[i], dots_as_underscores, language)) continue;
      used[i] = found = true;
    }
    if (!found) return failed("parallel_function_checker_no_order:cannot_find_match");
  }
  return BfclVerdict{true, ""};
}

}  // namespace hone
