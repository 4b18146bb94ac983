#include "serve/embedding_service.h"

#include <gtest/gtest.h>

#include <cstring>

#include "serve/api_key.h"
#include "serve/api_service.h"
#include "support/fake_exchange.h"
#include "support/tiny_served.h"
#include "text/vocabulary/char_map.h"

namespace hone {
namespace {

constexpr char kEncoderFolder[] = HONE_SOURCE_DIR "/tests/golden/encoder/small";

class EmbeddingServiceTest : public testing::Test {
 protected:
  std::unique_ptr<EmbeddingService> New(const std::string& key = "") {
    return std::make_unique<EmbeddingService>(
        TextEncoder::Open(kEncoderFolder, 1).value(),
        EmbeddingService::Options{.name = "small",
                                  .api_key = key,
                                  .now = [] { return int64_t{1234}; },
                                  .note = [this](std::string_view note) { notes_ += note; }});
  }
  template <typename Answering>
  ServerResponse Ask(Answering* service, const std::string& method, const std::string& path,
                     const std::string& body = "", const std::string& key = "") {
    FakeExchange exchange(method, path, body);
    if (!key.empty()) exchange.request_.headers.emplace_back("authorization", "Bearer " + key);
    service->Handle(exchange);
    return exchange.answer_;
  }
  Json Embedded(EmbeddingService* service, const std::string& body) {
    const ServerResponse response = Ask(service, "POST", "/v1/embeddings", body);
    EXPECT_EQ(response.status, 200) << response.body;
    return ParseJson(response.body).value();
  }
  std::string Refused(EmbeddingService* service, const std::string& body, int status = 400) {
    const ServerResponse response = Ask(service, "POST", "/v1/embeddings", body);
    EXPECT_EQ(response.status, status) << response.body;
    return response.body;
  }

  std::string notes_;
};

std::vector<float> VectorAt(const Json& reply, size_t index) {
  std::vector<float> vector;
  for (const Json& x : reply.Find("data")->AsArray()[index].Find("embedding")->AsArray()) {
    vector.push_back(static_cast<float>(x.AsDouble()));
  }
  return vector;
}

TEST_F(EmbeddingServiceTest, TextsAndTokensGetTheVectorsOfTheEncoder) {
  const auto service = New();
  const auto encoder = TextEncoder::Open(kEncoderFolder, 1).value();
  const std::vector<std::string> texts = {"the rain", "a tool"};
  const auto expected = encoder->Embed(texts).value();
  const Json two =
      Embedded(service.get(), R"({"model": "small", "input": ["the rain", "a tool"]})");
  EXPECT_EQ(*two.Find("object"), Json("list"));
  EXPECT_EQ(*two.Find("model"), Json("small"));
  ASSERT_EQ(two.Find("data")->AsArray().size(), 2u);
  EXPECT_EQ(*two.Find("data")->AsArray()[1].Find("index"), Json(1));
  EXPECT_EQ(VectorAt(two, 0), expected[0]);
  EXPECT_EQ(VectorAt(two, 1), expected[1]);
  EXPECT_EQ(*two.Find("usage"), Json::Of({{"prompt_tokens", 8}, {"total_tokens", 8}}));
  const Json one = Embedded(service.get(), R"({"model": "small", "input": "a tool"})");
  EXPECT_EQ(VectorAt(one, 0), expected[1]);
  const std::string tokens = DumpJson(Json::ArrayOf(encoder->Encode("a tool").tokens));
  EXPECT_EQ(VectorAt(Embedded(service.get(), R"({"model": "small", "input": )" + tokens + "}"), 0),
            expected[1]);
  EXPECT_EQ(
      VectorAt(Embedded(service.get(), R"({"model": "small", "input": [)" + tokens + "]}"), 0),
      expected[1]);
  EXPECT_EQ(service->texts(), 5);
}

TEST_F(EmbeddingServiceTest, Base64IsTheBytesOfTheFloats) {
  const auto service = New();
  const Json reply =
      Embedded(service.get(), R"({"model": "small", "input": "a", "encoding_format": "base64"})");
  const std::string& text = reply.Find("data")->AsArray()[0].Find("embedding")->AsString();
  const std::optional<std::string> bytes = FromBase64(text);
  ASSERT_TRUE(bytes.has_value());
  std::vector<float> vector(bytes->size() / sizeof(float));
  std::memcpy(vector.data(), bytes->data(), bytes->size());
  EXPECT_EQ(vector, VectorAt(Embedded(service.get(), R"({"model": "small", "input": "a"})"), 0));
}

TEST_F(EmbeddingServiceTest, WhatCannotBeAnsweredIsNamed) {
  const auto service = New();
  const auto says = [&](const char* body, const char* part, int status = 400) {
    EXPECT_NE(Refused(service.get(), body, status).find(part), std::string::npos) << body;
  };
  says(R"({"model": "other", "input": "a"})", "small", 404);
  says(R"({"input": "a"})", "model: is missing");
  says(R"({"model": "small"})", "input: is missing");
  says(R"({"model": "small", "input": []})", "input: wants");
  says(R"({"model": "small", "input": ["a", 1]})", "input: all must be texts");
  says(R"({"model": "small", "input": [1, "a"]})", "something else");
  says(R"({"model": "small", "input": [[]]})", "is empty");
  says(R"({"model": "small", "input": [99999]})", "the token 99999");
  says(R"({"model": "small", "input": "a", "dimensions": 7})", "dimensions: the vectors");
  says(R"({"model": "small", "input": "a", "encoding_format": "int8"})", "encoding_format");
  says(R"({"model": "small", "inputs": "a"})", "did you mean");
  says("{", "not JSON");
  Embedded(service.get(), R"({"model": "small", "input": "a", "dimensions": 32, "user": "u"})");
}

TEST_F(EmbeddingServiceTest, ATextThatIsTooLongIsCutAndThatIsToldOnce) {
  const auto service = New();
  const std::string body = DumpJson(Json::Of(
      {{"model", "small"}, {"input", std::string(3000, 'a') + " " + std::string(300, '.')}}));
  EXPECT_EQ(*Embedded(service.get(), body).Find("usage")->Find("total_tokens"), Json(80));
  const std::string told = notes_;
  EXPECT_NE(told.find("80 tokens"), std::string::npos);
  Embedded(service.get(), body);
  EXPECT_EQ(notes_, told);
}

TEST_F(EmbeddingServiceTest, WhoIsGoneCostsNoWork) {
  const auto embeddings = New();
  const auto served = TinyServed();
  ServiceOptions options;
  options.now = [] { return int64_t{1234}; };
  options.embeddings = embeddings.get();
  Service beside(served.get(), options, nullptr);
  FakeExchange alone("POST", "/v1/embeddings", R"({"model": "small", "input": ["a", "b"]})");
  alone.gone_.request_stop();
  embeddings->Handle(alone);
  EXPECT_EQ(alone.answer_.status, 503) << alone.answer_.body;
  beside.Handle(alone);
  EXPECT_EQ(alone.answer_.status, 503) << alone.answer_.body;
  EXPECT_EQ(embeddings->texts(), 0);
}

TEST_F(EmbeddingServiceTest, ManyTextsAreEmbeddedInPartsAndKeepTheirOrder) {
  const auto service = New();
  const auto encoder = TextEncoder::Open(kEncoderFolder, 1).value();
  Json::Array input;
  std::vector<std::string> texts;
  for (size_t i = 0; i < 2 * TextEncoder::kTextsAtOnce + 2; ++i) {
    texts.push_back("text " + std::to_string(i));
    input.push_back(texts.back());
  }
  const auto expected = encoder->Embed(texts).value();
  const Json reply = Embedded(
      service.get(), DumpJson(Json::Of({{"model", "small"}, {"input", std::move(input)}})));
  ASSERT_EQ(reply.Find("data")->AsArray().size(), expected.size());
  for (size_t i = 0; i < expected.size(); ++i) EXPECT_EQ(VectorAt(reply, i), expected[i]) << i;
}

TEST_F(EmbeddingServiceTest, AsAServerOfItsOwnItHasTheseRoutes) {
  const auto service = New("key");
  EXPECT_EQ(Ask(service.get(), "GET", "/health").status, 200);
  EXPECT_EQ(Ask(service.get(), "GET", "/v1/models").status, 401);
  EXPECT_NE(Ask(service.get(), "GET", "/v1/models", "", "key").body.find("\"dimensions\":32"),
            std::string::npos);
  EXPECT_EQ(Ask(service.get(), "GET", "/v1/models/small", "", "key").status, 200);
  EXPECT_EQ(Ask(service.get(), "GET", "/v1/models/other", "", "key").status, 404);
  EXPECT_EQ(Ask(service.get(), "GET", "/v1/embeddings", "", "key").status, 405);
  const ServerResponse chat = Ask(service.get(), "POST", "/v1/chat/completions", "{}", "key");
  EXPECT_EQ(chat.status, 404);
  EXPECT_NE(chat.body.find("encoder of texts"), std::string::npos);
}

TEST_F(EmbeddingServiceTest, BesideALanguageModelItAnswersItsRoute) {
  const auto served = TinyServed();
  const auto embeddings = New();
  ServiceOptions options;
  options.now = [] { return int64_t{1234}; };
  const std::string body = R"({"model": "small", "input": "a"})";
  {
    Service without(served.get(), options, nullptr);
    const ServerResponse refused = Ask(&without, "POST", "/v1/embeddings", body);
    EXPECT_EQ(refused.status, 404);
    EXPECT_NE(refused.body.find("--embeddings"), std::string::npos);
  }
  options.embeddings = embeddings.get();
  Service service(served.get(), options, nullptr);
  EXPECT_EQ(Ask(&service, "POST", "/v1/embeddings", body).status, 200);
  EXPECT_EQ(Ask(&service, "GET", "/v1/embeddings").status, 405);
  const Json models = ParseJson(Ask(&service, "GET", "/v1/models").body).value();
  EXPECT_EQ(models.Find("data")->AsArray().size(), 2u);
  EXPECT_EQ(Ask(&service, "GET", "/v1/models/small").status, 200);
}

}  // namespace
}  // namespace hone
