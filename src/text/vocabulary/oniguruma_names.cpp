#include "text/vocabulary/oniguruma_names.h"

#define PCRE2_CODE_UNIT_WIDTH 8
#include <fmt/format.h>
#include <pcre2.h>

#include <utility>

namespace hone {
namespace {

// Names whose meaning PCRE2 spells otherwise, without blanks and in small letters.
constexpr std::pair<std::string_view, std::string_view> kNames[] = {
    {"letter", R"(\p{L})"},
    {"casedletter", R"(\p{L&})"},
    {"lc", R"(\p{L&})"},
    {"uppercaseletter", R"(\p{Lu})"},
    {"lowercaseletter", R"(\p{Ll})"},
    {"titlecaseletter", R"(\p{Lt})"},
    {"modifierletter", R"(\p{Lm})"},
    {"otherletter", R"(\p{Lo})"},
    {"mark", R"(\p{M})"},
    {"combiningmark", R"(\p{M})"},
    {"nonspacingmark", R"(\p{Mn})"},
    {"spacingmark", R"(\p{Mc})"},
    {"enclosingmark", R"(\p{Me})"},
    {"number", R"(\p{N})"},
    {"decimalnumber", R"(\p{Nd})"},
    {"letternumber", R"(\p{Nl})"},
    {"othernumber", R"(\p{No})"},
    {"punctuation", R"(\p{P})"},
    {"connectorpunctuation", R"(\p{Pc})"},
    {"dashpunctuation", R"(\p{Pd})"},
    {"openpunctuation", R"(\p{Ps})"},
    {"closepunctuation", R"(\p{Pe})"},
    {"initialpunctuation", R"(\p{Pi})"},
    {"finalpunctuation", R"(\p{Pf})"},
    {"otherpunctuation", R"(\p{Po})"},
    {"symbol", R"(\p{S})"},
    {"mathsymbol", R"(\p{Sm})"},
    {"currencysymbol", R"(\p{Sc})"},
    {"modifiersymbol", R"(\p{Sk})"},
    {"othersymbol", R"(\p{So})"},
    {"separator", R"(\p{Z})"},
    {"spaceseparator", R"(\p{Zs})"},
    {"lineseparator", R"(\p{Zl})"},
    {"paragraphseparator", R"(\p{Zp})"},
    {"other", R"(\p{C})"},
    {"control", R"(\p{Cc})"},
    {"format", R"(\p{Cf})"},
    {"privateuse", R"(\p{Co})"},
    {"surrogate", R"(\p{Cs})"},
    {"unassigned", R"(\p{Cn})"},
    {"any", R"(\x{0}-\x{10FFFF})"},
    {"ascii", R"(\x{0}-\x{7F})"},
    {"alnum", R"(\p{Alphabetic}\p{Nd})"},
    {"alpha", R"(\p{Alphabetic})"},
    {"blank", R"(\t\p{Zs})"},
    {"cntrl", R"(\p{Cc})"},
    {"digit", R"(\p{Nd})"},
    {"lower", R"(\p{Lowercase})"},
    {"upper", R"(\p{Uppercase})"},
    {"punct", R"(\p{P}\p{S})"},
    {"space", kOnigurumaSpace},
    {"whitespace", kOnigurumaSpace},
    {"word", kOnigurumaWord},
    {"xdigit", "0-9A-Fa-f"},
};

// General categories, which are no scripts whatever follows.
constexpr std::string_view kCategories[] = {
    "c",  "cc", "cf", "cn", "co", "cs", "l",  "ll", "lm", "lo", "lt", "lu", "m",
    "mc", "me", "mn", "n",  "nd", "nl", "no", "p",  "pc", "pd", "pe", "pf", "pi",
    "po", "ps", "s",  "sc", "sk", "sm", "so", "z",  "zl", "zp", "zs"};

bool CompilesAsMember(const std::string& member) {
  const std::string expression = "[" + member + "]";
  int problem = 0;
  PCRE2_SIZE at = 0;
  pcre2_code* code =
      pcre2_compile(reinterpret_cast<PCRE2_SPTR>(expression.data()), expression.size(),
                    PCRE2_UTF | PCRE2_UCP, &problem, &at, nullptr);
  pcre2_code_free(code);
  return code != nullptr;
}

}  // namespace

std::string OnigurumaProperty(std::string_view name) {
  std::string plain;
  for (const char c : name) {
    if (c == ' ' || c == '-' || c == '_') continue;
    const bool capital = c >= 'A' && c <= 'Z', letter = capital || (c >= 'a' && c <= 'z');
    if (!letter) return "";
    plain += capital ? static_cast<char>(c - 'A' + 'a') : c;
  }
  for (const auto& [known, members] : kNames) {
    if (plain == known) return std::string(members);
  }
  for (const std::string_view category : kCategories) {
    if (plain != category) continue;
    return fmt::format("\\p{{{}{}}}", static_cast<char>(plain[0] - 'a' + 'A'), plain.substr(1));
  }
  // A script alone: PCRE2's \p{Han} also takes characters that Han shares with other scripts.
  if (std::string script = fmt::format("\\p{{sc:{}}}", plain); CompilesAsMember(script)) {
    return script;
  }
  if (std::string property = fmt::format("\\p{{{}}}", plain); CompilesAsMember(property)) {
    return property;
  }
  return "";
}

}  // namespace hone
