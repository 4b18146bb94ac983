#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace hone::switchboard {

// What a world is made of. Which form an operation accepts, what codes come of it and where the
// teacher's habits are is drawn from `world`; what operations are called, from `names`. The words
// for forms and codes are always the same.
struct BoardOptions {
  uint64_t world = 1;
  uint64_t names = 0;
  int64_t operations = 64;
  int64_t forms = 6;
  int64_t codes = 48;
  double habits = 0.5;        // share of the operations on which the teacher has a bad habit
  bool shared_habit = false;  // one accepted form and one habit for all of them: the control
};

// The most there can be of each: so many words there are, or can be told apart.
inline constexpr int64_t kMostOperations = 1024, kMostForms = 64, kMostCodes = 512;

// Operations, forms and codes by number, and what holds between them.
//
// For one operation and form the next code is a permutation of the codes, and for one operation and
// code no two forms give the same: a wrong form is always another code, and right calls behind it
// never lead back. Immutable and thread-safe.
class Board {
 public:
  // forms >= 3, codes >= forms; none is above its most.
  explicit Board(const BoardOptions& options);

  const std::vector<std::string>& operations() const { return operations_; }
  const std::vector<std::string>& forms() const { return forms_; }
  const std::vector<std::string>& codes() const { return codes_; }

  // The one form that an operation accepts; after the drift a quarter of them accept another.
  size_t Accepted(size_t operation, bool drifted) const {
    return drifted ? drifted_[operation] : accepted_[operation];
  }
  size_t Next(size_t operation, size_t form, size_t code) const;

  // The wrong form that the teacher is used to.
  size_t Habit(size_t operation) const { return habit_[operation]; }
  // How often that habit is at work: always or never, or with a shared habit now and then.
  double HabitShare(size_t operation) const { return share_[operation]; }

  // The seed of the tools' sessions in this world, before and after its drift.
  uint64_t SessionSeed(bool drifted) const { return session_seeds_[drifted ? 1 : 0]; }

 private:
  void DrawCodes(const BoardOptions& options);
  void DrawForms(const BoardOptions& options);

  std::vector<std::string> operations_, forms_, codes_;
  std::vector<size_t> accepted_, drifted_, habit_;
  std::vector<double> share_;
  std::vector<std::vector<size_t>> order_;   // by operation, the codes in its own order
  std::vector<std::vector<size_t>> offset_;  // by operation and form, how far it goes along it
  uint64_t session_seeds_[2] = {0, 0};
};

// The place of a word in a list of them.
std::optional<size_t> PlaceIn(const std::vector<std::string>& words, std::string_view word);

}  // namespace hone::switchboard
