#pragma once

#include <memory>

#include "text/dialect.h"
#include "text/frame.h"

namespace hone {

// The `action-json` dialect: every turn is one action, strictly machine-readable, with the three
// decisions of a tool call apart:
//
//   <action>{"type":"call","when":true,"which":"weather","how":{"city":"Berlin"}}</action>
//   <action>{"type":"answer","when":false,"content":"Rain in Berlin."}</action>
//
// Text before the action is thought; text after it, a second action, an unknown field or a "when"
// that contradicts the type is a fault.
std::unique_ptr<Dialect> NewActionJson(Frame frame, std::string name);

}  // namespace hone
