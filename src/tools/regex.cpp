#include "tools/regex.h"

#define PCRE2_CODE_UNIT_WIDTH 8
#include <pcre2.h>

#include <fmt/format.h>

namespace hone {
namespace {

constexpr uint32_t kMostSteps = 1'000'000;

// What ECMAScript spells differently: \d and \w are ASCII, \cX and \/ are fine, \Z and \A are not
// anchors, $ is the very end, and \p names scripts with "Script=".
std::string FromEcmaScript(std::string_view in) {
  std::string out;
  bool in_class = false;
  for (size_t i = 0; i < in.size(); ++i) {
    const char c = in[i];
    if (c == '\\' && i + 1 < in.size()) {
      const char next = in[++i];
      if (next == 'd') {
        out += in_class ? "0-9" : "[0-9]";
      } else if (next == 'D' && !in_class) {
        out += "[^0-9]";
      } else if (next == 'w') {
        out += in_class ? "A-Za-z0-9_" : "[A-Za-z0-9_]";
      } else if (next == 'W' && !in_class) {
        out += "[^A-Za-z0-9_]";
      } else if ((next == 's' || next == 'S') && !in_class) {
        // White space and line ends of ECMAScript, the byte order mark included.
        out += next == 's' ? "[" : "[^";
        out +=
            "\\x{9}-\\x{D}\\x{20}\\x{A0}\\x{FEFF}\\x{1680}\\x{2000}-\\x{200A}\\x{2028}\\x{2029}"
            "\\x{202F}\\x{205F}\\x{3000}]";
      } else if (next == 'u' && i + 4 < in.size() && in[i + 1] != '{') {
        out += fmt::format("\\x{{{}}}", in.substr(i + 1, 4));
        i += 4;
      } else if (next == 'u' && i + 1 < in.size()) {
        out += "\\x";
      } else {
        out += '\\';
        out += next;
      }
      continue;
    }
    if (c == '[') in_class = true;
    if (c == ']') in_class = false;
    if (c == '$' && !in_class) {
      out += "\\z";
      continue;
    }
    out += c;
  }
  return out;
}

}  // namespace

Result<Regex> Regex::Compile(std::string_view expression) {
  const std::string translated = FromEcmaScript(expression);
  int number = 0;
  PCRE2_SIZE at = 0;
  pcre2_code* code =
      pcre2_compile(reinterpret_cast<PCRE2_SPTR>(translated.data()), translated.size(),
                    PCRE2_UTF | PCRE2_NEVER_BACKSLASH_C, &number, &at, nullptr);
  if (code == nullptr) {
    PCRE2_UCHAR message[256] = {};
    pcre2_get_error_message(number, message, sizeof message);
    return Error(ErrorCode::kInvalidArgument,
                 fmt::format("the regular expression \"{}\": {}", expression,
                             reinterpret_cast<const char*>(message)));
  }
  Regex regex;
  regex.code_ = std::shared_ptr<void>(
      code, [](void* memory) { pcre2_code_free(static_cast<pcre2_code*>(memory)); });
  return regex;
}

bool Regex::Finds(std::string_view text) const {
  auto* code = static_cast<pcre2_code*>(code_.get());
  const std::unique_ptr<pcre2_match_data, void (*)(pcre2_match_data*)> match(
      pcre2_match_data_create_from_pattern(code, nullptr), &pcre2_match_data_free);
  const std::unique_ptr<pcre2_match_context, void (*)(pcre2_match_context*)> limits(
      pcre2_match_context_create(nullptr), &pcre2_match_context_free);
  pcre2_set_match_limit(limits.get(), kMostSteps);
  return pcre2_match(code, reinterpret_cast<PCRE2_SPTR>(text.data()), text.size(), 0, 0,
                     match.get(), limits.get()) >= 0;
}

}  // namespace hone
