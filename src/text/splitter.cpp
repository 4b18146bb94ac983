#include "text/splitter.h"

namespace hone {
namespace {

struct Part {
  size_t begin, end;
  bool match;
};

// The text as alternating gaps and matches.
std::vector<Part> PartsOf(const SplitStep& step, std::string_view text) {
  std::vector<Part> parts;
  size_t at = 0;
  Pattern::Matches matches(step.pattern, text);
  while (matches.Next()) {
    if (matches.begin() > at) parts.push_back({at, matches.begin(), false});
    parts.push_back({matches.begin(), matches.end(), true});
    at = matches.end();
  }
  if (at < text.size()) parts.push_back({at, text.size(), false});
  if (step.invert) {
    for (Part& part : parts) part.match = !part.match;
  }
  return parts;
}

// Whether `part` joins the part before it.
bool JoinsPrevious(SplitBehavior behavior, const Part& previous, const Part& part) {
  switch (behavior) {
    case SplitBehavior::kMergedWithPrevious: return part.match && !previous.match;
    case SplitBehavior::kMergedWithNext: return previous.match && !part.match;
    case SplitBehavior::kContiguous: return part.match == previous.match;
    default: return false;
  }
}

}  // namespace

void Splitter::Run(size_t step, std::string_view piece, const Sink& sink) const {
  if (piece.empty()) return;
  if (step == steps_.size()) return sink(piece);
  if (steps_[step].add_prefix_space && piece[0] != ' ') {
    const std::string prefixed = " " + std::string(piece);
    return Cut(step, prefixed, sink);
  }
  Cut(step, piece, sink);
}

void Splitter::Cut(size_t step, std::string_view piece, const Sink& sink) const {
  const SplitStep& how = steps_[step];
  if (!how.cut) return Run(step + 1, piece, sink);
  if (how.behavior == SplitBehavior::kIsolated) {
    // The common case, without building a list.
    size_t at = 0;
    Pattern::Matches matches(how.pattern, piece);
    while (matches.Next()) {
      Run(step + 1, piece.substr(at, matches.begin() - at), sink);
      Run(step + 1, piece.substr(matches.begin(), matches.end() - matches.begin()), sink);
      at = matches.end();
    }
    return Run(step + 1, piece.substr(at), sink);
  }
  const std::vector<Part> parts = PartsOf(how, piece);
  for (size_t i = 0; i < parts.size();) {
    size_t last = i;
    while (last + 1 < parts.size() && JoinsPrevious(how.behavior, parts[last], parts[last + 1]))
      ++last;
    if (!(how.behavior == SplitBehavior::kRemoved && parts[i].match)) {
      Run(step + 1, piece.substr(parts[i].begin, parts[last].end - parts[i].begin), sink);
    }
    i = last + 1;
  }
}

}  // namespace hone
