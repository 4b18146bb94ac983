#include "envs/study/readings.h"

#include <algorithm>
#include <cctype>

#include <fmt/format.h>

#include "base/strings.h"
#include "envs/study/names.h"

namespace hone::study {
namespace {

bool Has(Words words, std::string_view word) {
  return std::find(words.begin(), words.end(), word) != words.end();
}

Sort SortOf(EntityKind kind) {
  switch (kind) {
    case EntityKind::kPerson: return Sort::kPerson;
    case EntityKind::kTown: return Sort::kTown;
    case EntityKind::kRiver: return Sort::kRiver;
    case EntityKind::kBook: return Sort::kBook;
    case EntityKind::kCompany: return Sort::kCompany;
  }
  return Sort::kOther;
}

// Of a name of two words by the first; kOther: it begins no name.
Sort SortOfNamesWith(std::string_view first) {
  if (Has(FirstNames(), first)) return Sort::kPerson;
  if (Has(TownKinds(), first)) return Sort::kTown;
  if (Has(RiverNames(), first)) return Sort::kRiver;
  if (Has(BookAdjectives(), first)) return Sort::kBook;
  return Has(FamilyNames(), first) ? Sort::kCompany : Sort::kOther;
}

bool IsCapital(char c) { return std::isupper(static_cast<unsigned char>(c)) != 0; }

void AddOnce(std::string value, std::vector<std::string>* values) {
  if (std::find(values->begin(), values->end(), value) == values->end()) {
    values->push_back(std::move(value));
  }
}

// Words, numbers, and pairs of capitalised words that only a blank divides.
struct Token {
  std::string_view text;
  bool joined = false;  // to the one before
};
std::vector<Token> TokensOf(std::string_view text) {
  std::vector<Token> tokens;
  size_t last_end = 0;
  for (size_t at = 0; at < text.size();) {
    if (std::isalnum(static_cast<unsigned char>(text[at])) == 0) {
      ++at;
      continue;
    }
    size_t end = at;
    while (end < text.size() && std::isalnum(static_cast<unsigned char>(text[end])) != 0) ++end;
    const bool joined = !tokens.empty() && at == last_end + 1 && text[last_end] == ' ';
    tokens.push_back({text.substr(at, end - at), joined});
    last_end = at = end;
  }
  return tokens;
}

}  // namespace

Sort SortOf(std::string_view value) {
  if (value.empty()) return Sort::kOther;
  if (std::all_of(value.begin(), value.end(), IsDigit)) return Sort::kNumber;
  if (Has(Countries(), value)) return Sort::kCountry;
  if (Has(Trades(), value)) return Sort::kTrade;
  const size_t blank = value.find(' ');
  return blank == std::string_view::npos ? Sort::kOther : SortOfNamesWith(value.substr(0, blank));
}

Sort SortOf(const RelationNote& relation) {
  if (relation.leads_to) return SortOf(*relation.leads_to);
  if (relation.relation == Relation::kCountry) return Sort::kCountry;
  return relation.relation == Relation::kTrade ? Sort::kTrade : Sort::kNumber;
}

std::vector<std::string> ValuesOf(Sort wanted, std::string_view text) {
  std::vector<std::string> values;
  const std::vector<Token> tokens = TokensOf(text);
  for (size_t i = 0; i < tokens.size(); ++i) {
    const std::string_view word = tokens[i].text;
    const Sort named = SortOfNamesWith(word);
    const bool pair = named != Sort::kOther && i + 1 < tokens.size() && tokens[i + 1].joined &&
                      IsCapital(tokens[i + 1].text[0]);
    const Sort sort = pair ? named : SortOf(word);
    const bool fits = wanted == Sort::kOther ? sort != Sort::kOther : sort == wanted;
    if (fits && pair) {
      AddOnce(fmt::format("{} {}", word, tokens[i + 1].text), &values);
    } else if (fits) {
      AddOnce(std::string(word), &values);
    }
    if (pair) ++i;
  }
  return values;
}

std::vector<std::string> NumbersIn(std::string_view text) {
  std::vector<std::string> numbers;
  for (const Token& token : TokensOf(text)) {
    if (SortOf(token.text) == Sort::kNumber) numbers.emplace_back(token.text);
  }
  return numbers;
}

bool SharesAWord(std::string_view a, std::string_view b) {
  const std::vector<Token> first = TokensOf(a), second = TokensOf(b);
  return std::any_of(first.begin(), first.end(), [&](const Token& one) {
    return std::any_of(second.begin(), second.end(),
                       [&](const Token& other) { return one.text == other.text; });
  });
}

}  // namespace hone::study
