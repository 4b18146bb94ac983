#include "rollout/no_calls.h"

#include <algorithm>
#include <iterator>
#include <utility>

#include "text/call_format.h"

namespace hone {
namespace {

constexpr std::string_view kDenied = "this tool cannot be called here: go on without it, or answer";

// The openings that stand in a call as the dialect writes it.
std::set<std::string> OpeningsIn(const Dialect& dialect, std::span<const MessageCall> calls) {
  std::set<std::string> found;
  for (const MessageCall& call : calls) {
    Conversation conversation;
    conversation.messages = {{.role = Role::kUser, .content = "a"},
                             {.role = Role::kAssistant, .calls = {call}}};
    const Result<std::vector<Piece>> pieces = dialect.Render(conversation);
    if (!pieces.ok()) continue;
    for (const Piece& piece : *pieces) {
      if (piece.author != Author::kPolicy) continue;
      for (const std::string& open : dialect.traits().marks.call_opens) {
        if (piece.text.find(open) != std::string::npos) found.insert(open);
      }
    }
  }
  return found;
}

// Those that begin calls of the tools that are taken away, and of no other.
std::vector<std::string> OpeningsOf(const Dialect& dialect, const ToolsAway& tools) {
  if (tools.away.empty()) return dialect.traits().marks.call_opens;
  std::set<std::string> own = OpeningsIn(dialect, tools.away);
  for (const std::string& shared : OpeningsIn(dialect, tools.others)) own.erase(shared);
  return {own.begin(), own.end()};
}

bool SpellsCallsByOpening(const DialectTraits& traits) {
  if (traits.call_format == CallFormatName(CallFormat::kNone)) return true;  // there are no calls
  const TurnMarks& marks = traits.marks;
  return !marks.call_opens.empty() && !marks.bare_calls && !marks.json_calls;
}

}  // namespace

std::shared_ptr<const NoCalls> NoCalls::Of(const Dialect& dialect, const Tokenizer& tokenizer,
                                           std::span<const TokenId> never, const ToolsAway& tools) {
  auto made = std::make_shared<NoCalls>();
  made->tokenizer_ = &tokenizer;
  for (const MessageCall& call : tools.away) made->tools_.insert(call.name);
  const std::vector<std::string> opens = OpeningsOf(dialect, tools);
  made->certain_ = SpellsCallsByOpening(dialect.traits()) && (tools.away.empty() || !opens.empty());
  const std::set<TokenId> forbidden(never.begin(), never.end());
  for (TokenId token = 0; token < tokenizer.vocab_size(); ++token) {
    if (!tokenizer.IsToken(token) || forbidden.contains(token)) continue;
    const std::string_view bytes = tokenizer.TokenBytes(token);
    const bool opening = std::any_of(opens.begin(), opens.end(), [&](const std::string& open) {
      return bytes.find(open) != std::string_view::npos;
    });
    if (!opening) made->usual_.push_back(token);
  }
  for (const std::string& open : opens) {
    for (size_t at = 1; at < open.size(); ++at) {
      Completion completion{.before = open.substr(0, at), .tokens = {}};
      const std::string_view rest = std::string_view(open).substr(at);
      std::copy_if(made->usual_.begin(), made->usual_.end(), std::back_inserter(completion.tokens),
                   [&](TokenId token) { return tokenizer.TokenBytes(token).starts_with(rest); });
      if (completion.tokens.empty()) continue;
      made->longest_ = std::max(made->longest_, at);
      made->completions_.push_back(std::move(completion));
    }
  }
  return made;
}

std::vector<TokenId> NoCalls::Allowed(std::span<const TokenId> drawn) const {
  size_t from = drawn.size(), bytes = 0;
  while (from > 0 && bytes < longest_) bytes += tokenizer_->TokenBytes(drawn[--from]).size();
  const std::string text = tokenizer_->BytesOf(drawn.subspan(from));
  std::vector<TokenId> allowed = usual_;
  for (const Completion& one : completions_) {
    if (!text.ends_with(one.before)) continue;
    std::vector<TokenId> left;
    std::set_difference(allowed.begin(), allowed.end(), one.tokens.begin(), one.tokens.end(),
                        std::back_inserter(left));
    allowed = std::move(left);
  }
  return allowed;
}

NoCalls::Allow NoCalls::Within(std::shared_ptr<const NoCalls> no_calls, Allow other) {
  return [no_calls = std::move(no_calls),
          other = std::move(other)](std::span<const TokenId> drawn) -> std::vector<TokenId> {
    std::vector<TokenId> first = other ? other(drawn) : std::vector<TokenId>();
    std::vector<TokenId> own = no_calls->Allowed(drawn);
    if (first.empty()) return own;
    std::vector<TokenId> both;
    std::set_intersection(first.begin(), first.end(), own.begin(), own.end(),
                          std::back_inserter(both));
    return both.empty() ? first : both;
  };
}

void NoCalls::Hide(Json* tools) const {
  if (certain_ || !tools->is_array()) return;
  Json::Array shown;
  for (const Json& tool : tools->AsArray()) {
    const Json* function = tool.Find("function");
    const Json* name = (function != nullptr ? *function : tool).Find("name");
    const bool away = tools_.empty() ||
                      (name != nullptr && name->is_string() && tools_.contains(name->AsString()));
    if (!away) shown.push_back(tool);
  }
  *tools = std::move(shown);
}

void NoCalls::Deny(AgentTurn* turn, const std::set<std::string>& tools) {
  std::vector<Call> left;
  for (Call& call : turn->calls) {
    if (tools.empty() || tools.contains(call.name)) {
      turn->faults.push_back({FaultKind::kUnexpectedText, std::string(kDenied), call.span});
    } else {
      left.push_back(std::move(call));
    }
  }
  if (left.size() < turn->calls.size()) turn->answer.reset();
  turn->calls = std::move(left);
}

}  // namespace hone
