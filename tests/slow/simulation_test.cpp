// The learned simulator on recorded calls of the two environments that ship: does it say what such
// calls get, refuse what is refused, and show what was written? And is its world fit to train in?
//
// A small model learns from a small record, so that all of it takes less than a minute. The aims
// are those of docs/simulation.md, where the large one is measured. Here each is tested: it fails
// when what was seen would happen at most once in ten thousand times if the aim were met, by the
// inequalities of Hoeffding and McDiarmid, whatever the distribution.

#include <gtest/gtest.h>

#include <cmath>
#include <cstdio>

#include "base/file.h"
#include "evaluate/journaling.h"
#include "evaluate/world_audit.h"
#include "simulate/fidelity.h"
#include "simulate/players/learned_model.h"
#include "simulate/simulator.h"

namespace hone {
namespace {

constexpr double kHeldOut = 0.4;
const double kLevel = std::log(1e4);

// How far the mean of n values from 0 to 1 may be from what is expected.
double Margin(int64_t n) {
  return std::sqrt(kLevel / (2 * static_cast<double>(std::max<int64_t>(n, 1))));
}

// The same for the total variation between two samples of n, which a single value moves by 1/n, and
// for shares of pairs out of n.
double PairMargin(int64_t n) { return std::sqrt(2.0) * Margin(n); }

struct Record {
  LoadedEnvironment loaded;
  JournaledCalls train, held_out;
};

Record RecordOf(const char* name, uint64_t episodes) {
  Record record{.loaded = NewBuiltIn(name).value()};
  const TemporaryDirectory directory;
  const auto journal = Journal::Open(directory.path() / "journal.sqlite").value();
  EXPECT_TRUE(JournalPlay(record.loaded, {.episodes = episodes}, journal.get()).ok());
  std::tie(record.train, record.held_out) = SplitByEnvironment(
      ReadRecordedCalls(journal.get(), record.loaded.environment->tools()).value(), kHeldOut);
  return record;
}

std::shared_ptr<Player> Learn(const Record& record, const LearnedOptions& options) {
  TrainingReport trained;
  auto model = TrainLearnedModel(record.train, options, &trained, nullptr);
  EXPECT_TRUE(model.ok());
  std::printf("%s\n", DumpJson(trained.ToJson()).c_str());
  return NewLearnedPlayer(*std::move(model), {});
}

FidelityReport Measure(const Record& record, Player* player, size_t per_tool) {
  FidelityReport report = MeasureFidelity(AtMostPerTool(record.held_out, per_tool),
                                          *record.loaded.environment->tools(), player, {}, 64);
  std::printf("%s\n", report.Table().c_str());
  return report;
}

void ExpectFaithful(const FidelityReport& report) {
  EXPECT_GE(report.all.answered_valid, 0.995 - Margin(report.all.calls));
  EXPECT_GE(report.all.error_agreement, 0.97 - Margin(report.all.calls));
  for (const ToolFidelity& tool : report.tools) {
    EXPECT_LE(tool.simulated_collisions, 1.2 * tool.recorded_collisions + PairMargin(tool.calls))
        << tool.tool;
    for (const FieldFidelity& field : tool.by_field) {
      // What one answer says in several places is not drawn independently: answers count.
      const int64_t drawn = std::min(field.values, tool.calls);
      EXPECT_LE(field.total_variation, 0.05 + field.noise + PairMargin(drawn))
          << tool.tool << " " << field.field;
    }
  }
}

double ShareRight(const ToolFidelity& tool) {
  return static_cast<double>(tool.reads_after_writes_right) /
         static_cast<double>(std::max<int64_t>(tool.reads_after_writes, 1));
}

TEST(LearnedSimulator, SaysWhatCallsOfTheDeskGetAndItsWorldIsFitToTrainIn) {
  const Record record = RecordOf("desk", 30000);
  const auto player = Learn(record, {.layers = 2, .width = 64, .steps = 350, .batch = 64});
  ExpectFaithful(Measure(record, player.get(), 1000));

  std::vector<Task> tasks;
  for (uint64_t i = 0; i < 300; ++i) tasks.push_back(record.loaded.tasks->Make(Split::kDev, i));
  const auto simulator = NewSimulator(player, {}, nullptr);
  const WorldAudit audit =
      AuditWorld(record.loaded, tasks,
                 [&](Timeline*) { return std::vector<std::shared_ptr<Responder>>{simulator}; },
                 RealWorld(record.loaded.environment->tools()), {.threads = 32})
          .value();
  std::printf("%s\n", audit.Table().c_str());
  EXPECT_EQ(audit.simulated.gold_success, 1);
  // A call that is wrongly refused makes its task void.
  EXPECT_LE(static_cast<double>(audit.simulated.void_tasks), 300 * (0.03 + Margin(300)));
  EXPECT_NEAR(audit.simulated.shortcuts.without_call, audit.real.shortcuts.without_call,
              2 * Margin(audit.real.shortcuts.tasks));
  EXPECT_NEAR(audit.right.rate(), audit.wrong.rate(),
              0.01 + Margin(audit.right.calls) + Margin(audit.wrong.calls));
}

TEST(LearnedSimulator, ShowsWhatWasWrittenAtTheServiceDeskWhereRandomDoesNot) {
  const Record record = RecordOf("service", 1200);
  const auto player = Learn(record, {.layers = 2, .width = 64, .steps = 500, .batch = 24});
  const FidelityReport learned = Measure(record, player.get(), 400);
  ExpectFaithful(learned);
  ASSERT_GT(learned.all.reads_after_writes, 50);
  EXPECT_GE(ShareRight(learned.all), 0.98 - Margin(learned.all.reads_after_writes));

  const FidelityReport control = Measure(record, NewRandomPlayer().get(), 400);
  EXPECT_LT(ShareRight(control.all), 0.98 - Margin(control.all.reads_after_writes));
}

}  // namespace
}  // namespace hone
