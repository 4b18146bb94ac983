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

// What writes do to what reads show, as the record tells it: after return_item(order, item), the
// item that get_order(order) shows is returned, and its total is less by the refund. For every
// write tool, read tool and place of the read's answer there is the simplest rule that (nearly) all
// recorded pairs of before and after bear out.
//
// A place is a member of the answer ("total"), or of the objects of a list in it: of that one which
// an argument of the write names ("items[*].returned"), or of the others ("items[-].returned").
struct EffectRule {
  enum class Kind {
    kSame,      // as it was
    kArgument,  // the write's argument `name`
    kAnswer,    // the member `name` of the write's answer ("total", "item.price")
    kPlus,      // what it was, more by that member
    kMinus,     // what it was, less by it
    kConstant,  // always `value`
  };
  Kind kind = Kind::kSame;
  std::string name;
  Json value;

  bool operator==(const EffectRule&) const = default;
};

struct WriteEffects {
  // By write tool and read tool, then by place. Pairs for which some place follows no rule are not
  // in it.
  std::map<std::pair<std::string, std::string>, std::map<std::string, EffectRule>> rules;
  // Members of a tool's answers that repeat the argument of the same name.
  std::map<std::string, std::vector<std::string>> echoes;

  // What a read shows after these writes, from what it showed before them. Nothing when the record
  // did not tell. A refusal stays one.
  std::optional<PlayedResult> After(const std::string& read, const PlayedResult& before,
                                    std::span<const Sessions::EarlierWrite> writes) const;
  // The answer with its echoes put right.
  PlayedResult Echoed(const std::string& tool, const Json& arguments, PlayedResult answer) const;

  Json ToJson() const;
  static Result<WriteEffects> FromJson(const Json& json);
};

WriteEffects LearnEffects(std::span<const RecordedCall> calls);

// The name of a question: who asks what in which state.
std::string QuestionHash(uint64_t environment_seed, const std::string& tool, const Json& arguments,
                         std::span<const Sessions::EarlierWrite> writes);

// Recorded answers by question. The calls must outlive it.
class RecordedStates {
 public:
  explicit RecordedStates(std::span<const RecordedCall> calls);

  const PlayedResult* Find(uint64_t environment_seed, const std::string& tool,
                           const Json& arguments,
                           std::span<const Sessions::EarlierWrite> writes) const;
  // The same, else worked out from the latest earlier state that was recorded.
  std::optional<PlayedResult> Now(uint64_t environment_seed, const std::string& tool,
                                  const Json& arguments,
                                  std::span<const Sessions::EarlierWrite> writes,
                                  const WriteEffects& effects) const;

 private:
  std::map<std::string, const PlayedResult*> by_question_;
};

}  // namespace hone
