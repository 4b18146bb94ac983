// SPEAR's replay against SPEAR's buffer, over random runs (tests/golden/credit).

#include <gtest/gtest.h>

#include <set>

#include "learn/self_imitation.h"
#include "support/authors.h"
#include "support/credit_groups.h"

namespace hone {
namespace {

// A group in which every member's only tokens are its number.
ShortGroup ReplayGroup(const Json& group) {
  Json::Array members;
  for (const Json& member : group.AsArray()) {
    const Json id = MemberOf(member, "id");
    Json::Object turn = {{"tokens", Json::Array{id, id}}};
    const std::string& call = MemberOf(member, "call").AsString();
    const Json span = Json::Array{Json::Of({{"begin", 0}, {"end", 1}})};
    if (call == "read") turn.emplace_back("calls", span);
    if (call == "unreadable") turn.emplace_back("faults", span);
    members.push_back(Json::Of({{"terms", Json::Of({{"outcome", MemberOf(member, "reward")}})},
                                {"turns", Json::Array{Json(std::move(turn))}}}));
  }
  return ReadShortForm(Json::Of({{"group", std::move(members)}})).value();
}

// What was taken, against the trajectories that theirs are a random choice of.
void ExpectTaken(const std::vector<TrainingGroup>& ours, const Json& theirs) {
  const Json& candidates = MemberOf(theirs, "candidates");
  EXPECT_EQ(static_cast<double>(ours.size()), NumberOf(theirs, "count"));
  std::set<std::string> seen;
  for (const TrainingGroup& group : ours) {
    ASSERT_EQ(group.sequences.size(), 1u);
    const std::string id = std::to_string(group.tree.nodes.back().tokens.front());
    EXPECT_TRUE(seen.insert(id).second) << "twice: " << id;
    const Json* advantage = candidates.Find(id);
    ASSERT_NE(advantage, nullptr) << id << " is none of " << DumpJson(candidates);
    EXPECT_TRUE(IsTheirs(group.sequences[0].advantages[0], advantage->AsDouble()))
        << group.sequences[0].advantages[0] << " and theirs " << DumpJson(*advantage);
  }
}

// Theirs is recipe/spear's copy, for tools; the other one (verl-agent) takes all trajectories,
// called or not.
TEST(AuthorsReplay, WhatIsTakenWhen) {
  int taken = 0, waited = 0;
  for (const Json& run : AuthorsCases("spear-replay")) {
    SCOPED_TRACE(DumpJson(run));
    SelfImitation replay({.on = true,
                          .capacity = MemberOf(run, "capacity").AsInteger(),
                          .divide_by_deviation = MemberOf(run, "divide_by_deviation").AsBool(),
                          .horizon = 1});
    for (const Json& one : MemberOf(run, "steps").AsArray()) {
      const int64_t step = MemberOf(one, "step").AsInteger();
      const std::vector<TrainingGroup> ours = replay.Take(step, Rng(5).Split(step));
      const Json& theirs = MemberOf(one, "taken");
      EXPECT_EQ(!ours.empty(), !theirs.is_null()) << "step " << step;
      // From here on the two would not have the same in their memories.
      if (ours.empty() != theirs.is_null()) break;
      if (!theirs.is_null()) ExpectTaken(ours, theirs);
      (theirs.is_null() ? waited : taken) += 1;
      for (const Json& group : MemberOf(one, "groups").AsArray()) {
        const ShortGroup made = ReplayGroup(group);
        replay.Add(made.record, CreditOf("dr-grpo", made), step);
      }
    }
  }
  EXPECT_GE(taken, 25);
  EXPECT_GE(waited, 100);
}

}  // namespace
}  // namespace hone
