#include "text/vocabulary/splitter.h"

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

bool TakesPrefix(SplitStep::Prefix prefix, bool begins, TextFollows follows) {
  switch (prefix) {
    case SplitStep::Prefix::kNever: return false;
    case SplitStep::Prefix::kFirst: return begins && follows == TextFollows::kNothing;
    case SplitStep::Prefix::kAlways: return !begins || follows != TextFollows::kText;
  }
  return false;
}

std::string WithSpacesAs(std::string_view text, std::string_view space) {
  std::string out;
  for (const char c : text) {
    if (c == ' ') {
      out += space;
    } else {
      out += c;
    }
  }
  return out;
}

}  // namespace

void Splitter::Run(size_t step, Piece piece, const Call& call) const {
  if (piece.text.empty()) return;
  if (step == steps_.size()) return call.sink(piece.text);
  const SplitStep& how = steps_[step];
  const bool rewrites = how.space != " " && piece.text.find(' ') != std::string_view::npos;
  std::string rewritten;
  if (rewrites) {
    rewritten = WithSpacesAs(piece.text, how.space);
    piece.text = rewritten;
  }
  if (!piece.text.starts_with(how.space) && TakesPrefix(how.prefix, piece.begins, call.follows)) {
    rewritten = how.space + std::string(piece.text);
    piece.text = rewritten;
  }
  Cut(step, piece, call);
}

void Splitter::Cut(size_t step, Piece piece, const Call& call) const {
  const SplitStep& how = steps_[step];
  if (!how.cut) return Run(step + 1, piece, call);
  const auto go_on = [&](size_t begin, size_t end) {
    Run(step + 1, {piece.text.substr(begin, end - begin), piece.begins && begin == 0}, call);
  };
  if (how.behavior == SplitBehavior::kIsolated) {
    // The common case, without building a list.
    size_t at = 0;
    Pattern::Matches matches(how.pattern, piece.text);
    while (matches.Next()) {
      go_on(at, matches.begin());
      go_on(matches.begin(), matches.end());
      at = matches.end();
    }
    return go_on(at, piece.text.size());
  }
  const std::vector<Part> parts = PartsOf(how, piece.text);
  for (size_t i = 0; i < parts.size();) {
    size_t last = i;
    while (last + 1 < parts.size() && JoinsPrevious(how.behavior, parts[last], parts[last + 1]))
      ++last;
    if (!(how.behavior == SplitBehavior::kRemoved && parts[i].match)) {
      go_on(parts[i].begin, parts[last].end);
    }
    i = last + 1;
  }
}

}  // namespace hone
