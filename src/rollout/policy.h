#pragma once

#include <bitset>
#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "base/result.h"
#include "engine/engine.h"
#include "envs/environment.h"
#include "record/tree.h"
#include "rollout/no_calls.h"
#include "rollout/thought_limits.h"
#include "text/call_format.h"
#include "text/dialect.h"
#include "text/tokenizer.h"

// What speaks in a rollout, and how its words become tokens and back.

namespace hone {

// A conversation as nodes of a tree, in one dialect and with one tokenizer. Only ever appends: the
// tokens of earlier turns stay as they were drawn, whatever their text would be encoded to. Cheap
// to copy and thread-safe; the dialect and the tokenizer must outlive it.
class TurnCodec {
 public:
  // Fails for a dialect that cannot spell what follows a turn.
  static Result<TurnCodec> New(const Dialect* dialect, const Tokenizer* tokenizer);

  const Dialect& dialect() const { return *dialect_; }
  const Tokenizer& tokenizer() const { return *tokenizer_; }

  // The prompt, one node after the other, up to where the policy begins. Turns of an assistant that
  // stand in the opening are part of the prompt: no node is the policy's. Fails for messages that
  // the dialect cannot spell, and when there is nothing to say.
  Result<std::vector<Node>> Prompt(const Opening& opening) const;

  // Puts what the node's tokens say on the node (calls with their spans, faults), and returns it
  // for the environment: calls, faults, answer and the number of tokens.
  AgentTurn ReadTurn(TurnEnd end, Node* node) const;

  // The call that a turn without calls has in a format that the dialect does not read. It is no
  // part of the record: people are told of it, and of what to set (text/call_format.h).
  std::optional<UnreadCall> UnreadIn(const AgentTurn& turn, const Node& node) const;

  // What the context gets after a turn, up to where the policy goes on: the results of its calls,
  // the notices, what the user says. The node has the results; its parent is the caller's to set.
  // Fails when nothing of this is there; kUnsupported where a new segment must begin (segment.h).
  Result<Node> After(const Node& turn, const AgentTurn& agent,
                     const EnvironmentTurn& environment) const;
  // The same where nobody goes on: the results are on the record, but were never read by the
  // policy, so the node has no tokens. Nothing when there are no results.
  static std::optional<Node> AfterEnding(const AgentTurn& agent);

  // The tokens of a turn that was not drawn but is known: as the dialect spells it behind this
  // conversation, with its end marker. Fails for what the dialect cannot spell, or would not read
  // back as the same turn.
  Result<std::vector<TokenId>> Spell(const Conversation& before, const AgentTurn& turn) const;

  // How a turn that is being drawn ends.
  const std::vector<TokenId>& stop_tokens() const { return stop_tokens_; }
  // True when the last of these tokens completes a stop string; null when stop_tokens says it all.
  std::function<bool(std::span<const TokenId>)> StopFunction() const;

 private:
  TurnCodec(const Dialect* dialect, const Tokenizer* tokenizer);

  const Dialect* dialect_;
  const Tokenizer* tokenizer_;
  std::vector<TokenId> stop_tokens_;
  struct Stops {
    std::vector<std::string> texts;
    std::bitset<256> last_bytes;  // of the texts
  };
  std::shared_ptr<const Stops> stops_;  // every turn that is drawn looks for them
};

// The same things as messages.
Result<Conversation> ConversationOf(const Opening& opening);
Message MessageOf(const AgentTurn& turn);
std::vector<Message> MessagesAfter(const AgentTurn& agent, const EnvironmentTurn& environment);

// Tokens that no agent may write: ids of the model's vocabulary that stand for nothing, and the
// markers with which the dialect lets others speak (<user>, <tool_response>, ...). For
// Engine::Options::forbidden, where Sampling::forbidden_set 1 stands for them.
std::vector<TokenId> ForbiddenTokens(const Dialect& dialect, const Tokenizer& tokenizer,
                                     int64_t model_vocabulary);

struct PolicyOptions {
  Sampling sampling;              // temperature 0 is greedy and never trained on
  int64_t max_turn_tokens = 256;  // a longer turn is cut off
  ThoughtLimits thoughts;
  int64_t version = 0;  // of the weights; goes onto every node
};

// A model that takes turns.
class Policy {
 public:
  // Checks that they fit each other: a dialect for turns, a tokenizer no larger than the
  // model's vocabulary, sampling settings that exist, and no way to draw an id that stands for
  // nothing. All must outlive the policy.
  static Result<Policy> New(Engine* engine, const Dialect* dialect, const Tokenizer* tokenizer,
                            const PolicyOptions& options);

  Engine& engine() const { return *engine_; }
  const TurnCodec& codec() const { return codec_; }
  const PolicyOptions& options() const { return options_; }

  // The same policy with tools taken away (no_calls.h). Which tokens could have been drawn is not
  // on its turns, so they are not to be trained on.
  Policy WithoutCalls(const ToolsAway& tools = {}) const;
  const NoCalls* no_calls() const { return no_calls_.get(); }  // null: it may call

  // How a turn behind these tokens is drawn in the trajectory with this stream: as the options say,
  // or greedily.
  TurnRequest RequestFor(const Rng& rng, std::span<const TokenId> before,
                         bool greedy = false) const;
  // The turn that was drawn behind these tokens as a node, without parent and without what it says
  // (TurnCodec::ReadTurn).
  Node NodeOf(SampleResult drawn, std::span<const TokenId> before, bool greedy = false) const;

 private:
  Policy(Engine* engine, TurnCodec codec, const PolicyOptions& options)
      : engine_(engine), codec_(std::move(codec)), options_(options) {}

  Sampling SamplingOf(bool greedy) const;

  Engine* engine_;
  TurnCodec codec_;
  PolicyOptions options_;
  std::optional<ThoughtLimiter> thoughts_;  // where there are limits
  std::shared_ptr<const NoCalls> no_calls_;
};

// That the dialect cannot spell a turn, and why. Of a turn with calls where a model's own template
// writes none, also what to do.
std::string CannotSpellTurn(const DialectTraits& traits, bool calls, std::string_view why);

}  // namespace hone
