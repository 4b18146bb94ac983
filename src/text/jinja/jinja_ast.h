#pragma once

#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "text/jinja/jinja_lexer.h"
#include "text/jinja/jinja_value.h"

// A template as a tree.

namespace hone {

struct JinjaExpression;
using JinjaExpressionPtr = std::unique_ptr<JinjaExpression>;

// What stands in the parentheses of a call, a filter or a test.
struct JinjaCallArguments {
  std::vector<JinjaExpressionPtr> positional;
  std::vector<std::pair<std::string, JinjaExpressionPtr>> named;
  JinjaExpressionPtr spread;        // *values; may be null
  JinjaExpressionPtr named_spread;  // **values; may be null
};

struct JinjaExpression {
  enum class Kind {
    kConstant,     // constant
    kName,         // name
    kList,         // parts
    kTuple,        // parts
    kDict,         // parts: key, value, key, value, ...
    kNot,          // parts[0]
    kNegative,     // parts[0]
    kPositive,     // parts[0]
    kArithmetic,   // parts[0] name parts[1], where the name is an operator
    kCompare,      // parts[0] operators[0] parts[1] operators[1] parts[2] ...
    kAnd,          // parts[0], parts[1]
    kOr,           // parts[0], parts[1]
    kJoin,         // parts, joined as text: ~
    kConditional,  // parts[0] if parts[1] else parts[2], which may be null
    kMember,       // parts[0].name
    kItem,         // parts[0][parts[1]]
    kSlice,        // parts[0][parts[1]:parts[2]:parts[3]], any of the last three may be null
    kCall,         // parts[0](arguments)
    kFilter,       // parts[0] | name(arguments); parts[0] is null for the text of a block
    kTest,         // parts[0] is name(arguments)
  };
  Kind kind = Kind::kConstant;
  JinjaPlace place;
  std::string name;
  JinjaValue constant;
  std::vector<JinjaExpressionPtr> parts;
  std::vector<std::string> operators;
  JinjaCallArguments arguments;
  int depth = 1;  // of expressions inside of each other, counted by the parser
};

struct JinjaStatement;
using JinjaBody = std::vector<std::unique_ptr<JinjaStatement>>;

// Parameters and body of a macro, or of what a call block hands over.
struct JinjaMacroCode {
  std::string name;
  std::vector<std::string> parameters;
  std::vector<JinjaExpressionPtr> defaults;  // of the last parameters
  JinjaBody body;
  // Which of the special names the body asks for.
  bool uses_caller = false, uses_varargs = false, uses_kwargs = false;
};

struct JinjaBranch {
  JinjaExpressionPtr condition;  // null: else
  JinjaBody body;
};

struct JinjaStatement {
  enum class Kind {
    kData,         // text
    kPrint,        // expression
    kIf,           // branches
    kFor,          // target in expression, only where `condition`; body, else_body
    kSet,          // target = expression
    kSetBlock,     // target = body, through the filters of `expression` when there are any
    kMacro,        // macro
    kCallBlock,    // expression is the call; macro is what it gets as `caller`
    kFilterBlock,  // expression is the chain of filters; body
    kGeneration,   // body: what an assistant said
    kWith,         // targets = values; body
    kBreak,
    kContinue,
  };
  Kind kind = Kind::kData;
  JinjaPlace place;
  std::string text;
  JinjaExpressionPtr target, expression, condition;
  bool recursive = false;
  std::vector<JinjaBranch> branches;
  std::vector<std::pair<JinjaExpressionPtr, JinjaExpressionPtr>> assignments;  // of kWith
  JinjaBody body, else_body;
  JinjaMacroCode macro;
};

}  // namespace hone
