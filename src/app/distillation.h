#pragma once

#include <map>
#include <optional>
#include <string>

#include "app/endpoint_options.h"
#include "app/evaluation_setup.h"
#include "data/attempt_log.h"

namespace hone {

// What a command line says of a teacher, and of what it is to do.
struct DistillationChoice {
  EvaluationChoice teacher;  // its model may be the URL of an endpoint
  EndpointChoice endpoint;
  std::string split = "train";
  std::optional<int64_t> tasks;       // the first of the split; absent: all of a file, else 1000
  int64_t samples = 1;                // trajectories per task
  std::optional<double> temperature;  // absent: 0, of several samples 1
  uint64_t seed = 0;
  std::optional<double> at_least;  // so much reward, instead of success
  bool thoughts = false;           // of an endpoint: its thoughts are kept, too
  std::string out;
  std::string pairs;           // preferences are written there, too; empty: they are not
  int64_t pairs_per_task = 4;  // at most
};

struct Distilled {
  std::string teacher, environment;
  int64_t wanted = 0;  // trajectories
  bool stopped = false;
  std::map<std::string, int64_t> pairs;  // by why one is preferred
  AttemptSummary summary;
};

// Lets the teacher play the tasks on the real tools, writes every attempt down as it ends
// (OUT.attempts.jsonl; what is there already is not played again), and writes those that went well
// as conversations to OUT. A signal stops it: then OUT has what there is.
Result<Distilled> Distil(const DistillationChoice& choice);

}  // namespace hone
