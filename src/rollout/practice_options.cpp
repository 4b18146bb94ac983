#include "rollout/practice_options.h"

namespace hone {
namespace {

constexpr int64_t kMostKept = 1024;  // tokens of a support that is stored
constexpr double kMostAhead = 64;    // each is a copy of the model
constexpr double kMostRepeats = 1000;

void ReadSampling(RecipeTable* table, bool training, Sampling* sampling) {
  double temperature = sampling->temperature, top_p = sampling->top_p, min_p = sampling->min_p;
  int64_t top_k = sampling->top_k;
  table->Read("temperature", &temperature, "of the draws; 0: the likeliest", AtLeast(0));
  table->Read("top_k", &top_k, "only the likeliest so many; 0: all",
              Between(0, static_cast<double>(Tokenizer::kLargestId)));
  table->Read("top_p", &top_p, "only the likeliest that make up this much", {0, 1, true});
  table->Read("min_p", &min_p, "only those at least this share of the likeliest", Between(0, 1));
  if (temperature > 0 && temperature < 1e-4) {
    table->Problem("temperature", "must be 0 or at least 0.0001");
  }
  if (min_p == 1) table->Problem("min_p", "must be less than 1");
  if (training && temperature == 0) {
    table->Problem("temperature", "of 0 cannot be trained on: nothing is drawn");
  }
  if (training && (top_p < 1 || min_p > 0) && (top_k == 0 || top_k > kMostKept)) {
    table->Problem("top_k",
                   "must be from 1 to 1024 when top_p or min_p are set: which tokens could "
                   "have been drawn is kept for every token that is trained on");
  }
  sampling->temperature = static_cast<float>(temperature);
  sampling->top_k = static_cast<int32_t>(top_k);
  sampling->top_p = static_cast<float>(top_p);
  sampling->min_p = static_cast<float>(min_p);
}

void ReadThoughts(RecipeTable* table, PolicyOptions* policy) {
  int64_t tokens = 0, repeats = 0;
  table->Read("thought_tokens", &tokens, "of a turn, after which its thought is closed; 0: any",
              AtLeast(0));
  table->Read("thought_repeats", &repeats,
              "a thought that says the same so many times in a row is closed; 0: never",
              Between(0, kMostRepeats));
  if (repeats == 1) table->Problem("thought_repeats", "must be 0 or at least 2");
  if (tokens >= policy->max_turn_tokens) {
    table->Problem("thought_tokens",
                   "must be less than turn_tokens, or no turn comes to an action");
  }
  if (tokens > 0) policy->thoughts.tokens = tokens;
  policy->thoughts.repeats = static_cast<int32_t>(repeats);
}

}  // namespace

PracticeOptions ReadPractice(RecipeTable table, bool training, StrategyTable strategies) {
  PracticeOptions settings;
  settings.strategy = ReadStrategy(&table, strategies);
  table.Read("live", &settings.options.max_live, "trajectories under way at a time", AtLeast(1));
  table.Read("retries", &settings.options.retries,
             "how often a trajectory that somebody else broke is begun again", AtLeast(0));
  table.Read("turn_tokens", &settings.policy.max_turn_tokens, "a longer turn is cut off",
             AtLeast(1));
  ReadThoughts(&table, &settings.policy);
  ReadSampling(&table, training, &settings.policy.sampling);
  bool forbid = true;
  table.Read("forbid_markers", &forbid, "the agent cannot write the markers of others");
  settings.policy.sampling.forbidden_set = forbid ? 1 : 0;
  if (training) {
    table.Read("ahead", &settings.ahead,
               "steps that are drawn, with earlier weights, while others are trained",
               Between(0, kMostAhead));
    table.Read("carry", &settings.carry,
               "with ahead: turns after which an episode goes on with newer weights; 0: it keeps "
               "those that it began with",
               AtLeast(0));
    if (settings.carry > 0 && settings.ahead == 0) {
      table.Problem("carry",
                    "weights are the newest where nothing is drawn ahead; write ahead = 1 "
                    "or more");
    }
    if (settings.carry > 0 && settings.strategy != nullptr &&
        (settings.strategy->traits().branches() || settings.strategy->traits().waits)) {
      table.Problem("carry",
                    "goes with the strategy chains alone: episodes that branch or wait "
                    "for each other stay with one version of the weights");
    }
  }
  return settings;
}

}  // namespace hone
