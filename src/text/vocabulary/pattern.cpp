#include "text/vocabulary/pattern.h"

#define PCRE2_CODE_UNIT_WIDTH 8
#include <fmt/format.h>
#include <pcre2.h>

#include "base/check.h"
#include "text/vocabulary/oniguruma.h"

namespace hone {
namespace {

// The library's limit of ten million steps would end a match inside a run of as many blanks, and
// the ids would change. This one is out of reach for the patterns of real tokenizers (it takes a
// piece of 256 MiB) and still ends one that explodes after a second or two.
constexpr uint32_t kMostSteps = 1 << 28;

pcre2_match_context* MatchLimits() {
  static pcre2_match_context* const limits = [] {
    pcre2_match_context* context = pcre2_match_context_create(nullptr);
    pcre2_set_match_limit(context, kMostSteps);
    pcre2_set_depth_limit(context, kMostSteps);
    return context;
  }();
  return limits;
}

// A line ends at "\n" alone, whatever the library was built for.
pcre2_compile_context* LfLines() {
  static pcre2_compile_context* const lines = [] {
    pcre2_compile_context* context = pcre2_compile_context_create(nullptr);
    pcre2_set_newline(context, PCRE2_NEWLINE_LF);
    return context;
  }();
  return lines;
}

const pcre2_code* CodeOf(const void* code) { return static_cast<const pcre2_code*>(code); }

}  // namespace

void Pattern::Deleter::operator()(void* code) const {
  pcre2_code_free(static_cast<pcre2_code*>(code));
}

Result<Pattern> Pattern::Compile(std::string_view expression) {
  HONE_ASSIGN_OR_RETURN(const std::string spelled, OnigurumaToPcre2(expression));
  int problem = 0;
  PCRE2_SIZE at = 0;
  pcre2_code* code = pcre2_compile(
      reinterpret_cast<PCRE2_SPTR>(spelled.data()), spelled.size(),
      PCRE2_UTF | PCRE2_UCP | PCRE2_MULTILINE | PCRE2_NEVER_BACKSLASH_C, &problem, &at, LfLines());
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

bool Pattern::CanMatchNothing() const {
  uint32_t can = 0;
  pcre2_pattern_info(CodeOf(code_.get()), PCRE2_INFO_MATCHEMPTY, &can);
  return can != 0;
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

std::string Pattern::Replace(std::string_view text, std::string_view content) const {
  std::string out;
  size_t at = 0;
  Matches matches(*this, text);
  while (matches.Next()) {
    out += text.substr(at, matches.begin() - at);
    out += content;
    at = matches.end();
  }
  out += text.substr(at);
  return out;
}

Pattern::Matches::Matches(const Pattern& pattern, std::string_view text)
    : pattern_(pattern), text_(text), match_data_(pcre2_match_data_create(1, nullptr)) {}

Pattern::Matches::~Matches() { pcre2_match_data_free(static_cast<pcre2_match_data*>(match_data_)); }

bool Pattern::Matches::Next() {
  auto* match_data = static_cast<pcre2_match_data*>(match_data_);
  const auto* subject = reinterpret_cast<PCRE2_SPTR>(text_.data());
  const pcre2_code* code = CodeOf(pattern_.code_.get());
  const uint32_t options = PCRE2_NO_UTF_CHECK | PCRE2_NOTEMPTY;
  pcre2_match_context* limits = MatchLimits();
  int found = pcre2_match(code, subject, text_.size(), end_, options, match_data, limits);
  if (found == PCRE2_ERROR_JIT_STACKLIMIT) {
    // The interpreter keeps its backtracking on the heap and has no such limit.
    found =
        pcre2_match(code, subject, text_.size(), end_, options | PCRE2_NO_JIT, match_data, limits);
  }
  if (found < 0) {
    exhausted_ = found != PCRE2_ERROR_NOMATCH;
    return false;
  }
  const PCRE2_SIZE* ends = pcre2_get_ovector_pointer(match_data);
  begin_ = ends[0];
  end_ = ends[1];
  return true;
}

Result<void> Pattern::TryOut() const {
  for (const std::string_view bit : {"a", "A", "1", " ", "\n", "'", ".", "é", "aA", "a ", "a1"}) {
    std::string text;
    while (text.size() < 100) text += bit;
    for (const char* end : {"", "!", "\x01"}) {
      const std::string tried = text + end;
      Matches matches(*this, tried);
      while (matches.Next()) {
      }
      if (!matches.exhausted()) continue;
      return Error(ErrorCode::kUnsupported,
                   fmt::format("the split pattern {} takes too long on a text of {} characters",
                               expression_, tried.size()));
    }
  }
  return {};
}

}  // namespace hone
