#pragma once

#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "simulate/models/language_model.h"

namespace hone {

// What a simulated user has in mind, hidden from the agent.
//
//   {"goal": "Return the lamp of order W17.", "persona": "short of time",
//    "stop": "as soon as the refund was named", "values": {"order": "W17"},
//    "alternatives": {"order": ["W18", "W19"]}, "wishes": [["W17", "lamp"]], "met": false}
//
// Only the goal is needed; any other JSON is a goal as it stands.
struct UserScript {
  std::string goal;
  std::string persona;
  std::string stop;   // when to leave
  Json values;        // what the goal is about, by name: values or lists of them
  Json alternatives;  // what it is not about, by name: lists
  Json wishes;        // for each thing that is wanted, a list of what shows that it was spoken of
  bool met = false;   // all of it has come about: leaving is right

  static UserScript Of(const Json& script);
};

struct UserLine {
  std::string text;
  bool stop = false;  // the user leaves
};

// What is wrong with what a simulated user is about to say, or nothing. Whoever says such things is
// no user, and the agent is not to be blamed for what comes of it:
// - leaving before its goal could be met: when the agent has not said anything; and, unless the
//   goal is met or the agent has spoken four times, when it has just asked for something or when a
//   wish has not been spoken of;
// - naming something the goal is not about (an alternative that nobody has mentioned): a
//   contradiction;
// - giving eight words of the hidden goal in a row, or speaking of goals, instructions and
//   simulations: a leak.
std::optional<std::string> UserFault(const UserScript& script,
                                     const std::vector<ChatMessage>& conversation,
                                     const UserLine& line);

struct UserSimulatorOptions {
  double temperature = 0.7;
  int64_t max_tokens = 200;
  int64_t tries = 3;  // at a line without fault
};

// The tool `user`.
ToolSpec UserSpec();

// A toolkit of this one tool, for environments to ask through the executor and for no agent:
// {"script", "conversation": [{"role", "content"}]} (roles as the agent's conversation has them,
// what the user said is "user") to {"text", "stop"}. A user without a faultless line is
// `unavailable`, blame user_simulator. The same script and conversation get the same line.
std::shared_ptr<Toolkit> NewUserToolkit(std::shared_ptr<LanguageModel> model,
                                        UserSimulatorOptions options);

}  // namespace hone
