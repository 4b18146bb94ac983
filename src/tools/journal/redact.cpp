#include "tools/journal/redact.h"

#include <algorithm>
#include <cstdlib>

#include <fmt/format.h>

#include "base/strings.h"
#include "base/utf8.h"

namespace hone {
namespace {

constexpr size_t kShortestSecret = 4;
// JSON inside strings of JSON is looked into so deep; deeper it is plain text.
constexpr int kDeepestNesting = 8;

std::string Mark(std::string_view rule) { return fmt::format("[redacted:{}]", rule); }

// "X-Api-Key" and "x_api_key" are one key.
std::string Reduced(std::string_view key) {
  std::string reduced;
  for (const char c : key) {
    if (c == '-' || c == '_' || c == '.' || c == ' ') continue;
    reduced += c >= 'A' && c <= 'Z' ? static_cast<char>(c - 'A' + 'a') : c;
  }
  return reduced;
}

bool IsNameCharacter(char c) {
  return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || c == '_' ||
         c == '-' || c == '.';
}

// Just behind the string that begins with the quote at `begin`; the end when it is not closed.
size_t EndOfString(std::string_view text, size_t begin) {
  for (size_t i = begin + 1; i < text.size(); ++i) {
    if (text[i] == '\\') {
      ++i;
    } else if (text[i] == '"') {
      return i + 1;
    }
  }
  return text.size();
}

// Just behind the JSON value that begins at `begin`, as far as its brackets tell.
size_t EndOfValue(std::string_view text, size_t begin) {
  int open = 0;
  for (size_t i = begin; i < text.size();) {
    const char c = text[i];
    if (c == '"') {
      i = EndOfString(text, i);
      if (open == 0) return i;
      continue;
    }
    if (c == '{' || c == '[') ++open;
    if (c == '}' || c == ']') --open;
    if (open < 0 || (open == 0 && std::string_view(", \t\r\n").find(c) != std::string_view::npos)) {
      return i;
    }
    ++i;
    if (open == 0 && (c == '}' || c == ']')) return i;
  }
  return text.size();
}

// A name in a text that a value follows, be it JSON ("name": value) or a query (?name=value).
struct Named {
  std::string_view name;
  size_t value = 0;  // where it begins
  bool json = false;
};

std::optional<Named> NameAt(std::string_view text, size_t at) {
  constexpr size_t kLongestName = 100;  // so that the search stays linear
  const std::string_view near = text.substr(at, kLongestName);
  if (text[at] == '"') {
    const size_t closing = near.find('"', 1);
    if (closing == std::string_view::npos) return std::nullopt;
    size_t i = text.find_first_not_of(kBlanks, at + closing + 1);
    if (i == std::string_view::npos || text[i] != ':') return std::nullopt;
    i = text.find_first_not_of(kBlanks, i + 1);
    if (i == std::string_view::npos) return std::nullopt;
    return Named{near.substr(1, closing - 1), i, true};
  }
  size_t end = 1;
  while (end < near.size() && IsNameCharacter(near[end])) ++end;
  if (end == near.size() || near[end] != '=') return std::nullopt;
  return Named{near.substr(1, end - 1), at + end + 1, false};
}

std::string ReplacedAll(std::string text, std::string_view what, std::string_view by) {
  for (size_t at = text.find(what); at != std::string::npos; at = text.find(what, at + by.size())) {
    text.replace(at, what.size(), by);
  }
  return text;
}

// How the text was written, as far as the four styles can tell.
JsonStyle StyleOf(std::string_view text) {
  if (text.find('\n') != std::string_view::npos) return JsonStyle::kPretty;
  if (text.find("\": ") != std::string_view::npos) return JsonStyle::kSpaced;
  return JsonStyle::kCompact;
}

}  // namespace

RedactionOptions RedactionOptions::Default() {
  RedactionOptions options;
  options.keys = {"authorization", "proxy_authorization",
                  "api_key",       "x_api_key",
                  "token",         "access_token",
                  "refresh_token", "id_token",
                  "auth_token",    "session_token",
                  "bearer_token",  "x_auth_token",
                  "password",      "passwd",
                  "passphrase",    "secret",
                  "client_secret", "secret_key",
                  "private_key",   "secret_access_key",
                  "cookie",        "set_cookie",
                  "credentials",   "aws_secret_access_key"};
  // Shapes that ordinary text does not have: a prefix, and enough behind it (a digit among it where
  // words could follow).
  options.expressions = {
      {"private-key",
       R"(-----BEGIN [A-Z ]*PRIVATE KEY-----[\s\S]*?(?:-----END [A-Z ]*PRIVATE KEY-----|$))"},
      {"authorization",
       R"((?i)\bauthorization["']?\s*[:=]\s*["']?(?:basic|bearer|digest|token)\s+[^\s"',;]+)"},
      {"bearer", R"((?i)\bbearer\s+(?=[a-z._~+/-]*[0-9])[a-z0-9._~+/-]{16,}=*)"},
      {"cookie", R"((?im)^[<> \t]*(?:set-)?cookie[ \t]*:[ \t]*[^\s=;]+=[^\r\n]*)"},
      {"jwt", R"(\beyJ[A-Za-z0-9_-]{8,}\.[A-Za-z0-9_-]{8,}\.[A-Za-z0-9_-]*)"},
      {"sk", R"(\bsk-(?=[A-Za-z_-]*[0-9])[A-Za-z0-9_-]{16,})"},
      {"aws-key", R"(\b(?:AKIA|ASIA)[A-Z0-9]{16}\b)"},
      {"aws-secret", R"((?i)\baws_?secret_?access_?key["']?\s*[:=]\s*["']?[a-z0-9/+=]{40})"},
      {"github", R"(\b(?:gh[pousr]_[A-Za-z0-9]{30,}|github_pat_[A-Za-z0-9_]{30,}))"},
      {"slack", R"(\bxox[abeoprs]-[A-Za-z0-9-]{10,})"},
      {"google", R"(\bAIza[0-9A-Za-z_-]{35})"},
      {"url-password", R"((?<=://)[^/\s:@"']*:[^/\s@"']+(?=@))"},
  };
  return options;
}

RedactionOptions ReadRedactionOptions(RecipeTable table) {
  bool defaults = true;
  std::vector<std::string> keys;
  RedactionOptions options;
  table.Read("defaults", &defaults, "the usual names of keys and shapes of tokens are secrets");
  if (defaults) options = RedactionOptions::Default();
  table.Read("keys", &keys, "further keys of arguments and results whose values are secrets");
  table.Read("environment", &options.environment,
             "variables of the environment whose values are secrets");
  options.keys.insert(options.keys.end(), keys.begin(), keys.end());
  for (RecipeTable each : table.Tables("expressions")) {
    RedactionOptions::Expression expression;
    each.Read("name", &expression.name, "stands in place of what it finds");
    each.Read("pattern", &expression.pattern, "a regular expression that finds secrets");
    const Result<Regex> compiled = Regex::Compile(expression.pattern);
    if (expression.name.empty()) {
      each.Problem("name", "wants a name, which stands in place of what the pattern finds");
    } else if (expression.pattern.empty()) {
      each.Problem("pattern", "wants a regular expression");
    } else if (!compiled.ok()) {
      each.Problem("pattern", compiled.error().message());
    }
    options.expressions.push_back(std::move(expression));
  }
  return options;
}

Result<Redactor> Redactor::Create(const RedactionOptions& options, const Environment& environment) {
  Redactor redactor;
  for (const std::string& key : options.keys) redactor.keys_.emplace(Reduced(key), key);
  for (const std::string& name : options.environment) {
    const std::optional<std::string> value = environment(name);
    if (!value || value->empty()) continue;
    if (value->size() < kShortestSecret) {
      return Error(ErrorCode::kInvalidArgument,
                   fmt::format("the value of ${} is to be taken out of what tools say, but has "
                               "fewer than {} bytes; it would be found in ordinary text",
                               name, kShortestSecret));
    }
    const std::string spelled = DumpJson(Json(Utf8Lossy(*value)));
    const std::string rule = "env:" + name;
    redactor.values_.emplace_back(Utf8Lossy(*value), rule);
    redactor.values_.emplace_back(spelled.substr(1, spelled.size() - 2), rule);
  }
  std::stable_sort(redactor.values_.begin(), redactor.values_.end(),
                   [](const auto& a, const auto& b) { return a.first.size() > b.first.size(); });
  for (const RedactionOptions::Expression& expression : options.expressions) {
    HONE_ASSIGN_OR_RETURN(Regex regex, Regex::Compile(expression.pattern));
    redactor.expressions_.emplace_back(std::move(regex), expression.name);
  }
  return redactor;
}

Result<Redactor> Redactor::Create(const RedactionOptions& options) {
  return Create(options, [](const std::string& name) -> std::optional<std::string> {
    const char* value = std::getenv(name.c_str());
    return value == nullptr ? std::nullopt : std::optional<std::string>(value);
  });
}

std::optional<std::string> Redactor::KeyRule(std::string_view key) const {
  const auto found = keys_.find(Reduced(key));
  return found == keys_.end() ? std::nullopt : std::optional(found->second);
}

Json Redactor::Arguments(Json arguments) const { return Value(std::move(arguments), 0); }

std::string Redactor::Content(std::string content) const {
  if (!IsUtf8(content)) content = Utf8Lossy(content);
  return String(std::move(content), 0);
}

Json Redactor::Value(Json value, int depth) const {
  if (value.is_string()) return Json(String(value.AsString(), depth));
  if (value.is_array()) {
    for (Json& element : value.AsArray()) element = Value(std::move(element), depth);
    return value;
  }
  if (value.is_number()) {
    const std::string text = DumpJson(value);
    std::string redacted = PlainText(text);
    return redacted == text ? value : Json(std::move(redacted));
  }
  if (!value.is_object()) return value;
  Json::Object members;
  std::set<std::string> taken;
  for (Json::Member& member : value.AsObject()) {
    std::string key = PlainText(member.first);
    // Two secret keys must stay two members.
    for (int copy = 2; !taken.insert(key).second; ++copy) {
      key = fmt::format("{} {}", PlainText(member.first), copy);
    }
    const std::optional<std::string> rule = KeyRule(member.first);
    const bool hidden = rule && !member.second.is_null();
    members.emplace_back(std::move(key),
                         hidden ? Json(Mark(*rule)) : Value(std::move(member.second), depth));
  }
  return Json(std::move(members));
}

std::string Redactor::String(std::string text, int depth) const {
  const std::string_view trimmed = Trim(text);
  const bool may_be_json = trimmed.starts_with('{') || trimmed.starts_with('[');
  if (may_be_json && depth < kDeepestNesting) {
    if (const Result<Json> json = ParseJson(text); json.ok()) {
      const Json redacted = Value(*json, depth + 1);
      return redacted == *json ? text : DumpJson(redacted, StyleOf(text));
    }
  }
  return PlainText(NamedValues(text));
}

std::string Redactor::PlainText(std::string text) const {
  for (const auto& [secret, rule] : values_)
    text = ReplacedAll(std::move(text), secret, Mark(rule));
  for (const auto& [expression, rule] : expressions_) {
    const Result<std::vector<Regex::Match>> matches = expression.FindAll(text);
    // What cannot be searched must not be let through.
    if (!matches.ok()) return Mark(rule);
    if (matches->empty()) continue;
    std::string redacted;
    size_t end = 0;
    for (const Regex::Match& match : *matches) {
      redacted += text.substr(end, match.begin - end) + Mark(rule);
      end = match.end;
    }
    text = redacted + text.substr(end);
  }
  return text;
}

// JSON that was cut off, or that stands in the midst of other text, has keys as well.
std::string Redactor::NamedValues(const std::string& text) const {
  std::string redacted;
  size_t kept = 0;
  for (size_t at = text.find_first_of("\"?&"); at < text.size();) {
    const std::optional<Named> named = NameAt(text, at);
    const std::optional<std::string> rule = named ? KeyRule(named->name) : std::nullopt;
    size_t next = at + 1;
    if (rule) {
      next = named->json
                 ? EndOfValue(text, named->value)
                 : std::min(text.find_first_of("&#\"'<> \t\r\n", named->value), text.size());
      const std::string_view value(text.data() + named->value, next - named->value);
      if (!value.empty() && value != "null") {
        const std::string mark = Mark(*rule);
        redacted += text.substr(kept, named->value - kept);
        redacted += named->json ? fmt::format("\"{}\"", mark) : mark;
        kept = next;
      }
    }
    at = text.find_first_of("\"?&", next);
  }
  return redacted + text.substr(kept);
}

}  // namespace hone
