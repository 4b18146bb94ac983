#pragma once

#include <span>
#include <string>
#include <vector>

#include "evaluate/compare/comparison_text.h"

namespace hone {

// The same comparison as a page that needs nothing beside it, with pictures: success on dev over
// trajectories with a band from the lowest seed to the highest, and the differences as dots.
std::string ComparisonPage(const ComparisonText& head, const std::vector<ComparedSection>& sections,
                           const std::vector<SectionReport>& reports,
                           std::span<const ComparedRun> runs,
                           const std::vector<std::string>& problems);

}  // namespace hone
