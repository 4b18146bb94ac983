#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "base/json.h"
#include "base/rng.h"
#include "envs/study/library.h"
#include "envs/wording.h"

namespace hone::study {

using WordsPutIn = std::vector<std::pair<std::string_view, std::string>>;

// A step to the answer: a call, with the thought in front of it.
struct Step {
  enum class Tool { kSearch, kPython };
  Tool tool = Tool::kSearch;
  std::string argument;               // the query, or the code
  std::vector<std::string> accepted;  // other right ones
  std::string thought;
  std::string value;  // what is to be read in the result
  // What a search brings that the answer needs: so many documents of this title; none: that there
  // is none.
  std::string title;
  int64_t documents = 0;
  std::optional<Relation> relation = {};  // what a search is to find out of whom it searches for
  std::vector<int32_t> after;             // steps that come first
};

// A task in the making. A kind of task draws what it is about and names the facts that its solution
// is about as it goes; when one does not belong to the split, the draft is rejected and another is
// drawn.
class Draft {
 public:
  Draft(const Library* library, Rng rng, Split split);

  // --- drawing
  Rng& rng() { return rng_; }
  const Library& library() const { return *library_; }
  // An entity of the split's share.
  const Entity& Draw(EntityKind kind);
  // A name of that share without a document; empty: there is none.
  std::string DrawUndocumented(EntityKind kind);
  int64_t Number(int64_t least, int64_t most);

  // --- what belongs to which split
  // Something that is computed: must belong to the split.
  bool Gold(std::string key);
  // A fact that the solution is about, and whom it is about.
  bool Gold(Relation relation, std::string_view name);

  // --- writing
  void Ask(const Wording& wording, const WordsPutIn& words);
  // A search for a name, to read `value` of it. The steps before it come first when the name was
  // read there.
  void Search(Relation relation, const std::string& name, std::string thought, std::string value,
              std::vector<int32_t> after = {});
  void Compute(std::string code, int64_t value, std::string thought,
               std::vector<std::string> other_codes = {});
  void Conclude(Json answer, std::string thought);

  std::string prompt;
  size_t phrase = 0;  // which wording; those unseen in training count on behind the others
  std::vector<Step> steps;
  Json answer;
  std::string conclusion;  // the thought in front of it
  std::vector<std::string> keys;

 private:
  const Library* library_;
  Rng rng_;
  const Split split_;
};

// A text of digits alone as a number, anything else as a text.
Json ValueOf(const std::string& text);

}  // namespace hone::study
