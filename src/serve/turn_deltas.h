#pragma once

#include <cstdint>
#include <functional>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "engine/sampler.h"
#include "serve/turn_flow.h"
#include "serve/turn_reading.h"
#include "text/dialect.h"
#include "text/tokenizer.h"

// What the model draws, as the client is told of it.

namespace hone {

// Ends a turn as soon as one of these texts has been written. For one turn: it remembers what came
// before. Null when there are none.
std::function<bool(std::span<const TokenId>)> StopAtText(const Tokenizer* tokenizer,
                                                         std::vector<std::string> stops);

// A chat turn as it is written: content flows as soon as it is certain that it is content, a call
// is told when it is whole. All deltas together are what told() says at the end, however the tokens
// came, and whatever they are: nothing is told that more text could take back.
//
// Told are the thoughts at the beginning, the calls that can be read, and as content the answer, a
// part of it where a limit cut it off, or the text beside the calls; where there is neither, the
// text as it is, the marks that make no sense included. Blanks around each are left out.
class ServedTurn {
 public:
  using Options = TurnReadingOptions;
  // `dialect` and `tokenizer` must outlive it. `stops` are the client's own.
  ServedTurn(const Dialect* dialect, const Tokenizer* tokenizer, std::vector<std::string> stops,
             const Options& options = {})
      : dialect_(dialect), tokenizer_(tokenizer), flow_(dialect, std::move(stops), options) {}

  TurnDelta Feed(std::span<const TokenId> tokens);
  // The turn is over: by the model (or a stop text), or by a limit.
  TurnDelta Finish(bool stopped);

  // Everything, after Finish.
  const TurnDelta& told() const { return told_; }
  // What the dialect reads in it, after Finish; its calls are those that were told.
  const ParsedTurn& parsed() const { return parsed_; }

 private:
  const Dialect* dialect_;
  const Tokenizer* tokenizer_;
  TurnFlow flow_;
  TurnDelta told_;
  ParsedTurn parsed_;
};

// The same without a dialect: the text of a plain completion, without what ended it.
class PlainTurn {
 public:
  PlainTurn(const Tokenizer* tokenizer, std::vector<std::string> stops,
            std::vector<TokenId> stop_tokens)
      : tokenizer_(tokenizer),
        stops_(std::move(stops)),
        stop_tokens_(std::move(stop_tokens)),
        stops_seen_(stops_) {}

  std::string Feed(std::span<const TokenId> tokens);
  std::string Finish();
  const std::string& told() const { return told_; }

 private:
  std::string News(std::string_view certain);

  const Tokenizer* tokenizer_;
  std::vector<std::string> stops_;
  std::vector<TokenId> stop_tokens_;
  MarkWatch stops_seen_;
  std::string bytes_, told_;
  size_t bytes_told_ = 0;
};

}  // namespace hone
