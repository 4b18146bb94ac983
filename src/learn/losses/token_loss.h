#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "base/result.h"
#include "engine/engine.h"

// Losses that are plain sums over tokens, with numbers that the caller gives for each token: what
// programs ask for that work out advantages themselves (docs/serve-train.md).

namespace hone {

enum class TokenLossKind {
  kCrossEntropy,        // -w log p
  kImportanceSampling,  // -w A r, where r = p / q
  kPpo,                 // -w min(A r, A clip(r))
  kCispo,               // -w A clip(r) log p, the clipped ratio held constant
  kDro,                 // -w (A log p - beta/2 (log r)^2)
};

struct TokenLossOptions {
  TokenLossKind kind = TokenLossKind::kCrossEntropy;
  double clip_low = 0, clip_high = 0;  // between which kPpo and kCispo hold the ratio
  double beta = 0;                     // kDro

  bool HasRatio() const { return kind != TokenLossKind::kCrossEntropy; }
};

// The loss of a name with settings by name; others are an error that says which there are.
using LossSettings = std::vector<std::pair<std::string, double>>;
Result<TokenLossOptions> TokenLossNamed(std::string_view name, const LossSettings& settings);
std::vector<std::string> TokenLossNames();

// What each number given for a token may be, at most, in size: beyond it derivatives may not be
// numbers any more.
inline constexpr float kMostTokenNumber = 1e6f;

// One sequence. The first token is read only; every other has an entry of the lists, in order.
struct WeighedSequence {
  std::vector<TokenId> tokens;    // at least two
  std::vector<float> weights;     // of the token's loss
  std::vector<float> advantages;  // A; losses with a ratio
  std::vector<float> sampled;     // log q: what drew the token said of it; losses with a ratio
};
// Whether its lists have the lengths that the loss wants and no number that is none or too large.
// The error begins with the list: "weights: ...". Tokens are Engine::CheckTokens' to check.
Result<void> CheckSequence(const TokenLossOptions& options, const WeighedSequence& sequence);

struct TokenLossReport {
  double loss = 0;        // the sum
  int64_t tokens = 0;     // whose loss has a weight and, with a ratio, an advantage
  int64_t ratio_one = 0;  // of these: log p has the bits of log q
  std::vector<std::vector<float>> logprobs;  // log p of every token but the first, per sequence
};

// How much goes through the engine at once, in tokens.
inline constexpr int64_t kTokenLossCallTokens = 16'384;

// Adds the gradient of the loss to the engine's. The sequences have passed CheckSequence (CHECK)
// and CheckTokens. They are computed in their order, in calls of at most kTokenLossCallTokens.
TokenLossReport AccumulateTokenLoss(const TokenLossOptions& options,
                                    std::span<const WeighedSequence> sequences, Engine* engine);
// The same report without a gradient.
TokenLossReport TokenLossOf(const TokenLossOptions& options,
                            std::span<const WeighedSequence> sequences, Engine* engine);

}  // namespace hone
