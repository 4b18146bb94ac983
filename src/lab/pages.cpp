#include "lab/pages.h"

namespace hone::lab {

const std::vector<std::string>& PageHeadings() {
  static const std::vector<std::string> headings = {
      "## Idea",  "## Formula", "## Needs", "## Degenerate cases", "## Breaks the rule",
      "## Source"};
  return headings;
}

std::string WithRuleSentence(const std::string& page, const RuleFigure& figure) {
  constexpr std::string_view kHeading = "## Breaks the rule\n\n";
  const size_t heading = page.find(kHeading);
  if (heading == std::string::npos) return page;
  const size_t begin = heading + kHeading.size(), end = page.find('\n', begin);
  return page.substr(0, begin) + RuleSentence(figure) +
         (end == std::string::npos ? "\n" : page.substr(end));
}

}  // namespace hone::lab
