#include "tools/regex.h"

#define PCRE2_CODE_UNIT_WIDTH 8
#include <pcre2.h>

#include <algorithm>
#include <utility>

#include <fmt/format.h>

namespace hone {
namespace {

constexpr uint32_t kMostSteps = 1'000'000;

// The categories of Unicode that ECMAScript also has under whole names, with the names of PCRE2.
constexpr std::pair<std::string_view, std::string_view> kCategories[] = {
    {"Letter", "L"},
    {"Cased_Letter", "L&"},
    {"Uppercase_Letter", "Lu"},
    {"Lowercase_Letter", "Ll"},
    {"Titlecase_Letter", "Lt"},
    {"Modifier_Letter", "Lm"},
    {"Other_Letter", "Lo"},
    {"Mark", "M"},
    {"Combining_Mark", "M"},
    {"Nonspacing_Mark", "Mn"},
    {"Spacing_Mark", "Mc"},
    {"Enclosing_Mark", "Me"},
    {"Number", "N"},
    {"Decimal_Number", "Nd"},
    {"digit", "Nd"},
    {"Letter_Number", "Nl"},
    {"Other_Number", "No"},
    {"Punctuation", "P"},
    {"punct", "P"},
    {"Connector_Punctuation", "Pc"},
    {"Dash_Punctuation", "Pd"},
    {"Open_Punctuation", "Ps"},
    {"Close_Punctuation", "Pe"},
    {"Initial_Punctuation", "Pi"},
    {"Final_Punctuation", "Pf"},
    {"Other_Punctuation", "Po"},
    {"Symbol", "S"},
    {"Math_Symbol", "Sm"},
    {"Currency_Symbol", "Sc"},
    {"Modifier_Symbol", "Sk"},
    {"Other_Symbol", "So"},
    {"Separator", "Z"},
    {"Space_Separator", "Zs"},
    {"Line_Separator", "Zl"},
    {"Paragraph_Separator", "Zp"},
    {"Other", "C"},
    {"Control", "Cc"},
    {"Format", "Cf"},
    {"Surrogate", "Cs"},
    {"Private_Use", "Co"},
    {"Unassigned", "Cn"},
};

// A property between the brackets of \p, as PCRE2 names it.
std::string_view PropertyName(std::string_view name) {
  for (const std::string_view key : {"General_Category=", "gc="}) {
    if (name.starts_with(key)) name.remove_prefix(key.size());
  }
  for (const auto& [whole, brief] : kCategories) {
    if (name == whole) return brief;
  }
  return name;
}

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
      } else if ((next == 'p' || next == 'P') && in.substr(i + 1).starts_with('{') &&
                 in.find('}', i) != in.npos) {
        const size_t close = in.find('}', i);
        out += fmt::format("\\{}{{{}}}", next, PropertyName(in.substr(i + 2, close - i - 2)));
        i = close;
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

namespace {

using MatchData = std::unique_ptr<pcre2_match_data, void (*)(pcre2_match_data*)>;

// Where a match begins and ends, of the thread's last search: nobody asks for groups. Made once per
// thread, as are the limits: texts are short, and their memory took longer than the search.
MatchData& MatchOfThread() {
  thread_local MatchData match(pcre2_match_data_create(1, nullptr), &pcre2_match_data_free);
  return match;
}

pcre2_match_context* LimitsOfThread() {
  using Limits = std::unique_ptr<pcre2_match_context, void (*)(pcre2_match_context*)>;
  thread_local const Limits limits = [] {
    Limits fresh(pcre2_match_context_create(nullptr), &pcre2_match_context_free);
    pcre2_set_match_limit(fresh.get(), kMostSteps);
    return fresh;
  }();
  return limits.get();
}

// One search from `start` on; what PCRE2 returns. The match is in MatchOfThread.
int Search(pcre2_code* code, std::string_view text, size_t start, uint32_t options) {
  // What a long text needed to go back through is not kept for the thread's life.
  constexpr size_t kLong = size_t{1} << 14;
  thread_local bool long_before = false;
  if (long_before) MatchOfThread().reset(pcre2_match_data_create(1, nullptr));
  long_before = text.size() > kLong;
  return pcre2_match(code, reinterpret_cast<PCRE2_SPTR>(text.data()), text.size(), start, options,
                     MatchOfThread().get(), LimitsOfThread());
}

}  // namespace

std::optional<bool> Regex::Finds(std::string_view text) const {
  auto* code = static_cast<pcre2_code*>(code_.get());
  const int found = Search(code, text, 0, 0);
  const bool exhausted = found == PCRE2_ERROR_MATCHLIMIT || found == PCRE2_ERROR_DEPTHLIMIT ||
                         found == PCRE2_ERROR_HEAPLIMIT;
  return exhausted ? std::nullopt : std::optional(found >= 0);
}

Result<std::vector<Regex::Match>> Regex::FindAll(std::string_view text) const {
  auto* code = static_cast<pcre2_code*>(code_.get());
  std::vector<Match> matches;
  size_t start = 0;
  uint32_t options = PCRE2_NOTEMPTY;
  while (true) {
    const int code_or_count = Search(code, text, start, options);
    if (code_or_count == PCRE2_ERROR_NOMATCH) return matches;
    if (code_or_count < 0) {
      return Error(ErrorCode::kDeadline, "a regular expression took too long on a text");
    }
    const PCRE2_SIZE* ends = pcre2_get_ovector_pointer(MatchOfThread().get());
    // \K in a look-around can put the beginning behind the end.
    matches.push_back({std::min(ends[0], ends[1]), ends[1]});
    start = ends[1];
    options |= PCRE2_NO_UTF_CHECK;  // the first search has looked
  }
}

}  // namespace hone
