#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "base/json.h"
#include "base/result.h"

namespace hone::service {

// One thing that a customer wants, hidden from the agent.
struct Goal {
  std::string kind;
  std::string request;  // how the customer begins
  std::string again;    // how the customer asks for what was not told
  // What the customer says when asked for it; empty: "that does not matter".
  std::string order, product, colour, city, reason;
  std::string fallback;        // a second wish, when told that the first is out of stock
  std::string change;          // what is said at the first "shall I?" instead of yes; empty: yes
  std::vector<int64_t> facts;  // places in the task's outputs that must be told
  int64_t calls = 0;           // of the plan that are for this goal

  bool operator==(const Goal&) const = default;
};

struct Script {
  std::string email;
  std::vector<Goal> goals;
};

Json ScriptToJson(const Script& script);
Result<Script> ScriptFromJson(const Json& json);

// A customer who follows a script: asks, answers questions, says yes or has another idea when asked
// for confirmation, insists on what was not told, and loses patience. Understands questions by the
// words in them. A plain value.
class ScriptedUser {
 public:
  ScriptedUser(Script script, std::vector<std::string> outputs);

  struct Line {
    std::string text;
    bool stop = false;  // the customer leaves
  };
  // The first thing said.
  std::string Opening() const;
  // What is said to something the agent said.
  Line Reply(std::string_view agent);

  bool satisfied() const { return at_ >= script_.goals.size(); }
  // Said yes to the present goal, or had no occasion to.
  bool confirmed() const { return confirmed_; }

 private:
  const Goal& goal() const { return script_.goals[at_]; }
  Line FinishGoal();
  Line LosePatience(std::string text);
  std::string AnswerTo(std::string_view question) const;

  Script script_;
  std::vector<std::string> outputs_;
  std::vector<bool> told_;  // by output
  size_t at_ = 0;           // the present goal
  bool changed_ = false;    // the customer has had the other idea
  bool fell_back_ = false;
  bool confirmed_ = false;
  int useless_ = 0;  // things said that led nowhere
};

// Whether the text has the words in it, not as a part of other words; case does not matter.
bool Mentions(std::string_view text, std::string_view words);

}  // namespace hone::service
