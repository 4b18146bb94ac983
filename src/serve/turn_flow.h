#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "serve/turn_reading.h"
#include "text/dialect.h"

// A turn that is read while it is being written, without reading all of it again for every token.

namespace hone {

// Where each of some words stands for the first time in a text that grows.
class MarkWatch {
 public:
  MarkWatch() = default;
  // Looks from text[begin] on.
  explicit MarkWatch(std::vector<std::string> words, size_t begin = 0)
      : words_(std::move(words)), found_(words_.size(), std::string_view::npos), begin_(begin) {}

  // Where the first of them stands; npos when none does. The text begins with what it was before.
  size_t First(std::string_view text);

 private:
  std::vector<std::string> words_;
  std::vector<size_t> found_;
  size_t begin_ = 0, seen_ = 0;
};

// Whether a call may have ended in what has come since the last question, by brackets and marks
// alone: where none may have, the calls of a turn are those that it had.
class CallEnds {
 public:
  CallEnds() = default;
  // Calls stand from text[begin] on.
  CallEnds(const TurnMarks& marks, size_t begin);

  bool MayHaveEnded(std::string_view text);
  // Whether all that came with the last question stands inside of a text in JSON, unharmed.
  bool inside_text() const { return inside_text_; }

 private:
  bool SeesBracket(std::string_view text);
  std::vector<size_t> FreshOpens(std::string_view text) const;
  void Follow(char c);

  // Whether we are inside of a text in JSON. Unsure: what came cannot be JSON, or a call begins
  // inside of it; then every bracket counts.
  enum class Place { kOutside, kText, kEscape, kDigits, kUnsure };

  std::vector<std::string> closes_;
  std::vector<std::string> opens_;
  bool json_ = false;
  size_t begin_ = 0, seen_ = 0;
  Place place_ = Place::kOutside;
  std::string digits_;  // of the escape that is being read
  bool inside_text_ = false;
};

// What is told of a turn so far: together, what ReadServedText says of it without an end, or more
// where it once said more. The work for a token does not grow with the turn, but where a call may
// have ended (TurnMarks::call_closes): there the turn is parsed. Where calls have no mark at their
// end, that is at every bracket outside of JSON's texts, behind an escaped half of a character at
// every token, and in calls that are no JSON at every token, too.
class TurnFlow {
 public:
  TurnFlow(const Dialect* dialect, std::vector<std::string> stops,
           const TurnReadingOptions& options);

  // The next bytes; what is new to the client.
  TurnDelta Feed(std::string_view bytes);

  // All that was fed, up to the first of the client's stops.
  std::string_view Text();
  const std::vector<std::string>& stops() const { return stops_; }
  const TurnReadingOptions& options() const { return options_; }
  // Told until now.
  size_t content_told() const { return content_told_; }
  size_t reasoning_told() const { return reasoning_told_; }
  size_t calls_told() const { return calls_.size(); }

 private:
  // A part of the turn that is told as it comes, without the blanks around it.
  struct Part {
    size_t begin = std::string_view::npos;  // where it begins; npos: it has not begun
    size_t seen = 0, told = 0, ink = 0;     // `ink`: behind the last character that is no blank
    std::string Next(std::string_view text, size_t end);
  };

  std::string_view CertainNow();
  // True when the rest has begun, behind all thoughts.
  bool PassThoughts(std::string_view text, TurnDelta* news);
  void TellThought(std::string_view text, size_t end, TurnDelta* news);
  void BeginRest(size_t at);
  void TellRest(std::string_view text, TurnDelta* news);
  // Up to where the content of the rest can be told; npos: nothing of it can.
  size_t ContentEnd(std::string_view text);
  bool MayBecomeCall(std::string_view text);
  bool CallHasBegun(std::string_view text);

  const Dialect* dialect_;
  const TurnMarks* marks_;
  std::vector<std::string> stops_;
  TurnReadingOptions options_;

  std::string bytes_;
  MarkWatch stops_seen_;
  MarkWatch ends_seen_;

  bool in_rest_ = false;
  size_t at_ = 0;  // where the thought, or the rest, begins
  bool looked_ = false, inside_ = false, by_prompt_ = false;
  MarkWatch close_seen_, thought_calls_seen_;
  Part thought_;

  MarkWatch calls_seen_, answer_seen_, answer_close_seen_;
  bool call_begun_ = false;
  CallEnds call_ends_;
  bool json_open_ = true;  // JSON that the rest begins with is not whole
  bool in_answer_ = false;
  Part content_;
  std::vector<ParsedCall> calls_;
  size_t content_told_ = 0, reasoning_told_ = 0;
};

}  // namespace hone
