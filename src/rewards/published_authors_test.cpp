// Published rewards against the programs of their authors, on random cases (tests/golden/credit).

#include <gtest/gtest.h>

#include "rewards/published.h"
#include "support/authors.h"

namespace hone {
namespace {

TEST(PublishedAuthors, ToolRlMatchesCalls) {
  int compared = 0;
  for (const Json& one : AuthorsCases("toolrl")) {
    std::vector<GoldCall> gold;
    for (const Json& call : MemberOf(one, "gold").AsArray()) {
      gold.emplace_back().name = MemberOf(call, "name").AsString();
      gold.back().arguments = MemberOf(call, "parameters");
    }
    std::vector<Call> made;
    for (const Json& call : MemberOf(one, "made").AsArray()) {
      made.push_back({MemberOf(call, "name").AsString(), MemberOf(call, "parameters"), {}});
    }
    std::vector<const Call*> calls;
    for (const Call& call : made) calls.push_back(&call);
    const double ours = ToolRl(calls, gold).correctness, theirs = NumberOf(one, "expected");
    EXPECT_TRUE(IsTheirs(ours, theirs)) << ours << " for " << DumpJson(one);
    ++compared;
  }
  EXPECT_EQ(compared, 400);
}

TEST(PublishedAuthors, DapoPunishesLength) {
  int compared = 0;
  for (const Json& one : AuthorsCases("dapo")) {
    const Json::Array& groups = MemberOf(one, "groups").AsArray();
    for (size_t g = 0; g < groups.size(); ++g) {
      const Json::Array& members = groups[g].AsArray();
      for (size_t m = 0; m < members.size(); ++m) {
        int64_t length = 0;
        for (const Json& turn : MemberOf(members[m], "turns").AsArray()) {
          length += MemberOf(turn, "tokens").AsInteger();
        }
        const double outcome = NumberOf(MemberOf(members[m], "terms"), "outcome"),
                     theirs = TheirsOf(one, "rewards").AsArray()[g].AsArray()[m].AsDouble();
        const double penalty = Overlong(length, MemberOf(one, "longest").AsInteger(),
                                        MemberOf(one, "cache").AsInteger());
        EXPECT_TRUE(IsTheirs(outcome + penalty, theirs)) << length;
        ++compared;
      }
    }
  }
  EXPECT_GE(compared, 300);
}

}  // namespace
}  // namespace hone
