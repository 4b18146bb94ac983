#include <algorithm>
#include <charconv>
#include <cmath>

#include <fmt/format.h>

#include "base/json.h"

namespace hone {

std::string ShortestReal(double value) {
  CHECK(std::isfinite(value));
  // to_chars gives the shortest round-trip digits as d.ddde±xx; only the spelling is ours.
  char buffer[40];
  const auto end =
      std::to_chars(buffer, buffer + sizeof buffer, value, std::chars_format::scientific).ptr;
  std::string_view text(buffer, end - buffer);
  std::string out;
  if (text[0] == '-') {
    out = "-";
    text.remove_prefix(1);
  }
  const size_t e = text.find('e');
  int exponent = 0;
  const char* exponent_digits = text.data() + e + 1 + (text[e + 1] == '+' ? 1 : 0);
  std::from_chars(exponent_digits, text.data() + text.size(), exponent);
  std::string digits(1, text[0]);
  if (e > 2) digits.append(text, 2, e - 2);

  const int count = static_cast<int>(digits.size());
  if (exponent < -4 || exponent >= 16) {
    out += digits[0];
    if (count > 1) out += "." + digits.substr(1);
    return out + fmt::format("e{}{:02}", exponent < 0 ? '-' : '+', std::abs(exponent));
  }
  if (exponent < 0) return out + "0." + std::string(-exponent - 1, '0') + digits;
  if (count <= exponent + 1) return out + digits + std::string(exponent + 1 - count, '0') + ".0";
  return out + digits.substr(0, exponent + 1) + "." + digits.substr(exponent + 1);
}

// Writes one value in one style. Recursion is bounded because a Json is a tree we built or parsed.
class JsonWriter {
 public:
  explicit JsonWriter(JsonStyle style) : style_(style) {}

  void Write(const Json& value, int depth = 0) {
    switch (value.kind()) {
      case Json::Kind::kNull: out_ += "null"; break;
      case Json::Kind::kBool: out_ += value.AsBool() ? "true" : "false"; break;
      case Json::Kind::kInteger: out_ += std::to_string(value.AsInteger()); break;
      case Json::Kind::kBigInteger: out_ += std::get<BigInteger>(value.value_).digits; break;
      case Json::Kind::kReal: {
        const double real = std::get<double>(value.value_);
        out_ += std::isfinite(real) ? ShortestReal(real) : "null";
        break;
      }
      case Json::Kind::kString: WriteString(value.AsString()); break;
      case Json::Kind::kArray: WriteArray(value.AsArray(), depth); break;
      case Json::Kind::kObject: WriteObject(value.AsObject(), depth); break;
    }
  }

  std::string Take() && { return std::move(out_); }

 private:
  void WriteArray(const Json::Array& array, int depth) {
    out_ += '[';
    // Arrays of plain numbers stay on one line even when pretty: token ids read better that way.
    const bool flat = std::none_of(array.begin(), array.end(), [](const Json& element) {
      return element.is_array() || element.is_object() || element.is_string();
    });
    for (size_t i = 0; i < array.size(); ++i) {
      if (i > 0) out_ += flat && style_ == JsonStyle::kPretty ? ", " : Separator();
      if (!flat) NewLine(depth + 1);
      Write(array[i], depth + 1);
    }
    if (!flat) NewLine(depth);
    out_ += ']';
  }

  void WriteObject(const Json::Object& object, int depth) {
    const std::vector<const Json::Member*> members =
        MembersOf(object, style_ == JsonStyle::kCanonical);
    out_ += '{';
    for (size_t i = 0; i < members.size(); ++i) {
      if (i > 0) out_ += Separator();
      NewLine(depth + 1);
      WriteString(members[i]->first);
      out_ += style_ == JsonStyle::kSpaced || style_ == JsonStyle::kPretty ? ": " : ":";
      Write(members[i]->second, depth + 1);
    }
    if (!members.empty()) NewLine(depth);
    out_ += '}';
  }

  void WriteString(std::string_view text) {
    out_ += '"';
    for (const char c : text) {
      switch (c) {
        case '"': out_ += "\\\""; break;
        case '\\': out_ += "\\\\"; break;
        case '\n': out_ += "\\n"; break;
        case '\r': out_ += "\\r"; break;
        case '\t': out_ += "\\t"; break;
        case '\b': out_ += "\\b"; break;
        case '\f': out_ += "\\f"; break;
        default:
          if (static_cast<uint8_t>(c) < 0x20) {
            out_ += fmt::format("\\u{:04x}", static_cast<int>(c));
          } else {
            out_ += c;
          }
      }
    }
    out_ += '"';
  }

  std::string_view Separator() const { return style_ == JsonStyle::kSpaced ? ", " : ","; }

  void NewLine(int depth) {
    if (style_ != JsonStyle::kPretty) return;
    out_ += '\n';
    out_.append(static_cast<size_t>(2 * depth), ' ');
  }

  JsonStyle style_;
  std::string out_;
};

std::string DumpJson(const Json& value, JsonStyle style) {
  JsonWriter writer(style);
  writer.Write(value);
  return std::move(writer).Take();
}

}  // namespace hone
