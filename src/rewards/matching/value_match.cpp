#include "rewards/matching/value_match.h"

#include <algorithm>
#include <cmath>
#include <functional>

#include "rewards/matching/number_text.h"
#include "rewards/matching/plain_text.h"

namespace hone {
namespace {

using Scalars = std::function<double(const Json&, const Json&)>;

// JSON is at most 512 levels deep where it is parsed, so recursion is bounded.
double Share(const Json& a, const Json& b, const Scalars& scalars) {
  if (a.is_object() && b.is_object()) {
    const Json::Object &left = a.AsObject(), &right = b.AsObject();
    double sum = 0;
    size_t keys = right.size();
    for (const auto& [key, value] : left) {
      if (const Json* other = b.Find(key)) {
        sum += Share(value, *other, scalars);
      } else {
        ++keys;
      }
    }
    return keys == 0 ? 1 : sum / static_cast<double>(keys);
  }
  if (a.is_array() && b.is_array()) {
    const Json::Array &left = a.AsArray(), &right = b.AsArray();
    const size_t longer = std::max(left.size(), right.size());
    double sum = 0;
    for (size_t i = 0; i < std::min(left.size(), right.size()); ++i) {
      sum += Share(left[i], right[i], scalars);
    }
    return longer == 0 ? 1 : sum / static_cast<double>(longer);
  }
  return scalars(a, b);
}

double NumberSimilarity(double value, double gold) {
  const double scale = std::max(std::abs(gold), 1.0);
  const double share = 1 - std::abs(value - gold) / scale;
  return std::isfinite(share) ? std::max(0.0, share) : 0;
}

double ScalarSimilarity(const Json& value, const Json& gold) {
  if (value.is_number() && gold.is_number()) {
    return SameValue(value, gold) ? 1 : NumberSimilarity(value.AsDouble(), gold.AsDouble());
  }
  if (value.is_string() && gold.is_string()) {
    return TextSimilarity(NormalisedText(value.AsString()), NormalisedText(gold.AsString()));
  }
  if (value.is_string() && gold.is_number()) {
    const auto number = WholeNumber(value.AsString());
    return number ? 0.5 * NumberSimilarity(*number, gold.AsDouble()) : 0;
  }
  if (value.is_number() && gold.is_string()) {
    const auto number = WholeNumber(gold.AsString());
    return number ? 0.5 * NumberSimilarity(value.AsDouble(), *number) : 0;
  }
  return value == gold ? 1 : 0;
}

}  // namespace

double ValueShare(const Json& a, const Json& b) {
  return Share(a, b, [](const Json& x, const Json& y) { return SameValue(x, y) ? 1.0 : 0.0; });
}

double ValueSimilarity(const Json& value, const Json& gold) {
  return Share(value, gold, ScalarSimilarity);
}

}  // namespace hone
