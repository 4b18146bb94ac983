#pragma once

#include <memory>
#include <vector>

#include "base/json.h"
#include "base/mutex.h"
#include "base/result.h"
#include "envs/command_env.h"
#include "tools/command/line_program.h"

namespace hone {

// The processes of an environment that is a program, and which episode lives in which of them. An
// episode stays in the process that opened it. A process answers one request at a time.
// Thread-safe.
//
// A process that hung, ended or wrote something else is killed and another started in its place, so
// that one stands ready when it is needed. The episodes that lived in it are lost.
class CommandWorkers {
 public:
  explicit CommandWorkers(const CommandEnvOptions& options);

  // Where an episode lives. Nowhere at first.
  struct Place {
    size_t worker = 0;
    uint64_t generation = 0;  // of the worker's process; 0: nowhere
    Json episode;             // the program's name for it
  };

  // Opens an episode in the process with the fewest, of those that are free. A reply with "error"
  // is returned as it is, and then, as after an error, the place is nowhere.
  Result<Json> Open(const Json& reset, Place* place);

  // One request about an episode. kNotFound: it is lost, and the request was not heard. Any other
  // error: the process failed at this very request.
  Result<Json> Ask(const Place& place, const Json& request);

  // Whether the process that knew the episode is gone.
  bool IsLost(const Place& place) const;

  // The episode is not needed any more. Does not wait: the program hears it before the next
  // request.
  void Close(const Place& place);

 private:
  struct Worker {
    Mutex talking;  // held for one exchange
    std::unique_ptr<LineProgram> process HONE_GUARDED_BY(talking);

    mutable Mutex mutex;
    uint64_t generation HONE_GUARDED_BY(mutex) = 0;
    int64_t episodes HONE_GUARDED_BY(mutex) = 0;
    bool busy HONE_GUARDED_BY(mutex) = false;         // a request is under way
    std::vector<Json> closed HONE_GUARDED_BY(mutex);  // of this generation, and not said yet
  };

  Result<void> StartAll();
  size_t LeastBusy() const;
  Result<void> Start(Worker* worker) HONE_REQUIRES(worker->talking);
  Result<Json> Exchange(Worker* worker, const Json& request) HONE_REQUIRES(worker->talking);
  Result<void> SayClosed(Worker* worker) HONE_REQUIRES(worker->talking);

  const CommandEnvOptions options_;
  std::vector<std::unique_ptr<Worker>> workers_;
  Mutex starting_;
  bool started_ HONE_GUARDED_BY(starting_) = false;
};

}  // namespace hone
