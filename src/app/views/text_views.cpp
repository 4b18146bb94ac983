#include "app/views/text_views.h"

#include <algorithm>
#include <optional>

#include <fmt/format.h>

#include "base/strings.h"
#include "base/utf8.h"
#include "text/call_format.h"

namespace hone {
namespace {

Json RangeJson(ByteRange range) {
  return Json::Array{static_cast<int64_t>(range.begin), static_cast<int64_t>(range.end)};
}

// For every byte offset of a text, how many characters begin before it.
std::vector<int64_t> CharactersBefore(std::string_view text) {
  std::vector<int64_t> counts(text.size() + 1, 0);
  for (size_t i = 0; i < text.size(); ++i) {
    counts[i + 1] = counts[i] + ((static_cast<uint8_t>(text[i]) & 0xC0) != 0x80 ? 1 : 0);
  }
  return counts;
}

// The text with every line after the first indented.
std::string Indented(std::string_view text, std::string_view indent) {
  std::string out;
  for (const char c : text) {
    out += c;
    if (c == '\n') out += indent;
  }
  return out;
}

// One token's bytes; those that are not whole characters in hexadecimal.
std::string TokenText(std::string_view bytes) {
  if (IsUtf8(bytes)) return Printable(bytes);
  std::string text;
  for (const char byte : bytes) text += fmt::format("\\x{:02x}", static_cast<uint8_t>(byte));
  return text;
}

std::string AuthorStyle(Author author, std::string_view text, const Terminal& terminal) {
  switch (author) {
    case Author::kSystem: return terminal.Dim(text);
    case Author::kUser: return terminal.Cyan(text);
    case Author::kPolicy: return terminal.Green(text);
    case Author::kTool: return terminal.Yellow(text);
  }
  return std::string(text);
}

}  // namespace

Json ParsedTurnJson(std::string_view turn, const ParsedTurn& parsed, const Tokenizer* tokenizer,
                    std::span<const TokenId> ids) {
  const std::vector<int64_t> characters = CharactersBefore(turn);
  const std::optional<TokenOffsets> offsets =
      tokenizer != nullptr ? std::optional(TokenOffsets(*tokenizer, ids)) : std::nullopt;
  auto with_spans = [&](Json json, ByteRange range) {
    json.Set("span", RangeJson(range));
    json.Set("char_span", Json::Array{characters[range.begin], characters[range.end]});
    if (offsets) {
      const Span span = offsets->Covering(range);
      json.Set("token_span", Json::Array{span.begin, span.end});
    }
    return json;
  };
  Json::Array calls;
  for (const ParsedCall& call : parsed.calls) {
    calls.push_back(
        with_spans(Json::Of({{"name", call.name}, {"arguments", call.arguments}}), call.range));
  }
  Json error;
  if (!parsed.faults.empty()) {
    const ParsedFault& fault = parsed.faults.front();
    error = with_spans(Json::Of({{"kind", FaultKindName(fault.kind)}, {"message", fault.message}}),
                       fault.range);
  }
  Json json = Json::Of({{"calls", std::move(calls)},
                        {"answer", parsed.answer ? Json(*parsed.answer) : Json()},
                        {"error", std::move(error)},
                        {"content", parsed.content},
                        {"reasoning", parsed.reasoning}});
  const std::string note = parsed.answer ? NoteOnUnreadCall(*parsed.answer) : "";
  if (!note.empty()) json.Set("note", note);
  return json;
}

std::string TokensView(const Tokenizer& tokenizer, std::span<const TokenId> ids,
                       const Terminal& terminal) {
  std::string text, numbers;
  for (size_t i = 0; i < ids.size(); ++i) {
    const std::string shown = TokenText(tokenizer.TokenBytes(ids[i]));
    const bool added = tokenizer.IsAdded(ids[i]);
    if (added) {
      text += terminal.Magenta(shown);
    } else if (terminal.colour) {
      text += terminal.Styled(i % 2 == 0 ? "48;5;236" : "48;5;240", shown);
    } else {
      text += (i > 0 ? "|" : "") + shown;
    }
    numbers += fmt::format("{}{}", i > 0 ? " " : "", ids[i]);
  }
  return fmt::format("{}\n\n{}\n{}\n", text, terminal.Dim(numbers),
                     terminal.Bold(fmt::format("{} tokens", ids.size())));
}

std::string PiecesView(const std::vector<Piece>& pieces, const Terminal& terminal) {
  std::string out;
  for (const Piece& piece : pieces) {
    const std::string label = Fitted(AuthorName(piece.author), 7);
    out += fmt::format("{} {}\n", AuthorStyle(piece.author, label, terminal),
                       Indented(Printable(piece.text), "        "));
  }
  return out;
}

std::string ParsedTurnView(std::string_view turn, const ParsedTurn& parsed,
                           const Terminal& terminal) {
  std::string out;
  auto line = [&](std::string_view label, const std::string& value) {
    out += fmt::format("{} {}\n", terminal.Bold(Fitted(label, 9)),
                       Indented(Printable(value), "          "));
  };
  if (!parsed.reasoning.empty()) line("reasoning", parsed.reasoning);
  if (!parsed.content.empty() && !parsed.answer) line("content", parsed.content);
  for (const ParsedCall& call : parsed.calls) {
    line("call", fmt::format("{} {}   (bytes {} to {} of {})", call.name,
                             DumpJson(call.arguments, JsonStyle::kSpaced), call.range.begin,
                             call.range.end, turn.size()));
  }
  if (parsed.answer) {
    line("answer", *parsed.answer);
    if (const std::string note = NoteOnUnreadCall(*parsed.answer); !note.empty()) {
      out += fmt::format("{} {}\n", terminal.Yellow("note     "), Printable(note));
    }
  }
  for (const ParsedFault& fault : parsed.faults) {
    out += fmt::format("{} {} (bytes {} to {}): {}\n", terminal.Red("fault    "),
                       FaultKindName(fault.kind), fault.range.begin, fault.range.end,
                       Printable(fault.message));
  }
  return out;
}

std::string TreesView(const std::vector<RunStore::TreeSummary>& trees, const Terminal& terminal) {
  std::string out =
      terminal.Bold(fmt::format("{:>7} {:>7}  {} {:>6} {:>7} {:>8} {:>9}", "tree", "step",
                                Fitted("task", 32), "nodes", "leaves", "tokens", "reward")) +
      "\n";
  for (const RunStore::TreeSummary& tree : trees) {
    out += fmt::format("{:>7} {:>7}  {} {:>6} {:>7} {:>8} {:>9}\n", tree.id, tree.step + 1,
                       Fitted(Printable(tree.task), 32), tree.nodes, tree.leaves, tree.tokens,
                       tree.mean_reward ? fmt::format("{:.3f}", *tree.mean_reward) : "–");
  }
  return out;
}

}  // namespace hone
