// What a head cannot do exactly: arithmetic, alone or on facts.

#include <numeric>

#include <fmt/format.h>

#include "envs/study/question_kinds.h"

namespace hone::study {
namespace {

struct Computation {
  std::string expression;
  int64_t value = 0;
  std::vector<std::string> others = {};  // expressions that say the same
};

// One call, of print(expression).
bool WriteComputation(const Kind& kind, Draft* draft, const WordsPutIn& words,
                      const Computation& computation) {
  std::vector<std::string> codes;
  for (const std::string& other : computation.others)
    codes.push_back(fmt::format("print({})", other));
  draft->Ask(kind.wording, words);
  draft->Compute(fmt::format("print({})", computation.expression), computation.value,
                 fmt::format("Too much for the head: {}.", computation.expression),
                 std::move(codes));
  draft->Conclude(computation.value, fmt::format("The result is {}.", computation.value));
  return true;
}

bool Product(const Kind& kind, Draft* draft) {
  const int64_t a = draft->Number(101, 999), b = draft->Number(101, 999);
  if (!draft->Gold(fmt::format("product {}*{}", std::min(a, b), std::max(a, b)))) return false;
  return WriteComputation(kind, draft, {{"a", std::to_string(a)}, {"b", std::to_string(b)}},
                          {fmt::format("{}*{}", a, b), a * b, {fmt::format("{}*{}", b, a)}});
}

bool Remainder(const Kind& kind, Draft* draft) {
  const int64_t base = draft->Number(3, 29), power = draft->Number(11, 39),
                by = draft->Number(31, 99);
  if (!draft->Gold(fmt::format("remainder {}**{}%{}", base, power, by))) return false;
  int64_t value = 1;
  for (int64_t i = 0; i < power; ++i) value = value * base % by;
  if (value < 2 || value == base) return false;  // which a guess would find
  return WriteComputation(
      kind, draft,
      {{"a", std::to_string(base)}, {"b", std::to_string(power)}, {"c", std::to_string(by)}},
      {fmt::format("{}**{}%{}", base, power, by),
       value,
       {fmt::format("pow({},{},{})", base, power, by)}});
}

bool Squares(const Kind& kind, Draft* draft) {
  const int64_t a = draft->Number(31, 99), b = draft->Number(31, 99);
  if (!draft->Gold(fmt::format("squares {} {}", std::min(a, b), std::max(a, b)))) return false;
  return WriteComputation(
      kind, draft, {{"a", std::to_string(a)}, {"b", std::to_string(b)}},
      {fmt::format("{}**2+{}**2", a, b),
       a * a + b * b,
       {fmt::format("{}**2+{}**2", b, a), fmt::format("{0}*{0}+{1}*{1}", a, b)}});
}

bool Divisor(const Kind& kind, Draft* draft) {
  const int64_t common = draft->Number(3, 29), a = common * draft->Number(11, 34),
                b = common * draft->Number(11, 34);
  if (a == b || !draft->Gold(fmt::format("gcd {} {}", std::min(a, b), std::max(a, b)))) {
    return false;
  }
  const int64_t value = std::gcd(a, b);
  if (value == a || value == b) return false;
  draft->Ask(kind.wording, {{"a", std::to_string(a)}, {"b", std::to_string(b)}});
  draft->Compute(fmt::format("import math;print(math.gcd({},{}))", a, b), value,
                 fmt::format("Too much for the head: math.gcd({},{}).", a, b),
                 {fmt::format("import math;print(math.gcd({},{}))", b, a)});
  draft->Conclude(value, fmt::format("The result is {}.", value));
  return true;
}

bool DigitSum(const Kind& kind, Draft* draft) {
  const int64_t a = draft->Number(101, 999), b = draft->Number(11, 99);
  if (!draft->Gold(fmt::format("digits {}*{}", a, b))) return false;
  int64_t sum = 0;
  for (int64_t rest = a * b; rest > 0; rest /= 10) sum += rest % 10;
  return WriteComputation(kind, draft, {{"a", std::to_string(a)}, {"b", std::to_string(b)}},
                          {fmt::format("sum(map(int,str({}*{})))", a, b),
                           sum,
                           {fmt::format("sum(map(int,str({}*{})))", b, a)}});
}

// Two facts of the same relation, and what comes of them: the second minus the first, or both
// together.
bool OnFacts(const Kind& kind, Draft* draft, char op) {
  const Relation relation = kind.path[0];
  const Entity *a = &draft->Draw(NoteOf(relation).of), *b = &draft->Draw(NoteOf(relation).of);
  if (a == b || !a->IsClear(relation) || !b->IsClear(relation)) return false;
  int64_t first = std::stoll(*a->Find(relation)), second = std::stoll(*b->Find(relation));
  if (op == '-' && first == second) return false;
  if (op == '-' && first > second) {
    std::swap(a, b);
    std::swap(first, second);
  }
  if (!draft->Gold(relation, a->name) || !draft->Gold(relation, b->name)) return false;
  const std::string_view word = NoteOf(relation).word;
  draft->Ask(kind.wording, {{"a", a->name}, {"b", b->name}});
  draft->Search(relation, a->name, ThoughtNeeds(relation, a->name), std::to_string(first));
  draft->Search(relation, b->name,
                fmt::format("{}; now that of {}.",
                            ThoughtFound(relation, a->name, std::to_string(first)), b->name),
                std::to_string(second));
  const int64_t value = op == '-' ? second - first : first + second;
  const std::string expression =
      op == '-' ? fmt::format("{}-{}", second, first) : fmt::format("{}+{}", first, second);
  std::vector<std::string> others;
  if (op == '+') others.push_back(fmt::format("print({}+{})", second, first));
  draft->Compute(fmt::format("print({})", expression), value,
                 fmt::format("The {} of {} is {}: {}.", word, b->name, second, expression),
                 std::move(others));
  draft->Conclude(value, fmt::format("The result is {}.", value));
  return true;
}

bool Difference(const Kind& kind, Draft* draft) { return OnFacts(kind, draft, '-'); }
bool Sum(const Kind& kind, Draft* draft) { return OnFacts(kind, draft, '+'); }

}  // namespace

std::vector<Kind> ComputeKinds() {
  constexpr Family kOne = Family::kCompute, kFacts = Family::kFactsCompute;
  return {
      {"product",
       kOne,
       1,
       Product,
       {},
       {{"What is {a} times {b}?", "Multiply {a} by {b}."}, {"How much is {a} times {b}?"}}},
      {"remainder",
       kOne,
       1,
       Remainder,
       {},
       {{"What is the remainder of {a} to the power {b} divided by {c}?",
         "What is {a} to the power {b} modulo {c}?"},
        {"Divide {a} to the power {b} by {c}. What remains?"}}},
      {"squares",
       kOne,
       1,
       Squares,
       {},
       {{"What is the sum of the squares of {a} and {b}?", "Add the squares of {a} and {b}."},
        {"How much are the squares of {a} and {b} together?"}}},
      {"divisor",
       kOne,
       1,
       Divisor,
       {},
       {{"What is the greatest common divisor of {a} and {b}?",
         "Which largest number divides {a} and {b}?"},
        {"Of {a} and {b}, what is the greatest common divisor?"}}},
      {"digit_sum",
       kOne,
       1,
       DigitSum,
       {},
       {{"What is the digit sum of {a} times {b}?", "Add the digits of {a} times {b}."},
        {"How much are the digits of {a} times {b} together?"}}},
      {"years_between",
       kFacts,
       3,
       Difference,
       {Relation::kBorn},
       {{"How many years after {a} was {b} born?", "By how many years is {a} older than {b}?"},
        {"How many years lie between the births of {a} and {b}?"}}},
      {"pages_between",
       kFacts,
       3,
       Difference,
       {Relation::kPages},
       {{"How many more pages has {b} than {a}?", "By how many pages is {b} longer than {a}?"},
        {"How many pages is {a} shorter than {b}?"}}},
      {"people_together",
       kFacts,
       3,
       Sum,
       {Relation::kPopulation},
       {{"How many people live in {a} and {b} together?", "Add the populations of {a} and {b}."},
        {"What is the population of {a} plus that of {b}?"}}},
      {"staff_together",
       kFacts,
       3,
       Sum,
       {Relation::kStaff},
       {{"How many people are on the staff of {a} and {b} together?",
         "Add the staff of {a} and {b}."},
        {"What is the staff of {a} plus that of {b}?"}}},
  };
}

}  // namespace hone::study
