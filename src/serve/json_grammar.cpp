#include "serve/json_grammar.h"

#include <algorithm>
#include <map>
#include <optional>
#include <set>

#include <fmt/format.h>

namespace hone {
namespace {

using Rule = Grammar::Rule;

constexpr int64_t kMostCounted = 4096;  // a place in the grammar each
constexpr size_t kMostParts = 1000;     // values of an enum, members of an object, ...

Grammar::Bytes BytesBetween(unsigned first, unsigned last) {
  Grammar::Bytes bytes;
  for (unsigned byte = first; byte <= last; ++byte) bytes.set(byte);
  return bytes;
}

Grammar::Bytes Letters(std::string_view letters) {
  Grammar::Bytes bytes;
  for (const char letter : letters) bytes.set(static_cast<unsigned char>(letter));
  return bytes;
}

// The parts that all values are made of, each made once.
class JsonParts {
 public:
  explicit JsonParts(Grammar* grammar) : g_(grammar) {
    blank_ = g_->Optional(g_->Literal(" "));
    comma_ = g_->Sequence({g_->Literal(","), blank_});
    colon_ = g_->Sequence({g_->Literal(":"), blank_});
    character_ = MakeCharacter();
    text_ = Text(0, Grammar::kNoLimit);
    const Rule digit = g_->OneOf(BytesBetween('0', '9'));
    const Rule whole =
        g_->Choice({g_->Literal("0"),
                    g_->Sequence({g_->OneOf(BytesBetween('1', '9')), g_->Repeat(digit, 0, 17)})});
    integer_ = g_->Sequence({g_->Optional(g_->Literal("-")), whole});
    const Rule fraction = g_->Sequence({g_->Literal("."), g_->Repeat(digit, 1, 17)});
    const Rule exponent =
        g_->Sequence({g_->OneOf(Letters("eE")), g_->Optional(g_->OneOf(Letters("+-"))),
                      g_->Repeat(digit, 1, 2)});
    number_ = g_->Sequence({integer_, g_->Optional(fraction), g_->Optional(exponent)});
    boolean_ = g_->Choice({g_->Literal("true"), g_->Literal("false")});
    nothing_ = g_->Literal("null");
    value_ = g_->Later();
    object_ = Map(value_);
    list_ = List(value_, 0, Grammar::kNoLimit);
    g_->Define(value_, g_->Choice({object_, list_, text_, number_, boolean_, nothing_}));
  }

  Rule Text(int64_t least, int64_t most) {
    return g_->Sequence(
        {g_->Literal("\""), g_->Repeat(character_, least, most), g_->Literal("\"")});
  }
  // An object of any names.
  Rule Map(Rule value) {
    const Rule member = g_->Sequence({text_, colon_, value});
    const Rule more = g_->Repeat(g_->Sequence({comma_, member}), 0);
    return g_->Sequence(
        {g_->Literal("{"), g_->Optional(g_->Sequence({member, more})), g_->Literal("}")});
  }
  Rule List(Rule item, int64_t least, int64_t most) {
    if (most == 0) return g_->Literal("[]");
    const int64_t others = most == Grammar::kNoLimit ? most : most - 1;
    const Rule more = g_->Sequence(
        {item, g_->Repeat(g_->Sequence({comma_, item}), std::max<int64_t>(least - 1, 0), others)});
    return g_->Sequence(
        {g_->Literal("["), least > 0 ? more : g_->Optional(more), g_->Literal("]")});
  }
  Rule Member(const std::string& name, Rule value) {
    return g_->Sequence({g_->Literal(DumpJson(Json(name))), colon_, value});
  }

  Rule comma() const { return comma_; }
  Rule text() const { return text_; }
  Rule integer() const { return integer_; }
  Rule number() const { return number_; }
  Rule boolean() const { return boolean_; }
  Rule nothing() const { return nothing_; }
  Rule object() const { return object_; }
  Rule list() const { return list_; }
  Rule value() const { return value_; }

 private:
  // One character of a text: itself in UTF-8, or escaped. Half of a surrogate pair is none.
  Rule MakeCharacter() {
    const Rule tail = g_->OneOf(BytesBetween(0x80, 0xbf));
    const auto lead = [&](unsigned first, unsigned last) {
      return g_->OneOf(BytesBetween(first, last));
    };
    Grammar::Bytes plain = BytesBetween(0x20, 0x7f);
    plain.reset('"');
    plain.reset('\\');
    const Rule hex = g_->OneOf(Letters("0123456789abcdefABCDEF"));
    const Rule code = g_->Choice(
        {g_->Sequence({g_->OneOf(Letters("0123456789abcefABCEF")), hex, hex, hex}),
         g_->Sequence({g_->OneOf(Letters("dD")), g_->OneOf(Letters("01234567")), hex, hex})});
    const Rule escaped = g_->Sequence(
        {g_->Literal("\\"),
         g_->Choice({g_->OneOf(Letters("\"\\/bfnrt")), g_->Sequence({g_->Literal("u"), code})})});
    return g_->Choice({g_->OneOf(plain), escaped, g_->Sequence({lead(0xc2, 0xdf), tail}),
                       g_->Sequence({lead(0xe0, 0xe0), lead(0xa0, 0xbf), tail}),
                       g_->Sequence({lead(0xe1, 0xec), tail, tail}),
                       g_->Sequence({lead(0xed, 0xed), lead(0x80, 0x9f), tail}),
                       g_->Sequence({lead(0xee, 0xef), tail, tail}),
                       g_->Sequence({lead(0xf0, 0xf0), lead(0x90, 0xbf), tail, tail}),
                       g_->Sequence({lead(0xf1, 0xf3), tail, tail, tail}),
                       g_->Sequence({lead(0xf4, 0xf4), lead(0x80, 0x8f), tail, tail})});
  }

  Grammar* g_;
  Rule blank_, comma_, colon_, character_, text_, integer_, number_, boolean_, nothing_, value_,
      object_, list_;
};

class SchemaReader {
 public:
  SchemaReader(const Json& root, SchemaForm form, Grammar* grammar)
      : root_(root), form_(form), g_(grammar), parts_(grammar) {}

  Result<Rule> Read(const Json& schema, const std::string& where) {
    if (schema.is_bool() && schema.AsBool()) return parts_.value();
    if (!schema.is_object()) return Cannot(where, "is no schema that anything fits");
    if (const Json* reference = schema.Find("$ref")) return ReadReference(*reference, where);
    HONE_RETURN_IF_ERROR(CheckKeywords(schema, where));
    if (const Json* only = schema.Find("const")) return g_->Literal(DumpJson(*only));
    if (const Json* values = schema.Find("enum")) return ReadEnum(*values, where);
    if (const Json* any = schema.Find("anyOf")) return ReadAny(*any, where + "/anyOf");
    const Json* type = schema.Find("type");
    if (type == nullptr) {
      if (schema.Find("properties") != nullptr) return ReadObject(schema, where);
      if (schema.Find("items") != nullptr) return ReadList(schema, where);
      return parts_.value();
    }
    if (type->is_string()) return ReadType(schema, type->AsString(), where);
    if (!type->is_array() || type->AsArray().empty()) return Cannot(where + "/type", "is no type");
    std::vector<Rule> choices;
    for (const Json& one : type->AsArray()) {
      if (!one.is_string()) return Cannot(where + "/type", "is no type");
      HONE_ASSIGN_OR_RETURN(const Rule rule, ReadType(schema, one.AsString(), where));
      choices.push_back(rule);
    }
    return g_->Choice(std::move(choices));
  }

 private:
  Error Cannot(const std::string& where, std::string_view why) const {
    return Error(ErrorCode::kUnsupported,
                 fmt::format("{} {}", where.empty() ? "#" : "#" + where, why));
  }

  Error TooMany(const std::string& where) const {
    return Cannot(where, fmt::format("has more than {} parts", kMostParts));
  }

  Result<void> CheckKeywords(const Json& schema, const std::string& where) const {
    static const std::set<std::string_view> kKnown = {
        "type",        "properties", "required",    "additionalProperties",
        "items",       "minItems",   "maxItems",    "minLength",
        "maxLength",   "enum",       "const",       "anyOf",
        "title",       "default",    "description", "examples",
        "$schema",     "$id",        "$comment",    "$defs",
        "definitions", "deprecated", "readOnly",    "writeOnly",
        "strict",      "x-hone"};
    if (form_ == SchemaForm::kLoose) return {};
    for (const auto& [key, value] : schema.AsObject()) {
      if (kKnown.contains(key)) continue;
      return Cannot(where, fmt::format("says `{}`, which cannot be kept to while a turn is drawn; "
                                       "leave it out and check the answer",
                                       key));
    }
    return {};
  }

  Result<Rule> ReadReference(const Json& reference, const std::string& where) {
    if (!reference.is_string()) return Cannot(where + "/$ref", "is no text");
    const std::string& name = reference.AsString();
    if (const auto known = references_.find(name); known != references_.end()) {
      return known->second;
    }
    const Json* found = &root_;
    if (!name.starts_with('#')) return Cannot(where, "refers outside of the schema: " + name);
    for (size_t at = 1; at < name.size() && found != nullptr;) {
      const size_t end = std::min(name.find('/', at + 1), name.size());
      found = found->is_object() ? found->Find(name.substr(at + 1, end - at - 1)) : nullptr;
      at = end;
    }
    if (found == nullptr) return Cannot(where, "refers to what is not there: " + name);
    const Rule rule = g_->Later();
    references_.emplace(name, rule);
    HONE_ASSIGN_OR_RETURN(const Rule meant, Read(*found, name.substr(1)));
    if (meant == rule) return Cannot(where, "refers to itself");
    g_->Define(rule, meant);
    return rule;
  }

  Result<Rule> ReadEnum(const Json& values, const std::string& where) {
    if (!values.is_array() || values.AsArray().empty()) {
      return Cannot(where + "/enum", "has no values");
    }
    if (values.AsArray().size() > kMostParts) return TooMany(where + "/enum");
    std::vector<Rule> choices;
    for (const Json& value : values.AsArray()) choices.push_back(g_->Literal(DumpJson(value)));
    return g_->Choice(std::move(choices));
  }

  Result<Rule> ReadAny(const Json& schemas, const std::string& where) {
    if (!schemas.is_array() || schemas.AsArray().empty()) return Cannot(where, "has no schemas");
    if (schemas.AsArray().size() > kMostParts) return TooMany(where);
    std::vector<Rule> choices;
    for (size_t i = 0; i < schemas.AsArray().size(); ++i) {
      HONE_ASSIGN_OR_RETURN(const Rule rule,
                            Read(schemas.AsArray()[i], fmt::format("{}/{}", where, i)));
      choices.push_back(rule);
    }
    return g_->Choice(std::move(choices));
  }

  Result<Rule> ReadType(const Json& schema, std::string_view type, const std::string& where) {
    if (type == "object") return ReadObject(schema, where);
    if (type == "array") return ReadList(schema, where);
    if (type == "string") {
      HONE_ASSIGN_OR_RETURN(const auto limits, Limits(schema, "minLength", "maxLength", where));
      return parts_.Text(limits.first, limits.second);
    }
    if (type == "integer") return parts_.integer();
    if (type == "number") return parts_.number();
    if (type == "boolean") return parts_.boolean();
    if (type == "null") return parts_.nothing();
    return Cannot(where + "/type", fmt::format("is unknown: {}", type));
  }

  Result<std::pair<int64_t, int64_t>> Limits(const Json& schema, const char* least,
                                             const char* most, const std::string& where) const {
    std::pair<int64_t, int64_t> limits{0, Grammar::kNoLimit};
    for (const auto& [key, value] :
         {std::pair{least, &limits.first}, std::pair{most, &limits.second}}) {
      const Json* found = schema.Find(key);
      if (found == nullptr) continue;
      if (!found->is_integer() || found->AsInteger() < 0) {
        return Cannot(where, fmt::format("wants a whole number in {}", key));
      }
      if (found->AsInteger() > kMostCounted) {
        if (form_ == SchemaForm::kLoose) continue;
        return Cannot(where, fmt::format("counts further than {} in {}", kMostCounted, key));
      }
      *value = found->AsInteger();
    }
    if (limits.second != Grammar::kNoLimit && limits.second < limits.first) {
      return Cannot(where, fmt::format("has {} below {}", most, least));
    }
    return limits;
  }

  Result<Rule> ReadList(const Json& schema, const std::string& where) {
    HONE_ASSIGN_OR_RETURN(const auto limits, Limits(schema, "minItems", "maxItems", where));
    const Json* items = schema.Find("items");
    Rule item = parts_.value();
    if (items != nullptr) {
      HONE_ASSIGN_OR_RETURN(item, Read(*items, where + "/items"));
    }
    return parts_.List(item, limits.first, limits.second);
  }

  Result<Rule> ReadObject(const Json& schema, const std::string& where) {
    const Json *properties = schema.Find("properties"), *required = schema.Find("required"),
               *additional = schema.Find("additionalProperties");
    std::set<std::string> needed;
    if (required != nullptr) {
      if (!required->is_array()) return Cannot(where + "/required", "is no list");
      for (const Json& name : required->AsArray()) {
        const bool known = name.is_string() && properties != nullptr && properties->is_object() &&
                           properties->Find(name.AsString()) != nullptr;
        if (!known) return Cannot(where + "/required", "names what is no property");
        needed.insert(name.AsString());
      }
    }
    if (properties == nullptr || !properties->is_object() || properties->AsObject().empty()) {
      if (properties != nullptr || (additional != nullptr && *additional == Json(false))) {
        return g_->Literal("{}");
      }
      if (additional == nullptr || additional->is_bool()) return parts_.object();
      HONE_ASSIGN_OR_RETURN(const Rule value, Read(*additional, where + "/additionalProperties"));
      return parts_.Map(value);
    }
    if (properties->AsObject().size() > kMostParts) return TooMany(where + "/properties");
    std::vector<std::pair<Rule, bool>> members;  // in their order; whether each must be there
    for (const auto& [name, value] : properties->AsObject()) {
      HONE_ASSIGN_OR_RETURN(const Rule rule,
                            Read(value, fmt::format("{}/properties/{}", where, name)));
      members.emplace_back(parts_.Member(name, rule), needed.contains(name));
    }
    return g_->Sequence({g_->Literal("{"), Members(members), g_->Literal("}")});
  }

  // From the last to the first: what may follow where no member, or some, came before.
  Rule Members(const std::vector<std::pair<Rule, bool>>& members) {
    Rule first = g_->Literal(""), later = g_->Literal("");
    for (auto member = members.rbegin(); member != members.rend(); ++member) {
      const Rule begins = g_->Sequence({member->first, later});
      const Rule goes_on = g_->Sequence({parts_.comma(), member->first, later});
      first = member->second ? begins : g_->Choice({begins, first});
      later = member->second ? goes_on : g_->Choice({goes_on, later});
    }
    return first;
  }

  const Json& root_;
  const SchemaForm form_;
  Grammar* g_;
  JsonParts parts_;
  std::map<std::string, Rule> references_;
};

}  // namespace

Result<Grammar::Rule> JsonTexts(const Json& schema, SchemaForm form, Grammar* grammar) {
  return SchemaReader(schema, form, grammar).Read(schema, "");
}

Grammar::Rule JsonObjectTexts(Grammar* grammar) { return JsonParts(grammar).object(); }

}  // namespace hone
