#pragma once

#include <memory>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "base/result.h"
#include "text/jinja/jinja_ast.h"
#include "text/jinja/jinja_objects.h"
#include "text/jinja/jinja_run.h"

namespace hone {

// Variables of one stretch of a template: a loop's round, a macro's call, the whole. Names are
// those of the tree, which outlives it.
struct JinjaScope {
  std::shared_ptr<JinjaScope> parent;
  std::vector<std::pair<std::string_view, JinjaValue>> variables;

  const JinjaValue* Find(std::string_view name) const;  // here, not in the parents
  void Set(std::string_view name, JinjaValue value);
};
using JinjaScopePtr = std::shared_ptr<JinjaScope>;

// Goes through a template's tree with variables. One use each. The tree, the run and the variables
// must outlive it.
class JinjaEvaluator {
 public:
  JinjaEvaluator(JinjaRun* run, const JinjaDict& variables);

  Result<void> Run(const JinjaBody& body);
  // What was printed.
  JinjaText TakeText() { return std::move(root_text_); }
  // Where {% generation %} printed, in bytes of it.
  const std::vector<ByteRange>& generations() const { return generations_; }

 private:
  friend class JinjaMacro;
  friend class JinjaRecursiveLoop;
  enum class Flow { kGoesOn, kBreak, kContinue };
  using Evaluated = Result<JinjaValue>;

  // --- statements
  Result<Flow> Execute(const JinjaBody& body);
  Result<Flow> Execute(const JinjaStatement& statement);
  Result<Flow> ExecuteIf(const JinjaStatement& statement);
  Result<Flow> ExecuteFor(const JinjaStatement& statement);
  Result<void> Loop(const JinjaStatement& statement, const JinjaValue& over, int depth);
  Result<std::vector<JinjaValue>> LoopItems(const JinjaStatement& statement,
                                            const JinjaValue& over);
  Result<void> ExecuteWith(const JinjaStatement& statement);
  Result<void> ExecuteGeneration(const JinjaStatement& statement);
  Result<void> ExecuteCallBlock(const JinjaStatement& statement);
  // The body's text, in a scope of its own.
  Result<JinjaText> Captured(const JinjaBody& body);
  Result<void> Assign(const JinjaExpression& target, const JinjaValue& value);
  Result<void> Print(const JinjaText& text);

  Result<JinjaValue> CallMacro(const JinjaMacroCode& macro, const JinjaScopePtr& closure,
                               const JinjaArguments& arguments);
  Result<void> BindMacro(const JinjaMacroCode& macro, const JinjaArguments& arguments);
  JinjaValue MakeMacro(const JinjaMacroCode& macro);

  // --- expressions
  Evaluated Evaluate(const JinjaExpression& expression);
  Evaluated EvaluateInside(const JinjaExpression& expression);
  Evaluated EvaluateDict(const JinjaExpression& expression);
  Evaluated EvaluateCompare(const JinjaExpression& expression);
  Evaluated EvaluateJoin(const JinjaExpression& expression);
  Evaluated EvaluateSlice(const JinjaExpression& expression);
  Evaluated EvaluateCall(const JinjaExpression& expression);
  Evaluated EvaluateFilter(const JinjaExpression& expression);
  Evaluated EvaluateTest(const JinjaExpression& expression);
  Evaluated Call(const JinjaExpression& call, const JinjaArguments& arguments);
  Result<std::vector<JinjaValue>> EvaluateAll(const std::vector<JinjaExpressionPtr>& parts);
  Result<JinjaArguments> EvaluateArguments(const JinjaCallArguments& arguments);
  JinjaValue Lookup(std::string_view name);

  // The error with its place, unless it has one.
  Error Located(const JinjaPlace& place, const Error& error);
  template <typename T>
  Result<T> Located(const JinjaPlace& place, Result<T> result) {
    if (result.ok()) return result;
    return Located(place, result.error());
  }

  JinjaRun& run_;
  const JinjaDict& variables_;
  JinjaScopePtr scope_;
  JinjaText root_text_;
  JinjaText* out_ = &root_text_;
  std::vector<ByteRange> generations_;
  const JinjaValue* block_text_ = nullptr;  // what the filters of a block are put on
  int depth_ = 0;
  bool located_ = false;  // the error that ends the run has its place
};

}  // namespace hone
