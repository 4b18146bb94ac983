#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "base/json.h"
#include "record/call.h"

namespace hone {

// A call that a task says is right.
struct GoldCall {
  std::string name;
  std::optional<Json> arguments;                      // an object; absent: any arguments will do
  std::map<std::string, std::vector<Json>> accepted;  // other right values, by parameter
  std::vector<std::string> optional;                  // parameters that may be left out
  std::vector<std::string> any;                       // of `arguments`: any value of them is right
  std::vector<int32_t> after;  // indices of the gold calls that must come before it

  bool operator==(const GoldCall&) const = default;
};

// Whether and how the order of the gold calls matters.
enum class CallOrder {
  kAny,       // a set
  kSequence,  // as listed
  kGraph,     // as their `after` says
};

struct GoldCalls {
  std::vector<GoldCall> calls;
  CallOrder order = CallOrder::kAny;

  bool operator==(const GoldCalls&) const = default;
};

// How right the arguments are, in [0, 1]: the mean, over all parameters of either side, of how near
// the value is to the nearest accepted one (ValueSimilarity). No parameters on either side: 1.
double ArgumentScore(const Json& arguments, const GoldCall& gold);

// Name equal, and every parameter has an accepted value.
bool IsRightCall(const Call& call, const GoldCall& gold);

// How right a call is: 0 when the name differs, else half for the name and half by ArgumentScore.
double CallSimilarity(const Call& call, const GoldCall& gold);

// What can be said of all calls of a trajectory together.
struct CallScore {
  std::vector<int32_t> gold_of;    // per call the gold call it stands for, or -1
  std::vector<double> similarity;  // per call, to that gold call; 0 without one
  double precision = 0;            // share of similarity in the calls
  double recall = 0;               // and in the gold calls
  double f1 = 0;                   // 1 when there are neither calls nor gold calls
  double name_f1 = 0;              // the same by names alone
  double parameter_f1 = 0;         // of parameters' names, between matched calls
  double value_f1 = 0;             // of parameters with an accepted value, likewise
  // In [0, 1]; absent where order does not matter. kSequence: the longest run of gold calls that
  // were made in order, as a share of those made. kGraph: the share of edges, between gold calls
  // that were made, that were respected. Nothing to compare: 1.
  std::optional<double> order;
};

// Calls are matched to gold calls one to one so that the sum of similarities is largest; of equal
// calls the earlier one is matched. So every call beyond the gold ones lowers the precision.
CallScore ScoreCalls(const std::vector<const Call*>& calls, const GoldCalls& gold);

// Step-wise similarity to an expert: per call, how right it is as the expert's call of the same
// step; 0 for calls behind the expert's last.
std::vector<double> ExpertSimilarity(const std::vector<const Call*>& calls,
                                     const std::vector<GoldCall>& expert);

}  // namespace hone
