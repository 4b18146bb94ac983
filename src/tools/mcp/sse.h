#pragma once

#include <cstddef>
#include <string>
#include <string_view>
#include <vector>

namespace hone {

// An event of a text/event-stream (the WHATWG's server-sent events).
struct SseEvent {
  std::string type;  // "message" unless the stream says otherwise
  std::string data;  // its lines, joined by '\n'
  std::string id;    // the last id that the stream gave; empty: none

  bool operator==(const SseEvent&) const = default;
};

// Reads such a stream from pieces that may be cut anywhere, even between the bytes of a line end
// or of a character. Comments, unknown fields and "retry" are passed over; an event without data is
// none; what the stream ends in the middle of is dropped.
class SseReader {
 public:
  // The events that end in this piece.
  std::vector<SseEvent> Feed(std::string_view bytes);
  // How much of an unfinished event is held: for callers that bound it.
  size_t held_bytes() const { return line_.size() + data_.size(); }

 private:
  void EndLine(std::vector<SseEvent>* events);

  std::string line_;
  std::string type_;
  std::string data_;  // with a '\n' behind each line
  std::string id_;
  bool after_return_ = false;  // the last byte was '\r': a '\n' belongs to it
  bool first_line_ = true;     // may begin with a byte order mark
};

}  // namespace hone
