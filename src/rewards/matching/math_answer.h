#pragma once

#include <optional>
#include <string>
#include <string_view>

namespace hone {

// Whether two answers in LaTeX are the same by the rule of the MATH benchmark: spelling is made
// alike (MathNormalised), then the texts must be equal. An answer that cannot be normalised is
// compared as it stands.
bool MathEquivalent(std::string_view a, std::string_view b);

// One spelling of the many: no spacing commands, degrees, dollars, percents, units in \text; one
// kind of fraction with braces; "x=" gone. Nothing when the rule does not apply to the text (a
// \frac or \sqrt without its argument, more than one unit).
std::optional<std::string> MathNormalised(std::string_view text);

}  // namespace hone
