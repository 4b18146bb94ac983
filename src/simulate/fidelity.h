#pragma once

#include <string>
#include <vector>

#include "simulate/journaled_calls.h"
#include "simulate/players/checked_play.h"

namespace hone {

// How a member of the answers is distributed: the simulator's and the record's.
struct FieldFidelity {
  std::string field;           // "temp", "items[].price"
  int64_t values = 0;          // that were recorded
  double equal = 0;            // share of calls where both say the same
  double total_variation = 0;  // between the two distributions, 0 to 1
  // The same between two samples of these sizes that are both drawn from the record, on average:
  // what chance alone makes of it.
  double noise = 0;
};

struct ToolFidelity {
  std::string tool;
  int64_t calls = 0;
  int64_t faults = 0;           // the simulator had no answer
  double exact = 0;             // shares of the calls: the very answer
  double fields = 0;            // mean share of the answer's members that are right
  double schema_valid = 0;      // of answers before they were checked and tried again: first tries
  double answered_valid = 0;    // of answers as given
  double error_agreement = 0;   // refused by both or by neither
  double recorded_errors = 0;   // share that the real tool refused
  double simulated_errors = 0;  // and the simulator
  // Of pairs of calls with different arguments, the share with the same answer.
  double recorded_collisions = 0, simulated_collisions = 0;
  // Reads that a write had changed: how many, and how many show everything that it changed.
  int64_t reads_after_writes = 0, reads_after_writes_right = 0;
  std::vector<FieldFidelity> by_field;
};

struct FidelityReport {
  std::vector<ToolFidelity> tools;  // by name
  ToolFidelity all;                 // over all calls; without fields and collisions

  Json ToJson() const;
  std::string Table() const;  // for people
};

// Lets a player answer recorded calls that it has not seen, each with the state that the record
// has, and compares. Computable tools are left out: nobody plays them. Numbers of more than 20
// values are compared by tenths of the record, texts of more than 50 by their length. `threads`
// play at once; the report does not depend on it.
FidelityReport MeasureFidelity(const JournaledCalls& held_out, const Toolbox& toolbox,
                               Player* player, const CheckOptions& options, int threads);

}  // namespace hone
