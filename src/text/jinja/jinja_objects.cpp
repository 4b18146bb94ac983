#include "text/jinja/jinja_objects.h"

#include <ctime>

#include <algorithm>
#include <array>

#include <fmt/format.h>

#include "text/jinja/jinja_access.h"
#include "text/jinja/jinja_print.h"

namespace hone {
namespace {

using Arguments = JinjaArguments;
using Value = JinjaValue;
using Bound = std::vector<std::optional<Value>>;

constexpr int64_t kLongestRange = 100'000;  // as Jinja's sandbox has it

// A dict of the arguments: those of another dict (or pairs) first, then those with names.
Result<JinjaDict> DictOf(JinjaRun* run, const Arguments& arguments) {
  if (arguments.positional.size() > 1) return BadJinja("takes at most one argument without a name");
  JinjaDict dict;
  for (const Value& base : arguments.positional) {
    if (base.is_dict()) {
      dict.members = base.AsDict().members;
      continue;
    }
    HONE_ASSIGN_OR_RETURN(const std::vector<Value> pairs, Iterate(run, base));
    for (const Value& pair : pairs) {
      HONE_ASSIGN_OR_RETURN(const std::vector<Value> parts, Iterate(run, pair));
      if (parts.size() != 2 || !IsHashable(parts[0])) return BadJinja("a dict is made of pairs");
      HONE_RETURN_IF_ERROR(run->Charge(static_cast<int64_t>(dict.members.size())));
      dict.Set(parts[0], parts[1]);
    }
  }
  for (const auto& [name, value] : arguments.named) dict.Set(Value::Text(name), value);
  return dict;
}

Result<Value> MakeRange(JinjaRun*, const Value&, const Arguments& arguments) {
  const auto& given = arguments.positional;
  if (!arguments.named.empty() || given.empty() || given.size() > 3) {
    return BadJinja("range takes one to three numbers");
  }
  for (const Value& value : given) {
    if (value.is_undefined()) return BadJinja(value.Why());
    if (!value.AsInteger())
      return BadJinja("range wants whole numbers, not '" + value.TypeName() + "'");
  }
  JinjaRange range;
  if (given.size() > 1) range.start = *given[0].AsInteger();
  range.stop = *given[given.size() > 1 ? 1 : 0].AsInteger();
  if (given.size() == 3) range.step = *given[2].AsInteger();
  if (range.step == 0) return BadJinja("range wants a step other than 0");
  if (range.size() > kLongestRange || range.size() < 0) {
    return BadJinja(fmt::format("a range of more than {} numbers is not allowed", kLongestRange));
  }
  return Value(range);
}

Result<Value> MakeDict(JinjaRun* run, const Value&, const Arguments& arguments) {
  HONE_ASSIGN_OR_RETURN(JinjaDict dict, DictOf(run, arguments));
  return Value::Dict(std::move(dict));
}

Result<Value> MakeNamespace(JinjaRun* run, const Value&, const Arguments& arguments) {
  HONE_ASSIGN_OR_RETURN(JinjaDict dict, DictOf(run, arguments));
  return Value(
      static_cast<JinjaObject*>(run->Keep(std::make_unique<JinjaNamespace>(std::move(dict)))));
}

// cycler(a, b, ...): one after the other, again and again.
class Cycler final : public JinjaObject {
 public:
  Cycler(std::vector<Value> items, JinjaRun* run) : items_(std::move(items)), run_(run) {}
  std::string TypeName() const override { return "Cycler"; }
  std::optional<Value> Member(std::string_view name) const override {
    if (name == "current") return items_[at_];
    const auto method = [&](JinjaFunction::Body body) {
      return Value(static_cast<JinjaObject*>(run_->Keep(std::make_unique<JinjaFunction>(
          std::string(name), Value(static_cast<JinjaObject*>(const_cast<Cycler*>(this))), body))));
    };
    if (name == "next") return method(&Next);
    if (name == "reset") return method(&Reset);
    return std::nullopt;
  }

 private:
  static Result<Value> Next(JinjaRun*, const Value& self, const Arguments&) {
    auto* cycler = static_cast<Cycler*>(self.AsObject());
    const Value current = cycler->items_[cycler->at_];
    cycler->at_ = (cycler->at_ + 1) % cycler->items_.size();
    return current;
  }
  static Result<Value> Reset(JinjaRun*, const Value& self, const Arguments&) {
    static_cast<Cycler*>(self.AsObject())->at_ = 0;
    return Value();
  }

  std::vector<Value> items_;
  size_t at_ = 0;
  JinjaRun* run_;
};

Result<Value> MakeCycler(JinjaRun* run, const Value&, const Arguments& arguments) {
  if (arguments.positional.empty()) return BadJinja("cycler wants at least one value");
  return Value(
      static_cast<JinjaObject*>(run->Keep(std::make_unique<Cycler>(arguments.positional, run))));
}

// joiner(separator): nothing the first time, then the separator.
class Joiner final : public JinjaObject {
 public:
  explicit Joiner(Value separator) : separator_(std::move(separator)) {}
  std::string TypeName() const override { return "Joiner"; }
  bool callable() const override { return true; }
  Result<Value> Call(JinjaRun*, const Arguments&) override {
    return std::exchange(used_, true) ? separator_ : Value::Text("");
  }

 private:
  Value separator_;
  bool used_ = false;
};

Result<Value> MakeJoiner(JinjaRun* run, const Value&, const Arguments& arguments) {
  HONE_ASSIGN_OR_RETURN(const Bound bound, BindArguments("joiner", arguments, {"sep"}, 0));
  return Value(static_cast<JinjaObject*>(
      run->Keep(std::make_unique<Joiner>(bound[0].value_or(Value::Text(", "))))));
}

Result<Value> RaiseException(JinjaRun* run, const Value&, const Arguments& arguments) {
  HONE_ASSIGN_OR_RETURN(const Bound bound,
                        BindArguments("raise_exception", arguments, {"message"}, 1));
  HONE_ASSIGN_OR_RETURN(const JinjaText message, ToText(run, *bound[0]));
  return BadJinja("the template refuses: " + message.bytes());
}

Result<Value> StrftimeNow(JinjaRun* run, const Value&, const Arguments& arguments) {
  HONE_ASSIGN_OR_RETURN(const Bound bound, BindArguments("strftime_now", arguments, {"format"}, 1));
  if (!bound[0]->is_text()) return BadJinja("strftime_now wants a format");
  const JinjaText& format = bound[0]->AsText();
  HONE_RETURN_IF_ERROR(run->ChargeText(format.size() * 16));
  return Value(format.Became(FormatTime(run->now(), format.bytes())));
}

Result<Value> LoopCycle(JinjaRun*, const Value& self, const Arguments& arguments) {
  if (arguments.positional.empty()) return BadJinja("cycle wants at least one value");
  const auto* loop = static_cast<const JinjaLoop*>(self.AsObject());
  return arguments.positional[loop->index() % arguments.positional.size()];
}

Result<Value> LoopChanged(JinjaRun*, const Value& self, const Arguments& arguments) {
  return Value(static_cast<JinjaLoop*>(self.AsObject())->Changed(arguments.positional));
}

}  // namespace

std::optional<JinjaValue> JinjaNamespace::Member(std::string_view name) const {
  const JinjaValue* found = members_.Find(name);
  return found == nullptr ? std::nullopt : std::optional<JinjaValue>(*found);
}

void JinjaNamespace::Set(std::string_view name, JinjaValue value) {
  members_.Set(JinjaValue::Text(std::string(name)), std::move(value));
}

std::optional<JinjaValue> JinjaLoop::Member(std::string_view name) const {
  const auto index = static_cast<int64_t>(index_), size = static_cast<int64_t>(items_.size());
  if (name == "index") return Value(index + 1);
  if (name == "index0") return Value(index);
  if (name == "revindex") return Value(size - index);
  if (name == "revindex0") return Value(size - index - 1);
  if (name == "first") return Value(index == 0);
  if (name == "last") return Value(index + 1 == size);
  if (name == "length") return Value(size);
  if (name == "depth") return Value(depth_ + 1);
  if (name == "depth0") return Value(depth_);
  if (name == "previtem") {
    // A loop that is over has let go of its items.
    return index == 0 || index > size ? Value::Undefined("there is no previous item")
                                      : items_[index_ - 1];
  }
  if (name == "nextitem") {
    return index + 1 >= size ? Value::Undefined("there is no next item") : items_[index_ + 1];
  }
  if (name == "cycle" || name == "changed") {
    auto* self = const_cast<JinjaLoop*>(this);
    return Value(static_cast<JinjaObject*>(run_->Keep(
        std::make_unique<JinjaFunction>(std::string(name), Value(static_cast<JinjaObject*>(self)),
                                        name == "cycle" ? LoopCycle : LoopChanged))));
  }
  return std::nullopt;
}

bool JinjaLoop::Changed(std::vector<JinjaValue> values) {
  const bool same =
      last_ && std::equal(last_->begin(), last_->end(), values.begin(), values.end(), Equal);
  last_ = std::move(values);
  return !same;
}

JinjaFunction::Body FindJinjaGlobal(std::string_view name) {
  return name == "range"             ? MakeRange
         : name == "dict"            ? MakeDict
         : name == "namespace"       ? MakeNamespace
         : name == "cycler"          ? MakeCycler
         : name == "joiner"          ? MakeJoiner
         : name == "raise_exception" ? RaiseException
         : name == "strftime_now"    ? StrftimeNow
                                     : nullptr;
}

std::string FormatTime(int64_t time, const std::string& format) {
  const auto seconds = static_cast<time_t>(time);
  std::tm parts{};
  if (gmtime_r(&seconds, &parts) == nullptr) return "";
  // As of a Python datetime without a time zone.
  std::string plain;
  for (size_t at = 0; at < format.size(); ++at) {
    const bool zone = format[at] == '%' && at + 1 < format.size() &&
                      (format[at + 1] == 'Z' || format[at + 1] == 'z');
    if (format[at] == '%' && at + 1 < format.size() && !zone) plain += format[at++];
    if (zone) {
      ++at;
    } else {
      plain += format[at];
    }
  }
  // The blank makes an empty result differ from one that did not fit.
  plain += ' ';
  std::string text(plain.size() * 16 + 64, '\0');
  const size_t size = std::strftime(text.data(), text.size(), plain.c_str(), &parts);
  text.resize(size == 0 ? 0 : size - 1);
  return text;
}

}  // namespace hone
