#pragma once

#include <compare>
#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <variant>
#include <vector>

#include "base/json.h"
#include "base/result.h"
#include "text/jinja/jinja_text.h"

// The values of a chat template that is being run: Python's, as far as templates meet them.

namespace hone {

class JinjaObject;
class JinjaRun;
class JinjaValue;

// What a template does that values do not allow.
inline Error BadJinja(std::string problem) {
  return Error(ErrorCode::kInvalidArgument, std::move(problem));
}

// Why a name or a member is not there. Using it for more than printing or testing is an error with
// this text.
struct JinjaUndefined {
  std::string why;
};

// How much there is to go through in a value: how deep values are nested in it, and how many they
// are, those that stand in several places counted in each.
struct JinjaExtent {
  int depth = 0;
  int64_t count = 1;
};

// What a list, a tuple or a view of a dict holds.
struct JinjaItems {
  std::vector<JinjaValue> values;
  JinjaExtent extent;
};

// A dict: members in their order, keys apart from each other as Python has it (1 is 1.0 is True).
struct JinjaDict {
  std::vector<std::pair<JinjaValue, JinjaValue>> members;
  JinjaExtent extent;

  const JinjaValue* Find(const JinjaValue& key) const;
  const JinjaValue* Find(std::string_view key) const;
  void Set(JinjaValue key, JinjaValue value);  // does not keep `extent`
};

struct JinjaRange {
  int64_t start = 0, stop = 0, step = 1;
  int64_t size() const;
  bool operator==(const JinjaRange&) const = default;
};

// What filters like map and select give: it is gone through once.
struct JinjaIterator {
  std::string type;  // "generator", ...
  std::vector<JinjaValue> values;
  size_t next = 0;
  JinjaExtent extent;
};

// Cheap to copy. Nothing but an iterator's place and what an object keeps ever changes: the sandbox
// of Hugging Face's transformers lets templates change nothing either.
class JinjaValue {
 public:
  enum class Kind {
    kUndefined,
    kNone,
    kBool,
    kInteger,
    kBigInteger,
    kReal,
    kText,
    kList,
    kTuple,
    kView,  // dict_items, dict_keys, dict_values
    kDict,
    kRange,
    kIterator,
    kObject,
  };
  // Values beyond this are refused, so that going through one is safe and comes to an end.
  static constexpr JinjaExtent kLargest = {.depth = 400, .count = 1 << 22};

  JinjaValue() : value_(nullptr) {}  // none
  static JinjaValue Undefined(std::string why);
  JinjaValue(bool value) : value_(value) {}          // NOLINT: implicit, as all of these
  JinjaValue(int value) : value_(int64_t{value}) {}  // NOLINT
  JinjaValue(int64_t value) : value_(value) {}       // NOLINT
  JinjaValue(double value) : value_(value) {}        // NOLINT
  JinjaValue(BigInteger value);                      // NOLINT
  JinjaValue(JinjaText value);                       // NOLINT
  JinjaValue(JinjaRange value) : value_(value) {}    // NOLINT
  JinjaValue(JinjaObject* value) : value_(value) {}  // NOLINT: not owned; never null
  static JinjaValue Text(std::string own) { return JinjaText(std::move(own)); }

  // These fail when the value would be too large.
  static Result<JinjaValue> List(std::vector<JinjaValue> values);
  static Result<JinjaValue> Tuple(std::vector<JinjaValue> values);
  static Result<JinjaValue> View(const char* type, std::vector<JinjaValue> values);
  static Result<JinjaValue> Dict(JinjaDict dict);
  static Result<JinjaValue> Iterator(std::string type, std::vector<JinjaValue> values);
  // Text of the value is foreign, or the template's own.
  static Result<JinjaValue> FromJson(const Json& json, bool foreign);

  Kind kind() const;
  bool is(Kind kind) const { return this->kind() == kind; }
  bool is_undefined() const { return is(Kind::kUndefined); }
  bool is_none() const { return is(Kind::kNone); }
  bool is_text() const { return is(Kind::kText); }
  bool is_dict() const { return is(Kind::kDict); }
  // Any of bool, integer, real.
  bool is_number() const;
  // A whole number or a boolean, which Python counts as one.
  std::optional<int64_t> AsInteger() const;
  std::optional<double> AsReal() const;  // any number

  // Reading a value as what it is not is a bug (CHECK); ask first.
  const std::string& Why() const;
  bool AsBool() const { return Get<bool>(); }
  const BigInteger& AsBigInteger() const { return *Get<std::shared_ptr<const BigInteger>>(); }
  const JinjaText& AsText() const { return *Get<std::shared_ptr<const JinjaText>>(); }
  const std::vector<JinjaValue>& Items() const;  // of a list, tuple or view
  const JinjaDict& AsDict() const { return *Get<std::shared_ptr<const JinjaDict>>(); }
  const JinjaRange& AsRange() const { return Get<JinjaRange>(); }
  JinjaIterator& AsIterator() const { return *Get<std::shared_ptr<JinjaIterator>>(); }
  JinjaObject* AsObject() const { return Get<JinjaObject*>(); }

  bool IsTrue() const;
  JinjaExtent Extent() const;
  // Python's name of the type: "str", "dict", "dict_items".
  std::string TypeName() const;

 private:
  struct Sequence {
    Kind kind;
    const char* type;
    std::shared_ptr<const JinjaItems> items;
  };
  template <typename T>
  const T& Get() const {
    CHECK(std::holds_alternative<T>(value_), "a template's value read as what it is not");
    return std::get<T>(value_);
  }

  std::variant<std::nullptr_t, std::shared_ptr<const JinjaUndefined>, bool, int64_t, double,
               std::shared_ptr<const BigInteger>, std::shared_ptr<const JinjaText>, Sequence,
               std::shared_ptr<const JinjaDict>, JinjaRange, std::shared_ptr<JinjaIterator>,
               JinjaObject*>
      value_;
};

struct JinjaArguments {
  std::vector<JinjaValue> positional;
  std::vector<std::pair<std::string, JinjaValue>> named;
};

// What has members and perhaps can be called: macros, namespaces, `loop`, methods, functions. It
// belongs to the run (JinjaRun::Keep).
class JinjaObject {
 public:
  virtual ~JinjaObject() = default;
  virtual std::string TypeName() const = 0;
  virtual std::string Repr() const { return "<" + TypeName() + " object>"; }
  // Nothing when there is no such member.
  virtual std::optional<JinjaValue> Member(std::string_view) const { return std::nullopt; }
  virtual bool callable() const { return false; }
  virtual Result<JinjaValue> Call(JinjaRun*, const JinjaArguments&);
};

// --- as Python compares --------------------------------------------------------------------------

bool Equal(const JinjaValue& a, const JinjaValue& b);
// Fails for values that have no order between them.
Result<std::strong_ordering> Order(const JinjaValue& a, const JinjaValue& b);
// Whether it can be a key of a dict.
bool IsHashable(const JinjaValue& value);

}  // namespace hone
