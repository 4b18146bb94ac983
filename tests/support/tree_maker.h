#pragma once

#include <string>
#include <vector>

#include "record/tree.h"

namespace hone {

// Trees for tests: one user turn of three tokens, then as many trajectories as are begun.
//
//   TreeMaker maker;
//   maker.Begin().Call("weather", R"({"city": "Paris"})").Answer("Rain");
//
// A turn with a call has ten tokens, of which [2, 8) spell it, and is followed by a tool node of
// four tokens; an answer has five.
class TreeMaker {
 public:
  TreeMaker() {
    tree.task.id = "t";
    tree.nodes.push_back({kNoNode, Author::kUser, {1, 2, 3}});
  }

  TreeMaker& Begin() {
    last_ = 0;
    return *this;
  }

  TreeMaker& Call(const std::string& name, const std::string& arguments = "{}",
                  CallStatus status = CallStatus::kOk, const std::string& content = "ok",
                  Blame blame = Blame::kNone) {
    Turn(10);
    tree.nodes.back().calls.push_back({name, *ParseJson(arguments), {2, 8}});
    tree.nodes.push_back({last_, Author::kTool, std::vector<TokenId>(4, 7)});
    tree.nodes.back().results.push_back({0, status, blame, content, 1000000, 1});
    last_ = static_cast<NodeId>(tree.nodes.size()) - 1;
    return *this;
  }

  // A turn that could not be read.
  TreeMaker& Fault(FaultKind kind = FaultKind::kBadJson) {
    Turn(10);
    tree.nodes.back().faults.push_back({kind, "bad", {1, 9}});
    return *this;
  }

  TreeMaker& Answer(const std::string& text) {
    Turn(5);
    return End(Ending::kAnswered, Json::Of({{"answer", text}}));
  }

  TreeMaker& End(Ending ending, Json final_state = Json(), Blame blame = Blame::kNone) {
    tree.leaves.push_back({last_, ending, blame, std::move(final_state)});
    return *this;
  }

  Tree tree;

 private:
  void Turn(size_t tokens) {
    Node node{last_, Author::kPolicy, std::vector<TokenId>(tokens, 5)};
    node.logprobs.assign(tokens, -0.5f);
    node.entropies.assign(tokens, 0.5f);
    tree.nodes.push_back(std::move(node));
    last_ = static_cast<NodeId>(tree.nodes.size()) - 1;
  }

  NodeId last_ = 0;
};

}  // namespace hone
