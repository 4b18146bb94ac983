#include "envs/switchboard/board.h"

#include <algorithm>
#include <cmath>
#include <numeric>

#include "base/check.h"
#include "base/rng.h"

namespace hone::switchboard {
namespace {

constexpr std::string_view kConsonants = "bdfgklmnprstvz", kVowels = "aeiou";
constexpr uint64_t kWords = 20261117;  // the words for forms and codes are the same everywhere
constexpr double kDriftShare = 0.25;

char AnyOf(std::string_view letters, Rng* rng) { return letters[rng->Below(letters.size())]; }

template <typename Spell>
std::vector<std::string> DifferentWords(int64_t count, const Rng& stream, Spell spell) {
  Rng rng = stream;
  std::vector<std::string> words;
  while (static_cast<int64_t>(words.size()) < count) {
    std::string word = spell(&rng);
    if (!PlaceIn(words, word)) words.push_back(std::move(word));
  }
  return words;
}

// Words of so many syllables: "ba", "lumi".
std::vector<std::string> Syllables(int64_t count, int syllables, const Rng& stream) {
  return DifferentWords(count, stream, [&](Rng* rng) {
    std::string word;
    for (int i = 0; i < syllables; ++i) {
      word += AnyOf(kConsonants, rng);
      word += AnyOf(kVowels, rng);
    }
    return word;
  });
}

std::vector<size_t> Shuffle(size_t count, Rng rng) {
  std::vector<size_t> order(count);
  std::iota(order.begin(), order.end(), size_t{0});
  for (size_t i = count; i > 1; --i) std::swap(order[i - 1], order[rng.Below(i)]);
  return order;
}

size_t AnotherThan(size_t form, size_t forms, Rng rng) {
  return (form + 1 + rng.Below(forms - 1)) % forms;
}

size_t ShareOf(double share, size_t count) {
  return static_cast<size_t>(std::lround(share * static_cast<double>(count)));
}

}  // namespace

Board::Board(const BoardOptions& options) {
  CHECK(options.operations >= 1 && options.operations <= kMostOperations, "operations");
  CHECK(options.forms >= 3 && options.forms <= kMostForms, "forms");
  CHECK(options.codes >= options.forms && options.codes <= kMostCodes, "codes");
  const Rng words = Rng(kWords).Split("switchboard");
  const Rng names = words.Split("operations");
  operations_ =
      Syllables(options.operations, 3, options.names == 0 ? names : names.Split(options.names));
  codes_ = Syllables(options.codes, 2, words.Split("codes"));
  forms_ = DifferentWords(options.forms, words.Split("forms"), [](Rng* rng) {
    std::string word = "op";  // what the tool is called
    while (word == "op") word = {AnyOf(kVowels, rng), AnyOf(kConsonants, rng)};
    return word;
  });
  DrawCodes(options);
  DrawForms(options);
  const Rng seeds = Rng(options.world).Split("switchboard").Split("sessions");
  for (uint64_t i = 0; i < 2; ++i) session_seeds_[i] = seeds.Split(i).NextU64();
}

void Board::DrawCodes(const BoardOptions& options) {
  const Rng world = Rng(options.world).Split("switchboard").Split("codes");
  for (size_t i = 0; i < operations_.size(); ++i) {
    order_.push_back(Shuffle(codes_.size(), world.Split("order").Split(i)));
    offset_.push_back(Shuffle(codes_.size(), world.Split("offset").Split(i)));
    offset_.back().resize(forms_.size());
  }
}

void Board::DrawForms(const BoardOptions& options) {
  const Rng world = Rng(options.world).Split("switchboard").Split("forms");
  const size_t count = operations_.size();
  for (size_t i = 0; i < count; ++i) {
    const uint64_t whose = options.shared_habit ? 0 : i;
    accepted_.push_back(world.Split("accepted").Split(whose).Below(forms_.size()));
    habit_.push_back(AnotherThan(accepted_[i], forms_.size(), world.Split("habit").Split(whose)));
  }
  share_.assign(count, options.shared_habit ? options.habits : 0);
  const std::vector<size_t> bad = Shuffle(count, world.Split("bad"));
  for (size_t i = 0; !options.shared_habit && i < ShareOf(options.habits, count); ++i) {
    share_[bad[i]] = 1;
  }
  drifted_ = accepted_;
  const std::vector<size_t> drifting = Shuffle(count, world.Split("drifting"));
  for (size_t i = 0; i < std::max<size_t>(ShareOf(kDriftShare, count), 1); ++i) {
    const size_t one = drifting[i];
    drifted_[one] =
        AnotherThan(accepted_[one], forms_.size(), world.Split("drifted").Split(uint64_t{one}));
  }
}

size_t Board::Next(size_t operation, size_t form, size_t code) const {
  return order_[operation][(code + offset_[operation][form]) % codes_.size()];
}

std::optional<size_t> PlaceIn(const std::vector<std::string>& words, std::string_view word) {
  const auto found = std::find(words.begin(), words.end(), word);
  if (found == words.end()) return std::nullopt;
  return static_cast<size_t>(found - words.begin());
}

}  // namespace hone::switchboard
