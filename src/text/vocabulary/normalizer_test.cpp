#include "text/vocabulary/normalizer.h"

#include <gtest/gtest.h>

namespace hone {
namespace {

using Kind = NormalizeStep::Kind;

std::string Applied(NormalizeStep step, std::string_view text) {
  return Normalizer({std::move(step)}).Apply(text);
}

TEST(Normalizer, FormsDecomposeAndCompose) {
  EXPECT_EQ(Applied({.form = UnicodeForm::kNfc}, "e\u0301ﬁ"), "éﬁ");
  EXPECT_EQ(Applied({.form = UnicodeForm::kNfd}, "éﬁ"), "e\u0301ﬁ");
  EXPECT_EQ(Applied({.form = UnicodeForm::kNfkc}, "e\u0301ﬁ"), "éfi");
  EXPECT_EQ(Applied({.form = UnicodeForm::kNfkd}, "éﬁ"), "e\u0301fi");
}

TEST(Normalizer, SmallLettersMarksAndBlanks) {
  EXPECT_EQ(Applied({.kind = Kind::kLowercase}, "ÀẞİΣ"), "àßi\u0307σ");
  EXPECT_EQ(Applied({.kind = Kind::kStripAccents}, "e\u0301é"), "eé");
  EXPECT_EQ(Applied({.kind = Kind::kStrip}, " \u3000a b\n"), "a b");
  EXPECT_EQ(Applied({.kind = Kind::kStrip, .left = false}, " a "), " a");
  EXPECT_EQ(Applied({.kind = Kind::kStrip}, "  "), "");
  EXPECT_EQ(Applied({.kind = Kind::kNmt}, "a\u0001\tb\u200B"), "a b ");
}

TEST(Normalizer, ATextIsPrefixedUnlessItIsEmptyOrGoesOn) {
  const Normalizer normalizer({{.kind = Kind::kPrepend, .content = "▁"}});
  EXPECT_EQ(normalizer.Apply("a"), "▁a");
  EXPECT_EQ(normalizer.Apply(""), "");
  EXPECT_EQ(normalizer.Apply("a", false), "a");
}

}  // namespace
}  // namespace hone
