#include "rollout/remote_wire.h"

#include <gtest/gtest.h>

namespace hone {
namespace {

RemoteManner Manner(RemoteApi api = RemoteApi::kCompletions) {
  return {.api = api, .model = "m", .stops = {"<end>"}, .forbidden = {7, 11}, .vocabulary = 20};
}

// Ends with token 9, or where 5 follows 4.
RemoteTurn Turn() {
  RemoteTurn turn{.prompt = {1, 2, 3}, .request = {}, .most = 6};
  turn.request.sampling = {.temperature = 0.5f, .forbidden_set = 1};
  turn.request.stop_tokens = {9};
  turn.request.stop = [](std::span<const TokenId> tokens) {
    return tokens.size() > 1 && tokens[tokens.size() - 2] == 4 && tokens.back() == 5;
  };
  return turn;
}

std::string Completion(const std::string& ids, const std::string& logprobs,
                       const std::string& finish = "\"stop\"") {
  return R"({"choices": [{"text": "x", "token_ids": )" + ids +
         R"(, "logprobs": {"token_logprobs": )" + logprobs + R"(}, "finish_reason": )" + finish +
         "}]}";
}

Result<SampleResult> Read(const std::string& body) {
  return ReadRemoteTurn(Manner(), Turn(), body);
}

void ExpectRefused(const std::string& body, ErrorCode code, const std::string& part) {
  const auto read = Read(body);
  ASSERT_FALSE(read.ok()) << body;
  EXPECT_EQ(read.error().code(), code) << read.error().message();
  EXPECT_NE(read.error().message().find(part), std::string::npos) << read.error().message();
}

TEST(RemoteWire, ATurnIsItsTokensAndLogProbs) {
  const auto read = Read(Completion("[4, 6, 9]", "[-0.5, -1.25, 0]"));
  ASSERT_TRUE(read.ok()) << read.error().message();
  EXPECT_EQ(read->tokens, (std::vector<TokenId>{4, 6, 9}));
  EXPECT_EQ(read->logprobs, (std::vector<float>{-0.5f, -1.25f, 0}));
  EXPECT_TRUE(read->stopped);
}

TEST(RemoteWire, ATurnEndsWhereTheEnginesOwnWouldHave) {
  // Behind a stop that the server went on from: a token, or text spelled by several.
  EXPECT_EQ(Read(Completion("[4, 9, 6]", "[-1, -1, -1]"))->tokens, (std::vector<TokenId>{4, 9}));
  const auto spelled = Read(Completion("[4, 5, 6]", "[-1, -2, -3]"));
  EXPECT_EQ(spelled->tokens, (std::vector<TokenId>{4, 5}));
  EXPECT_EQ(spelled->logprobs, (std::vector<float>{-1, -2}));
  EXPECT_TRUE(spelled->stopped);
  // What the server ended for reasons of its own is cut off, whatever it calls that.
  EXPECT_FALSE(Read(Completion("[4, 6]", "[-1, -1]", "\"length\""))->stopped);
  EXPECT_FALSE(Read(Completion("[4, 6]", "[-1, -1]"))->stopped);
}

TEST(RemoteWire, WhatASecondAttemptMayMendIsToldFromWhatItCannot) {
  for (const char* body : {"", "{", "<html>", "[]", "{}", R"({"choices": []})"}) {
    ExpectRefused(body, ErrorCode::kUnavailable, "");
  }
  ExpectRefused(Completion("[4]", "[-1]", "\"abort\""), ErrorCode::kUnavailable, "abort");
  ExpectRefused(Completion("[4]", "[-1]", "null"), ErrorCode::kUnavailable, "given up");
  ExpectRefused(Completion("[]", "[]"), ErrorCode::kUnavailable, "no tokens");
  const ErrorCode ours = ErrorCode::kInvalidArgument;
  ExpectRefused(Completion("null", "[-1]"), ours, "no token ids");
  ExpectRefused(R"({"choices": [{"token_ids": [4], "logprobs": null, "finish_reason": "stop"}]})",
                ours, "no log-probs");
  ExpectRefused(Completion("[4, 6]", "[-1]"), ours, "2 tokens and 1 log-probs");
  ExpectRefused(Completion("[4, 4, 4, 4, 4, 4, 4]", "[-1, -1, -1, -1, -1, -1, -1]"), ours,
                "at most 6");
  ExpectRefused(Completion("[20]", "[-1]"), ours, "no token of the policy's vocabulary of 20");
  ExpectRefused(Completion("[-1]", "[-1]"), ours, "no token");
  ExpectRefused(Completion("[\"a\"]", "[-1]"), ours, "no token");
  ExpectRefused(Completion("[11]", "[-1]"), ours, "must never write");
  ExpectRefused(Completion("[4]", "[null]"), ours, "which is none");
  ExpectRefused(Completion("[4]", "[0.5]"), ours, "which is none");
  ExpectRefused(Completion("[4]", "[-1e300]"), ours, "which is none");
  // As some write what is no number.
  ExpectRefused(Completion("[4]", "[NaN]"), ErrorCode::kUnavailable, "NaN");
}

TEST(RemoteWire, ATurnOfOtherWeightsThanThosePushedIsRefused) {
  RemoteManner manner = Manner();
  const auto read = [&](const std::string& fingerprint) {
    std::string body = Completion("[4, 9]", "[-1, -1]");
    body.insert(1, R"("system_fingerprint": ")" + fingerprint + R"(", )");
    return ReadRemoteTurn(manner, Turn(), body);
  };
  EXPECT_TRUE(read("hone-0123456789ab").ok()) << "nobody knows what was pushed";
  manner.pushed = "ba9876543210ffff";
  EXPECT_TRUE(read("hone-ba9876543210").ok());
  EXPECT_TRUE(read("fp_of_vllm").ok());
  const auto other = read("hone-0123456789ab");
  ASSERT_FALSE(other.ok());
  EXPECT_EQ(other.error().code(), ErrorCode::kInvalidArgument) << "another attempt mends nothing";
  EXPECT_NE(other.error().message().find("hone-0123456789ab"), std::string::npos);
  EXPECT_NE(other.error().message().find("goes on from the last checkpoint"), std::string::npos);
}

TEST(RemoteWire, ALogProbThatWasRoundedAboveZeroIsZero) {
  EXPECT_EQ(Read(Completion("[9]", "[0.00001]"))->logprobs[0], 0);
}

TEST(RemoteWire, SglangsOwnAnswersAreRead) {
  const std::string body = R"({"text": "x", "output_ids": [4, 9], "meta_info": {
      "finish_reason": {"type": "stop", "matched": 9},
      "output_token_logprobs": [[-0.5, 4, null], [-0.25, 9, null]]}})";
  const auto read = ReadRemoteTurn(Manner(RemoteApi::kSglang), Turn(), body);
  ASSERT_TRUE(read.ok()) << read.error().message();
  EXPECT_EQ(read->tokens, (std::vector<TokenId>{4, 9}));
  EXPECT_EQ(read->logprobs, (std::vector<float>{-0.5f, -0.25f}));
  EXPECT_TRUE(read->stopped);
  EXPECT_FALSE(ReadRemoteTurn(Manner(RemoteApi::kSglang), Turn(), Completion("[9]", "[0]")).ok());
}

TEST(RemoteWire, ARequestSaysEverythingThatTheDrawDependsOn) {
  const Json body = RemoteBody(Manner(), Turn());
  EXPECT_EQ(DumpJson(*body.Find("prompt")), "[1,2,3]");
  EXPECT_EQ(body.Find("max_tokens")->AsInteger(), 6);
  EXPECT_EQ(body.Find("temperature")->AsDouble(), 0.5);
  EXPECT_EQ(DumpJson(*body.Find("stop_token_ids")), "[9]");
  EXPECT_EQ(DumpJson(*body.Find("stop")), R"(["<end>"])");
  EXPECT_EQ(body.Find("logit_bias")->Find("7")->AsDouble(), -100);
  EXPECT_EQ(body.Find("logit_bias")->AsObject().size(), 2u);
  // The stream's own number: the same for the same turn, another for the next one.
  RemoteTurn next = Turn();
  EXPECT_EQ(*RemoteBody(Manner(), next).Find("seed"), *body.Find("seed"));
  next.prompt.push_back(4);
  EXPECT_NE(*RemoteBody(Manner(), next).Find("seed"), *body.Find("seed"));
  next.request.sampling.forbidden_set = 0;
  EXPECT_EQ(RemoteBody(Manner(), next).Find("logit_bias"), nullptr);

  const Json native = RemoteBody(Manner(RemoteApi::kSglang), Turn());
  EXPECT_EQ(DumpJson(*native.Find("input_ids")), "[1,2,3]");
  EXPECT_EQ(native.Find("sampling_params")->Find("max_new_tokens")->AsInteger(), 6);
  EXPECT_EQ(native.Find("sampling_params")->Find("top_k")->AsInteger(), -1);
  EXPECT_EQ(native.Find("sampling_params")->Find("ignore_eos"), nullptr) << "stops would be, too";
}

}  // namespace
}  // namespace hone
