// The cases of llama.cpp's test-chat.cpp, each in the format of the model it is about.

#include <gtest/gtest.h>

#include <map>
#include <optional>
#include <set>

#include <fmt/format.h>

#include "base/file.h"
#include "base/strings.h"
#include "support/call_turns.h"
#include "support/shared_data.h"
#include "text/call_format.h"
#include "text/template_dialect.h"

namespace hone {
namespace {

const std::map<std::string, std::string>& FormatsOfModels() {
  static const std::map<std::string, std::string> formats = {
      {"Apriel-1.6-15b-Thinker-fixed", "tool-calls"},
      {"ByteDance-Seed-OSS", "seed"},
      {"Cohere2MoE", "command"},
      {"CohereForAI-c4ai-command-r7b-12-2024-tool_use", "command"},
      {"GLM-4.6", "glm"},
      {"GLM-4.7-Flash", "glm"},
      {"GigaChat3-10B-A1.8B", "gigachat"},
      {"GigaChat3.1-10B-A1.8B", "gigachat"},
      {"Kimi-K2-Thinking", "kimi"},
      {"Kimi-K3", "kimi-k3"},
      {"LFM2.5-8B-A1B", "pythonic"},
      {"MiMo-VL", "hermes"},
      {"MiniMax-M2", "minimax"},
      {"MiniMax-M3", "minimax-m3"},
      {"Mistral-Small-3.2-24B-Instruct-2506", "mistral"},
      {"NVIDIA-Nemotron-3-Nano-30B-A3B-BF16", "qwen-xml"},
      {"NVIDIA-Nemotron-Nano-v2", "tool-calls"},
      {"Qwen-QwQ-32B", "hermes"},
      {"Qwen3-Coder", "qwen-xml"},
      {"Qwen3.5-4B", "qwen-xml"},
      {"Reka-Edge", "hermes"},
      {"StepFun3.5-Flash", "qwen-xml"},
      {"deepseek-ai-DeepSeek-R1-Distill-Qwen-32B", "deepseek"},
      {"deepseek-ai-DeepSeek-V3.1", "deepseek"},
      {"deepseek-ai-DeepSeek-V3.2", "deepseek-xml"},
      {"deepseek-ai-DeepSeek-V4", "deepseek-xml"},
      {"fireworks-ai-llama-3-firefunction-v2", "phi4"},
      {"google-gemma-2-2b-it", "none"},
      {"google-gemma-4-31B-it", "gemma"},
      {"ibm-granite-granite-3.3-2B-Instruct", "granite"},
      {"ibm-granite-granite-4.1", "hermes"},
      {"llama-cpp-deepseek-r1", "deepseek"},
      {"meetkai-functionary-medium-v3.2", "functionary"},
      {"meta-llama-Llama-3.3-70B-Instruct", "llama3"},
      {"mistralai-Ministral-3-14B-Reasoning-2512", "mistral"},
      {"moonshotai-Kimi-K2", "kimi"},
      {"openai-gpt-oss-120b", "harmony"},
      {"openbmb-MiniCPM5-1B", "minicpm"},
      {"unsloth-mistral-Devstral-Small-2507", "mistral"},
  };
  return formats;
}

// Why a case is not read as that program does; empty when it should be.
std::string WhyOtherwise(const Json& row) {
  const std::string& input = row.Find("input")->AsString();
  const Json& expect = *row.Find("expect");
  const std::string& content = expect.Find("content")->AsString();
  for (const char* mark : {"<think>", "<|START_THINKING|>", "<|channel>thought"}) {
    if (content.starts_with(mark)) return "thoughts left in the content, an option there";
  }
  if (row.Find("is_partial")->AsBool()) return "it is cut off";
  if (expect.Find("reasoning_content")->AsString().starts_with("Here are my reasoning steps")) {
    return "the thought has words of the prompt there";
  }
  if (input.find("<parameter=ref>\n5123123\n") != input.npos) {
    return "a number where the schema wants text, and no format knows schemas";
  }
  return "";
}

bool ReadAlike(const ParsedTurn& parsed, const Json& expect) {
  const Json::Array& calls = expect.Find("tool_calls")->AsArray();
  bool same = parsed.faults.empty() && parsed.calls.size() == calls.size() &&
              Trim(parsed.content) == Trim(expect.Find("content")->AsString()) &&
              parsed.reasoning == expect.Find("reasoning_content")->AsString();
  for (size_t i = 0; same && i < calls.size(); ++i) {
    same = parsed.calls[i].name == calls[i].Find("name")->AsString() &&
           parsed.calls[i].arguments == *ParseJson(calls[i].Find("arguments")->AsString());
  }
  return same;
}

// What the template writes of these calls, read; nothing where it cannot write them.
std::optional<ParsedTurn> WrittenByTemplate(const Dialect& dialect,
                                            const std::vector<SpokenCall>& calls) {
  Conversation conversation;
  conversation.messages.push_back({.role = Role::kUser, .content = "Please."});
  Message& turn = conversation.messages.emplace_back(Message{.role = Role::kAssistant});
  for (const SpokenCall& call : calls) {
    turn.calls.push_back({call.name, call.arguments});
    conversation.tools.push_back(*ParseJson(R"({"type": "function", "function": {"name": ")" +
                                            call.name + R"(", "description": "a", "parameters":
        {"type": "object", "properties": {}, "required": []}}})"));
  }
  const auto pieces = dialect.Render(conversation);
  if (!pieces.ok()) return std::nullopt;
  for (const Piece& piece : *pieces) {
    if (piece.author != Author::kPolicy || piece.text.find(calls[0].name) == std::string::npos) {
      continue;
    }
    return dialect.Parse(piece.text, TurnEnd::kEnded);
  }
  return std::nullopt;
}

bool SameCallsAs(const ParsedTurn& parsed, const std::vector<SpokenCall>& calls) {
  bool same = parsed.faults.empty() && parsed.calls.size() == calls.size();
  for (size_t i = 0; same && i < calls.size(); ++i) {
    same = parsed.calls[i].name == calls[i].name && parsed.calls[i].arguments == calls[i].arguments;
  }
  return same;
}

TEST(CallFormats, ReadTheCasesOfLlamaCpp) {
  HONE_NEED_SHARED(data, "data/chat-templates/tool_call_parse_cases.jsonl");
  const auto rows = ParseJsonLines(*ReadFile(data));
  ASSERT_TRUE(rows.ok());
  std::map<std::string, int> counts;
  for (const Json& row : *rows) {
    const std::string& model = row.Find("templates")->AsArray()[0].AsString();
    const auto format = FormatsOfModels().find(model);
    if (format == FormatsOfModels().end()) {
      ++counts["unknown model"];
      continue;
    }
    const std::string& input = row.Find("input")->AsString();
    const ParsedTurn parsed =
        ParseTurnIn(*CallFormatOf(format->second), input, {}, TurnEnd::kUnknown);
    const std::string why = WhyOtherwise(row);
    if (ReadAlike(parsed, *row.Find("expect"))) {
      ++counts["alike"];
      continue;
    }
    ++counts[why];
    EXPECT_NE(why, "") << model << " as " << format->second << ": " << input << "\n"
                       << (parsed.faults.empty() ? "" : parsed.faults[0].message);
    // A call is never taken for an answer.
    EXPECT_TRUE(!parsed.answer || row.Find("expect")->Find("tool_calls")->AsArray().empty());
  }
  for (const auto& [what, count] : counts) RecordProperty(what, count);
  EXPECT_EQ(counts["alike"] + counts["unknown model"], static_cast<int>(rows->size()) - 9);
  EXPECT_EQ(counts["unknown model"], 0);
}

// What the templates of public models write of a call is read back, whatever its arguments are.
TEST(CallFormats, CallsThatPublicTemplatesWriteAreReadBack) {
  HONE_NEED_SHARED(data, "data/chat-templates/templates");
  int templates = 0;
  for (const auto& entry : std::filesystem::directory_iterator(data)) {
    const std::string name = entry.path().stem().string();
    ModelTemplate model = LoadModelTemplate(entry.path()).value();
    model.tokens = {{"bos_token", "<s>"}, {"eos_token", "</s>"}};
    const auto dialect = NewTemplateDialect(std::move(model), {});
    ASSERT_TRUE(dialect.ok()) << dialect.error().message();
    const CallFormat format = *CallFormatOf((*dialect)->traits().call_format);
    int written = 0, read = 0;
    for (const CallWriter& writer : CallWriters()) {
      if (writer.format != format) continue;
      for (const std::vector<SpokenCall>& calls : SpokenCalls(writer)) {
        if (calls[0].name.size() < 2) continue;  // it stands in any text
        const std::optional<ParsedTurn> parsed = WrittenByTemplate(**dialect, calls);
        if (!parsed) continue;
        ++written;
        read += SameCallsAs(*parsed, calls) ? 1 : 0;
      }
      break;
    }
    RecordProperty(name, fmt::format("{} {}/{}", CallFormatName(format), read, written));
    templates += written > 0 ? 1 : 0;
    EXPECT_EQ(read, written) << name << " as " << CallFormatName(format);
  }
  EXPECT_GE(templates, 7);
}

}  // namespace
}  // namespace hone
