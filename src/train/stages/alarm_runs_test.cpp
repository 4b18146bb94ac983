// Runs that are made to fail, each in its own way, and the alarms that must say so; and what a run
// does about it where alarms may act.

#include <gtest/gtest.h>

#include <algorithm>
#include <fstream>
#include <set>

#include "base/file.h"
#include "learn/objective.h"
#include "support/loopback_server.h"
#include "support/stop_after.h"
#include "support/tiny_context.h"
#include "tools/journal/journal.h"
#include "train/folder/run_folder.h"
#include "train/stages/rl_stage.h"
#include "train/stages/rl_values.h"
#include "train/trainer.h"

namespace hone {
namespace {

std::string TaskLine(const std::string& id, const std::string& prompt, const std::string& answer,
                     const Json::Array& gold, const Json::Array& shown) {
  return DumpJson(Json::Of(
      {{"id", id},
       {"prompt", prompt},
       {"answer", answer},
       {"reward", Json::Of({{"calls", gold}})},
       {"metadata", Json::Of({{"plan", Json::Of({{"calls", shown}, {"answer", answer}})}})}}));
}

// Sums to be done with a calculator, names to be said: soon learned nearly perfectly, so that there
// is something to lose. Runs share their imitation.
class AlarmRuns : public testing::Test {
 protected:
  AlarmRuns() {
    std::ofstream tasks(directory_.path() / "tasks.jsonl"),
        noisy(directory_.path() / "noisy.jsonl"), mixed(directory_.path() / "mixed.jsonl"),
        other(directory_.path() / "other.jsonl");
    const auto call = [](const std::string& expression) {
      return Json::Array{Json::Of(
          {{"name", "calculator"}, {"arguments", Json::Of({{"expression", expression}})}})};
    };
    int number = 0;
    for (const std::string name : {"Ana", "Bo", "Cy", "Dee", "Eli", "Fay"}) {
      const std::string n = std::to_string(number), sum = std::to_string(number + 2);
      ++number;
      const std::string add =
          TaskLine("add-" + n, "add " + n + " 2", sum, call(n + "+2"), call(n + "+2")) + '\n';
      tasks << TaskLine("say-" + name, "say " + name, name, {}, {}) << '\n' << add;
      mixed << add;
      other << TaskLine("other-" + name, "say " + name, "nothing", {}, {}) << '\n';
      // One of five demonstrations makes a call that is not needed.
      for (int i = 0; i < 5; ++i) {
        const std::string say = TaskLine("say-" + name + std::to_string(i), "say " + name, name, {},
                                         i == 0 ? call("1+1") : Json::Array{}) +
                                '\n';
        noisy << say;
        mixed << say;
      }
    }
  }

  // Says nothing about every other trajectory.
  std::string HalfAJudge() const {
    const std::string file = (directory_.path() / "judge.py").string();
    std::ofstream(file) << R"(
import json, sys
for line in sys.stdin:
    ask = json.loads(line)
    scores = [{"leaf": i, "terms": [{"name": "outcome", "value": i // 2 % 2 if i % 2 else None}]}
              for i in range(len(ask["tree"]["leaves"]))]
    print(json.dumps({"request": ask["request"], "scores": scores}), flush=True)
)";
    return file;
  }

  // A policy that has learned to call, and an empty record that is to answer it.
  std::vector<std::string> NobodyAnswers() const {
    const auto imitated = Train(Read({"run.name=imitated", "stage.1.steps=1"}), {});
    EXPECT_TRUE(imitated.ok()) << imitated.error().message();
    const std::filesystem::path journal = directory_.path() / "empty.sqlite";
    EXPECT_TRUE(Journal::Open(journal).ok());
    const auto folder = RunFolder::Open(directory_.path() / "imitated").value();
    const std::filesystem::path model = folder->CheckpointPath(folder->Checkpoints().back());
    return {"model={folder='" + model.string() + "', dialect='tagged:desk'}", "answers.mode=replay",
            "answers.journal=" + journal.string(),
            "stage=[{kind='rl', steps=20, groups=4, group=4}]"};
  }

  TrainingRecipe Read(const std::vector<std::string>& changes) const {
    std::string text = TinyRecipe(directory_.path());
    const size_t begin = text.find("[environment]"), end = text.find("[rollout]");
    text.replace(begin, end - begin,
                 "[environment]\nkind = \"data\"\nlist_tools = false\nanswer = \"text\"\n"
                 "train = \"TASKS\"\ndev = \"TASKS\"\n[environment.rules]\nturns = 3\n"
                 "[[tools]]\nkind = \"calculator\"\n");
    for (const auto& [from, to] : std::vector<std::pair<std::string, std::string>>{
             {"TASKS", (directory_.path() / "tasks.jsonl").string()},
             {"TASKS", (directory_.path() / "tasks.jsonl").string()},
             {"mode = \"simulate\"\n[simulator]\nkind = \"random\"", "mode = \"live\""}}) {
      text.replace(text.find(from), from.size(), to);
    }
    Recipe recipe = Recipe::Parse(text, "failing.toml").value();
    for (const char* change : {"stage.0.steps=200", "stage.1.steps=14", "run.save_every=1000",
                               "evaluation.every=0", "evaluation.test_tasks=0"}) {
      recipe.Override(change);
    }
    for (const std::string& change : changes) recipe.Override(change);
    Result<TrainingRecipe> read = ReadTrainingRecipe(&recipe);
    EXPECT_TRUE(read.ok()) << read.error().message();
    return *std::move(read);
  }

  const TemporaryDirectory directory_;
};

class Listener : public TrainObserver {
 public:
  void OnAlarm(const AlarmEvent& event) override { alarms.push_back(event); }
  void OnNote(std::string_view note) override { notes.emplace_back(note); }
  void OnStep(const StepReport& step) override {
    if (step.stage == "rl") steps.push_back(step.values);
  }

  std::set<std::string> Names() const {
    std::set<std::string> names;
    for (const AlarmEvent& event : alarms) names.insert(event.name);
    return names;
  }
  std::vector<AlarmEvent> alarms;
  std::vector<std::string> notes;
  std::vector<StepValues> steps;
};

// A server that ends every turn at once, and says that it hardly ever does.
std::string EndsAtOnce(const LoopbackRequest& request) {
  if (request.path == "/v1/models") {
    return LoopbackServer::Reply(200, "", R"({"data": [{"id": "rash"}]})");
  }
  const Json asked = ParseJson(request.body).value();
  const Json end = asked.Find("stop_token_ids")->AsArray().at(0);
  return LoopbackServer::Reply(
      200, "",
      DumpJson(Json::Of(
          {{"choices", Json::Array{Json::Of(
                           {{"token_ids", Json::Array{end}},
                            {"logprobs", Json::Of({{"token_logprobs", Json::Array{Json(-9.0)}}})},
                            {"finish_reason", "stop"}})}}})));
}

TEST_F(AlarmRuns, EveryAlarmIsFiredByARunMadeToFailThatWay) {
  const std::string noisy = (directory_.path() / "noisy.jsonl").string(),
                    mixed = (directory_.path() / "mixed.jsonl").string(),
                    other = (directory_.path() / "other.jsonl").string();
  struct Failing {
    std::string name;
    std::vector<std::string> changes;
    std::vector<std::string> alarms;
  };
  const LoopbackServer rash(EndsAtOnce);
  const std::vector<Failing> runs = {
      {"healthy", {}, {}},
      {"paid-for-failing",
       {"rewards.weight=-1", "stage.1.learning_rate=0.003", "stage.1.steps=30",
        "evaluation.every=3", "evaluation.dev_tasks=12"},
       {"reward-hacking", "success-collapse", "format-collapse", "truncation", "call-collapse",
        "length-explosion"}},
      {"measured-elsewhere",
       {"environment.dev=" + other, "evaluation.every=6", "evaluation.dev_tasks=6"},
       {"only-training-tasks"}},
      {"paid-for-calls",
       {"environment.train=" + noisy, "rewards.preset=call-f1", "rewards.weight=-1",
        "credit.method=grpo:terms=call", "stage.1.learning_rate=0.003", "stage.1.group=8"},
       {"needless-calls", "call-explosion"}},
      {"paid-for-wrong-calls",
       {"environment.train=" + mixed, "rewards.preset=call-f1", "rewards.weight=-1",
        "credit.method=grpo:terms=call", "stage.1.learning_rate=0.003", "stage.1.group=8"},
       {"wrong-tools"}},
      {"paid-for-unused-calls",
       {"rewards.preset=call-f1", "rewards.weight=-1", "credit.method=grpo:terms=call",
        "stage.1.learning_rate=0.003", "stage.1.group=8"},
       {"unused-calls"}},
      {"paid-for-errors",
       {"environment={kind='desk', tasks={kinds=['day_after', 'clock'], chatter=0.0}}", "tools=[]",
        "stage.0.steps=300", "rewards.weight=-1", "stage.1.learning_rate=0.003"},
       {"execution-failures"}},
      {"large-steps",
       {"stage.1.learning_rate=0.05", "stage.1.epochs=2", "objective.kl.coefficient=0.001",
        "stage.1.steps=4"},
       {"kl-explosion", "large-updates"}},
      {"larger-steps",
       {"stage.0.steps=60", "stage.1.learning_rate=0.1", "stage.1.steps=30"},
       {"entropy-collapse", "no-signal"}},
      {"paid-for-noise",
       {"objective.entropy=1", "stage.1.learning_rate=0.003", "stage.1.steps=8"},
       {"entropy-eruption"}},
      {"paid-nothing", {"rewards.weight=0", "stage.1.steps=6"}, {"no-signal", "zero-gradient"}},
      {"half-judged",
       {"rewards={command=['python3', '" + HalfAJudge() + "']}", "credit.method=grpo",
        "stage.1.steps=6"},
       {"rewards-left-out"}},
      {"endless-loss",
       {"stage.0.steps=20", "objective.entropy=1.7e308", "stage.1.steps=1"},
       {"loss-not-finite"}},
      {"endless-gradient", {"objective.entropy=1e300", "stage.1.steps=1"}, {"gradient-not-finite"}},
      {"larger-rewards",
       {"credit.method=rloo",
        "rewards={preset='desk', schedule={from=0.001, to=10, begin=6, shape='step'}}",
        "stage.1.steps=9"},
       {"gradient-explosion"}},
      {"narrow-clip",
       {"objective.clip_low=0", "objective.clip_high=0", "stage.1.epochs=8", "stage.0.steps=60",
        "stage.1.learning_rate=0.002", "stage.1.steps=4"},
       {"clip-saturation"}},
      {"nobody-answers", NobodyAnswers(), {"fault-spike", "faults-persist"}},
      {"drawn-elsewhere",
       {"policy={kind='endpoint', url='" + rash.url("/v1") + "', push='never'}", "stage.0.steps=20",
        "stage.1.steps=4"},
       {"engine-mismatch"}},
  };
  std::set<std::string> fired = {"off-policy", "unread-calls"};  // below
  for (const Failing& run : runs) {
    std::vector<std::string> changes = run.changes;
    changes.push_back("run.name=" + run.name);
    Listener listener;
    const auto report = Train(Read(changes), {.observer = &listener});
    ASSERT_TRUE(report.ok()) << run.name << ": " << report.error().message();
    const std::set<std::string> names = listener.Names();
    for (const std::string& alarm : run.alarms) {
      EXPECT_TRUE(names.contains(alarm)) << run.name << " does not fire " << alarm;
      fired.insert(alarm);
    }
    if (run.alarms.empty()) {
      EXPECT_TRUE(names.empty()) << *names.begin();
    }
  }
  for (const Alarm& alarm : BuiltInAlarms()) {
    EXPECT_TRUE(fired.contains(alarm.name)) << alarm.name << " is fired by no run";
  }
}

// The trainer would not go on; so what it would have seen is shown to the controller.
TEST(OffPolicy, IsFiredByRecordsOfOtherWeights) {
  TinyContext tiny;
  const auto training =
      RlTraining::New(SettingsOf<RlStage>(tiny.recipe.stages[1]), 1, true, tiny.context.get())
          .value();
  const StageStep step = training->Step(0).value();
  EXPECT_EQ(step.values.at("ratio_one_share"), 1);
  std::vector<TrainingGroup> groups;
  for (const ScoredTree& record : step.records) {
    groups.push_back(MakeTrainingGroup(record.tree, record.advantages));
  }
  std::vector<size_t> all(groups.size());
  for (size_t i = 0; i < all.size(); ++i) all[i] = i;
  const ObjectiveMetrics metrics =  // by the weights after the step
      AccumulateObjective(tiny.recipe.objective, groups, {0, {{all}}}, tiny.recipe.method.shared,
                          Rng(1), tiny.context->engine.get());
  const double share = static_cast<double>(metrics.ratio_one) / static_cast<double>(metrics.tokens);
  EXPECT_LT(share, 1);
  AlarmOptions options;
  options.mode = AlarmOptions::Mode::kApply;
  AlarmController controller(options);
  EXPECT_TRUE(controller.Observe(0, {{"ratio_one_share", 1.0}}).empty());
  const auto events = controller.Observe(1, {{"ratio_one_share", share}});
  ASSERT_EQ(events.size(), 1u);
  EXPECT_EQ(events[0].name, "off-policy");
  EXPECT_TRUE(controller.settings().stop);
}

// No small run writes another format's calls by itself; so what a rollout counts of them is shown.
TEST(UnreadCalls, AreFiredByTurnsThatAreCallsInAnotherFormat) {
  AlarmController controller(AlarmOptions{});
  RolloutCounts counts;
  for (const int64_t unread : {0, 1}) {
    counts.turns = 4;
    counts.unread_calls = unread;
    StepValues values;
    AddRolloutValues({}, {}, counts, &values);
    const auto events = controller.Observe(unread, values);
    const bool fired = std::any_of(events.begin(), events.end(), [](const AlarmEvent& event) {
      return event.name == "unread-calls";
    });
    EXPECT_EQ(fired, unread > 0);
  }
}

// --- where alarms may act ------------------------------------------------------------------------

std::vector<std::string> GoesBack() {
  return {"alarms.mode=apply",       "rewards.weight=-1",       "stage.1.learning_rate=0.003",
          "evaluation.every=3",      "evaluation.dev_tasks=12", "run.save_every=2",
          "alarms.most_roll_backs=5"};
}

// Copies the run's folder when the first step after a roll-back is about to be written down: what a
// kill right after the roll-back would have left.
class Copier final : public Listener {
 public:
  Copier(std::filesystem::path from, std::filesystem::path to)
      : from_(std::move(from)), to_(std::move(to)) {}
  double Time() {
    const bool went_back = std::any_of(notes.begin(), notes.end(), [](const std::string& note) {
      return note.starts_with("went back");
    });
    if (went_back && looked_++ == 1 && !std::filesystem::exists(to_)) {
      std::filesystem::create_directories(to_.parent_path());
      std::filesystem::copy(from_, to_, std::filesystem::copy_options::recursive);
    }
    return 1;
  }

 private:
  const std::filesystem::path from_, to_;
  int looked_ = 0;  // the first time is the roll-back's own
};

TEST_F(AlarmRuns, ARunThatWentBackKnowsItAfterAKillAndWhereverItIsInterrupted) {
  const std::filesystem::path copy = directory_.path() / "copy";
  Copier copier(directory_.path() / "tiny", copy / "tiny");
  const auto whole =
      Train(Read(GoesBack()), {.observer = &copier, .wall_time = [&] { return copier.Time(); }});
  ASSERT_TRUE(whole.ok()) << whole.error().message();
  const auto back = std::count_if(copier.notes.begin(), copier.notes.end(),
                                  [](const auto& note) { return note.starts_with("went back"); });
  EXPECT_GE(back, 1);
  const std::set<std::string> names = copier.Names();
  EXPECT_TRUE(names.contains("success-collapse") || names.contains("reward-hacking"));
  // What the same step does after a roll-back is not mistaken for what it did before, neither in
  // the journal nor in the store.
  for (const StepValues& values : copier.steps) EXPECT_EQ(values.at("fault_rate"), 0);
  EXPECT_GT(copier.steps.size(), 14u);
  EXPECT_EQ(whole->state.step, 200 + 14);
  const auto store = RunStore::OpenForReading(directory_.path() / "tiny/store.sqlite").value();
  EXPECT_EQ(store->ReadMetric("success")->size(), 14u);

  // Killed right after the first roll-back.
  ASSERT_TRUE(std::filesystem::exists(copy / "tiny"));
  std::vector<std::string> changes = GoesBack();
  changes.push_back("run.out=" + copy.string());
  Listener resumed;
  const auto again = Train(Read(changes), {.observer = &resumed});
  ASSERT_TRUE(again.ok()) << again.error().message();
  EXPECT_EQ(again->weights, whole->weights);
  EXPECT_EQ(resumed.alarms.size() + 1, copier.alarms.size()) << "the first is not forgotten";

  // Stopped again and again, at steps that have no checkpoint otherwise.
  changes.back() = "run.out=" + (directory_.path() / "stopped").string();
  changes.push_back("run.cache=" + (directory_.path() / "cache").string());
  changes.push_back("run.keep=1");
  Result<TrainReport> stopped = Error(ErrorCode::kStopped, "");
  for (int i = 0; i < 100 && !stopped.ok(); ++i) {
    stopped = Train(Read(changes), StopAfter(3).options());
  }
  ASSERT_TRUE(stopped.ok()) << stopped.error().message();
  EXPECT_EQ(stopped->weights, whole->weights);
}

TEST_F(AlarmRuns, AStepOfFaultsIsNotLearnedFromAndFaultsThatPersistStopTheRun) {
  std::vector<std::string> changes = NobodyAnswers();
  changes.push_back("alarms.mode=apply");
  Listener listener;
  const auto report = Train(Read(changes), {.observer = &listener});
  ASSERT_FALSE(report.ok());
  EXPECT_EQ(report.error().code(), ErrorCode::kStopped);
  EXPECT_NE(report.error().message().find("an alarm stopped the run"), std::string::npos);
  EXPECT_EQ(listener.alarms.back().name, "faults-persist");
  for (const StepValues& values : listener.steps) {
    EXPECT_EQ(values.contains("grad_norm"), values.at("fault_rate") <= 0.3);
  }
}

}  // namespace
}  // namespace hone
