// hone serve, from outside.

#include "e2e/serving.h"

#include <thread>

namespace hone {
namespace {

Json Ids(const Json& answer) { return *answer.Find("choices")->AsArray()[0].Find("token_ids"); }

TEST(Serve, ServedTokensAreThoseOfGenerateWhoeverIsBeside) {
  TemporaryDirectory directory;
  const std::string model = FreshModel(directory.path());
  const ServedProgram served(model);
  struct Case {
    std::string prompt, temperature, seed;
    Json expected, got;
  };
  std::vector<Case> cases;
  for (const char* prompt : {"Hello", "The weather in Paris is", "1 2 3 4"}) {
    for (const char* temperature : {"0", "0.9"}) cases.push_back({prompt, temperature, "7"});
  }
  for (Case& one : cases) {
    const SubprocessResult alone =
        Hone({"generate", model, one.prompt, "--max-new", "40", "--temperature", one.temperature,
              "--seed", one.seed, "--json"});
    one.expected = *ParseJson(alone.standard_output)->Find("ids");
  }
  std::vector<std::thread> clients;
  for (Case& one : cases) {
    clients.emplace_back([&served, &one] {
      one.got =
          Ids(served.Answer("/completions", Json::Of({{"model", "fresh"},
                                                      {"prompt", one.prompt},
                                                      {"max_tokens", 40},
                                                      {"temperature", std::stod(one.temperature)},
                                                      {"seed", 7},
                                                      {"return_token_ids", true}})));
    });
  }
  for (std::thread& client : clients) client.join();
  for (const Case& one : cases) EXPECT_EQ(one.got, one.expected) << one.prompt << one.temperature;
}

TEST(Serve, AStreamSaysWhatTheWholeAnswerSays) {
  TemporaryDirectory directory;
  const ServedProgram served(FreshModel(directory.path()));
  const Json chat =
      Json::Of({{"model", "fresh"},
                {"messages", Json(Json::Array{Json::Of({{"role", "user"}, {"content", "Hello"}})})},
                {"max_tokens", 30},
                {"seed", 5},
                {"return_token_ids", true}});
  const Json whole = served.Answer("/chat/completions", chat);
  const Json& choice = whole.Find("choices")->AsArray()[0];
  EXPECT_EQ(*whole.Find("object"), Json("chat.completion"));
  Json asked = chat;
  asked.Set("stream_options", Json::Of({{"include_usage", true}}));
  const Streamed streamed = Stream(served, "/chat/completions", asked);
  EXPECT_TRUE(streamed.done);
  EXPECT_EQ(Json(streamed.content), *choice.Find("message")->Find("content"));
  EXPECT_EQ(Json(streamed.reason), *choice.Find("finish_reason"));
  EXPECT_EQ(Json::ArrayOf(streamed.token_ids), *choice.Find("token_ids"));
  EXPECT_EQ(streamed.usage, *whole.Find("usage"));

  const Json plain = Json::Of({{"model", "fresh"},
                               {"prompt", "Hello"},
                               {"max_tokens", 30},
                               {"seed", 5},
                               {"return_token_ids", true}});
  const Json text = served.Answer("/completions", plain);
  const Streamed pieces = Stream(served, "/completions", plain);
  EXPECT_TRUE(pieces.done);
  EXPECT_EQ(Json(pieces.content), *text.Find("choices")->AsArray()[0].Find("text"));
  EXPECT_EQ(Json::ArrayOf(pieces.token_ids), Ids(text));
}

TEST(Serve, LogprobsAreThoseOfTheTokensThatWereDrawn) {
  TemporaryDirectory directory;
  const ServedProgram served(FreshModel(directory.path()));
  const Json answer = served.Answer(
      "/chat/completions",
      Json::Of({{"model", "fresh"},
                {"messages", Json(Json::Array{Json::Of({{"role", "user"}, {"content", "Hi"}})})},
                {"max_tokens", 12},
                {"n", 2},
                {"logprobs", true},
                {"top_logprobs", 4},
                {"return_token_ids", true}}));
  ASSERT_EQ(answer.Find("choices")->AsArray().size(), 2u);
  for (const Json& choice : answer.Find("choices")->AsArray()) {
    const Json::Array& tokens = choice.Find("logprobs")->Find("content")->AsArray();
    EXPECT_EQ(tokens.size(), choice.Find("token_ids")->AsArray().size());
    for (const Json& token : tokens) {
      EXPECT_LE(token.Find("logprob")->AsDouble(), 0);
      ASSERT_EQ(token.Find("top_logprobs")->AsArray().size(), 4u);
      EXPECT_GE(token.Find("top_logprobs")->AsArray()[0].Find("logprob")->AsDouble(),
                token.Find("logprob")->AsDouble());
    }
  }
}

TEST(Serve, ErrorsAreThoseOfTheApi) {
  TemporaryDirectory directory;
  const std::string model = FreshModel(directory.path());
  const ServedProgram served(model, {"--api-key", "secret", "--max-body", "1"});
  const auto status = [&](const std::string& path, const std::string& method,
                          const std::string& body, const std::string& key = "secret") {
    HttpRequest request = served.Request(path);
    request.method = method;
    request.body = body;
    request.headers = {{"Authorization", "Bearer " + key}};
    const auto response = HttpFetch(request);
    EXPECT_TRUE(response.ok()) << response.error().message();
    const auto json = ParseJson(response->body);
    EXPECT_TRUE(json.ok() && (response->status == 200 || json->Find("error") != nullptr))
        << response->body;
    return response->status;
  };
  EXPECT_EQ(status("/models", "GET", ""), 200);
  EXPECT_EQ(status("/models", "GET", "", "wrong"), 401);
  EXPECT_EQ(status("/models/fresh", "GET", ""), 200);
  EXPECT_EQ(status("/models/gpt-4", "GET", ""), 404);
  EXPECT_EQ(status("/nothing", "GET", ""), 404);
  EXPECT_EQ(status("/models", "DELETE", ""), 405);
  EXPECT_EQ(status("/completions", "POST", "{"), 400);
  EXPECT_EQ(status("/completions", "POST", R"({"model": "gpt-4", "prompt": "a"})"), 404);
  EXPECT_EQ(status("/completions", "POST", R"({"model": "fresh", "prompt": "a", "top_p": 2})"),
            400);
  EXPECT_EQ(status("/completions", "POST", R"({"model": "fresh", "prompt": [99999]})"), 400);
  EXPECT_EQ(status("/completions", "POST",
                   R"({"model": "fresh", "prompt": ")" + std::string(2000, 'x') + "\"}"),
            400)
      << "longer than the model's context";
  EXPECT_EQ(status("/completions", "POST", std::string(2 << 20, ' ')), 413);
  EXPECT_EQ(served.Health().Find("status")->AsString(), "ok") << "without a key";
  const std::string port = served.url().substr(17, served.url().find("/v1") - 17);
  ExpectError(Hone({"serve", model, "--port", port}), 1, "in use");
  ExpectError(Hone({"serve", "no-such-model"}), 1, "no-such-model");
  ExpectError(Hone({"serve", model, "--dialect", "klingon"}), 1, "klingon");
}

TEST(Serve, AFullHouseIsToldAndAClientThatLeavesMakesRoom) {
  TemporaryDirectory directory;
  // Large enough to be still at it when the second one asks.
  const ServedProgram served(FreshModel(directory.path(), "width=512"),
                             {"--max-batch", "1", "--max-waiting", "0"});
  const Json endless =
      Json::Of({{"model", "fresh"}, {"prompt", "Hello"}, {"max_tokens", 500}, {"stream", true}});
  HttpRequest request = served.Request("/completions", endless);
  int full = 0;
  std::string retry;
  request.on_data = [&](std::string_view) {
    const HttpResponse other = served.Ask("/completions", endless);
    full = other.status;
    retry = other.Header("retry-after");
    return false;  // and leaves
  };
  // What is drawn may end at once, or before a busy machine lets the second one ask: then again.
  for (int attempt = 0; attempt < 20 && *served.Health().Find("cancelled") == Json(0); ++attempt) {
    ASSERT_TRUE(HttpFetch(request).ok());
    while (served.Health().Find("live")->AsInteger() > 0) std::this_thread::yield();
  }
  EXPECT_EQ(*served.Health().Find("cancelled"), Json(1));
  EXPECT_EQ(full, 429);
  EXPECT_EQ(retry, "1");
}

TEST(Serve, ASignalDuringStreamsEndsThemCleanly) {
  TemporaryDirectory directory;
  const std::string model = FreshModel(directory.path());
  const Json body = Json::Of({{"model", "fresh"}, {"prompt", "Hello"}, {"max_tokens", 400}});
  for (const char* grace : {"60", "0"}) {
    ServedProgram served(model, {"--grace", grace});
    std::vector<Streamed> streams(4);
    std::atomic<int> begun = 0;
    std::vector<std::thread> clients;
    for (Streamed& one : streams) {
      clients.emplace_back([&] {
        one = Stream(served, "/completions", body, [&] {
          if (++begun == 4) served.Signal();
        });
      });
    }
    for (std::thread& client : clients) client.join();
    for (const Streamed& one : streams) {
      const bool finished = one.done && !one.reason.empty();
      const bool in_time = std::string(grace) == "60";
      EXPECT_TRUE(finished || (!in_time && one.error == "the server is shutting down"))
          << one.error;
    }
    EXPECT_EQ(served.Wait(), 0);
  }
}

TEST(Serve, TheClientThatPeopleUseIsContent) {
  const std::string packages = HONE_SOURCE_DIR "/build/openai-client/node_modules";
  if (!std::filesystem::exists(packages)) {
    GTEST_SKIP() << "the openai package of npm is not installed: ./dev test installs it where npm "
                    "and its registry are there";
  }
  TemporaryDirectory directory;
  const ServedProgram served(TaughtRun(directory.path()), {"--api-key", "secret"});
  const auto checked = RunSubprocess(
      {"node", HONE_SOURCE_DIR "/tests/openai/check.mjs", served.url(), "secret", packages}, "",
      std::chrono::seconds(100));
  ASSERT_TRUE(checked.ok()) << checked.error().message();
  EXPECT_EQ(checked->exit_code, 0) << checked->standard_output << checked->standard_error;
}

// Another program's idea of HTTP: what curl gets for a request, status line and headers first.
std::string Curl(const ServedProgram& served, const std::string& path, const std::string& body,
                 std::vector<std::string> more = {"-H", "Authorization: Bearer secret"}) {
  std::vector<std::string> command = {"curl", "-sS", "-i", "-N", served.url() + path};
  if (!body.empty()) {
    command.insert(command.end(), {"-H", "Content-Type: application/json", "-d", body});
  }
  command.insert(command.end(), more.begin(), more.end());
  const auto curled = RunSubprocess(command, "", std::chrono::seconds(60));
  EXPECT_TRUE(curled.ok() && curled->exit_code == 0) << curled->standard_error;
  return curled->standard_output;
}

Json BodyOf(const std::string& response) {
  const size_t end = response.find("\r\n\r\n");
  const auto json = ParseJson(response.substr(end + 4));
  EXPECT_TRUE(json.ok()) << response;
  return json.ok() ? *json : Json();
}

TEST(Serve, CurlIsContent) {
  if (!RunSubprocess({"curl", "--version"}, "", std::chrono::seconds(30)).ok()) {
    GTEST_SKIP() << "there is no curl here (apt-get install curl)";
  }
  TemporaryDirectory directory;
  const ServedProgram served(TaughtRun(directory.path()), {"--api-key", "secret"});
  const std::string chat = R"({"model": "tiny", "messages": [{"role": "user", "content": )"
                           R"("What time is it?"}], "seed": 7, "max_tokens": 24, "logprobs": true)";
  const auto says = [](const std::string& response, const std::string& words) {
    EXPECT_NE(response.find(words), std::string::npos) << "not " << words << " in " << response;
  };

  says(Curl(served, "/models", ""), "HTTP/1.1 200 OK\r\n");

  const std::string whole = Curl(served, "/chat/completions", chat + "}");
  says(whole, "HTTP/1.1 200 OK\r\n");
  says(whole, "Content-Type: application/json");
  const Json answer = BodyOf(whole);
  EXPECT_EQ(answer.Find("object")->AsString(), "chat.completion");
  const Json& choice = answer.Find("choices")->AsArray()[0];
  const auto tokens =
      static_cast<size_t>(answer.Find("usage")->Find("completion_tokens")->AsInteger());
  EXPECT_GT(tokens, 0u);
  EXPECT_LE(choice.Find("logprobs")->Find("content")->AsArray().size(), tokens);

  // The same, as a stream: one event per line, the same words, an end.
  const std::string stream = Curl(served, "/chat/completions", chat + R"(, "stream": true})");
  says(stream, "HTTP/1.1 200 OK\r\n");
  says(stream, "Content-Type: text/event-stream");
  SseReader reader;
  Streamed streamed;
  for (const SseEvent& event : reader.Feed(stream.substr(stream.find("\r\n\r\n") + 4))) {
    streamed.Take(event);
  }
  EXPECT_TRUE(streamed.done);
  const Json& message = *choice.Find("message");
  EXPECT_EQ(streamed.content,
            message.Find("content")->is_null() ? "" : message.Find("content")->AsString());
  EXPECT_EQ(streamed.reason, choice.Find("finish_reason")->AsString());

  const Json plain = BodyOf(
      Curl(served, "/completions", R"({"model": "tiny", "prompt": "Hello", "max_tokens": 4})"));
  EXPECT_EQ(plain.Find("object")->AsString(), "text_completion");

  const std::string refused = Curl(served, "/models", "", {});
  says(refused, "HTTP/1.1 401 ");
  EXPECT_EQ(BodyOf(refused).Find("error")->Find("code")->AsString(), "invalid_api_key");
  says(Curl(served, "/chat/completions", "{"), "HTTP/1.1 400 ");
  says(Curl(served, "/nothing", ""), "HTTP/1.1 404 ");
  says(Curl(served, "/chat/completions",
            R"({"model": "another", "messages": [{"role": "user", "content": "Hi"}]})"),
       "HTTP/1.1 404 ");
  says(Curl(served, "/models", "", {"-X", "DELETE", "-H", "Authorization: Bearer secret"}),
       "HTTP/1.1 405 ");
}

TEST(Chat, ShowsCallsAndTheirResults) {
  TemporaryDirectory directory;
  const std::string run = TaughtRun(directory.path());
  const SubprocessResult talked = Hone({"chat", run}, "/tools\n1\n/new\n2\n/quit\n");
  EXPECT_EQ(talked.exit_code, 0) << talked.standard_error;
  const std::string& out = talked.standard_output;
  EXPECT_NE(out.find("for example"), std::string::npos) << out;
  EXPECT_NE(out.find("clock "), std::string::npos) << out;
  EXPECT_NE(out.find("→ "), std::string::npos) << "it calls: " << out;
  EXPECT_NE(out.find("← "), std::string::npos) << "and is answered: " << out;
  EXPECT_NE(out.find("a new conversation"), std::string::npos) << out;
  ExpectError(Hone({"chat", "no-such-model"}), 1, "no-such-model");
}

TEST(Chat, AModelWithoutToolsJustTalks) {
  TemporaryDirectory directory;
  const SubprocessResult talked =
      Hone({"chat", FreshModel(directory.path()), "--max-tokens", "8"}, "Hello\nagain\n");
  EXPECT_EQ(talked.exit_code, 0) << talked.standard_error;
  EXPECT_NE(talked.standard_output.find("without tools"), std::string::npos);
}

}  // namespace
}  // namespace hone
