#include "text/jinja/jinja_token_stream.h"

#include <fmt/format.h>

namespace hone {
namespace {

using TokenKind = JinjaToken::Kind;

std::string Described(const JinjaToken& token) {
  switch (token.kind) {
    case TokenKind::kData: return "text";
    case TokenKind::kPrintBegin: return "{{";
    case TokenKind::kPrintEnd: return "}}";
    case TokenKind::kTagBegin: return "{%";
    case TokenKind::kTagEnd: return "%}";
    case TokenKind::kString: return "a string";
    case TokenKind::kEnd: return "the end of the template";
    default: return fmt::format("'{}'", token.text);
  }
}

}  // namespace

bool JinjaTokenStream::SkipName(std::string_view name) {
  if (!current().IsName(name)) return false;
  Next();
  return true;
}

bool JinjaTokenStream::SkipOperator(std::string_view op) {
  if (!current().IsOperator(op)) return false;
  Next();
  return true;
}

Result<void> JinjaTokenStream::ExpectOperator(std::string_view op) {
  if (SkipOperator(op)) return {};
  return Unexpected(fmt::format("'{}'", op));
}

Result<std::string> JinjaTokenStream::ExpectName() {
  if (current().kind != TokenKind::kName) return Unexpected("a name");
  std::string name = current().text;
  Next();
  return name;
}

Result<void> JinjaTokenStream::ExpectTagEnd() {
  SkipOperator(":");  // as Python has it
  if (current().kind != TokenKind::kTagEnd) return Unexpected("%}");
  Next();
  return {};
}

Error JinjaTokenStream::Unexpected(std::string_view wanted) const {
  return Bad(fmt::format("{} where {} should stand", Described(current()), wanted));
}

}  // namespace hone
