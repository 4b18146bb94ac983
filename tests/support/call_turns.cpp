#include "support/call_turns.h"

namespace hone {
namespace {

using Calls = std::vector<SpokenCall>;

std::string Dumped(const Json& json) { return DumpJson(json, JsonStyle::kSpaced); }

std::string Joined(const Calls& calls, std::string_view between,
                   std::string (*write)(const SpokenCall&)) {
  std::string text;
  for (const SpokenCall& call : calls) {
    if (!text.empty()) text += between;
    text += write(call);
  }
  return text;
}

std::string Object(const SpokenCall& call) {
  return Dumped(Json::Of({{"name", call.name}, {"arguments", call.arguments}}));
}
std::string List(const Calls& calls) { return "[" + Joined(calls, ", ", Object) + "]"; }

// A text as it is, all else as JSON.
std::string Raw(const Json& value) { return value.is_string() ? value.AsString() : Dumped(value); }

std::string Python(const Json& value) {
  if (value.is_null()) return "None";
  if (value.is_bool()) return value.AsBool() ? "True" : "False";
  std::string text;
  if (value.is_array()) {
    for (const Json& item : value.AsArray()) text += (text.empty() ? "" : ", ") + Python(item);
    return "[" + text + "]";
  }
  if (value.is_object()) {
    for (const auto& [key, item] : value.AsObject()) {
      text += (text.empty() ? "" : ", ") + Python(Json(key)) + ": " + Python(item);
    }
    return "{" + text + "}";
  }
  if (!value.is_string()) return Dumped(value);
  for (const char c : value.AsString()) {
    if (c == '\'' || c == '\\') text += '\\';
    text += c == '\n' ? "\\n" : std::string(1, c);
  }
  return "'" + text + "'";
}

std::string PythonCallText(const SpokenCall& call) {
  std::string arguments;
  for (const auto& [key, value] : call.arguments.AsObject()) {
    arguments += (arguments.empty() ? "" : ", ") + key + "=" + Python(value);
  }
  return call.name + "(" + arguments + ")";
}
std::string PythonList(const Calls& calls) {
  return "[" + Joined(calls, ", ", PythonCallText) + "]";
}

std::string Gemma(const Json& value, const std::string& quote) {
  std::string text;
  if (value.is_array()) {
    for (const Json& item : value.AsArray()) text += (text.empty() ? "" : ",") + Gemma(item, quote);
    return "[" + text + "]";
  }
  if (value.is_object()) {
    for (const auto& [key, item] : value.AsObject()) {
      text += (text.empty() ? "" : ",") + key + ":" + Gemma(item, quote);
    }
    return "{" + text + "}";
  }
  return value.is_string() ? quote + value.AsString() + quote : Dumped(value);
}

// Parameters between tags.
std::string Tagged(const SpokenCall& call, const std::string& open, const std::string& open_end,
                   const std::string& close) {
  std::string text;
  for (const auto& [key, value] : call.arguments.AsObject()) {
    text += open + key + open_end + Raw(value) + close;
  }
  return text;
}

std::string QwenXml(const SpokenCall& call) {
  return "<tool_call>\n<function=" + call.name + ">\n" +
         Tagged(call, "<parameter=", ">\n", "\n</parameter>\n") + "</function>\n</tool_call>";
}
std::string SeedXml(const SpokenCall& call) {
  return "<seed:tool_call>\n<function=" + call.name + ">\n" +
         Tagged(call, "<parameter=", ">", "</parameter>\n") + "</function>\n</seed:tool_call>";
}
std::string Glm(const SpokenCall& call) {
  return "<tool_call>" + call.name + "\n" +
         Tagged(call, "<arg_key>", "</arg_key>\n<arg_value>", "</arg_value>\n") + "</tool_call>";
}
std::string GlmTight(const SpokenCall& call) {
  return "<tool_call>" + call.name +
         Tagged(call, "<arg_key>", "</arg_key><arg_value>", "</arg_value>") + "</tool_call>";
}
std::string Invoke(const SpokenCall& call) {
  return "<invoke name=\"" + call.name + "\">\n" +
         Tagged(call, "<parameter name=\"", "\">", "</parameter>\n") + "</invoke>\n";
}
std::string AtemInvoke(const SpokenCall& call) {
  return "<atem:invoke name=\"" + call.name + "\">\n" +
         Tagged(call, "<atem:parameter name=\"", "\">", "</atem:parameter>\n") + "</atem:invoke>\n";
}
std::string MiniCpm(const SpokenCall& call) {
  std::string text = "<function name=\"" + call.name + "\">";
  for (const auto& [key, value] : call.arguments.AsObject()) {
    const std::string raw = Raw(value);
    const bool markup = raw.find('<') != raw.npos;
    text +=
        "<param name=\"" + key + "\">" + (markup ? "<![CDATA[" + raw + "]]>" : raw) + "</param>";
  }
  return text + "</function>";
}
std::string Dsml(const SpokenCall& call) {
  std::string text = "<｜DSML｜invoke name=\"" + call.name + "\">\n";
  for (const auto& [key, value] : call.arguments.AsObject()) {
    text += "<｜DSML｜parameter name=\"" + key + "\" string=\"" +
            (value.is_string() ? "true" : "false") + "\">" + Raw(value) + "</｜DSML｜parameter>\n";
  }
  return text + "</｜DSML｜invoke>\n";
}
std::string KimiK3(const SpokenCall& call) {
  std::string text = "<|open|>call tool=\"" + call.name + "\" index=\"1\"<|sep|>";
  for (const auto& [key, value] : call.arguments.AsObject()) {
    text += "<|open|>argument key=\"" + key + "\" type=\"" +
            (value.is_string() ? "string" : "object") + "\"<|sep|>" + Raw(value) +
            "<|close|>argument<|sep|>";
  }
  return text + "<|close|>call<|sep|>";
}

constexpr char kM3[] = "]<]minimax[>[";
std::string M3Value(const Json& value) {
  std::string text;
  if (value.is_array() && !value.AsArray().empty()) {
    for (const Json& item : value.AsArray()) {
      text += kM3 + std::string("<item>") + M3Value(item) + kM3 + "</item>";
    }
    return text;
  }
  if (!value.is_object()) return Raw(value);
  for (const auto& [key, item] : value.AsObject()) {
    text += kM3 + ("<" + key + ">") + M3Value(item) + kM3 + "</" + key + ">";
  }
  return text;
}
std::string M3(const SpokenCall& call) {
  return kM3 + ("<invoke name=\"" + call.name + "\">") + M3Value(call.arguments) + kM3 +
         "</invoke>\n";
}

std::string DeepSeekOld(const SpokenCall& call) {
  return "<｜tool▁call▁begin｜>function<｜tool▁sep｜>" + call.name + "\n```json\n" +
         Dumped(call.arguments) + "\n```<｜tool▁call▁end｜>";
}
std::string DeepSeekNew(const SpokenCall& call) {
  return "<｜tool▁call▁begin｜>" + call.name + "<｜tool▁sep｜>" + Dumped(call.arguments) +
         "<｜tool▁call▁end｜>";
}
std::string Solar(const SpokenCall& call) {
  return "<|tool_call:begin|>c1<|tool_call:name|>" + call.name + "<|tool_call:args|>" +
         Dumped(call.arguments) + "<|tool_call:end|>";
}

std::vector<CallWriter> JsonWriters() {
  using F = CallFormat;
  return {
      {"hermes", F::kHermes,
       [](const Calls& calls) {
         return Joined(calls, "\n", [](const SpokenCall& call) {
           return "<tool_call>\n" + Object(call) + "\n</tool_call>";
         });
       }},
      {"llama3",
       F::kLlama3,
       [](const Calls& calls) { return Joined(calls, "; ", Object); },
       {.alone = true}},
      {"llama3-tag, JSON",
       F::kLlama3Tag,
       [](const Calls& calls) { return "<|python_tag|>" + Joined(calls, "; ", Object); },
       {.alone = true}},
      {"llama3-tag, built-in",
       F::kLlama3Tag,
       [](const Calls& calls) {
         SpokenCall call = calls[0];
         call.name += ".call";
         return "<|python_tag|>" + PythonCallText(call);
       },
       {.alone = true, .single = true, .python_names = true}},
      {"mistral, list",
       F::kMistral,
       [](const Calls& calls) { return "[TOOL_CALLS]" + List(calls); },
       {},
       "[THINK]",
       "[/THINK]"},
      {"granite", F::kGranite, [](const Calls& calls) { return "<|tool_call|>" + List(calls); }},
      {"granite, tags", F::kGranite,
       [](const Calls& calls) { return "<tool_call>" + List(calls) + "</tool_call>"; }},
      {"phi4, functools", F::kPhi4, [](const Calls& calls) { return "functools" + List(calls); }},
      {"phi4, marks", F::kPhi4,
       [](const Calls& calls) { return "<|tool_call|>" + List(calls) + "<|/tool_call|>"; }},
      {"json-list", F::kJsonList, List, {.alone = true}},
      {"json-list, fence", F::kJsonList,
       [](const Calls& calls) { return "```json\n" + List(calls) + "\n```"; }},
      {"tool-calls", F::kToolCalls,
       [](const Calls& calls) { return "<tool_calls>" + List(calls) + "</tool_calls>"; }},
      {"tool-calls, Nemotron", F::kToolCalls,
       [](const Calls& calls) { return "<TOOLCALL>" + List(calls) + "</TOOLCALL>"; }},
      {"tool-calls, Apertus", F::kToolCalls,
       [](const Calls& calls) {
         return "<|tools_prefix|>[" +
                Joined(calls, ", ",
                       [](const SpokenCall& call) {
                         return Dumped(Json::Of({{call.name, call.arguments}}));
                       }) +
                "]<|tools_suffix|>";
       }},
      {"gigachat",
       F::kGigaChat,
       [](const Calls& calls) { return "<|function_call|>" + Object(calls[0]); },
       {.single = true}},
      {"command",
       F::kCommand,
       [](const Calls& calls) {
         return "<|START_ACTION|>[\n    " +
                Joined(calls, ",\n    ",
                       [](const SpokenCall& call) {
                         return Dumped(Json::Of({{"tool_call_id", "0"},
                                                 {"tool_name", call.name},
                                                 {"parameters", call.arguments}}));
                       }) +
                "\n]<|END_ACTION|>";
       },
       {},
       "<|START_THINKING|>",
       "<|END_THINKING|>"},
      {"command, R+",
       F::kCommand,
       [](const Calls& calls) {
         return "Action: ```json\n[\n" +
                Joined(calls, ",\n",
                       [](const SpokenCall& call) {
                         return Dumped(
                             Json::Of({{"tool_name", call.name}, {"parameters", call.arguments}}));
                       }) +
                "\n]\n```";
       },
       {},
       "<|START_THINKING|>",
       "<|END_THINKING|>"},
  };
}

std::vector<CallWriter> NamedWriters() {
  using F = CallFormat;
  return {
      {"mistral",
       F::kMistral,
       [](const Calls& calls) {
         return Joined(calls, "", [](const SpokenCall& call) {
           return "[TOOL_CALLS]" + call.name + "[ARGS]" + Dumped(call.arguments);
         });
       },
       {},
       "[THINK]",
       "[/THINK]"},
      {"mistral, ids", F::kMistral,
       [](const Calls& calls) {
         return Joined(calls, "", [](const SpokenCall& call) {
           return "[TOOL_CALLS]" + call.name + "[CALL_ID]abcdefghi[ARGS]" + Dumped(call.arguments);
         });
       }},
      {"deepseek, V3", F::kDeepSeek,
       [](const Calls& calls) {
         return "<｜tool▁calls▁begin｜>" + Joined(calls, "\n", DeepSeekOld) +
                "<｜tool▁calls▁end｜>";
       }},
      {"deepseek, V3.1", F::kDeepSeek,
       [](const Calls& calls) {
         return "<｜tool▁calls▁begin｜>" + Joined(calls, "", DeepSeekNew) + "<｜tool▁calls▁end｜>";
       }},
      {"kimi", F::kKimiK2,
       [](const Calls& calls) {
         return "<|tool_calls_section_begin|>" +
                Joined(calls, "",
                       [](const SpokenCall& call) {
                         return "<|tool_call_begin|>functions." + call.name +
                                ":0<|tool_call_argument_begin|>" + Dumped(call.arguments) +
                                "<|tool_call_end|>";
                       }) +
                "<|tool_calls_section_end|>";
       }},
      {"solar",
       F::kSolar,
       [](const Calls& calls) { return "<|tool_calls|>" + Joined(calls, "", Solar) + "<|calls|>"; },
       {},
       "<|think|>",
       "<|end|><|begin|>assistant"},
      {"function-tag", F::kFunctionTag,
       [](const Calls& calls) {
         return Joined(calls, "\n", [](const SpokenCall& call) {
           return "<function=" + call.name + ">" + Dumped(call.arguments) + "</function>";
         });
       }},
      {"functionary",
       F::kFunctionary,
       [](const Calls& calls) {
         return Joined(calls, "\n>>>", [](const SpokenCall& call) {
           return call.name + "\n" + Dumped(call.arguments);
         });
       },
       {.alone = true}},
      {"harmony",
       F::kHarmony,
       [](const Calls& calls) {
         return Joined(calls, "<|start|>assistant", [](const SpokenCall& call) {
           return "<|channel|>commentary to=functions." + call.name +
                  " <|constrain|>json<|message|>" + Dumped(call.arguments) + "<|call|>";
         });
       },
       {.own_header = true}},
      {"harmony, recipient first",
       F::kHarmony,
       [](const Calls& calls) {
         return Joined(calls, "<|start|>assistant", [](const SpokenCall& call) {
           return " to=functions." + call.name + "<|channel|>commentary json<|message|>" +
                  Dumped(call.arguments) + "<|call|>";
         });
       },
       {.own_header = true}},
  };
}

std::vector<CallWriter> TextWriters() {
  using F = CallFormat;
  return {
      {"pythonic", F::kPythonic, PythonList, {.alone = true, .python_names = true}},
      {"pythonic, LFM2",
       F::kPythonic,
       [](const Calls& calls) {
         return "<|tool_call_start|>" + PythonList(calls) + "<|tool_call_end|>";
       },
       {.python_names = true}},
      {"pythonic, Llama 4",
       F::kPythonic,
       [](const Calls& calls) { return "<|python_start|>" + PythonList(calls) + "<|python_end|>"; },
       {.python_names = true}},
      {"pythonic, Olmo 3",
       F::kPythonic,
       [](const Calls& calls) {
         return "<function_calls>" + Joined(calls, "\n", PythonCallText) + "</function_calls>";
       },
       {.python_names = true}},
      {"qwen-xml", F::kQwenXml, [](const Calls& calls) { return Joined(calls, "\n", QwenXml); }},
      {"seed",
       F::kSeed,
       [](const Calls& calls) { return Joined(calls, "\n", SeedXml); },
       {},
       "<seed:think>",
       "</seed:think>"},
      {"glm", F::kGlm, [](const Calls& calls) { return Joined(calls, "\n", Glm); }},
      {"glm, 4.7", F::kGlm, [](const Calls& calls) { return Joined(calls, "", GlmTight); }},
      {"minimax", F::kMiniMax,
       [](const Calls& calls) {
         return "<minimax:tool_call>\n" + Joined(calls, "", Invoke) + "</minimax:tool_call>";
       }},
      {"minimax-m3",
       F::kMiniMaxM3,
       [](const Calls& calls) {
         return kM3 + ("<tool_call>\n" + Joined(calls, "", M3)) + kM3 + "</tool_call>";
       },
       {},
       "<mm:think>",
       "</mm:think>"},
      {"muse", F::kMuse,
       [](const Calls& calls) {
         return "<atem:function_calls>\n" + Joined(calls, "", AtemInvoke) +
                "</atem:function_calls>";
       }},
      {"deepseek-xml, V3.2", F::kDeepSeekXml,
       [](const Calls& calls) {
         return "<｜DSML｜function_calls>\n" + Joined(calls, "", Dsml) +
                "</｜DSML｜function_calls>";
       }},
      {"deepseek-xml, V4", F::kDeepSeekXml,
       [](const Calls& calls) {
         return "<｜DSML｜tool_calls>\n" + Joined(calls, "", Dsml) + "</｜DSML｜tool_calls>";
       }},
      {"minicpm", F::kMiniCpm, [](const Calls& calls) { return Joined(calls, "\n", MiniCpm); }},
      {"kimi-k3",
       F::kKimiK3,
       [](const Calls& calls) {
         return "<|open|>tools<|sep|>" + Joined(calls, "", KimiK3) + "<|close|>tools<|sep|>";
       },
       {},
       "<|open|>think<|sep|>",
       "<|close|>think<|sep|>"},
      {"gemma, FunctionGemma", F::kGemma,
       [](const Calls& calls) {
         return Joined(calls, "", [](const SpokenCall& call) {
           return "<start_function_call>call:" + call.name + Gemma(call.arguments, "<escape>") +
                  "<end_function_call>";
         });
       }},
      {"gemma, Gemma 4",
       F::kGemma,
       [](const Calls& calls) {
         return Joined(calls, "", [](const SpokenCall& call) {
           return "<|tool_call>call:" + call.name + Gemma(call.arguments, "<|\"|>") +
                  "<tool_call|>";
         });
       },
       {},
       "<|channel>thought",
       "<channel|>"},
  };
}

}  // namespace

const std::vector<CallWriter>& CallWriters() {
  static const std::vector<CallWriter> all = [] {
    std::vector<CallWriter> writers = JsonWriters();
    for (const auto& more : {NamedWriters(), TextWriters()}) {
      writers.insert(writers.end(), more.begin(), more.end());
    }
    return writers;
  }();
  return all;
}

std::vector<std::vector<SpokenCall>> SpokenCalls(const CallWriter& writer) {
  const auto call = [](std::string name, const char* arguments) {
    return SpokenCall{std::move(name), ParseJson(arguments).value()};
  };
  std::vector<Calls> sets = {
      {call("get_weather", R"({"city": "Paris"})")},
      {call("add", R"({"a": 1, "b": -27})")},
      {call("now", "{}")},
      {call("types", R"({"w": 3, "r": -2.5, "t": true, "f": false, "n": null})")},
      {call("todo", R"({"todos": ["buy milk", "walk the dog"], "at": [1, 2]})")},
      {call("book", R"({"who": {"name": "Ann", "seats": [12, 14]}, "when": "soon"})")},
      {call("deep", R"({"a": {"b": {"c": [{"d": {"e": "x"}}, {"d": {"e": "y"}}]}}})")},
      {call("greet", R"({"name": "Zoë Müller", "word": "你好 🙂"})")},
      {call("say", R"({"text": "She said \"no\", it's C:\\dir\nnext line"})")},
      {call("html", R"({"markup": "<b class='x'>1 &lt; 2</b>"})")},
      {call("code", R"({"code": "f(x[0]) = {y: [1, 2]}; // }]) done"})")},
      {call("say", R"({"text": "  blanks around  "})")},
      {call("long_name_with_2_digits", R"({"some_long_key": "v", "other": "w"})")},
  };
  if (!writer.traits.python_names) sets.push_back({call("dash-ed_name", R"({"a": "b"})")});
  if (writer.traits.single) return sets;
  sets.push_back(
      {call("get_weather", R"({"city": "Paris"})"), call("get_time", R"({"zone": "CET"})")});
  sets.push_back({call("f", "{}"), call("g", R"({"a": {"b": "c"}})"), call("h", R"({"x": "y"})")});
  sets.push_back({call("same", R"({"a": 1})"), call("same", R"({"a": 1})")});
  sets.push_back({call("a", R"({"t": "你"})"), call("b", R"({"t": "\"好\""})")});
  return sets;
}

}  // namespace hone
