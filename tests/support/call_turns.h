#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "base/json.h"
#include "text/call_format.h"

// Turns in every call format, written by other means than the readers under test.

namespace hone {

struct SpokenCall {
  std::string name;
  Json arguments;
};

// What is special about a way to spell calls.
struct WriterTraits {
  bool alone = false;         // text beside the calls is no part of the format
  bool single = false;        // one call a turn
  bool python_names = false;  // names have no dashes
  bool own_header = false;    // thoughts are messages, not marks around a text
};

// One way to spell calls in a format.
struct CallWriter {
  std::string label;
  CallFormat format;
  std::string (*write)(const std::vector<SpokenCall>& calls);
  WriterTraits traits = {};
  std::string think_open = "<think>", think_close = "</think>";
};
const std::vector<CallWriter>& CallWriters();

// Sets of calls: one, several, no arguments, all types, nested, unicode, escapes, marks in texts.
std::vector<std::vector<SpokenCall>> SpokenCalls(const CallWriter& writer);

}  // namespace hone
