#pragma once

#include <string>
#include <string_view>

#include "base/json.h"
#include "text/frame.h"

// Chat templates in Jinja, as Hugging Face's transformers run them: what RenderInFrame lays out,
// for programs that do not have Hone. A template holds the dialect's data (its frame, its tags) and
// Jinja code that reads messages as ConversationFromJson does and lays them out as a frame does.
// Every tag of it strips the white space around it, so that nothing hangs on trim_blocks.

namespace hone {

// {%- set name = value -%}. The value holds no null: Jinja spells that otherwise.
std::string JinjaSet(std::string_view name, const Json& value);

// What a dialect adds to its frame, in Jinja: the counterpart of Spelling. A `message` is an object
// of `role`, `content` (text), `reasoning` (text or none), `calls` (a list of objects with `name`
// and `arguments`, an object or text) and `name`; `read.messages` are all of them; `frame` has the
// markers. What the dialect cannot spell is refused with raise_exception.
struct TemplateSpelling {
  std::string definitions;     // what the others need: data by JinjaSet, macros
  std::string opening;         // of `system` (text or none) and `tools` (a list)
  std::string turn;            // of `message`, which is read.messages[index]
  std::string prompt_suffix;   // may be empty, as in Spelling
  std::string result_markers;  // sets around.open and around.close for the result `message`; empty:
                               // they are the frame's
};

std::string ChatTemplateInFrame(const Frame& frame, const TemplateSpelling& spelling);

// The counterpart of SpellSystem, as TemplateSpelling's opening.
std::string SystemTemplate(std::string_view how_to_act);

// Defines the macro compact_json(value): what DumpJson writes. transformers' tojson puts spaces,
// and only its later versions can be told otherwise.
std::string_view CompactJsonMacro();

}  // namespace hone
