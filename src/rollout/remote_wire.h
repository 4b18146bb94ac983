#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "base/json.h"
#include "base/result.h"
#include "engine/draw.h"
#include "engine/sampler.h"
#include "rollout/remote_options.h"

// A turn as it is asked for over HTTP, and what the answer says of it. No text is made into tokens
// on the way: tokens go out, tokens come back.

namespace hone {

// What every turn of a policy is asked for with.
struct RemoteManner {
  RemoteApi api = RemoteApi::kCompletions;
  std::string model;               // as the server calls it
  std::vector<std::string> stops;  // of the dialect
  std::vector<TokenId> forbidden;  // tokens of forbidden set 1, ascending
  int64_t vocabulary = 0;          // of the policy
  std::string pushed;              // SHA-256 of the weights that the server has; empty: not known
};

// A turn that is to be drawn.
struct RemoteTurn {
  std::vector<TokenId> prompt;
  TurnRequest request;
  int64_t most = 0;  // tokens
};

// The body of a POST that asks for it.
Json RemoteBody(const RemoteManner& manner, const RemoteTurn& turn);

// The turn of an answer, cut where the policy's own engine would have ended it: behind the first
// token that ends a turn. Entropies and supports are not known and stay empty. kUnavailable for
// what another attempt may mend; any other error is for people: the server does not do what is
// asked of it.
Result<SampleResult> ReadRemoteTurn(const RemoteManner& manner, const RemoteTurn& turn,
                                    std::string_view body);

}  // namespace hone
