#pragma once

#include <span>
#include <string_view>
#include <vector>

#include "text/call_format.h"
#include "text/turn_text.h"

namespace hone {

// Around a thought.
struct ThoughtMarks {
  std::string_view open, close;
};

// How a format spells what a turn says: one row of the table of formats.
struct CallSpelling {
  CallFormat format;
  std::string_view name;    // in ?calls=
  std::string_view models;  // who writes so
  // What calls begin with, wherever they stand in a turn. Empty: the turn as a whole is calls.
  std::vector<std::string_view> opens;
  // Reads from the opening mark at text[open] and returns where to go on; `open` itself where no
  // call stands there. Null: format-specific.
  size_t (*read)(std::string_view text, size_t open, ParsedTurn* parsed) = nullptr;
  std::vector<std::string_view> closes = {};  // TurnMarks::call_closes
  bool json_arguments = false;                // TurnMarks
  // Whether a turn that begins so is calls as a whole, which `read` then reads from its beginning.
  // Null: it never is.
  bool (*begins)(std::string_view text) = nullptr;
  std::vector<ThoughtMarks> thoughts = {{kThinkOpen, kThinkClose}};
  // Marks that are no part of what a turn says.
  std::vector<std::string_view> silent = {};
  // What the text of a template has that shows no call when it is run: all of one of these.
  std::vector<std::vector<std::string_view>> signatures = {};
};

// Every format but `none`, in the order in which they are looked for.
std::span<const CallSpelling> CallSpellings();
// Null for `none`.
const CallSpelling* FindSpelling(CallFormat format);

}  // namespace hone
