#include "simulate/players/schema_sampler.h"

#include <algorithm>
#include <cmath>
#include <string>
#include <vector>

#include <fmt/format.h>

#include "simulate/players/pattern_sampler.h"

namespace hone {
namespace {

constexpr int kDeepestValue = 24;
constexpr int64_t kLongestArray = 64;
constexpr int64_t kLongestString = 4096;

// Two schemas that both must hold, as one. Enough for the allOf of answers' schemas: members and
// required keys are joined, bounds of the second win.
Json Merged(const Json& first, const Json& second) {
  if (!first.is_object()) return second;
  if (!second.is_object()) return first;
  Json merged = first;
  for (const auto& [key, value] : second.AsObject()) {
    const Json* have = merged.Find(key);
    if (have != nullptr && key == "properties" && have->is_object() && value.is_object()) {
      Json joined = *have;
      for (const auto& [name, schema] : value.AsObject()) {
        const Json* old = have->Find(name);
        joined.Set(name, old == nullptr ? schema : Merged(*old, schema));
      }
      merged.Set(key, std::move(joined));
    } else if (have != nullptr && key == "required" && have->is_array() && value.is_array()) {
      Json::Array joined = have->AsArray();
      for (const Json& name : value.AsArray()) joined.push_back(name);
      merged.Set(key, std::move(joined));
    } else {
      merged.Set(key, value);
    }
  }
  return merged;
}

class SchemaSampler {
 public:
  SchemaSampler(const Json& root, Rng* rng) : root_(root), rng_(rng) {}

  std::optional<Json> Sample(const Json& schema, int depth) {
    if (depth > kDeepestValue) return std::nullopt;
    if (schema.is_bool()) {
      if (!schema.AsBool()) return std::nullopt;
      return Json(Word(8));
    }
    if (!schema.is_object()) return std::nullopt;
    if (const Json* reference = schema.Find("$ref")) return Follow(*reference, depth);
    if (const Json* constant = schema.Find("const")) return *constant;
    if (const Json* values = schema.Find("enum"); values != nullptr && values->is_array()) {
      if (values->AsArray().empty()) return std::nullopt;
      return values->AsArray()[rng_->Below(values->AsArray().size())];
    }
    for (const char* key : {"anyOf", "oneOf"}) {
      const Json* options = schema.Find(key);
      if (options == nullptr || !options->is_array() || options->AsArray().empty()) continue;
      const Json& chosen = options->AsArray()[rng_->Below(options->AsArray().size())];
      return Sample(Merged(Without(schema, key), Resolved(chosen)), depth + 1);
    }
    if (const Json* all = schema.Find("allOf"); all != nullptr && all->is_array()) {
      Json merged = Without(schema, "allOf");
      for (const Json& part : all->AsArray()) merged = Merged(merged, Resolved(part));
      return Sample(merged, depth + 1);
    }
    return OfType(TypeOf(schema), schema, depth);
  }

 private:
  static Json Without(const Json& schema, std::string_view key) {
    Json rest = Json::Of({});
    for (const auto& [name, value] : schema.AsObject()) {
      if (name != key) rest.Set(name, value);
    }
    return rest;
  }

  // What a reference inside this document leads to; the schema itself when it is none.
  const Json& Resolved(const Json& schema) const {
    const Json* reference = schema.Find("$ref");
    const Json* target = reference == nullptr ? nullptr : Target(*reference);
    return target == nullptr ? schema : *target;
  }

  const Json* Target(const Json& reference) const {
    if (!reference.is_string() || !reference.AsString().starts_with("#")) return nullptr;
    const Json* at = &root_;
    std::string_view rest = std::string_view(reference.AsString()).substr(1);
    while (!rest.empty() && at != nullptr) {
      rest.remove_prefix(1);
      const size_t end = std::min(rest.find('/'), rest.size());
      at = at->Find(rest.substr(0, end));
      rest.remove_prefix(end);
    }
    return at;
  }

  std::optional<Json> Follow(const Json& reference, int depth) {
    const Json* target = Target(reference);
    if (target == nullptr) return std::nullopt;
    return Sample(*target, depth + 1);
  }

  std::string TypeOf(const Json& schema) {
    if (const Json* type = schema.Find("type")) {
      if (type->is_string()) return type->AsString();
      if (type->is_array() && !type->AsArray().empty()) {
        const Json& chosen = type->AsArray()[rng_->Below(type->AsArray().size())];
        if (chosen.is_string()) return chosen.AsString();
      }
    }
    if (schema.Find("properties") != nullptr) return "object";
    if (schema.Find("items") != nullptr) return "array";
    if (schema.Find("minimum") != nullptr || schema.Find("maximum") != nullptr) return "number";
    return "string";
  }

  std::optional<Json> OfType(const std::string& type, const Json& schema, int depth) {
    if (type == "object") return Object(schema, depth);
    if (type == "array") return Array(schema, depth);
    if (type == "string") return String(schema);
    if (type == "integer") return Integer(schema);
    if (type == "number") return Real(schema);
    if (type == "boolean") return Json(rng_->Below(2) == 1);
    if (type == "null") return Json();
    return std::nullopt;
  }

  std::optional<Json> Object(const Json& schema, int depth) {
    Json object = Json::Of({});
    std::vector<std::string> required;
    if (const Json* names = schema.Find("required"); names != nullptr && names->is_array()) {
      for (const Json& name : names->AsArray()) {
        if (name.is_string()) required.push_back(name.AsString());
      }
    }
    auto wanted = [&](const std::string& name) {
      return std::find(required.begin(), required.end(), name) != required.end();
    };
    if (const Json* members = schema.Find("properties");
        members != nullptr && members->is_object()) {
      for (const auto& [name, member] : members->AsObject()) {
        const bool skip = rng_->Below(2) == 0;
        if (skip && !wanted(name)) continue;
        std::optional<Json> value = Sample(member, depth + 1);
        if (value) {
          object.Set(name, *std::move(value));
        } else if (wanted(name)) {
          return std::nullopt;
        }
      }
    }
    for (const std::string& name : required) {
      if (object.Find(name) == nullptr) object.Set(name, Word(8));
    }
    return object;
  }

  std::optional<Json> Array(const Json& schema, int depth) {
    const int64_t least = std::clamp<int64_t>(Whole(schema, "minItems", 0), 0, kLongestArray);
    const int64_t most =
        std::clamp<int64_t>(Whole(schema, "maxItems", least + 3), least, kLongestArray);
    const int64_t count =
        least + static_cast<int64_t>(rng_->Below(static_cast<uint64_t>(most - least + 1)));
    const Json* items = schema.Find("items");
    const Json* prefix = schema.Find("prefixItems");
    const Json anything = Json(true);
    const Json* unique = schema.Find("uniqueItems");
    Json::Array array;
    for (int64_t i = 0; i < count; ++i) {
      const bool listed = prefix != nullptr && prefix->is_array() &&
                          static_cast<size_t>(i) < prefix->AsArray().size();
      const Json& item = listed             ? prefix->AsArray()[static_cast<size_t>(i)]
                         : items != nullptr ? *items
                                            : anything;
      std::optional<Json> value = Sample(item, depth + 1);
      if (!value) return std::nullopt;
      const bool repeats = std::find(array.begin(), array.end(), *value) != array.end();
      if (repeats && unique != nullptr && *unique == Json(true)) continue;
      array.push_back(*std::move(value));
    }
    return Json(std::move(array));
  }

  static int64_t Whole(const Json& schema, std::string_view key, int64_t otherwise) {
    const Json* value = schema.Find(key);
    return value != nullptr && value->is_integer() ? value->AsInteger() : otherwise;
  }

  // The bounds of a number; one that is open is 100 from the other.
  static std::pair<double, double> Bounds(const Json& schema, double step) {
    auto number = [&](std::string_view key) -> std::optional<double> {
      const Json* value = schema.Find(key);
      if (value == nullptr || !value->is_number()) return std::nullopt;
      return value->AsDouble();
    };
    std::optional<double> low = number("minimum"), high = number("maximum");
    if (const auto above = number("exclusiveMinimum"))
      low = std::max(low.value_or(*above), *above) + step;
    if (const auto below = number("exclusiveMaximum"))
      high = std::min(high.value_or(*below), *below) - step;
    if (!low) low = high ? std::min(0.0, *high - 100) : 0;
    return {*low, high.value_or(*low + 100)};
  }

  std::optional<Json> Integer(const Json& schema) {
    double step = 1;
    if (const Json* multiple = schema.Find("multipleOf");
        multiple != nullptr && multiple->is_number()) {
      step = multiple->AsDouble();
    }
    const auto [low, high] = Bounds(schema, 1);
    const double first = std::ceil(low / step), last = std::floor(high / step);
    if (last < first || std::abs(first * step) > 9e15 || std::abs(last * step) > 9e15) {
      return std::nullopt;
    }
    const auto count = static_cast<uint64_t>(last - first) + 1;
    return Json(int64_t{std::llround((first + static_cast<double>(rng_->Below(count))) * step)});
  }

  std::optional<Json> Real(const Json& schema) {
    if (schema.Find("multipleOf") != nullptr) return Integer(schema);
    const auto [low, high] = Bounds(schema, 0.01);
    if (high < low) return std::nullopt;
    // To two places, like most numbers that tools give, where that stays between the bounds.
    const double value = low + (high - low) * rng_->NextDouble();
    const double rounded = std::round(value * 100) / 100;
    return Json(rounded >= low && rounded <= high ? rounded : value);
  }

  std::optional<Json> String(const Json& schema) {
    if (const Json* pattern = schema.Find("pattern"); pattern != nullptr && pattern->is_string()) {
      std::optional<std::string> text = SamplePattern(pattern->AsString(), rng_);
      if (!text) return std::nullopt;
      return Json(*std::move(text));
    }
    if (const Json* format = schema.Find("format"); format != nullptr && format->is_string()) {
      if (std::optional<std::string> text = Formatted(format->AsString())) return Json(*text);
    }
    const int64_t least = std::clamp<int64_t>(Whole(schema, "minLength", 3), 0, kLongestString);
    const int64_t most = std::clamp<int64_t>(
        Whole(schema, "maxLength", std::max<int64_t>(least, 10)), 0, kLongestString);
    if (most < least && schema.Find("minLength") != nullptr) return std::nullopt;
    const int64_t shortest = std::min(least, most);
    return Json(Word(
        shortest + static_cast<int64_t>(rng_->Below(static_cast<uint64_t>(most - shortest + 1)))));
  }

  std::optional<std::string> Formatted(std::string_view format) {
    auto pick = [&](uint64_t low, uint64_t high) { return low + rng_->Below(high - low + 1); };
    const auto date = [&] {
      return fmt::format("20{:02}-{:02}-{:02}", pick(20, 30), pick(1, 12), pick(1, 28));
    };
    const auto time = [&] {
      return fmt::format("{:02}:{:02}:{:02}", pick(0, 23), pick(0, 59), pick(0, 59));
    };
    if (format == "date") return date();
    if (format == "time") return time() + "Z";
    if (format == "date-time") return date() + "T" + time() + "Z";
    if (format == "email") return Word(6) + "@" + Word(6) + ".example";
    if (format == "uri") return "https://" + Word(6) + ".example/" + Word(5);
    if (format == "ipv4") return fmt::format("192.0.2.{}", pick(1, 254));
    if (format == "uuid") {
      const uint64_t a = rng_->NextU64(), b = rng_->NextU64();
      return fmt::format("{:08x}-{:04x}-4{:03x}-8{:03x}-{:012x}", a >> 32, a >> 16 & 0xffff,
                         a & 0xfff, b >> 48 & 0xfff, b & 0xffffffffffff);
    }
    return std::nullopt;
  }

  // Something that can be spoken.
  std::string Word(int64_t length) {
    constexpr std::string_view kConsonants = "bdfgklmnprstvz", kVowels = "aeiou";
    std::string word;
    while (static_cast<int64_t>(word.size()) < length) {
      const std::string_view set = word.size() % 2 == 0 ? kConsonants : kVowels;
      word += set[rng_->Below(set.size())];
    }
    return word;
  }

  const Json& root_;
  Rng* const rng_;
};

}  // namespace

std::optional<Json> SampleFromSchema(const Json& schema, Rng* rng) {
  return SchemaSampler(schema, rng).Sample(schema, 0);
}

}  // namespace hone
