#pragma once

#include <set>
#include <string>

#include "base/result.h"
#include "text/jinja/jinja_ast.h"
#include "text/jinja/jinja_token_stream.h"

namespace hone {

// Reads expressions off a stream of tokens, with Jinja's precedence.
class JinjaExpressionParser {
 public:
  using Parsed = Result<JinjaExpressionPtr>;

  explicit JinjaExpressionParser(JinjaTokenStream* tokens) : tokens_(*tokens) {}

  // One expression; with `conditional`, "a if b else c" as well.
  Parsed Expression(bool conditional = true);
  // One expression, or several with commas between them, which make a tuple. `end` is a name that
  // ends it.
  Parsed Tuple(bool conditional = true, std::string_view end = "");
  // Where {% set %} and {% for %} may assign to: names, tuples of them and, with `members`, the
  // members of a namespace.
  Parsed Target(bool members, std::string_view end = "");
  // A call, as {% call %} wants it.
  Parsed Call();
  // Filters one after the other, put on `value`, which is null for the text of a block. With
  // `begun` the first one's bar is not there.
  Parsed Filters(JinjaExpressionPtr value, bool begun);

  // Every name that was read as a variable so far.
  std::set<std::string>& names() { return names_; }

 private:
  using Kind = JinjaExpression::Kind;

  JinjaExpressionPtr New(Kind kind) const;
  // Checks that it is not nested too deeply, after its parts have been put in.
  Parsed Done(JinjaExpressionPtr expression) const;
  Parsed Unary(Kind kind, JinjaExpressionPtr part, JinjaPlace place) const;
  Parsed Binary(Kind kind, std::string name, JinjaExpressionPtr left, JinjaExpressionPtr right,
                JinjaPlace place) const;

  Parsed Conditional();
  Parsed Or();
  Parsed And();
  Parsed Not();
  Parsed Compare();
  Parsed Sum();
  Parsed Join();
  Parsed Product();
  Parsed Power();
  Parsed Signed(bool with_filters);
  Parsed Primary();
  Parsed Parenthesised();
  Parsed List();
  Parsed Dict();
  Parsed Postfix(JinjaExpressionPtr value);
  Parsed Subscript(JinjaExpressionPtr value);
  Parsed FiltersAndTests(JinjaExpressionPtr value);
  Parsed Test(JinjaExpressionPtr value);
  Parsed CallOf(JinjaExpressionPtr callee);
  Result<void> Arguments(JinjaCallArguments* arguments);
  bool TupleEnds(std::string_view end) const;

  JinjaTokenStream& tokens_;
  std::set<std::string> names_;
  int nesting_ = 0;  // of calls of Expression and Signed
};

}  // namespace hone
