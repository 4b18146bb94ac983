#include "text/jinja/jinja_parser.h"

#include <algorithm>
#include <array>

#include <fmt/format.h>

#include "text/jinja/jinja_expression_parser.h"
#include "text/jinja/jinja_token_stream.h"

namespace hone {
namespace {

using StatementKind = JinjaStatement::Kind;
using TokenKind = JinjaToken::Kind;
using StatementPtr = std::unique_ptr<JinjaStatement>;
using Names = std::vector<std::string_view>;

constexpr int kDeepestTags = 100;

class Parser {
 public:
  explicit Parser(std::vector<JinjaToken> tokens)
      : tokens_(std::move(tokens)), expressions_(&tokens_) {}

  Result<JinjaBody> Template() {
    HONE_ASSIGN_OR_RETURN(JinjaBody body, Statements({}));
    return body;
  }

 private:
  // Up to a tag with one of these names, which is left standing behind its name; up to the end of
  // the template when there are none.
  Result<JinjaBody> Statements(const Names& ends) {
    if (++depth_ > kDeepestTags) {
      return JinjaErrorAt(tokens_.current().place, "tags are nested too deeply",
                          ErrorCode::kUnsupported);
    }
    JinjaBody body;
    while (true) {
      const JinjaToken token = tokens_.current();
      if (token.kind == TokenKind::kEnd) {
        if (!ends.empty()) {
          return tokens_.Bad(fmt::format("the template ends before {{% {} %}}", ends.back()));
        }
        break;
      }
      tokens_.Next();
      if (token.kind == TokenKind::kData) {
        StatementPtr data = New(StatementKind::kData, token.place);
        data->text = token.text;
        body.push_back(std::move(data));
      } else if (token.kind == TokenKind::kPrintBegin) {
        HONE_ASSIGN_OR_RETURN(StatementPtr print, Print(token.place));
        body.push_back(std::move(print));
      } else {
        if (tokens_.current().kind != TokenKind::kName)
          return tokens_.Unexpected("the name of a tag");
        const std::string name = tokens_.current().text;
        if (std::find(ends.begin(), ends.end(), name) != ends.end()) break;
        HONE_ASSIGN_OR_RETURN(StatementPtr statement, Tag(name, token.place));
        body.push_back(std::move(statement));
      }
    }
    --depth_;
    return body;
  }

  static StatementPtr New(StatementKind kind, JinjaPlace place) {
    auto statement = std::make_unique<JinjaStatement>();
    statement->kind = kind;
    statement->place = place;
    return statement;
  }

  Result<StatementPtr> Print(JinjaPlace place) {
    StatementPtr print = New(StatementKind::kPrint, place);
    HONE_ASSIGN_OR_RETURN(print->expression, expressions_.Tuple());
    if (tokens_.current().kind != TokenKind::kPrintEnd) return tokens_.Unexpected("}}");
    tokens_.Next();
    return print;
  }

  Result<StatementPtr> Tag(const std::string& name, JinjaPlace place) {
    const auto tag = [&](StatementKind kind, Result<void> (Parser::*rest)(JinjaStatement*)) {
      tokens_.Next();
      StatementPtr statement = New(kind, place);
      const Result<void> read = (this->*rest)(statement.get());
      return read.ok() ? Result<StatementPtr>(std::move(statement))
                       : Result<StatementPtr>(read.error());
    };
    if (name == "if") return tag(StatementKind::kIf, &Parser::If);
    if (name == "for") return tag(StatementKind::kFor, &Parser::For);
    if (name == "set") return tag(StatementKind::kSet, &Parser::Set);
    if (name == "macro") return tag(StatementKind::kMacro, &Parser::Macro);
    if (name == "call") return tag(StatementKind::kCallBlock, &Parser::CallBlock);
    if (name == "filter") return tag(StatementKind::kFilterBlock, &Parser::FilterBlock);
    if (name == "generation") return tag(StatementKind::kGeneration, &Parser::Generation);
    if (name == "with") return tag(StatementKind::kWith, &Parser::With);
    if (name == "break") return tag(StatementKind::kBreak, &Parser::LoopControl);
    if (name == "continue") return tag(StatementKind::kContinue, &Parser::LoopControl);
    static constexpr std::array<std::string_view, 7> kOthers = {
        "extends", "include", "import", "from", "block", "autoescape", "print"};
    if (std::find(kOthers.begin(), kOthers.end(), name) != kOthers.end()) {
      return JinjaErrorAt(place, fmt::format("{{% {} %}} is not for chat templates", name),
                          ErrorCode::kUnsupported);
    }
    return JinjaErrorAt(place, fmt::format("there is no tag '{}'", name));
  }

  // The rest of a body, with its end tag.
  Result<JinjaBody> BodyUntil(std::string_view end) {
    HONE_RETURN_IF_ERROR(tokens_.ExpectTagEnd());
    HONE_ASSIGN_OR_RETURN(JinjaBody body, Statements({end}));
    tokens_.Next();
    return body;
  }

  Result<void> If(JinjaStatement* statement) {
    while (true) {
      JinjaBranch branch;
      HONE_ASSIGN_OR_RETURN(branch.condition, expressions_.Tuple(false));
      HONE_RETURN_IF_ERROR(tokens_.ExpectTagEnd());
      HONE_ASSIGN_OR_RETURN(branch.body, Statements({"elif", "else", "endif"}));
      statement->branches.push_back(std::move(branch));
      if (tokens_.SkipName("elif")) continue;
      if (tokens_.SkipName("else")) {
        JinjaBranch otherwise;
        HONE_ASSIGN_OR_RETURN(otherwise.body, BodyUntil("endif"));
        statement->branches.push_back(std::move(otherwise));
      } else {
        tokens_.Next();
      }
      return tokens_.ExpectTagEnd();
    }
  }

  Result<void> For(JinjaStatement* statement) {
    HONE_ASSIGN_OR_RETURN(statement->target, expressions_.Target(false, "in"));
    if (!tokens_.SkipName("in")) return tokens_.Unexpected("'in'");
    HONE_ASSIGN_OR_RETURN(statement->expression, expressions_.Tuple(false, "recursive"));
    if (tokens_.SkipName("if")) {
      HONE_ASSIGN_OR_RETURN(statement->condition, expressions_.Expression());
    }
    statement->recursive = tokens_.SkipName("recursive");
    HONE_RETURN_IF_ERROR(tokens_.ExpectTagEnd());
    ++loops_;
    HONE_ASSIGN_OR_RETURN(statement->body, Statements({"else", "endfor"}));
    --loops_;
    if (tokens_.SkipName("else")) {
      HONE_ASSIGN_OR_RETURN(statement->else_body, BodyUntil("endfor"));
    } else {
      tokens_.Next();
    }
    return tokens_.ExpectTagEnd();
  }

  Result<void> LoopControl(JinjaStatement* statement) {
    if (loops_ == 0) return JinjaErrorAt(statement->place, "this stands outside of a loop");
    return tokens_.ExpectTagEnd();
  }

  Result<void> Set(JinjaStatement* statement) {
    HONE_ASSIGN_OR_RETURN(statement->target, expressions_.Target(true));
    if (tokens_.SkipOperator("=")) {
      HONE_ASSIGN_OR_RETURN(statement->expression, expressions_.Tuple());
      return tokens_.ExpectTagEnd();
    }
    statement->kind = StatementKind::kSetBlock;
    HONE_ASSIGN_OR_RETURN(statement->expression, expressions_.Filters(nullptr, false));
    HONE_ASSIGN_OR_RETURN(statement->body, BodyUntil("endset"));
    return tokens_.ExpectTagEnd();
  }

  Result<void> Parameters(JinjaMacroCode* macro) {
    HONE_RETURN_IF_ERROR(tokens_.ExpectOperator("("));
    while (!tokens_.SkipOperator(")")) {
      if (!macro->parameters.empty()) {
        HONE_RETURN_IF_ERROR(tokens_.ExpectOperator(","));
        if (tokens_.SkipOperator(")")) break;
      }
      HONE_ASSIGN_OR_RETURN(std::string name, tokens_.ExpectName());
      macro->parameters.push_back(std::move(name));
      if (tokens_.SkipOperator("=")) {
        HONE_ASSIGN_OR_RETURN(JinjaExpressionPtr value, expressions_.Expression());
        macro->defaults.push_back(std::move(value));
      } else if (!macro->defaults.empty()) {
        return tokens_.Bad("a parameter without a default stands behind one that has one");
      }
    }
    return {};
  }

  // The body of a macro, which is not inside the loops around it. What names it asks for is found
  // on the way.
  Result<void> MacroBody(std::string_view end, JinjaMacroCode* macro) {
    std::set<std::string> outside = std::exchange(expressions_.names(), {});
    const int loops = std::exchange(loops_, 0);
    HONE_ASSIGN_OR_RETURN(macro->body, BodyUntil(end));
    HONE_RETURN_IF_ERROR(tokens_.ExpectTagEnd());
    loops_ = loops;
    const std::set<std::string>& names = expressions_.names();
    macro->uses_caller = names.contains("caller");
    macro->uses_varargs = names.contains("varargs");
    macro->uses_kwargs = names.contains("kwargs");
    expressions_.names().merge(outside);
    return {};
  }

  Result<void> Macro(JinjaStatement* statement) {
    HONE_ASSIGN_OR_RETURN(statement->macro.name, tokens_.ExpectName());
    HONE_RETURN_IF_ERROR(Parameters(&statement->macro));
    return MacroBody("endmacro", &statement->macro);
  }

  Result<void> CallBlock(JinjaStatement* statement) {
    statement->macro.name = "caller";
    if (tokens_.current().IsOperator("(")) {
      HONE_RETURN_IF_ERROR(Parameters(&statement->macro));
    }
    HONE_ASSIGN_OR_RETURN(statement->expression, expressions_.Call());
    return MacroBody("endcall", &statement->macro);
  }

  Result<void> FilterBlock(JinjaStatement* statement) {
    HONE_ASSIGN_OR_RETURN(statement->expression, expressions_.Filters(nullptr, true));
    HONE_ASSIGN_OR_RETURN(statement->body, BodyUntil("endfilter"));
    return tokens_.ExpectTagEnd();
  }

  Result<void> Generation(JinjaStatement* statement) {
    const int loops = std::exchange(loops_, 0);
    HONE_ASSIGN_OR_RETURN(statement->body, BodyUntil("endgeneration"));
    loops_ = loops;
    return tokens_.ExpectTagEnd();
  }

  Result<void> With(JinjaStatement* statement) {
    while (tokens_.current().kind != TokenKind::kTagEnd) {
      if (!statement->assignments.empty()) HONE_RETURN_IF_ERROR(tokens_.ExpectOperator(","));
      auto target = std::make_unique<JinjaExpression>();
      target->kind = JinjaExpression::Kind::kName;
      target->place = tokens_.current().place;
      HONE_ASSIGN_OR_RETURN(target->name, tokens_.ExpectName());
      HONE_RETURN_IF_ERROR(tokens_.ExpectOperator("="));
      HONE_ASSIGN_OR_RETURN(JinjaExpressionPtr value, expressions_.Expression());
      statement->assignments.emplace_back(std::move(target), std::move(value));
    }
    HONE_ASSIGN_OR_RETURN(statement->body, BodyUntil("endwith"));
    return tokens_.ExpectTagEnd();
  }

  JinjaTokenStream tokens_;
  JinjaExpressionParser expressions_;
  int depth_ = 0;
  int loops_ = 0;  // around what is being read
};

}  // namespace

Result<JinjaBody> ParseJinja(std::string_view source) {
  HONE_ASSIGN_OR_RETURN(std::vector<JinjaToken> tokens, LexJinja(source));
  return Parser(std::move(tokens)).Template();
}

}  // namespace hone
