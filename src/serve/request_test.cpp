#include "serve/request.h"

#include <gtest/gtest.h>

namespace hone {
namespace {

constexpr std::string_view kHello = R"("messages": [{"role": "user", "content": "Hello"}])";

Result<ServedChat> Chat(std::string_view more) {
  return ReadChatRequest(R"({"model": "m", )" + std::string(kHello) + std::string(more) + "}");
}
std::string Problem(std::string_view more) {
  const auto read = Chat(more);
  return read.ok() ? "" : read.error().message();
}

TEST(ServeRequest, ReadsWhatTheApiHas) {
  const auto read = Chat(R"(, "temperature": 0.5, "top_p": 0.9, "top_k": 7, "min_p": 0.1, "n": 3,
      "max_completion_tokens": 9, "seed": -4, "stop": ["a", "b"], "stream": true,
      "stream_options": {"include_usage": true}, "logprobs": true, "top_logprobs": 5,
      "return_token_ids": true, "user": "somebody", "frequency_penalty": 0, "logit_bias": {},
      "tool_choice": "auto", "metadata": {"task": "t-1"}, "parallel_tool_calls": true,
      "chat_template_kwargs": {"enable_thinking": false}, "response_format": {"type": "text"})");
  ASSERT_TRUE(read.ok()) << read.error().message();
  EXPECT_EQ(read->model, "m");
  EXPECT_EQ(read->sampling,
            (Sampling{.temperature = 0.5f, .top_k = 7, .top_p = 0.9f, .min_p = 0.1f}));
  EXPECT_EQ(read->n, 3);
  EXPECT_EQ(read->max_tokens, 9);
  EXPECT_EQ(read->seed, static_cast<uint64_t>(int64_t{-4}));
  EXPECT_EQ(read->stops, (std::vector<std::string>{"a", "b"}));
  EXPECT_TRUE(read->stream && read->include_usage && read->logprobs && read->return_token_ids);
  EXPECT_EQ(read->top_logprobs, 5);
  EXPECT_EQ(read->task, "t-1");
  EXPECT_EQ(read->conversation.messages.size(), 1u);
  EXPECT_EQ(read->conversation.enable_thinking, false);
  EXPECT_EQ(read->conversation.add_generation_prompt, true);
}

TEST(ServeRequest, WhatIsWrongIsNamed) {
  EXPECT_TRUE(Problem(R"(, "temperature": -1)").starts_with("temperature: "));
  EXPECT_TRUE(Problem(R"(, "temperature": 0.00001)").starts_with("temperature: "));
  EXPECT_TRUE(Problem(R"(, "top_p": 0)").starts_with("top_p: "));
  EXPECT_TRUE(Problem(R"(, "n": 1000)").starts_with("n: "));
  EXPECT_TRUE(Problem(R"(, "stop": [1])").starts_with("stop: "));
  EXPECT_TRUE(Problem(R"(, "stream": 1)").starts_with("stream: "));
  EXPECT_TRUE(Problem(R"(, "stream_options": {})").starts_with("stream_options: "));
  EXPECT_NE(Problem(R"(, "stream": true, "stream_options": {"include_usag": true})")
                .find("include_usage"),
            std::string::npos);
  EXPECT_TRUE(Problem(R"(, "top_logprobs": 3)").starts_with("top_logprobs: "));
  EXPECT_TRUE(Problem(R"(, "tools": [{"type": "function"}])").starts_with("tools[0]: "));
  EXPECT_TRUE(Problem(R"(, "seed": "x")").starts_with("seed: "));
  EXPECT_NE(Problem(R"(, "max_token": 3)").find("max_tokens"), std::string::npos)
      << "a word that is nearly right is guessed";
  EXPECT_FALSE(ReadChatRequest("[]").ok());
  EXPECT_FALSE(ReadChatRequest("{").ok());
  EXPECT_FALSE(ReadChatRequest(R"({"model": "m"})").ok());
  EXPECT_FALSE(ReadChatRequest(R"({"model": "m", "messages": [{"role": "assistant"}]})").ok());
}

TEST(ServeRequest, WhatIsNotSupportedIsRefusedAndNotIgnored) {
  for (const char* more :
       {R"("tool_choice": "required")", R"("tool_choice": {"type": "function"})",
        R"("frequency_penalty": 0.5)", R"("logit_bias": {"5": 1})", R"("functions": [])",
        R"("response_format": {"type": "xml"})", R"("response_format": {"type": "json_schema"})",
        R"("response_format": "json_object")", R"("audio": {})", R"("parallel_tool_calls": false)",
        R"("reasoning_effort": "low")", R"("verbosity": "high")",
        R"("chat_template_kwargs": {"messages": []})", R"("chat_template_kwargs": 1)",
        R"("chat_template_kwargs": {"enable_thinking": 1})"}) {
    EXPECT_FALSE(Problem(", " + std::string(more)).empty()) << more;
  }
  EXPECT_EQ(Problem(R"(, "parallel_tool_calls": true, "verbosity": "medium")"), "");
  EXPECT_TRUE(Chat(R"(, "tools": [{"type": "function", "function": {"name": "f"}}],
                   "tool_choice": "none")")
                  ->conversation.tools.empty());
}

TEST(ServeRequest, ATemplateGetsItsArguments) {
  const auto chat = Chat(R"(, "chat_template_kwargs": {"enable_thinking": false,
      "date_string": "1 May 2025", "documents": [{"title": "a"}]})");
  ASSERT_TRUE(chat.ok()) << chat.error().message();
  EXPECT_EQ(chat->conversation.enable_thinking, false);
  ASSERT_EQ(chat->conversation.template_arguments.size(), 2u);
  EXPECT_EQ(chat->conversation.template_arguments[0].second, Json("1 May 2025"));
}

TEST(ServeRequest, ACallAndJsonCanBeAskedFor) {
  const std::string tools = R"(, "tools": [{"type": "function", "function": {"name": "f"}},
      {"type": "function", "function": {"name": "g"}}])";
  EXPECT_TRUE(Chat(tools)->form.any());
  const auto any = Chat(tools + R"(, "tool_choice": "required")");
  ASSERT_TRUE(any.ok()) << any.error().message();
  EXPECT_TRUE(any->form.must_call);
  EXPECT_EQ(any->form.calls.size(), 2u);
  const auto one =
      Chat(tools + R"(, "tool_choice": {"type": "function", "function": {"name": "g"}})");
  ASSERT_EQ(one->form.calls.size(), 1u);
  EXPECT_EQ(*one->form.calls[0].Find("function")->Find("name"), Json("g"));
  EXPECT_EQ(one->conversation.tools.size(), 2u) << "it still sees them all";
  EXPECT_TRUE(Problem(tools + R"(, "tool_choice": {"type": "function", "function": {"name": "h"}})")
                  .starts_with("tool_choice: there is no tool \"h\""));

  const auto object = Chat(R"(, "response_format": {"type": "json_object"})");
  ASSERT_TRUE(object.ok()) << object.error().message();
  EXPECT_TRUE(object->form.answer && object->form.answer->is_null());
  EXPECT_FALSE(object->may_call) << "nothing is offered, so nothing is a call";
  const auto schema = Chat(tools + R"(, "response_format": {"type": "json_schema",
      "json_schema": {"name": "n", "schema": {"type": "integer"}}})");
  EXPECT_EQ(*schema->form.answer, Json::Of({{"type", "integer"}}));
  EXPECT_EQ(schema->form.calls.size(), 2u) << "or one of these is called";
}

TEST(ServeRequest, TheSecondApiIsReadAsAChat) {
  Json asked;
  const auto read = ReadModelResponseRequest(R"({"model": "m", "instructions": "Be brief.",
      "input": [{"role": "developer", "content": "In English."},
        {"role": "user", "content": [{"type": "input_text", "text": "The sky?"}]},
        {"type": "reasoning", "id": "rs_1", "summary": []},
        {"type": "message", "role": "assistant", "content": [{"type": "output_text", "text": "Hm."}]},
        {"type": "function_call", "call_id": "c1", "name": "sky", "arguments": "{\"at\": 1}"},
        {"type": "function_call", "call_id": "c2", "name": "sky", "arguments": "{}"},
        {"type": "function_call_output", "call_id": "c2", "output": "fog"},
        {"type": "function_call_output", "call_id": "c1", "output": "sun"}],
      "tools": [{"type": "function", "name": "sky", "parameters": {"type": "object"}}],
      "tool_choice": {"type": "function", "name": "sky"}, "max_output_tokens": 9,
      "temperature": 0, "store": true, "text": {"format": {"type": "text"}}})",
                                             &asked);
  ASSERT_TRUE(read.ok()) << read.error().message();
  const std::vector<Message>& messages = read->conversation.messages;
  ASSERT_EQ(messages.size(), 5u);
  EXPECT_EQ(messages[0].content, "Be brief.\n\nIn English.");
  EXPECT_EQ(messages[2].content, "Hm.");
  EXPECT_EQ(messages[2].calls.size(), 2u);
  EXPECT_EQ(messages[3].name, "sky");
  EXPECT_EQ(messages[4].content, "sun");
  EXPECT_EQ(read->max_tokens, 9);
  EXPECT_TRUE(read->form.must_call);
  EXPECT_EQ(*asked.Find("max_output_tokens"), Json(9));

  const auto problem = [&](const std::string& more) {
    const auto bad = ReadModelResponseRequest(R"({"model": "m", )" + more + "}", &asked);
    return bad.ok() ? "" : bad.error().message();
  };
  for (const auto& [more, words] : std::vector<std::pair<std::string, std::string>>{
           {R"("input": "x", "previous_response_id": "r")", "previous_response_id: this server"},
           {R"("instructions": "x")", "input: is missing"},
           {R"("input": [{"type": "item_reference", "id": "x"}])", "input[0]: "},
           {R"("input": [{"role": "user", "content": [{"type": "input_image"}]}])",
            "input[0].content: "},
           {R"("input": "x", "tools": [{"type": "web_search"}])", "tools[0]: only functions"},
           {R"("input": "x", "max_output_tokens": 0)", "max_output_tokens: "},
           {R"("input": "x", "text": {"format": {"type": "xml"}})", "text.format: "},
           {R"("input": "x", "reasoning": {"effort": "low"})", "reasoning: "},
           {R"("input": "x", "reasoning": "low")", "reasoning: "},
           {R"("input": 3)", "input: "},
           {R"("input": [3])", "input[0]: "},
           {R"("input": "x", "include": 3)", "include: "},
           {R"("input": "x", "text": 3)", "text: "},
           {R"("input": "x", "tools": [3])", "tools[0]: "},
           {R"("input": "x", "tool_choice": 3)", "tool_choice: "},
           {R"("input": "x", "text": {"format": 3})", "text.format: "},
           {R"("input": "x", "text": {"format": {"type": "json_schema", "schema": 3}})",
            "text.format: "},
           {R"("input": "x", "truncation": "auto")", "truncation: "},
           {R"("input": "x", "inptu": 1)", "did you mean \"input\"?"},
           {R"("input": [{"type": "function_call_output", "call_id": "c", "output": "x"}])",
            "input[0].tool_call_id: "}}) {
    EXPECT_NE(problem(more).find(words), std::string::npos) << problem(more);
  }
}

TEST(ServeRequest, ResultsGetTheNamesOfTheirTools) {
  const auto read = ReadChatRequest(R"({"model": "m", "messages": [
      {"role": "user", "content": "q"},
      {"role": "assistant", "content": null, "tool_calls": [
        {"id": "c1", "type": "function", "function": {"name": "f", "arguments": "{\"a\": 1}"}},
        {"id": "c2", "type": "function", "function": {"name": "g", "arguments": "{}"}}]},
      {"role": "tool", "tool_call_id": "c2", "content": "two"},
      {"role": "tool", "tool_call_id": "c1", "content": "one"}]})");
  ASSERT_TRUE(read.ok()) << read.error().message();
  EXPECT_EQ(read->conversation.messages[1].calls[0].arguments, Json::Of({{"a", 1}}));
  EXPECT_EQ(read->conversation.messages[2].name, "g");
  EXPECT_EQ(read->conversation.messages[3].name, "f");
  EXPECT_EQ(read->call_ids[1], (std::vector<std::string>{"c1", "c2"}));
  EXPECT_EQ(read->call_ids[2], (std::vector<std::string>{"c2"}));
  EXPECT_FALSE(ReadChatRequest(R"({"model": "m", "messages": [
      {"role": "tool", "tool_call_id": "c9", "content": "x"}]})")
                   .ok());
}

TEST(ServeRequest, PromptsAreTextOrTokens) {
  const auto read = [](std::string_view prompt) {
    return ReadPlainRequest(R"({"model": "m", "prompt": )" + std::string(prompt) + "}");
  };
  EXPECT_EQ(read(R"("a")")->prompts[0].text, "a");
  EXPECT_EQ(read("[1, 2]")->prompts[0].tokens, (std::vector<TokenId>{1, 2}));
  EXPECT_EQ(read(R"(["a", "b"])")->prompts.size(), 2u);
  EXPECT_EQ(read("[[1], [2, 3]]")->prompts[1].tokens, (std::vector<TokenId>{2, 3}));
  for (const char* bad : {"3", "[]", "[-1]", "[[[1]]]", "[\"a\", 1.5]", "{}"}) {
    EXPECT_FALSE(read(bad).ok()) << bad;
  }
  EXPECT_FALSE(ReadPlainRequest(R"({"model": "m", "prompt": "a", "echo": true})").ok());
  EXPECT_TRUE(ReadPlainRequest(R"({"model": "m", "prompt": "a", "echo": false})").ok());
}

TEST(ServeRequest, StopTokensAreNotWithoutEnd) {
  const auto read = [](int64_t count) {
    return ReadPlainRequest(
        DumpJson(Json::Of({{"model", "m"},
                           {"prompt", "a"},
                           {"stop_token_ids", Json::ArrayOf(std::vector<TokenId>(count, 5))}})));
  };
  EXPECT_EQ(read(64)->stop_tokens.size(), 64u);
  EXPECT_NE(read(65).error().message().find("stop_token_ids"), std::string::npos);
}

TEST(ServeRequest, ErrorsHaveTheirShapeAndStatus) {
  const Json error = ApiErrorJson(400, "top_p: wants less");
  EXPECT_EQ(*error.Find("error")->Find("param"), Json("top_p"));
  EXPECT_EQ(*error.Find("error")->Find("type"), Json("invalid_request_error"));
  EXPECT_TRUE(ApiErrorJson(404, "there is: nothing").Find("error")->Find("param")->is_null());
  EXPECT_EQ(ApiErrorOf(Error(ErrorCode::kFull, "x")).status, 429);
  EXPECT_EQ(ApiErrorOf(Error(ErrorCode::kFull, "x")).headers[0].first, "Retry-After");
  EXPECT_EQ(ApiErrorOf(Error(ErrorCode::kStopped, "x")).status, 503);
  EXPECT_EQ(ApiErrorOf(Error(ErrorCode::kCorrupt, "x")).status, 500);
}

}  // namespace
}  // namespace hone
