#include "simulate/journaled_calls.h"

#include <algorithm>
#include <map>
#include <set>
#include <tuple>

#include "base/hash.h"
#include "base/rng.h"
#include "simulate/read_views.h"
#include "simulate/write_effects.h"
#include "simulate/written_facts.h"

namespace hone {
namespace {

constexpr int64_t kPage = 1000;  // entries read at a time

// One branch of one task of a run, in the order of its calls.
using Trajectory = std::vector<JournalEntry>;

Result<std::map<std::tuple<std::string, std::string, std::string>, Trajectory>> ReadTrajectories(
    Journal* journal) {
  std::map<std::tuple<std::string, std::string, std::string>, Trajectory> trajectories;
  int64_t after = 0;
  while (true) {
    HONE_ASSIGN_OR_RETURN(std::vector<NumberedEntry> page, journal->List({}, after, kPage));
    for (NumberedEntry& numbered : page) {
      after = std::max(after, numbered.id);
      const CallIdentity& id = numbered.entry.identity;
      trajectories[{id.run, id.task, id.path}].push_back(std::move(numbered.entry));
    }
    if (static_cast<int64_t>(page.size()) < kPage) break;
  }
  for (auto& [name, trajectory] : trajectories) {
    std::sort(trajectory.begin(), trajectory.end(),
              [](const JournalEntry& a, const JournalEntry& b) { return a.identity < b.identity; });
  }
  return trajectories;
}

// A real tool's own answer.
bool IsAnswer(const JournalEntry& entry) {
  const CallStatus status = entry.result.status;
  return (status == CallStatus::kOk || status == CallStatus::kToolError) &&
         entry.result.injected.empty() && entry.source != CallSource::kSimulator &&
         entry.result.cut_bytes == 0;
}

// Goes through a trajectory as its executor did, so that the state of each call is known again.
void Follow(const Trajectory& before, const Trajectory& own,
            const std::shared_ptr<const Toolbox>& toolbox, JournaledCalls* out) {
  Trajectory all;
  for (const JournalEntry& entry : before) {
    if (!own.empty() && entry.identity.turn < own[0].identity.turn) all.push_back(entry);
  }
  const size_t first_own = all.size();
  all.insert(all.end(), own.begin(), own.end());
  Sessions sessions(toolbox, 0);
  for (size_t i = 0; i < all.size(); ++i) {
    const JournalEntry& entry = all[i];
    const Toolbox::Tool* tool = toolbox->Find(entry.content.tool);
    if (tool == nullptr) continue;
    const Sessions::Place place = sessions.Enter(*tool, entry.content.arguments);
    std::vector<Sessions::EarlierWrite> writes;
    sessions.WhenWritesEnded(
        place, [&](std::vector<Sessions::EarlierWrite> told) { writes = std::move(told); });
    sessions.Settle(place, true, entry.result);
    if (i < first_own || !IsAnswer(entry)) continue;
    if (place.state_hash != entry.content.state_hash) {
      ++out->left_out;
      continue;
    }
    out->calls.push_back({.environment_seed = entry.content.environment_seed,
                          .tool = entry.content.tool,
                          .arguments = entry.content.arguments,
                          .writes = RelevantWrites(entry.content.arguments, writes),
                          .answer = {entry.result.status, entry.result.content, ""}});
  }
}

// Every question once, in the order of their hashes.
void SortAndHash(JournaledCalls* recorded) {
  std::map<std::string, RecordedCall> by_question;
  for (RecordedCall& call : recorded->calls) {
    by_question.emplace(QuestionHash(call.environment_seed, call.tool, call.arguments, call.writes),
                        std::move(call));
  }
  recorded->calls.clear();
  std::string all;
  for (auto& [hash, call] : by_question) {
    all += hash + Sha256Hex(call.answer.content);
    recorded->calls.push_back(std::move(call));
  }
  recorded->hash = Sha256Hex(all);
}

// What is known at each call: views in the state of the call, and the call itself before any write.
// A view that was not recorded in that state is worked out from an earlier one.
void FillKnown(const Toolbox& toolbox, JournaledCalls* recorded) {
  const RecordedStates states(recorded->calls);
  const WriteEffects effects = LearnEffects(recorded->calls);
  for (RecordedCall& call : recorded->calls) {
    const ToolSpec& spec = toolbox.Find(call.tool)->spec;
    call.known =
        AskViews(toolbox, spec, call.arguments, [&](const ToolSpec& view, const Json& arguments) {
          return states.Now(call.environment_seed, view.name, arguments,
                            RelevantWrites(arguments, call.writes), effects);
        });
    if (call.writes.empty()) continue;
    if (const PlayedResult* before =
            states.Find(call.environment_seed, call.tool, call.arguments, {})) {
      call.known.push_back({call.tool, call.arguments, *before});
    }
  }
}

// How much two argument objects have in common: a whole point for an equal member, part of one for
// a text that begins alike.
double Likeness(const Json& a, const Json& b) {
  if (!a.is_object() || !b.is_object()) return a == b ? 1 : 0;
  double points = 0;
  for (const auto& [name, value] : a.AsObject()) {
    const Json* other = b.Find(name);
    if (other == nullptr) continue;
    if (*other == value) {
      points += 1;
    } else if (value.is_string() && other->is_string()) {
      const std::string &x = value.AsString(), &y = other->AsString();
      const auto differs = std::mismatch(x.begin(), x.end(), y.begin(), y.end()).first;
      points += 0.5 * static_cast<double>(differs - x.begin()) /
                static_cast<double>(std::max({x.size(), y.size(), size_t{1}}));
    } else if (value.is_number() && other->is_number()) {
      points += 0.25;
    }
  }
  return points;
}

}  // namespace

Result<JournaledCalls> ReadRecordedCalls(Journal* journal,
                                         const std::shared_ptr<const Toolbox>& toolbox) {
  HONE_ASSIGN_OR_RETURN(const auto trajectories, ReadTrajectories(journal));
  JournaledCalls recorded;
  for (const auto& [name, trajectory] : trajectories) {
    // A branch "3/1" goes on from where "3" was before its first turn.
    const auto& [run, task, path] = name;
    Trajectory before;
    for (size_t slash = path.find('/'); slash != std::string::npos;
         slash = path.find('/', slash + 1)) {
      const auto parent = trajectories.find({run, task, path.substr(0, slash)});
      if (parent == trajectories.end()) continue;
      std::erase_if(before, [&](const JournalEntry& entry) {
        return entry.identity.turn >= parent->second[0].identity.turn;
      });
      before.insert(before.end(), parent->second.begin(), parent->second.end());
    }
    Follow(before, trajectory, toolbox, &recorded);
  }
  SortAndHash(&recorded);
  FillKnown(*toolbox, &recorded);
  return recorded;
}

std::vector<const RecordedCall*> NearestCalls(const JournaledCalls& recorded,
                                              const std::string& tool, const Json& arguments,
                                              size_t count) {
  std::vector<std::pair<double, const RecordedCall*>> ranked;
  for (const RecordedCall& call : recorded.calls) {
    if (call.tool == tool) ranked.emplace_back(-Likeness(arguments, call.arguments), &call);
  }
  std::stable_sort(ranked.begin(), ranked.end(),
                   [](const auto& a, const auto& b) { return a.first < b.first; });
  std::vector<const RecordedCall*> nearest;
  for (size_t i = 0; i < std::min(count, ranked.size()); ++i) nearest.push_back(ranked[i].second);
  return nearest;
}

std::pair<JournaledCalls, JournaledCalls> SplitByEnvironment(const JournaledCalls& all,
                                                             double held_out) {
  JournaledCalls first, second;
  for (const RecordedCall& call : all.calls) {
    Rng rng = Rng(call.environment_seed).Split("held out");
    (rng.NextDouble() < held_out ? second : first).calls.push_back(call);
  }
  SortAndHash(&first);
  SortAndHash(&second);
  return {std::move(first), std::move(second)};
}

JournaledCalls AtMostPerTool(const JournaledCalls& all, size_t count) {
  JournaledCalls some;
  std::map<std::string, size_t> taken;
  for (const RecordedCall& call : all.calls) {
    if (taken[call.tool]++ < count) some.calls.push_back(call);
  }
  SortAndHash(&some);
  return some;
}

size_t SharedEnvironments(const JournaledCalls& a, const JournaledCalls& b) {
  std::set<uint64_t> of_a, shared;
  for (const RecordedCall& call : a.calls) of_a.insert(call.environment_seed);
  for (const RecordedCall& call : b.calls) {
    if (of_a.contains(call.environment_seed)) shared.insert(call.environment_seed);
  }
  return shared.size();
}

}  // namespace hone
