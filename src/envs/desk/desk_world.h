#pragma once

#include <array>
#include <cstdint>
#include <span>
#include <string>
#include <string_view>

// The little world of the desk: who and what there is, and what is true of it. Every fact is a pure
// function of the world's seed and the thing asked about.

namespace hone::desk {

std::span<const std::string_view> Cities();
std::span<const std::string_view> Names();
std::span<const std::string_view> Days();
std::span<const std::string_view> Skies();
std::span<const std::string_view> Events();
std::span<const std::string_view> Topics();
// What there is to be known of a topic (by its place in Topics()).
std::span<const std::string_view> TopicValues(size_t topic);

// Where a word stands in a list, or -1.
int IndexOf(std::span<const std::string_view> words, std::string_view word);

// A way to convert: amount * num / den, rounded down.
struct Conversion {
  std::string_view from, to;
  int64_t num, den;
};
std::span<const Conversion> Conversions();
// Null when there is none from the one unit to the other.
const Conversion* FindConversion(std::string_view from, std::string_view to);
int64_t Convert(const Conversion& conversion, int64_t amount);

struct Weather {
  std::string_view sky;
  int64_t temp;  // 10 to 39
};
struct Contact {
  std::string_view city;
  std::string phone;  // four digits
};
struct Appointment {
  std::string_view event;
  int64_t hour;  // 8 to 20
};

// Arguments must be words of the lists above.
class World {
 public:
  explicit World(uint64_t seed) : seed_(seed) {}

  Weather WeatherOf(std::string_view city, std::string_view day) const;
  Contact ContactOf(std::string_view name) const;
  Appointment ScheduleOf(std::string_view name, std::string_view day) const;
  int64_t HourIn(std::string_view city) const;  // 0 to 23
  std::string_view Known(size_t topic, std::string_view city) const;

 private:
  uint64_t Draw(std::string_view table, std::string_view first, std::string_view second,
                uint64_t bound) const;

  uint64_t seed_;
};

// Whether the text is what the calculator takes: at most five whole numbers of at most four digits
// with + - * between them.
bool IsExpression(std::string_view text);

}  // namespace hone::desk
