#include "simulate/written_facts.h"

#include <functional>

#include <fmt/format.h>

#include "simulate/result_check.h"

namespace hone {
namespace {

using EarlierWrite = Sessions::EarlierWrite;

// Whether two objects give a name the same value.
bool Share(const Json& a, const Json& b, const std::string& name) {
  const Json *first = a.Find(name), *second = b.Find(name);
  return first != nullptr && second != nullptr && *first == *second;
}

// Whether two sets of arguments name a common thing, and none that differs.
bool SameThing(const Json& write, const Json& call) {
  if (!write.is_object() || !call.is_object()) return false;
  bool same = false;
  for (const auto& [name, value] : write.AsObject()) {
    const Json* other = call.Find(name);
    if (other == nullptr || other->kind() != value.kind()) continue;
    if (*other == value) {
      same |= value.is_string() || value.is_integer();
    } else if (IsIdentifying(name, value)) {
      return false;
    }
  }
  return same;
}

// Something that a write says of things: its arguments, or an object of its answer.
struct Statement {
  std::vector<Json::Member> things;  // what identifies them
  Json object;
};

// Walks over an answer and tells of every member that some write gave another value.
class FactWalk {
 public:
  using Found = std::function<void(const std::string& path, Json* said, const Json& written)>;

  FactWalk(const Json& arguments, std::span<const EarlierWrite> writes, Found found)
      : arguments_(arguments), found_(std::move(found)) {
    for (const EarlierWrite& write : writes) {
      if (write.status != CallStatus::kOk || !write.arguments.is_object()) continue;
      Collect(write.arguments, {});
      // An answer such as {"ok": true} is about the writing; one that names the thing is about it.
      const Json answer = ValueOf(write.content);
      if (SameThing(write.arguments, answer)) Collect(answer, {});
    }
  }

  void Visit(Json* answer) {
    context_.assign(1, arguments_);
    Walk(answer, "", true);
  }

 private:
  // The object and those inside it, each with all that identifies it.
  void Collect(const Json& object, std::vector<Json::Member> things) {
    for (const auto& [name, value] : object.AsObject()) {
      if (IsIdentifying(name, value) || Share(object, arguments_, name)) {
        things.emplace_back(name, value);
      }
    }
    for (const auto& [name, value] : object.AsObject()) {
      if (value.is_object()) Collect(value, things);
    }
    if (!things.empty()) statements_.push_back({std::move(things), object});
  }

  void Walk(Json* value, const std::string& path, bool top) {
    if (value->is_array()) {
      for (size_t i = 0; i < value->AsArray().size(); ++i) {
        Walk(&value->AsArray()[i], fmt::format("{}[{}]", path, i), false);
      }
    }
    if (!value->is_object()) return;
    context_.push_back(*value);
    for (auto& [name, member] : value->AsObject()) {
      const std::string at = path.empty() ? name : path + "." + name;
      const Json* written = LastGiven(context_.back(), name, top);
      if (written != nullptr && *written != member) {
        found_(at, &member, *written);
      } else {
        Walk(&member, at, false);
      }
    }
    context_.pop_back();
  }

  const Json* LastGiven(const Json& object, const std::string& name, bool top) const {
    const Json* last = nullptr;
    for (const Statement& statement : statements_) {
      const Json* given = statement.object.Find(name);
      if (given == nullptr || !IsAbout(statement, object, top)) continue;
      bool identifies = false;
      for (const auto& [thing, value] : statement.things) identifies |= thing == name;
      if (!identifies) last = given;
    }
    return last;
  }

  // Whether all that the statement is about is named by the object, by what it is inside of, or by
  // the call; at least one of it by the object itself, unless that is the whole answer.
  bool IsAbout(const Statement& statement, const Json& object, bool top) const {
    bool own = top;
    for (const auto& [name, value] : statement.things) {
      const Json* here = object.Find(name);
      if (here != nullptr && *here != value) return false;
      own |= here != nullptr;
      bool named = false;
      for (const Json& around : context_) {
        const Json* found = around.Find(name);
        named |= found != nullptr && *found == value;
      }
      if (!named) return false;
    }
    return own;
  }

  const Json arguments_;
  const Found found_;
  std::vector<Statement> statements_;
  std::vector<Json> context_;  // the call's arguments, then the objects around the present one
};

}  // namespace

bool IsIdentifying(std::string_view name, const Json& value) {
  if (!value.is_string()) return value.is_integer() && (name == "id" || name.ends_with("_id"));
  if (name == "id" || name.ends_with("_id")) return true;
  return value.AsString().find_first_of("0123456789@") != std::string::npos;
}

std::vector<EarlierWrite> RelevantWrites(const Json& arguments,
                                         std::span<const EarlierWrite> writes) {
  const bool asks_for_all = !arguments.is_object() || arguments.AsObject().empty();
  std::vector<EarlierWrite> relevant;
  for (const EarlierWrite& write : writes) {
    if (write.status != CallStatus::kOk) continue;
    if (asks_for_all || SameThing(write.arguments, arguments)) relevant.push_back(write);
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
  }).Visit(&copy);
  return found;
}

Json WithoutContradictions(const Json& arguments, Json answer,
                           std::span<const EarlierWrite> writes) {
  FactWalk(arguments, writes, [](const std::string&, Json* said, const Json& written) {
    *said = written;
  }).Visit(&answer);
  return answer;
}

}  // namespace hone
