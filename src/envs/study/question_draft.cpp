#include "envs/study/question_draft.h"

#include <algorithm>

#include <fmt/format.h>

#include "base/check.h"
#include "base/strings.h"

namespace hone::study {

Draft::Draft(const Library* library, Rng rng, Split split)
    : library_(library), rng_(rng), split_(split) {}

const Entity& Draft::Draw(EntityKind kind) {
  const std::vector<const Entity*>& all = library_->Of(kind, ShareOf(split_));
  return *all[rng_.Below(all.size())];
}

std::string Draft::DrawUndocumented(EntityKind kind) {
  const std::vector<std::string>& all = library_->Undocumented(kind, ShareOf(split_));
  return all.empty() ? "" : all[rng_.Below(all.size())];
}

int64_t Draft::Number(int64_t least, int64_t most) {
  return least + static_cast<int64_t>(rng_.Below(static_cast<uint64_t>(most - least + 1)));
}

bool Draft::Gold(std::string key) {
  if (ShareOf(key) != ShareOf(split_)) return false;
  keys.push_back(std::move(key));
  return true;
}

bool Draft::Gold(Relation relation, std::string_view name) {
  if (ShareOf(name) != ShareOf(split_)) return false;
  keys.push_back(fmt::format("{} {}", NoteOf(relation).key, name));
  keys.push_back(fmt::format("entity {}", name));
  return true;
}

void Draft::Ask(const Wording& wording, const WordsPutIn& words) {
  const bool unseen = split_ == Split::kUnseenPhrases;
  const std::vector<std::string_view>& ways = unseen ? wording.unseen : wording.seen;
  phrase = rng_.Below(ways.size());
  prompt = PutIn(ways[phrase], words);
  if (unseen) phrase += wording.seen.size();
}

void Draft::Search(Relation relation, const std::string& name, std::string thought,
                   std::string value, std::vector<int32_t> after) {
  const std::string_view word = NoteOf(relation).word;
  steps.push_back({.tool = Step::Tool::kSearch,
                   .argument = name,
                   .accepted = {fmt::format("{} {}", name, word), fmt::format("{} {}", word, name)},
                   .thought = std::move(thought),
                   .value = std::move(value),
                   .title = name,
                   .documents = library_->Find(name) != nullptr ? 1 : 0,
                   .relation = relation,
                   .after = std::move(after)});
}

void Draft::Compute(std::string code, int64_t value, std::string thought,
                    std::vector<std::string> other_codes) {
  Step step{.tool = Step::Tool::kPython,
            .argument = std::move(code),
            .accepted = std::move(other_codes),
            .thought = std::move(thought),
            .value = std::to_string(value)};
  for (size_t i = 0; i < steps.size(); ++i) step.after.push_back(static_cast<int32_t>(i));
  steps.push_back(std::move(step));
}

void Draft::Conclude(Json value, std::string thought) {
  answer = std::move(value);
  conclusion = std::move(thought);
}

Json ValueOf(const std::string& text) {
  const bool digits =
      !text.empty() && text.size() < 19 && std::all_of(text.begin(), text.end(), IsDigit);
  return digits ? Json(static_cast<int64_t>(std::stoll(text))) : Json(text);
}

}  // namespace hone::study
