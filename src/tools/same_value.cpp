#include "tools/same_value.h"

#include <algorithm>
#include <string>
#include <unordered_map>

#include <fmt/format.h>

namespace hone {
namespace {

// Whether a real is exactly this big integer: no integer of 64 bits is.
bool IsWhole(const Json& real, const Json& big) {
  return real.kind() == Json::Kind::kReal &&
         fmt::format("{:.0f}", real.AsDouble()) == DumpJson(big);
}

}  // namespace

bool SameValue(const Json& a, const Json& b) {
  if (a.is_number() && b.is_number()) {
    if (a.kind() == b.kind()) return a == b;
    if (a.kind() == Json::Kind::kBigInteger) return IsWhole(b, a);
    if (b.kind() == Json::Kind::kBigInteger) return IsWhole(a, b);
    return a.AsDouble() == b.AsDouble();
  }
  if (a.kind() != b.kind()) return false;
  if (a.is_array()) {
    return std::equal(a.AsArray().begin(), a.AsArray().end(), b.AsArray().begin(),
                      b.AsArray().end(), SameValue);
  }
  if (a.is_object()) {
    if (a.AsObject().size() != b.AsObject().size()) return false;
    return std::all_of(a.AsObject().begin(), a.AsObject().end(), [&](const Json::Member& member) {
      const Json* other = b.Find(member.first);
      return other != nullptr && SameValue(member.second, *other);
    });
  }
  return a == b;
}

namespace {

// A text that is the same for all values that are the same. (Others may have it too: numbers by
// their doubles.)
void AppendKey(const Json& value, std::string* key) {
  if (value.is_number() && value.kind() != Json::Kind::kBigInteger) {
    // + 0.0: there is one zero.
    *key += fmt::format("{:a},", value.AsDouble() + 0.0);
  } else if (value.is_array()) {
    *key += '[';
    for (const Json& item : value.AsArray()) AppendKey(item, key);
    *key += ']';
  } else if (value.is_object()) {
    std::vector<const Json::Member*> members;
    for (const Json::Member& member : value.AsObject()) members.push_back(&member);
    std::sort(members.begin(), members.end(),
              [](const Json::Member* a, const Json::Member* b) { return a->first < b->first; });
    *key += '{';
    for (const Json::Member* member : members) {
      *key += DumpJson(Json(member->first)) + ":";
      AppendKey(member->second, key);
    }
    *key += '}';
  } else {
    *key += DumpJson(value) + ",";
  }
}

}  // namespace

std::vector<std::pair<size_t, size_t>> RepeatedItems(const Json::Array& array) {
  std::vector<std::pair<size_t, size_t>> repeated;
  std::unordered_map<std::string, std::vector<size_t>> by_key;
  for (size_t i = 0; i < array.size(); ++i) {
    std::string key;
    AppendKey(array[i], &key);
    std::vector<size_t>& alike = by_key[std::move(key)];
    const auto same = std::find_if(alike.begin(), alike.end(),
                                   [&](size_t j) { return SameValue(array[i], array[j]); });
    if (same == alike.end()) {
      alike.push_back(i);
    } else {
      repeated.emplace_back(i, *same);
    }
  }
  return repeated;
}

}  // namespace hone
