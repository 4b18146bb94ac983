#include "envs/task_source.h"

#include <algorithm>
#include <map>
#include <numeric>
#include <set>

#include <fmt/format.h>

#include "base/nearest.h"

namespace hone {
namespace {

constexpr size_t kMaxProblems = 20;

// Dev and the test splits are apart from each other too, but the test splits share their keys.
int KeyGroup(Split split) {
  if (split == Split::kTrain) return 0;
  return split == Split::kDev ? 1 : 2;
}

std::string TextOf(const Json& metadata, std::string_view key) {
  const Json* value = metadata.Find(key);
  return value != nullptr && value->is_string() ? value->AsString() : "";
}

// Which splits a thing was seen in.
using Seen = std::map<std::string, std::set<Split>>;

void ReportShared(const Seen& seen, std::string_view what, Split only,
                  std::vector<std::string>* problems) {
  for (const auto& [thing, splits] : seen) {
    if (splits.count(only) == 0 || splits.size() == 1) continue;
    problems->push_back(
        fmt::format("the {} \"{}\" of {} is in other splits too", what, thing, SplitName(only)));
  }
}

}  // namespace

std::vector<uint64_t> TaskSource::Measured(Split split, uint64_t tasks) const {
  std::vector<uint64_t> numbers(std::min(count(split).value_or(tasks), tasks));
  std::iota(numbers.begin(), numbers.end(), uint64_t{0});
  return numbers;
}

std::string_view SplitName(Split split) {
  switch (split) {
    case Split::kTrain: return "train";
    case Split::kDev: return "dev";
    case Split::kTest: return "test";
    case Split::kUnseenKinds: return "unseen-kinds";
    case Split::kUnseenPhrases: return "unseen-phrases";
  }
  return "";
}

std::vector<std::string> SplitNames() {
  std::vector<std::string> names;
  for (const Split split : kAllSplits) names.emplace_back(SplitName(split));
  return names;
}

Result<Split> SplitFromName(std::string_view name) {
  for (const Split split : kAllSplits) {
    if (SplitName(split) == name) return split;
  }
  return Error(ErrorCode::kInvalidArgument,
               fmt::format("no split \"{}\"{}; there are {}", name, DidYouMean(name, SplitNames()),
                           fmt::join(SplitNames(), ", ")));
}

SplitMarks SplitMarksOf(const Task& task) {
  SplitMarks marks{TextOf(task.metadata, "kind"), TextOf(task.metadata, "phrase"), {}};
  if (const Json* keys = task.metadata.Find("keys"); keys != nullptr && keys->is_array()) {
    for (const Json& key : keys->AsArray()) {
      if (key.is_string()) marks.keys.push_back(key.AsString());
    }
  }
  return marks;
}

std::vector<std::string> SplitProblems(const TaskSource& source, uint64_t per_split) {
  Seen kinds, phrases;
  std::map<std::string, std::map<int, Split>> keys;  // by group of splits
  for (const Split split : kAllSplits) {
    const uint64_t count = std::min(per_split, source.count(split).value_or(per_split));
    for (uint64_t i = 0; i < count; ++i) {
      const SplitMarks marks = SplitMarksOf(source.Make(split, i));
      if (!marks.kind.empty()) kinds[marks.kind].insert(split);
      if (!marks.phrase.empty()) phrases[marks.phrase].insert(split);
      for (const std::string& key : marks.keys) keys[key].emplace(KeyGroup(split), split);
    }
  }
  std::vector<std::string> problems;
  ReportShared(kinds, "kind", Split::kUnseenKinds, &problems);
  ReportShared(phrases, "phrase", Split::kUnseenPhrases, &problems);
  for (const auto& [key, groups] : keys) {
    if (groups.size() == 1) continue;
    problems.push_back(fmt::format("\"{}\" is in {} and in {}", key,
                                   SplitName(groups.begin()->second),
                                   SplitName(groups.rbegin()->second)));
  }
  if (problems.size() > kMaxProblems) problems.resize(kMaxProblems);
  return problems;
}

}  // namespace hone
