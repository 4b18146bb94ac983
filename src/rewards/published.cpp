#include "rewards/published.h"

#include <algorithm>
#include <cmath>

#include "base/strings.h"
#include "base/utf8.h"
#include "rewards/matching/number_text.h"
#include "rewards/matching/plain_text.h"
#include "rewards/matching/value_match.h"

namespace hone {
namespace {

using Counts = std::map<std::string, int>;

// |a and b| / |a or b| of multisets; 1 when both are the same, also when both are empty.
double Jaccard(const Counts& a, const Counts& b) {
  if (a == b) return 1;
  int common = 0, all = 0;
  for (const auto& [name, count] : a) {
    const auto other = b.find(name);
    common += std::min(count, other == b.end() ? 0 : other->second);
    all += std::max(count, other == b.end() ? 0 : other->second);
  }
  for (const auto& [name, count] : b) {
    if (a.count(name) == 0) all += count;
  }
  return all == 0 ? 1 : static_cast<double>(common) / all;
}

Counts KeysOf(const Json& object) {
  Counts keys;
  if (object.is_object()) {
    for (const auto& [key, value] : object.AsObject()) ++keys[key];
  }
  return keys;
}

double ParametersAlike(const Json& given, const Json& gold) {
  double score = Jaccard(KeysOf(gold), KeysOf(given));
  for (const auto& [key, value] : gold.AsObject()) {
    const Json* other = given.Find(key);
    if (other != nullptr && SameValue(*other, value)) score += 1;
  }
  return score;
}

std::string WithDigits(std::string_view text) {
  constexpr std::string_view kWords[] = {"one",   "two",   "three", "four", "five",   "six",
                                         "seven", "eight", "nine",  "ten",  "eleven", "twelve"};
  std::string out;
  for (const std::string& word : Words(LowerCased(Replaced(text, ",", "")))) {
    std::string kept = word;
    for (size_t i = 0; i < std::size(kWords); ++i) {
      if (word == kWords[i]) kept = std::to_string(i + 1);
    }
    out += (out.empty() ? "" : " ") + kept;
  }
  return out;
}

std::string LastCharacters(const std::string& text, size_t count) {
  const std::string clean = Utf8Lossy(text);
  size_t begin = clean.size();
  for (size_t left = count; begin > 0 && left > 0; --left) {
    --begin;
    while (begin > 0 && (static_cast<unsigned char>(clean[begin]) & 0xc0) == 0x80) --begin;
  }
  return clean.substr(begin);
}

double TapoText(const std::string& answer, const std::string& gold) {
  const std::string given = LowerCased(Trim(answer)), wanted = LowerCased(Trim(gold));
  if (!wanted.empty() && given.find(wanted) != std::string::npos) return 1;
  const double alike = TextSimilarity(given, wanted);
  return alike > 0.5 ? alike : 0;
}

double TapoOne(AnswerKind kind, const std::string& answer, const std::string& gold,
               double relative) {
  switch (kind) {
    case AnswerKind::kNumber: {
      const auto given = LastNumber(answer), wanted = LastNumber(gold);
      if (!given || !wanted) return 0;
      const double allowed = std::max(1e-3, relative * std::abs(*wanted));
      return std::abs(*given - *wanted) < allowed ? 1 : 0;
    }
    case AnswerKind::kText:
    case AnswerKind::kQaExact:
    case AnswerKind::kQaF1: return TapoText(answer, gold);
    default: return WithDigits(answer) == WithDigits(gold) ? 1 : 0;
  }
}

std::string AsTapoText(const Json& value) {
  return value.is_string() ? value.AsString() : DumpJson(value);
}

}  // namespace

ToolRlScore ToolRl(const std::vector<const Call*>& calls, const std::vector<GoldCall>& gold) {
  ToolRlScore result;
  if (gold.empty()) return result;
  static const Json kNoParameters(Json::Object{});
  Counts called, wanted;
  for (const Call* call : calls) ++called[call->name];
  for (const GoldCall& call : gold) ++wanted[call.name];
  result.score = Jaccard(wanted, called);
  result.most = 1;
  std::vector<bool> used(calls.size(), false);
  for (const GoldCall& want : gold) {
    const Json& parameters = want.arguments ? *want.arguments : kNoParameters;
    result.most += 1 + static_cast<double>(parameters.AsObject().size());
    // A match that earns nothing uses nothing up: a later gold call may want it.
    double best = 0;
    size_t chosen = calls.size();
    for (size_t i = 0; i < calls.size(); ++i) {
      if (used[i] || calls[i]->name != want.name) continue;
      const double score = ParametersAlike(calls[i]->arguments, parameters);
      if (score > best) {
        best = score;
        chosen = i;
      }
    }
    if (chosen == calls.size()) continue;
    used[chosen] = true;
    result.score += best;
  }
  result.correctness = 6 * result.score / result.most - 3;
  return result;
}

double Overlong(int64_t length, int64_t most, int64_t buffer, double factor) {
  CHECK(buffer > 0, "the buffer of an overlong penalty must have a length");
  const double over = static_cast<double>(length - (most - buffer));
  return std::min(0.0, -over / static_cast<double>(buffer) * factor);
}

double ReToolShaped(double score, int64_t turns) {
  if (score >= 0) return score;
  return std::min(-0.6, score + 0.1 * static_cast<double>(turns - 2) / 2);
}

Result<double> TapoScore(AnswerKind kind, const Json& answer, const Json& gold, double relative) {
  if (gold.is_null() || gold.is_object()) {
    return Error(ErrorCode::kInvalidArgument,
                 "this reward compares texts and numbers; the gold answer is neither");
  }
  if (answer.is_null()) return 0.0;
  const std::string given = LastCharacters(AsTapoText(answer), 100);
  if (!gold.is_array()) return TapoOne(kind, given, AsTapoText(gold), relative);
  double best = 0;
  for (const Json& accepted : gold.AsArray()) {
    best = std::max(best, TapoOne(kind, given, AsTapoText(accepted), relative));
  }
  return best;
}

std::vector<double> PreferenceWeighted(const std::vector<std::map<std::string, double>>& features,
                                       const std::map<std::string, double>& weights) {
  std::vector<double> rewards(features.size(), 0);
  for (const auto& [name, weight] : weights) {
    std::vector<double> values;
    for (const auto& member : features) {
      const auto found = member.find(name);
      values.push_back(found == member.end() ? 0 : found->second);
    }
    if (values.empty()) continue;
    const auto [least, most] = std::minmax_element(values.begin(), values.end());
    const double low = *least, high = *most;
    if (high <= low) continue;
    for (size_t i = 0; i < values.size(); ++i) {
      rewards[i] += weight * (values[i] - low) / (high - low);
    }
  }
  return rewards;
}

double AdaReasonerCall(bool known_tool, double own_score) {
  return known_tool ? 2 + 2 * std::clamp(own_score, 0.0, 1.0) : 1;
}

}  // namespace hone
