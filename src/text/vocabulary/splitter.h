#pragma once

#include <functional>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"
#include "text/vocabulary/pattern.h"

namespace hone {

// What becomes of the matches of a split pattern (the names are those of tokenizer.json).
enum class SplitBehavior { kIsolated, kRemoved, kMergedWithPrevious, kMergedWithNext, kContiguous };

// What stands before a text: it decides whether a space is put there.
enum class TextFollows { kNothing, kAddedToken, kText };

// One step that cuts pieces into smaller ones.
struct SplitStep {
  enum class Prefix { kNever, kFirst, kAlways };  // kFirst: only where the whole text begins

  Pattern pattern;
  SplitBehavior behavior = SplitBehavior::kIsolated;
  bool invert = false;             // what matches are the pieces, and the gaps the delimiters
  Prefix prefix = Prefix::kNever;  // first puts a space before a piece that has none
  bool cut = true;                 // false: only the space (ByteLevel without its pattern)
  std::string space = " ";         // what spaces are written as: Metaspace has "▁"
};

// Cuts text into the pieces that a model encodes, by one step after the other.
class Splitter {
 public:
  explicit Splitter(std::vector<SplitStep> steps) : steps_(std::move(steps)) {}

  using Sink = std::function<void(std::string_view piece)>;
  // Calls `sink` for every piece in order. The text must be UTF-8.
  void Split(std::string_view text, const Sink& sink,
             TextFollows follows = TextFollows::kNothing) const {
    Run(0, {text, true}, {sink, follows});
  }

  const std::vector<SplitStep>& steps() const { return steps_; }

 private:
  struct Piece {
    std::string_view text;
    bool begins;  // the text that is cut begins with it
  };
  struct Call {
    const Sink& sink;
    TextFollows follows;
  };
  void Run(size_t step, Piece piece, const Call& call) const;
  void Cut(size_t step, Piece piece, const Call& call) const;

  std::vector<SplitStep> steps_;
};

// The split patterns of the two families that come without a tokenizer.json.
inline constexpr std::string_view kGpt2Split =
    R"('s|'t|'re|'ve|'m|'ll|'d| ?\p{L}+| ?\p{N}+| ?[^\s\p{L}\p{N}]+|\s+(?!\S)|\s+)";
inline constexpr std::string_view kQwen2Split =
    R"((?i:'s|'t|'re|'ve|'m|'ll|'d)|[^\r\n\p{L}\p{N}]?\p{L}+|\p{N}| ?[^\s\p{L}\p{N}]+[\r\n]*|\s*[\r\n]+|\s+(?!\S)|\s+)";

}  // namespace hone
