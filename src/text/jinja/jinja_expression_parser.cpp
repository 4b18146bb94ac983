#include "text/jinja/jinja_expression_parser.h"

#include <algorithm>
#include <array>

namespace hone {
namespace {

using TokenKind = JinjaToken::Kind;

constexpr int kDeepest = 200;

int DepthOf(const JinjaExpressionPtr& part) { return part == nullptr ? 0 : part->depth; }

// Counts itself for as long as it lives.
class Nested {
 public:
  explicit Nested(int* count) : count_(*count) { ++count_; }
  ~Nested() { --count_; }
  Nested(const Nested&) = delete;
  Nested& operator=(const Nested&) = delete;

 private:
  int& count_;
};

}  // namespace

JinjaExpressionPtr JinjaExpressionParser::New(Kind kind) const {
  auto expression = std::make_unique<JinjaExpression>();
  expression->kind = kind;
  expression->place = tokens_.current().place;
  return expression;
}

JinjaExpressionParser::Parsed JinjaExpressionParser::Done(JinjaExpressionPtr expression) const {
  int deepest = 0;
  for (const JinjaExpressionPtr& part : expression->parts) {
    deepest = std::max(deepest, DepthOf(part));
  }
  const JinjaCallArguments& arguments = expression->arguments;
  for (const JinjaExpressionPtr& part : arguments.positional) {
    deepest = std::max(deepest, DepthOf(part));
  }
  for (const auto& [name, part] : arguments.named) deepest = std::max(deepest, DepthOf(part));
  deepest = std::max({deepest, DepthOf(arguments.spread), DepthOf(arguments.named_spread)});
  expression->depth = deepest + 1;
  if (expression->depth > kDeepest) {
    return JinjaErrorAt(expression->place, "expressions are nested too deeply",
                        ErrorCode::kUnsupported);
  }
  return expression;
}

JinjaExpressionParser::Parsed JinjaExpressionParser::Unary(Kind kind, JinjaExpressionPtr part,
                                                           JinjaPlace place) const {
  JinjaExpressionPtr expression = New(kind);
  expression->place = place;
  expression->parts.push_back(std::move(part));
  return Done(std::move(expression));
}

JinjaExpressionParser::Parsed JinjaExpressionParser::Binary(Kind kind, std::string name,
                                                            JinjaExpressionPtr left,
                                                            JinjaExpressionPtr right,
                                                            JinjaPlace place) const {
  JinjaExpressionPtr expression = New(kind);
  expression->place = place;
  expression->name = std::move(name);
  expression->parts.push_back(std::move(left));
  expression->parts.push_back(std::move(right));
  return Done(std::move(expression));
}

JinjaExpressionParser::Parsed JinjaExpressionParser::Expression(bool conditional) {
  const Nested nested(&nesting_);
  if (nesting_ > kDeepest) return tokens_.Bad("expressions are nested too deeply");
  return conditional ? Conditional() : Or();
}

JinjaExpressionParser::Parsed JinjaExpressionParser::Conditional() {
  HONE_ASSIGN_OR_RETURN(JinjaExpressionPtr value, Or());
  while (tokens_.current().IsName("if")) {
    JinjaExpressionPtr expression = New(Kind::kConditional);
    tokens_.Next();
    HONE_ASSIGN_OR_RETURN(JinjaExpressionPtr condition, Or());
    JinjaExpressionPtr otherwise;
    if (tokens_.SkipName("else")) {
      HONE_ASSIGN_OR_RETURN(otherwise, Expression());
    }
    expression->parts.push_back(std::move(value));
    expression->parts.push_back(std::move(condition));
    expression->parts.push_back(std::move(otherwise));
    HONE_ASSIGN_OR_RETURN(value, Done(std::move(expression)));
  }
  return value;
}

JinjaExpressionParser::Parsed JinjaExpressionParser::Or() {
  HONE_ASSIGN_OR_RETURN(JinjaExpressionPtr left, And());
  while (tokens_.current().IsName("or")) {
    const JinjaPlace place = tokens_.current().place;
    tokens_.Next();
    HONE_ASSIGN_OR_RETURN(JinjaExpressionPtr right, And());
    HONE_ASSIGN_OR_RETURN(left, Binary(Kind::kOr, "or", std::move(left), std::move(right), place));
  }
  return left;
}

JinjaExpressionParser::Parsed JinjaExpressionParser::And() {
  HONE_ASSIGN_OR_RETURN(JinjaExpressionPtr left, Not());
  while (tokens_.current().IsName("and")) {
    const JinjaPlace place = tokens_.current().place;
    tokens_.Next();
    HONE_ASSIGN_OR_RETURN(JinjaExpressionPtr right, Not());
    HONE_ASSIGN_OR_RETURN(left,
                          Binary(Kind::kAnd, "and", std::move(left), std::move(right), place));
  }
  return left;
}

JinjaExpressionParser::Parsed JinjaExpressionParser::Not() {
  std::vector<JinjaPlace> negations;
  while (tokens_.current().IsName("not")) {
    negations.push_back(tokens_.current().place);
    tokens_.Next();
  }
  HONE_ASSIGN_OR_RETURN(JinjaExpressionPtr value, Compare());
  for (; !negations.empty(); negations.pop_back()) {
    HONE_ASSIGN_OR_RETURN(value, Unary(Kind::kNot, std::move(value), negations.back()));
  }
  return value;
}

JinjaExpressionParser::Parsed JinjaExpressionParser::Compare() {
  HONE_ASSIGN_OR_RETURN(JinjaExpressionPtr first, Sum());
  JinjaExpressionPtr expression = New(Kind::kCompare);
  static constexpr std::array<std::string_view, 6> kOperators = {"==", "!=", "<", "<=", ">", ">="};
  while (true) {
    const JinjaToken& token = tokens_.current();
    std::string op;
    if (token.kind == TokenKind::kOperator &&
        std::find(kOperators.begin(), kOperators.end(), token.text) != kOperators.end()) {
      op = token.text;
    } else if (token.IsName("in")) {
      op = "in";
    } else if (token.IsName("not") && tokens_.ahead().IsName("in")) {
      op = "not in";
      tokens_.Next();
    } else {
      break;
    }
    tokens_.Next();
    HONE_ASSIGN_OR_RETURN(JinjaExpressionPtr operand, Sum());
    expression->operators.push_back(std::move(op));
    expression->parts.push_back(std::move(operand));
  }
  if (expression->operators.empty()) return first;
  expression->parts.insert(expression->parts.begin(), std::move(first));
  return Done(std::move(expression));
}

JinjaExpressionParser::Parsed JinjaExpressionParser::Sum() {
  HONE_ASSIGN_OR_RETURN(JinjaExpressionPtr left, Join());
  while (tokens_.current().IsOperator("+") || tokens_.current().IsOperator("-")) {
    const JinjaToken op = tokens_.current();
    tokens_.Next();
    HONE_ASSIGN_OR_RETURN(JinjaExpressionPtr right, Join());
    HONE_ASSIGN_OR_RETURN(
        left, Binary(Kind::kArithmetic, op.text, std::move(left), std::move(right), op.place));
  }
  return left;
}

JinjaExpressionParser::Parsed JinjaExpressionParser::Join() {
  HONE_ASSIGN_OR_RETURN(JinjaExpressionPtr first, Product());
  if (!tokens_.current().IsOperator("~")) return first;
  JinjaExpressionPtr expression = New(Kind::kJoin);
  expression->parts.push_back(std::move(first));
  while (tokens_.SkipOperator("~")) {
    HONE_ASSIGN_OR_RETURN(JinjaExpressionPtr next, Product());
    expression->parts.push_back(std::move(next));
  }
  return Done(std::move(expression));
}

JinjaExpressionParser::Parsed JinjaExpressionParser::Product() {
  HONE_ASSIGN_OR_RETURN(JinjaExpressionPtr left, Power());
  while (tokens_.current().IsOperator("*") || tokens_.current().IsOperator("/") ||
         tokens_.current().IsOperator("//") || tokens_.current().IsOperator("%")) {
    const JinjaToken op = tokens_.current();
    tokens_.Next();
    HONE_ASSIGN_OR_RETURN(JinjaExpressionPtr right, Power());
    HONE_ASSIGN_OR_RETURN(
        left, Binary(Kind::kArithmetic, op.text, std::move(left), std::move(right), op.place));
  }
  return left;
}

// Jinja, unlike Python, reads 2 ** 3 ** 2 from the left.
JinjaExpressionParser::Parsed JinjaExpressionParser::Power() {
  HONE_ASSIGN_OR_RETURN(JinjaExpressionPtr left, Signed(true));
  while (tokens_.current().IsOperator("**")) {
    const JinjaPlace place = tokens_.current().place;
    tokens_.Next();
    HONE_ASSIGN_OR_RETURN(JinjaExpressionPtr right, Signed(true));
    HONE_ASSIGN_OR_RETURN(
        left, Binary(Kind::kArithmetic, "**", std::move(left), std::move(right), place));
  }
  return left;
}

// A sign binds stronger than a filter: -3|abs is 3.
JinjaExpressionParser::Parsed JinjaExpressionParser::Signed(bool with_filters) {
  const Nested nested(&nesting_);
  if (nesting_ > kDeepest) return tokens_.Bad("expressions are nested too deeply");
  JinjaExpressionPtr value;
  const JinjaToken& token = tokens_.current();
  if (token.IsOperator("-") || token.IsOperator("+")) {
    const Kind kind = token.IsOperator("-") ? Kind::kNegative : Kind::kPositive;
    const JinjaPlace place = token.place;
    tokens_.Next();
    HONE_ASSIGN_OR_RETURN(value, Signed(false));
    HONE_ASSIGN_OR_RETURN(value, Unary(kind, std::move(value), place));
  } else {
    HONE_ASSIGN_OR_RETURN(value, Primary());
  }
  HONE_ASSIGN_OR_RETURN(value, Postfix(std::move(value)));
  if (!with_filters) return value;
  return FiltersAndTests(std::move(value));
}

JinjaExpressionParser::Parsed JinjaExpressionParser::Primary() {
  const JinjaToken token = tokens_.current();
  JinjaExpressionPtr expression = New(Kind::kConstant);
  switch (token.kind) {
    case TokenKind::kName:
      tokens_.Next();
      if (token.text == "true" || token.text == "True") {
        expression->constant = true;
      } else if (token.text == "false" || token.text == "False") {
        expression->constant = false;
      } else if (token.text != "none" && token.text != "None") {
        expression->kind = Kind::kName;
        expression->name = token.text;
        names_.insert(token.text);
      }
      return expression;
    case TokenKind::kString: {
      std::string text;
      for (; tokens_.current().kind == TokenKind::kString; tokens_.Next()) {
        text += tokens_.current().text;
      }
      expression->constant = JinjaValue::Text(std::move(text));
      return expression;
    }
    case TokenKind::kInteger:
    case TokenKind::kReal: {
      tokens_.Next();
      HONE_ASSIGN_OR_RETURN(expression->constant, JinjaValue::FromJson(token.number, false));
      return expression;
    }
    default: break;
  }
  if (token.IsOperator("(")) return Parenthesised();
  if (token.IsOperator("[")) return List();
  if (token.IsOperator("{")) return Dict();
  return tokens_.Unexpected("an expression");
}

JinjaExpressionParser::Parsed JinjaExpressionParser::Parenthesised() {
  JinjaExpressionPtr empty = New(Kind::kTuple);
  tokens_.Next();
  if (tokens_.SkipOperator(")")) return empty;
  HONE_ASSIGN_OR_RETURN(JinjaExpressionPtr inside, Tuple());
  HONE_RETURN_IF_ERROR(tokens_.ExpectOperator(")"));
  return inside;
}

JinjaExpressionParser::Parsed JinjaExpressionParser::List() {
  JinjaExpressionPtr list = New(Kind::kList);
  tokens_.Next();
  while (!tokens_.SkipOperator("]")) {
    if (!list->parts.empty()) {
      HONE_RETURN_IF_ERROR(tokens_.ExpectOperator(","));
      if (tokens_.SkipOperator("]")) break;
    }
    HONE_ASSIGN_OR_RETURN(JinjaExpressionPtr item, Expression());
    list->parts.push_back(std::move(item));
  }
  return Done(std::move(list));
}

JinjaExpressionParser::Parsed JinjaExpressionParser::Dict() {
  JinjaExpressionPtr dict = New(Kind::kDict);
  tokens_.Next();
  while (!tokens_.SkipOperator("}")) {
    if (!dict->parts.empty()) {
      HONE_RETURN_IF_ERROR(tokens_.ExpectOperator(","));
      if (tokens_.SkipOperator("}")) break;
    }
    HONE_ASSIGN_OR_RETURN(JinjaExpressionPtr key, Expression());
    HONE_RETURN_IF_ERROR(tokens_.ExpectOperator(":"));
    HONE_ASSIGN_OR_RETURN(JinjaExpressionPtr value, Expression());
    dict->parts.push_back(std::move(key));
    dict->parts.push_back(std::move(value));
  }
  return Done(std::move(dict));
}

bool JinjaExpressionParser::TupleEnds(std::string_view end) const {
  const JinjaToken& token = tokens_.current();
  return token.kind == TokenKind::kPrintEnd || token.kind == TokenKind::kTagEnd ||
         token.IsOperator(")") || (!end.empty() && token.IsName(end));
}

JinjaExpressionParser::Parsed JinjaExpressionParser::Tuple(bool conditional, std::string_view end) {
  JinjaExpressionPtr tuple = New(Kind::kTuple);
  HONE_ASSIGN_OR_RETURN(JinjaExpressionPtr first, Expression(conditional));
  if (!tokens_.current().IsOperator(",")) return first;
  tuple->parts.push_back(std::move(first));
  while (tokens_.SkipOperator(",")) {
    if (TupleEnds(end)) break;
    HONE_ASSIGN_OR_RETURN(JinjaExpressionPtr next, Expression(conditional));
    tuple->parts.push_back(std::move(next));
  }
  return Done(std::move(tuple));
}

JinjaExpressionParser::Parsed JinjaExpressionParser::Target(bool members, std::string_view end) {
  const Nested nested(&nesting_);
  if (nesting_ > kDeepest) return tokens_.Bad("targets are nested too deeply");
  JinjaExpressionPtr tuple = New(Kind::kTuple);
  bool comma = false;
  while (!TupleEnds(end) && !tokens_.current().IsOperator("=")) {
    if (tokens_.SkipOperator("(")) {
      HONE_ASSIGN_OR_RETURN(JinjaExpressionPtr inner, Target(members));
      HONE_RETURN_IF_ERROR(tokens_.ExpectOperator(")"));
      tuple->parts.push_back(std::move(inner));
    } else {
      JinjaExpressionPtr target = New(Kind::kName);
      HONE_ASSIGN_OR_RETURN(target->name, tokens_.ExpectName());
      static constexpr std::array<std::string_view, 6> kConstants = {"true",  "True", "false",
                                                                     "False", "none", "None"};
      if (std::find(kConstants.begin(), kConstants.end(), target->name) != kConstants.end()) {
        return JinjaErrorAt(target->place, "cannot assign to '" + target->name + "'");
      }
      if (members && tokens_.SkipOperator(".")) {
        names_.insert(target->name);
        JinjaExpressionPtr member = New(Kind::kMember);
        HONE_ASSIGN_OR_RETURN(member->name, tokens_.ExpectName());
        member->parts.push_back(std::move(target));
        HONE_ASSIGN_OR_RETURN(target, Done(std::move(member)));
      }
      tuple->parts.push_back(std::move(target));
    }
    if (!tokens_.SkipOperator(",")) break;
    comma = true;
  }
  if (tuple->parts.empty()) return tokens_.Unexpected("a name to assign to");
  if (!comma) return std::move(tuple->parts[0]);
  return Done(std::move(tuple));
}

JinjaExpressionParser::Parsed JinjaExpressionParser::Postfix(JinjaExpressionPtr value) {
  while (true) {
    if (tokens_.current().IsOperator(".")) {
      JinjaExpressionPtr member = New(Kind::kMember);
      tokens_.Next();
      const JinjaToken token = tokens_.current();
      if (token.kind == TokenKind::kInteger) {  // a.0
        member->kind = Kind::kItem;
        member->parts.push_back(std::move(value));
        JinjaExpressionPtr index = New(Kind::kConstant);
        HONE_ASSIGN_OR_RETURN(index->constant, JinjaValue::FromJson(token.number, false));
        member->parts.push_back(std::move(index));
        tokens_.Next();
      } else {
        HONE_ASSIGN_OR_RETURN(member->name, tokens_.ExpectName());
        member->parts.push_back(std::move(value));
      }
      HONE_ASSIGN_OR_RETURN(value, Done(std::move(member)));
    } else if (tokens_.current().IsOperator("[")) {
      HONE_ASSIGN_OR_RETURN(value, Subscript(std::move(value)));
    } else if (tokens_.current().IsOperator("(")) {
      HONE_ASSIGN_OR_RETURN(value, CallOf(std::move(value)));
    } else {
      return value;
    }
  }
}

JinjaExpressionParser::Parsed JinjaExpressionParser::Subscript(JinjaExpressionPtr value) {
  JinjaExpressionPtr item = New(Kind::kItem);
  tokens_.Next();
  item->parts.push_back(std::move(value));
  const auto at_edge = [&] {
    return tokens_.current().IsOperator(":") || tokens_.current().IsOperator("]");
  };
  JinjaExpressionPtr first;
  if (!at_edge()) {
    HONE_ASSIGN_OR_RETURN(first, Tuple());
  }
  item->parts.push_back(std::move(first));
  if (!tokens_.current().IsOperator(":")) {
    if (item->parts[1] == nullptr) return tokens_.Unexpected("an index");
    HONE_RETURN_IF_ERROR(tokens_.ExpectOperator("]"));
    return Done(std::move(item));
  }
  item->kind = Kind::kSlice;
  for (int i = 0; i < 2; ++i) {
    JinjaExpressionPtr bound;
    if (tokens_.SkipOperator(":") && !at_edge()) {
      HONE_ASSIGN_OR_RETURN(bound, Expression());
    }
    item->parts.push_back(std::move(bound));
  }
  HONE_RETURN_IF_ERROR(tokens_.ExpectOperator("]"));
  return Done(std::move(item));
}

JinjaExpressionParser::Parsed JinjaExpressionParser::Call() {
  HONE_ASSIGN_OR_RETURN(JinjaExpressionPtr call, Expression());
  if (call->kind != Kind::kCall) return JinjaErrorAt(call->place, "{% call %} wants a call");
  return call;
}

JinjaExpressionParser::Parsed JinjaExpressionParser::CallOf(JinjaExpressionPtr callee) {
  JinjaExpressionPtr call = New(Kind::kCall);
  call->parts.push_back(std::move(callee));
  HONE_RETURN_IF_ERROR(Arguments(&call->arguments));
  return Done(std::move(call));
}

Result<void> JinjaExpressionParser::Arguments(JinjaCallArguments* arguments) {
  HONE_RETURN_IF_ERROR(tokens_.ExpectOperator("("));
  bool first = true;
  while (!tokens_.SkipOperator(")")) {
    if (!std::exchange(first, false)) {
      HONE_RETURN_IF_ERROR(tokens_.ExpectOperator(","));
      if (tokens_.SkipOperator(")")) break;
    }
    if (tokens_.SkipOperator("**")) {
      if (arguments->named_spread != nullptr) return tokens_.Bad("** stands there twice");
      HONE_ASSIGN_OR_RETURN(arguments->named_spread, Expression());
    } else if (tokens_.SkipOperator("*")) {
      if (arguments->spread != nullptr) return tokens_.Bad("* stands there twice");
      HONE_ASSIGN_OR_RETURN(arguments->spread, Expression());
    } else if (tokens_.current().kind == TokenKind::kName && tokens_.ahead().IsOperator("=")) {
      HONE_ASSIGN_OR_RETURN(std::string name, tokens_.ExpectName());
      tokens_.Next();
      HONE_ASSIGN_OR_RETURN(JinjaExpressionPtr value, Expression());
      arguments->named.emplace_back(std::move(name), std::move(value));
    } else {
      if (!arguments->named.empty() || arguments->named_spread != nullptr) {
        return tokens_.Bad("an argument without a name stands behind one with a name");
      }
      HONE_ASSIGN_OR_RETURN(JinjaExpressionPtr value, Expression());
      arguments->positional.push_back(std::move(value));
    }
  }
  return {};
}

JinjaExpressionParser::Parsed JinjaExpressionParser::FiltersAndTests(JinjaExpressionPtr value) {
  while (true) {
    if (tokens_.current().IsOperator("|")) {
      HONE_ASSIGN_OR_RETURN(value, Filters(std::move(value), false));
    } else if (tokens_.current().IsName("is")) {
      HONE_ASSIGN_OR_RETURN(value, Test(std::move(value)));
    } else if (tokens_.current().IsOperator("(")) {
      HONE_ASSIGN_OR_RETURN(value, CallOf(std::move(value)));
    } else {
      return value;
    }
  }
}

JinjaExpressionParser::Parsed JinjaExpressionParser::Filters(JinjaExpressionPtr value, bool begun) {
  while (begun || tokens_.SkipOperator("|")) {
    begun = false;
    JinjaExpressionPtr filter = New(Kind::kFilter);
    HONE_ASSIGN_OR_RETURN(filter->name, tokens_.ExpectName());
    filter->parts.push_back(std::move(value));
    if (tokens_.current().IsOperator("(")) HONE_RETURN_IF_ERROR(Arguments(&filter->arguments));
    HONE_ASSIGN_OR_RETURN(value, Done(std::move(filter)));
  }
  return value;
}

JinjaExpressionParser::Parsed JinjaExpressionParser::Test(JinjaExpressionPtr value) {
  JinjaExpressionPtr test = New(Kind::kTest);
  tokens_.Next();
  const bool negated = tokens_.SkipName("not");
  HONE_ASSIGN_OR_RETURN(test->name, tokens_.ExpectName());
  test->parts.push_back(std::move(value));
  const JinjaToken& token = tokens_.current();
  const bool takes_argument = token.kind == TokenKind::kName || token.kind == TokenKind::kString ||
                              token.kind == TokenKind::kInteger || token.kind == TokenKind::kReal ||
                              token.IsOperator("[") || token.IsOperator("{");
  if (token.IsOperator("(")) {
    HONE_RETURN_IF_ERROR(Arguments(&test->arguments));
  } else if (takes_argument && !token.IsName("else") && !token.IsName("or") &&
             !token.IsName("and") && !token.IsName("if")) {
    if (token.IsName("is")) return tokens_.Bad("tests cannot be chained with 'is'");
    HONE_ASSIGN_OR_RETURN(JinjaExpressionPtr argument, Primary());
    HONE_ASSIGN_OR_RETURN(argument, Postfix(std::move(argument)));
    test->arguments.positional.push_back(std::move(argument));
  }
  const JinjaPlace place = test->place;
  HONE_ASSIGN_OR_RETURN(JinjaExpressionPtr done, Done(std::move(test)));
  if (!negated) return done;
  return Unary(Kind::kNot, std::move(done), place);
}

}  // namespace hone
