#include "serve/turn_flow.h"

#include <algorithm>
#include <cctype>
#include <utility>

#include "base/json.h"
#include "base/strings.h"
#include "base/utf8.h"

namespace hone {

size_t MarkWatch::First(std::string_view text) {
  size_t first = text.npos;
  for (size_t i = 0; i < words_.size(); ++i) {
    const std::string& word = words_[i];
    if (found_[i] == text.npos && !word.empty()) {
      const size_t whole = seen_ >= word.size() ? seen_ - word.size() + 1 : 0;
      found_[i] = text.find(word, std::max(begin_, whole));
    }
    first = std::min(first, found_[i]);
  }
  seen_ = std::max(seen_, text.size());
  return first;
}

CallEnds::CallEnds(const TurnMarks& marks, size_t begin)
    : closes_(marks.call_closes),
      opens_(marks.call_opens),
      json_(marks.json_arguments),
      begin_(begin),
      seen_(begin) {}

void CallEnds::Follow(char c) {
  switch (place_) {
    case Place::kOutside:
      if (c == '"') place_ = Place::kText;
      return;
    case Place::kText:
      if (c == '"') place_ = Place::kOutside;
      if (c == '\\') place_ = Place::kEscape;
      if (static_cast<unsigned char>(c) < 0x20) place_ = Place::kUnsure;
      return;
    case Place::kEscape:
      digits_.clear();
      place_ = c != '\0' && std::string_view("\"\\/bfnrt").find(c) != std::string_view::npos
                   ? Place::kText
               : c == 'u' ? Place::kDigits
                          : Place::kUnsure;
      return;
    case Place::kDigits:
      digits_ += c;
      if (std::isxdigit(static_cast<unsigned char>(c)) == 0) {
        place_ = Place::kUnsure;
      } else if (digits_.size() == 4) {
        // Halves of a character need their other half.
        const int unit = std::stoi(digits_, nullptr, 16);
        place_ = unit >= 0xD800 && unit <= 0xDFFF ? Place::kUnsure : Place::kText;
      }
      return;
    case Place::kUnsure: return;
  }
}

// Where calls begin that were not whole before.
std::vector<size_t> CallEnds::FreshOpens(std::string_view text) const {
  std::vector<size_t> fresh;
  for (const std::string& open : opens_) {
    const size_t from = seen_ >= open.size() ? seen_ - open.size() + 1 : 0;
    for (size_t at = text.find(open, std::max(begin_, from)); at != text.npos;
         at = text.find(open, at + 1)) {
      fresh.push_back(std::max(at, seen_));
    }
  }
  return fresh;
}

bool CallEnds::SeesBracket(std::string_view text) {
  constexpr std::string_view kBrackets = ">}])`";
  const auto in_text = [&] { return place_ != Place::kOutside && place_ != Place::kUnsure; };
  if (!IsUtf8(text.substr(seen_))) place_ = Place::kUnsure;
  const std::vector<size_t> opens = FreshOpens(text);
  bool seen = false;
  inside_text_ = in_text();
  for (size_t at = seen_; at < text.size(); ++at) {
    // A call that begins inside of what we take for a text.
    if (in_text() && std::find(opens.begin(), opens.end(), at) != opens.end())
      place_ = Place::kUnsure;
    Follow(text[at]);
    inside_text_ = inside_text_ && in_text();
    seen = seen || (!in_text() && kBrackets.find(text[at]) != kBrackets.npos);
  }
  return seen || place_ == Place::kUnsure;
}

bool CallEnds::MayHaveEnded(std::string_view text) {
  if (text.size() <= seen_) return false;
  bool may = false;
  if (closes_.empty()) {
    may = !json_ || SeesBracket(text);  // of calls in Python, what follows may end the last one
  } else {
    for (const std::string& close : closes_) {
      const size_t from = seen_ >= close.size() ? seen_ - close.size() + 1 : 0;
      may = may || text.find(close, from) != text.npos;
    }
  }
  seen_ = text.size();
  return may;
}

TurnFlow::TurnFlow(const Dialect* dialect, std::vector<std::string> stops,
                   const TurnReadingOptions& options)
    : dialect_(dialect),
      marks_(&dialect->traits().marks),
      stops_(std::move(stops)),
      options_(options),
      stops_seen_(stops_),
      ends_seen_(marks_->ends),
      inside_(options.thinking),
      by_prompt_(options.thinking),
      close_seen_({marks_->think_close}),
      thought_calls_seen_(marks_->call_opens) {
  if (marks_->think_open.empty()) BeginRest(0);
}

std::string_view TurnFlow::Text() {
  return std::string_view(bytes_).substr(0, stops_seen_.First(bytes_));
}

// What more text cannot take back. Half a character would be read as none.
std::string_view TurnFlow::CertainNow() {
  const size_t stop = stops_seen_.First(bytes_), end = ends_seen_.First(bytes_);
  std::string_view text = std::string_view(bytes_).substr(0, stop);
  text.remove_suffix(Utf8IncompleteSuffix(text));
  return CertainText(text.substr(0, std::min(end, text.size())), *marks_, stops_);
}

std::string TurnFlow::Part::Next(std::string_view text, size_t end) {
  for (seen = std::max(seen, begin); seen < end; ++seen) {
    if (kBlanks.find(text[seen]) != kBlanks.npos) continue;
    if (ink == 0) told = seen;
    ink = seen + 1;
  }
  if (ink <= told) return "";
  const size_t from = std::exchange(told, ink);
  return Utf8Lossy(text.substr(from, ink - from));
}

void TurnFlow::TellThought(std::string_view text, size_t end, TurnDelta* news) {
  const bool first = thought_.ink == 0;
  std::string words = thought_.Next(text, end);
  if (words.empty()) return;
  // Each thought in lines of its own.
  if (first && reasoning_told_ > 0) words.insert(0, "\n");
  reasoning_told_ += words.size();
  news->reasoning += words;
}

bool TurnFlow::PassThoughts(std::string_view text, TurnDelta* news) {
  while (!in_rest_) {
    if (!looked_) {
      const size_t next = text.find_first_not_of(kBlanks, at_);
      if (next == text.npos) return false;  // a thought may still begin
      looked_ = true;
      if (text.substr(next).starts_with(marks_->think_open)) {
        inside_ = true;
        at_ = next + marks_->think_open.size();
      }
      if (!inside_) {
        BeginRest(at_);
        return true;
      }
      close_seen_ = MarkWatch({marks_->think_close}, at_);
      thought_calls_seen_ = MarkWatch(marks_->call_opens, at_);
      thought_ = {.begin = at_};
    }
    const size_t close = close_seen_.First(text);
    if (close == text.npos) {
      // A model may go from the prompt's thought to its calls without a word.
      size_t end = text.size();
      if (by_prompt_) end = std::min(end, thought_calls_seen_.First(text));
      const bool bare = by_prompt_ && MayBeBareCall(text.substr(at_, end - at_), *marks_);
      if (!bare) TellThought(text, end, news);
      return false;
    }
    TellThought(text, close, news);
    at_ = close + marks_->think_close.size();
    looked_ = inside_ = by_prompt_ = false;
  }
  return true;
}

void TurnFlow::BeginRest(size_t at) {
  in_rest_ = true;
  at_ = at;
  calls_seen_ = MarkWatch(marks_->call_opens, at);
  answer_seen_ = MarkWatch({marks_->answer_open}, at);
}

// Nothing is a call before something begins as one.
bool TurnFlow::CallHasBegun(std::string_view text) {
  if (call_begun_) return true;
  size_t begin = calls_seen_.First(text);
  if (begin == text.npos && MayBeBareCall(text.substr(at_), *marks_)) begin = at_;
  if (begin == text.npos) return false;
  call_ends_ = CallEnds(*marks_, begin);
  return call_begun_ = true;
}

// Of a dialect whose calls may be a JSON object, what begins as one.
bool TurnFlow::MayBecomeCall(std::string_view text) {
  const std::string_view begun = TrimLeft(text.substr(at_));
  if (!marks_->json_calls || !begun.starts_with('{')) return false;
  if (options_.may_call && !calls_.empty()) return true;
  // Inside of a text in JSON nothing can go wrong.
  if (json_open_ && !call_ends_.inside_text()) json_open_ = ParseJsonPrefix(begun).cut;
  return json_open_;
}

size_t TurnFlow::ContentEnd(std::string_view text) {
  if (marks_->whole_only) return text.npos;
  const size_t call = std::min(calls_seen_.First(text), text.size());
  const size_t answer = answer_seen_.First(text);
  if (in_answer_ || answer < call) {
    if (!std::exchange(in_answer_, true)) {
      content_.begin = answer + marks_->answer_open.size();
      answer_close_seen_ = MarkWatch({marks_->answer_close}, content_.begin);
    }
    return std::min(answer_close_seen_.First(text), text.size());
  }
  // Before an answer it is not told, before a call it is.
  if (!marks_->answer_open.empty() || MayBecomeCall(text)) return text.npos;
  content_.begin = at_;
  return call;
}

void TurnFlow::TellRest(std::string_view text, TurnDelta* news) {
  if (text.size() <= at_) return;
  if (CallHasBegun(text) && call_ends_.MayHaveEnded(text) && options_.may_call) {
    const ParsedTurn parsed =
        dialect_->Parse(BehindThought(text.substr(at_), *marks_), TurnEnd::kUnknown);
    const std::vector<ParsedCall> calls = CallsBehind(parsed, at_, *marks_, true);
    for (size_t i = calls_.size(); i < calls.size(); ++i) {
      calls_.push_back(calls[i]);
      news->calls.push_back(calls[i]);
    }
  }
  const size_t end = ContentEnd(text);
  if (end == text.npos) return;
  news->content = content_.Next(text, end);
  content_told_ += news->content.size();
}

TurnDelta TurnFlow::Feed(std::string_view bytes) {
  bytes_ += bytes;
  TurnDelta news;
  const std::string_view text = CertainNow();
  if (PassThoughts(text, &news)) TellRest(text, &news);
  return news;
}

}  // namespace hone
