// The `llama3` dialect: Llama 3.1's format for tools. It is a template of our own that lays
// messages out as Meta's does with tools_in_user_message = false, its fixed date included, and is
// run like any model's.

#include "text/template_dialect.h"

namespace hone {
namespace {

constexpr char kTemplate[] = R"jinja({%- macro header(role) -%}
  {{- '<|start_header_id|>' + role + '<|end_header_id|>\n\n' -}}
{%- endmacro -%}
{%- set system = namespace(text='', first=0) -%}
{%- if messages and messages[0].role == 'system' -%}
  {%- set system.text = messages[0].content|trim -%}
  {%- set system.first = 1 -%}
{%- endif -%}
{{- bos_token + header('system') -}}
{%- if tools -%}
  {{- 'Environment: ipython\n' -}}
{%- endif -%}
{{- 'Cutting Knowledge Date: December 2023\nToday Date: 26 Jul 2024\n\n' -}}
{%- if tools -%}
  {{- 'You have access to the following functions. To call a function, please respond with JSON for a function call.' -}}
  {{- 'Respond in the format {"name": function name, "parameters": dictionary of argument name and its value}.' -}}
  {{- 'Do not use variables.\n\n' -}}
  {%- for tool in tools -%}
    {{- tool|tojson(indent=4) + '\n\n' -}}
  {%- endfor -%}
{%- endif -%}
{{- system.text + '<|eot_id|>' -}}
{%- for message in messages[system.first:] -%}
  {%- if message.role == 'tool' -%}
    {{- header('ipython') + message.content|tojson -}}
  {%- elif message.tool_calls -%}
    {%- if message.tool_calls|length != 1 -%}
      {{- raise_exception('Llama 3.1 calls one tool at a time') -}}
    {%- endif -%}
    {%- set call = message.tool_calls[0].function -%}
    {{- header('assistant') + '{"name": "' + call.name + '", "parameters": ' + call.arguments|tojson + '}' -}}
  {%- else -%}
    {{- header(message.role) + message.content|trim -}}
  {%- endif -%}
  {{- '<|eot_id|>' -}}
{%- endfor -%}
{%- if add_generation_prompt -%}
  {{- header('assistant') -}}
{%- endif -%})jinja";

}  // namespace

Result<std::unique_ptr<Dialect>> NewLlama3() {
  ModelTemplate model;
  model.where = "llama3";
  model.sources.emplace_back("default", kTemplate);
  model.tokens = {{"bos_token", "<|begin_of_text|>"}, {"eos_token", "<|eot_id|>"}};
  TemplateOptions settings;
  settings.dialect = "llama3";
  settings.calls = CallFormat::kLlama3;
  return NewTemplateDialect(std::move(model), std::move(settings));
}

}  // namespace hone
