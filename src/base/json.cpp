#include "base/json.h"

#include <algorithm>
#include <charconv>
#include <limits>

#include "base/hash.h"

namespace hone {

Json::Json(uint64_t value) {
  if (value <= static_cast<uint64_t>(std::numeric_limits<int64_t>::max())) {
    value_ = static_cast<int64_t>(value);
  } else {
    value_ = BigInteger{std::to_string(value)};
  }
}

std::string_view Json::KindName() const {
  switch (kind()) {
    case Kind::kNull: return "null";
    case Kind::kBool: return "a boolean";
    case Kind::kInteger:
    case Kind::kBigInteger: return "an integer";
    case Kind::kReal: return "a real number";
    case Kind::kString: return "a string";
    case Kind::kArray: return "an array";
    case Kind::kObject: return "an object";
  }
  return "unknown";
}

bool Json::is_number() const {
  return kind() == Kind::kInteger || kind() == Kind::kBigInteger || kind() == Kind::kReal;
}

double Json::AsDouble() const {
  if (kind() == Kind::kInteger) return static_cast<double>(AsInteger());
  if (kind() == Kind::kReal) return Get<double>();
  const std::string& digits = Get<BigInteger>().digits;
  double value = 0;
  const auto [end, status] = std::from_chars(digits.data(), digits.data() + digits.size(), value);
  if (status == std::errc::result_out_of_range) {
    value = std::numeric_limits<double>::infinity() * (digits[0] == '-' ? -1 : 1);
  }
  return value;
}

std::optional<uint64_t> Json::AsUint64() const {
  if (kind() == Kind::kInteger) {
    if (AsInteger() < 0) return std::nullopt;
    return static_cast<uint64_t>(AsInteger());
  }
  if (kind() != Kind::kBigInteger) return std::nullopt;
  const std::string& digits = Get<BigInteger>().digits;
  uint64_t value = 0;
  const auto [end, status] = std::from_chars(digits.data(), digits.data() + digits.size(), value);
  if (status != std::errc() || end != digits.data() + digits.size()) return std::nullopt;
  return value;
}

const Json* Json::Find(std::string_view key) const {
  if (!is_object()) return nullptr;
  for (const Member& member : AsObject()) {
    if (member.first == key) return &member.second;
  }
  return nullptr;
}

Json& Json::Set(std::string_view key, Json value) {
  if (is_null()) value_ = Object();
  for (Member& member : std::get<Object>(value_)) {
    if (member.first == key) return member.second = std::move(value);
  }
  return std::get<Object>(value_).emplace_back(std::string(key), std::move(value)).second;
}

std::vector<const Json::Member*> MembersOf(const Json::Object& object, bool sorted) {
  std::vector<const Json::Member*> members;
  members.reserve(object.size());
  for (const Json::Member& member : object) members.push_back(&member);
  if (sorted) {
    std::sort(members.begin(), members.end(),
              [](const auto* a, const auto* b) { return a->first < b->first; });
  }
  return members;
}

namespace {

bool SameMembers(const Json::Object& a, const Json::Object& b) {
  if (a.size() != b.size()) return false;
  const auto sorted_a = MembersOf(a, true), sorted_b = MembersOf(b, true);
  return std::equal(sorted_a.begin(), sorted_a.end(), sorted_b.begin(),
                    [](const auto* x, const auto* y) { return *x == *y; });
}

}  // namespace

bool operator==(const Json& a, const Json& b) {
  if (a.is_object() && b.is_object()) return SameMembers(a.AsObject(), b.AsObject());
  return a.value_ == b.value_;
}

std::string ContentHash(const Json& value) {
  return Sha256Hex(DumpJson(value, JsonStyle::kCanonical));
}

}  // namespace hone
