#include "serve/response.h"

#include <gtest/gtest.h>

#include "base/file.h"
#include "support/tiny_served.h"

namespace hone {
namespace {

class ServeAnswerTest : public testing::Test {
 protected:
  ResponseContext Context() {
    return {.model = served_.get(), .head = {.id = "chatcmpl-1"}, .seed = 4, .max_tokens = 40};
  }
  // Everything drawn and told; the events of a stream, if it is one.
  std::string Run(Response* answer) {
    Batcher batcher(served_->engine.get(), {});
    const auto ticket = batcher.Submit(answer->Turns()).value();
    std::string events;
    for (auto news = ticket->Wait({}); !news.empty(); news = ticket->Wait({})) {
      for (const BatchTicket::News& one : news) events += answer->Tell(one).value();
    }
    return events + answer->Finish().value();
  }
  std::unique_ptr<Response> Chat(const std::string& more) {
    return NewChatResponse(Context(), ReadChatRequest(R"({"model": "m", "messages": [{"role":
        "user", "content": "Hello"}])" + more + "}")
                                          .value())
        .value();
  }

  const std::unique_ptr<ServedModel> served_ = TinyServed();
};

TEST_F(ServeAnswerTest, AChatNeverSpeaksAsSomebodyElse) {
  const auto answer = Chat(R"(, "n": 3, "return_token_ids": true)");
  EXPECT_EQ(Run(answer.get()), "");
  const Json whole = answer->Whole();
  const std::vector<TokenId>& forbidden = served_->engine->forbidden();
  int64_t tokens = 0;
  for (const Json& choice : whole.Find("choices")->AsArray()) {
    for (const Json& id : choice.Find("token_ids")->AsArray()) {
      ++tokens;
      EXPECT_FALSE(std::binary_search(forbidden.begin(), forbidden.end(),
                                      static_cast<TokenId>(id.AsInteger())));
    }
  }
  EXPECT_EQ(*whole.Find("usage")->Find("completion_tokens"), Json(tokens));
}

TEST_F(ServeAnswerTest, ArgumentsOfATemplateAreRefusedWhereThereIsNone) {
  const auto answer = NewChatResponse(
      Context(), ReadChatRequest(R"({"model": "m", "messages": [{"role": "user", "content": "Hi"}],
                                     "chat_template_kwargs": {"date_string": "today"}})")
                     .value());
  ASSERT_FALSE(answer.ok());
  EXPECT_NE(answer.error().message().find("chat_template_kwargs.date_string"), std::string::npos);
}

// A template that opens the thought itself; the model would write on and on.
TEST(ServeThoughtsTest, AThoughtIsClosedWhereTheServerOrTheRequestSaysSo) {
  const TemporaryDirectory model;
  ASSERT_TRUE(WriteFileAtomic(model.path() / "chat_template.jinja",
                              "{% for m in messages %}<|im_start|>{{ m.role }}\n"
                              "{% if m.role == 'assistant' %}<think>\n{{ m.reasoning_content }}"
                              "\n</think>\n\n{% endif %}{{ m.content }}"
                              "<|im_end|>\n{% endfor %}{% if add_generation_prompt %}"
                              "<|im_start|>assistant\n<think>\n{% endif %}")
                  .ok());
  const auto served = TinyServed("template:" + model.path().string());
  const size_t marker = served->tokenizer->Encode("</think>").size();
  const auto thought = [&](std::optional<int64_t> of_server, const std::string& more) {
    ResponseContext context{.model = served.get(),
                            .head = {.id = "chatcmpl-1"},
                            .seed = 4,
                            .max_tokens = 40,
                            .thought_tokens = of_server};
    const auto response =
        NewChatResponse(context, ReadChatRequest(R"({"model": "m", "return_token_ids": true,
            "messages": [{"role": "user", "content": "Hello"}])" +
                                                 more + "}")
                                     .value())
            .value();
    Batcher batcher(served->engine.get(), {});
    const auto ticket = batcher.Submit(response->Turns()).value();
    for (auto news = ticket->Wait({}); !news.empty(); news = ticket->Wait({})) {
      for (const BatchTicket::News& one : news) EXPECT_TRUE(response->Tell(one).ok());
    }
    EXPECT_TRUE(response->Finish().ok());
    std::vector<TokenId> tokens;
    const Json choice = response->Whole().Find("choices")->AsArray()[0];
    for (const Json& id : choice.Find("token_ids")->AsArray()) {
      tokens.push_back(static_cast<TokenId>(id.AsInteger()));
    }
    const size_t at = served->tokenizer->BytesOf(tokens).find("</think>");
    if (at == std::string::npos) return int64_t{-1};
    const Span span = TokenOffsets(*served->tokenizer, tokens).Covering({at, at + 8});
    EXPECT_EQ(span.end - span.begin, static_cast<int32_t>(marker));
    return int64_t{span.begin};
  };
  EXPECT_EQ(thought({}, ""), -1);
  EXPECT_EQ(thought(5, ""), 5);
  EXPECT_EQ(thought({}, R"(, "thinking_token_budget": 7)"), 7);
  EXPECT_EQ(thought(5, R"(, "thinking_token_budget": 7)"), 5) << "the server's is the most";
  EXPECT_EQ(thought(5, R"(, "thinking_token_budget": 0)"), 0);
  EXPECT_EQ(thought(5, R"(, "thinking_token_budget": -1)"), 5);
  EXPECT_EQ(thought({}, R"(, "thinking_token_budget": 6,
                            "response_format": {"type": "json_object"})"),
            6)
      << "with a form, too";
}

TEST(ServeThoughtsTest, ALimitThatCannotBeKeptIsRefused) {
  const auto served = TinyServed("action-json");
  const auto response = NewChatResponse(
      {.model = served.get(), .head = {.id = "chatcmpl-1"}, .seed = 4, .max_tokens = 40},
      ReadChatRequest(R"({"model": "m", "messages": [{"role": "user", "content": "Hi"}],
                          "thinking_token_budget": 4})")
          .value());
  ASSERT_FALSE(response.ok());
  EXPECT_NE(response.error().message().find("thinking_token_budget: the dialect action-json"),
            std::string::npos);
}

TEST_F(ServeAnswerTest, ACallInAnotherFormatIsToldOfWhereToolsWereOffered) {
  const std::string turn = "[TOOL_CALLS]get_weather[ARGS]{\"city\": \"Paris\"}";
  const std::string tools =
      R"(, "tools": [{"type": "function", "function": {"name": "get_weather"}}])";
  for (const bool stream : {false, true}) {
    for (const auto& [more, times] :
         {std::pair(tools, 1), std::pair(std::string(), 0),
          std::pair(tools + R"(, "tool_choice": "none")", 0),
          std::pair(tools + R"(, "response_format": {"type": "json_object"})", 0)}) {
      ResponseContext context = Context();
      std::vector<std::string> told;
      context.unread = [&](const UnreadCall& call) { told.push_back(NoteOn(call)); };
      const std::string asked = R"({"model": "m", "messages": [{"role": "user", "content": "Hi"}])";
      const std::string body = asked + more + (stream ? R"(, "stream": true})" : "}");
      const auto answer = NewChatResponse(context, ReadChatRequest(body).value()).value();
      answer->Turns();
      BatchTicket::News news;
      news.fresh.tokens = served_->tokenizer->Encode(turn);
      news.fresh.logprobs.assign(news.fresh.tokens.size(), -1);
      news.fresh.stopped = true;
      news.ended = true;
      ASSERT_TRUE(answer->Tell(news).ok());
      ASSERT_TRUE(answer->Finish().ok());
      ASSERT_EQ(told.size(), static_cast<size_t>(times)) << more;
      if (times == 0) continue;
      EXPECT_NE(told[0].find("calls=mistral"), std::string::npos) << told[0];
    }
  }
}

TEST_F(ServeAnswerTest, AStreamBeginsAndEndsEveryChoice) {
  const auto answer =
      Chat(R"(, "n": 2, "stream": true, "stream_options": {"include_usage": true})");
  const std::string events = Run(answer.get());
  EXPECT_TRUE(events.starts_with("data: {\"id\":\"chatcmpl-1\""));
  size_t ends = 0;
  for (size_t at = 0; (at = events.find("\"finish_reason\":\"", at)) != std::string::npos; ++at) {
    ++ends;
  }
  EXPECT_EQ(ends, 2u);
  EXPECT_NE(events.find("\"total_tokens\":"), std::string::npos);
}

TEST_F(ServeAnswerTest, ThereIsRoomForWhatFits) {
  DrawOptions settings;
  EXPECT_EQ(RoomFor(Context(), settings, "messages", 10, 16).value(), 16);
  settings.max_tokens = 1000;
  EXPECT_EQ(RoomFor(Context(), settings, "messages", 10, 16).value(), 40) << "the server's limit";
  EXPECT_EQ(RoomFor(Context(), settings, "messages", 250, 16).value(), 6) << "the model's";
  EXPECT_FALSE(RoomFor(Context(), settings, "messages", 256, 16).ok());
}

TEST_F(ServeAnswerTest, ManyPromptsAreManyChoices) {
  const auto answer =
      NewPlainResponse(Context(), ReadPlainRequest(R"({"model": "m", "prompt": ["a", "b"],
          "n": 2, "max_tokens": 5, "seed": 1, "logprobs": 2, "return_token_ids": true})")
                                      .value())
          .value();
  Run(answer.get());
  const Json whole = answer->Whole();
  const Json::Array& choices = whole.Find("choices")->AsArray();
  ASSERT_EQ(choices.size(), 4u);
  EXPECT_NE(*choices[0].Find("token_ids"), *choices[1].Find("token_ids"));
  EXPECT_EQ(choices[2].Find("logprobs")->Find("top_logprobs")->AsArray().size(),
            choices[2].Find("token_ids")->AsArray().size());
  EXPECT_EQ(*choices[3].Find("index"), Json(3));
  EXPECT_FALSE(
      NewPlainResponse(Context(), ReadPlainRequest(R"({"model": "m", "prompt": ""})").value())
          .ok());
}

TEST_F(ServeAnswerTest, TheSamePromptTwiceIsTwoSamplesUnlessASeedIsSaid) {
  for (const char* seed : {"", ", \"seed\": 1"}) {
    const auto request =
        ReadPlainRequest(std::string(R"({"model": "m", "prompt": ["a", "a"], "max_tokens": 20,
            "return_token_ids": true)") +
                         seed + "}");
    const auto answer = NewPlainResponse(Context(), request.value()).value();
    Run(answer.get());
    const Json whole = answer->Whole();
    const Json::Array& choices = whole.Find("choices")->AsArray();
    EXPECT_EQ(*choices[0].Find("token_ids") == *choices[1].Find("token_ids"), *seed != '\0');
  }
}

TEST_F(ServeAnswerTest, WhatAnAnswerTakesIsBounded) {
  DrawOptions settings;
  settings.top_logprobs = 20;
  settings.n = 64;
  ResponseContext context = Context();
  EXPECT_TRUE(RoomFor(context, settings, "messages", 10, 16).ok());
  context.max_tokens = 4096;
  settings.max_tokens = 4096;
  settings.n = 256;
  const auto refused = RoomFor(context, settings, "messages", 10, 16);
  ASSERT_FALSE(refused.ok());
  EXPECT_NE(refused.error().message().find("top_logprobs"), std::string::npos);

  const auto answer = Chat("");
  BatchTicket::News news{0, {}, false};
  news.fresh.tokens = {1};
  news.fresh.supports = {Support{.kept = std::vector<TokenId>((size_t{1} << 23), 1)}};
  EXPECT_TRUE(answer->Tell(news).ok());
  EXPECT_TRUE(answer->Tell(news).ok());
  const auto told = answer->Tell(news);
  ASSERT_FALSE(told.ok());
  EXPECT_NE(told.error().message().find("top_p"), std::string::npos);
}

TEST_F(ServeAnswerTest, TheFirstChoiceIsThatOfGenerate) {
  EXPECT_EQ(ChoiceStream(5, 0).NextU64(), Rng(5).Split("sample").NextU64());
  EXPECT_NE(ChoiceStream(5, 1).NextU64(), ChoiceStream(5, 0).NextU64());
}

}  // namespace
}  // namespace hone
