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

// One that kMixed stands for: three of five are good.
ThoughtStyle AnyStyle(Rng* rng);

// A thought in this style, which is not kMixed. `good` is the good one.
std::string ThoughtIn(ThoughtStyle style, const std::string& good, std::string_view question,
                      Rng* rng);

}  // namespace hone::study
