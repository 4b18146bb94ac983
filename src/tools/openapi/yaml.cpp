#include "tools/openapi/yaml.h"

#include <cctype>
#include <set>
#include <string>

#include <fmt/format.h>
#include <yaml-cpp/yaml.h>

#include "base/utf8.h"

namespace hone {
namespace {

constexpr int kDeepestYaml = 100;
constexpr int64_t kMaxValues = 1000000;

Error At(const YAML::Mark& mark, std::string_view problem) {
  return Error(ErrorCode::kParse, fmt::format("line {}: {}", mark.line + 1, problem));
}

class YamlReader {
 public:
  Result<Json> Read(const YAML::Node& node, int depth) {
    if (depth > kDeepestYaml) return At(node.Mark(), "nested too deeply");
    if (++values_ > kMaxValues) return At(node.Mark(), "too many values");
    switch (node.Type()) {
      case YAML::NodeType::Scalar: return Scalar(node);
      case YAML::NodeType::Sequence: {
        Json::Array array;
        for (const YAML::Node& element : node) {
          HONE_ASSIGN_OR_RETURN(Json value, Read(element, depth + 1));
          array.push_back(std::move(value));
        }
        return Json(std::move(array));
      }
      case YAML::NodeType::Map: return Map(node, depth);
      default: return Json();
    }
  }

 private:
  Result<Json> Map(const YAML::Node& node, int depth) {
    Json::Object object;
    std::set<std::string> keys;
    for (const auto& member : node) {
      if (!member.first.IsScalar()) return At(node.Mark(), "a key must be plain text");
      const std::string key = member.first.Scalar();
      if (!keys.insert(key).second) {
        return At(member.first.Mark(), fmt::format("the key \"{}\" is there twice", key));
      }
      HONE_ASSIGN_OR_RETURN(Json value, Read(member.second, depth + 1));
      object.emplace_back(key, std::move(value));
    }
    return Json(std::move(object));
  }

  static Result<Json> Scalar(const YAML::Node& node) {
    const std::string& text = node.Scalar();
    // "!" marks what was quoted.
    if (node.Tag() == "!") return Json(text);
    if (text == "null" || text == "~" || text == "Null" || text == "NULL" || text.empty()) {
      return Json();
    }
    if (text == "true" || text == "True" || text == "TRUE") return Json(true);
    if (text == "false" || text == "False" || text == "FALSE") return Json(false);
    if (text[0] == '-' || std::isdigit(static_cast<unsigned char>(text[0]))) {
      if (Result<Json> number = ParseJson(text); number.ok()) return number;
    }
    return Json(text);
  }

  int64_t values_ = 0;
};

}  // namespace

Result<Json> ParseYaml(std::string_view text) {
  if (!IsUtf8(text)) return Error(ErrorCode::kParse, "not UTF-8");
  try {  // the library's way of saying what is wrong
    return YamlReader().Read(YAML::Load(std::string(text)), 0);
  } catch (const YAML::Exception& problem) {
    return At(problem.mark, problem.msg);
  }
}

}  // namespace hone
