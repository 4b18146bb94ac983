#include "tools/formats/formats_of_time.h"

#include <optional>

#include "base/strings.h"

namespace hone {
namespace {

// Exactly so many digits at the beginning, which are taken away; nothing when there are fewer.
std::optional<int> TakeNumber(size_t digits, std::string_view* text) {
  if (text->size() < digits) return std::nullopt;
  int number = 0;
  for (size_t at = 0; at < digits; ++at) {
    if (!IsDigit((*text)[at])) return std::nullopt;
    number = 10 * number + ((*text)[at] - '0');
  }
  text->remove_prefix(digits);
  return number;
}

bool Take(char wanted, std::string_view* text) {
  if (!text->starts_with(wanted)) return false;
  text->remove_prefix(1);
  return true;
}

int DaysOf(int year, int month) {
  if (month == 2) return year % 4 == 0 && (year % 100 != 0 || year % 400 == 0) ? 29 : 28;
  return month == 4 || month == 6 || month == 9 || month == 11 ? 30 : 31;
}

// Minutes that a time is ahead of UTC; nothing when that cannot be read.
std::optional<int> TakeOffset(std::string_view* text) {
  if (Take('Z', text) || Take('z', text)) return 0;
  const bool ahead = text->starts_with('+');
  if (!Take('+', text) && !Take('-', text)) return std::nullopt;
  const std::optional<int> hours = TakeNumber(2, text);
  if (!hours || *hours > 23 || !Take(':', text)) return std::nullopt;
  const std::optional<int> minutes = TakeNumber(2, text);
  if (!minutes || *minutes > 59) return std::nullopt;
  const int offset = 60 * *hours + *minutes;
  return ahead ? offset : -offset;
}

// Numbers with these letters behind them, in their order. Between the first and the last that are
// there, none may be left out.
bool TakeUnits(std::string_view letters, std::string_view* text) {
  size_t next = letters.npos;  // the letter that may follow; npos: any may
  bool some = false;
  while (!text->empty() && IsDigit(text->front())) {
    while (!text->empty() && IsDigit(text->front())) text->remove_prefix(1);
    const size_t unit = text->empty() ? letters.npos : letters.find(text->front());
    if (unit == letters.npos || (some && unit != next)) return false;
    text->remove_prefix(1);
    next = unit + 1;
    some = true;
  }
  return some;
}

}  // namespace

bool IsDate(std::string_view text) {
  const std::optional<int> year = TakeNumber(4, &text);
  if (!year || !Take('-', &text)) return false;
  const std::optional<int> month = TakeNumber(2, &text);
  if (!month || *month < 1 || *month > 12 || !Take('-', &text)) return false;
  const std::optional<int> day = TakeNumber(2, &text);
  return day && *day >= 1 && *day <= DaysOf(*year, *month) && text.empty();
}

bool IsTime(std::string_view text) {
  const std::optional<int> hour = TakeNumber(2, &text);
  if (!hour || *hour > 23 || !Take(':', &text)) return false;
  const std::optional<int> minute = TakeNumber(2, &text);
  if (!minute || *minute > 59 || !Take(':', &text)) return false;
  const std::optional<int> second = TakeNumber(2, &text);
  if (!second || *second > 60) return false;
  if (Take('.', &text)) {
    if (!TakeNumber(1, &text)) return false;
    while (!text.empty() && IsDigit(text.front())) text.remove_prefix(1);
  }
  const std::optional<int> offset = TakeOffset(&text);
  if (!offset || !text.empty()) return false;
  constexpr int kDay = 24 * 60;
  const int at_utc = (60 * *hour + *minute - *offset + 2 * kDay) % kDay;
  return *second < 60 || at_utc == kDay - 1;
}

bool IsDateTime(std::string_view text) {
  const size_t between = text.find_first_of("Tt");
  return between != text.npos && IsDate(text.substr(0, between)) &&
         IsTime(text.substr(between + 1));
}

bool IsDuration(std::string_view text) {
  if (!Take('P', &text)) return false;
  std::string_view weeks = text;
  if (TakeUnits("W", &weeks)) return weeks.empty();
  const bool days = !text.starts_with('T');
  if (days && !TakeUnits("YMD", &text)) return false;
  if (text.empty()) return days;
  return Take('T', &text) && TakeUnits("HMS", &text) && text.empty();
}

}  // namespace hone
