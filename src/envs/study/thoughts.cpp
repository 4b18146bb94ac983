#include "envs/study/thoughts.h"

#include <fmt/format.h>

namespace hone::study {
namespace {

// Of mixed thoughts.
constexpr double kGoodShare = 0.6, kNoneShare = 0.2;

constexpr std::string_view kBefore[] = {"So, they ask:", "The question is:", "Let me see:"};
constexpr std::string_view kBehind[] = {"Hmm, let me think about it again.",
                                        "Well, that is not so easy to say.",
                                        "Wait, one thing after the other."};

}  // namespace

std::string ThoughtIn(ThoughtStyle style, const std::string& good, std::string_view question,
                      Rng* rng) {
  if (style == ThoughtStyle::kMixed) {
    const double drawn = rng->NextDouble();
    style = drawn < kGoodShare                ? ThoughtStyle::kGood
            : drawn < kGoodShare + kNoneShare ? ThoughtStyle::kNone
                                              : ThoughtStyle::kWordy;
  }
  if (style == ThoughtStyle::kNone) return "";
  if (style == ThoughtStyle::kGood) return good;
  return fmt::format("{} {} {} {}", kBefore[rng->Below(std::size(kBefore))], question,
                     kBehind[rng->Below(std::size(kBehind))], good);
}

}  // namespace hone::study
