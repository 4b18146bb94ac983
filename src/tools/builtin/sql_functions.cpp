#include "tools/builtin/sql_functions.h"

#include <sqlite3.h>

#include <algorithm>
#include <cstring>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <tuple>
#include <utility>
#include <vector>

#include <fmt/format.h>

#include "base/check.h"
#include "base/utf8.h"

namespace hone {

// What one connection's functions share.
struct CountedSqlFunctions::State {
  Charge charge;
  sqlite3* plain = nullptr;  // a connection that has SQLite's own printf; opened when it is needed
  std::map<int, sqlite3_stmt*> printf_calls;  // by number of arguments
  int max_value_bytes = 0;
};

namespace {

// A step of SQLite's virtual machine takes about as long as this many bytes that are looked at.
constexpr int64_t kBytesPerStep = 20;
// Comparing a character with an element of a pattern is more than looking at a byte.
constexpr int64_t kBytesPerLook = 5;
constexpr int64_t kLooksPerCharge = 4096;
constexpr int kWidestPadding = 1000;

using SqlValues = sqlite3_value**;

CountedSqlFunctions::State* StateOf(sqlite3_context* context) {
  return static_cast<CountedSqlFunctions::State*>(sqlite3_user_data(context));
}

// True when the query may go on; otherwise the function has failed.
bool Pay(sqlite3_context* context, size_t bytes) {
  if (StateOf(context)->charge(1 + static_cast<int64_t>(bytes) / kBytesPerStep)) return true;
  sqlite3_result_error_code(context, SQLITE_INTERRUPT);
  return false;
}

bool AnyNull(int count, SqlValues values) {
  return std::any_of(values, values + count,
                     [](sqlite3_value* v) { return sqlite3_value_type(v) == SQLITE_NULL; });
}

std::string_view SqlTextOf(sqlite3_value* value) {
  const void* text = sqlite3_value_text(value);
  const auto size = static_cast<size_t>(sqlite3_value_bytes(value));
  return text == nullptr ? std::string_view()
                         : std::string_view{static_cast<const char*>(text), size};
}

// Up to the first NUL, as SQLite compares patterns.
std::string_view UpToNul(std::string_view text) { return text.substr(0, text.find('\0')); }

// In linear time whatever the bytes are, which std::string_view::find is not.
size_t FindIn(std::string_view text, std::string_view part, size_t from) {
  const void* at = memmem(text.data() + from, text.size() - from, part.data(), part.size());
  return at == nullptr ? std::string_view::npos
                       : static_cast<size_t>(static_cast<const char*>(at) - text.data());
}

void ReturnText(sqlite3_context* context, std::string_view text) {
  sqlite3_result_text64(context, text.data() == nullptr ? "" : text.data(), text.size(),
                        SQLITE_TRANSIENT, SQLITE_UTF8);
}

size_t CharactersIn(std::string_view text) {
  return static_cast<size_t>(
      std::count_if(text.begin(), text.end(), [](char c) { return (c & 0xC0) != 0x80; }));
}

// --- instr, replace, trim ------------------------------------------------------------------------

void SqlInstr(sqlite3_context* context, int count, SqlValues values) {
  if (AnyNull(count, values)) return;
  const bool bytes =
      sqlite3_value_type(values[0]) == SQLITE_BLOB && sqlite3_value_type(values[1]) == SQLITE_BLOB;
  const std::string_view text = SqlTextOf(values[0]), part = SqlTextOf(values[1]);
  if (!Pay(context, text.size() + part.size())) return;
  const size_t at = part.empty() ? 0 : FindIn(text, part, 0);
  if (at == std::string_view::npos) return sqlite3_result_int(context, 0);
  const size_t before = bytes ? at : CharactersIn(text.substr(0, at));
  sqlite3_result_int64(context, static_cast<int64_t>(before) + 1);
}

void SqlReplace(sqlite3_context* context, int count, SqlValues values) {
  if (AnyNull(count, values)) return;
  const std::string_view text = SqlTextOf(values[0]), part = SqlTextOf(values[1]);
  const std::string_view other = SqlTextOf(values[2]);
  if (UpToNul(part).empty()) return sqlite3_result_value(context, values[0]);
  const auto most = static_cast<size_t>(StateOf(context)->max_value_bytes);
  std::string replaced;
  size_t from = 0;
  for (size_t at; (at = FindIn(text, part, from)) != std::string_view::npos;) {
    replaced.append(text, from, at - from).append(other);
    from = at + part.size();
    if (replaced.size() > most) return sqlite3_result_error_toobig(context);
  }
  replaced.append(text, from);
  if (!Pay(context, text.size() + part.size() + replaced.size())) return;
  ReturnText(context, replaced);
}

// The first and the last character of a text that is not empty, as the bytes they have.
std::string_view FirstCharacter(std::string_view text) {
  size_t end = 1;
  while (end < text.size() && (text[end] & 0xC0) == 0x80) ++end;
  return text.substr(0, end);
}
std::string_view LastCharacter(std::string_view text) {
  size_t begin = text.size() - 1;
  while (begin > 0 && (text[begin] & 0xC0) == 0x80) --begin;
  return text.substr(begin);
}

template <bool kLeft, bool kRight>
void SqlTrim(sqlite3_context* context, int count, SqlValues values) {
  if (AnyNull(count, values)) return;
  std::string_view text = SqlTextOf(values[0]);
  std::string_view listed = count == 1 ? " " : SqlTextOf(values[1]);
  if (!Pay(context, 10 * (text.size() + listed.size()))) return;
  std::set<std::string_view> set;
  while (!listed.empty()) {
    const std::string_view character = FirstCharacter(listed);
    set.insert(character);
    listed.remove_prefix(character.size());
  }
  while (kLeft && !text.empty() && set.contains(FirstCharacter(text))) {
    text.remove_prefix(FirstCharacter(text).size());
  }
  while (kRight && !text.empty() && set.contains(LastCharacter(text))) {
    text.remove_suffix(LastCharacter(text).size());
  }
  ReturnText(context, text);
}

// --- LIKE and GLOB -------------------------------------------------------------------------------

uint32_t Folded(uint32_t c) { return c >= 'A' && c <= 'Z' ? c + ('a' - 'A') : c; }

// One pattern against one text. Only the last "%" is ever gone back to, so that the time is at most
// the product of the two lengths, and all of it is paid for.
class PatternMatch {
 public:
  enum class Verdict { kNo, kYes, kUnpaid };

  PatternMatch(std::string_view pattern, std::string_view text, bool glob)
      : pattern_(Utf8Lossy(UpToNul(pattern))), text_(Utf8Lossy(UpToNul(text))), glob_(glob) {}
  void SetEscape(uint32_t escape) { escape_ = escape; }

  Verdict Run(sqlite3_context* context) {
    std::optional<std::pair<size_t, size_t>> back;  // behind the last "%", and what it took so far
    while (true) {
      if (++looks_ > kLooksPerCharge) {
        if (!Pay(context, static_cast<size_t>(std::exchange(looks_, 0) * kBytesPerLook))) {
          return Verdict::kUnpaid;
        }
      }
      if (AtMany()) {
        back = {++p_, s_};
        continue;
      }
      if (p_ == pattern_.size() && s_ == text_.size()) return Verdict::kYes;
      if (p_ < pattern_.size() && s_ < text_.size() && TakeOne()) continue;
      if (!back || back->second == text_.size()) return Verdict::kNo;
      NextCodePoint(text_, &back->second);
      std::tie(p_, s_) = *back;
    }
  }

 private:
  bool AtMany() const {
    if (p_ == pattern_.size()) return false;
    const char many = glob_ ? '*' : '%';
    return pattern_[p_] == many && escape_ != static_cast<uint32_t>(many);
  }

  // Whether the next element of the pattern takes the next character; both are read then.
  bool TakeOne() {
    size_t p = p_, s = s_;
    const uint32_t character = NextCodePoint(text_, &s);
    uint32_t wanted = NextCodePoint(pattern_, &p);
    bool taken = false;
    if (escape_ != 0 && wanted == escape_) {
      if (p == pattern_.size()) return false;
      taken = Equal(NextCodePoint(pattern_, &p), character);
    } else if (wanted == (glob_ ? '?' : '_')) {
      taken = true;
    } else if (glob_ && wanted == '[') {
      taken = InSet(character, &p);
      looks_ += static_cast<int64_t>(p - p_);
    } else {
      taken = Equal(wanted, character);
    }
    if (taken) p_ = p, s_ = s;
    return taken;
  }

  bool Equal(uint32_t a, uint32_t b) const { return glob_ ? a == b : Folded(a) == Folded(b); }

  // "[a-z]", "[^]x]": *p is behind the "[", and behind the "]" in the end.
  bool InSet(uint32_t character, size_t* p) const {
    const auto next = [&] { return *p < pattern_.size() ? NextCodePoint(pattern_, p) : 0; };
    bool seen = false;
    uint32_t before = 0, c = next();
    const bool inverted = c == '^';
    if (inverted) c = next();
    if (c == ']') {
      seen = character == ']';
      c = next();
    }
    for (; c != 0 && c != ']'; c = next()) {
      const bool ends = *p >= pattern_.size() || pattern_[*p] == ']';
      if (c == '-' && !ends && before > 0) {
        c = next();
        seen |= character >= before && character <= c;
        before = 0;
      } else {
        seen |= character == c;
        before = c;
      }
    }
    return c != 0 && seen != inverted;
  }

  const std::string pattern_, text_;
  const bool glob_;
  uint32_t escape_ = 0;
  size_t p_ = 0, s_ = 0;
  int64_t looks_ = 0;  // not paid for yet
};

// How SQLite was built decides whether bytes that are no text can match.
bool IsBlobThatNeverMatches(sqlite3_value* value) {
  static const bool never = sqlite3_compileoption_used("LIKE_DOESNT_MATCH_BLOBS") != 0;
  return never && sqlite3_value_type(value) == SQLITE_BLOB;
}

template <bool kGlob>
void SqlMatches(sqlite3_context* context, int count, SqlValues values) {
  if (std::any_of(values, values + 2, &IsBlobThatNeverMatches)) {
    return sqlite3_result_int(context, 0);
  }
  if (AnyNull(count, values)) return;
  const std::string_view pattern = SqlTextOf(values[0]), text = SqlTextOf(values[1]);
  if (!Pay(context, pattern.size() + text.size())) return;
  PatternMatch match(pattern, text, kGlob);
  if (count == 3) {
    const std::string escape = Utf8Lossy(SqlTextOf(values[2]));
    if (CharactersIn(escape) != 1) {
      return sqlite3_result_error(context, "ESCAPE expression must be a single character", -1);
    }
    size_t at = 0;
    match.SetEscape(NextCodePoint(escape, &at));
  }
  const PatternMatch::Verdict verdict = match.Run(context);
  if (verdict == PatternMatch::Verdict::kUnpaid) return;
  sqlite3_result_int(context, verdict == PatternMatch::Verdict::kYes ? 1 : 0);
}

// --- printf --------------------------------------------------------------------------------------

// Whether a format pads more than anybody needs: SQLite writes the padding before it looks at how
// long the result has become.
bool PadsTooMuch(std::string_view format) {
  for (size_t at = format.find('%'); at != format.npos; at = format.find('%', at)) {
    int64_t number = 0;
    for (++at; at < format.size() && std::strchr("-+ 0#!,.*123456789l", format[at]) != nullptr;
         ++at) {
      if (format[at] == '\0') break;
      if (format[at] == '*') return true;
      const bool digit = format[at] >= '0' && format[at] <= '9';
      number = digit ? number * 10 + (format[at] - '0') : 0;
      if (number > kWidestPadding) return true;
    }
    if (at < format.size()) ++at;  // the conversion, which may be "%"
  }
  return false;
}

// The statement that calls SQLite's own printf with that many arguments.
sqlite3_stmt* PrintfCall(CountedSqlFunctions::State* state, int count) {
  sqlite3_stmt*& statement = state->printf_calls[count];
  if (statement != nullptr) return statement;
  if (state->plain == nullptr) {
    if (sqlite3_open(":memory:", &state->plain) != SQLITE_OK) return nullptr;
    sqlite3_limit(state->plain, SQLITE_LIMIT_LENGTH, state->max_value_bytes);
  }
  const std::vector<std::string_view> marks(static_cast<size_t>(count), "?");
  const std::string sql = fmt::format("SELECT printf({})", fmt::join(marks, ","));
  sqlite3_prepare_v2(state->plain, sql.c_str(), -1, &statement, nullptr);
  return statement;
}

void SqlPrintf(sqlite3_context* context, int count, SqlValues values) {
  if (count == 0 || sqlite3_value_type(values[0]) == SQLITE_NULL) return;
  const std::string_view format = SqlTextOf(values[0]);
  if (PadsTooMuch(format)) {
    const std::string problem =
        fmt::format("printf: a width or precision is a number in the format, at most {}, and not *",
                    kWidestPadding);
    return sqlite3_result_error(context, problem.c_str(), -1);
  }
  sqlite3_stmt* statement = PrintfCall(StateOf(context), count);
  if (statement == nullptr) return sqlite3_result_error_nomem(context);
  // A character of the format can stand for a padding: "%1000d".
  if (!Pay(context, 1000 + 50 * format.size())) return;
  for (int i = 0; i < count; ++i) sqlite3_bind_value(statement, i + 1, values[i]);
  if (const int code = sqlite3_step(statement); code == SQLITE_ROW) {
    sqlite3_result_value(context, sqlite3_column_value(statement, 0));
  } else {
    sqlite3_result_error_code(context, code);
  }
  sqlite3_reset(statement);
  sqlite3_clear_bindings(statement);
}

// A function as SQLite may call it: nothing unwinds through its frames. Whatever these functions
// throw, they throw for want of memory.
template <auto kFunction>
void Guarded(sqlite3_context* context, int count, SqlValues values) noexcept {
  try {
    kFunction(context, count, values);
  } catch (...) {
    sqlite3_result_error_nomem(context);
  }
}

}  // namespace

CountedSqlFunctions::CountedSqlFunctions(sqlite3* database, Charge charge, int max_value_bytes)
    : state_(std::make_unique<State>()) {
  state_->charge = std::move(charge);
  state_->max_value_bytes = max_value_bytes;
  const auto add = [&](const char* name, int arguments, auto function) {
    // Innocuous: views of the file may use it.
    CHECK(sqlite3_create_function_v2(
              database, name, arguments, SQLITE_UTF8 | SQLITE_DETERMINISTIC | SQLITE_INNOCUOUS,
              state_.get(), function, nullptr, nullptr, nullptr) == SQLITE_OK);
  };
  add("instr", 2, &Guarded<&SqlInstr>);
  add("replace", 3, &Guarded<&SqlReplace>);
  for (const int arguments : {1, 2}) {
    add("trim", arguments, &Guarded<&SqlTrim<true, true>>);
    add("ltrim", arguments, &Guarded<&SqlTrim<true, false>>);
    add("rtrim", arguments, &Guarded<&SqlTrim<false, true>>);
  }
  add("like", 2, &Guarded<&SqlMatches<false>>);
  add("like", 3, &Guarded<&SqlMatches<false>>);
  add("glob", 2, &Guarded<&SqlMatches<true>>);
  add("printf", -1, &Guarded<&SqlPrintf>);
  add("format", -1, &Guarded<&SqlPrintf>);
}

CountedSqlFunctions::~CountedSqlFunctions() {
  for (const auto& [count, statement] : state_->printf_calls) sqlite3_finalize(statement);
  sqlite3_close(state_->plain);
}

}  // namespace hone
