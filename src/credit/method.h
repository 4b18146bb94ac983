#pragma once

#include <functional>
#include <span>
#include <string>
#include <vector>

#include "base/result.h"
#include "credit/channel.h"
#include "credit/credit.h"
#include "record/reward_terms.h"

// A method of credit assignment is data: filters, channels, estimators for what is no channel,
// shapers of the sum, and masks. The order never varies:
//
//   trajectories that ended by others' fault leave · whole groups are dropped · channels and
//   estimators (statistics) · shapers · masks of trajectories · credit per policy token

namespace hone {

// Which whole groups are dropped, and which trajectories are masked after the statistics.
struct Filters {
  // Groups whose outcomes (sums of the terms that are read for them, before bonuses and penalties
  // of the method) spread less are dropped; absent: none. A group of one has no spread and is kept.
  std::optional<double> least_deviation;  // dropped when the sample deviation is at most this
  double keep_share = 1;  // of the batch's groups, those with the largest deviation;
                          // rounded down, one at least
  // What deviates, one number per trajectory; empty: the outcomes as above.
  std::function<UnitValues(const Group&)> spread_of;
  bool mask_void = false;        // a turn with neither a whole action nor an answer
  bool mask_truncated = false;   // cut off by a limit, at the end or inside a turn
  bool mask_repetitive = false;  // a run of 20 tokens seen ten times
};

// Writes the credit of one group where that is not a channel.
struct Estimator {
  std::string name;
  std::function<void(const Group&, CreditBuilder*)> apply;
};

// Changes the sum of all channels, over the batch.
struct Shaper {
  std::string name;
  std::function<void(std::span<const Group>, std::span<CreditBuilder>)> apply;
};

// What a method promises; the conformance suite and the laboratory hold it to it.
struct Promises {
  // The expected estimate is exactly the gradient of the expected sum of the terms it reads.
  bool unbiased = false;
  // A constant added to the outcome of every trajectory changes nothing.
  bool shift_invariant = false;
  // Only paths matter: the tree and its flattened paths give the same credit.
  bool flat = true;
};

// Terms of which the scores must have at least one for the method to be itself.
struct TermNeed {
  Selection terms;
  bool on_calls = false;  // they stand on calls: where nobody called there are none
};

struct Method {
  std::string name;
  std::string about;                       // one line
  std::string needs;                       // what it reads, one line
  Selection reads = {{kOutcomeTerm}, {}};  // the terms whose expected sum it is about
  std::vector<TermNeed> term_needs;        // empty: one of `reads`
  std::vector<std::string> named;          // terms that its settings name: each is expected
  Filters filters;
  std::vector<Channel> channels;
  std::vector<Estimator> estimators;
  // What a critic should have said before each policy token of the group's trajectory with this
  // index: what the estimator's advantages are measured against. Null: the sum of what is read and
  // still to come.
  std::function<std::vector<float>(const Group&, size_t)> critic_targets;
  std::vector<Shaper> shapers;
  bool needs_greedy = false;  // one trajectory of a group is to be drawn at temperature 0
  SharedTokens shared = SharedTokens::kRepeat;
  Promises promises;
};

struct CreditInput {
  const ScoredTree* record = nullptr;    // in which Validate finds nothing wrong
  const CriticValues* values = nullptr;  // null: no critic
};

struct AssignOptions {
  bool layers = false;  // keep what each channel added
  // Whether a batch in which nobody earned what the method reads is an error. False: it is noted,
  // and earns nothing; for batches that may be all of tasks without a label.
  bool terms_required = true;
};

// The credit of every record of a batch, in their order; advantages that the records have already
// are not looked at. A pure function. An error when the scores do not have the terms that the
// method needs (term_needs.h), or when a reward is so large that credit is not finite.
Result<std::vector<Credit>> AssignCredit(const Method& method, std::span<const CreditInput> batch,
                                         const AssignOptions& settings = {});
// A batch of one.
Result<Credit> AssignCredit(const Method& method, const ScoredTree& record,
                            const AssignOptions& settings = {});

}  // namespace hone
