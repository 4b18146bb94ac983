// The settings that stand in the name of a `template` dialect.

#include <algorithm>
#include <charconv>
#include <ctime>

#include <fmt/format.h>

#include "text/template_dialect.h"

namespace hone {
namespace {

constexpr std::string_view kArgument = "kwargs.";

// "2025-01-15" in seconds since 1970.
std::optional<int64_t> DateOf(std::string_view text) {
  std::tm date{};
  const auto number = [&](size_t at, size_t length, int* value) {
    const std::string_view digits = text.substr(at, length);
    const auto read = std::from_chars(digits.data(), digits.data() + digits.size(), *value);
    return read.ec == std::errc() && read.ptr == digits.data() + digits.size();
  };
  if (text.size() != 10 || text[4] != '-' || text[7] != '-' || !number(0, 4, &date.tm_year) ||
      !number(5, 2, &date.tm_mon) || !number(8, 2, &date.tm_mday)) {
    return std::nullopt;
  }
  date.tm_year -= 1900;
  date.tm_mon -= 1;
  if (date.tm_mon < 0 || date.tm_mon > 11 || date.tm_mday < 1 || date.tm_mday > 31) {
    return std::nullopt;
  }
  return static_cast<int64_t>(timegm(&date));
}

}  // namespace

std::string DialectIn(std::string_view name, const std::string& folder) {
  constexpr std::string_view kName = "template";
  const bool own = name == kName || name.starts_with("template?");
  if (!own || folder.empty()) return std::string(name);
  return fmt::format("{}:{}{}", kName, folder, name.substr(kName.size()));
}

Result<std::unique_ptr<Dialect>> NewTemplateDialect(std::string_view name) {
  const auto bad = [&](std::string_view problem) {
    return Error(ErrorCode::kInvalidArgument, fmt::format("the dialect \"{}\": {}", name, problem));
  };
  const size_t question = name.find('?');
  std::string_view path = name.substr(0, question);
  path.remove_prefix(std::min(path.size(), std::string_view("template:").size()));
  if (path.empty()) {
    return bad("it is the template of a model: say template:FOLDER, or name the model's folder");
  }
  TemplateOptions settings;
  settings.dialect = name;
  for (std::string_view rest = question == name.npos ? "" : name.substr(question + 1);
       !rest.empty();) {
    const size_t end = std::min(rest.find('&'), rest.size());
    const std::string_view setting = rest.substr(0, end);
    rest.remove_prefix(std::min(end + 1, rest.size()));
    const size_t equals = std::min(setting.find('='), setting.size());
    const std::string_view key = setting.substr(0, equals);
    const std::string_view value = setting.substr(std::min(equals + 1, setting.size()));
    if (key == "calls") {
      settings.calls = CallFormatOf(value);
      if (!settings.calls) {
        return bad(fmt::format("calls is one of {}", fmt::join(CallFormatNames(), ", ")));
      }
    } else if (key == "name") {
      settings.name = value;
    } else if (key == "date") {
      const std::optional<int64_t> date = DateOf(value);
      if (!date) return bad("date is a day, such as 2025-01-15");
      settings.date = *date;
    } else if (key.starts_with(kArgument) && key.size() > kArgument.size()) {
      const std::string variable(key.substr(kArgument.size()));
      if (IsOfConversation(variable)) {
        return bad(fmt::format("{} is of the conversation, and no argument", variable));
      }
      const Result<Json> json = ParseJson(value);
      settings.arguments.emplace_back(variable, json.ok() ? *json : Json(std::string(value)));
      if (variable == "enable_thinking" && !settings.arguments.back().second.is_bool()) {
        return bad("enable_thinking is true or false");
      }
    } else {
      return bad("behind the question mark stand calls, name, date and kwargs.NAME");
    }
  }
  HONE_ASSIGN_OR_RETURN(ModelTemplate model, LoadModelTemplate(std::string(path)));
  return NewTemplateDialect(std::move(model), std::move(settings));
}

}  // namespace hone
