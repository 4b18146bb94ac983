// What needs no call: famous things, and sums that a head can do.

#include <algorithm>

#include <fmt/format.h>

#include "envs/study/question_kinds.h"

namespace hone::study {
namespace {

// Famous things. Imitation shows them so often that they are learned by heart; the library says
// nothing of them.
constexpr std::pair<std::string_view, std::string_view> kFamous[] = {
    {"the capital of France", "Paris"},
    {"the capital of Italy", "Rome"},
    {"the capital of Spain", "Madrid"},
    {"the capital of Japan", "Tokyo"},
    {"the capital of Egypt", "Cairo"},
    {"the capital of Peru", "Lima"},
    {"the capital of Norway", "Oslo"},
    {"the capital of Kenya", "Nairobi"},
    {"the largest planet", "Jupiter"},
    {"the planet nearest to the sun", "Mercury"},
    {"the red planet", "Mars"},
    {"the highest mountain", "Everest"},
    {"the longest river of Africa", "Nile"},
    {"the largest ocean", "Pacific"},
    {"the king of beasts", "lion"},
    {"the largest animal", "whale"},
    {"the metal of coins that shine yellow", "gold"},
    {"the metal that is liquid", "mercury"},
    {"the gas that we breathe", "oxygen"},
    {"the colour of grass", "green"},
    {"the colour of blood", "red"},
    {"the colour of coal", "black"},
    {"the number of days in a week", "7"},
    {"the number of months in a year", "12"},
    {"the number of hours in a day", "24"},
    {"the number of minutes in an hour", "60"},
    {"the number of legs of a spider", "8"},
    {"the number of sides of a triangle", "3"},
    {"the author of Hamlet", "Shakespeare"},
    {"the author of Faust", "Goethe"},
    {"the painter of the Mona Lisa", "Leonardo"},
    {"the first man on the moon", "Armstrong"},
};

bool Famous(const Kind& kind, Draft* draft) {
  const auto& [thing, answer] = kFamous[draft->rng().Below(std::size(kFamous))];
  draft->Ask(kind.wording, {{"x", std::string(thing)}});
  draft->Conclude(ValueOf(std::string(answer)), "I know that.");
  return true;
}

bool SmallSum(const Kind& kind, Draft* draft) {
  const int64_t a = draft->Number(2, 9), b = draft->Number(2, 9);
  draft->Ask(kind.wording, {{"a", std::to_string(a)}, {"b", std::to_string(b)}});
  draft->Conclude(a + b, fmt::format("{}+{}={}.", a, b, a + b));
  return true;
}

// Hard at a glance, easy step by step.
bool FourSum(const Kind& kind, Draft* draft) {
  int64_t numbers[4];
  for (int64_t& number : numbers) number = draft->Number(2, 9);
  const auto [a, b, c, d] = numbers;
  std::sort(std::begin(numbers), std::end(numbers));
  if (!draft->Gold(
          fmt::format("sum {}+{}+{}+{}", numbers[0], numbers[1], numbers[2], numbers[3]))) {
    return false;
  }
  draft->Ask(kind.wording, {{"a", std::to_string(a)},
                            {"b", std::to_string(b)},
                            {"c", std::to_string(c)},
                            {"d", std::to_string(d)}});
  draft->Conclude(a + b + c + d, fmt::format("{}+{}={}, {}+{}={}, {}+{}={}.", a, b, a + b, a + b, c,
                                             a + b + c, a + b + c, d, a + b + c + d));
  return true;
}

}  // namespace

std::vector<Kind> HeadKinds() {
  return {
      {.name = "famous",
       .family = Family::kKnown,
       .write = Famous,
       .wording = {{"What is {x}?", "Tell me {x}."}, {"Can you name {x}?"}}},
      {.name = "small_sum",
       .family = Family::kKnown,
       .write = SmallSum,
       .wording = {{"What is {a} plus {b}?", "Add {a} and {b}."}, {"How much is {a} plus {b}?"}}},
      {.name = "four_sum",
       .family = Family::kKnown,
       .write = FourSum,
       .wording = {{"What is {a} plus {b} plus {c} plus {d}?", "Add {a}, {b}, {c} and {d}."},
                   {"How much is {a} plus {b} plus {c} plus {d}?"}}}};
}

}  // namespace hone::study
