#pragma once

#include <string_view>

// What a tagged dialect (text/tagged.h) is in Jinja, for its chat template: the same spelling as
// its code, which tests hold against each other.

namespace hone {

// CheckHolds and SpellCall in Jinja.
inline constexpr std::string_view kCallTemplate = R"jinja(
{%- macro held(text, close) -%}
  {%- if close in text -%}
    {{- raise_exception('text that holds ' + close + ' cannot stand before it') -}}
  {%- endif -%}
  {{- text -}}
{%- endmacro -%}
{%- macro spelled(call) -%}
  {%- set action = tags.action_of[call.name] if call.name in tags.action_of else tags.any -%}
  {%- if not action -%}
    {{- raise_exception('there is no tag that calls ' + call.name) -}}
  {%- elif call.arguments is string -%}
    {{- raise_exception('give the arguments of a call as an object, not as text') -}}
  {%- endif -%}
  {{- action.open -}}
  {%- if action.body == 'json' -%}
    {{- '{"name":' + call.name|tojson + ',"arguments":' + compact_json(call.arguments) + '}' -}}
    {{- action.close -}}
  {%- elif action.body == 'text' -%}
    {%- if call.arguments|length != 1 or action.argument not in call.arguments
           or call.arguments[action.argument] is not string -%}
      {{- raise_exception(call.name + ' is called with the text "' + action.argument
                          + '" and nothing else') -}}
    {%- endif -%}
    {{- action.body_open + held(call.arguments[action.argument], action.close) -}}
    {{- action.body_close + action.close -}}
  {%- endif -%}
{%- endmacro -%})jinja";

// Turn in Jinja.
inline constexpr std::string_view kTaggedTurn = R"jinja(
  {%- if message.calls|length > 1 -%}
    {{- raise_exception('a tagged dialect has one call per turn') -}}
  {%- endif -%}
  {%- set thought = (message.reasoning or '') + (message.content if message.calls else '') -%}
  {%- if thought and tags.think -%}
    {{- tags.think.open + held(thought, tags.think.close) + tags.think.close + '\n' -}}
  {%- elif thought and tags.free_text -%}
    {{- thought + '\n' -}}
  {%- elif thought -%}
    {{- raise_exception('there is no place for thought beside an action') -}}
  {%- endif -%}
  {%- if message.calls -%}
    {{- spelled(message.calls[0]) -}}
  {%- elif tags.answer -%}
    {{- tags.answer.open + held(message.content, tags.answer.close) + tags.answer.close -}}
  {%- else -%}
    {{- message.content -}}
  {%- endif -%})jinja";

// Spelling's result_markers in Jinja.
inline constexpr std::string_view kResultTemplate = R"jinja(
  {%- set action = tags.action_of[message.name] if message.name in tags.action_of else tags.any -%}
  {%- if action -%}
    {%- set around.open = action.result_open -%}
    {%- set around.close = action.result_close -%}
  {%- endif -%})jinja";

}  // namespace hone
