#pragma once

#include <functional>
#include <istream>
#include <memory>
#include <optional>
#include <ostream>
#include <string>
#include <vector>

#include "app/terminal.h"
#include "envs/environment.h"
#include "rollout/policy.h"
#include "tools/executor.h"

namespace hone {

// What a person can talk to.
struct TalkParts {
  const Policy* policy = nullptr;
  // Whose tools the agent has; null: none. Then there is no executor either.
  const Environment* environment = nullptr;
  Executor* executor = nullptr;
  Opening opening;  // what the agent is told before the person says anything: system message, tools
  std::vector<std::string> examples;  // what a person could say
};

struct TalkOptions {
  bool ask = true;         // before a call whose effect is irreversible
  bool echo = false;       // show what was read: the input is no terminal
  int64_t max_turns = 16;  // of the agent, before the person is asked again
  uint64_t seed = 0;
  // Reads a line behind a prompt instead of the stream; nothing: the person has left. `remember`:
  // it is something said, not an answer to a question of ours.
  std::function<std::optional<std::string>(std::string_view prompt, bool remember)> read;
};

// A conversation at a terminal: one line is one message. Calls are shown, carried out by the
// executor and answered, until the agent answers the person. /examples, /tools, /new and /quit are
// commands; a number says the example of that number. One thread; everything must outlive it.
class Talk {
 public:
  Talk(const TalkParts& parts, const TalkOptions& options, const Terminal& terminal,
       std::istream* in, std::ostream* out);
  ~Talk();

  // Until /quit or the end of the input. The error is the model's or the dialect's.
  Result<void> Run();

 private:
  bool ReadLine(std::string_view prompt, bool remember, std::string* line);
  // True when the line was a command.
  bool Command(const std::string& line);
  void ShowExamples() const;
  void ShowTools() const;
  void Forget();

  Result<void> Say(const std::string& text);
  Result<Node> Draw();
  std::vector<ToolResult> Carry(const std::vector<Call>& calls);
  bool MayCall(const Call& call);
  // What follows the agent's turn. Where the dialect writes the past anew, all of it is.
  Result<void> Hear(const AgentTurn& agent, const EnvironmentTurn& environment);
  // Begins with everything that was said until now.
  Result<void> Render();
  void Remember(const AgentTurn& agent);

  const TalkParts parts_;
  const TalkOptions options_;
  const Terminal terminal_;
  std::istream* in_;
  std::ostream* out_;
  std::unique_ptr<Sampler> sampler_;
  std::shared_ptr<Sessions> sessions_;
  Sampler::Id sequence_ = -1;  // the conversation; -1: nothing was said
  Node last_;                  // the agent's last turn
  Json::Array said_;           // behind the opening
  int64_t conversations_ = 0, turns_ = 0;
  bool left_ = false;
};

}  // namespace hone
