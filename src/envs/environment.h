#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "base/json.h"
#include "base/result.h"
#include "record/call.h"
#include "record/task.h"
#include "record/tree.h"
#include "tools/toolbox.h"

// The place where an agent practises.
//
// An environment is a set of rules and never changes; an episode is one playthrough of one task. An
// episode never calls a tool: whoever drives it (envs/play.h, or the rollout loop) submits the
// agent's calls to the executor and hands the typed results to Step. So what an episode does is a
// function of its task, its seed and the turns it was given, whoever answered the calls.

namespace hone {

// What an agent sees first.
struct Opening {
  Json messages = Json::Array();  // OpenAI style: perhaps a system message, then the user's
  Json tools = Json::Array();     // schemas to be shown to the agent; may be empty on purpose
  uint64_t session_seed = 0;      // of the tools' sessions (tools/sessions.h) in this episode
};

// One turn of the agent, with what came of its calls.
struct AgentTurn {
  std::string thought;  // before it acted, where it wrote one
  std::vector<Call> calls;
  std::vector<ToolResult> results;    // one per call, in the order of the calls
  std::vector<Fault> faults;          // actions that could not be read
  std::optional<std::string> answer;  // what it said to the user
  int64_t tokens = 0;                 // that it wrote in this turn
  int64_t context_tokens = 0;         // that it has before it after this turn, all told
};

// What the environment does about it.
struct EnvironmentTurn {
  std::string user;                  // what the user says next; empty: nothing
  std::vector<std::string> notices;  // for the agent: what was wrong with its turn, what is left
  std::optional<Ending> ending;      // the episode is over
  Blame blame = Blame::kNone;        // whose fault the ending is, if anybody's
  // Calls of the environment's own (a user played by a language model is a tool that the agent
  // cannot see). They go through the same executor, and their results to Episode::Resume, before
  // the agent goes on.
  std::vector<Call> calls;
};

// One playthrough. One thread at a time.
class Episode {
 public:
  virtual ~Episode() = default;

  virtual const Opening& opening() const = 0;

  // The agent's turn, then the environment's. Not after an ending.
  virtual EnvironmentTurn Step(const AgentTurn& turn) = 0;

  // The results of the calls that the last turn asked for, one per call. The default is for
  // episodes that never ask.
  virtual EnvironmentTurn Resume(const std::vector<ToolResult>& results);

  // How things stand, with the environment's own verdict on them: "verdict" (true or false; absent
  // when it has no opinion), "answer" (what the agent answered, null when it did not), and whatever
  // else the environment has to say.
  virtual Json final_state() const = 0;

  // A second playthrough that goes on from here on its own. kUnsupported where that cannot be.
  virtual Result<std::unique_ptr<Episode>> Clone() const = 0;
};

enum class EnvironmentKind { kSingleTurn, kToolUse, kMultiTurn };
std::string_view EnvironmentKindName(EnvironmentKind kind);

struct EnvironmentTraits {
  std::string name;
  EnvironmentKind kind = EnvironmentKind::kToolUse;
  std::string about;                      // one line
  std::vector<std::string> hidden_tools;  // of the toolbox: the environment's, not the agent's
  // Episodes go by what the calls were answered alone: what is right need not be known, so that no
  // plan is carried out in the world that answers (envs/gold.h).
  bool judged_by_answers = false;
  // A step waits for others: a program, a server. Who drives many episodes does not wait with it.
  bool steps_wait = false;
  // Episodes share nothing that changes, and their steps only compute: who drives many may have
  // threads carry out the steps of several at a time, each episode's by one.
  bool episodes_apart = false;
  // How many episodes can be open: who plays many plays no more at once, and does not branch. 0:
  // any number.
  int64_t episodes_at_once = 0;
};

// The rules. Immutable and thread-safe.
class Environment {
 public:
  virtual ~Environment() = default;

  virtual const EnvironmentTraits& traits() const = 0;
  virtual const std::shared_ptr<const Toolbox>& tools() const = 0;

  // Begins an episode. `seed` is all the randomness it may have beside the task's own. The error
  // says what is wrong with the task.
  virtual Result<std::unique_ptr<Episode>> Open(const Task& task, uint64_t seed) const = 0;

  // Whose tools and traits hold for the task: of several environments in one (envs/mixture.h) the
  // task's own. `tools` then has those of all of them.
  virtual const Environment& For(const Task& /*task*/) const { return *this; }
};

// The task's messages, if it has any.
Result<Json> MessagesFor(const Task& task);

// The schemas of all tools that the agent may know of.
Json VisibleTools(const Environment& environment);
bool IsHidden(const EnvironmentTraits& traits, std::string_view tool);

}  // namespace hone
