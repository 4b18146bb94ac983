#include "envs/study/readings.h"

#include <algorithm>
#include <cctype>

#include <fmt/format.h>

#include "base/strings.h"
#include "envs/study/names.h"

namespace hone::study {
namespace {

enum class Sort { kNumber, kName, kCountry, kTrade, kOther };

bool Has(Words words, std::string_view word) {
  return std::find(words.begin(), words.end(), word) != words.end();
}

Sort SortOf(std::string_view value) {
  if (value.empty()) return Sort::kOther;
  if (std::all_of(value.begin(), value.end(), IsDigit)) return Sort::kNumber;
  if (Has(Countries(), value)) return Sort::kCountry;
  if (Has(Trades(), value)) return Sort::kTrade;
  return value.find(' ') != std::string_view::npos ? Sort::kName : Sort::kOther;
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

std::vector<std::string> ValuesLike(std::string_view value, std::string_view text) {
  const Sort wanted = SortOf(value);
  std::vector<std::string> values;
  const std::vector<Token> tokens = TokensOf(text);
  for (size_t i = 0; i < tokens.size(); ++i) {
    const std::string_view word = tokens[i].text;
    const bool pair = i + 1 < tokens.size() && tokens[i + 1].joined && IsCapital(word[0]) &&
                      IsCapital(tokens[i + 1].text[0]);
    Sort sort = SortOf(word);
    if (pair) sort = Sort::kName;
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
