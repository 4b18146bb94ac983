#include "simulate/players/player.h"
#include "simulate/players/schema_sampler.h"

namespace hone {
namespace {

class RandomPlayer final : public Player {
 public:
  std::string version() const override { return "random 1"; }
  bool minds_state() const override { return false; }

  Result<PlayedResult> Play(const SimulatedCall& call) override {
    Rng rng = call.rng;
    const std::optional<Json> value =
        SampleFromSchema(call.spec->output ? *call.spec->output : Json(true), &rng);
    if (!value) return PlayedResult{.problem = "no value can be drawn from the output schema"};
    // What an agent reads of a text is the text, not a JSON string.
    return PlayedResult{.content = value->is_string() ? value->AsString() : DumpJson(*value)};
  }
};

}  // namespace

std::unique_ptr<Player> NewRandomPlayer() { return std::make_unique<RandomPlayer>(); }

}  // namespace hone
