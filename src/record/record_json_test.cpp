#include "record/record_json.h"

#include <gtest/gtest.h>

#include "support/random_record.h"

namespace hone {
namespace {

TEST(RecordJson, EveryRecordReadsBackTheSame) {
  for (uint64_t seed = 0; seed < 300; ++seed) {
    const ScoredTree record = RandomRecord(Rng(seed));
    const std::string text = DumpJson(RecordToJson(record));
    auto again = RecordFromJson(*ParseJson(text));
    ASSERT_TRUE(again.ok()) << again.error().message();
    EXPECT_EQ(*again, record) << seed;
    EXPECT_EQ(DumpJson(RecordToJson(*again)), text);
  }
}

TEST(RecordJson, ASegmentThatSaysNothingOfTemplatesIsAFold) {
  Tree tree;
  tree.task.id = "x";
  tree.nodes = {{kNoNode, Author::kSystem, {1}}, {kNoNode, Author::kSystem, {2}}};
  tree.nodes[1].folded_from = 0;
  const std::string fold = DumpJson(RecordToJson({tree, {}, {}}));
  EXPECT_EQ(fold.find("rewritten"), std::string::npos);
  EXPECT_TRUE(IsFold(RecordFromJson(*ParseJson(fold))->tree.nodes[1]));
  tree.nodes[1].rewritten = true;
  const ScoredTree again = RecordFromJson(RecordToJson({tree, {}, {}})).value();
  EXPECT_EQ(again.tree, tree);
  EXPECT_FALSE(IsFold(again.tree.nodes[1]));
}

TEST(RecordJson, NothingIsSaidOfThoughtsThatAreNotThere) {
  Tree tree;
  tree.task.id = "x";
  tree.nodes = {{.author = Author::kPolicy, .tokens = {1, 2, 3}}};
  const std::string without = DumpJson(RecordToJson({tree, {}, {}}));
  EXPECT_EQ(without.find("thought"), std::string::npos);
  tree.nodes[0].thoughts = {{0, 2}};
  tree.nodes[0].closed_thoughts = 1;
  const std::string with = DumpJson(RecordToJson({tree, {}, {}}));
  EXPECT_NE(with.find(R"("thoughts":[[0,2]],"closed_thoughts":1)"), std::string::npos) << with;
  EXPECT_EQ(RecordFromJson(*ParseJson(with))->tree, tree);
}

std::string ErrorOf(std::string_view text) {
  auto record = RecordFromJson(*ParseJson(text));
  return record.ok() ? "" : record.error().message();
}

TEST(RecordJson, ErrorsSayWhereAndWhat) {
  EXPECT_EQ(ErrorOf("[]"), "not a tree: \"format\": \"hone.tree\" is missing");
  EXPECT_EQ(ErrorOf(R"({"format":"hone.tree","version":9})"),
            "a tree of format version 9; this program reads version 1");
  const std::string head = R"({"format":"hone.tree","version":1,"task":{"id":"x"},"leaves":[],)";
  EXPECT_EQ(ErrorOf(head + R"("nodes":[{"author":"robot"}]})"),
            "nodes[0].author: \"robot\" is not one of system, user, policy, tool");
  EXPECT_EQ(
      ErrorOf(head +
              R"("nodes":[{"author":"policy","calls":[{"name":"f","arguments":{},"span":[1]}]}]})"),
      "nodes[0].calls[0].span: wants [begin, end]");
  EXPECT_EQ(ErrorOf(head + R"("nodes":[{"author":"policy","tokens":[1,"2"]}]})"),
            "nodes[0].tokens[1]: wants an integer, not a string");
  EXPECT_EQ(ErrorOf(head + R"("nodes":[{"author":"policy","logprob":[]}]})"),
            "nodes[0]: unknown key \"logprob\" (did you mean \"logprobs\"?)");
}

TEST(RecordJson, AVersionTheProgramDoesNotKnowIsTyped) {
  auto record = RecordFromJson(*ParseJson(R"({"format":"hone.tree","version":2})"));
  EXPECT_EQ(record.error().code(), ErrorCode::kVersion);
}

TEST(RecordJson, ATaskMayGiveAPromptOrMessages) {
  Task task;
  JsonErrors errors;
  ReadJson(*ParseJson(R"({"id":"a","prompt":"hi"})"), "task", &errors, &task);
  EXPECT_TRUE(errors.ok());
  EXPECT_EQ(DumpJson(task.messages), R"([{"role":"user","content":"hi"}])");
  ReadJson(*ParseJson(R"({"id":"a","prompt":"hi","messages":[]})"), "task", &errors, &task);
  EXPECT_FALSE(errors.ok());
}

}  // namespace
}  // namespace hone
