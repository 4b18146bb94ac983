#include "envs/desk/draft.h"

#include <algorithm>
#include <array>

#include <fmt/format.h>

#include "base/hash.h"
#include "envs/desk/desk_tools.h"

namespace hone::desk {
namespace {

constexpr uint64_t kSessionSeeds = uint64_t{1} << 40;

// Where a word comes when all words of its list are put in an order that has nothing to do with
// them. So a short list is divided exactly and no set is left empty.
size_t Rank(std::string_view table, std::string_view word,
            std::span<const std::string_view> words) {
  const auto place = [&](std::string_view other) {
    return Hash64(fmt::format("desk split {} {}", table, other));
  };
  const uint64_t own = place(word);
  return static_cast<size_t>(std::count_if(
      words.begin(), words.end(), [&](std::string_view other) { return place(other) < own; }));
}

Share ByRank(size_t rank, size_t count) {
  const size_t dev = (count + 7) / 8;
  const size_t test = (count + 4) / 5;
  if (rank < dev) return Share::kDev;
  return rank < dev + test ? Share::kTest : Share::kTrain;
}

// The shares of all words of a list, worked out once.
template <size_t kCount>
std::array<Share, kCount> SharesOf(std::string_view table,
                                   std::span<const std::string_view> words) {
  std::array<Share, kCount> shares;
  for (size_t i = 0; i < kCount; ++i) shares[i] = ByRank(Rank(table, words[i], words), kCount);
  return shares;
}

}  // namespace

Share ShareOf(std::string_view key) {
  static const std::array<Share, 24> contacts = SharesOf<24>("contact", Names());
  static const std::array<Share, 16> clocks = SharesOf<16>("clock", Cities());
  const std::string_view table = key.substr(0, key.find(' '));
  if (table == "contact") return contacts[IndexOf(Names(), key.substr(8))];
  if (table == "clock") return clocks[IndexOf(Cities(), key.substr(6))];
  return ShareOfHash(Hash64(key));
}

Draft::Draft(Rng rng, Split split) : rng_(rng), split_(split), world_(0) {
  UseWorld(rng_.Below(kSessionSeeds));
}

void Draft::UseWorld(uint64_t seed) {
  session_seed = seed;
  world_ = WorldOf(seed);
}

std::string_view Draft::Pick(std::span<const std::string_view> words) {
  return words[rng_.Below(words.size())];
}

std::string_view Draft::OtherThan(std::string_view word, std::span<const std::string_view> words) {
  const uint64_t drawn = rng_.Below(words.size() - 1);
  const int own = IndexOf(words, word);
  return words[drawn + (own >= 0 && drawn >= static_cast<uint64_t>(own) ? 1 : 0)];
}

int64_t Draft::Number(int64_t least, int64_t most) {
  return least + static_cast<int64_t>(rng_.Below(static_cast<uint64_t>(most - least + 1)));
}

bool Draft::Gold(std::string key) {
  if (ShareOf(key) != ShareOf(split_)) return false;
  keys.push_back(std::move(key));
  return true;
}

bool Draft::Mention(std::string_view key) const {
  return split_ != Split::kTrain || ShareOf(key) == Share::kTrain;
}

void Draft::Ask(const Wording& wording,
                std::initializer_list<std::pair<std::string_view, std::string_view>> words) {
  const bool unseen = split_ == Split::kUnseenPhrases;
  const std::vector<std::string_view>& ways = unseen ? wording.unseen : wording.seen;
  phrase = rng_.Below(ways.size());
  prompt = PutIn(ways[phrase], words);
  if (unseen) phrase += wording.seen.size();
}

void Draft::Call(std::string_view tool, Json arguments) {
  plan.calls.push_back({std::string(tool), std::move(arguments), {}});
}

std::string WeatherKey(std::string_view city, std::string_view day) {
  return fmt::format("weather {} {}", city, day);
}
std::string ContactKey(std::string_view name) { return fmt::format("contact {}", name); }
std::string ScheduleKey(std::string_view name, std::string_view day) {
  return fmt::format("schedule {} {}", name, day);
}
std::string ClockKey(std::string_view city) { return fmt::format("clock {}", city); }
std::string SearchKey(std::string_view topic, std::string_view city) {
  return fmt::format("search {} {}", topic, city);
}
std::string SendKey(std::string_view to, std::string_view text) {
  return fmt::format("send {} {}", to, text);
}
std::string SumKey(int64_t a, char op, int64_t b) {
  if (op != '-' && a > b) std::swap(a, b);
  return fmt::format("calculator {}{}{}", a, op, b);
}
std::string ConvertKey(int64_t amount, std::string_view from, std::string_view to) {
  return fmt::format("convert {} {} {}", amount, from, to);
}

}  // namespace hone::desk
