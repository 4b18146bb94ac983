#include "tools/openapi/openapi_request.h"

#include <gtest/gtest.h>

namespace hone {
namespace {

using In = OpenApiParameter::In;

OpenApiOperation With(std::vector<OpenApiParameter> parameters, std::string path = "/x") {
  OpenApiOperation operation;
  operation.method = "GET";
  operation.path = std::move(path);
  operation.parameters = std::move(parameters);
  return operation;
}

// The URL behind the base for one query parameter `p` of this value.
std::string Query(const char* style, bool explode, const char* value) {
  const auto operation =
      With({{.argument = "p", .name = "p", .in = In::kQuery, .style = style, .explode = explode}});
  const auto request = RequestOf(operation, "http://h/v1/", Json::Of({{"p", *ParseJson(value)}}));
  return request.ok() ? request->url.substr(11) : request.error().message();
}

TEST(OpenApiRequest, QueriesAreWrittenInEveryStyle) {
  EXPECT_EQ(Query("form", true, R"("a b&c=d/é")"), "/x?p=a%20b%26c%3Dd%2F%C3%A9");
  EXPECT_EQ(Query("form", true, "3"), "/x?p=3");
  EXPECT_EQ(Query("form", true, "true"), "/x?p=true");
  EXPECT_EQ(Query("form", true, "null"), "/x");
  EXPECT_EQ(Query("form", true, R"(["a","b,c"])"), "/x?p=a&p=b%2Cc");
  EXPECT_EQ(Query("form", false, R"(["a","b,c"])"), "/x?p=a,b%2Cc");
  EXPECT_EQ(Query("form", true, R"({"k":1,"l":"m"})"), "/x?k=1&l=m");
  EXPECT_EQ(Query("form", false, R"({"k":1,"l":"m"})"), "/x?p=k,1,l,m");
  EXPECT_EQ(Query("spaceDelimited", false, R"([1,2])"), "/x?p=1%202");
  EXPECT_EQ(Query("pipeDelimited", false, R"([1,2])"), "/x?p=1%7C2");
  EXPECT_EQ(Query("deepObject", true, R"({"k":1,"l":"m"})"), "/x?p%5Bk%5D=1&p%5Bl%5D=m");
}

TEST(OpenApiRequest, PathsAreFilledInAndCannotBeLeft) {
  const auto operation = With({{.argument = "id", .name = "id", .in = In::kPath, .style = "simple"},
                               {.argument = "n", .name = "n", .in = In::kPath, .style = "simple"}},
                              "/a/{id}/b{n}");
  auto url = [&](const char* id, const Json& n) {
    const auto request = RequestOf(operation, "http://h", Json::Of({{"id", id}, {"n", n}}));
    return request.ok() ? request->url : request.error().message();
  };
  EXPECT_EQ(url("x y/../{n}?#", 7), "http://h/a/x%20y%2F..%2F%7Bn%7D%3F%23/b7");
  EXPECT_EQ(url("q", *ParseJson("[1,2]")), "http://h/a/q/b1,2");
  for (const char* id : {"..", "."}) {
    EXPECT_NE(url(id, 7).find("may not be"), std::string::npos) << url(id, 7);
  }
  EXPECT_EQ(url("", 7), "`id`: may not be empty");
  EXPECT_EQ(RequestOf(operation, "http://h", Json::Of({})).error().message(), "`id`: is missing");
}

TEST(OpenApiRequest, HeadersCookiesAndBodies) {
  auto operation =
      With({{.argument = "h", .name = "X-H", .in = In::kHeader, .style = "simple"},
            {.argument = "c", .name = "c", .in = In::kCookie, .style = "form", .explode = true},
            {.argument = "j", .name = "j", .in = In::kQuery, .style = "form", .as_json = true}});
  operation.body = OpenApiOperation::Body::kJson;
  operation.body_argument = "body";
  operation.content_type = "application/json";
  const Json arguments = *ParseJson(R"({"h": ["a", "b"], "c": "x;y", "j": [1], "body": {"k": 1}})");
  auto request = RequestOf(operation, "http://h", arguments);
  ASSERT_TRUE(request.ok());
  const std::vector<std::pair<std::string, std::string>> expected = {
      {"X-H", "a,b"}, {"Cookie", "c=x%3By"}, {"Content-Type", "application/json"}};
  EXPECT_EQ(request->headers, expected);
  EXPECT_EQ(request->url, "http://h/x?j=%5B1%5D");
  EXPECT_EQ(request->body, R"({"k":1})");

  operation.body = OpenApiOperation::Body::kForm;
  EXPECT_EQ(RequestOf(operation, "http://h", arguments)->body, "k=1");
  EXPECT_FALSE(RequestOf(operation, "http://h", Json::Of({{"h", "a\r\nX-Evil: 1"}})).ok());
}

}  // namespace
}  // namespace hone
