#include "envs/study/needs.h"

#include <gtest/gtest.h>

namespace hone::study {
namespace {

Call Search(std::string_view query) { return {"search", Json::Of({{"query", query}}), {}}; }
Call Code(std::string_view code) { return {"python", Json::Of({{"code", code}}), {}}; }
ToolResult Said(std::string content, CallStatus status = CallStatus::kOk) {
  return {.status = status, .content = std::move(content)};
}

TEST(NeedsTest, ADocumentIsBroughtByItsTitle) {
  const Need need{Need::Kind::kDocument, "Ada Kell"};
  EXPECT_TRUE(Brings(need, Search("x"), Said("Bo Kell: a\nAda Kell: b")));
  EXPECT_FALSE(Brings(need, Search("x"), Said("Bo Kell: a friend of Ada Kell: b")));
  EXPECT_FALSE(Brings(need, Search("x"), Said("Ada Kellner: b")));
  EXPECT_FALSE(Brings(need, Search("x"), Said("Ada Kell: b", CallStatus::kToolError)));
  EXPECT_FALSE(Brings(need, Code("print('Ada Kell: b')"), Said("Ada Kell: b")));
}

TEST(NeedsTest, OfWhatIsDisputedBothDocumentsAreNeeded) {
  const Need need{Need::Kind::kDocument, "Ada Kell", 2};
  EXPECT_TRUE(Brings(need, Search("x"), Said("Ada Kell: a\nAda Kell: b")));
  EXPECT_FALSE(Brings(need, Search("x"), Said("Ada Kell: a\nBo Kell: b")));
}

TEST(NeedsTest, ThatThereIsNoneIsBroughtByWhoAsksForTheWholeName) {
  const Need need{Need::Kind::kNothing, "Ada Kell"};
  EXPECT_TRUE(Brings(need, Search("trade of ada kell"), Said("Bo Kell: a")));
  EXPECT_TRUE(Brings(need, Search("Ada Kell page count"), Said("Bo Kell: a")));
  EXPECT_FALSE(Brings(need, Search("Ada"), Said("Bo Kell: a")));
  EXPECT_FALSE(Brings(need, Search("What is the trade of Ada Kell?"), Said("Bo Kell: a")));
}

TEST(NeedsTest, AValueIsBroughtByCodeAsItsLastNumber) {
  const Need need{Need::Kind::kValue, "37"};
  EXPECT_TRUE(Brings(need, Code("x"), Said("so\n37")));
  EXPECT_TRUE(Brings(need, Code("x"), Said("37.0")));
  EXPECT_TRUE(Brings(need, Code("x"), Said("Result: 37.")));
  EXPECT_FALSE(Brings(need, Code("x"), Said("37\n38")));
  EXPECT_FALSE(Brings(need, Code("x"), Said("37 38")));
  EXPECT_FALSE(Brings(need, Code("x"), Said("137")));
  EXPECT_FALSE(Brings(need, Code("x"), Said("-37")));
  EXPECT_FALSE(Brings(need, Code("x"), Said("none")));
  EXPECT_FALSE(Brings(need, Search("x"), Said("37")));
}

TEST(NeedsTest, AreWrittenAndRead) {
  for (const Need& need : {Need{Need::Kind::kDocument, "a"}, Need{Need::Kind::kDocument, "a", 2},
                           Need{Need::Kind::kNothing, "b"}, Need{Need::Kind::kValue, "3"}}) {
    EXPECT_EQ(NeedFromJson(NeedToJson(need)).value(), need);
  }
  EXPECT_FALSE(NeedFromJson(Json::Of({{"text", "a"}})).ok());
  EXPECT_FALSE(NeedFromJson(Json("a")).ok());
  EXPECT_FALSE(NeedFromJson(Json::Of({{"document", "a"}, {"lines", 0}})).ok());
}

}  // namespace
}  // namespace hone::study
