#include "serve/api_service.h"

#include <gtest/gtest.h>

#include "base/file.h"
#include "support/fake_exchange.h"
#include "support/tiny_served.h"

namespace hone {
namespace {

class ServeServiceTest : public testing::Test {
 protected:
  ServiceOptions Options() {
    ServiceOptions options;
    options.now = [] { return int64_t{1234}; };
    return options;
  }
  ServerResponse Ask(Service* service, const std::string& method, const std::string& path,
                     const std::string& body = "", const std::string& key = "") {
    FakeExchange exchange(method, path, body);
    if (!key.empty()) exchange.request_.headers.emplace_back("authorization", "Bearer " + key);
    service->Handle(exchange);
    return exchange.answer_;
  }
  const std::unique_ptr<ServedModel> served_ = TinyServed();
};

constexpr char kPlain[] = R"({"model": "tiny", "prompt": "Hello", "max_tokens": 5})";

TEST_F(ServeServiceTest, APromptThatCannotFitIsRefusedBeforeItIsCutIntoTokens) {
  const int64_t positions = served_->engine->config().max_positions;
  const PromptLimit limit = PromptLimitOf(*served_->tokenizer, positions);
  EXPECT_GT(limit.bytes, static_cast<size_t>(positions));
  EXPECT_LT(limit.bytes, static_cast<size_t>(8 << 20));
  // The longest text that fits, in its longest token.
  TokenId longest = 0;
  for (TokenId id = 0; id < served_->tokenizer->vocab_size(); ++id) {
    const auto bytes = [&](TokenId one) { return served_->tokenizer->TokenBytes(one).size(); };
    if (bytes(id) > bytes(longest)) longest = id;
  }
  EXPECT_TRUE(limit
                  .Check("prompt", static_cast<size_t>(positions) *
                                       served_->tokenizer->TokenBytes(longest).size())
                  .ok());
  served_->limit = limit;
  Service service(served_.get(), Options(), nullptr);
  const std::string text(limit.bytes + 1, 'x');
  for (const auto& [path, body] :
       {std::pair("/v1/completions", Json::Of({{"model", "tiny"}, {"prompt", text}})),
        std::pair("/v1/chat/completions",
                  Json::Of({{"model", "tiny"},
                            {"messages",
                             Json::Array{Json::Of({{"role", "user"}, {"content", text}})}}}))}) {
    const ServerResponse answer = Ask(&service, "POST", path, DumpJson(body));
    EXPECT_EQ(answer.status, 400);
    EXPECT_NE(answer.body.find("bytes never fit"), std::string::npos) << answer.body;
    EXPECT_NE(answer.body.find("context_length_exceeded"), std::string::npos) << answer.body;
  }
}

TEST_F(ServeServiceTest, TheKeyIsAskedForBeforeTheBodyIsRead) {
  ServiceOptions options = Options();
  options.api_key = "secret";
  Service service(served_.get(), options, nullptr);
  IncomingRequest head;
  head.path = "/v1/chat/completions";
  ASSERT_TRUE(service.Refusal(head));
  EXPECT_EQ(service.Refusal(head)->status, 401);
  head.headers.emplace_back("authorization", "Bearer secret");
  EXPECT_FALSE(service.Refusal(head));
}

TEST_F(ServeServiceTest, RoutesAndRefuses) {
  Service service(served_.get(), Options(), nullptr);
  EXPECT_EQ(Ask(&service, "GET", "/v1/models").status, 200);
  EXPECT_EQ(Ask(&service, "GET", "/v1/models/tiny").status, 200);
  EXPECT_EQ(Ask(&service, "GET", "/v1/models/big").status, 404);
  EXPECT_EQ(Ask(&service, "GET", "/health").status, 200);
  EXPECT_EQ(Ask(&service, "GET", "/healthz").status, 200);
  EXPECT_EQ(Ask(&service, "GET", "/").status, 404);
  EXPECT_EQ(Ask(&service, "POST", "/v1/rewards", "{}").status, 404) << "nothing is recorded";
  const ServerResponse wrong = Ask(&service, "GET", "/v1/completions");
  EXPECT_EQ(wrong.status, 405);
  EXPECT_EQ(wrong.headers[0].second, "POST");
  EXPECT_EQ(Ask(&service, "POST", "/v1/completions", kPlain).status, 200);
  EXPECT_EQ(Ask(&service, "POST", "/v1/chat/completions", "nonsense").status, 400);
}

TEST_F(ServeServiceTest, TheKeyIsAskedForEverywhereButAtTheDoor) {
  ServiceOptions options = Options();
  options.api_key = "secret";
  Service service(served_.get(), options, nullptr);
  EXPECT_EQ(Ask(&service, "GET", "/health").status, 200);
  for (const char* key : {"", "secre", "secrets", "Secret"}) {
    EXPECT_EQ(Ask(&service, "GET", "/v1/models", "", key).status, 401) << key;
  }
  EXPECT_EQ(Ask(&service, "GET", "/v1/models", "", "secret").status, 200);
}

TEST_F(ServeServiceTest, WhoLeavesIsNotToldTheRest) {
  Service service(served_.get(), Options(), nullptr);
  FakeExchange exchange("POST", "/v1/completions",
                        R"({"model": "tiny", "prompt": "a", "max_tokens": 200, "stream": true})");
  exchange.leaves_ = true;
  service.Handle(exchange);
  EXPECT_EQ(exchange.answer_.body.find("[DONE]"), std::string::npos);
  EXPECT_TRUE(service.Close(std::chrono::seconds(30)));
  EXPECT_EQ(service.counters().live, 0);
}

TEST_F(ServeServiceTest, AClosedServiceSays503) {
  Service service(served_.get(), Options(), nullptr);
  EXPECT_TRUE(service.Close(std::chrono::seconds(30)));
  EXPECT_EQ(Ask(&service, "POST", "/v1/completions", kPlain).status, 503);
  EXPECT_EQ(Ask(&service, "GET", "/health").status, 200);
}

TEST_F(ServeServiceTest, TheSameSeedGivesTheSameAnswerAndNoSeedAnother) {
  Service service(served_.get(), Options(), nullptr);
  const auto text = [&](const std::string& more) {
    const ServerResponse answer =
        Ask(&service, "POST", "/v1/completions",
            R"({"model": "tiny", "prompt": "Hello", "max_tokens": 8)" + more + "}");
    return DumpJson(*ParseJson(answer.body)->Find("choices"));
  };
  EXPECT_EQ(text(R"(, "seed": 3)"), text(R"(, "seed": 3)"));
  EXPECT_NE(text(""), text(""));
}

TEST_F(ServeServiceTest, ACallThatMustBeMadeIsMade) {
  const std::unique_ptr<ServedModel> desk = TinyServed("tagged:desk");
  Service service(desk.get(), Options(), nullptr);
  for (int seed = 0; seed < 5; ++seed) {
    const ServerResponse answer = Ask(&service, "POST", "/v1/chat/completions",
                                      R"({"model": "tiny",
        "messages": [{"role": "user", "content": "Oslo?"}], "tool_choice": "required", "seed": )" +
                                          std::to_string(seed) + R"(, "tools":
        [{"type": "function", "function": {"name": "sky", "parameters": {"type": "object",
          "properties": {"city": {"enum": ["Oslo", "Rome"]}}, "required": ["city"]}}}]})");
    ASSERT_EQ(answer.status, 200) << answer.body;
    const Json choice = ParseJson(answer.body)->Find("choices")->AsArray()[0];
    EXPECT_EQ(*choice.Find("finish_reason"), Json("tool_calls")) << answer.body;
    const Json* calls = choice.Find("message")->Find("tool_calls");
    ASSERT_TRUE(calls != nullptr && calls->AsArray().size() == 1) << answer.body;
    const Json* function = calls->AsArray()[0].Find("function");
    EXPECT_EQ(*function->Find("name"), Json("sky"));
    const Json arguments = *ParseJson(function->Find("arguments")->AsString());
    EXPECT_TRUE(arguments == Json::Of({{"city", "Oslo"}}) ||
                arguments == Json::Of({{"city", "Rome"}}));
  }
}

TEST_F(ServeServiceTest, ResponsesAreItemsAndAStreamOfThemSaysTheSame) {
  Service service(served_.get(), Options(), nullptr);
  const std::string asked = R"({"model": "tiny", "input": "Oslo?", "seed": 3, "text": {"format":
      {"type": "json_schema", "name": "sky", "schema": {"type": "object",
       "properties": {"sky": {"enum": ["sun", "fog"]}, "warm": {"type": "boolean"}},
       "required": ["sky", "warm"]}}})";
  const ServerResponse answer = Ask(&service, "POST", "/v1/responses", asked + "}");
  ASSERT_EQ(answer.status, 200) << answer.body;
  const Json whole = *ParseJson(answer.body);
  EXPECT_EQ(*whole.Find("status"), Json("completed"));
  const Json item = whole.Find("output")->AsArray().at(0);
  const std::string said = item.Find("content")->AsArray().at(0).Find("text")->AsString();
  const auto json = ParseJson(said);
  ASSERT_TRUE(json.ok()) << said;
  EXPECT_TRUE(json->Find("warm")->is_bool()) << said;

  const ServerResponse stream =
      Ask(&service, "POST", "/v1/responses", asked + R"(, "stream": true})");
  EXPECT_EQ(stream.body.find("[DONE]"), std::string::npos);
  std::string text;
  std::vector<std::string> types;
  int64_t number = 0;
  for (size_t at = 0; (at = stream.body.find("data: ", at)) != std::string::npos; at += 6) {
    const size_t end = stream.body.find('\n', at);
    const Json event = *ParseJson(stream.body.substr(at + 6, end - at - 6));
    EXPECT_EQ(*event.Find("sequence_number"), Json(number++));
    types.push_back(event.Find("type")->AsString());
    if (types.back() == "response.output_text.delta") text += event.Find("delta")->AsString();
    if (types.back() == "response.completed") {
      EXPECT_EQ(event.Find("response")->Find("output")->AsArray()[0].Find("content")->AsArray()[0],
                item.Find("content")->AsArray()[0]);
    }
  }
  EXPECT_EQ(text, said);
  EXPECT_EQ(types.front(), "response.created");
  EXPECT_EQ(types.back(), "response.completed");
}

constexpr char kUpdatePath[] = "/update_weights_from_disk";

TEST_F(ServeServiceTest, WeightsAreUpdatedWhereItIsAllowed) {
  TemporaryDirectory directory;
  Model other = served_->engine->model();
  InitializeModel(77, &other);
  const std::string folder = (directory.path() / "other").string();
  ASSERT_TRUE(SaveModel(other, SaveType::kF32, folder).ok());
  const std::string body = DumpJson(Json::Of({{"model_path", folder}}));
  {
    Service closed(served_.get(), Options(), nullptr);
    const ServerResponse refused = Ask(&closed, "POST", kUpdatePath, body);
    EXPECT_EQ(refused.status, 404);
    EXPECT_NE(refused.body.find("--allow-updates"), std::string::npos) << refused.body;
  }
  ServiceOptions options = Options();
  options.allow_updates = true;
  Service service(served_.get(), options, nullptr);
  const std::string asked = R"({"model": "tiny", "prompt": "Hello", "max_tokens": 5, "seed": 3,
                                "logprobs": 0, "return_token_ids": true})";
  const Json before = ParseJson(Ask(&service, "POST", "/v1/completions", asked).body).value();
  const ServerResponse updated = Ask(&service, "POST", kUpdatePath, body);
  ASSERT_EQ(updated.status, 200) << updated.body;
  const Json said = ParseJson(updated.body).value();
  EXPECT_EQ(*said.Find("success"), Json(true));
  const Json after = ParseJson(Ask(&service, "POST", "/v1/completions", asked).body).value();
  EXPECT_NE(*after.Find("system_fingerprint"), *before.Find("system_fingerprint"));
  EXPECT_NE(Ask(&service, "GET", "/v1/models").body.find(said.Find("weights")->AsString()),
            std::string::npos);

  // As a server that began with them.
  const auto fresh = TinyServed();
  ASSERT_TRUE(fresh->engine->Become(std::move(other)).ok());
  fresh->weights = fresh->engine->WeightsHash();
  EXPECT_EQ(Json(fresh->weights), *said.Find("weights"));
  Service began(fresh.get(), Options(), nullptr);
  const Json expected = ParseJson(Ask(&began, "POST", "/v1/completions", asked).body).value();
  EXPECT_EQ(*after.Find("choices"), *expected.Find("choices"));
}

TEST_F(ServeServiceTest, AnUpdateThatCannotBeLeavesTheServerAsItWas) {
  TemporaryDirectory directory;
  ModelConfig config = served_->engine->config();
  config.layers = 2;
  Model deeper = NewModel(config);
  const std::string folder = (directory.path() / "deeper").string();
  ASSERT_TRUE(SaveModel(deeper, SaveType::kF32, folder).ok());
  ServiceOptions options = Options();
  options.allow_updates = true;
  Service service(served_.get(), options, nullptr);
  const auto refused = [&](const std::string& body) {
    const ServerResponse answer = Ask(&service, "POST", kUpdatePath, body);
    EXPECT_EQ(answer.status, 400) << answer.body;
    return answer.body;
  };
  EXPECT_NE(refused(DumpJson(Json::Of({{"model_path", folder}}))).find("layers of 1 and 2"),
            std::string::npos);
  EXPECT_NE(refused(R"({"model_path": "/no/such/folder"})").find("success\":false"),
            std::string::npos);
  EXPECT_NE(refused("{}").find("model_path"), std::string::npos);
  EXPECT_NE(refused(R"({"model_path": "x", "abort_all_requests": true})").find("abort_all"),
            std::string::npos);
  EXPECT_NE(refused(R"({"model_path": "x", "drive": 1})").find("drive"), std::string::npos);
  EXPECT_EQ(Ask(&service, "POST", kUpdatePath, "nothing").status, 400);
  EXPECT_EQ(Ask(&service, "GET", kUpdatePath).status, 405);
  EXPECT_EQ(Ask(&service, "POST", "/v1/completions", kPlain).status, 200);
  EXPECT_NE(Ask(&service, "GET", "/v1/models").body.find(served_->weights), std::string::npos);
}

// What clients who train ask of a completion, as vLLM spells it.
TEST_F(ServeServiceTest, CompletionsEndAndForbidAsClientsSay) {
  Service service(served_.get(), Options(), nullptr);
  const auto complete = [&](const std::string& more) {
    const std::string body =
        R"({"model": "tiny", "prompt": "Hello", "max_tokens": 9, "seed": 3, "temperature": 1.5,
            "logprobs": 0, "return_token_ids": true, "ignore_eos": true)" +
        more + "}";
    const ServerResponse answer = Ask(&service, "POST", "/v1/completions", body);
    EXPECT_EQ(answer.status, 200) << answer.body;
    return ParseJson(answer.body).value().Find("choices")->AsArray()[0];
  };
  const Json whole = complete("");
  const Json::Array ids = whole.Find("token_ids")->AsArray();
  ASSERT_EQ(ids.size(), 9u);
  const std::string third = std::to_string(ids[2].AsInteger());
  const Json stopped = complete(R"(, "stop_token_ids": [)" + third + "]");
  EXPECT_LE(stopped.Find("token_ids")->AsArray().size(), 3u);
  EXPECT_EQ(stopped.Find("token_ids")->AsArray().back(), ids[2]);
  EXPECT_EQ(*stopped.Find("finish_reason"), Json("stop"));
  const Json kept =
      complete(R"(, "include_stop_str_in_output": true, "stop_token_ids": [)" + third + "]");
  EXPECT_GT(kept.Find("text")->AsString().size(), stopped.Find("text")->AsString().size());

  // The dialect's own set is forbidden, and the log-probs are those of the rest.
  Json bans = Json::Object();
  for (const TokenId token : served_->engine->forbidden()) bans.Set(std::to_string(token), -100);
  const Json without = complete(R"(, "logit_bias": )" + DumpJson(bans));
  EXPECT_NE(*without.Find("logprobs"), *whole.Find("logprobs"));
  const std::string body = R"({"model": "tiny", "prompt": "Hello", "logit_bias": {"5": -100}})";
  const ServerResponse other = Ask(&service, "POST", "/v1/completions", body);
  EXPECT_EQ(other.status, 400);
  EXPECT_NE(other.body.find("--dialect"), std::string::npos) << other.body;
}

}  // namespace
}  // namespace hone
