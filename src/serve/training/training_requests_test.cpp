#include "serve/training/training_requests.h"

#include <gtest/gtest.h>

#include "base/rng.h"
#include "support/training_client.h"

namespace hone {
namespace {

ModelConfig SmallShape() {
  ModelConfig config;
  config.vocab = 100;
  config.max_positions = 16;
  return config;
}

const ClientDatum kWeighed{{1, 2, 3, 4}, {{"weights", {0, 1, 0.5f}}}};
const ClientDatum kPolicy{{1, 2, 3, 4}, {{"logprobs", {0, -1, -2}}, {"advantages", {0, 1, -1}}}};

TEST(TrainingRequests, ProtobufHasNoMoreSettingsThanAnyLoss) {
  std::string body = ForwardProtoBody("m", 3, {kPolicy}, "ppo");
  for (int i = 0; i < 17; ++i) body += ProtoBytesOf(5, std::string_view(""));
  const auto refused = ReadForwardProto(body, SmallShape());
  ASSERT_FALSE(refused.ok());
  EXPECT_NE(refused.error().message().find("cannot be read"), std::string::npos);
}

TEST(TrainingRequests, JsonAndProtobufSayTheSame) {
  const auto json =
      ReadForwardCall(DumpJson(ForwardBody("m", {kPolicy, kPolicy}, "ppo")), true, SmallShape());
  const auto proto =
      ReadForwardProto(ForwardProtoBody("m", 3, {kPolicy, kPolicy}, "ppo"), SmallShape());
  ASSERT_TRUE(json.ok()) << json.error().message();
  ASSERT_TRUE(proto.ok()) << proto.error().message();
  EXPECT_EQ(proto->seq_id, 3);
  EXPECT_EQ(json->seq_id, std::nullopt);
  for (const ForwardCall* call : {&*json, &*proto}) {
    EXPECT_EQ(call->model_id, "m");
    EXPECT_TRUE(call->backward);
    EXPECT_EQ(call->loss.kind, TokenLossKind::kPpo);
    ASSERT_EQ(call->data.size(), 2u);
    const WeighedSequence& sequence = call->data[1];
    EXPECT_EQ(sequence.tokens, (std::vector<TokenId>{1, 2, 3, 4}));
    EXPECT_EQ(sequence.weights, (std::vector<float>{1, 1, 1}));
    EXPECT_EQ(sequence.sampled, (std::vector<float>{0, -1, -2}));
    EXPECT_EQ(sequence.advantages, (std::vector<float>{0, 1, -1}));
  }
  EXPECT_FALSE(
      ReadForwardProto(ForwardProtoBody("m", 3, {kPolicy}, "ppo", true), SmallShape())->backward);
}

TEST(TrainingRequests, ADatumThatCannotBeMeantIsRefusedByItsKey) {
  const auto refusal = [](const ClientDatum& datum, const std::string& loss) {
    const auto call =
        ReadForwardCall(DumpJson(ForwardBody("m", {kWeighed, datum}, loss)), true, SmallShape());
    return call.ok() ? "" : call.error().message();
  };
  const auto expect = [&](const ClientDatum& datum, const std::string& part) {
    const std::string message = refusal(datum, "cross_entropy");
    EXPECT_NE(message.find(part), std::string::npos) << message;
    EXPECT_TRUE(message.starts_with("data[1]")) << message;
  };
  expect({{1, 2, 3}, {{"weights", {1}}}}, "loss_fn_inputs.weights: has 1 numbers");
  expect({{1, 2, 100}, {}}, "target_tokens[1]: 100 is not a token");
  expect({{1, -2, 3}, {}}, "model_input[1]: -2 is not a token");
  expect({{7}, {}}, "model_input: has no tokens");
  expect({std::vector<TokenId>(17, 1), {}}, "17 tokens are more than the model's 16 positions");
  expect({{1, 2}, {{"weights", {2e6f}}}}, "weights[0]: 2000000 is no number from");
  expect({{1, 2}, {{"weights", {1}}, {"advantages", {1}}}}, "this loss has no such input");
  expect({{1, 2}, {{"mask", {1}}}}, "loss_fn_inputs.mask");

  Json body = ForwardBody("m", {kWeighed}, "cross_entropy");
  const auto read = [&](const std::string& text) {
    const auto call = ReadForwardCall(text, true, SmallShape());
    return call.ok() ? "" : call.error().message();
  };
  const auto changed = [&](const std::string& from, const std::string& to) {
    std::string text = DumpJson(body);
    const size_t at = text.find(from);
    EXPECT_NE(at, std::string::npos) << from;
    return read(text.replace(at, from.size(), to));
  };
  EXPECT_NE(changed("[2,3,4]", "[2,9,4]").find("target_tokens[1]: is not the next token"),
            std::string::npos);
  EXPECT_NE(changed("[2,3,4]", "[2,3.5,4]").find("3.5 is not a token"), std::string::npos);
  EXPECT_NE(changed("[2,3,4]", "[2,1e999,4]"), "");
  EXPECT_NE(changed("\"shape\":[3]", "\"shape\":[1,3]").find("wants a list of one number"),
            std::string::npos);
  EXPECT_NE(changed("\"int64\"", "\"int8\"").find("dtype"), std::string::npos);
  EXPECT_NE(changed("encoded_text", "image").find("tokens alone"), std::string::npos);
  EXPECT_NE(changed("\"loss_fn\"", "\"los_fn\"").find("loss_fn"), std::string::npos);
  EXPECT_NE(changed("cross_entropy", "dpo").find("there is no loss \"dpo\""), std::string::npos);
  EXPECT_NE(changed("target_tokens", "targets").find("targets"), std::string::npos);
  body = ForwardBody("m", {}, "cross_entropy");
  EXPECT_NE(read(DumpJson(body)).find("data: is empty"), std::string::npos);
  EXPECT_NE(read("[]").find("not a JSON object"), std::string::npos);
  EXPECT_NE(read("{").find("not JSON"), std::string::npos);
}

TEST(TrainingRequests, AStepHasTheDefaultsOfTheApi) {
  const StepCall call = ReadStepCall(R"({"model_id": "m", "adam_params": {}})").value();
  EXPECT_EQ(call.optimizer.learning_rate, 1e-4);
  EXPECT_EQ(call.optimizer.beta1, 0.9);
  EXPECT_EQ(call.optimizer.beta2, 0.95);
  EXPECT_EQ(call.optimizer.eps, 1e-12);
  EXPECT_EQ(call.optimizer.weight_decay, 0);
  EXPECT_EQ(call.optimizer.max_norm, 0) << "no clipping";
  for (const char* params :
       {R"({"learning_rate": -1})", R"({"beta1": 1})", R"({"beta2": -0.1})", R"({"eps": 0})",
        R"({"weight_decay": 1e999})", R"({"grad_clip_norm": -1})", R"({"momentum": 1})", "3"}) {
    EXPECT_FALSE(
        ReadStepCall(std::string(R"({"model_id": "m", "adam_params": )") + params + "}").ok())
        << params;
  }
}

TEST(TrainingRequests, WhatIsDrawnIsCheckedBeforeItIsDrawn) {
  const auto refusal = [](const std::string& more, const std::string& params) {
    const auto call = ReadDrawCall(R"({"prompt": {"chunks": [{"tokens": [1, 2]}]}, )"
                                   R"("sampling_params": {)" +
                                       params + "}" + more + "}",
                                   SmallShape());
    return call.ok() ? "" : call.error().message();
  };
  const std::string base = R"(, "base_model": "m")";
  EXPECT_EQ(refusal(base, ""), "");
  EXPECT_EQ(refusal(base, R"("stop": "end", "top_k": -1)"), "");
  EXPECT_EQ(refusal(base, R"("stop": [1, 2])"), "");
  EXPECT_NE(refusal("", "").find("exactly one"), std::string::npos);
  EXPECT_NE(refusal(base + R"(, "model_path": "x")", "").find("exactly one"), std::string::npos);
  EXPECT_NE(refusal(base, R"("stop": [1, "a"])").find("stop"), std::string::npos);
  EXPECT_NE(refusal(base, R"("stop": [100])").find("stop"), std::string::npos);
  EXPECT_NE(refusal(base, R"("stop": [4294967297])").find("stop"), std::string::npos);
  EXPECT_NE(refusal(base, R"("temperature": -1)").find("temperature"), std::string::npos);
  EXPECT_NE(refusal(base, R"("top_p": 0)").find("top_p"), std::string::npos);
  EXPECT_NE(refusal(base, R"("max_tokens": 0)").find("max_tokens"), std::string::npos);
  EXPECT_NE(refusal(base + R"(, "num_samples": 0)", "").find("num_samples"), std::string::npos);
  EXPECT_NE(refusal(base + R"(, "topk_prompt_logprobs": 3)", "").find("not supported"),
            std::string::npos);
}

// Bodies with a byte changed, left out or doubled are read or refused, and nothing else.
TEST(TrainingRequests, NoBytesDoHarm) {
  const std::string json = DumpJson(ForwardBody("m", {kWeighed, kWeighed}, "cross_entropy"));
  const std::string proto = ForwardProtoBody("m", 3, {kPolicy, kPolicy}, "importance_sampling");
  const std::string step = DumpJson(StepBody("m", 0.1));
  const std::string draw = DumpJson(SampleBody(Json::Of({{"base_model", "m"}}), {1, 2}, 3, 4));
  Rng rng(11);
  size_t refused = 0;
  for (int i = 0; i < 20'000; ++i) {
    for (const std::string& body : {json, proto, step, draw}) {
      std::string bytes = body;
      for (uint64_t change = rng.Below(3) + 1; change > 0; --change) {
        const size_t at = rng.Below(bytes.size());
        const auto kind = rng.Below(4);
        if (kind == 0) bytes[at] = static_cast<char>(rng.Below(256));
        if (kind == 1) bytes.erase(at, 1 + rng.Below(4));
        if (kind == 2) bytes.insert(at, bytes.substr(at, 1 + rng.Below(6)));
        if (kind == 3) bytes.resize(at);
        if (bytes.empty()) bytes = "{";
      }
      refused += !ReadForwardCall(bytes, true, SmallShape()).ok();
      refused += !ReadForwardProto(bytes, SmallShape()).ok();
      refused += !ReadStepCall(bytes).ok();
      refused += !ReadDrawCall(bytes, SmallShape()).ok();
    }
  }
  EXPECT_GT(refused, 250'000u);
  EXPECT_LT(refused, 320'000u) << "some changes change nothing";
}

}  // namespace
}  // namespace hone
