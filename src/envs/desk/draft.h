#pragma once

#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "base/rng.h"
#include "envs/desk/desk_world.h"
#include "envs/plan.h"
#include "envs/share.h"
#include "envs/task_source.h"
#include "envs/wording.h"

namespace hone::desk {

// Which of the three sets of tasks a combination of entities belongs to. A combination is a gold
// call
// ("weather Oslo Mon"), so that no gold call of one set is one of another, whatever the kind of
// task. A fixed function.
Share ShareOf(std::string_view key);

// A task in the making. A kind of task draws what it is about, and names the combinations that its
// solution is about as it goes; when one does not belong to the split, the draft is rejected and
// another is drawn.
class Draft {
 public:
  Draft(Rng rng, Split split);
  // Instead of the fresh world that it begins with.
  void UseWorld(uint64_t seed);

  // --- drawing
  Rng& rng() { return rng_; }
  std::string_view Pick(std::span<const std::string_view> words);
  std::string_view City() { return Pick(Cities()); }
  std::string_view Name() { return Pick(Names()); }
  std::string_view Day() { return Pick(Days()); }
  std::string_view OtherThan(std::string_view word, std::span<const std::string_view> words);
  int64_t Number(int64_t least, int64_t most);
  const World& world() const { return world_; }

  // --- what belongs to which split
  // A combination that the solution is about: must belong to the split.
  bool Gold(std::string key);
  // A combination that is only mentioned: must not be one that training is not to see.
  bool Mention(std::string_view key) const;

  // --- writing
  // The request, with the words put in for {c} and the like.
  void Ask(const Wording& wording,
           std::initializer_list<std::pair<std::string_view, std::string_view>> words);
  void Prepend(std::string_view sentence) { prompt = std::string(sentence) + " " + prompt; }
  void Call(std::string_view tool, Json arguments);
  void Answer(Json value) { plan.answers.push_back({std::move(value), {}}); }

  uint64_t session_seed = 0;
  std::string prompt;
  size_t phrase = 0;  // which wording; those unseen in training count on behind the others
  Plan plan;
  std::vector<std::string> keys;
  std::string typo;  // the word that is misspelt, as it stands in the prompt; empty: none

 private:
  Rng rng_;
  const Split split_;
  World world_;
};

// The keys of gold calls.
std::string WeatherKey(std::string_view city, std::string_view day);
std::string ContactKey(std::string_view name);
std::string ScheduleKey(std::string_view name, std::string_view day);
std::string ClockKey(std::string_view city);
std::string SearchKey(std::string_view topic, std::string_view city);
std::string SendKey(std::string_view to, std::string_view text);
std::string SumKey(int64_t a, char op, int64_t b);  // the same for a+b and b+a
std::string ConvertKey(int64_t amount, std::string_view from, std::string_view to);

}  // namespace hone::desk
