// Back from the expression to its text, as Python's ast.unparse writes it.

#include <fmt/format.h>

#include "base/utf8.h"
#include "evaluate/suites/python_expression.h"

namespace hone {
namespace {

using Kind = PythonNode::Kind;

// How tightly an expression binds; brackets stand around what binds less than its place asks for.
enum Binding { kLoose, kNot, kOr, kXor, kAnd, kShift, kSum, kTerm, kFactor, kPower, kAtom };

Binding BindingOf(std::string_view symbol) {
  if (symbol == "|") return kOr;
  if (symbol == "^") return kXor;
  if (symbol == "&") return kAnd;
  if (symbol == "<<" || symbol == ">>") return kShift;
  if (symbol == "+" || symbol == "-") return kSum;
  if (symbol == "**") return kPower;
  return kTerm;
}

// Python's repr of a text: single quotes unless only those are in it.
std::string Quoted(const std::string& text) {
  const bool has_single = text.find('\'') != std::string::npos;
  const char quote = has_single && text.find('"') == std::string::npos ? '"' : '\'';
  std::string out(1, quote);
  for (const char c : text) {
    if (c == quote || c == '\\') {
      out += '\\';
      out += c;
    } else if (c == '\n') {
      out += "\\n";
    } else if (c == '\r') {
      out += "\\r";
    } else if (c == '\t') {
      out += "\\t";
    } else if (static_cast<unsigned char>(c) < 0x20 || c == 0x7f) {
      out += fmt::format("\\x{:02x}", static_cast<unsigned char>(c));
    } else {
      out += c;
    }
  }
  return out + quote;
}

std::string Constant(const Json& value) {
  if (value.is_null()) return "None";
  if (value.is_bool()) return value.AsBool() ? "True" : "False";
  if (value.is_string()) return Quoted(value.AsString());
  return DumpJson(value);
}

std::string Source(const PythonNode& node, Binding wanted);

std::string Listed(const std::vector<PythonNode>& nodes, size_t first) {
  std::string out;
  for (size_t i = first; i < nodes.size(); ++i) {
    out += (i > first ? ", " : "") + Source(nodes[i], kLoose);
  }
  return out;
}

std::string Dict(const PythonNode& node) {
  std::string out = "{";
  for (size_t i = 0; i + 1 < node.children.size(); i += 2) {
    const PythonNode &key = node.children[i], &value = node.children[i + 1];
    out += i > 0 ? ", " : "";
    out += key.kind == Kind::kStarred ? "**" : Source(key, kLoose) + ": ";
    out += Source(value, kLoose);
  }
  return out + "}";
}

std::string SourceOfCall(const PythonNode& node) {
  std::string inside = Listed(node.children, 1);
  for (size_t i = 0; i < node.keywords.size(); ++i) {
    const std::string& name = node.keywords[i];
    if (!inside.empty()) inside += ", ";
    inside += (name.empty() ? "**" : name + "=") + Source(node.values[i], kLoose);
  }
  return Source(node.children[0], kAtom) + "(" + inside + ")";
}

std::string Binary(const PythonNode& node, Binding own) {
  // All but the power bind to the left, so the same binding on the right needs brackets.
  const bool power = own == kPower;
  const auto tighter = static_cast<Binding>(own + 1);
  return Source(node.children[0], power ? tighter : own) + " " + node.text + " " +
         Source(node.children[1], power ? kFactor : tighter);
}

std::string Source(const PythonNode& node, Binding wanted) {
  std::string text;
  Binding own = kAtom;
  switch (node.kind) {
    case Kind::kConstant: return Constant(node.value);
    case Kind::kEllipsis: return "...";
    case Kind::kName:
    case Kind::kBytes:
    case Kind::kOther: return node.text;
    case Kind::kAttribute: {
      const PythonNode& base = node.children[0];
      const bool whole = base.kind == Kind::kConstant && base.value.is_integer();
      return Source(base, kAtom) + (whole ? " ." : ".") + node.text;
    }
    case Kind::kSubscript:
      return Source(node.children[0], kAtom) + "[" + Source(node.children[1], kLoose) + "]";
    case Kind::kCall: return SourceOfCall(node);
    case Kind::kList: return "[" + Listed(node.children, 0) + "]";
    case Kind::kSet: return "{" + Listed(node.children, 0) + "}";
    case Kind::kTuple:
      return "(" + Listed(node.children, 0) + (node.children.size() == 1 ? ",)" : ")");
    case Kind::kDict: return Dict(node);
    case Kind::kStarred: return "*" + Source(node.children[0], kOr);
    case Kind::kUnary:
      own = node.text == "not" ? kNot : kFactor;
      text = node.text + (own == kNot ? " " : "") + Source(node.children[0], own);
      break;
    case Kind::kBinary:
      own = BindingOf(node.text);
      text = Binary(node, own);
      break;
  }
  return own < wanted ? "(" + text + ")" : text;
}

}  // namespace

std::string PythonSource(const PythonNode& node) { return Source(node, kLoose); }

}  // namespace hone
