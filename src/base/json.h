#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <variant>
#include <vector>

#include "base/result.h"

namespace hone {

// An integer that does not fit 64 bits, kept as the digits it was written with, so that an order
// number of 30 digits comes out as it went in.
struct BigInteger {
  std::string digits;  // a JSON integer: optional '-', no leading zeros
  bool operator==(const BigInteger&) const = default;
};

// A JSON value. Objects keep the order of their members (chat templates print tools in the order
// the user wrote them), integers and reals stay apart (5 is not 5.0), big integers stay exact. A
// plain value: copying copies everything, equality is deep and ignores the order of members.
class Json {
 public:
  using Array = std::vector<Json>;
  using Member = std::pair<std::string, Json>;
  using Object = std::vector<Member>;

  enum class Kind { kNull, kBool, kInteger, kBigInteger, kReal, kString, kArray, kObject };

  Json() = default;
  Json(std::nullptr_t) {}                                       // NOLINT: implicit, as all
  Json(bool value) : value_(value) {}                           // NOLINT
  Json(int value) : value_(int64_t{value}) {}                   // NOLINT
  Json(int64_t value) : value_(value) {}                        // NOLINT
  Json(uint64_t value);                                         // NOLINT
  Json(double value) : value_(value) {}                         // NOLINT
  Json(BigInteger value) : value_(std::move(value)) {}          // NOLINT
  Json(const char* value) : value_(std::string(value)) {}       // NOLINT
  Json(std::string value) : value_(std::move(value)) {}         // NOLINT
  Json(std::string_view value) : value_(std::string(value)) {}  // NOLINT
  Json(Array value) : value_(std::move(value)) {}               // NOLINT
  Json(Object value) : value_(std::move(value)) {}              // NOLINT

  // Json::Of({{"name", "weather"}, {"days", 3}}): an object, spelled where it is used.
  static Json Of(std::initializer_list<Member> members) { return Json(Object(members)); }
  template <typename Range>
  static Json ArrayOf(const Range& values) {
    Array array;
    for (const auto& value : values) array.emplace_back(value);
    return Json(std::move(array));
  }

  Kind kind() const { return static_cast<Kind>(value_.index()); }
  // "null", "a boolean", "an integer", ... for messages.
  std::string_view KindName() const;

  bool is_null() const { return kind() == Kind::kNull; }
  bool is_bool() const { return kind() == Kind::kBool; }
  bool is_integer() const { return kind() == Kind::kInteger; }
  bool is_string() const { return kind() == Kind::kString; }
  bool is_array() const { return kind() == Kind::kArray; }
  bool is_object() const { return kind() == Kind::kObject; }
  // Any number, whole or not.
  bool is_number() const;

  // Reading a value as what it is not is a bug (CHECK); ask first.
  bool AsBool() const { return Get<bool>(); }
  int64_t AsInteger() const { return Get<int64_t>(); }
  const std::string& AsString() const { return Get<std::string>(); }
  const Array& AsArray() const { return Get<Array>(); }
  const Object& AsObject() const { return Get<Object>(); }
  Array& AsArray() { return std::get<Array>(value_); }
  Object& AsObject() { return std::get<Object>(value_); }
  // Any number as a double (big integers are rounded).
  double AsDouble() const;
  std::optional<uint64_t> AsUint64() const;

  // The member of an object, or null when there is none or this is not an object.
  const Json* Find(std::string_view key) const;
  // Adds the member, or replaces the value it has. A null becomes an object.
  Json& Set(std::string_view key, Json value);

  friend bool operator==(const Json& a, const Json& b);

 private:
  template <typename T>
  const T& Get() const {
    CHECK(std::holds_alternative<T>(value_), "a JSON value read as what it is not");
    return std::get<T>(value_);
  }

  std::variant<std::nullptr_t, bool, int64_t, BigInteger, double, std::string, Array, Object>
      value_ = nullptr;

  friend class JsonWriter;
};

// --- text to value -------------------------------------------------------------------------------

// Exactly one JSON text (RFC 8259), strictly: well-formed UTF-8, no duplicate keys, no lone
// surrogates, no NaN, at most 512 levels deep. The error names line and column.
Result<Json> ParseJson(std::string_view text);

// What begins a longer text: used where JSON is embedded in what a model wrote.
struct JsonPrefix {
  std::optional<Json> value;  // absent when the text does not begin with a JSON value
  size_t end = 0;             // just behind the value, or where the problem is
  bool cut = false;           // no value, but more text could still make one
  std::string problem;        // why there is no value
};
JsonPrefix ParseJsonPrefix(std::string_view text);

// One value per line (JSON Lines); blank lines are passed over. The error names the line.
Result<std::vector<Json>> ParseJsonLines(std::string_view text);

// --- value to text -------------------------------------------------------------------------------

enum class JsonStyle {
  kCompact,    // {"b":1,"a":[2,3]}
  kCanonical,  // kCompact with the members of every object sorted by key
  kSpaced,     // {"b": 1, "a": [2, 3]}: what Python's json.dumps writes, and so chat templates
  kPretty,     // indented by two spaces
};

// Text that parses back to an equal value. Strings are written as UTF-8 with only the escapes JSON
// demands; reals as the shortest digits that round-trip, spelled like Python's repr ("1.0",
// "1e-05"). A real that is not finite has no JSON spelling and becomes null. kCanonical equals
// Python's json.dumps(v, sort_keys=True, separators=(",", ":"), ensure_ascii=False).
std::string DumpJson(const Json& value, JsonStyle style = JsonStyle::kCompact);

// The members in their order, or sorted by key.
std::vector<const Json::Member*> MembersOf(const Json::Object& object, bool sorted);

// SHA-256, in hexadecimal, of the canonical text: equal values have equal hashes, for ever.
std::string ContentHash(const Json& value);

// The shortest decimal text that reads back as exactly this double, spelled as above.
std::string ShortestReal(double value);

}  // namespace hone
