#include "learn/imitation_check.h"

#include <algorithm>
#include <numbers>
#include <numeric>

#include "learn/batches.h"
#include "learn/sft.h"

namespace hone {
namespace {

void AddLoss(const Policy& policy, std::span<const Tree> trees, int64_t call_tokens,
             ImitationFigures* figures) {
  std::vector<Tree> bare;
  std::vector<int64_t> tokens;
  for (const Tree& tree : trees) {
    bare.push_back(ForImitation(tree));
    tokens.push_back(CountTokens(bare.back()));
  }
  std::vector<size_t> order(bare.size());
  std::iota(order.begin(), order.end(), size_t{0});
  double sum = 0;
  const Tokenizer& tokenizer = policy.codec().tokenizer();
  for (const std::vector<size_t>& call : PackByTokens(order, tokens, call_tokens)) {
    const std::span<const Tree> part(&bare[call.front()], call.size());
    const std::vector<TreeLogprobs> said = policy.engine().LogProbs(part);
    for (size_t i = 0; i < part.size(); ++i) {
      for (size_t n = 0; n < part[i].nodes.size(); ++n) {
        const Node& node = part[i].nodes[n];
        if (node.author != Author::kPolicy) continue;
        // The first token of a root has no prediction.
        const size_t first = node.parent == kNoNode ? 1 : 0;
        for (size_t t = first; t < node.tokens.size(); ++t) sum -= said[i][n].logprobs[t];
        figures->tokens += static_cast<int64_t>(node.tokens.size() - first);
        for (size_t t = first; t < node.tokens.size(); ++t) {
          if (tokenizer.IsSpecial(node.tokens[t])) continue;
          figures->bytes += std::ssize(tokenizer.TokenBytes(node.tokens[t]));
        }
      }
    }
  }
  if (figures->tokens > 0) figures->loss = sum / static_cast<double>(figures->tokens);
}

bool Same(const std::vector<Call>& a, const std::vector<Call>& b, bool arguments) {
  return std::equal(a.begin(), a.end(), b.begin(), b.end(), [&](const Call& x, const Call& y) {
    return x.name == y.name && (!arguments || x.arguments == y.arguments);
  });
}

}  // namespace

double ImitationFigures::BitsPerByte() const {
  if (bytes == 0) return 0;
  return loss * static_cast<double>(tokens) / static_cast<double>(bytes) / std::numbers::ln2;
}

void ImitationFigures::Add(const ImitationFigures& other) {
  const double sum =
      loss * static_cast<double>(tokens) + other.loss * static_cast<double>(other.tokens);
  tokens += other.tokens;
  loss = tokens == 0 ? 0 : sum / static_cast<double>(tokens);
  bytes += other.bytes;
  calling += other.calling;
  right_tools += other.right_tools;
  right_calls += other.right_calls;
  answering += other.answering;
  without_calls += other.without_calls;
  same_answers += other.same_answers;
}

Result<ImitationFigures> MeasureImitation(const Policy& policy, std::span<const Tree> trees,
                                          int64_t call_tokens, int64_t turns) {
  ImitationFigures figures;
  AddLoss(policy, trees, call_tokens, &figures);
  std::vector<SampleRequest> requests;
  std::vector<const Node*> wanted;
  const auto positions = policy.engine().config().max_positions;
  for (const Tree& tree : trees) {
    for (const Node& node : tree.nodes) {
      if (node.author != Author::kPolicy || std::ssize(requests) >= turns) continue;
      if (node.parent == kNoNode) continue;  // nothing was said before it
      SampleRequest request;
      request.prompt = TokensOf(tree, PathTo(tree, node.parent));
      static_cast<TurnRequest&>(request) =
          policy.RequestFor(Rng(0), request.prompt, /*greedy=*/true);
      request.max_new = std::min(request.max_new, positions - std::ssize(request.prompt));
      if (request.max_new < 1) continue;
      requests.push_back(std::move(request));
      wanted.push_back(&node);
    }
  }
  if (requests.empty()) return figures;
  HONE_ASSIGN_OR_RETURN(std::vector<SampleResult> drawn, policy.engine().Sample(requests));
  for (size_t i = 0; i < drawn.size(); ++i) {
    Node node = policy.NodeOf(std::move(drawn[i]), requests[i].prompt, /*greedy=*/true);
    policy.codec().ReadTurn(TurnEnd::kUnknown, &node);
    if (wanted[i]->calls.empty()) {
      ++figures.answering;
      if (node.calls.empty() && node.faults.empty()) ++figures.without_calls;
      if (node.tokens == wanted[i]->tokens) ++figures.same_answers;
      continue;
    }
    ++figures.calling;
    if (Same(node.calls, wanted[i]->calls, false)) ++figures.right_tools;
    if (Same(node.calls, wanted[i]->calls, true)) ++figures.right_calls;
  }
  return figures;
}

}  // namespace hone
