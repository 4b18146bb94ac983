#pragma once

#include <optional>
#include <string>
#include <vector>

#include "base/json.h"
#include "credit/credit.h"
#include "record/store.h"
#include "text/tokenizer.h"

// The records of a run as the dashboard's page wants them: groups in pages, and one group with all
// that is known of every token.

namespace hone {

// Which groups are shown. Steps count from 1 here, as everywhere where people see them.
struct GroupFilter {
  int64_t first_step = 1;
  std::optional<int64_t> last_step;
  std::optional<double> least_reward, most_reward;  // of the group's mean
  std::string text;        // in the task's id, the request or a tool's name; case does not matter
  std::string tool;        // that one of the trajectories called
  std::string ending;      // of one of them
  bool differing = false;  // trajectories earned different rewards
  bool faults = false;     // something could not be read, failed, or was somebody's fault

  // Whether the store's columns are not enough to tell.
  bool NeedsRecords() const {
    return !text.empty() || !tool.empty() || !ending.empty() || differing || faults;
  }
};

struct GroupPage {
  bool newest_first = true;
  std::optional<RunStore::TreePlace> behind;
  int64_t limit = 40;
};

// {"groups": [...], "next": {"step", "id"} or null, "looked_at": N}: the groups of one page. Where
// a filter leaves few, a page may hold less than `limit`, or nothing, and still have a next one:
// the work per request is bounded. A record that is damaged is listed with its "problem".
Result<Json> ListGroups(const RunStore& store, const GroupFilter& filter, const GroupPage& page);

// What a method of credit says about one group.
struct GroupCredit {
  std::string method;
  std::optional<Credit> credit;  // with layers; absent: `problem`
  std::string problem;
};
GroupCredit CreditOf(const ScoredTree& record, const std::string& method, int64_t stage_step);

// The whole group: task, nodes with their tokens as text, calls and results, leaves with rewards,
// verdicts and the credit of every token, as it was trained with and layer by layer. "same" says
// whether the layers add up to what was trained with (a method that looks at other groups, or at a
// critic, gives something else for one group alone).
Json GroupToJson(const ScoredTree& record, const Tokenizer* tokenizer, const GroupCredit& credit);

}  // namespace hone
