#include "record/store.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <csignal>

#include <sqlite3.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/file.h"
#include "support/full_disk.h"
#include "support/random_record.h"

namespace hone {
namespace {

std::unique_ptr<RunStore> Opened(const std::filesystem::path& file) {
  auto store = RunStore::Open(file);
  EXPECT_TRUE(store.ok()) << (store.ok() ? "" : store.error().message());
  return store.ok() ? std::move(store).value() : nullptr;
}

void ExecuteRaw(const std::filesystem::path& file, const std::string& sql) {
  sqlite3* database = nullptr;
  ASSERT_EQ(sqlite3_open(file.c_str(), &database), SQLITE_OK);
  ASSERT_EQ(sqlite3_exec(database, sql.c_str(), nullptr, nullptr, nullptr), SQLITE_OK)
      << sqlite3_errmsg(database);
  sqlite3_close(database);
}

class StoreTest : public testing::Test {
 protected:
  TemporaryDirectory directory_;
  const std::filesystem::path file_ = directory_.path() / "store.sqlite";
};

TEST_F(StoreTest, TreesScoresAndAdvantagesComeBackTheSame) {
  auto store = Opened(file_);
  for (uint64_t seed = 0; seed < 50; ++seed) {
    auto id = store->AddTree(static_cast<int64_t>(seed / 10), RandomRecord(Rng(seed)));
    ASSERT_TRUE(id.ok()) << id.error().message();
    EXPECT_EQ(*id, static_cast<int64_t>(seed) + 1);
  }
  store.reset();
  auto reader = RunStore::OpenForReading(file_);
  ASSERT_TRUE(reader.ok());
  EXPECT_EQ(*(*reader)->CountTrees(), 50);
  for (uint64_t seed = 0; seed < 50; ++seed) {
    EXPECT_EQ(*(*reader)->ReadTree(static_cast<int64_t>(seed) + 1), RandomRecord(Rng(seed)));
  }
  const auto summaries = *(*reader)->ListTrees(11, 5);
  ASSERT_EQ(summaries.size(), 5u);
  EXPECT_EQ(summaries[0].id, 11);
  EXPECT_EQ(summaries[0].step, 1);
  EXPECT_EQ(summaries[0].task, RandomRecord(Rng(10)).tree.task.id);
}

std::vector<int64_t> IdsOf(const RunStore::TreePage& page) {
  std::vector<int64_t> ids;
  for (const RunStore::TreeSummary& tree : page.trees) ids.push_back(tree.id);
  return ids;
}

TEST_F(StoreTest, PagesHoldEveryTreeOnceInEitherOrder) {
  auto store = Opened(file_);
  std::vector<int64_t> wanted;
  for (uint64_t i = 0; i < 53; ++i) {
    wanted.push_back(*store->AddTree(static_cast<int64_t>(i / 5), RandomRecord(Rng(i))));
  }
  for (const bool newest_first : {false, true}) {
    RunStore::TreeQuery query{.newest_first = newest_first, .limit = 7};
    std::vector<int64_t> ids;
    for (int pages = 0; pages < 20; ++pages) {
      const RunStore::TreePage page = *store->PageTrees(query);
      EXPECT_LE(page.trees.size(), 7u);
      const std::vector<int64_t> more = IdsOf(page);
      ids.insert(ids.end(), more.begin(), more.end());
      query.behind = page.next;
      if (!page.next) break;
    }
    if (newest_first) std::reverse(ids.begin(), ids.end());
    EXPECT_EQ(ids, wanted);
  }
}

TEST_F(StoreTest, APageLooksAtNoMoreThanItMayAndSaysWhereToGoOn) {
  auto store = Opened(file_);
  for (uint64_t i = 0; i < 30; ++i) {
    ScoredTree record = RandomRecord(Rng(i));
    record.scores = {{0, {{.name = "outcome", .value = i == 20 ? 5.0 : 0.0}}}};
    record.advantages.clear();
    ASSERT_TRUE(store->AddTree(static_cast<int64_t>(i), record).ok());
  }
  RunStore::TreeQuery query{.least_reward = 4.0, .newest_first = false, .look_at = 10};
  const RunStore::TreePage first = *store->PageTrees(query);
  EXPECT_TRUE(first.trees.empty());
  ASSERT_TRUE(first.next);
  EXPECT_EQ(first.next->id, 10);
  query.behind = first.next;
  query.look_at = 100;
  EXPECT_EQ(IdsOf(*store->PageTrees(query)), std::vector<int64_t>{21});
  // Steps are bounds, too, and what was not scored has no reward that could be in bounds.
  EXPECT_EQ(IdsOf(*store->PageTrees({.first_step = 3, .last_step = 5, .newest_first = false})),
            (std::vector<int64_t>{4, 5, 6}));
  ScoredTree bare = RandomRecord(Rng(99));
  bare.scores.clear();
  bare.advantages.clear();
  ASSERT_TRUE(store->AddTree(100, bare).ok());
  EXPECT_TRUE(store->PageTrees({.first_step = 100, .most_reward = 1e9})->trees.empty());
  EXPECT_EQ(store->PageTrees({.first_step = 100})->trees.size(), 1u);
}

TEST_F(StoreTest, MetricsAreReadByNameAndAMissingTreeIsNotFound) {
  auto store = Opened(file_);
  ASSERT_TRUE(store->AddMetrics(1, {{"reward/mean", 0.25}, {"kl", std::nan("")}}).ok());
  ASSERT_TRUE(store->AddMetrics(2, {{"reward/mean", 0.5}}).ok());
  EXPECT_EQ(*store->ReadMetric("reward/mean"), (std::map<int64_t, double>{{1, 0.25}, {2, 0.5}}));
  EXPECT_TRUE(std::isnan(store->ReadMetric("kl")->at(1)));
  EXPECT_EQ(*store->MetricNames(), (std::vector<std::string>{"kl", "reward/mean"}));
  EXPECT_EQ(store->ReadTree(7).error().code(), ErrorCode::kNotFound);
}

TEST_F(StoreTest, ARecordThatHasGrownTakesItsOldPlace) {
  auto store = Opened(file_);
  const int64_t first = *store->AddTree(3, RandomRecord(Rng(1)));
  ASSERT_TRUE(store->AddTree(3, RandomRecord(Rng(2))).ok());
  ScoredTree grown = RandomRecord(Rng(3));
  grown.advantages.clear();
  ASSERT_TRUE(store->ReplaceTree(first, grown).ok());
  EXPECT_EQ(*store->ReadTree(first), grown) << "with what is said of it, and nothing else";
  EXPECT_EQ(*store->ReadTree(first + 1), RandomRecord(Rng(2)));
  EXPECT_EQ((*store->ListTrees())[0].step, 3);
  EXPECT_EQ((*store->ListTrees())[0].task, grown.tree.task.id);
  EXPECT_EQ(store->ReplaceTree(99, grown).error().code(), ErrorCode::kNotFound);
  grown.tree.nodes.clear();
  EXPECT_FALSE(store->ReplaceTree(first, grown).ok()) << "invalid";
}

TEST_F(StoreTest, ScoresCanBeSetLaterAndReplaced) {
  auto store = Opened(file_);
  ScoredTree record = RandomRecord(Rng(1));
  const auto scores = record.scores;
  record.scores.clear();
  const int64_t id = *store->AddTree(0, record);
  EXPECT_EQ((*store->ListTrees())[0].mean_reward, std::nullopt) << "unscored is not zero";
  ASSERT_TRUE(store->SetScores(id, scores).ok());
  EXPECT_EQ(store->ReadTree(id)->scores, scores);
  ASSERT_TRUE(store->SetScores(id, {}).ok());
  EXPECT_TRUE(store->ReadTree(id)->scores.empty());
}

TEST_F(StoreTest, WhatDoesNotFitTheTreeIsRefused) {
  auto store = Opened(file_);
  const ScoredTree record = RandomRecord(Rng(1));
  const int64_t id = *store->AddTree(0, record);
  EXPECT_EQ(store->SetScores(99, {}).error().code(), ErrorCode::kNotFound);
  EXPECT_EQ(store->SetAdvantages(99, {}).error().code(), ErrorCode::kNotFound);
  EXPECT_FALSE(store->SetScores(id, {{1000, {}}}).ok());
  EXPECT_FALSE(store->SetAdvantages(id, {{0, {1.0f}}}).ok());
  EXPECT_EQ(*store->ReadTree(id), record);
  ASSERT_TRUE(store->SetAdvantages(id, {}).ok());
  EXPECT_TRUE(store->ReadTree(id)->advantages.empty());
}

TEST_F(StoreTest, PartsOfDifferentTreesAreCorrupt) {
  Opened(file_)->AddTree(0, RandomRecord(Rng(1))).value();
  Opened(file_)->AddTree(0, RandomRecord(Rng(2))).value();
  ExecuteRaw(file_,
             "UPDATE advantages SET arrays = (SELECT arrays FROM advantages WHERE tree = 2)");
  EXPECT_EQ(Opened(file_)->ReadTree(1).error().code(), ErrorCode::kCorrupt);
}

TEST_F(StoreTest, ManyProcessesCanOpenAFreshStoreAtOnce) {
  std::vector<pid_t> children;
  for (int i = 0; i < 8; ++i) {
    const pid_t child = ::fork();
    if (child == 0) {
      auto store = RunStore::Open(file_);
      ::_exit(store.ok() && (*store)->AddTree(0, RandomRecord(Rng(1))).ok() ? 0 : 1);
    }
    children.push_back(child);
  }
  for (const pid_t child : children) {
    int status = 0;
    ::waitpid(child, &status, 0);
    EXPECT_EQ(status, 0);
  }
  EXPECT_EQ(*Opened(file_)->CountTrees(), 8);
}

TEST_F(StoreTest, AnInvalidTreeIsRefused) {
  auto store = Opened(file_);
  ScoredTree record = RandomRecord(Rng(1));
  record.tree.nodes[0].parent = 3;
  EXPECT_EQ(store->AddTree(0, record).error().code(), ErrorCode::kInvalidArgument);
  EXPECT_EQ(*store->CountTrees(), 0);
}

TEST_F(StoreTest, ATransactionHappensWhollyOrNotAtAll) {
  auto store = Opened(file_);
  {
    auto transaction = store->Begin();
    ASSERT_TRUE(transaction.ok());
    ASSERT_TRUE(store->AddTree(0, RandomRecord(Rng(1))).ok());
    ASSERT_TRUE(store->AddMetrics(0, {{"x", 1}}).ok());
  }
  EXPECT_EQ(*store->CountTrees(), 0);
  auto transaction = store->Begin();
  ASSERT_TRUE(store->AddTree(0, RandomRecord(Rng(1))).ok());
  ASSERT_TRUE(transaction->Commit().ok());
  EXPECT_EQ(*store->CountTrees(), 1);
}

TEST_F(StoreTest, DroppedStepsAreGoneWithEverythingSaidOfThem) {
  auto store = Opened(file_);
  for (int64_t step = 0; step < 4; ++step) {
    ASSERT_TRUE(store->AddTree(step, RandomRecord(Rng(static_cast<uint64_t>(step)))).ok());
    ASSERT_TRUE(store->AddMetrics(step, {{"x", 1}}).ok());
  }
  ASSERT_TRUE(store->DropStepsFrom(2).ok());
  EXPECT_EQ(*store->CountTrees(), 2);
  EXPECT_EQ(store->ReadMetric("x")->size(), 2u);
  EXPECT_EQ(*store->AddTree(2, RandomRecord(Rng(9))), 5) << "an id is never used again";
}

TEST_F(StoreTest, AReaderSeesWhatIsCommittedWhileTheWriterWrites) {
  auto writer = Opened(file_);
  ASSERT_TRUE(writer->AddTree(0, RandomRecord(Rng(1))).ok());
  auto reader = RunStore::OpenForReading(file_);
  ASSERT_TRUE(reader.ok());
  auto transaction = writer->Begin();
  ASSERT_TRUE(writer->AddTree(0, RandomRecord(Rng(2))).ok());
  EXPECT_EQ(*(*reader)->CountTrees(), 1);
  ASSERT_TRUE(transaction->Commit().ok());
  EXPECT_EQ(*(*reader)->CountTrees(), 2);
}

TEST_F(StoreTest, AnOlderStoreIsMigratedAndKeepsItsTrees) {
  {
    auto store = Opened(file_);
    ASSERT_TRUE(store->AddTree(3, RandomRecord(Rng(1))).ok());
  }
  ExecuteRaw(file_, "DROP INDEX trees_by_step; PRAGMA user_version = 1");  // what version 1 was
  auto store = Opened(file_);
  EXPECT_EQ(*store->ReadTree(1), RandomRecord(Rng(1)));
  sqlite3* database = nullptr;
  ASSERT_EQ(sqlite3_open(file_.c_str(), &database), SQLITE_OK);
  int columns = 0;
  EXPECT_EQ(sqlite3_table_column_metadata(database, nullptr, "trees", "step", nullptr, nullptr,
                                          nullptr, nullptr, nullptr),
            SQLITE_OK);
  sqlite3_exec(
      database, "SELECT 1 FROM sqlite_master WHERE name = 'trees_by_step'",
      [](void* rows, int, char**, char**) { return ++*static_cast<int*>(rows), 0; }, &columns,
      nullptr);
  EXPECT_EQ(columns, 1);
  sqlite3_close(database);
}

TEST_F(StoreTest, ForeignNewerAndMissingFilesAreTypedErrors) {
  EXPECT_EQ(RunStore::OpenForReading(file_).error().code(), ErrorCode::kNotFound);
  ASSERT_TRUE(WriteFileAtomic(file_, std::string(5000, 'x')).ok());
  EXPECT_EQ(RunStore::Open(file_).error().code(), ErrorCode::kInvalidArgument);
  std::filesystem::remove(file_);
  ExecuteRaw(file_, "CREATE TABLE somebody_elses(x)");
  EXPECT_EQ(RunStore::Open(file_).error().code(), ErrorCode::kInvalidArgument);
  std::filesystem::remove(file_);
  Opened(file_).reset();
  ExecuteRaw(file_, "PRAGMA user_version = 99");
  EXPECT_EQ(RunStore::Open(file_).error().code(), ErrorCode::kVersion);
  EXPECT_EQ(RunStore::Open(directory_.path() / "no" / "such" / "folder.sqlite").error().code(),
            ErrorCode::kNotFound);
}

TEST_F(StoreTest, ADamagedTreeIsCorruptAndTheOthersStillRead) {
  {
    auto store = Opened(file_);
    ASSERT_TRUE(store->AddTree(0, RandomRecord(Rng(1))).ok());
    ASSERT_TRUE(store->AddTree(0, RandomRecord(Rng(2))).ok());
  }
  ExecuteRaw(file_, "UPDATE trees SET arrays = substr(arrays, 1, length(arrays) - 3) WHERE id = 1");
  auto store = Opened(file_);
  EXPECT_EQ(store->ReadTree(1).error().code(), ErrorCode::kCorrupt);
  EXPECT_TRUE(store->ReadTree(2).ok());
}

// The seed of the n-th tree of the writer that gets killed.
ScoredTree NthRecord(int64_t id) { return RandomRecord(Rng(77).Split(static_cast<uint64_t>(id))); }

// Adds trees for ever and tells each id through the pipe after its commit returned.
[[noreturn]] void WriteUntilKilled(const std::filesystem::path& file, int pipe) {
  auto store = RunStore::Open(file);
  if (!store.ok()) ::_exit(1);
  while (true) {
    const int64_t next = *(*store)->CountTrees() + 1;
    auto id = (*store)->AddTree(0, NthRecord(next));
    if (!id.ok() || *id != next) ::_exit(2);
    if (::write(pipe, &*id, sizeof *id) != sizeof *id) ::_exit(3);
  }
}

TEST_F(StoreTest, AWriterKilledAt50RandomMomentsLosesNothingCommitted) {
  Rng rng(2026);
  int64_t told = 0;
  for (int kill = 0; kill < 50; ++kill) {
    int ends[2];
    ASSERT_EQ(::pipe(ends), 0);
    const pid_t child = ::fork();
    if (child == 0) WriteUntilKilled(file_, ends[1]);
    ::close(ends[1]);
    int64_t id = 0;
    // Every second one gets to write first, also on a busy machine; the others may die while
    // opening.
    for (int wait = 0; kill % 2 == 0 && wait < 3; ++wait) {
      if (::read(ends[0], &id, sizeof id) == sizeof id) told = id;
    }
    ::usleep(static_cast<useconds_t>(rng.Below(30000)));
    ::kill(child, SIGKILL);
    int status = 0;
    ::waitpid(child, &status, 0);
    ASSERT_TRUE(WIFSIGNALED(status)) << "the writer failed by itself: " << WEXITSTATUS(status);
    while (::read(ends[0], &id, sizeof id) == sizeof id) told = id;
    ::close(ends[0]);

    auto store = RunStore::Open(file_);
    ASSERT_TRUE(store.ok()) << store.error().message();
    const int64_t count = *(*store)->CountTrees();
    EXPECT_GE(count, told);
    EXPECT_LE(count, told + 1) << "at most the one whose commit was not yet told";
    if (count > 0) {
      EXPECT_EQ(*(*store)->ReadTree(count), NthRecord(count));
    }
    told = count;
  }
  auto store = RunStore::OpenForReading(file_);
  ASSERT_TRUE(store.ok());
  ASSERT_GT(told, 50) << "the writer hardly got to write";
  for (int64_t id = 1; id <= told; ++id) ASSERT_EQ(*(*store)->ReadTree(id), NthRecord(id));
}

TEST_F(StoreTest, AFullDiskIsAClearErrorAndLosesNothingCommitted) {
  auto store = Opened(file_);
  int64_t committed = 0;
  Rng rng(5);
  for (int round = 0; round < 30; ++round) {
    FullDisk disk(static_cast<int64_t>(rng.Below(200000)));
    while (true) {
      auto id = store->AddTree(0, NthRecord(committed + 1));
      if (!id.ok()) {
        EXPECT_EQ(id.error().code(), ErrorCode::kFull) << id.error().message();
        EXPECT_NE(id.error().message().find("no space left"), std::string::npos);
        break;
      }
      ++committed;
    }
    FullDisk::bytes_left = INT64_MAX;
    // Space was freed: the same connection goes on, and so does a new one.
    if (round % 2 == 0) store = Opened(file_);
    ASSERT_EQ(*store->CountTrees(), committed);
  }
  ASSERT_GT(committed, 30);
  for (int64_t id = 1; id <= committed; ++id) ASSERT_EQ(*store->ReadTree(id), NthRecord(id));
}

}  // namespace
}  // namespace hone
