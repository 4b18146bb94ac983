#include "envs/study/thoughts.h"

#include <fmt/format.h>

#include "base/check.h"

namespace hone::study {
namespace {

// Of mixed thoughts.
constexpr double kGoodShare = 0.6, kNoneShare = 0.2;

constexpr std::string_view kBefore[] = {"So, they ask:", "The question is:", "Let me see:"};
constexpr std::string_view kBehind[] = {"Hmm, let me think again.", "Well, that is not easy.",
                                        "Wait, step by step."};

}  // namespace

ThoughtStyle AnyStyle(Rng* rng) {
  const double drawn = rng->NextDouble();
  return drawn < kGoodShare                ? ThoughtStyle::kGood
         : drawn < kGoodShare + kNoneShare ? ThoughtStyle::kNone
                                           : ThoughtStyle::kWordy;
}

std::string ThoughtIn(ThoughtStyle style, const std::string& good, std::string_view question,
                      Rng* rng) {
  CHECK(style != ThoughtStyle::kMixed, "a style that is to be drawn first");
  if (style == ThoughtStyle::kNone) return "";
  if (style == ThoughtStyle::kGood) return good;
  return fmt::format("{} {} {} {}", kBefore[rng->Below(std::size(kBefore))], question,
                     kBehind[rng->Below(std::size(kBehind))], good);
}

}  // namespace hone::study
