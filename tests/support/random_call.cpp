#include "support/random_call.h"

#include <array>

#include "support/random_record.h"

namespace hone {

JournalEntry RandomCall(Rng rng, int64_t n) {
  rng = rng.Split(static_cast<uint64_t>(n));
  constexpr std::array kTools = {"search", "python", "weather", "book"};
  constexpr std::array kEffects = {Effect::kReads, Effect::kPure, Effect::kReads, Effect::kWrites};
  constexpr std::array kSources = {CallSource::kTool, CallSource::kTool, CallSource::kTool,
                                   CallSource::kSimulator, CallSource::kExecutor};
  const uint64_t tool = rng.Below(kTools.size());
  JournalEntry entry;
  entry.identity = {"run \"1\"", "task/" + std::to_string(n / 40), std::to_string(n / 10 % 4),
                    static_cast<int32_t>(n % 10 / 2), static_cast<int32_t>(n % 2)};
  entry.content.environment_seed = rng.NextU64();
  entry.content.tool = kTools[tool];
  entry.content.arguments = Json::Of({{"z", RandomText(&rng, 20)},
                                      {"a", rng.NextNormal()},
                                      {"big", BigInteger{"1" + std::string(25, '7')}},
                                      {"list", Json::Array{Json(), true, 5, 5.0}}});
  if (rng.Below(2) == 0) entry.content.state_hash = RandomText(&rng, 8);
  entry.effect = kEffects[tool];
  entry.source = kSources[rng.Below(kSources.size())];
  const auto outcome = [&](Attempt* attempt) {
    attempt->status = static_cast<CallStatus>(rng.Below(2) == 0 ? 0 : rng.Below(8));
    attempt->content = RandomText(&rng, 300);
    attempt->latency_us = static_cast<int64_t>(rng.Below(1'000'000));
    if (rng.Below(5) == 0) attempt->injected = "timeout";
  };
  entry.attempts.resize(rng.Below(8) == 0 ? rng.Below(4) : 1);
  for (Attempt& attempt : entry.attempts) outcome(&attempt);
  Attempt last;
  outcome(&last);
  if (!entry.attempts.empty() && rng.Below(8) != 0) last = entry.attempts.back();
  entry.result = {entry.identity.call,
                  last.status,
                  static_cast<Blame>(rng.Below(8)),
                  last.content,
                  last.latency_us,
                  static_cast<int32_t>(entry.attempts.size()),
                  static_cast<int64_t>(rng.Below(3)),
                  last.injected};
  entry.session_lost = rng.Below(9) == 0;
  entry.recorded_ms = 1'700'000'000'000 + n;
  return entry;
}

}  // namespace hone
