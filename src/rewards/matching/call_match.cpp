#include "rewards/matching/call_match.h"

#include <algorithm>
#include <cmath>
#include <set>

#include "rewards/matching/assignment.h"
#include "rewards/matching/value_match.h"

namespace hone {
namespace {

constexpr double kNameShare = 0.5;
// Less than any difference that matters, so that of equal calls the earlier one is matched.
constexpr double kEarlier = 1e-9;

bool MayBeLeftOut(const GoldCall& gold, const std::string& parameter) {
  return std::find(gold.optional.begin(), gold.optional.end(), parameter) != gold.optional.end();
}

// The best over the gold value and the other accepted ones of `similarity`.
template <typename Similarity>
double BestValue(const Json& value, const std::string& parameter, const GoldCall& gold,
                 Similarity similarity) {
  if (std::find(gold.any.begin(), gold.any.end(), parameter) != gold.any.end()) return 1;
  double best = 0;
  if (const Json* wanted = gold.arguments->Find(parameter)) best = similarity(value, *wanted);
  if (const auto others = gold.accepted.find(parameter); others != gold.accepted.end()) {
    for (const Json& other : others->second) best = std::max(best, similarity(value, other));
  }
  return best;
}

bool IsKnown(const GoldCall& gold, const std::string& parameter) {
  return gold.arguments->Find(parameter) != nullptr || gold.accepted.count(parameter) > 0;
}

template <typename Similarity>
double Arguments(const Json& given, const GoldCall& gold, Similarity similarity) {
  if (!gold.arguments) return 1;
  double sum = 0;
  size_t count = 0;
  std::set<std::string> wanted;
  for (const auto& [parameter, value] : gold.arguments->AsObject()) wanted.insert(parameter);
  for (const auto& [parameter, values] : gold.accepted) wanted.insert(parameter);
  for (const std::string& parameter : wanted) {
    const Json* value = given.Find(parameter);
    if (value == nullptr && MayBeLeftOut(gold, parameter)) continue;
    ++count;
    if (value != nullptr) sum += BestValue(*value, parameter, gold, similarity);
  }
  if (given.is_object()) {
    for (const auto& [parameter, value] : given.AsObject()) {
      if (!IsKnown(gold, parameter) && !MayBeLeftOut(gold, parameter)) ++count;
    }
  }
  return count == 0 ? 1 : sum / static_cast<double>(count);
}

double F1(double common, size_t a, size_t b) {
  return a + b == 0 ? 1 : 2 * common / static_cast<double>(a + b);
}

// The length of the longest ascending run to be had by leaving calls out.
size_t LongestAscending(const std::vector<int32_t>& golds) {
  std::vector<int32_t> last;  // by length, the smallest end
  for (const int32_t gold : golds) {
    const auto at = std::lower_bound(last.begin(), last.end(), gold);
    if (at == last.end()) {
      last.push_back(gold);
    } else {
      *at = gold;
    }
  }
  return last.size();
}

std::optional<double> OrderOf(const std::vector<int32_t>& gold_of, const GoldCalls& gold) {
  if (gold.order == CallOrder::kAny) return std::nullopt;
  std::vector<int32_t> made;
  std::vector<int32_t> position(gold.calls.size(), -1);
  for (const int32_t index : gold_of) {
    if (index < 0) continue;
    position[index] = static_cast<int32_t>(made.size());
    made.push_back(index);
  }
  if (gold.order == CallOrder::kSequence) {
    if (made.empty()) return 1;
    return static_cast<double>(LongestAscending(made)) / static_cast<double>(made.size());
  }
  int edges = 0, respected = 0;
  for (size_t i = 0; i < gold.calls.size(); ++i) {
    for (const int32_t before : gold.calls[i].after) {
      if (position[i] < 0 || position[before] < 0) continue;
      ++edges;
      if (position[before] < position[i]) ++respected;
    }
  }
  return edges == 0 ? 1.0 : static_cast<double>(respected) / edges;
}

double SameOrNot(const Json& a, const Json& b) { return SameValue(a, b) ? 1 : 0; }

// F1 over the parameters of all calls, where those of matched calls can be the same.
void CountParameters(const std::vector<const Call*>& calls, const GoldCalls& gold,
                     CallScore* score) {
  size_t given = 0, wanted = 0;
  double named = 0, right = 0;
  for (const GoldCall& want : gold.calls) {
    if (want.arguments) wanted += want.arguments->AsObject().size();
  }
  for (size_t i = 0; i < calls.size(); ++i) {
    if (!calls[i]->arguments.is_object()) continue;
    const int32_t index = score->gold_of[i];
    if (index >= 0 && !gold.calls[index].arguments) continue;  // any arguments will do
    given += calls[i]->arguments.AsObject().size();
    if (index < 0) continue;
    for (const auto& [parameter, value] : calls[i]->arguments.AsObject()) {
      if (gold.calls[index].arguments->Find(parameter) == nullptr) continue;
      named += 1;
      right += BestValue(value, parameter, gold.calls[index], SameOrNot);
    }
  }
  score->parameter_f1 = F1(named, given, wanted);
  score->value_f1 = F1(right, given, wanted);
}

}  // namespace

double ArgumentScore(const Json& arguments, const GoldCall& gold) {
  return Arguments(arguments, gold, ValueSimilarity);
}

bool IsRightCall(const Call& call, const GoldCall& gold) {
  return call.name == gold.name && Arguments(call.arguments, gold, SameOrNot) == 1;
}

double CallSimilarity(const Call& call, const GoldCall& gold) {
  if (call.name != gold.name) return 0;
  return kNameShare + (1 - kNameShare) * ArgumentScore(call.arguments, gold);
}

CallScore ScoreCalls(const std::vector<const Call*>& calls, const GoldCalls& gold) {
  std::vector<std::vector<double>> table(calls.size());
  std::vector<std::vector<double>> names(calls.size());
  for (size_t i = 0; i < calls.size(); ++i) {
    for (const GoldCall& wanted : gold.calls) {
      const double similarity = CallSimilarity(*calls[i], wanted);
      const double late = kEarlier * static_cast<double>(i) / static_cast<double>(calls.size());
      table[i].push_back(similarity > 0 ? similarity - late : 0);
      names[i].push_back(calls[i]->name == wanted.name ? 1 : 0);
    }
  }
  CallScore score;
  score.gold_of = BestAssignment(table);
  double common = 0;
  for (size_t i = 0; i < calls.size(); ++i) {
    const int32_t index = score.gold_of[i];
    score.similarity.push_back(index < 0 ? 0 : CallSimilarity(*calls[i], gold.calls[index]));
    common += score.similarity.back();
  }
  const std::vector<int32_t> named = BestAssignment(names);
  const auto same_names = static_cast<double>(
      std::count_if(named.begin(), named.end(), [](int32_t index) { return index >= 0; }));
  const size_t made = calls.size(), wanted = gold.calls.size();
  score.precision = made == 0 ? (wanted == 0 ? 1 : 0) : common / static_cast<double>(made);
  score.recall = wanted == 0 ? (made == 0 ? 1 : 0) : common / static_cast<double>(wanted);
  score.f1 = F1(common, made, wanted);
  score.name_f1 = F1(same_names, made, wanted);
  CountParameters(calls, gold, &score);
  score.order = OrderOf(score.gold_of, gold);
  return score;
}

std::vector<double> ExpertSimilarity(const std::vector<const Call*>& calls,
                                     const std::vector<GoldCall>& expert) {
  std::vector<double> similarity;
  for (size_t i = 0; i < calls.size(); ++i) {
    similarity.push_back(i < expert.size() ? CallSimilarity(*calls[i], expert[i]) : 0);
  }
  return similarity;
}

}  // namespace hone
