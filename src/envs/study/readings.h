#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "envs/study/facts.h"

namespace hone::study {

// What values of relations can be: numbers, names of two words, countries, trades.
enum class Sort { kNumber, kPerson, kTown, kRiver, kBook, kCompany, kCountry, kTrade, kOther };
Sort SortOf(std::string_view value);
Sort SortOf(const RelationNote& relation);

// What of a sort stands in a text, kOther: of any. In the order in which it stands there, each
// once.
std::vector<std::string> ValuesOf(Sort sort, std::string_view text);

// The numbers in a text.
std::vector<std::string> NumbersIn(std::string_view text);

// Whether two names of two words have one in common.
bool SharesAWord(std::string_view a, std::string_view b);

}  // namespace hone::study
