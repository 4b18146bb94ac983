#include "envs/desk/desk_world.h"

#include "base/check.h"
#include "base/hash.h"

namespace hone::desk {
namespace {

using Word = std::string_view;

constexpr Word kCities[] = {"Oslo",  "Paris", "Rome",   "Cairo",  "Lima",  "Delhi",
                            "Tokyo", "Seoul", "Berlin", "Madrid", "Quito", "Dakar",
                            "Hanoi", "Perth", "Boston", "Accra"};
constexpr Word kNames[] = {"Ana",  "Ben",  "Cleo", "Dan",  "Eva", "Finn", "Gia",  "Hugo",
                           "Ida",  "Jon",  "Kai",  "Lea",  "Max", "Nia",  "Omar", "Pia",
                           "Quin", "Rosa", "Sam",  "Tess", "Uma", "Vik",  "Wes",  "Zoe"};
constexpr Word kDays[] = {"Mon", "Tue", "Wed", "Thu", "Fri", "Sat", "Sun"};
constexpr Word kSkies[] = {"sun", "rain", "snow", "fog", "wind"};
constexpr Word kEvents[] = {"gym", "work", "choir", "chess", "dance", "court"};
constexpr Word kTopics[] = {"currency", "language", "river", "dish"};
constexpr Word kTopicValues[][6] = {{"krone", "franc", "peso", "dinar", "won", "yen"},
                                    {"norse", "latin", "arabic", "hindi", "thai", "wolof"},
                                    {"nile", "seine", "tiber", "spree", "ganges", "han"},
                                    {"stew", "pasta", "curry", "sushi", "tacos", "bread"}};
constexpr Conversion kConversions[] = {{"km", "mi", 62, 100},   {"mi", "km", 161, 100},
                                       {"kg", "lb", 220, 100},  {"lb", "kg", 45, 100},
                                       {"usd", "eur", 90, 100}, {"eur", "usd", 111, 100}};

}  // namespace

std::span<const Word> Cities() { return kCities; }
std::span<const Word> Names() { return kNames; }
std::span<const Word> Days() { return kDays; }
std::span<const Word> Skies() { return kSkies; }
std::span<const Word> Events() { return kEvents; }
std::span<const Word> Topics() { return kTopics; }
std::span<const Word> TopicValues(size_t topic) { return kTopicValues[topic]; }
std::span<const Conversion> Conversions() { return kConversions; }

int IndexOf(std::span<const Word> words, Word word) {
  for (size_t i = 0; i < words.size(); ++i) {
    if (words[i] == word) return static_cast<int>(i);
  }
  return -1;
}

const Conversion* FindConversion(Word from, Word to) {
  for (const Conversion& conversion : kConversions) {
    if (conversion.from == from && conversion.to == to) return &conversion;
  }
  return nullptr;
}

int64_t Convert(const Conversion& conversion, int64_t amount) {
  const int64_t product = amount * conversion.num;
  const int64_t quotient = product / conversion.den;
  return quotient - (product % conversion.den < 0 ? 1 : 0);
}

uint64_t World::Draw(Word table, Word first, Word second, uint64_t bound) const {
  // A fixed buffer: this is asked for millions of times.
  char text[64];
  size_t size = 0;
  for (int shift = 0; shift < 64; shift += 8) text[size++] = static_cast<char>(seed_ >> shift);
  for (const Word part : {table, first, second}) {
    CHECK(size + part.size() + 1 <= sizeof text, "a key that is no word of the desk's world");
    text[size++] = '|';
    for (const char c : part) text[size++] = c;
  }
  return Hash64({text, size}) % bound;
}

Weather World::WeatherOf(Word city, Word day) const {
  return {kSkies[Draw("sky", city, day, std::size(kSkies))],
          10 + static_cast<int64_t>(Draw("temp", city, day, 30))};
}

Contact World::ContactOf(Word name) const {
  return {kCities[Draw("home", name, "", std::size(kCities))],
          std::to_string(1000 + Draw("phone", name, "", 9000))};
}

Appointment World::ScheduleOf(Word name, Word day) const {
  return {kEvents[Draw("event", name, day, std::size(kEvents))],
          8 + static_cast<int64_t>(Draw("hour", name, day, 13))};
}

int64_t World::HourIn(Word city) const { return static_cast<int64_t>(Draw("clock", city, "", 24)); }

Word World::Known(size_t topic, Word city) const {
  return kTopicValues[topic][Draw(kTopics[topic], city, "", 6)];
}

bool IsExpression(Word text) {
  int numbers = 0;
  size_t at = 0;
  while (true) {
    const size_t begin = at;
    while (at < text.size() && text[at] >= '0' && text[at] <= '9') ++at;
    if (at == begin || at - begin > 4 || ++numbers > 5) return false;
    if (at == text.size()) return true;
    if (text[at] != '+' && text[at] != '-' && text[at] != '*') return false;
    ++at;
  }
}

}  // namespace hone::desk
