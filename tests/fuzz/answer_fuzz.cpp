// Any two texts, and any JSON values, as an answer and the gold one, in every kind.

#include <cstdint>

#include "base/check.h"
#include "base/utf8.h"
#include "rewards/matching/answer.h"
#include "rewards/matching/math_answer.h"
#include "rewards/matching/plain_text.h"

namespace {

void CheckMatch(hone::AnswerKind kind, const hone::Json& answer, const hone::Json& gold) {
  const auto match = hone::MatchAnswer(kind, answer, gold);
  if (!match.ok()) {
    CHECK(!match.error().message().empty());
    return;
  }
  CHECK(match->score >= 0 && match->score <= 1);
  CHECK(!match->match || match->score == 1);
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  const std::string_view bytes(reinterpret_cast<const char*>(data), size);
  const size_t middle = bytes.find('\n');
  const std::string_view first = bytes.substr(0, middle);
  const std::string_view second =
      middle == std::string_view::npos ? std::string_view() : bytes.substr(middle + 1);
  const auto left = hone::ParseJson(first), right = hone::ParseJson(second);
  for (const hone::AnswerKindNote& note : hone::AnswerKinds()) {
    CheckMatch(note.kind, first, second);
    CheckMatch(note.kind, second, first);
    if (left.ok() && right.ok()) CheckMatch(note.kind, *left, *right);
  }
  // A text is itself, however odd.
  for (const auto kind : {hone::AnswerKind::kExact, hone::AnswerKind::kText,
                          hone::AnswerKind::kQaExact, hone::AnswerKind::kQaF1}) {
    CHECK(hone::MatchAnswer(kind, first, first)->match);
  }
  CHECK(hone::MathEquivalent(first, first));
  CHECK(hone::MathEquivalent(first, second) == hone::MathEquivalent(second, first));
  CHECK(hone::IsUtf8(hone::NormalisedText(first)) && hone::IsUtf8(hone::QaNormalised(first)));
  const double alike = hone::TextSimilarity(first, second);
  CHECK(alike >= 0 && alike <= 1);
  return 0;
}
