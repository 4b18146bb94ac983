#include "serve/reply_json.h"

#include <gtest/gtest.h>

namespace hone {
namespace {

ParsedCall Call(const std::string& name) {
  return {.name = name, .arguments = Json::Of({{"day", "Mon"}}), .range = {}};
}

TEST(ServeReply, AMessageHasItsCallsWithArgumentsAsText) {
  const Json plain = MessageJson({.content = "Hi"}, {});
  EXPECT_EQ(DumpJson(plain), R"({"role":"assistant","content":"Hi","refusal":null})");
  const Json calling =
      MessageJson({.reasoning = "hm", .calls = {Call("f"), Call("g")}}, {"1", "2"});
  EXPECT_TRUE(calling.Find("content")->is_null());
  EXPECT_EQ(*calling.Find("reasoning_content"), Json("hm"));
  EXPECT_EQ(
      DumpJson(calling.Find("tool_calls")->AsArray()[1]),
      R"({"id":"2","type":"function","function":{"name":"g","arguments":"{\"day\":\"Mon\"}"}})");
}

TEST(ServeReply, ADeltaHasOnlyWhatIsNew) {
  EXPECT_EQ(DumpJson(DeltaJson({}, {}, 0)), "{}");
  EXPECT_EQ(DumpJson(DeltaJson({.content = "x"}, {}, 0)), R"({"content":"x"})");
  const Json delta = DeltaJson({.calls = {Call("g")}}, {"1", "2"}, 1);
  EXPECT_EQ(*delta.Find("tool_calls")->AsArray()[0].Find("index"), Json(1));
  EXPECT_EQ(*delta.Find("tool_calls")->AsArray()[0].Find("id"), Json("2"));
}

TEST(ServeReply, LogprobsComeWithBytesAndTheLikeliest) {
  const Tokenizer tokenizer =
      Tokenizer::Load(HONE_SOURCE_DIR "/tests/golden/tokenizer/tokenizer.json").value();
  SampleResult drawn;
  drawn.tokens = tokenizer.Encode("Hello, you");
  for (size_t t = 0; t < drawn.tokens.size(); ++t) {
    drawn.logprobs.push_back(-0.1f * static_cast<float>(t + 1));
    drawn.likeliest.push_back({{drawn.tokens[t], drawn.logprobs.back()}, {5, -9}});
  }
  const Json chat = ChatLogprobs(tokenizer, drawn);
  std::string bytes;
  for (const Json& token : chat.Find("content")->AsArray()) {
    for (const Json& byte : token.Find("bytes")->AsArray()) {
      bytes += static_cast<char>(byte.AsInteger());
    }
    EXPECT_EQ(token.Find("top_logprobs")->AsArray().size(), 2u);
  }
  EXPECT_EQ(bytes, "Hello, you");
  EXPECT_EQ(static_cast<float>(chat.Find("content")->AsArray()[0].Find("logprob")->AsDouble()),
            -0.1f)
      << "the very bits";
  const Json plain = PlainLogprobs(tokenizer, drawn, 3);
  EXPECT_EQ(plain.Find("tokens")->AsArray().size(), drawn.tokens.size());
  EXPECT_EQ(plain.Find("text_offset")->AsArray()[0], Json(3));
  EXPECT_EQ(plain.Find("top_logprobs")->AsArray()[0].AsObject().size(), 2u);
}

TEST(ServeReply, PlainLogprobsCountCharactersAndTellPartsOfThemApart) {
  const Tokenizer tokenizer =
      Tokenizer::Load(HONE_SOURCE_DIR "/tests/golden/tokenizer/tokenizer.json").value();
  const std::string text = "\xC3\xBC\xE4\xBD\xA0!";  // three characters in six bytes
  SampleResult drawn;
  drawn.tokens = tokenizer.Encode(text);
  std::vector<LikelyToken> parts;  // tokens that are no text by themselves
  for (TokenId id = 0; parts.size() < 2; ++id) {
    if (tokenizer.IsToken(id) && tokenizer.TokenBytes(id).size() == 1 &&
        static_cast<unsigned char>(tokenizer.TokenBytes(id)[0]) >= 0x80) {
      parts.push_back({id, -1.0f - static_cast<float>(parts.size())});
    }
  }
  size_t characters = 0;
  for (const TokenId token : drawn.tokens) {
    drawn.logprobs.push_back(-1);
    drawn.likeliest.push_back(parts);
    characters += CharactersOf(tokenizer, token);
  }
  EXPECT_EQ(characters, 3u);
  const Json plain = PlainLogprobs(tokenizer, drawn, 0);
  EXPECT_LE(plain.Find("text_offset")->AsArray().back().AsInteger(), 2);
  const Json& top = plain.Find("top_logprobs")->AsArray()[0];
  ASSERT_EQ(top.AsObject().size(), 2u);
  EXPECT_TRUE(top.AsObject().begin()->first.starts_with("bytes:\\x"));
}

TEST(ServeReply, EventsAndReasons) {
  EXPECT_EQ(EventOf(Json::Of({{"a", 1}})), "data: {\"a\":1}\n\n");
  EXPECT_EQ(FinishReason(true, false), "stop");
  EXPECT_EQ(FinishReason(false, false), "length");
  EXPECT_EQ(FinishReason(true, true), "tool_calls");
  EXPECT_EQ(*UsageJson({.prompt = 2, .completion = 3}).Find("total_tokens"), Json(5));
  EXPECT_EQ(*ReplyJson({.id = "x"}, "chat.completion", {}).Find("object"), Json("chat.completion"));
}

}  // namespace
}  // namespace hone
