// Statements; expressions are in jinja_expressions.cpp.

#include "text/jinja/jinja_evaluator.h"

#include <algorithm>

#include <fmt/format.h>

#include "text/jinja/jinja_access.h"
#include "text/jinja/jinja_print.h"

namespace hone {
namespace {

using StatementKind = JinjaStatement::Kind;

// Puts something in a variable's place for as long as it lives.
template <typename T>
class Instead {
 public:
  Instead(T* variable, T value) : variable_(*variable), before_(std::move(*variable)) {
    variable_ = std::move(value);
  }
  ~Instead() { variable_ = std::move(before_); }
  Instead(const Instead&) = delete;
  Instead& operator=(const Instead&) = delete;

 private:
  T& variable_;
  T before_;
};

}  // namespace

// A macro with the variables around its definition.
class JinjaMacro final : public JinjaObject {
 public:
  JinjaMacro(JinjaEvaluator* evaluator, const JinjaMacroCode* code, JinjaScopePtr closure)
      : evaluator_(*evaluator), code_(*code), closure_(std::move(closure)) {}

  std::string TypeName() const override { return "Macro"; }
  std::string Repr() const override { return fmt::format("<Macro '{}'>", code_.name); }
  bool callable() const override { return true; }
  std::optional<JinjaValue> Member(std::string_view name) const override {
    if (name == "name") return JinjaValue::Text(code_.name);
    return std::nullopt;
  }
  Result<JinjaValue> Call(JinjaRun*, const JinjaArguments& arguments) override {
    return evaluator_.CallMacro(code_, closure_, arguments);
  }

 private:
  JinjaEvaluator& evaluator_;
  const JinjaMacroCode& code_;
  JinjaScopePtr closure_;
};

// loop(...) in {% for ... recursive %}: the loop again, over something else. Its members are those
// of the loop.
class JinjaRecursiveLoop final : public JinjaObject {
 public:
  JinjaRecursiveLoop(JinjaEvaluator* evaluator, const JinjaStatement* statement, JinjaLoop* loop,
                     JinjaScopePtr around)
      : evaluator_(*evaluator), statement_(*statement), loop_(*loop), around_(std::move(around)) {}

  std::string TypeName() const override { return loop_.TypeName(); }
  bool callable() const override { return true; }
  std::optional<JinjaValue> Member(std::string_view name) const override {
    return loop_.Member(name);
  }
  Result<JinjaValue> Call(JinjaRun*, const JinjaArguments& arguments) override {
    if (arguments.positional.size() != 1 || !arguments.named.empty()) {
      return BadJinja("loop() takes what it is to go through");
    }
    JinjaText text;
    const Instead<JinjaText*> out(&evaluator_.out_, &text);
    const Instead<JinjaScopePtr> scope(&evaluator_.scope_, around_);
    HONE_RETURN_IF_ERROR(evaluator_.Loop(statement_, arguments.positional[0], loop_.depth() + 1));
    return JinjaValue(std::move(text));
  }

 private:
  JinjaEvaluator& evaluator_;
  const JinjaStatement& statement_;
  JinjaLoop& loop_;
  JinjaScopePtr around_;
};

const JinjaValue* JinjaScope::Find(std::string_view name) const {
  for (const auto& [known, value] : variables) {
    if (known == name) return &value;
  }
  return nullptr;
}

void JinjaScope::Set(std::string_view name, JinjaValue value) {
  for (auto& variable : variables) {
    if (variable.first != name) continue;
    variable.second = std::move(value);
    return;
  }
  variables.emplace_back(name, std::move(value));
}

JinjaEvaluator::JinjaEvaluator(JinjaRun* run, const JinjaDict& variables)
    : run_(*run), variables_(variables), scope_(std::make_shared<JinjaScope>()) {}

Error JinjaEvaluator::Located(const JinjaPlace& place, const Error& error) {
  if (std::exchange(located_, true)) return error;
  return JinjaErrorAt(place, error.message(), error.code());
}

Result<void> JinjaEvaluator::Run(const JinjaBody& body) {
  HONE_RETURN_IF_ERROR(Execute(body));
  return {};
}

Result<JinjaEvaluator::Flow> JinjaEvaluator::Execute(const JinjaBody& body) {
  for (const auto& statement : body) {
    HONE_ASSIGN_OR_RETURN(const Flow flow, Execute(*statement));
    if (flow != Flow::kGoesOn) return flow;
  }
  return Flow::kGoesOn;
}

Result<JinjaEvaluator::Flow> JinjaEvaluator::Execute(const JinjaStatement& statement) {
  const Instead<int> deeper(&depth_, depth_ + 1);
  if (depth_ > run_.limits().depth) {
    return Located(statement.place, Error(ErrorCode::kUnsupported, "calls are nested too deeply"));
  }
  HONE_RETURN_IF_ERROR(Located(statement.place, run_.Charge(1)));
  switch (statement.kind) {
    case StatementKind::kData:
      HONE_RETURN_IF_ERROR(Located(statement.place, Print(JinjaText(statement.text))));
      break;
    case StatementKind::kPrint: {
      HONE_ASSIGN_OR_RETURN(const JinjaValue value, Evaluate(*statement.expression));
      HONE_ASSIGN_OR_RETURN(const JinjaText text, Located(statement.place, ToText(&run_, value)));
      HONE_RETURN_IF_ERROR(Located(statement.place, Print(text)));
      break;
    }
    case StatementKind::kIf: return ExecuteIf(statement);
    case StatementKind::kFor: return ExecuteFor(statement);
    case StatementKind::kSet: {
      HONE_ASSIGN_OR_RETURN(const JinjaValue value, Evaluate(*statement.expression));
      HONE_RETURN_IF_ERROR(Located(statement.place, Assign(*statement.target, value)));
      break;
    }
    case StatementKind::kSetBlock:
    case StatementKind::kFilterBlock: {
      HONE_ASSIGN_OR_RETURN(JinjaText text, Captured(statement.body));
      JinjaValue value(std::move(text));
      if (statement.expression != nullptr) {
        const Instead<const JinjaValue*> block(&block_text_, &value);
        HONE_ASSIGN_OR_RETURN(JinjaValue filtered, Evaluate(*statement.expression));
        std::swap(value, filtered);
      }
      if (statement.kind == StatementKind::kSetBlock) {
        HONE_RETURN_IF_ERROR(Located(statement.place, Assign(*statement.target, value)));
        break;
      }
      HONE_ASSIGN_OR_RETURN(const JinjaText shown, Located(statement.place, ToText(&run_, value)));
      HONE_RETURN_IF_ERROR(Located(statement.place, Print(shown)));
      break;
    }
    case StatementKind::kMacro:
      scope_->Set(statement.macro.name, MakeMacro(statement.macro));
      break;
    case StatementKind::kCallBlock: HONE_RETURN_IF_ERROR(ExecuteCallBlock(statement)); break;
    case StatementKind::kGeneration: HONE_RETURN_IF_ERROR(ExecuteGeneration(statement)); break;
    case StatementKind::kWith: HONE_RETURN_IF_ERROR(ExecuteWith(statement)); break;
    case StatementKind::kBreak: return Flow::kBreak;
    case StatementKind::kContinue: return Flow::kContinue;
  }
  return Flow::kGoesOn;
}

Result<JinjaEvaluator::Flow> JinjaEvaluator::ExecuteIf(const JinjaStatement& statement) {
  for (const JinjaBranch& branch : statement.branches) {
    if (branch.condition != nullptr) {
      HONE_ASSIGN_OR_RETURN(const JinjaValue condition, Evaluate(*branch.condition));
      if (!condition.IsTrue()) continue;
    }
    return Execute(branch.body);
  }
  return Flow::kGoesOn;
}

Result<JinjaEvaluator::Flow> JinjaEvaluator::ExecuteFor(const JinjaStatement& statement) {
  HONE_ASSIGN_OR_RETURN(const JinjaValue over, Evaluate(*statement.expression));
  HONE_RETURN_IF_ERROR(Loop(statement, over, 0));
  return Flow::kGoesOn;
}

Result<std::vector<JinjaValue>> JinjaEvaluator::LoopItems(const JinjaStatement& statement,
                                                          const JinjaValue& over) {
  HONE_ASSIGN_OR_RETURN(std::vector<JinjaValue> all,
                        Located(statement.place, Iterate(&run_, over)));
  if (statement.condition == nullptr) return all;
  std::vector<JinjaValue> items;
  for (JinjaValue& item : all) {
    const auto inner = std::make_shared<JinjaScope>(JinjaScope{scope_, {}});
    const Instead<JinjaScopePtr> scope(&scope_, inner);
    HONE_RETURN_IF_ERROR(Located(statement.place, Assign(*statement.target, item)));
    HONE_ASSIGN_OR_RETURN(const JinjaValue condition, Evaluate(*statement.condition));
    if (condition.IsTrue()) items.push_back(std::move(item));
  }
  return items;
}

Result<void> JinjaEvaluator::Loop(const JinjaStatement& statement, const JinjaValue& over,
                                  int depth) {
  const Instead<int> deeper(&depth_, depth_ + 1);
  if (depth_ > run_.limits().depth) {
    return Located(statement.place, Error(ErrorCode::kUnsupported, "loops are nested too deeply"));
  }
  HONE_ASSIGN_OR_RETURN(std::vector<JinjaValue> items, LoopItems(statement, over));
  if (items.empty()) {
    const Instead<JinjaScopePtr> scope(&scope_,
                                       std::make_shared<JinjaScope>(JinjaScope{scope_, {}}));
    HONE_RETURN_IF_ERROR(Execute(statement.else_body));
    return {};
  }
  auto* loop = run_.Keep(std::make_unique<JinjaLoop>(std::move(items), depth, &run_));
  JinjaObject* shown = loop;
  if (statement.recursive) {
    shown = run_.Keep(std::make_unique<JinjaRecursiveLoop>(this, &statement, loop, scope_));
  }
  for (size_t i = 0; i < loop->items().size(); ++i) {
    HONE_RETURN_IF_ERROR(Located(statement.place, run_.Charge(1)));
    loop->GoTo(i);
    const auto inner = std::make_shared<JinjaScope>(JinjaScope{scope_, {}});
    const Instead<JinjaScopePtr> scope(&scope_, inner);
    scope_->Set("loop", JinjaValue(shown));
    HONE_RETURN_IF_ERROR(Located(statement.place, Assign(*statement.target, loop->items()[i])));
    HONE_ASSIGN_OR_RETURN(const Flow flow, Execute(statement.body));
    if (flow == Flow::kBreak) break;
  }
  loop->Release();
  return {};
}

Result<void> JinjaEvaluator::ExecuteWith(const JinjaStatement& statement) {
  std::vector<JinjaValue> values;
  for (const auto& [target, expression] : statement.assignments) {
    HONE_ASSIGN_OR_RETURN(JinjaValue value, Evaluate(*expression));
    values.push_back(std::move(value));
  }
  const Instead<JinjaScopePtr> scope(&scope_, std::make_shared<JinjaScope>(JinjaScope{scope_, {}}));
  for (size_t i = 0; i < values.size(); ++i) {
    scope_->Set(statement.assignments[i].first->name, std::move(values[i]));
  }
  HONE_RETURN_IF_ERROR(Execute(statement.body));
  return {};
}

Result<void> JinjaEvaluator::ExecuteGeneration(const JinjaStatement& statement) {
  HONE_ASSIGN_OR_RETURN(const JinjaText text, Captured(statement.body));
  const size_t begin = root_text_.size();
  generations_.push_back({begin, begin + text.size()});
  return Located(statement.place, Print(text));
}

Result<void> JinjaEvaluator::ExecuteCallBlock(const JinjaStatement& statement) {
  HONE_ASSIGN_OR_RETURN(JinjaArguments arguments,
                        EvaluateArguments(statement.expression->arguments));
  arguments.named.emplace_back("caller", MakeMacro(statement.macro));
  HONE_ASSIGN_OR_RETURN(const JinjaValue value, Call(*statement.expression, arguments));
  HONE_ASSIGN_OR_RETURN(const JinjaText text, Located(statement.place, ToText(&run_, value)));
  return Located(statement.place, Print(text));
}

Result<JinjaText> JinjaEvaluator::Captured(const JinjaBody& body) {
  JinjaText text;
  const Instead<JinjaText*> out(&out_, &text);
  const Instead<JinjaScopePtr> scope(&scope_, std::make_shared<JinjaScope>(JinjaScope{scope_, {}}));
  HONE_RETURN_IF_ERROR(Execute(body));
  return text;
}

Result<void> JinjaEvaluator::Assign(const JinjaExpression& target, const JinjaValue& value) {
  switch (target.kind) {
    case JinjaExpression::Kind::kName: scope_->Set(target.name, value); return {};
    case JinjaExpression::Kind::kMember: {
      const JinjaValue owner = Lookup(target.parts[0]->name);
      auto* space = owner.is(JinjaValue::Kind::kObject)
                        ? dynamic_cast<JinjaNamespace*>(owner.AsObject())
                        : nullptr;
      if (space == nullptr) return BadJinja("only a namespace's members can be set");
      space->Set(target.name, value);
      return {};
    }
    default: break;
  }
  HONE_ASSIGN_OR_RETURN(const std::vector<JinjaValue> values, Iterate(&run_, value));
  if (values.size() != target.parts.size()) {
    return BadJinja(
        fmt::format("{} values cannot be given to {} names", values.size(), target.parts.size()));
  }
  for (size_t i = 0; i < values.size(); ++i) {
    HONE_RETURN_IF_ERROR(Assign(*target.parts[i], values[i]));
  }
  return {};
}

Result<void> JinjaEvaluator::Print(const JinjaText& text) {
  HONE_RETURN_IF_ERROR(run_.ChargeText(text.size()));
  if (out_->size() + text.size() > run_.limits().output) {
    return Error(ErrorCode::kUnsupported,
                 fmt::format("the text grows beyond {} bytes", run_.limits().output));
  }
  out_->Append(text);
  return {};
}

JinjaValue JinjaEvaluator::MakeMacro(const JinjaMacroCode& macro) {
  JinjaObject* kept = run_.Keep(std::make_unique<JinjaMacro>(this, &macro, scope_));
  return JinjaValue(kept);
}

Result<void> JinjaEvaluator::BindMacro(const JinjaMacroCode& macro,
                                       const JinjaArguments& arguments) {
  std::vector<std::pair<std::string, JinjaValue>> named = arguments.named;
  const auto take = [&](const std::string& name) -> std::optional<JinjaValue> {
    for (auto it = named.begin(); it != named.end(); ++it) {
      if (it->first != name) continue;
      JinjaValue value = std::move(it->second);
      named.erase(it);
      return value;
    }
    return std::nullopt;
  };
  const size_t count = macro.parameters.size(), given = arguments.positional.size();
  for (size_t i = 0; i < count; ++i) {
    const std::string& name = macro.parameters[i];
    std::optional<JinjaValue> value;
    if (i < given) {
      value = arguments.positional[i];
    } else {
      value = take(name);
    }
    const size_t required = count - macro.defaults.size();
    if (!value && i >= required) {
      HONE_ASSIGN_OR_RETURN(value, Evaluate(*macro.defaults[i - required]));
    }
    scope_->Set(name, value.value_or(JinjaValue::Undefined(
                          fmt::format("parameter '{}' was not provided", name))));
  }
  if (macro.uses_caller) {
    scope_->Set("caller", take("caller").value_or(JinjaValue::Undefined("no caller is defined")));
  }
  if (macro.uses_kwargs) {
    JinjaDict dict;
    for (auto& [name, value] : named) dict.Set(JinjaValue::Text(name), value);
    named.clear();
    HONE_ASSIGN_OR_RETURN(JinjaValue kwargs, JinjaValue::Dict(std::move(dict)));
    scope_->Set("kwargs", std::move(kwargs));
  }
  if (!named.empty()) {
    return BadJinja(
        fmt::format("macro '{}' takes no keyword argument '{}'", macro.name, named[0].first));
  }
  if (macro.uses_varargs) {
    const auto first = arguments.positional.begin() + static_cast<int64_t>(std::min(count, given));
    HONE_ASSIGN_OR_RETURN(JinjaValue varargs,
                          JinjaValue::Tuple({first, arguments.positional.end()}));
    scope_->Set("varargs", std::move(varargs));
  } else if (given > count) {
    return BadJinja(fmt::format("macro '{}' takes not more than {} arguments", macro.name, count));
  }
  return {};
}

Result<JinjaValue> JinjaEvaluator::CallMacro(const JinjaMacroCode& macro,
                                             const JinjaScopePtr& closure,
                                             const JinjaArguments& arguments) {
  JinjaText text;
  const Instead<JinjaText*> out(&out_, &text);
  const Instead<JinjaScopePtr> scope(&scope_,
                                     std::make_shared<JinjaScope>(JinjaScope{closure, {}}));
  HONE_RETURN_IF_ERROR(BindMacro(macro, arguments));
  HONE_RETURN_IF_ERROR(Execute(macro.body));
  return JinjaValue(std::move(text));
}

}  // namespace hone
