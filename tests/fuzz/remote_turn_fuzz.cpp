// Whatever a server answers to a request for a turn: a turn that the policy could have drawn, or an
// error.

#include <cmath>

#include "base/check.h"
#include "rollout/remote_wire.h"

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  using namespace hone;
  const std::string_view body(reinterpret_cast<const char*>(data), size);
  RemoteTurn turn{.prompt = {1}, .request = {}, .most = 4};
  turn.request.stop_tokens = {9};
  turn.request.sampling.forbidden_set = 1;
  for (const RemoteApi api : {RemoteApi::kCompletions, RemoteApi::kSglang}) {
    const RemoteManner manner{
        .api = api, .model = "m", .stops = {}, .forbidden = {7}, .vocabulary = 10};
    const auto read = ReadRemoteTurn(manner, turn, body);
    if (!read.ok()) continue;
    CHECK(!read->tokens.empty() && read->tokens.size() <= 4);
    CHECK(read->tokens.size() == read->logprobs.size());
    for (const TokenId token : read->tokens) CHECK(token >= 0 && token < 10 && token != 7);
    for (const float logprob : read->logprobs) CHECK(std::isfinite(logprob) && logprob <= 0);
  }
  return 0;
}
