#include "text/turn_text.h"

#include <gtest/gtest.h>

namespace hone {
namespace {

TEST(TurnText, EndsAtTheFirstEndMarker) {
  const TurnText text = WithoutEndMarkers("ab<e>c", {"<f>", "<e>"}, TurnEnd::kUnknown);
  EXPECT_EQ(text.text, "ab");
  EXPECT_TRUE(text.ended);
  EXPECT_TRUE(text.trailing);
  EXPECT_FALSE(WithoutEndMarkers("ab", {"<e>"}, TurnEnd::kUnknown).ended);
  EXPECT_TRUE(WithoutEndMarkers("ab", {"<e>"}, TurnEnd::kEnded).ended);
}

TEST(EnclosedJson, EveryTruncationIsIncompleteOrWrongNeverRight) {
  const std::string text = R"( {"a": "</x>", "b": [1, 2]} </x>)";
  ASSERT_TRUE(ReadEnclosedJson(text, 0, "</x>").value.has_value());
  EXPECT_EQ(ReadEnclosedJson(text, 0, "</x>").end, text.size());
  for (size_t size = 0; size < text.size(); ++size) {
    EXPECT_FALSE(ReadEnclosedJson(std::string_view(text).substr(0, size), 0, "</x>").value) << size;
  }
}

TEST(EnclosedJson, GoesOnBehindTheClosingMarkerAfterAProblem) {
  const std::string_view text = "{bad}</x>rest";
  const EnclosedJson json = ReadEnclosedJson(text, 0, "</x>");
  EXPECT_EQ(json.fault, FaultKind::kBadJson);
  EXPECT_EQ(text.substr(json.end), "rest");
}

}  // namespace
}  // namespace hone
