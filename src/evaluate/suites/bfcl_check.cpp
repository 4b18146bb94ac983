// The rule is Python's, so values are compared as Python compares them: true equals 1, 1 equals
// 1.0, but types are told apart exactly where the rule looks at types.

#include "evaluate/suites/bfcl_check.h"

#include <algorithm>
#include <optional>

#include "base/utf8.h"
#include "evaluate/suites/foreign_values.h"
#include "evaluate/suites/python_calls.h"
#include "rewards/matching/plain_text.h"

namespace hone {
namespace {

using Failure = std::optional<std::string>;  // the error type; none: it passes

enum class PyType { kString, kInteger, kFloat, kBool, kList, kTuple, kDict, kBytes, kNone };

bool IsTuple(const Json& value) {
  return value.is_object() && value.AsObject().size() == 1 &&
         value.AsObject()[0].first == kPythonTuple && value.AsObject()[0].second.is_array();
}

PyType TypeOf(const Json& value) {
  switch (value.kind()) {
    case Json::Kind::kNull: return PyType::kNone;
    case Json::Kind::kBool: return PyType::kBool;
    case Json::Kind::kInteger:
    case Json::Kind::kBigInteger: return PyType::kInteger;
    case Json::Kind::kReal: return PyType::kFloat;
    case Json::Kind::kString: return PyType::kString;
    case Json::Kind::kArray: return PyType::kList;
    case Json::Kind::kObject:
      if (IsTuple(value)) return PyType::kTuple;
      return value.Find(kPythonBytes) != nullptr ? PyType::kBytes : PyType::kDict;
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

// Case does not matter, nor do these characters, nor which quotes.
std::string Without(std::string_view characters, std::string_view text) {
  std::string out;
  for (const char c : text) {
    if (characters.find(c) == std::string_view::npos) out += c == '\'' ? '"' : c;
  }
  return LowerCased(out);
}

std::string Normalised(const std::string& text) { return Without(" ,./-_*^", text); }

Json NormalisedValue(const Json& value) {
  return value.is_string() ? Json(Normalised(value.AsString())) : value;
}

// The elements with texts normalised. To Python a text is a list, too: of its characters.
Json NormalisedList(const Json& list) {
  Json::Array out;
  if (list.is_string()) {
    const std::string& text = list.AsString();
    for (size_t at = 0; at < text.size();) {
      const size_t begin = at;
      NextCodePoint(text, &at);
      out.emplace_back(Normalised(text.substr(begin, at - begin)));
    }
  } else if (list.is_array()) {
    for (const Json& value : list.AsArray()) out.push_back(NormalisedValue(value));
  }
  return out;
}

bool IsEmptyText(const Json& value) { return value.is_string() && value.AsString().empty(); }

bool Holds(const Json& list, const Json& value) {
  const auto& values = list.AsArray();
  return std::any_of(values.begin(), values.end(),
                     [&](const Json& one) { return PyEqual(one, value); });
}

// "" among the accepted values: it may be left out. Every text holds the empty one.
bool MayBeAbsent(const Json& accepted) {
  return accepted.is_string() || (accepted.is_array() && Holds(accepted, Json("")));
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
    if (PyEqual(NormalisedList(one), normalised)) return std::nullopt;
  }
  return "value_error:list/tuple";
}

// Against one accepted dictionary.
Failure CheckOneDict(const Json& value, const Json& accepted) {
  Failure failure;
  for (const auto& [key, given] : value.AsObject()) {
    const Json* allowed = accepted.Find(key);
    if (allowed == nullptr) {
      failure = "value_error:dict_key";
      break;
    }
    if (!Holds(NormalisedList(*allowed), NormalisedValue(given))) {
      failure = "value_error:dict_value";
      break;
    }
  }
  // A key that is missing weighs more than what was found before.
  for (const auto& [key, allowed] : accepted.AsObject()) {
    if (value.Find(key) == nullptr && !MayBeAbsent(allowed)) return "value_error:dict_key";
  }
  return failure;
}

// What the last one says counts.
Failure CheckDict(const Json& value, const Json& accepted) {
  Failure failure = "dict_checker:unclear";
  for (const Json& one : accepted.AsArray()) {
    if (!one.is_object()) continue;
    failure = CheckOneDict(value, one);
    if (!failure) return failure;
  }
  return failure;
}

Failure CheckListOfDicts(const Json& value, const Json& accepted) {
  Failure failure = "list_dict_checker:unclear";
  const Json::Array& given = value.AsArray();
  for (const Json& one : accepted.AsArray()) {
    const Json list = one.is_array() ? one : NormalisedList(one);  // "" is an empty list
    if (list.AsArray().size() != given.size()) {
      failure = "value_error:list_dict_count";
      continue;
    }
    failure.reset();
    for (size_t i = 0; i < given.size() && !failure; ++i) {
      failure = TypeOf(given[i]) == PyType::kDict
                    ? CheckDict(given[i], Json(Json::Array{list.AsArray()[i]}))
                    : Failure("value_error:list_dict_count");
    }
    if (!failure) return failure;
  }
  return failure;
}

// Some accepted list must allow every element's type; what is no list allows everything.
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

std::string TypeIn(const Json* schema) {
  const Json* type = schema != nullptr ? schema->Find("type") : nullptr;
  return type != nullptr && type->is_string() ? type->AsString() : std::string();
}

Failure CheckParameter(const Json& documented, const Json& accepted, Json value,
                       Language language) {
  std::string type = TypeIn(&documented), element = TypeIn(documented.Find("items"));
  const bool listed = type == "array" || type == "tuple" || type == "Array" || type == "ArrayList";
  if (language != Language::kPython) {
    const bool java = language == Language::kJava;
    if (!value.is_string()) return java ? "type_error:java" : "type_error:js";
    value = java ? FromJava(value.AsString(), type, listed ? element : "")
                 : FromJavaScript(value.AsString(), type, listed ? element : "");
    type = java ? PythonNameOfJava(type) : PythonNameOfJavaScript(type);
    element = java ? PythonNameOfJava(element) : PythonNameOfJavaScript(element);
  } else if (type == "tuple" && IsTuple(value)) {
    value = Json(Json::Array(value.AsObject()[0].second.AsArray()));
  } else if (type == "float" && TypeOf(value) == PyType::kInteger) {
    value = Json(value.AsDouble());
  }
  const std::optional<PyType> wanted = DocumentedType(type);
  const std::optional<PyType> inner = listed ? DocumentedType(element) : std::nullopt;
  const Json* first = FirstNotEmpty(accepted);
  if (TypeOf(value) != wanted) {
    if (first == nullptr || TypeOf(value) != TypeOf(*first)) return "type_error:simple";
  } else if (inner && !ElementTypesFit(value, *inner, accepted)) {
    return first == nullptr || TypeOf(*first) != TypeOf(value) ? "type_error:simple"
                                                               : "type_error:nested";
  }
  // Where the accepted values are of another type than the documented one, they are the names of
  // variables, and compared as they are.
  const bool variable = first != nullptr && TypeOf(*first) != wanted;
  if (!variable && wanted == PyType::kDict) return CheckDict(value, accepted);
  if (!variable && wanted == PyType::kList && inner == PyType::kDict) {
    return CheckListOfDicts(value, accepted);
  }
  if (!variable && wanted == PyType::kString) return CheckString(value.AsString(), accepted);
  if (!variable && wanted == PyType::kList) return CheckList(value, accepted);
  return Holds(accepted, value) ? Failure() : Failure("value_error:others");
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
    if (arguments.Find(parameter) == nullptr && !MayBeAbsent(allowed)) {
      return "simple_function_checker:missing_optional";
    }
  }
  return std::nullopt;
}

// [{"name": {...}}, ...]
bool IsCallList(const Json& calls) {
  if (!calls.is_array()) return false;
  return std::all_of(calls.AsArray().begin(), calls.AsArray().end(), [](const Json& call) {
    return call.is_object() && call.AsObject().size() == 1 &&
           TypeOf(call.AsObject()[0].second) == PyType::kDict;
  });
}

const Json* FunctionNamed(const Json& functions, const std::string& name) {
  for (const Json& function : functions.AsArray()) {
    const Json* own = function.Find("name");
    if (own != nullptr && *own == Json(name)) return &function;
  }
  return nullptr;
}

BfclVerdict Failed(std::string type) { return {false, std::move(type)}; }

// Greedy: an expected call takes the first call that passes and is not taken.
BfclVerdict CheckParallel(const Json& functions, const Json::Array& expected,
                          const Json::Array& given, bool dots_as_underscores, Language language) {
  if (given.size() != expected.size()) {
    return Failed("parallel_function_checker_no_order:wrong_count");
  }
  std::vector<bool> used(given.size(), false);
  for (const Json& wanted : expected) {
    const Json* function = FunctionNamed(functions, wanted.AsObject()[0].first);
    bool found = false;
    for (size_t i = 0; i < given.size() && !found && function != nullptr; ++i) {
      if (used[i] || CheckOne(*function, wanted, given[i], dots_as_underscores, language)) continue;
      used[i] = found = true;
    }
    if (!found) return Failed("parallel_function_checker_no_order:cannot_find_match");
  }
  return {true, ""};
}

}  // namespace

Json DecodeBfclOutput(const Json& output) {
  if (output.is_string()) {
    Result<Json> calls = PythonCallsFromText(output.AsString());
    return calls.ok() ? *std::move(calls) : Json();
  }
  if (!output.is_array()) return Json();
  Json::Array calls;
  for (const Json& one : output.AsArray()) {
    if (!one.is_object() || one.AsObject().empty()) return Json();
    const auto& [name, written] = one.AsObject()[0];
    Json arguments = written;
    if (written.is_string()) {
      Result<Json> parsed = ParseJson(written.AsString());
      if (!parsed.ok()) return Json();
      arguments = *std::move(parsed);
    }
    calls.push_back(Json::Of({{name, std::move(arguments)}}));
  }
  return calls;
}

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
  if (calls.is_null()) return Failed("ast_decoder:decoder_failed");  // it could not be read
  if (!IsCallList(calls)) return Failed("ast_decoder:decoder_wrong_output_format");
  const bool parallel = category.find("parallel") != std::string::npos;
  const bool multiple = !parallel && category.find("multiple") != std::string::npos;
  const Language language = category.find("javascript") != std::string::npos ? Language::kJavaScript
                            : category.find("java") != std::string::npos     ? Language::kJava
                                                                             : Language::kPython;
  const auto& expected = accepted.AsArray();
  const auto& given = calls.AsArray();
  if (parallel) return CheckParallel(functions, expected, given, dots_as_underscores, language);
  const Json* function = multiple ? FunctionNamed(functions, expected[0].AsObject()[0].first)
                                  : &functions.AsArray()[0];
  if (function == nullptr) {
    return Error(ErrorCode::kInvalidArgument, "functions: the expected one is not documented");
  }
  if (multiple ? given.size() != expected.size() : given.size() != 1) {
    return Failed(multiple ? "multiple_function_checker:wrong_count"
                           : "simple_function_checker:wrong_count");
  }
  const Failure failure = CheckOne(*function, expected[0], given[0], dots_as_underscores, language);
  return failure ? Failed(*failure) : BfclVerdict{true, ""};
}

BfclVerdict CheckBfclRelevance(bool wanted, const Json& calls) {
  const bool called = IsCallList(calls) && !calls.AsArray().empty();
  if (called == wanted) return {true, ""};
  return Failed(wanted ? "relevance_error:decoder_failed" : "irrelevance_error:decoder_success");
}

BfclVerdict CheckBfclAnswer(std::string_view message, std::span<const std::string> accepted) {
  constexpr std::string_view kIgnored = ",./-_*^()";
  const std::string said = Without(kIgnored, message);
  for (const std::string& answer : accepted) {
    if (HoldsWholeWords(said, Without(kIgnored, answer))) return {true, ""};
  }
  return Failed("agentic:answer_not_found");
}

}  // namespace hone
