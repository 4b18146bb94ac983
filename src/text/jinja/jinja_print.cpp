#include "text/jinja/jinja_print.h"

#include <algorithm>
#include <cmath>

#include <fmt/format.h>

#include "base/utf8.h"

namespace hone {
namespace {

using Kind = JinjaValue::Kind;

std::string ReprOf(const JinjaValue& value);

std::string ReprOfItems(const std::vector<JinjaValue>& items, std::string_view open,
                        std::string_view close) {
  std::string text(open);
  for (size_t i = 0; i < items.size(); ++i) {
    if (i > 0) text += ", ";
    text += ReprOf(items[i]);
  }
  return text += close;
}

std::string ReprOfDict(const JinjaDict& dict) {
  std::string text = "{";
  for (const auto& [key, value] : dict.members) {
    if (text.size() > 1) text += ", ";
    text += ReprOf(key) + ": " + ReprOf(value);
  }
  return text += "}";
}

std::string ReprOf(const JinjaValue& value) {
  switch (value.kind()) {
    case Kind::kUndefined: return "Undefined";
    case Kind::kNone: return "None";
    case Kind::kBool: return value.AsBool() ? "True" : "False";
    case Kind::kInteger: return std::to_string(*value.AsInteger());
    case Kind::kBigInteger: return value.AsBigInteger().digits;
    case Kind::kReal: return RealText(*value.AsReal());
    case Kind::kText: {
      const JinjaText& text = value.AsText();
      return text.markup() ? fmt::format("Markup({})", QuotedText(text.view()))
                           : QuotedText(text.view());
    }
    case Kind::kList: return ReprOfItems(value.Items(), "[", "]");
    case Kind::kTuple:
      return ReprOfItems(value.Items(), "(", value.Items().size() == 1 ? ",)" : ")");
    case Kind::kView: return ReprOfItems(value.Items(), value.TypeName() + "([", "])");
    case Kind::kDict: return ReprOfDict(value.AsDict());
    case Kind::kRange: {
      const JinjaRange& range = value.AsRange();
      return range.step == 1
                 ? fmt::format("range({}, {})", range.start, range.stop)
                 : fmt::format("range({}, {}, {})", range.start, range.stop, range.step);
    }
    case Kind::kIterator: return fmt::format("<{} object>", value.TypeName());
    case Kind::kObject: return value.AsObject()->Repr();
  }
  return "";
}

void AppendUnicodeEscape(uint32_t character, std::string* out) {
  if (character >= 0x10000) {
    const uint32_t offset = character - 0x10000;
    *out += fmt::format("\\u{:04x}\\u{:04x}", 0xD800 + (offset >> 10), 0xDC00 + (offset & 0x3FF));
  } else {
    *out += fmt::format("\\u{:04x}", character);
  }
}

void AppendJsonText(std::string_view text, bool ensure_ascii, std::string* out) {
  *out += '"';
  for (size_t at = 0; at < text.size();) {
    const size_t begin = at;
    const uint32_t c = NextCodePoint(text, &at);
    switch (c) {
      case '"': *out += "\\\""; break;
      case '\\': *out += "\\\\"; break;
      case '\n': *out += "\\n"; break;
      case '\r': *out += "\\r"; break;
      case '\t': *out += "\\t"; break;
      case '\f': *out += "\\f"; break;
      case '\b': *out += "\\b"; break;
      default:
        if (c < 0x20 || (ensure_ascii && c > 0x7E)) {
          AppendUnicodeEscape(c, out);
        } else {
          *out += text.substr(begin, at - begin);
        }
    }
  }
  *out += '"';
}

class JsonWriter {
 public:
  explicit JsonWriter(const JinjaJsonStyle& style) : style_(style) {}

  Result<void> Write(const JinjaValue& value) {
    switch (value.kind()) {
      case Kind::kNone: out_ += "null"; return {};
      case Kind::kBool: out_ += value.AsBool() ? "true" : "false"; return {};
      case Kind::kInteger:
      case Kind::kBigInteger: out_ += ReprOf(value); return {};
      case Kind::kReal: out_ += Number(*value.AsReal()); return {};
      case Kind::kText:
        AppendJsonText(value.AsText().view(), style_.ensure_ascii, &out_);
        return {};
      case Kind::kList:
      case Kind::kTuple: return WriteList(value.Items());
      case Kind::kDict: return WriteDict(value.AsDict());
      default:
        return Error(ErrorCode::kInvalidArgument,
                     fmt::format("an object of type {} is not JSON serializable{}",
                                 value.TypeName(), value.is_undefined() ? ": " + value.Why() : ""));
    }
  }

  std::string Take() && { return std::move(out_); }

 private:
  static std::string Number(double value) {
    if (std::isnan(value)) return "NaN";
    if (std::isinf(value)) return value > 0 ? "Infinity" : "-Infinity";
    return RealText(value);
  }

  void NewLine() {
    if (!style_.indent) return;
    out_ += '\n';
    for (int i = 0; i < depth_; ++i) out_ += *style_.indent;
  }

  void Separate(bool first) {
    if (!first) out_ += style_.item_separator;
    NewLine();
  }

  Result<void> WriteList(const std::vector<JinjaValue>& items) {
    if (items.empty()) return out_ += "[]", Result<void>();
    out_ += '[';
    ++depth_;
    for (size_t i = 0; i < items.size(); ++i) {
      Separate(i == 0);
      HONE_RETURN_IF_ERROR(Write(items[i]));
    }
    --depth_;
    NewLine();
    out_ += ']';
    return {};
  }

  static Result<std::string> Key(const JinjaValue& key) {
    switch (key.kind()) {
      case Kind::kText: return key.AsText().bytes();
      case Kind::kNone: return std::string("null");
      case Kind::kBool: return std::string(key.AsBool() ? "true" : "false");
      case Kind::kInteger:
      case Kind::kBigInteger: return ReprOf(key);
      case Kind::kReal: return Number(*key.AsReal());
      default:
        return Error(
            ErrorCode::kInvalidArgument,
            fmt::format("keys must be str, int, float, bool or None, not {}", key.TypeName()));
    }
  }

  Result<void> WriteDict(const JinjaDict& dict) {
    if (dict.members.empty()) return out_ += "{}", Result<void>();
    std::vector<const std::pair<JinjaValue, JinjaValue>*> members;
    for (const auto& member : dict.members) members.push_back(&member);
    if (style_.sort_keys) {
      std::optional<Error> problem;
      std::stable_sort(members.begin(), members.end(), [&](const auto* a, const auto* b) {
        const auto order = Order(a->first, b->first);
        if (!order.ok() && !problem) problem = order.error();
        return order.ok() && *order < 0;
      });
      if (problem) return *problem;
    }
    out_ += '{';
    ++depth_;
    bool first = true;
    for (const auto* member : members) {
      Separate(std::exchange(first, false));
      HONE_ASSIGN_OR_RETURN(const std::string key, Key(member->first));
      AppendJsonText(key, style_.ensure_ascii, &out_);
      out_ += style_.key_separator;
      HONE_RETURN_IF_ERROR(Write(member->second));
    }
    --depth_;
    NewLine();
    out_ += '}';
    return {};
  }

  const JinjaJsonStyle& style_;
  std::string out_;
  int depth_ = 0;
};

JinjaText Marked(std::string text, const JinjaValue& made_of) {
  return HoldsForeign(made_of) ? JinjaText::Foreign(std::move(text)) : JinjaText(std::move(text));
}

}  // namespace

bool HoldsForeign(const JinjaValue& value) {
  switch (value.kind()) {
    case Kind::kText: return !value.AsText().foreign().empty();
    case Kind::kList:
    case Kind::kTuple:
    case Kind::kView: return std::any_of(value.Items().begin(), value.Items().end(), HoldsForeign);
    case Kind::kDict: {
      const auto& members = value.AsDict().members;
      return std::any_of(members.begin(), members.end(), [](const auto& member) {
        return HoldsForeign(member.first) || HoldsForeign(member.second);
      });
    }
    // What an object keeps is not looked into: take it for foreign, which only ever costs a marker.
    case Kind::kObject: return true;
    default: return false;
  }
}

std::string QuotedText(std::string_view text) {
  const bool doubled = text.find('\'') != text.npos && text.find('"') == text.npos;
  const char quote = doubled ? '"' : '\'';
  std::string out(1, quote);
  for (size_t at = 0; at < text.size();) {
    const size_t begin = at;
    const uint32_t c = NextCodePoint(text, &at);
    if (c == static_cast<uint32_t>(quote) || c == '\\') {
      out += '\\';
      out += static_cast<char>(c);
    } else if (c == '\n' || c == '\r' || c == '\t') {
      out += c == '\n' ? "\\n" : c == '\r' ? "\\r" : "\\t";
    } else if (IsPrintable(c)) {
      out += text.substr(begin, at - begin);
    } else if (c < 0x100) {
      out += fmt::format("\\x{:02x}", c);
    } else {
      out += c < 0x10000 ? fmt::format("\\u{:04x}", c) : fmt::format("\\U{:08x}", c);
    }
  }
  return out += quote;
}

std::string RealText(double value) {
  if (std::isnan(value)) return "nan";
  if (std::isinf(value)) return value > 0 ? "inf" : "-inf";
  return ShortestReal(value);
}

Result<JinjaText> ToText(JinjaRun* run, const JinjaValue& value) {
  if (value.is_undefined()) return JinjaText();
  if (value.is_text()) return value.AsText();
  return ToRepr(run, value);
}

Result<JinjaText> ToRepr(JinjaRun* run, const JinjaValue& value) {
  HONE_RETURN_IF_ERROR(run->Charge(4 * value.Extent().count));
  return Marked(ReprOf(value), value);
}

Result<JinjaText> ToJsonText(JinjaRun* run, const JinjaValue& value, const JinjaJsonStyle& style) {
  HONE_RETURN_IF_ERROR(run->Charge(4 * value.Extent().count));
  // What at most stands around each of the values.
  const JinjaExtent extent = value.Extent();
  const size_t around =
      (style.indent ? style.indent->size() : 0) * (static_cast<size_t>(extent.depth) + 1) +
      style.item_separator.size() + style.key_separator.size();
  HONE_RETURN_IF_ERROR(run->ChargeText(around * static_cast<size_t>(extent.count)));
  JsonWriter writer(style);
  HONE_RETURN_IF_ERROR(writer.Write(value));
  return Marked(std::move(writer).Take(), value);
}

}  // namespace hone
