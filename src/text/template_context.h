#pragma once

#include <map>
#include <string>

#include "base/result.h"
#include "text/conversation.h"
#include "text/jinja/jinja_value.h"

namespace hone {

// What templates disagree about, and what a model's template was found to want.
struct TemplateHabits {
  // The content of an assistant's message that only calls.
  enum class EmptyContent { kText, kNone, kAbsent };
  EmptyContent empty_content = EmptyContent::kText;
  bool arguments_as_text = false;  // JSON text instead of a dict
  bool reasoning_apart = false;    // in "reasoning_content"; else in the content, in <think>
};

// The variables of transformers' apply_chat_template: messages, tools (None for none), documents,
// add_generation_prompt, enable_thinking where it is said, the tokens by name, and the arguments
// that the conversation gives to templates, which go before all of these. Calls have ids
// of nine letters and digits, which the results after them refer to. What people, tools and models
// said is foreign text, and what the arguments say.
Result<JinjaDict> TemplateContext(const Conversation& conversation, bool add_generation_prompt,
                                  const std::map<std::string, std::string>& tokens,
                                  const TemplateHabits& habits);

}  // namespace hone
