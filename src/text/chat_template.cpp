#include "text/chat_template.h"

#include <fmt/format.h>

namespace hone {
namespace {

// ConversationFromJson in Jinja: the same shapes are read, the same ones refused.
constexpr std::string_view kReading = R"jinja(
{%- set roles = {'system': 'system', 'developer': 'system', 'user': 'user',
                 'assistant': 'assistant', 'tool': 'tool', 'function': 'tool'} -%}
{%- macro text_of(content, role) -%}
  {%- if content is string -%}
    {{- content -}}
  {%- elif content is defined and content is not none -%}
    {%- set parts = namespace(text='', all_text=content is iterable and content is not mapping) -%}
    {%- for part in (content if parts.all_text else []) -%}
      {%- set text = part if part is string else part.text -%}
      {%- if text is string -%}
        {%- set parts.text = parts.text + text -%}
      {%- else -%}
        {%- set parts.all_text = false -%}
      {%- endif -%}
    {%- endfor -%}
    {%- if parts.all_text -%}
      {{- parts.text -}}
    {%- elif role == 'tool' -%}
      {{- content|tojson -}}
    {%- else -%}
      {{- raise_exception('the content of a message is text, none or a list of text parts') -}}
    {%- endif -%}
  {%- endif -%}
{%- endmacro -%}
{%- set read = namespace(messages=[], calls=[], tools=[]) -%}
{%- for given in messages -%}
  {%- if given is not mapping or given.role is not string or given.role not in roles -%}
    {{- raise_exception('the role of a message is system, user, assistant or tool') -}}
  {%- endif -%}
  {%- set role = roles[given.role] -%}
  {%- set read.calls = [] -%}
  {%- if given.tool_calls is defined and given.tool_calls is not none -%}
    {%- if given.tool_calls is string or given.tool_calls is mapping
           or given.tool_calls is not iterable -%}
      {{- raise_exception('tool_calls is a list') -}}
    {%- endif -%}
    {%- for item in given.tool_calls -%}
      {%- if role != 'assistant' -%}
        {{- raise_exception('only an assistant message can call tools') -}}
      {%- endif -%}
      {%- set call = item.function if item.function is defined else item -%}
      {%- set arguments = call.arguments if call.arguments is defined else {} -%}
      {%- if call is not mapping or call.name is not string -%}
        {{- raise_exception('a call without a name') -}}
      {%- elif arguments is not mapping and arguments is not string -%}
        {{- raise_exception('the arguments of a call are an object or text') -}}
      {%- endif -%}
      {%- set read.calls = read.calls + [{'name': call.name, 'arguments': arguments}] -%}
    {%- endfor -%}
  {%- endif -%}
  {%- set read.messages = read.messages + [{
        'role': role,
        'content': text_of(given.content, role),
        'reasoning': given.reasoning_content if given.reasoning_content is string else none,
        'calls': read.calls,
        'name': given.name if given.name is string else ''}] -%}
{%- endfor -%}
{%- if tools is defined and tools is not none -%}
  {%- if tools is string or tools is mapping or tools is not iterable -%}
    {{- raise_exception('tools is a list of tool schemas') -}}
  {%- endif -%}
  {%- for tool in tools -%}
    {%- if tool is not mapping -%}
      {{- raise_exception('the schema of a tool is an object') -}}
    {%- endif -%}
    {%- set read.tools = read.tools + [tool] -%}
  {%- endfor -%}
{%- endif -%})jinja";

// Layout (frame.cpp) for a caller who says whether the policy is to go on. `inside` says that
// results are being put inside a policy turn, which is then still to be closed.
constexpr std::string_view kLayout = R"jinja(
{%- if read.messages and read.messages[0].role == 'system' -%}
  {{- opening(read.messages[0].content, read.tools) -}}
{%- else -%}
  {{- opening(none, read.tools) -}}
{%- endif -%}
{%- set policy = namespace(inside=false) -%}
{%- for message in read.messages -%}
  {%- set role_before = '' if loop.first else read.messages[loop.index0 - 1].role -%}
  {%- set role_after = '' if loop.last else read.messages[loop.index0 + 1].role -%}
  {%- if message.role == 'assistant' -%}
    {%- if not policy.inside -%}
      {{- frame.policy_open -}}
    {%- endif -%}
    {{- turn(message, loop.index0) + frame.policy_close -}}
    {%- set policy.inside = frame.inline_results and role_after == 'tool' -%}
    {%- if not policy.inside -%}
      {{- frame.policy_after -}}
    {%- endif -%}
  {%- elif message.role == 'tool' -%}
    {%- if role_before != 'tool' -%}
      {{- frame.results_open -}}
    {%- endif -%}
    {{- result(message) -}}
    {%- if role_after != 'tool' -%}
      {{- frame.results_close -}}
    {%- endif -%}
  {%- elif message.role == 'user' or not loop.first -%}
    {%- if policy.inside -%}
      {{- frame.policy_after -}}
      {%- set policy.inside = false -%}
    {%- endif -%}
    {{- frame[message.role + '_open'] + message.content + frame[message.role + '_close'] -}}
  {%- endif -%}
{%- endfor -%}
{%- if add_generation_prompt and not policy.inside -%}
  {{- frame.policy_open + prompt_suffix() -}}
{%- endif -%})jinja";

Json FrameData(const Frame& frame) {
  // A close that the policy does not write is held back together with what stands after it.
  const bool now = frame.policy_writes_close;
  return Json::Of({{"system_open", frame.system_open},
                   {"system_close", frame.system_close},
                   {"user_open", frame.user_open},
                   {"user_close", frame.user_close},
                   {"policy_open", frame.policy_open},
                   {"policy_close", now ? frame.policy_close : ""},
                   {"policy_after", (now ? "" : frame.policy_close) + frame.policy_after},
                   {"results_open", frame.results_open},
                   {"result_open", frame.result_open},
                   {"result_close", frame.result_close},
                   {"results_close", frame.results_close},
                   {"inline_results", frame.inline_results}});
}

std::string Macro(std::string_view signature, std::string_view body) {
  return fmt::format("\n{{%- macro {} -%}}{}\n{{%- endmacro -%}}", signature, body);
}

}  // namespace

std::string JinjaSet(std::string_view name, const Json& value) {
  // Jinja's literals are Python's, with true and false in small letters: JSON text is one of them.
  return fmt::format("\n{{%- set {} = {} -%}}", name, DumpJson(value, JsonStyle::kSpaced));
}

std::string ChatTemplateInFrame(const Frame& frame, const TemplateSpelling& spelling) {
  constexpr std::string_view kAround = R"jinja(
  {%- set around = namespace(open=frame.result_open, close=frame.result_close) -%})jinja";
  constexpr std::string_view kResult = R"jinja(
  {{- around.open + message.content + around.close -}})jinja";
  std::string text = JinjaSet("frame", FrameData(frame));
  text += kReading;
  text += spelling.definitions;
  text += Macro("opening(system, tools)", spelling.opening);
  text += Macro("turn(message, index)", spelling.turn);
  text += Macro("prompt_suffix()", spelling.prompt_suffix);
  text +=
      Macro("result(message)", fmt::format("{}{}{}", kAround, spelling.result_markers, kResult));
  text += kLayout;
  return text.substr(1);  // without the first line break
}

std::string SystemTemplate(std::string_view how_to_act) {
  constexpr std::string_view kSystem = R"jinja(
  {%- if system is not none or tools -%}
    {{- frame.system_open -}}
    {%- if system is not none -%}
      {{- system -}}
    {%- endif -%}
    {%- if tools -%}
      {{- ('' if system is none else '\n\n') + '# Tools\n' -}}
      {%- for tool in tools -%}
        {{- tool|tojson + '\n' -}}
      {%- endfor -%}
      {{- '\n' + how_to_act -}}
    {%- endif -%}
    {{- frame.system_close -}}
  {%- endif -%})jinja";
  return JinjaSet("how_to_act", how_to_act) + std::string(kSystem);
}

std::string_view CompactJsonMacro() {
  return R"jinja(
{%- macro compact_json(value) -%}
  {%- if value is mapping -%}
    {{- '{' -}}
    {%- for key, item in value.items() -%}
      {%- if key is not string -%}
        {{- raise_exception('the key of a JSON object is text') -}}
      {%- endif -%}
      {{- ('' if loop.first else ',') + key|tojson + ':' + compact_json(item) -}}
    {%- endfor -%}
    {{- '}' -}}
  {%- elif value is iterable and value is not string -%}
    {{- '[' -}}
    {%- for item in value -%}
      {{- ('' if loop.first else ',') + compact_json(item) -}}
    {%- endfor -%}
    {{- ']' -}}
  {%- else -%}
    {{- value|tojson -}}
  {%- endif -%}
{%- endmacro -%})jinja";
}

}  // namespace hone
