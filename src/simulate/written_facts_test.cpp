#include "simulate/written_facts.h"

#include <gtest/gtest.h>

namespace hone {
namespace {

using EarlierWrite = Sessions::EarlierWrite;

Json J(const char* text) { return ParseJson(text).value(); }

EarlierWrite Write(const char* tool, const char* arguments, const char* content = R"({"ok":true})",
                   CallStatus status = CallStatus::kOk) {
  return {tool, J(arguments), status, content};
}

TEST(WrittenFacts, AReadMustShowWhatWasLastWrittenUnderThatName) {
  const std::vector<EarlierWrite> writes = {
      Write("move", R"({"order_id": "7", "address": "Oslo"})"),
      Write("move", R"({"order_id": "8", "address": "Rome"})"),
      Write("move", R"({"order_id": "7", "address": "Lima"})")};
  const Json arguments = J(R"({"order_id": "7"})");
  EXPECT_TRUE(Contradictions(arguments, J(R"({"address": "Lima", "items": 2})"), writes).empty());
  const auto found = Contradictions(arguments, J(R"({"address": "Oslo"})"), writes);
  ASSERT_EQ(found.size(), 1u);
  EXPECT_EQ(found[0].Text(), R"(`address`: "Lima" was written, and the answer says "Oslo")");
  EXPECT_EQ(WithoutContradictions(arguments, J(R"({"address": "Oslo", "items": 2})"), writes),
            J(R"({"address": "Lima", "items": 2})"));
}

TEST(WrittenFacts, AnAnswerThatNamesTheThingSaysWhatItIsNow) {
  const Json arguments = J(R"({"order_id": "7"})");
  const std::vector<EarlierWrite> named = {
      Write("cancel", R"({"order_id": "7"})", R"({"order_id": "7", "status": "cancelled"})")};
  EXPECT_EQ(Contradictions(arguments, J(R"({"status": "pending"})"), named).size(), 1u);
  // The status of the writing is not the status of the order.
  const std::vector<EarlierWrite> unnamed = {
      Write("cancel", R"({"order_id": "7"})", R"({"status": "done"})")};
  EXPECT_TRUE(Contradictions(arguments, J(R"({"status": "pending"})"), unnamed).empty());
}

TEST(WrittenFacts, ObjectsInsideAnAnswerAreHeldToTheirIdentifiers) {
  const std::vector<EarlierWrite> writes = {
      Write("move", R"({"order_id": "7", "address": "Oslo"})")};
  const auto found = Contradictions(
      J(R"({"user_id": "u"})"),
      J(R"({"orders": [{"order_id": "8", "address": "Rome"}, {"order_id": "7", "address": "Rome"}]})"),
      writes);
  ASSERT_EQ(found.size(), 1u);
  EXPECT_EQ(found[0].path, "orders[1].address");
}

TEST(WrittenFacts, AWriteAboutAPartIsHeldAgainstThatPart) {
  const std::vector<EarlierWrite> writes = {
      Write("exchange", R"({"order": "W7", "item": "I2", "colour": "red"})",
            R"({"order": "W7", "item": {"item": "I2", "colour": "red", "price": 5}, "total": 9})")};
  const Json answer = J(R"({"order": "W7", "colour": "as it was", "total": 8, "items": [
      {"item": "I1", "colour": "blue", "price": 4}, {"item": "I2", "colour": "blue", "price": 4}]})");
  EXPECT_EQ(WithoutContradictions(J(R"({"order": "W7"})"), answer, writes),
            J(R"({"order": "W7", "colour": "as it was", "total": 9, "items": [
      {"item": "I1", "colour": "blue", "price": 4}, {"item": "I2", "colour": "red", "price": 5}]})"));
  EXPECT_TRUE(Contradictions(
                  J(R"({"order": "W8"})"),
                  J(R"({"order": "W8", "total": 8, "items": [{"item": "I2", "colour": "blue"}]})"),
                  writes)
                  .empty());
}

TEST(WrittenFacts, WritesThatFailedOrAreAboutOtherThingsSayNothing) {
  const Json arguments = J(R"({"order_id": "7"})"), answer = J(R"({"address": "Oslo"})");
  EXPECT_TRUE(Contradictions(arguments, answer,
                             std::vector{Write("move", R"({"order_id": "7", "address": "Rome"})",
                                               "no", CallStatus::kToolError)})
                  .empty());
  EXPECT_TRUE(Contradictions(arguments, answer,
                             std::vector{Write("move", R"({"order_id": "9", "address": "Rome"})")})
                  .empty());
  EXPECT_TRUE(Contradictions(Json(), Json("text"), std::vector{Write("move", "{}")}).empty());
}

TEST(WrittenFacts, ACallIsConcernedByWritesAboutTheSameThingAndOneWithoutArgumentsByAll) {
  const std::vector<EarlierWrite> writes = {
      Write("move", R"({"order_id": "7", "address": "Oslo"})"),
      Write("move", R"({"order_id": "8", "address": "Oslo"})"),
      Write("move", R"({"order_id": "7"})", "no", CallStatus::kToolError)};
  EXPECT_EQ(RelevantWrites(J(R"({"order_id": "7"})"), writes).size(), 1u);
  EXPECT_EQ(RelevantWrites(J(R"({"order_id": "9"})"), writes).size(), 0u);
  EXPECT_EQ(RelevantWrites(J("{}"), writes).size(), 2u);
}

}  // namespace
}  // namespace hone
