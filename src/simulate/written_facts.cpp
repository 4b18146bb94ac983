#include "simulate/written_facts.h"

#include <functional>

#include <fmt/format.h>

#include "simulate/answer_check.h"

namespace hone {
namespace {

using EarlierWrite = Sessions::EarlierWrite;

bool IsIdentifier(std::string_view name) { return name == "id" || name.ends_with("_id"); }

bool IsName(const Json& value) { return value.is_string() || value.is_integer(); }

// Whether two objects give a name the same value.
bool Share(const Json& a, const Json& b, const std::string& name) {
  const Json *first = a.Find(name), *second = b.Find(name);
  return first != nullptr && second != nullptr && IsName(*first) && *first == *second;
}

// Whether they give one name a value that names things, the same, and no identifier another one.
bool SameThing(const Json& write, const Json& other, bool identifiers_only) {
  if (!write.is_object() || !other.is_object()) return false;
  bool same = false;
  for (const auto& [name, value] : write.AsObject()) {
    if (other.Find(name) == nullptr) continue;
    if (Share(write, other, name)) {
      same |= !identifiers_only || IsIdentifier(name);
    } else if (IsIdentifier(name)) {
      return false;
    }
  }
  return same;
}

// What a write gave for a name, as far as the object it is about is concerned; null when nothing.
const Json* Given(const Json& arguments, const Json& answer, const std::string& name) {
  if (const Json* given = answer.Find(name)) return given;
  return arguments.Find(name);
}

// Walks over an answer and tells of every member that some write gave another value.
class FactWalk {
 public:
  using Found = std::function<void(const std::string& path, Json* said, const Json& written)>;

  FactWalk(const Json& arguments, std::span<const EarlierWrite> writes, Found found)
      : arguments_(arguments), found_(std::move(found)) {
    for (const EarlierWrite& write : writes) {
      if (write.status != CallStatus::kOk) continue;
      const Json answer = ValueOf(write.content);
      // An answer such as {"ok": true} is about the writing; one that names the thing is about it.
      writes_.push_back({write.arguments,
                         SameThing(write.arguments, answer, false) ? answer : Json(),
                         SameThing(write.arguments, arguments, false)});
    }
  }

  void Visit(Json* value, const std::string& path, bool top) {
    if (value->is_array()) {
      for (size_t i = 0; i < value->AsArray().size(); ++i) {
        Visit(&value->AsArray()[i], fmt::format("{}[{}]", path, i), false);
      }
    }
    if (!value->is_object()) return;
    for (auto& [name, member] : value->AsObject()) {
      const std::string at = path.empty() ? name : path + "." + name;
      if (const Json* written = LastGiven(*value, name, top); written && *written != member) {
        found_(at, &member, *written);
      } else {
        Visit(&member, at, false);
      }
    }
  }

 private:
  struct Fact {
    Json arguments;
    Json answer;      // null when it says nothing about the thing
    bool about_call;  // the write is about what the call asks for
  };

  const Json* LastGiven(const Json& object, const std::string& name, bool top) const {
    const Json* last = nullptr;
    for (const Fact& fact : writes_) {
      const bool about = (top && fact.about_call) || SameThing(fact.arguments, object, true);
      if (!about || Share(fact.arguments, arguments_, name)) continue;
      if (const Json* given = Given(fact.arguments, fact.answer, name)) last = given;
    }
    return last;
  }

  const Json& arguments_;
  const Found found_;
  std::vector<Fact> writes_;
};

}  // namespace

std::vector<EarlierWrite> RelevantWrites(const Json& arguments,
                                         std::span<const EarlierWrite> writes) {
  const bool asks_for_all = !arguments.is_object() || arguments.AsObject().empty();
  std::vector<EarlierWrite> relevant;
  for (const EarlierWrite& write : writes) {
    if (write.status != CallStatus::kOk) continue;
    if (asks_for_all || SameThing(write.arguments, arguments, false)) relevant.push_back(write);
  }
  return relevant;
}

std::string Contradiction::Text() const {
  return fmt::format("`{}`: {} was written, and the answer says {}", path, DumpJson(written),
                     DumpJson(said));
}

std::vector<Contradiction> Contradictions(const Json& arguments, const Json& answer,
                                          std::span<const EarlierWrite> writes) {
  std::vector<Contradiction> found;
  Json copy = answer;
  FactWalk(arguments, writes, [&](const std::string& path, Json* said, const Json& written) {
    found.push_back({path, *said, written});
  }).Visit(&copy, "", true);
  return found;
}

Json WithoutContradictions(const Json& arguments, Json answer,
                           std::span<const EarlierWrite> writes) {
  FactWalk(arguments, writes, [](const std::string&, Json* said, const Json& written) {
    *said = written;
  }).Visit(&answer, "", true);
  return answer;
}

}  // namespace hone
