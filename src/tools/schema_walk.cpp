// Walks schema and value together. Kept apart from the walk: what a subschema says of which members
// and items have been looked at, for "unevaluatedProperties" and "unevaluatedItems".

#include "tools/schema_walk.h"

#include <algorithm>
#include <cmath>
#include <optional>
#include <set>
#include <string>
#include <vector>

#include <fmt/format.h>

#include "base/check.h"
#include "tools/formats/formats.h"
#include "tools/same_value.h"

namespace hone {

bool IsSchema(const Json& json) { return json.is_object() || json.is_bool(); }

bool IsWhole(const Json& value) {
  return value.is_integer() || value.kind() == Json::Kind::kBigInteger ||
         (value.kind() == Json::Kind::kReal && std::isfinite(value.AsDouble()) &&
          std::floor(value.AsDouble()) == value.AsDouble());
}

std::string Shown(const Json& value) {
  std::string text = DumpJson(value);
  constexpr size_t kMost = 60;
  if (text.size() <= kMost) return text;
  size_t cut = kMost;
  while (cut > 0 && (static_cast<unsigned char>(text[cut]) & 0xC0) == 0x80) --cut;
  return text.substr(0, cut) + "…";
}

namespace {

constexpr size_t kMostProblems = 20;

bool HasType(const Json& value, std::string_view type) {
  if (type == "integer") return IsWhole(value);
  if (type == "number") return value.is_number();
  if (type == "string") return value.is_string();
  if (type == "boolean") return value.is_bool();
  if (type == "null") return value.is_null();
  if (type == "array") return value.is_array();
  return type == "object" && value.is_object();
}

bool IsMultiple(const Json& value, const Json& unit) {
  if (value.is_integer() && unit.is_integer()) return value.AsInteger() % unit.AsInteger() == 0;
  const double quotient = value.AsDouble() / unit.AsDouble();
  if (!std::isfinite(quotient)) return false;
  return std::abs(quotient - std::nearbyint(quotient)) <= 1e-9 * std::max(1.0, std::abs(quotient));
}

std::string Member(const std::string& path, const std::string& name) {
  return path.empty() ? name : path + "." + name;
}
std::string ItemPath(const std::string& path, size_t index) {
  return fmt::format("{}[{}]", path, index);
}

// Which members and items of one value some subschema has looked at.
struct Evaluated {
  std::set<std::string> members;
  std::set<size_t> items;
  bool all_members = false, all_items = false;

  void Add(const Evaluated& other) {
    members.insert(other.members.begin(), other.members.end());
    items.insert(other.items.begin(), other.items.end());
    all_members |= other.all_members;
    all_items |= other.all_items;
  }
};

// One walk over a value. Problems go to `problems`, or nowhere when a branch is only tried.
class SchemaWalk {
 public:
  using Problems = std::vector<JsonSchema::Problem>;

  SchemaWalk(const SchemaOptions& options, const SchemaReferences& references,
             const SchemaPatterns& patterns)
      : draft_(options.draft),
        assert_format_(options.assert_format),
        references_(references),
        patterns_(patterns) {}

  bool Fits(const Json& schema, const Json& value, const std::string& path, Evaluated* seen,
            Problems* problems) const {
    if (schema.is_bool()) {
      if (!schema.AsBool()) Say(problems, path, "nothing is allowed here");
      return schema.AsBool();
    }
    bool fits = true;
    Evaluated below;  // a schema knows what its own subschemas looked at, not what its siblings did
    if (const auto found = references_.find(&schema); found != references_.end()) {
      fits &= Fits(*found->second, value, path, &below, problems);
      if (draft_ == SchemaDraft::kDraft7) return fits;
    }
    fits &= FitsAnyType(schema, value, path, problems);
    fits &= FitsLogic(schema, value, path, &below, problems);
    if (value.is_number()) fits &= FitsNumber(schema, value, path, problems);
    if (value.is_string()) fits &= FitsString(schema, value, path, problems);
    if (value.is_array()) fits &= FitsArray(schema, value, path, &below, problems);
    if (value.is_object()) fits &= FitsObject(schema, value, path, &below, problems);
    seen->Add(below);
    return fits;
  }

  const std::optional<JsonSchema::Problem>& undecided() const { return undecided_; }

 private:
  static bool Say(Problems* problems, const std::string& path, std::string message) {
    if (problems != nullptr && problems->size() < kMostProblems) {
      problems->push_back({path, std::move(message), false});
    }
    return false;
  }

  static bool FitsAnyType(const Json& schema, const Json& value, const std::string& path,
                          Problems* problems) {
    bool fits = true;
    if (const Json* type = schema.Find("type")) {
      const Json::Array types = type->is_array() ? type->AsArray() : Json::Array{*type};
      const bool some = std::any_of(types.begin(), types.end(), [&](const Json& one) {
        return HasType(value, one.AsString());
      });
      if (!some) {
        std::string names;
        for (const Json& one : types) names += (names.empty() ? "" : " or ") + one.AsString();
        fits = Say(problems, path, fmt::format("expected {}, got {}", names, Shown(value)));
      }
    }
    if (const Json* values = schema.Find("enum")) {
      const auto& list = values->AsArray();
      if (std::none_of(list.begin(), list.end(),
                       [&](const Json& one) { return SameValue(one, value); })) {
        std::string names;
        for (const Json& one : list) {
          if (names.size() > 200) {
            names += ", …";
            break;
          }
          names += (names.empty() ? "" : ", ") + Shown(one);
        }
        fits = Say(problems, path, fmt::format("expected one of {}, got {}", names, Shown(value)));
      }
    }
    if (const Json* only = schema.Find("const"); only != nullptr && !SameValue(*only, value)) {
      fits = Say(problems, path, fmt::format("expected {}, got {}", Shown(*only), Shown(value)));
    }
    return fits;
  }

  static bool FitsNumber(const Json& schema, const Json& value, const std::string& path,
                         Problems* problems) {
    const double number = value.AsDouble();
    bool fits = true;
    auto bound = [&](const char* key, const char* words, auto holds) {
      const Json* limit = schema.Find(key);
      if (limit != nullptr && !holds(number, limit->AsDouble())) {
        fits = Say(problems, path,
                   fmt::format("expected {} {}, got {}", words, Shown(*limit), Shown(value)));
      }
    };
    bound("minimum", "at least", [](double a, double b) { return a >= b; });
    bound("maximum", "at most", [](double a, double b) { return a <= b; });
    bound("exclusiveMinimum", "more than", [](double a, double b) { return a > b; });
    bound("exclusiveMaximum", "less than", [](double a, double b) { return a < b; });
    if (const Json* unit = schema.Find("multipleOf");
        unit != nullptr && !IsMultiple(value, *unit)) {
      fits = Say(problems, path,
                 fmt::format("expected a multiple of {}, got {}", Shown(*unit), Shown(value)));
    }
    return fits;
  }

  static bool FitsCount(const Json& schema, const char* least, const char* most, size_t count,
                        const char* of, const std::string& path, Problems* problems) {
    bool fits = true;
    const auto number = static_cast<double>(count);
    if (const Json* limit = schema.Find(least); limit != nullptr && number < limit->AsDouble()) {
      fits = Say(problems, path,
                 fmt::format("expected at least {} {}, got {}", Shown(*limit), of, count));
    }
    if (const Json* limit = schema.Find(most); limit != nullptr && number > limit->AsDouble()) {
      fits = Say(problems, path,
                 fmt::format("expected at most {} {}, got {}", Shown(*limit), of, count));
    }
    return fits;
  }

  bool FitsString(const Json& schema, const Json& value, const std::string& path,
                  Problems* problems) const {
    const std::string& text = value.AsString();
    const auto length = static_cast<size_t>(std::count_if(text.begin(), text.end(), [](char c) {
      return (static_cast<unsigned char>(c) & 0xC0) != 0x80;
    }));
    bool fits = FitsCount(schema, "minLength", "maxLength", length, "characters", path, problems);
    const Json* pattern = schema.Find("pattern");
    if (pattern != nullptr && pattern->is_string() &&
        !Matches(schema, pattern->AsString(), text, path)) {
      fits = Say(problems, path,
                 fmt::format("expected text like {}, got {}", pattern->AsString(), Shown(value)));
    }
    const Json* format = assert_format_ ? schema.Find("format") : nullptr;
    if (format != nullptr && format->is_string() && !HasFormat(format->AsString(), text)) {
      fits = Say(problems, path,
                 fmt::format("expected a text of the format {}, got {}", format->AsString(),
                             Shown(value)));
    }
    return fits;
  }

  bool FitsLogic(const Json& schema, const Json& value, const std::string& path, Evaluated* seen,
                 Problems* problems) const {
    bool fits = true;
    if (const Json* all = schema.Find("allOf")) {
      for (const Json& sub : all->AsArray()) fits &= Fits(sub, value, path, seen, problems);
    }
    if (const Json* any = schema.Find("anyOf")) {
      bool some = false;
      Problems of_only;
      for (const Json& sub : any->AsArray()) {
        Evaluated own;
        Problems tried;
        if (Fits(sub, value, path, &own, &tried)) {
          some = true;
          seen->Add(own);
        } else if (of_only.empty() || tried.size() < of_only.size()) {
          of_only = std::move(tried);  // the nearest miss
        }
      }
      if (!some) {
        const std::string nearest = of_only.empty() ? "" : "; nearest: " + of_only[0].Text();
        fits =
            Say(problems, path,
                fmt::format("expected one of {} alternatives{}", any->AsArray().size(), nearest));
      }
    }
    if (const Json* one = schema.Find("oneOf")) {
      size_t fitting = 0;
      Evaluated of_fitting;
      for (const Json& sub : one->AsArray()) {
        Evaluated own;
        if (Fits(sub, value, path, &own, nullptr)) {
          ++fitting;
          of_fitting = std::move(own);
        }
      }
      if (fitting == 1) {
        seen->Add(of_fitting);
      } else {
        fits = Say(problems, path,
                   fmt::format("expected exactly one of {} alternatives, {} fit",
                               one->AsArray().size(), fitting));
      }
    }
    if (const Json* none = schema.Find("not")) {
      Evaluated ignored;
      if (Fits(*none, value, path, &ignored, nullptr)) {
        fits = Say(problems, path, fmt::format("{} is not allowed", Shown(value)));
      }
    }
    if (const Json* condition = schema.Find("if")) {
      Evaluated own;
      const bool holds = Fits(*condition, value, path, &own, nullptr);
      if (holds) seen->Add(own);
      if (const Json* branch = schema.Find(holds ? "then" : "else")) {
        fits &= Fits(*branch, value, path, seen, problems);
      }
    }
    return fits;
  }

  static bool FitsUnique(const Json::Array& array, const std::string& path, Problems* problems) {
    bool fits = true;
    for (const auto& [later, earlier] : RepeatedItems(array)) {
      fits = Say(problems, ItemPath(path, later), fmt::format("the same as item {}", earlier));
    }
    return fits;
  }

  // Where that cannot be found out, the first such place is kept, and what is returned does not
  // matter any more.
  bool Matches(const Json& schema, const std::string& pattern, std::string_view text,
               const std::string& path) const {
    const std::optional<bool> found = patterns_.at(&schema).at(pattern).Finds(text);
    if (!found && !undecided_) {
      undecided_ = {path,
                    fmt::format("could not be checked: to find out whether it is like {} takes too "
                                "long",
                                pattern),
                    true};
    }
    return found.value_or(true);
  }

  bool FitsArray(const Json& schema, const Json& value, const std::string& path, Evaluated* seen,
                 Problems* problems) const {
    const Json::Array& array = value.AsArray();
    bool fits = FitsCount(schema, "minItems", "maxItems", array.size(), "items", path, problems);
    auto fits_item = [&](const Json& sub, size_t i) {
      Evaluated own;
      return Fits(sub, array[i], ItemPath(path, i), &own, problems);
    };
    if (const Json* unique = schema.Find("uniqueItems");
        unique != nullptr && *unique == Json(true)) {
      fits &= FitsUnique(array, path, problems);
    }
    // The first items one by one, then the rest: under other names in the two drafts.
    const bool draft7 = draft_ == SchemaDraft::kDraft7;
    const Json* items = schema.Find("items");
    const bool list = items != nullptr && items->is_array();
    const Json* first = draft7 ? (list ? items : nullptr) : schema.Find("prefixItems");
    const Json* rest =
        draft7 ? (list ? schema.Find("additionalItems") : items) : (list ? nullptr : items);
    size_t next = 0;
    if (first != nullptr && first->is_array()) {
      for (; next < std::min(array.size(), first->AsArray().size()); ++next) {
        fits &= fits_item(first->AsArray()[next], next);
        seen->items.insert(next);
      }
    }
    if (rest != nullptr) {
      for (; next < array.size(); ++next) fits &= fits_item(*rest, next);
      seen->all_items = true;
    }
    if (const Json* contains = schema.Find("contains")) {
      size_t found = 0;
      for (size_t i = 0; i < array.size(); ++i) {
        Evaluated own;
        if (!Fits(*contains, array[i], ItemPath(path, i), &own, nullptr)) continue;
        ++found;
        if (!draft7) seen->items.insert(i);
      }
      const Json* least = draft7 ? nullptr : schema.Find("minContains");
      const Json* most = draft7 ? nullptr : schema.Find("maxContains");
      const double wanted = least != nullptr ? least->AsDouble() : 1;
      if (static_cast<double>(found) < wanted ||
          (most != nullptr && static_cast<double>(found) > most->AsDouble())) {
        fits = Say(problems, path,
                   fmt::format("{} of its items are of the kind that is asked for", found));
      }
    }
    const Json* others = draft7 ? nullptr : schema.Find("unevaluatedItems");
    if (others != nullptr && !seen->all_items) {
      for (size_t i = 0; i < array.size(); ++i) {
        if (!seen->items.contains(i)) fits &= fits_item(*others, i);
      }
      seen->all_items = true;
    }
    return fits;
  }

  bool FitsObject(const Json& schema, const Json& value, const std::string& path, Evaluated* seen,
                  Problems* problems) const {
    const Json::Object& object = value.AsObject();
    bool fits = FitsCount(schema, "minProperties", "maxProperties", object.size(), "members", path,
                          problems);
    if (const Json* required = schema.Find("required")) {
      for (const Json& name : required->AsArray()) {
        if (value.Find(name.AsString()) == nullptr) {
          fits = Say(problems, Member(path, name.AsString()), "is missing");
        }
      }
    }
    fits &= FitsDependencies(schema, value, path, seen, problems);
    const Json *properties = schema.Find("properties"),
               *by_pattern = schema.Find("patternProperties"),
               *others = schema.Find("additionalProperties"), *names = schema.Find("propertyNames");
    for (const Json::Member& entry : object) {
      const std::string& name = entry.first;
      const Json& member = entry.second;
      const std::string at = Member(path, name);
      if (names != nullptr) {
        Evaluated own;
        if (!Fits(*names, Json(name), at, &own, nullptr)) {
          fits = Say(problems, at, "a member of this name is not allowed");
        }
      }
      bool known = false;
      auto fits_member = [&](const Json& sub) {
        Evaluated own;
        known = true;
        return Fits(sub, member, at, &own, problems);
      };
      if (const Json* sub = properties == nullptr ? nullptr : properties->Find(name)) {
        fits &= fits_member(*sub);
      }
      if (by_pattern != nullptr) {
        for (const auto& [pattern, sub] : by_pattern->AsObject()) {
          if (Matches(schema, pattern, name, at)) fits &= fits_member(sub);
        }
      }
      if (!known && others != nullptr) {
        if (*others == Json(false)) {
          fits = Say(problems, at, "a member of this name is not allowed");
          known = true;
        } else {
          fits &= fits_member(*others);
        }
      }
      if (known) seen->members.insert(name);
    }
    const Json* unseen =
        draft_ == SchemaDraft::kDraft7 ? nullptr : schema.Find("unevaluatedProperties");
    if (unseen != nullptr && !seen->all_members) {
      for (const auto& [name, member] : object) {
        if (seen->members.contains(name)) continue;
        Evaluated own;
        fits &= Fits(*unseen, member, Member(path, name), &own, problems);
      }
      seen->all_members = true;
    }
    return fits;
  }

  bool FitsDependencies(const Json& schema, const Json& value, const std::string& path,
                        Evaluated* seen, Problems* problems) const {
    bool fits = true;
    auto names_present = [&](const std::string& name, const Json& needed) {
      for (const Json& other : needed.AsArray()) {
        if (other.is_string() && value.Find(other.AsString()) == nullptr) {
          fits = Say(problems, Member(path, other.AsString()),
                     fmt::format("is missing, and `{}` needs it", name));
        }
      }
    };
    for (const char* key : {"dependentRequired", "dependentSchemas", "dependencies"}) {
      const bool old = std::string_view(key) == "dependencies";
      const Json* named = schema.Find(key);
      if (named == nullptr || !named->is_object() || old != (draft_ == SchemaDraft::kDraft7))
        continue;
      for (const auto& [name, needed] : named->AsObject()) {
        if (value.Find(name) == nullptr) continue;
        if (needed.is_array()) {
          names_present(name, needed);
        } else if (IsSchema(needed)) {
          fits &= Fits(needed, value, path, seen, problems);
        }
      }
    }
    return fits;
  }

  SchemaDraft draft_;
  bool assert_format_;
  const SchemaReferences& references_;
  const SchemaPatterns& patterns_;
  mutable std::optional<JsonSchema::Problem> undecided_;
};

}  // namespace

std::vector<JsonSchema::Problem> WalkSchema(const SchemaOptions& options,
                                            const SchemaReferences& references,
                                            const SchemaPatterns& patterns, const Json& schema,
                                            const Json& value) {
  std::vector<JsonSchema::Problem> problems;
  Evaluated seen;
  const SchemaWalk walk(options, references, patterns);
  const bool fits = walk.Fits(schema, value, "", &seen, &problems);
  if (walk.undecided()) return {*walk.undecided()};
  CHECK(fits == problems.empty(), "a value that does not fit has a problem");
  return problems;
}

}  // namespace hone
