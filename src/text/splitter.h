#pragma once

#include <functional>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"
#include "text/pattern.h"

namespace hone {

// What becomes of the matches of a split pattern (the names are those of tokenizer.json).
enum class SplitBehavior { kIsolated, kRemoved, kMergedWithPrevious, kMergedWithNext, kContiguous };

// One step that cuts pieces into smaller ones.
struct SplitStep {
  Pattern pattern;
  SplitBehavior behavior = SplitBehavior::kIsolated;
  bool invert = false;            // what matches are the pieces, and the gaps the delimiters
  bool add_prefix_space = false;  // first puts a space before a piece that has none
  bool cut = true;                // false: only the prefix space (ByteLevel without its pattern)
};

// Cuts text into the pieces that BPE merges, by one step after the other.
class Splitter {
 public:
  explicit Splitter(std::vector<SplitStep> steps) : steps_(std::move(steps)) {}

  using Sink = std::function<void(std::string_view piece)>;
  // Calls `sink` for every piece in order. The text must be UTF-8.
  void Split(std::string_view text, const Sink& sink) const { Run(0, text, sink); }

  const std::vector<SplitStep>& steps() const { return steps_; }

 private:
  void Run(size_t step, std::string_view piece, const Sink& sink) const;
  void Cut(size_t step, std::string_view piece, const Sink& sink) const;

  std::vector<SplitStep> steps_;
};

// The split patterns of the two families that come without a tokenizer.json.
inline constexpr std::string_view kGpt2Split =
    R"('s|'t|'re|'ve|'m|'ll|'d| ?\p{L}+| ?\p{N}+| ?[^\s\p{L}\p{N}]+|\s+(?!\S)|\s+)";
inline constexpr std::string_view kQwen2Split =
    R"((?i:'s|'t|'re|'ve|'m|'ll|'d)|[^\r\n\p{L}\p{N}]?\p{L}+|\p{N}| ?[^\s\p{L}\p{N}]+[\r\n]*|\s*[\r\n]+|\s+(?!\S)|\s+)";

}  // namespace hone
