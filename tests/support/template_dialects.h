#pragma once

#include <iterator>
#include <memory>
#include <string>
#include <vector>

#include "base/rng.h"
#include "text/template_dialect.h"

// Dialects to read turns in, and pieces of turns.

namespace hone {

// ChatML by a template, with calls in this format.
inline std::unique_ptr<Dialect> DialectCalling(CallFormat format) {
  ModelTemplate model;
  model.where = "a test";
  model.sources.emplace_back("default",
                             "{% for m in messages %}<|im_start|>{{ m.role }}\n{{ m.content "
                             "}}<|im_end|>\n{% endfor %}");
  TemplateOptions settings;
  settings.calls = format;
  return NewTemplateDialect(std::move(model), std::move(settings)).value();
}

// All that are built in, and a template with each format of calls.
inline std::vector<std::unique_ptr<Dialect>> EveryDialect() {
  std::vector<std::unique_ptr<Dialect>> dialects;
  for (const auto& [name, about] : BuiltInDialects()) {
    if (name.ends_with(".toml") || name.starts_with("template:")) continue;
    dialects.push_back(NewDialect(name).value());
  }
  for (const std::string& calls : CallFormatNames()) {
    dialects.push_back(DialectCalling(*CallFormatOf(calls)));
  }
  return dialects;
}

// A mark, half of one, a call, a quote or a word.
inline std::string TurnFragment(Rng* rng) {
  static const char* const fragments[] = {
      "<think>",
      "</think>",
      "<answer>",
      "</answer>",
      "<tool_call>",
      "</tool_call>",
      "<search>",
      "</search>",
      "<code>",
      "</code>",
      "<action>",
      "</action>",
      "<fold_thought>",
      "<|im_end|>",
      "<|endoftext|>",
      "<|eot_id|>",
      "<|python_tag|>",
      "<thi",
      "</ans",
      "<tool",
      "<",
      "\n",
      "\n\n",
      " ",
      "  \n",
      "Hello",
      " so it is",
      "42",
      "你好",
      "\\boxed{7}",
      "{",
      "}",
      "\"",
      "; ",
      R"({"name": "f", "arguments": {"a": 1}})",
      R"({"name": "f", "parameters": {}})",
      R"({"name": "f")",
      R"({"a": "x)",
      R"({"a": [1]})",
      "STOP",
      "ST",
      "<tool_call>{\"name\": \"g\", \"arguments\": {}}</tool_call>",
      "<function=f>",
      "</function>",
      "<parameter=x>",
      "</parameter>",
      "<tool_call><function=f><parameter=x>1</parameter></function></tool_call>",
      R"(<action>{"type": "answer", "when": false, "content": "x"}</action>)",
      R"(<action>{"type": "call", "when": true, "which": "f", "how": {}}</action>)",
      "[f(a=1), g(b='x')]",
      "[",
      "[TOOL_CALLS]f[ARGS]",
      "<｜tool▁calls▁begin｜>",
      "<｜tool▁call▁begin｜>f<｜tool▁sep｜>{}<｜tool▁call▁end｜>",
      "<tool_call>f<arg_key>a</arg_key><arg_value>1</arg_value></tool_call>",
      "<minimax:tool_call><invoke name=\"f\"></invoke></minimax:tool_call>",
      "<|tool_call_begin|>functions.f:0<|tool_call_argument_begin|>{}<|tool_call_end|>",
      "<|channel|>analysis<|message|>hm<|end|><|start|>assistant",
      "<|channel|>commentary to=functions.f<|message|>{}<|call|>",
      "<|channel|>final<|message|>",
      "<|START_ACTION|>[{\"tool_name\": \"f\", \"parameters\": {}}]<|END_ACTION|>",
      "<|tool_call>call:f{a:1}<tool_call|>",
      "<|tool_call|>",
      "functools",
      "[THINK]hm[/THINK]",
      "<channel|>",
      "all\n",
      "f\n",
      R"(\")",
      R"({"a": "}")",
      R"([{"name": "f", "arguments": {"a": "]"}}])",
      "\\u12",
      "\xE4",
      "\n```\n"};
  return fragments[rng->Below(std::size(fragments))];
}

}  // namespace hone
