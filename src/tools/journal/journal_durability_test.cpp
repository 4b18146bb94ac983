// What a journal holds after kills, full disks, other writers and damage.

#include <gtest/gtest.h>

#include <csignal>
#include <map>
#include <set>
#include <thread>

#include <sqlite3.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/file.h"
#include "support/full_disk.h"
#include "support/random_call.h"
#include "tools/journal/journal.h"

namespace hone {
namespace {

std::unique_ptr<Journal> Opened(const std::filesystem::path& file) {
  auto journal = Journal::Open(file);
  EXPECT_TRUE(journal.ok()) << (journal.ok() ? "" : journal.error().message());
  return journal.ok() ? std::move(journal).value() : nullptr;
}

void ExecuteRaw(const std::filesystem::path& file, const std::string& sql) {
  sqlite3* database = nullptr;
  ASSERT_EQ(sqlite3_open(file.c_str(), &database), SQLITE_OK);
  ASSERT_EQ(sqlite3_exec(database, sql.c_str(), nullptr, nullptr, nullptr), SQLITE_OK)
      << sqlite3_errmsg(database);
  sqlite3_close(database);
}

class JournalDurabilityTest : public testing::Test {
 protected:
  TemporaryDirectory directory_;
  const std::filesystem::path file_ = directory_.path() / "journal.sqlite";
};

// The n-th call of one of the threads of the process that gets killed; every third is a write.
JournalEntry NthCall(int64_t thread, int64_t n) {
  JournalEntry entry = RandomCall(Rng(77).Split(static_cast<uint64_t>(thread)), n);
  entry.identity.run = std::to_string(thread);
  entry.effect = n % 3 == 0 ? Effect::kWrites : Effect::kReads;
  return entry;
}

JournalEntry Interrupted(JournalEntry entry) {
  entry.result.status = CallStatus::kInterrupted;
  entry.result.blame = Blame::kInfrastructure;
  entry.result.content = "";
  entry.attempts.clear();
  return entry;
}

// What the recording process says of a call, after the fact.
struct News {
  enum Kind : int64_t { kCarriedOut, kAcknowledged } kind;
  int64_t thread;
  int64_t n;
};

// Does what an executor does: finds, begins, carries out, records; call after call.
void RecordUntilKilled(Journal* journal, int64_t thread, int pipe) {
  const auto tell = [&](News::Kind kind, int64_t n) {
    const News news{kind, thread, n};
    if (::write(pipe, &news, sizeof news) != sizeof news) ::_exit(3);
  };
  for (int64_t n = 0;; ++n) {
    JournalEntry entry = NthCall(thread, n);
    const auto found = journal->Find(entry.identity);
    if (!found.ok()) ::_exit(4);
    if (found->entry) continue;
    if (entry.effect == Effect::kWrites) {
      if (found->begun) {
        entry = Interrupted(entry);
      } else {
        if (!journal->Begin(entry.identity, entry.content, entry.effect).ok()) ::_exit(5);
        tell(News::kCarriedOut, n);
      }
    }
    if (!journal->Finish(entry).ok()) ::_exit(6);
    tell(News::kAcknowledged, n);
  }
}

TEST_F(JournalDurabilityTest, AProcessKilledAt40RandomMomentsLosesNoCallAndRepeatsNoWrite) {
  constexpr int64_t kThreads = 3;
  Rng rng(2027);
  std::map<std::pair<int64_t, int64_t>, int> carried_out;
  std::set<std::pair<int64_t, int64_t>> acknowledged;
  for (int kill = 0; kill < 40; ++kill) {
    int ends[2];
    ASSERT_EQ(::pipe(ends), 0);
    const pid_t child = ::fork();
    if (child == 0) {
      auto journal = Journal::Open(file_);
      if (!journal.ok()) ::_exit(2);
      std::vector<std::thread> threads;
      for (int64_t thread = 0; thread < kThreads; ++thread) {
        threads.emplace_back([&, thread] { RecordUntilKilled(journal->get(), thread, ends[1]); });
      }
      threads[0].join();
    }
    ::close(ends[1]);
    // Counted in news and not in time alone, so that a slow machine gets as far as a fast one.
    std::vector<News> told;
    News news;
    const auto listen = [&] { return ::read(ends[0], &news, sizeof news) == sizeof news; };
    for (uint64_t left = rng.Below(60); left > 0 && listen(); --left) told.push_back(news);
    ::usleep(static_cast<useconds_t>(rng.Below(2000)));
    ::kill(child, SIGKILL);
    int status = 0;
    ::waitpid(child, &status, 0);
    while (listen()) told.push_back(news);
    ::close(ends[0]);
    ASSERT_TRUE(WIFSIGNALED(status)) << "the writer failed by itself: " << WEXITSTATUS(status);

    for (const News& each : told) {
      const std::pair call(each.thread, each.n);
      if (each.kind == News::kCarriedOut) {
        EXPECT_EQ(++carried_out[call], 1) << "a write was repeated";
      } else {
        acknowledged.insert(call);
      }
    }
    auto journal = Opened(file_);
    for (const auto& [thread, n] : acknowledged) {
      const JournalEntry wanted = NthCall(thread, n);
      const auto found = journal->Find(wanted.identity);
      ASSERT_TRUE(found.ok() && found->entry) << "an acknowledged call was lost";
      ASSERT_TRUE(*found->entry == wanted || *found->entry == Interrupted(wanted));
    }
    for (const auto& [call, times] : carried_out) {
      const auto found = journal->Find(NthCall(call.first, call.second).identity);
      ASSERT_TRUE(found.ok() && (found->begun || found->entry)) << "a begun write was forgotten";
    }
  }
  EXPECT_GT(acknowledged.size(), 200u) << "the writer hardly got to write";
  EXPECT_GT(carried_out.size(), 50u);
}

TEST_F(JournalDurabilityTest, ProcessesThatRecordIntoOneJournalAtOnceDoNotDisturbEachOther) {
  constexpr int64_t kProcesses = 4, kCalls = 300;
  std::vector<pid_t> children;
  for (int64_t process = 0; process < kProcesses; ++process) {
    const pid_t child = ::fork();
    if (child == 0) {
      auto journal = Journal::Open(file_);
      if (!journal.ok()) ::_exit(1);
      for (int64_t n = 0; n < kCalls; ++n) {
        // Every tenth call is one that the other processes record too.
        const JournalEntry entry = NthCall(n % 10 == 0 ? 99 : process, n);
        if (!(*journal)->Finish(entry).ok()) ::_exit(2);
        const auto found = (*journal)->Find(entry.identity);
        if (!found.ok() || found->entry != entry) ::_exit(3);
      }
      ::_exit(0);
    }
    children.push_back(child);
  }
  for (const pid_t child : children) {
    int status = 0;
    ::waitpid(child, &status, 0);
    EXPECT_EQ(status, 0);
  }
  auto journal = Opened(file_);
  for (int64_t process = 0; process < kProcesses; ++process) {
    for (int64_t n = 0; n < kCalls; ++n) {
      const JournalEntry entry = NthCall(n % 10 == 0 ? 99 : process, n);
      ASSERT_EQ(journal->Find(entry.identity)->entry, entry);
    }
  }
  EXPECT_EQ(journal->Statistics()->calls, kProcesses * kCalls * 9 / 10 + kCalls / 10);
  journal.reset();
  sqlite3* database = nullptr;
  ASSERT_EQ(sqlite3_open(file_.c_str(), &database), SQLITE_OK);
  std::string verdict;
  sqlite3_exec(
      database, "PRAGMA integrity_check",
      [](void* into, int, char** row, char**) {
        return static_cast<std::string*>(into)->append(row[0]), 0;
      },
      &verdict, nullptr);
  sqlite3_close(database);
  EXPECT_EQ(verdict, "ok");
}

TEST_F(JournalDurabilityTest, AFullDiskIsAClearErrorAndLeavesNothingHalfWritten) {
  auto journal = Opened(file_);
  int64_t done = 0;
  Rng rng(5);
  for (int round = 0; round < 30; ++round) {
    FullDisk disk(static_cast<int64_t>(rng.Below(60000)));
    std::optional<Error> error;
    while (!error) {
      const JournalEntry entry = NthCall(0, done);
      const bool write = entry.effect == Effect::kWrites;
      const bool begun = write && journal->Find(entry.identity)->begun;
      if (write && !begun) {
        const auto begin = journal->Begin(entry.identity, entry.content, entry.effect);
        if (!begin.ok()) {
          error = begin.error();
          break;
        }
      }
      const auto finish = journal->Finish(entry);
      if (!finish.ok()) {
        error = finish.error();
      } else {
        ++done;
      }
    }
    EXPECT_EQ(error->code(), ErrorCode::kFull) << error->message();
    FullDisk::bytes_left = INT64_MAX;
    // Space was freed: the same journal goes on, and so does a new one.
    if (round % 2 == 0) journal = Opened(file_);
    ASSERT_EQ(journal->Statistics()->calls, done);
    EXPECT_FALSE(journal->Find(NthCall(0, done).identity)->entry);
  }
  ASSERT_GT(done, 30);
  for (int64_t n = 0; n < done; ++n) {
    ASSERT_EQ(journal->Find(NthCall(0, n).identity)->entry, NthCall(0, n));
  }
}

TEST_F(JournalDurabilityTest, AFullDiskFailsAllCallsThatWereToBeCommittedTogether) {
  auto journal = Opened(file_);
  std::vector<JournalEntry> calls;
  for (int64_t n = 0; n < 200; ++n) calls.push_back(NthCall(0, n));
  {
    FullDisk disk(20000);
    EXPECT_EQ(journal->Add(calls, {}).error().code(), ErrorCode::kFull);
  }
  EXPECT_EQ(journal->Statistics()->calls, 0);
  EXPECT_EQ(journal->Add(calls, {})->added, 200);
}

TEST_F(JournalDurabilityTest, ForeignAndNewerFilesAreRefused) {
  ASSERT_TRUE(WriteFileAtomic(file_, std::string(5000, 'x')).ok());
  EXPECT_EQ(Journal::Open(file_).error().code(), ErrorCode::kInvalidArgument);
  EXPECT_EQ(*ReadFile(file_), std::string(5000, 'x')) << "it is not touched";
  std::filesystem::remove(file_);
  ExecuteRaw(file_, "CREATE TABLE somebody_elses(x)");
  EXPECT_EQ(Journal::Open(file_).error().code(), ErrorCode::kInvalidArgument);
  std::filesystem::remove(file_);
  Opened(file_).reset();
  ExecuteRaw(file_, "PRAGMA user_version = 99");
  for (const auto& opened : {Journal::Open(file_), Journal::OpenForReading(file_)}) {
    EXPECT_EQ(opened.error().code(), ErrorCode::kVersion);
  }
}

TEST_F(JournalDurabilityTest, AFlippedBitIsCorruptAndNeverAWrongAnswer) {
  constexpr int64_t kCalls = 60;
  {
    auto journal = Opened(file_);
    for (int64_t n = 0; n < kCalls; ++n) ASSERT_TRUE(journal->Finish(NthCall(0, n)).ok());
  }
  const std::string whole = *ReadFile(file_);
  Rng rng(8);
  int noticed = 0;
  for (int round = 0; round < 150; ++round) {
    std::string damaged = whole;
    damaged[rng.Below(damaged.size())] ^= static_cast<char>(1 << rng.Below(8));
    ASSERT_TRUE(WriteFileAtomic(file_, damaged).ok());
    auto journal = Journal::OpenForReading(file_);
    if (!journal.ok()) {
      ++noticed;
      continue;
    }
    for (int64_t n = 0; n < kCalls; ++n) {
      const auto found = (*journal)->Find(NthCall(0, n).identity);
      // Damage of the index can hide a call, which is then asked for again; what is found is right.
      if (!found.ok()) {
        EXPECT_NE(found.error().message().find(file_.string()), std::string::npos);
        ++noticed;
      } else if (found->entry) {
        ASSERT_EQ(*found->entry, NthCall(0, n));
      }
    }
  }
  EXPECT_GT(noticed, 20);
}

TEST_F(JournalDurabilityTest, ATruncatedFileIsCorrupt) {
  {
    auto journal = Opened(file_);
    for (int64_t n = 0; n < 200; ++n) ASSERT_TRUE(journal->Finish(NthCall(0, n)).ok());
  }
  const auto size = std::filesystem::file_size(file_);
  for (const auto left : {size - 4096, size / 2 / 4096 * 4096, size / 2 + 1}) {
    std::filesystem::resize_file(file_, left);
    const auto writing = Journal::Open(file_);
    ASSERT_FALSE(writing.ok());
    EXPECT_EQ(writing.error().code(), ErrorCode::kCorrupt) << writing.error().message();
    EXPECT_EQ(Journal::OpenForReading(file_).error().code(), ErrorCode::kCorrupt);
  }
}

}  // namespace
}  // namespace hone
