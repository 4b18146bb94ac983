#include "credit/method_options.h"

#include <algorithm>
#include <charconv>
#include <cmath>

#include <fmt/format.h>

#include "base/nearest.h"
#include "base/strings.h"

namespace hone {
namespace {

std::vector<std::string> SplitAt(std::string_view text, char separator) {
  std::vector<std::string> parts;
  while (true) {
    const size_t end = text.find(separator);
    parts.emplace_back(Trim(text.substr(0, end)));
    if (end == std::string_view::npos) return parts;
    text.remove_prefix(end + 1);
  }
}

std::string Joined(const std::vector<std::string>& parts, std::string_view between) {
  std::string text;
  for (const std::string& part : parts) {
    if (!text.empty()) text += between;
    text += part;
  }
  return text;
}

}  // namespace

Result<MethodOptions> MethodOptions::Parse(std::string_view text) {
  MethodOptions options;
  if (Trim(text).empty()) return options;
  for (const std::string& part : SplitAt(text, ',')) {
    const size_t equals = part.find('=');
    if (equals == std::string::npos || equals == 0) {
      return Error(ErrorCode::kInvalidArgument,
                   fmt::format("\"{}\" is no setting of a method; write key=value", part));
    }
    const std::string key(Trim(std::string_view(part).substr(0, equals)));
    if (!options.given_.emplace(key, Trim(std::string_view(part).substr(equals + 1))).second) {
      return Error(ErrorCode::kInvalidArgument, fmt::format("{} is set twice", key));
    }
  }
  return options;
}

const std::string* MethodOptions::Ask(const std::string& key, const std::string& otherwise) {
  if (known_.insert(key).second) described_.push_back(key + "=" + otherwise);
  const auto found = given_.find(key);
  return found == given_.end() ? nullptr : &found->second;
}

void MethodOptions::Problem(const std::string& text) {
  if (problem_.empty()) problem_ = text;
}

double MethodOptions::Number(const std::string& key, double otherwise, double least, double most) {
  const std::string* text = Ask(key, fmt::format("{}", otherwise));
  if (text == nullptr) return otherwise;
  double value = 0;
  const auto [end, error] = std::from_chars(text->data(), text->data() + text->size(), value);
  if (error != std::errc() || end != text->data() + text->size() || !std::isfinite(value) ||
      value < least || value > most) {
    Problem(fmt::format("{} must be a number from {} to {}, not \"{}\"", key, least, most, *text));
    return otherwise;
  }
  return value;
}

bool MethodOptions::Flag(const std::string& key, bool otherwise) {
  return Choice(key, {"yes", "no"}, otherwise ? "yes" : "no") == "yes";
}

std::string MethodOptions::Choice(const std::string& key, const std::vector<std::string>& choices,
                                  const std::string& otherwise) {
  const std::string* text = Ask(key, otherwise);
  if (text == nullptr) return otherwise;
  if (std::find(choices.begin(), choices.end(), *text) == choices.end()) {
    Problem(fmt::format("{} must be one of {}, not \"{}\"", key, Joined(choices, ", "), *text));
    return otherwise;
  }
  return *text;
}

std::vector<std::string> MethodOptions::Names(const std::string& key,
                                              const std::vector<std::string>& otherwise) {
  const std::string* text = Ask(key, Joined(otherwise, "+"));
  if (text == nullptr) return otherwise;
  std::vector<std::string> names = SplitAt(*text, '+');
  if (std::any_of(names.begin(), names.end(), [](const std::string& n) { return n.empty(); })) {
    Problem(fmt::format("{} must be names joined by +, not \"{}\"", key, *text));
    return otherwise;
  }
  named_.insert(named_.end(), names.begin(), names.end());
  return names;
}

Result<void> MethodOptions::Check(std::string_view method) const {
  if (!problem_.empty()) {
    return Error(ErrorCode::kInvalidArgument, fmt::format("method {}: {}", method, problem_));
  }
  const std::vector<std::string> known(known_.begin(), known_.end());
  for (const auto& [key, value] : given_) {
    if (known_.count(key) > 0) continue;
    return Error(ErrorCode::kInvalidArgument,
                 fmt::format("method {} has no setting \"{}\"{}; it has: {}", method, key,
                             DidYouMean(key, known), known.empty() ? "none" : Joined(known, ", ")));
  }
  return {};
}

}  // namespace hone
