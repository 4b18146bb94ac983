#pragma once

#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"
#include "record/tree.h"
#include "text/conversation.h"
#include "text/reserved_tokens.h"
#include "text/tokenizer.h"

// A dialect is how a model family writes a conversation with tools down: which markers stand around
// the messages, how a call is spelled, when a turn ends. It turns messages into text for the policy
// to read and the policy's turn into calls, an answer or a typed fault.
//
// Rendering only ever appends: what was rendered for n messages is a prefix of what is rendered for
// n + 1. A dialect that cannot promise this for some conversation says so with an error, so that
// the caller can start a new segment; it never rewrites history silently.

namespace hone {

// Text with one author, to become one node of the tree.
struct Piece {
  Author author = Author::kSystem;
  std::string text;
  // Parts that come from messages and tools. Special tokens and what the dialect reserves are not
  // recognised in them, so nobody can end a turn, speak as the system or make up a tool's result by
  // writing its marker.
  std::vector<ByteRange> literal;
  std::shared_ptr<const ReservedTokens> reserved;  // the dialect's; null: special tokens only
  std::vector<ByteRange> own_words;                // in which only special tokens are kept out
};

// The ids of a piece that stands behind the tokens `before`: some vocabularies put a space before a
// text, but not into the middle of one.
std::vector<TokenId> EncodePiece(const Tokenizer& tokenizer, const Piece& piece,
                                 std::span<const TokenId> before = {});
// The ids of pieces[index] behind the pieces before it.
std::vector<TokenId> EncodePieceAt(const Tokenizer& tokenizer, std::span<const Piece> pieces,
                                   size_t index);
// Piece by piece, as nodes are: nothing merges across their edges.
std::vector<TokenId> EncodePieces(const Tokenizer& tokenizer, const std::vector<Piece>& pieces);

// What is known about how a policy's turn came to its end.
enum class TurnEnd {
  kEnded,    // the policy ended it: end-of-turn token or stop string
  kCut,      // a limit ended it
  kUnknown,  // only the text is known; a trailing piece of a marker counts as cut off
};

struct ParsedCall {
  std::string name;
  Json arguments;   // an object
  ByteRange range;  // of the turn, opening to closing marker
  // Inside of it, where the format has them in one piece and its reader tells; else empty.
  ByteRange name_range = {};
  ByteRange arguments_range = {};
};

struct ParsedFault {
  FaultKind kind;
  std::string message;
  ByteRange range;
};

// What a policy turn says. With a fault, what could be read beside it is still there.
struct ParsedTurn {
  std::string reasoning;              // inside think markers
  std::string content;                // text beside the calls
  std::vector<ParsedCall> calls;      // in the order written
  std::optional<std::string> answer;  // present when the turn answers instead of calling
  std::vector<ParsedFault> faults;
  std::vector<ByteRange> thoughts;  // where the reasoning stands, markers included, in order
};

// Puts what was parsed from the node's own tokens on the node, byte ranges turned into token spans.
void RecordTurn(const Tokenizer& tokenizer, const ParsedTurn& turn, Node* node);

// How a turn is laid out, for those who read it while it is being written. Empty: there is none.
struct TurnMarks {
  std::vector<std::string> ends;        // the stops that are no part of what the turn says
  std::string think_open, think_close;  // around thought, at the beginning of a turn
  bool thinks_again = false;            // more thoughts may follow the first
  std::string answer_open, answer_close;
  std::vector<std::string> call_opens;  // what a call begins with
  // Of which one ends every call. Empty: anything may; with json_arguments, a bracket or a fence
  // outside of JSON's texts.
  std::vector<std::string> call_closes;
  bool json_arguments = false;
  bool json_calls = false;  // a turn that is a JSON object may be a call as well
  // A turn without one of call_opens may be calls as a whole: one that begins with one of these
  // characters, or, where there are none, any.
  bool bare_calls = false;
  std::string bare_first;
  bool whole_only = false;  // what is answered is not known before the turn has ended
};

struct DialectTraits {
  std::string name;
  // Generation stops as soon as one of these has been written; it belongs to the turn.
  std::vector<std::string> stops;
  // Strings that a tokenizer made for this dialect has as added tokens, so that the spans of calls
  // fall on token boundaries. The first `specials` of them are control tokens.
  std::vector<std::string> markers;
  size_t specials = 0;
  TurnMarks marks;
  // How the calls of a model's own template are spelled (call_format.h), and how that was found;
  // for people. Empty where the dialect has its own way.
  std::string call_format = {};
  std::string call_format_found = {};
  bool takes_arguments = false;  // Conversation::template_arguments
};

// Its markers, for a tokenizer that is made for it.
std::vector<AddedToken> AddedTokensOf(const DialectTraits& traits);

// What a dialect with these traits reserves: all its markers and stops.
ReservedTokens ReservedBy(const DialectTraits& traits);

// Immutable and thread-safe.
class Dialect {
 public:
  virtual ~Dialect() = default;

  virtual const DialectTraits& traits() const = 0;

  // The conversation from its beginning. Assistant messages become pieces by the policy: the turns
  // it would have written. Fails for what the dialect cannot spell.
  virtual Result<std::vector<Piece>> Render(const Conversation& conversation) const = 0;

  // What follows a turn that the policy wrote (exactly `turn`), up to where the policy goes on:
  // `next` holds the results of all its calls, or a user's message, or both.
  virtual Result<Piece> Continue(std::string_view turn, const Conversation& next) const = 0;

  // Reads a policy turn. The bytes are the turn's tokens' bytes and need not be UTF-8.
  virtual ParsedTurn Parse(std::string_view turn, TurnEnd end) const = 0;

  // The chat template in Jinja that goes with an exported model: with the same `messages`, `tools`,
  // `add_generation_prompt` (absent counts as false) and `enable_thinking`, Hugging Face's
  // transformers render the text that Render does. It raises an exception where Render fails, and
  // where Jinja cannot follow: it cannot parse arguments that are given as text.
  virtual std::string ChatTemplate() const = 0;
};

// The dialect of that name, with an optional variant after a colon:
//   hermes, hermes:qwen2.5, hermes:qwen3, hermes:qwen3-training, action-json, action-json:plain,
//   tagged:{desk,tapo,study,search-r1,retool,deepagent}, tagged:FILE.toml
Result<std::unique_ptr<Dialect>> NewDialect(std::string_view name);

// Every built-in name NewDialect takes, with a line about it.
std::vector<std::pair<std::string, std::string>> BuiltInDialects();

// All pieces' texts one after the other.
std::string TextOf(const std::vector<Piece>& pieces);

}  // namespace hone
