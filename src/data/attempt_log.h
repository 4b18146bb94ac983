#pragma once

#include <cstdint>
#include <cstdio>
#include <filesystem>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "base/json.h"
#include "base/result.h"

// Tasks that somebody else played so that others may imitate what went well.

namespace hone {

// One trajectory of one task.
struct PlayedAttempt {
  int64_t task = 0;  // its number in the split
  int64_t sample = 0;
  std::string id;  // of the task
  std::string ending;
  std::optional<bool> success;   // the environment's verdict; absent: it has none
  std::optional<double> reward;  // in all; absent: it was not asked for, or has no value
  Json conversation;             // {"messages", "tools"}; null: it cannot be written as one
  int64_t tokens = 0;            // that the agent wrote

  bool operator==(const PlayedAttempt&) const = default;
};

// Which attempts become conversations.
struct AttemptChoice {
  std::optional<double> at_least;  // so much reward, instead of success
};
// With neither verdict nor reward nothing is a success.
bool IsWanted(const PlayedAttempt& attempt, const AttemptChoice& choice);

// What became of all attempts.
struct AttemptSummary {
  int64_t attempts = 0, succeeded = 0;
  int64_t tasks = 0, tasks_succeeded = 0;  // tried; done at least once
  int64_t unreadable = 0;                  // that succeeded, and are no conversation
  int64_t repeated = 0;  // that succeeded and say what another one of the task says
  int64_t tokens = 0;
  std::vector<Json> conversations;  // in the order of the tasks, then of the samples

  Json ToJson() const;  // without the conversations themselves
};

// All attempts that were made until now, in a file that grows by a line with each: whoever is
// killed loses what was under way and nothing else. One process at a time.
class AttemptLog {
 public:
  // Goes on with the file where there is one. `settings` is what attempts depend on: an error when
  // those in the file were made with others. A line that was not written to its end is dropped.
  static Result<std::unique_ptr<AttemptLog>> Open(const std::filesystem::path& file,
                                                  const Json& settings);
  ~AttemptLog();
  AttemptLog(const AttemptLog&) = delete;
  AttemptLog& operator=(const AttemptLog&) = delete;

  bool Has(int64_t task, int64_t sample) const { return attempts_.contains({task, sample}); }
  // On the disk when it returns.
  Result<void> Add(PlayedAttempt attempt);

  // Of the first `tasks` tasks and `samples` samples of each, in the order of the tasks.
  std::vector<PlayedAttempt> Attempts(int64_t tasks, int64_t samples) const;
  // Of the first `tasks` tasks and `samples` samples of each.
  AttemptSummary Summarise(int64_t tasks, int64_t samples, const AttemptChoice& choice) const;

 private:
  AttemptLog(std::filesystem::path file, std::FILE* stream)
      : file_(std::move(file)), stream_(stream) {}
  // Takes in all whole lines, and returns where they end.
  Result<size_t> Read(std::string_view text, const Json& settings);
  Result<void> Write(const Json& json);

  const std::filesystem::path file_;
  std::FILE* stream_;
  std::map<std::pair<int64_t, int64_t>, PlayedAttempt> attempts_;
};

}  // namespace hone
