#pragma once

#include <string>
#include <string_view>

#include "base/rng.h"

namespace hone::study {

// How who shows a task thinks aloud.
enum class ThoughtStyle {
  kGood,   // short and true: what is known, what comes next
  kNone,   // not at all
  kWordy,  // the question again, hesitation, and then the good thought
  kMixed,  // each turn one of the above
};

// A thought in this style. `good` is the good one.
std::string ThoughtIn(ThoughtStyle style, const std::string& good, std::string_view question,
                      Rng* rng);

}  // namespace hone::study
