#include "rollout/policy.h"

#include <algorithm>
#include <set>

#include <fmt/format.h>

#include "envs/rules.h"
#include "rollout/segment.h"

namespace hone {
namespace {

Node NodeOfPiece(const Tokenizer& tokenizer, const Piece& piece, std::span<const TokenId> before) {
  Node node;
  node.author = piece.author == Author::kPolicy ? Author::kSystem : piece.author;
  node.tokens = EncodePiece(tokenizer, piece, before);
  return node;
}

// A turn ends with one of them, or without.
std::string WithoutStops(std::string turn, const std::vector<std::string>& stops) {
  for (const std::string& stop : stops) {
    if (turn.ends_with(stop)) turn.resize(turn.size() - stop.size());
  }
  return turn;
}

bool SameCalls(const std::vector<Call>& a, const std::vector<Call>& b) {
  return std::equal(a.begin(), a.end(), b.begin(), b.end(), [](const Call& x, const Call& y) {
    return x.name == y.name && x.arguments == y.arguments;
  });
}

}  // namespace

TurnCodec::TurnCodec(const Dialect* dialect, const Tokenizer* tokenizer)
    : dialect_(dialect), tokenizer_(tokenizer) {
  auto stops = std::make_shared<Stops>();
  stops->texts = dialect->traits().stops;
  for (const std::string& stop : stops->texts) {
    stops->last_bytes.set(static_cast<unsigned char>(stop.back()));
    if (const std::optional<TokenId> token = tokenizer->FindAdded(stop)) {
      stop_tokens_.push_back(*token);
    }
  }
  stops_ = std::move(stops);
}

Result<TurnCodec> TurnCodec::New(const Dialect* dialect, const Tokenizer* tokenizer) {
  if (const Result<Appending> appending = AppendingOf(*dialect); !appending.ok()) {
    return Error(appending.error().code(),
                 fmt::format("the dialect {} cannot be used in a rollout: {}",
                             dialect->traits().name, appending.error().message()));
  }
  return TurnCodec(dialect, tokenizer);
}

Result<std::vector<Node>> TurnCodec::Prompt(const Opening& opening) const {
  HONE_ASSIGN_OR_RETURN(Conversation conversation, ConversationOf(opening));
  conversation.add_generation_prompt = true;
  HONE_ASSIGN_OR_RETURN(const std::vector<Piece> pieces, dialect_->Render(conversation));
  std::vector<Node> nodes;
  for (const Piece& piece : pieces) {
    const auto before = nodes.empty() ? std::span<const TokenId>() : nodes.back().tokens;
    Node node = NodeOfPiece(*tokenizer_, piece, before);
    if (!node.tokens.empty()) nodes.push_back(std::move(node));
  }
  if (nodes.empty()) return Error(ErrorCode::kInvalidArgument, "the opening has no messages");
  return nodes;
}

AgentTurn TurnCodec::ReadTurn(TurnEnd end, Node* node) const {
  ParsedTurn parsed = dialect_->Parse(tokenizer_->BytesOf(node->tokens), end);
  RecordTurn(*tokenizer_, parsed, node);
  AgentTurn turn;
  turn.thought = std::move(parsed.reasoning);
  turn.calls = node->calls;
  turn.faults = node->faults;
  turn.answer = std::move(parsed.answer);
  // Some vocabularies put a space before a text. It is none of the answer's.
  if (turn.answer && tokenizer_->PutsSpaces() && turn.answer->starts_with(' ')) {
    turn.answer->erase(0, 1);
  }
  turn.tokens = static_cast<int64_t>(node->tokens.size());
  return turn;
}

std::optional<UnreadCall> TurnCodec::UnreadIn(const AgentTurn& turn, const Node& node) const {
  if (!turn.calls.empty()) return std::nullopt;
  if (turn.answer) return FindUnreadCall(*turn.answer);
  if (turn.faults.empty()) return std::nullopt;
  return FindUnreadCallInFaulty(
      WithoutStops(tokenizer_->BytesOf(node.tokens), dialect_->traits().stops));
}

Result<Node> TurnCodec::After(const Node& turn, const AgentTurn& agent,
                              const EnvironmentTurn& environment) const {
  Conversation next;
  next.messages = MessagesAfter(agent, environment);
  if (next.messages.empty()) {
    return Error(ErrorCode::kInvalidArgument,
                 "the environment neither ended the episode nor said anything");
  }
  HONE_ASSIGN_OR_RETURN(const Piece piece,
                        dialect_->Continue(tokenizer_->BytesOf(turn.tokens), next));
  Node node = NodeOfPiece(*tokenizer_, piece, turn.tokens);
  node.author = agent.results.empty() ? Author::kUser : Author::kTool;
  node.results = agent.results;
  return node;
}

std::optional<Node> TurnCodec::AfterEnding(const AgentTurn& agent) {
  if (agent.results.empty()) return std::nullopt;
  Node node;
  node.author = Author::kTool;
  node.results = agent.results;
  return node;
}

Result<std::vector<TokenId>> TurnCodec::Spell(const Conversation& before,
                                              const AgentTurn& turn) const {
  const auto cannot = [&](std::string_view why) {
    return Error(ErrorCode::kUnsupported,
                 CannotSpellTurn(dialect_->traits(), !turn.calls.empty(), why));
  };
  if (!turn.faults.empty()) return cannot("it has faults");
  Conversation conversation = before;
  conversation.messages.push_back(MessageOf(turn));
  conversation.add_generation_prompt = false;
  HONE_ASSIGN_OR_RETURN(const std::vector<Piece> pieces, dialect_->Render(conversation));
  const auto last = std::find_if(pieces.rbegin(), pieces.rend(), [](const Piece& piece) {
    return piece.author == Author::kPolicy;
  });
  if (last == pieces.rend()) return cannot("it has no text");
  Node node;
  const auto index = static_cast<size_t>(pieces.rend() - last) - 1;
  node.tokens = EncodePieceAt(*tokenizer_, pieces, index);
  const AgentTurn read = ReadTurn(TurnEnd::kEnded, &node);
  if (!read.faults.empty()) return cannot(read.faults[0].message);
  if (!SameCalls(read.calls, turn.calls) || read.answer != turn.answer) {
    return cannot("it would be read as another one");
  }
  if (read.thought != turn.thought) {
    return cannot(read.thought.empty()
                      ? "it has a thought, which this dialect does not write there; choose one "
                        "that does, such as tagged:tapo or hermes:qwen3"
                      : "its thought would be read as another one");
  }
  return node.tokens;
}

std::function<bool(std::span<const TokenId>)> TurnCodec::StopFunction() const {
  // Also for stops that are tokens: a marker can be spelled out with other ones, and would be read.
  return [tokenizer = tokenizer_, stops = stops_](std::span<const TokenId> tokens) {
    const std::string_view last = tokenizer->TokenBytes(tokens.back());
    const bool may_end = std::any_of(last.begin(), last.end(), [&](char byte) {
      return stops->last_bytes.test(static_cast<unsigned char>(byte));
    });
    if (!may_end) return false;  // so it is for most tokens, and all are asked about
    for (const std::string& stop : stops->texts) {
      if (last.find(stop.back()) == std::string_view::npos) continue;
      size_t from = tokens.size() - 1, bytes = 0;
      while (from > 0 && bytes < stop.size()) bytes += tokenizer->TokenBytes(tokens[--from]).size();
      if (tokenizer->BytesOf(tokens.subspan(from)).find(stop) != std::string::npos) return true;
    }
    return false;
  };
}

Result<Conversation> ConversationOf(const Opening& opening) {
  return ConversationFromJson(Json::Of({{"messages", opening.messages}, {"tools", opening.tools}}));
}

Message MessageOf(const AgentTurn& turn) {
  Message message{.role = Role::kAssistant, .content = turn.answer.value_or("")};
  if (!turn.thought.empty()) message.reasoning = turn.thought;
  for (const Call& call : turn.calls) message.calls.push_back({call.name, call.arguments});
  return message;
}

std::vector<Message> MessagesAfter(const AgentTurn& agent, const EnvironmentTurn& environment) {
  std::vector<Message> messages;
  for (const ToolResult& result : agent.results) {
    messages.push_back({.role = Role::kTool,
                        .content = result.content,
                        .name = agent.calls[static_cast<size_t>(result.call)].name});
  }
  for (const std::string& notice : environment.notices) {
    const bool own = std::any_of(agent.faults.begin(), agent.faults.end(),
                                 [&](const Fault& fault) { return FaultNotice(fault) == notice; });
    messages.push_back({.role = Role::kUser, .content = notice, .own_words = own});
  }
  if (!environment.user.empty()) {
    messages.push_back({.role = Role::kUser, .content = environment.user});
  }
  return messages;
}

std::vector<TokenId> ForbiddenTokens(const Dialect& dialect, const Tokenizer& tokenizer,
                                     int64_t model_vocabulary) {
  std::set<TokenId> forbidden, own;
  const auto collect = [&](const Piece& piece, std::set<TokenId>* tokens) {
    for (const TokenId token : EncodePiece(tokenizer, piece)) {
      if (tokenizer.IsAdded(token)) tokens->insert(token);
    }
  };
  // What others say, and what the policy itself says where the dialect lets it say so.
  const Message user{.role = Role::kUser, .content = "a"};
  const Message system{.role = Role::kSystem, .content = "a"};
  const Message result{.role = Role::kTool, .content = "a", .name = "a"};
  const Message answer{.role = Role::kAssistant, .content = "a", .reasoning = "a"};
  const Message call{
      .role = Role::kAssistant, .reasoning = "a", .calls = {{"a", Json(Json::Object())}}};
  for (const Message& turn : {answer, call}) {
    Conversation conversation;
    conversation.messages = {system, user, turn};
    Result<std::vector<Piece>> pieces = dialect.Render(conversation);
    if (!pieces.ok()) {  // a dialect without thoughts, or without a call of that name
      conversation.messages.back().reasoning.reset();
      pieces = dialect.Render(conversation);
    }
    if (!pieces.ok()) continue;
    for (const Piece& piece : *pieces) {
      collect(piece, piece.author == Author::kPolicy ? &own : &forbidden);
    }
  }
  Conversation next;
  next.messages = {result, user};
  if (const Result<Piece> piece = dialect.Continue("a", next); piece.ok()) {
    collect(*piece, &forbidden);
  }
  for (const std::string& stop : dialect.traits().stops) {
    if (const std::optional<TokenId> token = tokenizer.FindAdded(stop)) own.insert(*token);
  }
  for (const TokenId token : own) forbidden.erase(token);
  for (int64_t id = 0; id < model_vocabulary; ++id) {
    if (!tokenizer.IsToken(id)) forbidden.insert(static_cast<TokenId>(id));
  }
  return {forbidden.begin(), forbidden.end()};
}

Result<Policy> Policy::New(Engine* engine, const Dialect* dialect, const Tokenizer* tokenizer,
                           const PolicyOptions& options) {
  HONE_ASSIGN_OR_RETURN(TurnCodec codec, TurnCodec::New(dialect, tokenizer));
  const auto bad = [](std::string problem) {
    return Error(ErrorCode::kInvalidArgument, std::move(problem));
  };
  const int64_t vocabulary = engine->config().vocab;
  if (tokenizer->vocab_size() > vocabulary) {
    return bad(fmt::format("the tokenizer has {} tokens, the model only {}",
                           tokenizer->vocab_size(), vocabulary));
  }
  if (options.max_turn_tokens < 1) return bad("a turn needs at least one token");
  PolicyOptions own = options;
  if (options.sampling.forbidden_set != 0 && engine->forbidden().empty()) {
    // A dialect whose markers of others are no tokens of their own forbids nothing.
    if (!ForbiddenTokens(*dialect, *tokenizer, vocabulary).empty()) {
      return bad("the sampling names a forbidden set, but the engine was opened without one");
    }
    own.sampling.forbidden_set = 0;
  }
  // An id that stands for nothing cannot be shown to anybody.
  const std::set<TokenId> forbidden(engine->forbidden().begin(), engine->forbidden().end());
  for (int64_t id = 0; id < vocabulary; ++id) {
    if (tokenizer->IsToken(id)) continue;
    if (options.sampling.forbidden_set == 0 || !forbidden.contains(static_cast<TokenId>(id))) {
      return bad(
          fmt::format("the model can draw id {}, which the tokenizer does not have: open the "
                      "engine with ForbiddenTokens and sample with forbidden_set = 1",
                      id));
    }
  }
  Policy policy(engine, std::move(codec), own);
  if (options.thoughts.any()) {
    HONE_ASSIGN_OR_RETURN(policy.thoughts_,
                          ThoughtLimiter::New(*dialect, *tokenizer, options.thoughts));
  }
  return policy;
}

Policy Policy::WithoutCalls(const ToolsAway& tools) const {
  Policy without = *this;
  without.no_calls_ =
      NoCalls::Of(codec_.dialect(), codec_.tokenizer(), engine_->forbidden(), tools);
  return without;
}

Sampling Policy::SamplingOf(bool greedy) const {
  if (!greedy) return options_.sampling;
  return {.temperature = 0, .forbidden_set = options_.sampling.forbidden_set};
}

TurnRequest Policy::RequestFor(const Rng& rng, std::span<const TokenId> before, bool greedy) const {
  TurnRequest request;
  request.max_new = options_.max_turn_tokens;
  request.sampling = SamplingOf(greedy);
  request.rng = rng;
  request.stop_tokens = codec_.stop_tokens();
  request.stop = codec_.StopFunction();
  if (thoughts_) request.allow = thoughts_->Allow(before);
  if (no_calls_ != nullptr) {
    request.allow = NoCalls::Within(no_calls_, std::move(request.allow));
    request.supports = false;  // almost the vocabulary for each token
  }
  return request;
}

Node Policy::NodeOf(SampleResult drawn, std::span<const TokenId> before, bool greedy) const {
  Node node;
  node.author = Author::kPolicy;
  node.tokens = std::move(drawn.tokens);
  node.logprobs = std::move(drawn.logprobs);
  node.entropies = std::move(drawn.entropies);
  node.supports = std::move(drawn.supports);
  node.sampling = SamplingOf(greedy);
  node.policy_version = options_.version;
  if (thoughts_) node.closed_thoughts = thoughts_->ClosedIn(node.tokens, before);
  return node;
}

std::string CannotSpellTurn(const DialectTraits& traits, bool calls, std::string_view why) {
  if (calls && traits.call_format == CallFormatName(CallFormat::kNone)) {
    return fmt::format(
        "the dialect {} cannot spell this turn: it calls a tool, and the model's own chat template "
        "writes no calls; put a template with tools into the model's folder as "
        "chat_template.jinja (such as examples/templates/tinyllama-tools.jinja), or choose "
        "another dialect (docs/dialects.md)",
        traits.name);
  }
  return fmt::format("the dialect {} cannot spell this turn: {}", traits.name, why);
}

}  // namespace hone
