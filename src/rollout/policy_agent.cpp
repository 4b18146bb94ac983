#include "rollout/policy_agent.h"

#include "rollout/segment.h"
#include "rollout/trajectory_path.h"

namespace hone {

PolicyAgent::PolicyAgent(const Policy* policy, uint64_t seed)
    : policy_(policy), seed_(seed), sampler_(policy->engine().NewSampler()) {}

PolicyAgent::~PolicyAgent() = default;

Result<void> PolicyAgent::Begin(const std::vector<Node>& nodes) {
  std::vector<TokenId> tokens;
  for (const Node& node : nodes) {
    tokens.insert(tokens.end(), node.tokens.begin(), node.tokens.end());
  }
  if (sequence_ >= 0) sampler_->Release(sequence_);
  sequence_ = sampler_->Start(std::move(tokens));
  return {};
}

Result<void> PolicyAgent::Hear(const PlayedTurn& turn) {
  const TurnCodec& codec = policy_->codec();
  said_ = Said(codec, said_, last_, turn.agent, turn.environment);
  const Result<Node> next = codec.After(last_, turn.agent, turn.environment);
  if (next.ok()) {
    sampler_->Append(sequence_, next->tokens);
    return {};
  }
  if (next.error().code() != ErrorCode::kUnsupported) return next.error();
  // The template writes what was said before otherwise now.
  HONE_ASSIGN_OR_RETURN(const std::vector<Node> segment, SegmentOf(codec, said_));
  ++segments_;
  return Begin(segment);
}

Result<AgentTurn> PolicyAgent::Next(const Opening& opening, const std::vector<PlayedTurn>& turns) {
  const TurnCodec& codec = policy_->codec();
  if (turns.empty()) {
    HONE_ASSIGN_OR_RETURN(said_, ConversationOf(opening));
    HONE_ASSIGN_OR_RETURN(const std::vector<Node> prompt, codec.Prompt(opening));
    HONE_RETURN_IF_ERROR(Begin(prompt));
  } else {
    HONE_RETURN_IF_ERROR(Hear(turns.back()));
  }
  const auto length = static_cast<int64_t>(sampler_->Tokens(sequence_).size());
  if (length >= policy_->engine().config().max_positions) {
    return Error(ErrorCode::kFull, "the conversation is as long as the model can read");
  }
  // As the scheduler of rollouts names its streams.
  Rng rng = Rng(seed_).Split("trajectory").Split(TrajectoryPath().Child(0).Text());
  if (segments_ > 0) rng = rng.Split("segment").Split(static_cast<uint64_t>(segments_));
  const std::vector<TokenId> before = sampler_->Tokens(sequence_);
  HONE_RETURN_IF_ERROR(sampler_->Generate(sequence_, policy_->RequestFor(rng, before)));
  while (sampler_->Step().empty()) {
  }
  SampleResult drawn = sampler_->Take(sequence_);
  const TurnEnd end = drawn.stopped ? TurnEnd::kEnded : TurnEnd::kCut;
  last_ = policy_->NodeOf(std::move(drawn), before);
  AgentTurn turn = codec.ReadTurn(end, &last_);
  turn.context_tokens = static_cast<int64_t>(sampler_->Tokens(sequence_).size());
  return turn;
}

AgentTurn PolicyAgent::Act(const Opening& opening, const std::vector<PlayedTurn>& turns) {
  Result<AgentTurn> turn = Next(opening, turns);
  if (turn.ok()) return *std::move(turn);
  problem_ = turn.error().message();
  if (turn.error().code() == ErrorCode::kFull) ending_ = Ending::kTokenLimit;
  return {};
}

}  // namespace hone
