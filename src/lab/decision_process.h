#pragma once

#include <string>
#include <vector>

#include "credit/group.h"
#include "credit/reward_values.h"
#include "record/score.h"

// Small tool-use decision processes whose every trajectory can be listed.
//
// In each state the policy calls rightly, calls wrongly, or answers: it decides itself when to
// stop. Its parameters are the logits of every state; a decision is one token.

namespace hone::lab {

enum class Choice { kRightCall, kWrongCall, kAnswer };
inline constexpr int kChoices = 3;

struct Decision {
  int state = 0;
  Choice choice = Choice::kAnswer;
  double reward = 0;  // of a call
};

struct Path {
  std::vector<Decision> decisions;
  double outcome = 0;
  double probability = 0;
};

struct DecisionProcess {
  std::string name;
  std::vector<std::vector<double>> policy;  // [state][choice], probabilities
  std::vector<Path> paths;                  // all of them; their probabilities sum up to 1

  size_t parameters() const { return policy.size() * kChoices; }
};

// `length` right calls are needed; a wrong call ends the episode, so does a call too many. The
// number of paths grows with the length only linearly.
DecisionProcess Chain(int length);

// `length` right calls are needed, `length` + 2 turns allowed; after a wrong call it goes on.
DecisionProcess Recoverable(int length);

// The sum of the path's terms that the selection has; "outcome" and "call" exist.
double RewardOf(const Path& path, const Selection& selection);

// The gradient of the expected reward with respect to the logits, [state * kChoices + choice].
std::vector<double> TrueGradient(const DecisionProcess& process, const Selection& selection);

// What is still to come from each state on average: the exact critic.
std::vector<double> StateValues(const DecisionProcess& process, const Selection& selection);

// A group of paths as the record of a star, and the critic's values of its nodes. Tokens a path's
// decisions have in order are the trajectory's flat tokens.
struct Sampled {
  ScoredTree record;
  CriticValues values;
};
Sampled RecordOf(const DecisionProcess& process, const std::vector<int>& group,
                 const std::vector<double>& state_values);

// d log pi(choice | state), written into out[state * kChoices ...] with a factor.
void AddScoreFunction(const DecisionProcess& process, const Decision& decision, double factor,
                      std::vector<double>* out);

}  // namespace hone::lab
