#pragma once

#include <filesystem>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "base/result.h"
#include "text/dialect.h"

namespace hone {

// What stands between the opening and closing tag of an action.
enum class ActionBody {
  kJson,    // {"name": ..., "arguments": {...}}: any tool
  kText,    // one argument of one tool, as plain text
  kMarker,  // nothing: the opening tag alone is the action
};

struct ActionTag {
  std::string tag;  // "search" for <search>…</search>
  ActionBody body = ActionBody::kText;
  std::string tool;       // kText, kMarker: the tool it calls
  std::string argument;   // kText: the argument the text is
  std::string body_open;  // kText: written before the text and taken off again, e.g. a code fence
  std::string body_close;
  std::string result_open, result_close;  // around what comes back
};

// The tags of one system (docs/dialects.md has a table of them).
struct TagSet {
  std::string name;
  bool chat = true;  // messages in ChatML, results inside the policy's turn; false: plain tags
  std::string think = "think";    // the tag around thought; empty: there is none
  bool free_text = false;         // text outside tags is allowed
  std::string answer = "answer";  // the tag around the answer; empty: there is none
  bool boxed = false;             // without an answer tag, the last \boxed{} answers
  std::vector<ActionTag> actions;
};

// desk, tapo, study, search-r1, retool, deepagent.
std::vector<TagSet> BuiltInTagSets();

// A tag set from a TOML file (docs/dialects.md).
Result<TagSet> LoadTagSet(const std::filesystem::path& file);

// The `tagged` dialect: at most one action or answer per turn, each between tags.
std::unique_ptr<Dialect> NewTagged(TagSet tags);

}  // namespace hone
