#pragma once

#include <optional>
#include <string_view>

namespace hone {

// The number that the whole text is: "1,234.5", "$3", "-2e3", "50 %" (50), "1/2", with blanks or a
// full stop around it. Commas must stand between thousands.
std::optional<double> WholeNumber(std::string_view text);

// The last number that stands in the text: "so 3 + 4 = 7 apples" is 7.
std::optional<double> LastNumber(std::string_view text);

}  // namespace hone
