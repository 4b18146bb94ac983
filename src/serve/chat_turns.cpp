#include "serve/chat_turns.h"

#include <algorithm>

#include <fmt/format.h>

#include "engine/token_check.h"

namespace hone {
namespace {

constexpr size_t kMostKept = size_t{1} << 24;  // 64 MiB of ids

Ending EndingOf(const ChatChoice& choice) {
  const ParsedTurn& parsed = choice.turn.parsed();
  if (!choice.drawn.stopped) return Ending::kTokenLimit;
  if (parsed.answer) return Ending::kAnswered;
  if (!parsed.calls.empty()) return Ending::kInterrupted;  // nobody has answered them yet
  return parsed.faults.empty() ? Ending::kVoid : Ending::kInvalid;
}

// The fewer tokens of those that the server and the request want.
Result<std::optional<ThoughtLimiter>> ThoughtsOf(const ResponseContext& context,
                                                 const ServedChat& request) {
  ThoughtLimits limits{.tokens = context.thought_tokens};
  if (request.thought_tokens.value_or(-1) >= 0) {
    limits.tokens =
        std::min(*request.thought_tokens, limits.tokens.value_or(*request.thought_tokens));
  }
  if (!limits.any()) return std::optional<ThoughtLimiter>();
  Result<ThoughtLimiter> limiter =
      ThoughtLimiter::New(*context.model->dialect, *context.model->tokenizer, limits);
  if (limiter.ok()) return std::optional(*std::move(limiter));
  return Error(ErrorCode::kInvalidArgument,
               fmt::format("thinking_token_budget: {}", limiter.error().message()));
}

}  // namespace

Result<ChatDraw> DrawOf(const ResponseContext& context, ServedChat request) {
  const ServedModel& model = *context.model;
  const Json::Object& arguments = request.conversation.template_arguments;
  if (!arguments.empty() && !model.dialect->traits().takes_arguments) {
    return Error(
        ErrorCode::kInvalidArgument,
        fmt::format("chat_template_kwargs.{}: the dialect {} is no template and takes "
                    "enable_thinking alone; hone serve --dialect template uses the model's "
                    "own",
                    arguments[0].first, model.dialect->traits().name));
  }
  ChatDraw draw;
  if (context.recorder != nullptr) {
    HONE_ASSIGN_OR_RETURN(draw.place, context.recorder->Enter(request));
  } else {
    HONE_ASSIGN_OR_RETURN(draw.place.fresh, PromptNodes(*model.dialect, *model.tokenizer,
                                                        request.conversation, model.limit));
    for (const Node& node : draw.place.fresh) {
      draw.place.context.insert(draw.place.context.end(), node.tokens.begin(), node.tokens.end());
    }
  }
  HONE_ASSIGN_OR_RETURN(draw.most, RoomFor(context, request, "messages", draw.place.context.size(),
                                           context.max_tokens));
  HONE_RETURN_IF_ERROR(CheckTokens(model.config, draw.place.context));
  if (!request.form.any()) {
    const bool thinking = EndsInThought(*model.dialect, *model.tokenizer, draw.place.context);
    HONE_ASSIGN_OR_RETURN(draw.grammar,
                          GrammarOf(request.form, *model.dialect, *model.tokenizer, thinking));
  }
  HONE_ASSIGN_OR_RETURN(draw.thoughts, ThoughtsOf(context, request));
  draw.request = std::move(request);
  return draw;
}

// What may be drawn next by all rules there are; null: anything.
std::function<std::vector<TokenId>(std::span<const TokenId>)> ChatTurns::Allowed() const {
  std::function<std::vector<TokenId>(std::span<const TokenId>)> thoughts;
  if (thoughts_) thoughts = thoughts_->Allow(place_.context);
  if (grammar_ == nullptr) return thoughts;
  return [thoughts, form = std::make_shared<GrammarTurn>(grammar_, &context_.model->Tokens(),
                                                         context_.model->forbidden)](
             std::span<const TokenId> drawn) {
    // A form has its thought end somewhere: where a limit ends it, that is a way that it allows.
    std::vector<TokenId> next = thoughts ? thoughts(drawn) : std::vector<TokenId>();
    return next.empty() ? form->Allowed(drawn) : next;
  };
}

ChatTurns::ChatTurns(const ResponseContext& context, ChatDraw draw)
    : context_(context),
      request_(std::move(draw.request)),
      place_(std::move(draw.place)),
      most_(draw.most),
      grammar_(std::move(draw.grammar)),
      thoughts_(std::move(draw.thoughts)) {
  usage_.prompt = static_cast<int64_t>(place_.context.size());
  // The agent never speaks as somebody else, where that can be told by tokens.
  request_.sampling.forbidden_set = context_.model->forbidden.empty() ? 0 : 1;
  const Dialect* dialect = context_.model->dialect.get();
  const Tokenizer* tokenizer = context_.model->tokenizer.get();
  const bool thinking = EndsInThought(*dialect, *tokenizer, place_.context);
  for (int64_t i = 0; i < request_.n; ++i) {
    choices_.push_back({ServedTurn(dialect, tokenizer, request_.stops,
                                   {.thinking = thinking, .may_call = request_.may_call}),
                        {},
                        {}});
  }
}

std::vector<Batcher::Turn> ChatTurns::Turns() {
  const Tokenizer* tokenizer = context_.model->tokenizer.get();
  std::vector<std::string> stops = context_.model->dialect->traits().stops;
  std::vector<TokenId> stop_tokens;
  for (const std::string& stop : stops) {
    if (const auto token = tokenizer->FindAdded(stop)) stop_tokens.push_back(*token);
  }
  stops.insert(stops.end(), request_.stops.begin(), request_.stops.end());
  std::vector<Batcher::Turn> turns;
  for (int64_t i = 0; i < request_.n; ++i) {
    TurnRequest turn;
    turn.max_new = most_;
    turn.sampling = request_.sampling;
    turn.rng = ChoiceStream(context_.seed, i);
    turn.stop_tokens = stop_tokens;
    turn.stop = StopAtText(tokenizer, stops);
    turn.allow = Allowed();
    turn.likeliest = request_.top_logprobs;
    turn.supports = context_.recorder != nullptr;
    turns.push_back({place_.context, std::move(turn)});
  }
  return turns;
}

Result<std::string> ChatTurns::Tell(const BatchTicket::News& news) {
  ChatChoice& choice = choices_[news.turn];
  for (const Support& support : news.fresh.supports) kept_ += support.kept.size();
  if (kept_ > kMostKept) {
    return Error(ErrorCode::kInvalidArgument,
                 fmt::format("top_p: what may be drawn is recorded with every token, and these "
                             "settings let more than {} tokens be drawn in all; lower "
                             "temperature, top_p or max_tokens, or set top_k",
                             kMostKept));
  }
  AppendDrawn(news.fresh, &choice.drawn);
  usage_.completion += static_cast<int64_t>(news.fresh.tokens.size());
  // What nobody reads meanwhile is read once, at the end.
  if (!request_.stream) {
    if (news.ended) Read(&choice);
    return std::string();
  }
  const size_t first = choice.call_ids.size();
  TurnDelta delta = choice.turn.Feed(news.fresh.tokens);
  if (news.ended) {
    const TurnDelta last = choice.turn.Finish(choice.drawn.stopped);
    delta.content += last.content;
    delta.reasoning += last.reasoning;
    delta.calls.insert(delta.calls.end(), last.calls.begin(), last.calls.end());
  }
  NameCalls(news.turn, first + delta.calls.size());
  std::string events = choice.begun ? "" : Begin(news.turn);
  choice.begun = true;
  return events + Continue(news.turn, delta, first, news.fresh);
}

// Clients see such a call as an answer, and wait for nothing.
void ChatTurns::TellUnread() const {
  // An answer that must be JSON may well look like a call.
  const bool asked_for = request_.may_call && request_.form.any();
  if (!context_.unread || !asked_for || request_.conversation.tools.empty()) return;
  for (const ChatChoice& choice : choices_) {
    const ParsedTurn& parsed = choice.turn.parsed();
    if (!parsed.calls.empty()) continue;
    const std::optional<UnreadCall> unread =
        parsed.answer ? FindUnreadCall(*parsed.answer)
                      : FindUnreadCallInFaulty(choice.turn.told().content);
    if (unread) context_.unread(*unread);
  }
}

Result<std::string> ChatTurns::Finish() {
  TellUnread();
  if (context_.recorder != nullptr) HONE_RETURN_IF_ERROR(Record());
  return request_.stream ? End() : std::string();
}

void ChatTurns::Read(ChatChoice* choice) {
  choice->turn.Feed(choice->drawn.tokens);
  choice->turn.Finish(choice->drawn.stopped);
  NameCalls(static_cast<size_t>(choice - choices_.data()), choice->turn.told().calls.size());
}

void ChatTurns::NameCalls(size_t index, size_t count) {
  std::vector<std::string>& ids = choices_[index].call_ids;
  // The completion's own name without "chatcmpl-" or "resp_", which no other has.
  const std::string name = context_.head.id.substr(context_.head.id.find_first_of("-_") + 1);
  while (ids.size() < count) {
    ids.push_back(fmt::format("call_{}_{}_{}", name, index, ids.size()));
  }
}

Result<void> ChatTurns::Record() {
  std::vector<RecordedTurn> turns;
  for (const ChatChoice& choice : choices_) {
    RecordedTurn& turn = turns.emplace_back();
    Node& node = turn.node;
    node.author = Author::kPolicy;
    node.tokens = choice.drawn.tokens;
    node.logprobs = choice.drawn.logprobs;
    node.entropies = choice.drawn.entropies;
    const auto& supports = choice.drawn.supports;
    const bool whole = std::all_of(supports.begin(), supports.end(),
                                   [](const Support& one) { return one.kept.empty(); });
    if (!whole) node.supports = supports;
    node.sampling = request_.sampling;
    node.policy_version = context_.model->version;
    if (thoughts_) node.closed_thoughts = thoughts_->ClosedIn(node.tokens, place_.context);
    RecordTurn(*context_.model->tokenizer, choice.turn.parsed(), &node);
    turn.ending = EndingOf(choice);
    const ParsedTurn& parsed = choice.turn.parsed();
    turn.answer = parsed.answer ? Json(*parsed.answer) : Json();
    const TurnDelta& told = choice.turn.told();
    turn.message.role = Role::kAssistant;
    turn.message.content = told.content;
    for (const ParsedCall& call : told.calls) {
      turn.message.calls.push_back({call.name, call.arguments});
    }
    turn.call_ids = choice.call_ids;
  }
  const Result<void> added =
      context_.recorder->Add(request_, context_.seed, place_, context_.head.id, std::move(turns));
  if (added.ok()) return {};
  // Whatever it is, it is not the client's fault.
  return Error(ErrorCode::kIo,
               fmt::format("the turn could not be recorded: {}", added.error().message()));
}

}  // namespace hone
