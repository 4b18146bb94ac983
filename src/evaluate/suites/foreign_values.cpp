// The patterns are searched for, so text around them does not matter; and a list is cut at every
// comma, also at those inside quotes. That is the leaderboard's rule, not a parser of Java.

#include "evaluate/suites/foreign_values.h"

#include <cctype>
#include <cstdlib>
#include <map>
#include <optional>
#include <regex>
#include <vector>

#include "base/strings.h"

namespace hone {
namespace {

constexpr std::string_view kPythonBlanks = " \t\r\n\f\v";

// Longer ones stay texts: matching by std::regex takes stack for every character.
constexpr size_t kLongest = 4000;

// Compiled once, and shared: matching does not change them.
struct Forms {
  std::regex whole{"-?[0-9]+"}, java_long{"-?[0-9]+[lL]"}, bigint{"-?[0-9]+n"};
  std::regex decimal{"-?[0-9]+(\\.[0-9]+)?"};
  std::regex java_double{"-?[0-9]+(\\.[0-9]+)?([eE][+-]?[0-9]+)?"};
  std::regex java_float{"-?[0-9]+(\\.[0-9]+)?([eE][+-]?[0-9]+)?[fF]"};
  std::regex as_list{R"(new\s+ArrayList<\w*>\(Arrays\.asList\(([^\n]+?)\)\))"};
  std::regex added_list{R"(new\s+ArrayList<\w*>\(\)\s*\{\{\s*([\s\S]+?)\s*\}\})"};
  std::regex add{R"(add\(([^\n]+?)\))"};
  std::regex empty_list{R"(new\s+ArrayList<\w*>\(\))"};
  std::regex array{R"(new\s+\w+\[\]\s*\{([^\n]*?)\})"};
  std::regex map{R"(new\s+HashMap<[\s\S]*?>\s*\(\)\s*\{\s*\{?\s*([\s\S]*?)\s*\}?\s*\})"};
  std::regex put{"put\\(\"([^\\n]*?)\",\\s*([^\\n]*?)\\)"};
  std::regex empty_map{R"(new\s+HashMap<[^\n]*?>\s*\(\))"};
  std::regex new_array{R"(new\s+Array\()"};
  std::regex bracketed{R"(\[([^\n]*?)\])"};
  std::regex js_array{R"(\[([^\n]*?)\]|new\s+Array\(([^\n]*?)\))"};
  std::regex js_object{R"(\{([^\n]*?)\})"};
  std::regex js_pair{R"(([^:]+):\s*([^\n]*?)(?:,\s*(?=[^,]+:)|$))"};
};
const Forms& TheForms() {
  static const Forms forms;
  return forms;
}

bool Is(const std::string& text, const std::regex& form) { return std::regex_match(text, form); }

bool Begins(const std::string& text, const std::regex& form, std::smatch* match) {
  return std::regex_search(text, *match, form, std::regex_constants::match_continuous);
}

std::string Stripped(std::string_view text) { return std::string(Trim(text, kPythonBlanks)); }

// Python's text[1:-1].
std::string Inside(const std::string& text) {
  return text.size() < 2 ? "" : text.substr(1, text.size() - 2);
}

bool QuotedBy(const std::string& text, char quote) {
  return !text.empty() && text.front() == quote && text.back() == quote;
}

std::vector<std::string> AtCommas(const std::string& text) {
  std::vector<std::string> parts(1);
  for (const char c : text) {
    if (c == ',') {
      parts.emplace_back();
    } else {
      parts.back() += c;
    }
  }
  for (std::string& part : parts) part = Stripped(part);
  return parts;
}

// Digits, perhaps with a sign, as Python's int() takes them.
Json Integer(std::string digits) {
  bool negative = false;
  if (digits[0] == '-' || digits[0] == '+') {
    negative = digits[0] == '-';
    digits.erase(0, 1);
  }
  digits.erase(0, std::min(digits.find_first_not_of('0'), digits.size() - 1));
  const auto parsed = ParseJson((negative && digits != "0" ? "-" : "") + digits);
  return parsed.ok() ? *parsed : Json(digits);
}

// A number as Python's int() or float() would read it. Underscores are not read.
std::optional<Json> NumberOf(const std::string& text) {
  static const std::regex whole("[+-]?[0-9]+");
  static const std::regex real("[+-]?([0-9]+\\.?[0-9]*|\\.[0-9]+)([eE][+-]?[0-9]+)?");
  if (Is(text, whole)) return Integer(text);
  if (Is(text, real)) return Json(std::strtod(text.c_str(), nullptr));
  return std::nullopt;
}

// --- Java
// ----------------------------------------------------------------------------------------

// A value whose type is not documented: as it looks.
Json JavaAsItLooks(const std::string& text) {
  const Forms& forms = TheForms();
  if (text == "true" || text == "false") return Json(text == "true");
  if (QuotedBy(text, '"')) return Json(Inside(text));
  if (Is(text, forms.java_long)) return Integer(text.substr(0, text.size() - 1));
  if (Is(text, forms.java_float)) return Json(std::strtod(text.c_str(), nullptr));
  return NumberOf(text).value_or(Json(text));
}

Json JavaElement(const std::string& text, const std::string& element) {
  if (element == "char" || element == "String") return Json(Inside(text));
  return element.empty() ? JavaAsItLooks(text) : FromJava(text, element, "");
}

Json JavaList(const std::string& text, const std::string& element) {
  const Forms& forms = TheForms();
  std::smatch match;
  if (std::regex_search(text, match, forms.as_list)) {
    Json::Array list;
    for (const std::string& one : AtCommas(match[1])) list.push_back(JavaElement(one, element));
    return list;
  }
  if (std::regex_search(text, match, forms.added_list)) {
    Json::Array list;
    const std::string body = match[1];
    for (std::sregex_iterator at(body.begin(), body.end(), forms.add), end; at != end; ++at) {
      list.push_back(JavaElement(Stripped((*at)[1].str()), element));
    }
    return list;
  }
  if (std::regex_search(text, forms.empty_list)) return Json::Array();
  return Json(text);
}

Json JavaArray(const std::string& text, const std::string& element) {
  std::smatch match;
  if (!std::regex_search(text, match, TheForms().array)) return Json(text);
  Json::Array list;
  for (const std::string& one : AtCommas(match[1])) {
    if (one.empty()) continue;
    // Texts keep their quotes here.
    list.push_back(element.empty() ? JavaAsItLooks(one) : FromJava(one, element, ""));
  }
  return list;
}

Json JavaMap(const std::string& text) {
  const Forms& forms = TheForms();
  std::smatch match;
  if (std::regex_search(text, match, forms.map)) {
    Json map = Json::Of({});
    const std::string body = match[1];
    for (std::sregex_iterator at(body.begin(), body.end(), forms.put), end; at != end; ++at) {
      map.Set((*at)[1].str(), JavaAsItLooks(Stripped((*at)[2].str())));
    }
    return map;
  }
  if (std::regex_search(text, forms.empty_map)) return Json::Of({});
  return Json(text);
}

// --- JavaScript
// ----------------------------------------------------------------------------------

Json JavaScriptAsItLooks(const std::string& untrimmed) {
  const std::string text = Stripped(untrimmed);
  if (text == "true" || text == "false") return Json(text == "true");
  if (QuotedBy(text, '"') || QuotedBy(text, '\'')) return Json(Inside(text));
  return NumberOf(text).value_or(Json(text));
}

Json ArrayOfArrays(const std::string& text) {
  Json::Array rows;
  const std::regex& bracketed = TheForms().bracketed;
  for (std::sregex_iterator at(text.begin(), text.end(), bracketed), end; at != end; ++at) {
    std::string inside = Stripped((*at)[1].str());
    if (rows.empty() && inside.starts_with('[')) inside.erase(0, 1);  // the outer bracket's
    Json::Array row;
    for (const std::string& one : AtCommas(inside)) row.push_back(JavaScriptAsItLooks(one));
    rows.emplace_back(std::move(row));
  }
  return rows;
}

// The array of arrays that a text begins with: rows in brackets, divided by commas, in brackets or
// in "new Array( )". A row has no line break and ends where a comma and another row or the closing
// bracket follow. By hand: as a regular expression it takes twice as long with every row.
std::optional<std::string> LeadingArrayOfArrays(const std::string& text) {
  std::smatch match;
  const bool constructed = Begins(text, TheForms().new_array, &match);
  if (!constructed && !text.starts_with('[')) return std::nullopt;
  const char closing = constructed ? ')' : ']';
  const auto behind_blanks = [&](size_t at) {
    while (at < text.size() && std::isspace(static_cast<unsigned char>(text[at]))) ++at;
    return at;
  };
  const auto is = [&](size_t at, char wanted) { return at < text.size() && text[at] == wanted; };
  size_t at = behind_blanks(constructed ? static_cast<size_t>(match.length()) : 1);
  if (!is(at, '[')) return std::nullopt;
  for (++at; at < text.size() && text[at] != '\n'; ++at) {
    if (text[at] != ']') continue;
    const size_t next = behind_blanks(at + 1);
    if (is(next, closing)) return text.substr(0, next + 1);
    if (!is(next, ',')) continue;
    if (const size_t row = behind_blanks(next + 1); is(row, '[')) at = row;
  }
  return std::nullopt;
}

Json JavaScriptArray(const std::string& text, const std::string& element) {
  const Forms& forms = TheForms();
  std::smatch match;
  if (const auto rows = LeadingArrayOfArrays(text)) return ArrayOfArrays(*rows);
  if (!Begins(text, forms.js_array, &match)) return Json(text);
  const std::string body = Stripped((match[1].matched ? match[1] : match[2]).str());
  Json::Array list;
  if (body.empty()) return list;
  for (const std::string& one : AtCommas(body)) {
    list.push_back(element.empty() ? JavaScriptAsItLooks(one) : FromJavaScript(one, element, ""));
  }
  return list;
}

Json JavaScriptObject(const std::string& text) {
  const Forms& forms = TheForms();
  if (text == "{}") return Json::Of({});
  std::smatch match;
  if (!Begins(text, forms.js_object, &match)) return Json(text);
  Json map = Json::Of({});
  const std::string body = match[1];
  for (std::sregex_iterator at(body.begin(), body.end(), forms.js_pair), end; at != end; ++at) {
    const std::string key(Trim(Stripped((*at)[1].str()), "'\""));
    const std::string value = Stripped((*at)[2].str());
    if (value.starts_with('[') && value.ends_with(']')) {
      map.Set(key, JavaScriptArray(value, ""));
    } else if (value.starts_with('{') && value.ends_with('}')) {
      map.Set(key, JavaScriptObject(value));
    } else {
      map.Set(key, JavaScriptAsItLooks(std::string(Trim(value, "'\""))));
    }
  }
  return map;
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
  const Forms& forms = TheForms();
  if (type == "ArrayList") return JavaList(text, element);
  if (type == "Array") return JavaArray(text, element);
  if (type == "HashMap") return JavaMap(text);
  if (type == "boolean" && (text == "true" || text == "false")) return Json(text == "true");
  if ((type == "integer" || type == "byte" || type == "short") && Is(text, forms.whole)) {
    return Integer(text);
  }
  if (type == "long" && Is(text, forms.java_long)) return Integer(text.substr(0, text.size() - 1));
  if ((type == "float" && Is(text, forms.java_float)) ||
      (type == "double" && Is(text, forms.java_double))) {
    return Json(std::strtod(text.c_str(), nullptr));
  }
  return Json(text);
}

Json FromJavaScript(const std::string& text, const std::string& type, const std::string& element) {
  if (text.size() > kLongest) return Json(text);
  const Forms& forms = TheForms();
  if (type == "array") return JavaScriptArray(Stripped(text), element);
  if (type == "dict") return JavaScriptObject(Stripped(text));
  if (type == "String" && (QuotedBy(text, '"') || QuotedBy(text, '\''))) return Json(Inside(text));
  if (type == "Bigint" && Is(text, forms.bigint)) return Integer(text.substr(0, text.size() - 1));
  if (type == "integer" && Is(text, forms.whole)) return Integer(text);
  if (type == "float" && Is(text, forms.decimal)) return Json(std::strtod(text.c_str(), nullptr));
  if ((type == "Boolean" || type == "boolean") && (text == "true" || text == "false")) {
    return Json(text == "true");
  }
  return Json(text);
}

}  // namespace hone
