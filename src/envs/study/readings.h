#pragma once

#include <string>
#include <string_view>
#include <vector>

namespace hone::study {

// What stands in a text that is of the same sort as a value: numbers, names of two words, countries
// or trades; of an empty value anything. In the order in which it stands there, each once.
std::vector<std::string> ValuesLike(std::string_view value, std::string_view text);

// The numbers in a text.
std::vector<std::string> NumbersIn(std::string_view text);

// Whether two names of two words have one in common.
bool SharesAWord(std::string_view a, std::string_view b);

}  // namespace hone::study
