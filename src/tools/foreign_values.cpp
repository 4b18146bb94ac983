#include "tools/foreign_values.h"

#include <cstdlib>
#include <map>
#include <regex>
#include <vector>

#include "base/strings.h"

namespace hone {
namespace {

const std::regex kWhole("-?[0-9]+"), kLong("-?[0-9]+[lL]"), kBigint("-?[0-9]+n");
const std::regex kDecimal("-?[0-9]+(\\.[0-9]*)?([eE][-+]?[0-9]+)?");
const std::regex kJavaFloat("-?[0-9]+(\\.[0-9]*)?([eE][-+]?[0-9]+)?[fF]");
const std::regex kAsList(
    "new\\s+(?:ArrayList|Queue|Stack|LinkedList|HashSet)\\s*<[^>]*>\\s*\\(\\s*"
    "(?:Arrays\\.asList|List\\.of)\\s*\\(([\\s\\S]*)\\)\\s*\\)");
const std::regex kAddList("new\\s+\\w+\\s*<[^>]*>\\s*\\(\\s*\\)\\s*\\{\\{([\\s\\S]*)\\}\\}");
const std::regex kAdd("(?:add|push)\\s*\\(\\s*([^)]*?)\\s*\\)");
const std::regex kArray("new\\s+\\w+\\s*\\[\\s*\\]\\s*\\{([\\s\\S]*)\\}");
const std::regex kPut("put\\s*\\(\\s*\"([^\"]*)\"\\s*,\\s*([^)]*?)\\s*\\)");

// Longer ones stay texts: matching by std::regex takes stack for every character.
constexpr size_t kLongest = 4000;

bool Is(const std::string& text, const std::regex& form) { return std::regex_match(text, form); }

Json Integer(const std::string& digits) {
  const auto parsed = ParseJson(digits);
  return parsed.ok() ? *parsed : Json(digits);
}

std::string WithoutQuotes(const std::string& text) {
  const bool quoted =
      text.size() >= 2 && (text[0] == '"' || text[0] == '\'') && text.back() == text[0];
  return quoted ? text.substr(1, text.size() - 2) : text;
}

// Cut at commas outside of quotes and brackets.
std::vector<std::string> Elements(const std::string& text) {
  std::vector<std::string> out;
  std::string current;
  char quote = 0;
  int depth = 0;
  for (const char c : text) {
    if (quote != 0) {
      if (c == quote) quote = 0;
    } else if (c == '"' || c == '\'') {
      quote = c;
    } else if (c == '(' || c == '[' || c == '{') {
      ++depth;
    } else if (c == ')' || c == ']' || c == '}') {
      --depth;
    } else if (c == ',' && depth == 0) {
      out.emplace_back(Trim(current));
      current.clear();
      continue;
    }
    current += c;
  }
  if (!Trim(current).empty()) out.emplace_back(Trim(current));
  return out;
}

using Convert = Json (*)(const std::string&, const std::string&, const std::string&);

Json List(const std::string& body, const std::string& element, Convert convert) {
  Json::Array list;
  for (const std::string& one : Elements(body)) {
    const Json value = convert(one, element, "");
    list.push_back(value.is_string() ? Json(WithoutQuotes(one)) : value);
  }
  return list;
}

// A value whose type is not documented: as it looks.
Json Guessed(const std::string& text) {
  if (text == "true" || text == "false") return Json(text == "true");
  if (Is(text, kWhole)) return Integer(text);
  if (Is(text, kDecimal)) return Json(std::strtod(text.c_str(), nullptr));
  return Json(WithoutQuotes(text));
}

}  // namespace

std::string PythonNameOfJava(const std::string& type) {
  static const std::map<std::string, std::string> kNames = {
      {"byte", "integer"},    {"short", "integer"}, {"integer", "integer"}, {"long", "integer"},
      {"float", "float"},     {"double", "float"},  {"boolean", "boolean"}, {"Array", "array"},
      {"ArrayList", "array"}, {"Queue", "array"},   {"Stack", "array"},     {"Set", "array"},
      {"HashMap", "dict"},    {"Hashtable", "dict"}};
  const auto found = kNames.find(type);
  return found == kNames.end() ? "string" : found->second;
}

std::string PythonNameOfJavaScript(const std::string& type) {
  static const std::map<std::string, std::string> kNames = {
      {"integer", "integer"}, {"float", "float"}, {"Bigint", "integer"}, {"Boolean", "boolean"},
      {"boolean", "boolean"}, {"array", "array"}, {"dict", "dict"}};
  const auto found = kNames.find(type);
  return found == kNames.end() ? "string" : found->second;
}

Json FromJava(const std::string& text, const std::string& type, const std::string& element) {
  if (text.size() > kLongest) return Json(text);
  if ((type == "integer" || type == "byte" || type == "short") && Is(text, kWhole)) {
    return Integer(text);
  }
  if (type == "long" && Is(text, kLong)) return Integer(text.substr(0, text.size() - 1));
  if (type == "float" && Is(text, kJavaFloat)) return Json(std::strtod(text.c_str(), nullptr));
  if (type == "double" && Is(text, kDecimal)) return Json(std::strtod(text.c_str(), nullptr));
  if (type == "boolean" && (text == "true" || text == "false")) return Json(text == "true");
  const std::string python = PythonNameOfJava(type);
  std::smatch match;
  if (python == "array") {
    if (std::regex_match(text, match, kAsList)) return List(match[1], element, &FromJava);
    if (std::regex_match(text, match, kArray)) {  // whose texts keep their quotes there
      Json::Array list;
      for (const std::string& one : Elements(match[1])) list.push_back(FromJava(one, element, ""));
      return list;
    }
    if (std::regex_match(text, match, kAddList)) {
      Json::Array list;
      const std::string body = match[1];
      for (std::sregex_iterator at(body.begin(), body.end(), kAdd), end; at != end; ++at) {
        const std::string one = (*at)[1];
        const Json value = FromJava(one, element, "");
        list.push_back(value.is_string() ? Json(WithoutQuotes(one)) : value);
      }
      return list;
    }
  }
  if (python == "dict" && std::regex_match(text, match, kAddList)) {
    Json map = Json::Of({});
    const std::string body = match[1];
    for (std::sregex_iterator at(body.begin(), body.end(), kPut), end; at != end; ++at) {
      map.Set((*at)[1].str(), Guessed((*at)[2]));
    }
    return map;
  }
  return Json(text);
}

Json FromJavaScript(const std::string& text, const std::string& type, const std::string& element) {
  if (text.size() > kLongest) return Json(text);
  const std::string python = PythonNameOfJavaScript(type);
  if (type == "Bigint" && Is(text, kBigint)) return Integer(text.substr(0, text.size() - 1));
  if (type == "integer" && Is(text, kWhole)) return Integer(text);
  if (type == "float" && Is(text, kDecimal)) return Json(std::strtod(text.c_str(), nullptr));
  if (python == "boolean" && (text == "true" || text == "false")) return Json(text == "true");
  if (type == "String") return Json(WithoutQuotes(text));
  const bool bracketed = text.size() >= 2;
  if (python == "array" && bracketed && text[0] == '[' && text.back() == ']') {
    return List(text.substr(1, text.size() - 2), element, &FromJavaScript);
  }
  if (python == "dict" && bracketed && text[0] == '{' && text.back() == '}') {
    Json map = Json::Of({});
    for (const std::string& member : Elements(text.substr(1, text.size() - 2))) {
      const size_t colon = member.find(':');
      if (colon == std::string::npos) return Json(text);
      map.Set(WithoutQuotes(std::string(Trim(member.substr(0, colon)))),
              Guessed(std::string(Trim(member.substr(colon + 1)))));
    }
    return map;
  }
  return Json(text);
}

}  // namespace hone
