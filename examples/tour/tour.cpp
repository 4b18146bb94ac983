// Records a group of three samples of one task the way a rollout does, by hand: which tokens were
// added by whom, what was called, what came back, what it was worth. Read it beside record/tree.h.
//
//   hone_tour TOKENIZER CONVERSATION RUN
//
// writes RUN/store.sqlite with one tree and RUN/tokenizer.json; `hone show RUN` prints it. The
// policy here is a script, so every token it "draws" has probability one.

#include <cstdio>
#include <filesystem>

#include "base/file.h"
#include "record/store.h"
#include "text/dialect.h"

namespace hone {
namespace {

// A turn of the policy: the tokens as drawn, then what they say.
NodeId AddPolicyTurn(Tree* tree, NodeId parent, const std::string& text, const Dialect& dialect,
                     const Tokenizer& tokenizer) {
  Node node;
  node.parent = parent;
  node.author = Author::kPolicy;
  node.tokens = tokenizer.Encode(text);
  node.logprobs.assign(node.tokens.size(), 0.0f);
  node.entropies.assign(node.tokens.size(), 0.0f);
  RecordTurn(tokenizer, dialect.Parse(text, TurnEnd::kEnded), &node);
  tree->nodes.push_back(std::move(node));
  return static_cast<NodeId>(tree->nodes.size()) - 1;
}

// What the tool returned, rendered so that the policy can go on: an addition, never a rewrite.
Result<NodeId> AddToolResult(Tree* tree, NodeId parent, const std::string& turn, ToolResult result,
                             const Dialect& dialect, const Tokenizer& tokenizer) {
  Conversation next;
  next.messages.push_back({.role = Role::kTool, .content = result.content, .name = "weather"});
  HONE_ASSIGN_OR_RETURN(const Piece piece, dialect.Continue(turn, next));
  Node node;
  node.parent = parent;
  node.author = Author::kTool;
  node.tokens = EncodePiece(tokenizer, piece);
  node.results = {std::move(result)};
  tree->nodes.push_back(std::move(node));
  return static_cast<NodeId>(tree->nodes.size()) - 1;
}

std::string CallTurn(const std::string& arguments) {
  return "<tool_call>\n{\"name\": \"weather\", \"arguments\": " + arguments +
         "}\n</tool_call><|im_end|>";
}

// The ToolPO advantages of the group: the outcome's, on every token of the policy's, plus the
// calls' on the tokens that spelled a call (both relative to the group's mean).
std::vector<Advantages> ToolPo(const Tree& tree, const std::vector<double>& outcome,
                               const std::vector<double>& action) {
  double mean_outcome = 0, mean_action = 0;
  for (size_t i = 0; i < outcome.size(); ++i) {
    mean_outcome += outcome[i] / static_cast<double>(outcome.size());
    mean_action += action[i] / static_cast<double>(action.size());
  }
  std::vector<Advantages> advantages;
  for (size_t leaf = 0; leaf < tree.leaves.size(); ++leaf) {
    Advantages credit{static_cast<int32_t>(leaf), {}};
    for (const NodeId id : WholePathTo(tree, tree.leaves[leaf].node)) {
      const Node& node = tree.nodes[id];
      if (node.author != Author::kPolicy) continue;
      for (int32_t t = 0; t < static_cast<int32_t>(node.tokens.size()); ++t) {
        double value = outcome[leaf] - mean_outcome;
        for (const Call& call : node.calls) {
          if (t >= call.span.begin && t < call.span.end) value += action[leaf] - mean_action;
        }
        credit.values.push_back(static_cast<float>(value));
      }
    }
    advantages.push_back(std::move(credit));
  }
  return advantages;
}

Result<void> Run(const std::filesystem::path& tokenizer_path,
                 const std::filesystem::path& conversation, const std::filesystem::path& run) {
  HONE_ASSIGN_OR_RETURN(const Tokenizer tokenizer, Tokenizer::Load(tokenizer_path));
  HONE_ASSIGN_OR_RETURN(const auto dialect, NewDialect("hermes"));
  HONE_ASSIGN_OR_RETURN(const std::string text, ReadFile(conversation));
  HONE_ASSIGN_OR_RETURN(const Json json, ParseJson(text));
  HONE_ASSIGN_OR_RETURN(const Conversation opening, ConversationFromJson(json));
  HONE_ASSIGN_OR_RETURN(const std::vector<Piece> pieces, dialect->Render(opening));

  ScoredTree record;
  Tree& tree = record.tree;
  tree.task.id = "rain-in-paris";
  tree.task.messages = *json.Find("messages");
  tree.task.tools = *json.Find("tools");
  tree.task.answer = "Yes.";
  for (const Piece& piece : pieces) {  // the prompt, shared by all samples
    Node node;
    node.parent = static_cast<NodeId>(tree.nodes.size()) - 1;
    node.author = piece.author;
    node.tokens = EncodePiece(tokenizer, piece);
    tree.nodes.push_back(std::move(node));
  }
  const NodeId prompt = static_cast<NodeId>(tree.nodes.size()) - 1;

  // Sample 1: the right call, the right answer.
  const std::string right = CallTurn(R"({"city": "Paris", "day": "tomorrow"})");
  const NodeId call = AddPolicyTurn(&tree, prompt, right, *dialect, tokenizer);
  HONE_ASSIGN_OR_RETURN(
      const NodeId rain,
      AddToolResult(&tree, call, right, {.call = 0, .content = R"({"sky": "rain", "temp": 14})"},
                    *dialect, tokenizer));
  const NodeId yes = AddPolicyTurn(&tree, rain, "Yes.<|im_end|>", *dialect, tokenizer);
  // Sample 2 branches off after the same result and misreads it.
  const NodeId no = AddPolicyTurn(&tree, rain, "No, it stays dry.<|im_end|>", *dialect, tokenizer);
  // Sample 3 forgets the day.
  const std::string wrong = CallTurn(R"({"city": "Paris"})");
  const NodeId bad_call = AddPolicyTurn(&tree, prompt, wrong, *dialect, tokenizer);
  HONE_ASSIGN_OR_RETURN(const NodeId refused,
                        AddToolResult(&tree, bad_call, wrong,
                                      {.call = 0,
                                       .status = CallStatus::kInvalidArguments,
                                       .blame = Blame::kAgent,
                                       .content = R"({"error": "\"day\" is missing"})"},
                                      *dialect, tokenizer));
  const NodeId gave_up =
      AddPolicyTurn(&tree, refused, "I do not know.<|im_end|>", *dialect, tokenizer);
  tree.leaves = {{.node = yes}, {.node = no}, {.node = gave_up}};

  const Span good_span = tree.nodes[call].calls.at(0).span,
             bad_span = tree.nodes[bad_call].calls.at(0).span;
  record.scores = {
      {0, {{"outcome", 1.0, 10.0, kNoNode, {}}, {"arguments", 1.0, 1.0, call, good_span}}},
      {1, {{"outcome", -0.5, 1.0, kNoNode, {}}, {"arguments", 1.0, 1.0, call, good_span}}},
      {2, {{"outcome", -0.5, 1.0, kNoNode, {}}, {"arguments", -0.5, 1.0, bad_call, bad_span}}}};
  record.advantages = ToolPo(tree, {1, 0, 0}, {1, 1, 0});

  std::filesystem::create_directories(run);
  HONE_RETURN_IF_ERROR(WriteFileAtomic(run / "tokenizer.json", tokenizer.ToJson()));
  HONE_ASSIGN_OR_RETURN(const auto store, RunStore::Open(run / "store.sqlite"));
  HONE_RETURN_IF_ERROR(store->DropStepsFrom(0));  // so that the tour can be taken again
  HONE_RETURN_IF_ERROR(store->AddTree(0, record));
  return {};
}

}  // namespace
}  // namespace hone

int main(int argc, char** argv) {
  if (argc != 4) {
    std::fprintf(stderr, "usage: hone_tour TOKENIZER CONVERSATION RUN\n");
    return 2;
  }
  const hone::Result<void> done = hone::Run(argv[1], argv[2], argv[3]);
  if (done.ok()) return 0;
  std::fprintf(stderr, "hone_tour: %s\n", done.error().message().c_str());
  return 1;
}
