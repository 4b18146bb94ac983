#include "text/pattern.h"

#define PCRE2_CODE_UNIT_WIDTH 8
#include <fmt/format.h>
#include <pcre2.h>

#include "base/check.h"

namespace hone {
namespace {

// Unicode's White_Space as members of a character class.
constexpr std::string_view kSpaceMembers = R"(\t-\r\x{85}\p{Z})";

// Spells `\s` and `\S` out, inside and outside of classes.
std::string WithUnicodeSpaces(std::string_view expression) {
  std::string out;
  bool in_class = false;
  for (size_t i = 0; i < expression.size(); ++i) {
    const char c = expression[i];
    if (c != '\\' || i + 1 == expression.size()) {
      if (c == '[' && !in_class) {
        in_class = true;
      } else if (c == ']' && in_class) {
        in_class = false;
      }
      out += c;
      continue;
    }
    const char escaped = expression[++i];
    if (escaped == 's') {
      out += in_class ? std::string(kSpaceMembers) : fmt::format("[{}]", kSpaceMembers);
    } else if (escaped == 'S' && !in_class) {
      out += fmt::format("[^{}]", kSpaceMembers);
    } else {
      out += c;
      out += escaped;
    }
  }
  return out;
}

const pcre2_code* CodeOf(const void* code) { return static_cast<const pcre2_code*>(code); }

}  // namespace

void Pattern::Deleter::operator()(void* code) const {
  pcre2_code_free(static_cast<pcre2_code*>(code));
}

Result<Pattern> Pattern::Compile(std::string_view expression) {
  const std::string spelled = WithUnicodeSpaces(expression);
  int problem = 0;
  PCRE2_SIZE at = 0;
  pcre2_code* code =
      pcre2_compile(reinterpret_cast<PCRE2_SPTR>(spelled.data()), spelled.size(),
                    PCRE2_UTF | PCRE2_UCP | PCRE2_NEVER_BACKSLASH_C, &problem, &at, nullptr);
  if (code == nullptr) {
    unsigned char message[256];
    pcre2_get_error_message(problem, message, sizeof message);
    return Error(ErrorCode::kParse,
                 fmt::format("the split pattern {} is not a regular expression: {} (near {})",
                             expression, reinterpret_cast<const char*>(message),
                             spelled.substr(at > 10 ? at - 10 : 0, 20)));
  }
  pcre2_jit_compile(code, PCRE2_JIT_COMPLETE);  // where it cannot be, matching is interpreted
  Pattern pattern;
  pattern.expression_ = expression;
  pattern.code_.reset(code);
  return pattern;
}

Pattern Pattern::Literal(std::string_view text) {
  std::string expression;
  for (const char c : text) {
    if (std::string_view("\\^$.|?*+()[]{}-#&~ ").find(c) != std::string_view::npos)
      expression += '\\';
    expression += c;
  }
  return Compile(expression).value();
}

Pattern::Matches::Matches(const Pattern& pattern, std::string_view text)
    : pattern_(pattern), text_(text), match_data_(pcre2_match_data_create(1, nullptr)) {}

Pattern::Matches::~Matches() { pcre2_match_data_free(static_cast<pcre2_match_data*>(match_data_)); }

bool Pattern::Matches::Next() {
  auto* match_data = static_cast<pcre2_match_data*>(match_data_);
  const auto* subject = reinterpret_cast<PCRE2_SPTR>(text_.data());
  const pcre2_code* code = CodeOf(pattern_.code_.get());
  const uint32_t options = PCRE2_NO_UTF_CHECK | PCRE2_NOTEMPTY;
  int found = pcre2_match(code, subject, text_.size(), end_, options, match_data, nullptr);
  if (found == PCRE2_ERROR_JIT_STACKLIMIT) {
    // The interpreter keeps its backtracking on the heap and has no such limit.
    found =
        pcre2_match(code, subject, text_.size(), end_, options | PCRE2_NO_JIT, match_data, nullptr);
  }
  if (found < 0) return false;  // no match, or a resource limit: the rest is one piece
  const PCRE2_SIZE* ends = pcre2_get_ovector_pointer(match_data);
  begin_ = ends[0];
  end_ = ends[1];
  return true;
}

}  // namespace hone
