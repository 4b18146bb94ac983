#pragma once

#include <map>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "base/json.h"
#include "base/result.h"
#include "simulate/journaled_calls.h"

namespace hone {

// What an answer repeats of what is known already, and what makes a tool refuse, as the record
// tells it: the refund of cancel_order(order) is the total that get_order(order) shows;
// exchange_item is refused where get_product(product) shows the colour as out of stock. A rule is
// taken over when (nearly) all recorded calls bear it out. Whatever follows no rule is for others
// to make up.

// What is known at a call, by name: "argument colour", "get_order.total", and, of a list in a known
// answer, the members of that object which an argument of the call names:
// "get_order.items[*].price"
// ("get_order.items[*]" says whether there is one). "get_order" alone: it was refused.
using CallFacts = std::map<std::string, Json>;
CallFacts FactsOf(const std::string& tool, const Json& arguments,
                  std::span<const KnownResult> known);

// A place of an answer ("item.price") is what these facts come to: one of them as it stands, or
// whole numbers added up; or the sum of a member over a list of the same answer ("items[].price"),
// which holds until something was written.
struct AnswerRule {
  std::vector<std::string> plus, minus;
  std::string sum;

  bool operator==(const AnswerRule&) const = default;
};

// When a tool refuses.
struct RefusalRules {
  // By fact: values with which it does, and the others that were seen.
  struct Values {
    std::vector<Json> refused, others;

    bool operator==(const Values&) const = default;
  };
  std::map<std::string, Values> facts;
  bool else_answered = false;  // it answers when every fact has one of the others

  bool operator==(const RefusalRules&) const = default;
};

struct ResultRules {
  std::map<std::string, std::map<std::string, AnswerRule>> places;  // by tool, then by place
  std::map<std::string, RefusalRules> refusals;                     // by tool

  // Nothing when the rules do not say.
  std::optional<CallStatus> StatusOf(const std::string& tool, const CallFacts& facts) const;
  // The answer with what follows rules put right.
  PlayedResult PutRight(const std::string& tool, const CallFacts& facts, bool written,
                        PlayedResult answer) const;

  Json ToJson() const;
  static Result<ResultRules> FromJson(const Json& json);
};

ResultRules LearnAnswerRules(std::span<const RecordedCall> calls);

}  // namespace hone
