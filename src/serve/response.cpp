#include "serve/response.h"

#include <algorithm>

#include <fmt/format.h>

namespace hone {
namespace {

template <typename T>
void AppendAll(const std::vector<T>& from, std::vector<T>* to) {
  to->insert(to->end(), from.begin(), from.end());
}

}  // namespace

Result<int64_t> RoomFor(const ResponseContext& context, const DrawOptions& settings,
                        std::string_view name, size_t prompt, int64_t usual) {
  const int64_t positions = context.model->config.max_positions;
  const int64_t free_positions = positions - static_cast<int64_t>(prompt);
  if (free_positions < 1) {
    return Error(ErrorCode::kInvalidArgument,
                 fmt::format("{}: this model's {} is {} tokens, but the prompt has {}; shorten it",
                             name, kContextLength, positions, prompt));
  }
  const int64_t most =
      std::min({settings.max_tokens.value_or(usual), context.max_tokens, free_positions});
  // Each is an object of some hundred bytes in the response.
  constexpr int64_t kMostLikeliest = 1'000'000;
  if (settings.n * most * settings.top_logprobs > kMostLikeliest) {
    return Error(ErrorCode::kInvalidArgument,
                 fmt::format("top_logprobs: {} of up to {} tokens of {} completions are more than "
                             "{}; ask for fewer, or set max_tokens",
                             settings.top_logprobs, most, settings.n, kMostLikeliest));
  }
  return most;
}

Rng ChoiceStream(uint64_t seed, int64_t choice) {
  const Rng stream = Rng(seed).Split("sample");
  return choice == 0 ? stream : stream.Split("choice").Split(static_cast<uint64_t>(choice));
}

void AppendDrawn(const SampleResult& fresh, SampleResult* drawn) {
  AppendAll(fresh.tokens, &drawn->tokens);
  AppendAll(fresh.logprobs, &drawn->logprobs);
  AppendAll(fresh.entropies, &drawn->entropies);
  AppendAll(fresh.supports, &drawn->supports);
  AppendAll(fresh.likeliest, &drawn->likeliest);
  drawn->stopped = fresh.stopped;
}

}  // namespace hone
