#include "evaluate/suites/python_expression.h"

#include <array>
#include <optional>

#include "evaluate/suites/python_tokens.h"

namespace hone {
namespace {

using Kind = PythonNode::Kind;
using TokenKind = PythonToken::Kind;
using Parsed = std::optional<PythonNode>;  // nothing: it is no Python

constexpr int kDeepest = 100;

PythonNode Made(Kind kind, std::string text, std::vector<PythonNode> children) {
  return {.kind = kind, .text = std::move(text), .children = std::move(children)};
}

// The levels of arithmetic, loosest first.
constexpr std::array<std::array<std::string_view, 5>, 6> kLevels = {{
    {"|"},
    {"^"},
    {"&"},
    {"<<", ">>"},
    {"+", "-"},
    {"*", "/", "//", "%", "@"},
}};

// Recursive descent. Every function leaves at_ behind what it has read, or gives up for good.
class Parser {
 public:
  Parser(std::string_view source, const std::vector<PythonToken>& tokens)
      : source_(source), tokens_(tokens) {}

  Parsed Whole() {
    Parsed node = Several(false);
    while (Here().kind == TokenKind::kNewline) ++at_;
    if (Here().kind != TokenKind::kEnd) return std::nullopt;
    return node;
  }

 private:
  const PythonToken& Here(size_t ahead = 0) const {
    return tokens_[std::min(at_ + ahead, tokens_.size() - 1)];
  }
  bool Is(std::string_view text, size_t ahead = 0) const {
    const PythonToken& token = Here(ahead);
    return (token.kind == TokenKind::kSymbol || token.kind == TokenKind::kName) &&
           token.text == text;
  }
  bool Take(std::string_view text) {
    if (!Is(text)) return false;
    ++at_;
    return true;
  }
  bool IsName(size_t ahead = 0) const {
    return Here(ahead).kind == TokenKind::kName && !IsPythonKeyword(Here(ahead).text);
  }

  // What was read since token `first`, as it was written.
  PythonNode Other(size_t first) const {
    const size_t begin = tokens_[first].begin;
    return Made(Kind::kOther, std::string(source_.substr(begin, tokens_[at_ - 1].end - begin)), {});
  }

  // Expressions separated by commas are a tuple.
  Parsed Several(bool starred) {
    Parsed first = starred ? StarredOrNamed() : Expression();
    if (!first || !Is(",")) return first;
    PythonNode tuple = Made(Kind::kTuple, "", {});
    tuple.children.push_back(*std::move(first));
    while (Take(",")) {
      if (EndsList()) break;
      Parsed next = starred ? StarredOrNamed() : Expression();
      if (!next) return std::nullopt;
      tuple.children.push_back(*std::move(next));
    }
    return tuple;
  }
  bool EndsList() const {
    const PythonToken& token = Here();
    return token.kind == TokenKind::kEnd || token.kind == TokenKind::kNewline || Is(")") ||
           Is("]") || Is("}") || Is("=");
  }

  // *x, x := y, or an expression: what may stand in brackets.
  Parsed StarredOrNamed() {
    if (Take("*")) {
      Parsed inner = Arithmetic(0);
      if (!inner) return std::nullopt;
      return Made(Kind::kStarred, "*", {*std::move(inner)});
    }
    const size_t first = at_;
    if (IsName() && Is(":=", 1)) {
      at_ += 2;
      if (!Expression()) return std::nullopt;
      return Other(first);
    }
    return Expression();
  }

  Parsed Expression() {
    if (++depth_ > kDeepest) return std::nullopt;
    Parsed node = Is("lambda") ? Lambda() : Conditional();
    --depth_;
    return node;
  }

  Parsed Lambda() {
    const size_t first = at_++;
    for (int brackets = 0; !(brackets == 0 && Is(":")); ++at_) {
      if (Here().kind == TokenKind::kEnd) return std::nullopt;
      if (Is("(") || Is("[") || Is("{")) ++brackets;
      if (Is(")") || Is("]") || Is("}")) --brackets;
      if (brackets < 0) return std::nullopt;
    }
    ++at_;
    if (!Expression()) return std::nullopt;
    return Other(first);
  }

  Parsed Conditional() {
    const size_t first = at_;
    Parsed node = Logical(0);
    if (!node || !Take("if")) return node;
    if (!Logical(0) || !Take("else") || !Expression()) return std::nullopt;
    return Other(first);
  }

  // or, then and.
  Parsed Logical(int level) {
    const size_t first = at_;
    const std::string_view word = level == 0 ? "or" : "and";
    Parsed node = level == 0 ? Logical(1) : Inversion();
    if (!node || !Is(word)) return node;
    while (Take(word)) {
      if (!(level == 0 ? Logical(1) : Inversion())) return std::nullopt;
    }
    return Other(first);
  }

  Parsed Inversion() {
    if (!Take("not")) return Comparison();
    if (++depth_ > kDeepest) return std::nullopt;
    Parsed inner = Inversion();
    --depth_;
    if (!inner) return std::nullopt;
    return Made(Kind::kUnary, "not", {*std::move(inner)});
  }

  bool TakeComparison() {
    for (const char* symbol : {"==", "!=", "<=", ">=", "<", ">"}) {
      if (Take(symbol)) return true;
    }
    if (Take("in")) return true;
    if (Take("is")) {
      Take("not");
      return true;
    }
    if (!Is("not") || !Is("in", 1)) return false;
    at_ += 2;
    return true;
  }

  Parsed Comparison() {
    const size_t first = at_;
    Parsed node = Arithmetic(0);
    bool compared = false;
    while (node && TakeComparison()) {
      compared = true;
      if (!Arithmetic(0)) return std::nullopt;
    }
    return compared ? Parsed(Other(first)) : std::move(node);
  }

  Parsed Arithmetic(size_t level) {
    if (level == kLevels.size()) return Factor();
    Parsed left = Arithmetic(level + 1);
    while (left) {
      std::string_view found;
      for (const std::string_view symbol : kLevels[level]) {
        if (!symbol.empty() && Is(symbol)) found = symbol;
      }
      if (found.empty()) return left;
      ++at_;
      Parsed right = Arithmetic(level + 1);
      if (!right) return std::nullopt;
      PythonNode node = Made(Kind::kBinary, std::string(found), {});
      node.children.push_back(*std::move(left));
      node.children.push_back(*std::move(right));
      left = std::move(node);
    }
    return left;
  }

  Parsed Factor() {
    for (const char* symbol : {"-", "+", "~"}) {
      if (!Take(symbol)) continue;
      if (++depth_ > kDeepest) return std::nullopt;
      Parsed inner = Factor();
      --depth_;
      if (!inner) return std::nullopt;
      return Made(Kind::kUnary, symbol, {*std::move(inner)});
    }
    const size_t first = at_;
    if (Take("await")) {
      if (!Primary()) return std::nullopt;
      return Other(first);
    }
    Parsed base = Primary();
    if (!base || !Take("**")) return base;
    Parsed exponent = Factor();
    if (!exponent) return std::nullopt;
    PythonNode node = Made(Kind::kBinary, "**", {});
    node.children.push_back(*std::move(base));
    node.children.push_back(*std::move(exponent));
    return node;
  }

  Parsed Primary() {
    Parsed node = Atom();
    while (node) {
      if (Take(".")) {
        if (!IsName()) return std::nullopt;
        node = Made(Kind::kAttribute, Here().text, {*std::move(node)});
        ++at_;
      } else if (Take("(")) {
        node = Call(*std::move(node));
      } else if (Take("[")) {
        Parsed index = Slices();
        if (!index || !Take("]")) return std::nullopt;
        PythonNode subscript = Made(Kind::kSubscript, "", {});
        subscript.children.push_back(*std::move(node));
        subscript.children.push_back(*std::move(index));
        node = std::move(subscript);
      } else {
        return node;
      }
    }
    return node;
  }

  // Behind the opening bracket.
  Parsed Call(PythonNode function) {
    PythonNode call = Made(Kind::kCall, "", {});
    call.children.push_back(std::move(function));
    bool unpacked = false;  // ** came
    while (!Take(")")) {
      if (Take("**")) {
        Parsed value = Expression();
        if (!value) return std::nullopt;
        call.keywords.emplace_back();
        call.values.push_back(*std::move(value));
        unpacked = true;
      } else if (IsName() && Is("=", 1)) {
        std::string name = Here().text;
        at_ += 2;
        Parsed value = Expression();
        if (!value) return std::nullopt;
        call.keywords.push_back(std::move(name));
        call.values.push_back(*std::move(value));
      } else if (Take("*")) {
        Parsed value = Expression();
        if (!value || unpacked) return std::nullopt;
        call.children.push_back(Made(Kind::kStarred, "*", {*std::move(value)}));
      } else {
        const size_t first = at_;
        Parsed value = StarredOrNamed();
        if (!value || !call.keywords.empty()) return std::nullopt;
        if (Is("for") || Is("async")) {
          // A generator without brackets of its own is the only argument.
          if (call.children.size() > 1 || !Clauses() || !Is(")")) return std::nullopt;
          value = Other(first);
        }
        call.children.push_back(*std::move(value));
      }
      if (!Take(",") && !Is(")")) return std::nullopt;
    }
    return call;
  }

  Parsed Slices() {
    const size_t first = at_;
    PythonNode tuple = Made(Kind::kTuple, "", {});
    bool several = false;
    while (true) {
      Parsed one = Slice();
      if (!one) return std::nullopt;
      tuple.children.push_back(*std::move(one));
      if (!Take(",")) break;
      several = true;
      if (Is("]")) break;
    }
    return several ? Other(first) : std::move(tuple.children[0]);
  }

  Parsed Slice() {
    const size_t first = at_;
    Parsed node;
    if (!Is(":")) {
      node = StarredOrNamed();
      if (!node || !Is(":")) return node;
    }
    for (int parts = 0; parts < 2 && Take(":"); ++parts) {
      if (!Is(":") && !Is("]") && !Is(",") && !Expression()) return std::nullopt;
    }
    return Other(first);
  }

  // for x in y if z ...
  bool Clauses() {
    while (Is("for") || Is("async")) {
      if (Take("async") && !Is("for")) return false;
      ++at_;
      do {
        if (Is("in")) break;
        Take("*");
        if (!Arithmetic(0)) return false;
      } while (Take(","));
      if (!Take("in") || !Logical(0)) return false;
      while (Take("if")) {
        if (!Logical(0)) return false;
      }
    }
    return true;
  }

  Parsed Atom() {
    if (++depth_ > kDeepest) return std::nullopt;
    Parsed node = AtomInside();
    --depth_;
    return node;
  }

  Parsed AtomInside() {
    const PythonToken& token = Here();
    switch (token.kind) {
      case TokenKind::kInteger:
      case TokenKind::kReal: {
        ++at_;
        PythonNode node = Made(Kind::kConstant, "", {});
        node.value = token.value;
        return node;
      }
      case TokenKind::kString:
      case TokenKind::kFormat: return Strings();
      case TokenKind::kBytes: return Bytes();
      case TokenKind::kName: return Named();
      case TokenKind::kSymbol: break;
      default: return std::nullopt;
    }
    if (Take("...")) return Made(Kind::kEllipsis, "", {});
    if (Take("(")) return Group();
    if (Take("[")) return Display(Kind::kList, "]");
    if (Take("{")) return Braces();
    return std::nullopt;
  }

  Parsed Named() {
    const std::string& word = Here().text;
    PythonNode node = Made(Kind::kConstant, "", {});
    if (word == "True" || word == "False") {
      node.value = Json(word == "True");
    } else if (word == "None") {
      node.value = Json();
    } else if (IsPythonKeyword(word)) {
      return std::nullopt;
    } else {
      node = Made(Kind::kName, word, {});
    }
    ++at_;
    return node;
  }

  bool IsText() const {
    return Here().kind == TokenKind::kString || Here().kind == TokenKind::kFormat;
  }

  // Texts that stand one behind the other are one.
  Parsed Strings() {
    const size_t first = at_;
    std::string joined;
    bool format = false;
    for (; IsText(); ++at_) {
      format = format || Here().kind == TokenKind::kFormat;
      if (!format) joined += Here().value.AsString();
    }
    if (Here().kind == TokenKind::kBytes) return std::nullopt;  // bytes are no text
    if (format) return Other(first);
    PythonNode node = Made(Kind::kConstant, "", {});
    node.value = Json(std::move(joined));
    return node;
  }

  Parsed Bytes() {
    PythonNode node = Made(Kind::kBytes, Here().text, {});
    while (Here().kind == TokenKind::kBytes) ++at_;
    if (IsText()) return std::nullopt;
    return node;
  }

  // Behind "(".
  Parsed Group() {
    const size_t first = at_ - 1;
    if (Take(")")) return Made(Kind::kTuple, "", {});
    if (Take("yield")) {
      Take("from");
      if (!Is(")") && !Several(true)) return std::nullopt;
      if (!Take(")")) return std::nullopt;
      return Other(first);
    }
    Parsed node = Several(true);
    if (!node) return std::nullopt;
    if (Is("for") || Is("async")) {
      if (node->kind == Kind::kTuple || !Clauses() || !Take(")")) return std::nullopt;
      return Other(first);
    }
    if (!Take(")") || node->kind == Kind::kStarred) return std::nullopt;
    return node;
  }

  // Behind the opening bracket.
  Parsed Display(Kind kind, std::string_view closing) {
    const size_t first = at_ - 1;
    PythonNode display = Made(kind, "", {});
    if (Take(closing)) return display;
    Parsed element = StarredOrNamed();
    if (!element) return std::nullopt;
    return Rest(std::move(display), *std::move(element), closing, first);
  }

  // Behind its first element, which is read once: read again for each bracket around it, it would
  // take twice as long with every one. `first` is where the bracket stands.
  Parsed Rest(PythonNode display, PythonNode element, std::string_view closing, size_t first) {
    while (true) {
      display.children.push_back(std::move(element));
      if (Is("for") || Is("async")) {
        if (display.children.size() > 1 || !Clauses() || !Take(closing)) return std::nullopt;
        return Other(first);
      }
      if (!Take(",") && !Is(closing)) return std::nullopt;
      if (Take(closing)) return display;
      Parsed next = StarredOrNamed();
      if (!next) return std::nullopt;
      element = *std::move(next);
    }
  }

  // Behind "{": a dictionary, or a set.
  Parsed Braces() {
    const size_t first = at_ - 1;
    PythonNode dict = Made(Kind::kDict, "", {});
    while (!Take("}")) {
      if (Take("**")) {
        Parsed value = Arithmetic(0);
        if (!value) return std::nullopt;
        dict.children.push_back(Made(Kind::kStarred, "**", {}));
        dict.children.push_back(*std::move(value));
      } else {
        Parsed key = StarredOrNamed();
        if (!key) return std::nullopt;
        if (!Take(":")) {
          if (!dict.children.empty()) return std::nullopt;
          return Rest(Made(Kind::kSet, "", {}), *std::move(key), "}", first);
        }
        Parsed value = Expression();
        if (!value || key->kind == Kind::kStarred) return std::nullopt;
        dict.children.push_back(*std::move(key));
        dict.children.push_back(*std::move(value));
        if (Is("for") || Is("async")) {
          if (dict.children.size() > 2 || !Clauses() || !Take("}")) return std::nullopt;
          return Other(first);
        }
      }
      if (!Take(",") && !Is("}")) return std::nullopt;
    }
    return dict;
  }

  const std::string_view source_;
  const std::vector<PythonToken>& tokens_;
  size_t at_ = 0;
  int depth_ = 0;
};

}  // namespace

Result<PythonNode> ParsePythonExpression(std::string_view text) {
  HONE_ASSIGN_OR_RETURN(const std::vector<PythonToken> tokens, PythonTokens(text));
  Parsed parsed = Parser(text, tokens).Whole();
  if (!parsed) return Error(ErrorCode::kParse, "this is no expression of Python");
  return *std::move(parsed);
}

}  // namespace hone
