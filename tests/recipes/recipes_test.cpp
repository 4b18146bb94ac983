// Every recipe of recipes/: it reads, it can be planned, and it trains a model of some thousand
// parameters for two steps.

#include <gtest/gtest.h>

#include <algorithm>
#include <cstdlib>
#include <set>

#include <fmt/format.h>

#include "base/file.h"
#include "base/hash.h"
#include "engine/model.h"
#include "support/playing_server.h"
#include "text/bpe_trainer.h"
#include "text/dialect.h"
#include "train/compare/comparison_ledger.h"
#include "train/compare/comparison_runs.h"
#include "train/compare/start_controls.h"
#include "train/compare/tuning.h"
#include "train/run_estimate.h"
#include "train/trainer.h"

namespace hone {
namespace {

const std::filesystem::path kFolder = HONE_SOURCE_DIR "/recipes";

std::vector<std::string> RecipeNames() {
  std::vector<std::string> names;
  for (const auto& entry : std::filesystem::directory_iterator(kFolder)) {
    // Those of the base model and of pretrained ones want files that are made or fetched first;
    // they have tests of their own.
    const std::string name = entry.path().stem().string();
    if (entry.path().extension() == ".toml" && !name.starts_with("base") &&
        !name.starts_with("pretrained")) {
      names.push_back(name);
    }
  }
  std::sort(names.begin(), names.end());
  return names;
}

Result<TrainingRecipe> Read(const std::string& name, const std::vector<std::string>& overrides) {
  HONE_ASSIGN_OR_RETURN(Recipe recipe, Recipe::Load(kFolder / (name + ".toml")));
  for (const std::string& assignment : overrides) recipe.Override(assignment);
  return ReadTrainingRecipe(&recipe);
}

// A model as people bring it: a Hugging Face folder whose tokenizer has the markers of hermes.
void MakeHuggingFaceFolder(const std::filesystem::path& folder) {
  const BpeTrainingOptions options{.vocab_size = 600,
                                   .added = AddedTokensOf(NewDialect("hermes").value()->traits())};
  const Tokenizer tokenizer = TrainBpe({*ReadFile(HONE_SOURCE_DIR "/README.md")}, options).value();
  ModelConfig config;
  config.vocab = tokenizer.vocab_size();
  config.qk_norm = true;  // a Qwen3
  config.layers = 1;
  config.width = 32;
  config.heads = config.kv_heads = 2;
  config.head_dim = 16;
  config.ffn = 64;
  config.max_positions = 2048;
  Model model = NewModel(config);
  InitializeModel(1, &model);
  ASSERT_TRUE(SaveModel(model, SaveType::kF32, folder).ok());
  ASSERT_TRUE(WriteFileAtomic(folder / "tokenizer.json", tokenizer.ToJson()).ok());
}

// Numbers of a run, step by step.
class Watcher final : public TrainObserver {
 public:
  void OnStep(const StepReport& step) override { steps.push_back(step); }
  double Sum(const std::string& value) const {
    double sum = 0;
    for (const StepReport& step : steps) {
      const auto found = step.values.find(value);
      if (step.stage == "rl" && found != step.values.end()) sum += found->second;
    }
    return sum;
  }

  std::vector<StepReport> steps;
};

class RecipesTest : public testing::TestWithParam<std::string> {
 protected:
  // The settings of a stage that takes no time. A conversation at the service desk is ten times as
  // long as one at the desk; there it is only seen that everything runs.
  static std::vector<std::string> Small(const Stage& stage, bool desk) {
    if (stage.kind() == "sft") {
      return {desk ? "steps=60" : "steps=5", desk ? "batch=8" : "batch=2", "learning_rate=0.01",
              "warmup=5"};
    }
    if (stage.kind() == "rl") {
      return {"steps=2", desk ? "groups=32" : "groups=2", desk ? "group=8" : "group=2", "warmup=1"};
    }
    if (stage.kind() == "record") return {"tasks=50"};
    return {"tasks=40", "steps=10", "batch=8", "layers=1", "width=16", "heads=2"};
  }

  static std::string SmallTasks(const std::string& kind) {
    if (kind == "desk") return "{kinds=['day_after', 'clock'], chatter=0.0}";
    if (kind == "switchboard") return "{operations=8, forms=3, codes=8, calls=2}";
    if (kind == "study") return "{kinds=['small_sum', 'born', 'product']}";
    return "{kinds=['status'], max_goals=1}";
  }

  // Overrides that make a run of a second out of a recipe of a built-in environment.
  std::vector<std::string> Overrides(const TrainingRecipe& recipe) const {
    std::vector<std::string> overrides = {"run.out=" + directory_.path().string(),
                                          "run.threads=1",
                                          "run.save_every=1",
                                          "run.keep=9",
                                          "run.log_every=1000",
                                          "model.fresh.layers=1",
                                          "model.fresh.width=32",
                                          "model.fresh.heads=2",
                                          "model.tokenizer.texts=100",
                                          "model.tokenizer.vocabulary=400",
                                          "model.tokenizer.min_frequency=4",
                                          "rollout.turn_tokens=32",
                                          "dynamic_sampling.rounds=2",
                                          "evaluation={every=0, test_tasks=0}"};
    const std::string& kind = recipe.environment.kind;
    const bool desk = kind == "desk";
    const Json& environment = *recipe.said.Find("environment");
    for (size_t i = 0; i < recipe.environment.members.size(); ++i) {
      const std::string one = environment.AsArray()[i].Find("kind")->AsString();
      overrides.push_back(fmt::format("environment.{}.tasks={}", i, SmallTasks(one)));
    }
    if (recipe.environment.members.empty()) {
      overrides.push_back("environment.tasks=" + SmallTasks(kind));
    }
    // Without gold no task is void, whatever a simulator of ten steps answers.
    const Json* tasks = environment.Find("tasks");
    if (tasks != nullptr && tasks->Find("judge") != nullptr) {
      overrides.push_back("environment.tasks.mode=loud");
      overrides.push_back("environment.tasks.judge=accepted");
    }
    for (size_t i = 0; i < recipe.stages.size(); ++i) {
      for (const std::string& setting : Small(*recipe.stages[i], desk)) {
        overrides.push_back(fmt::format("stage.{}.{}", i, setting));
      }
    }
    return overrides;
  }

  static std::string WeightsIn(const std::filesystem::path& checkpoint) {
    return Sha256Hex(*ReadFile(checkpoint / "model.safetensors"));
  }

  const TemporaryDirectory directory_;
};

TEST(Recipes, AllReadAndSayWhatTheyAreFor) {
  std::filesystem::current_path(HONE_SOURCE_DIR);
  for (const std::string& name : RecipeNames()) {
    const Result<TrainingRecipe> recipe = Read(name, {});
    ASSERT_TRUE(recipe.ok()) << recipe.error().message();
    EXPECT_EQ(recipe->run.name, name) << "or two recipes share a folder";
    const std::string text = *ReadFile(kFolder / (name + ".toml"));
    for (const char* part : {"# Should show: ", "# Showed: "}) {
      EXPECT_NE(text.find(part), std::string::npos) << name << " does not say: " << part;
    }
    EXPECT_NE(ReadFile(kFolder / "README.md")->find(fmt::format("`{}`", name)), std::string::npos)
        << name << " is not in recipes/README.md";
  }
}

// Pretraining, and imitation from what it made, with files of the names that the corpus has.
TEST(Recipes, TheBaseModelIsTrainedAndGoneOnFrom) {
  const TemporaryDirectory folder;
  const std::string out = "run.out=" + folder.path().string();
  std::string files;
  for (const char* kind : {"prose", "tools"}) {
    const std::string file = (folder.path() / (std::string(kind) + ".jsonl")).string();
    std::string rows;
    for (int i = 0; i < 8; ++i) rows += fmt::format("{{\"text\": \"{} says {}.\"}}\n", kind, i);
    ASSERT_TRUE(WriteFileAtomic(file, rows).ok());
    files += (files.empty() ? "'" : ", '") + file + "'";
  }
  const auto base =
      Read("base", {out, "stage.0.data=[" + files + "]", "stage.0.held_out_data=[" + files + "]",
                    "stage.0.steps=2", "model.fresh={layers=1, width=32, heads=2, positions=1024}",
                    "run.threads=1"});
  ASSERT_TRUE(base.ok()) << base.error().message();
  Watcher watcher;
  ASSERT_TRUE(Train(*base, {.observer = &watcher}).ok());
  EXPECT_TRUE(watcher.steps.back().values.contains("held_out/prose/bits_per_byte"));
  MakeHuggingFaceFolder(folder.path() / "model");
  const auto desk = Read("base-desk", {out, "model.folder=" + (folder.path() / "model").string(),
                                       "stage.0.steps=2", "stage.0.batch=2", "run.threads=1",
                                       "evaluation={every=0, test_tasks=0, more=[]}"});
  ASSERT_TRUE(desk.ok()) << desk.error().message();
  const auto trained = Train(*desk, {});
  EXPECT_TRUE(trained.ok()) << trained.error().message();
}

// Those of a pretrained model, with a small one in its place: what they say of themselves, and one
// that imitates, records what its player is shown, and practises against it.
TEST(Recipes, ThePretrainedOnesReadAndTrainWithAModelInItsPlace) {
  const TemporaryDirectory folder;
  const std::string model = (folder.path() / "model").string();
  MakeHuggingFaceFolder(model);
  const std::string rows = (folder.path() / "rows.jsonl").string();
  ASSERT_TRUE(WriteFileAtomic(rows, "{\"prompt\": \"hello\", \"completion\": \"hi\"}\n").ok());
  const std::string listed = *ReadFile(kFolder / "README.md");
  int found = 0;
  for (const auto& entry : std::filesystem::directory_iterator(kFolder)) {
    const std::string name = entry.path().stem().string();
    if (!name.starts_with("pretrained")) continue;
    ++found;
    const std::string text = *ReadFile(entry.path());
    std::vector<std::string> overrides = {"model.folder=" + model, "model.dialect=hermes"};
    const bool extends_data = name == "pretrained-conversations-fresh";
    if (extends_data || text.find("\ndata = ") != std::string::npos) {
      overrides.push_back("stage.0.data=['" + rows + "']");
    }
    if (text.find("weights = ") != std::string::npos) overrides.push_back("stage.0.weights=[1]");
    if (name.ends_with("played") || name.ends_with("taught")) {
      overrides.push_back("simulator.folder=" + model);
      overrides.push_back("simulator.dialect=hermes");
    }
    const auto recipe = Read(name, overrides);
    ASSERT_TRUE(recipe.ok()) << name << ": " << recipe.error().message();
    EXPECT_EQ(recipe->run.name, name);
    EXPECT_NE(text.find("# Should show: "), std::string::npos) << name;
    EXPECT_NE(listed.find(fmt::format("`{}`", name)), std::string::npos) << name;
    if (name != "pretrained-desk-played") continue;
    for (const char* small :
         {"stage.0.steps=2", "stage.0.batch=2", "stage.1.tasks=4", "stage.2.steps=1",
          "stage.2.groups=2", "stage.2.group=2", "simulator.max_tokens=8", "rollout.turn_tokens=16",
          "run.threads=1", "evaluation={every=0, test_tasks=0, more=[]}"}) {
      overrides.push_back(small);
    }
    overrides.push_back("run.out=" + folder.path().string());
    const auto trained = Train(*Read(name, overrides), {});
    EXPECT_TRUE(trained.ok()) << trained.error().message();
  }
  EXPECT_EQ(found, 14);
}

// Who changes a recipe that results are published of makes its runs again, or takes their lines
// out.
TEST(Recipes, TheLedgersAreOfTheRecipesAsTheyAre) {
  for (const std::string name : {"results", "chains"}) {
    const std::string file = HONE_SOURCE_DIR "/comparisons/" + name;
    const ComparisonFile plan = ReadComparison({.files = {file + ".toml"}}).value();
    const std::vector<PlannedRun> runs = PlanRuns(plan, "/tmp/none").value();
    const ComparisonLedger ledger = ComparisonLedger::Open(file + ".jsonl").value();
    const auto counted = std::count_if(runs.begin(), runs.end(), [&](const PlannedRun& run) {
      return ledger.Find(plan, run) != nullptr;
    });
    EXPECT_EQ(static_cast<size_t>(counted), ledger.size()) << file << ".jsonl has runs of others";
    EXPECT_GT(counted, 0) << file;
  }
}

// The same where settings are chosen first: runs that chose, runs of what was chosen, and controls.
TEST(Recipes, TheLedgersOfTheSwitchboardAreOfTheirRecipesAsTheyAre) {
  for (const char* name : {"switchboard-first", "switchboard", "switchboard-simulators"}) {
    const std::string file = std::string(HONE_SOURCE_DIR "/comparisons/") + name;
    const ComparisonFile asked = ReadComparison({.files = {file + ".toml"}}).value();
    const ComparisonLedger ledger = ComparisonLedger::Open(file + ".jsonl").value();
    const auto kept = [&](const ComparisonFile& comparison, const std::vector<PlannedRun>& runs) {
      return std::count_if(runs.begin(), runs.end(), [&](const PlannedRun& run) {
        return ledger.Find(comparison, run) != nullptr;
      });
    };
    const ComparisonFile tuning = TuningOf(asked);
    const std::vector<PlannedRun> tried =
        tuning.arms.empty() ? std::vector<PlannedRun>() : PlanRuns(tuning, "/tmp/none").value();
    const std::vector<TunedArm> tuned = ChooseSettings(asked, ReadRuns(tuning, tried, &ledger));
    const ComparisonFile chosen = WithControls(WithChosen(asked, tuned));
    const std::vector<PlannedRun> runs = PlanRuns(chosen, "/tmp/none").value();
    EXPECT_EQ(static_cast<size_t>(kept(tuning, tried) + kept(chosen, runs)), ledger.size())
        << name << ".jsonl has runs of others";
  }
}

// The names of all keys in it.
void AddKeys(const Json& json, std::set<std::string>* keys) {
  if (json.is_array()) {
    for (const Json& element : json.AsArray()) AddKeys(element, keys);
  }
  if (!json.is_object()) return;
  for (const auto& [key, value] : json.AsObject()) {
    keys->insert(key);
    AddKeys(value, keys);
  }
}

TEST(Recipes, EveryKeyIsInTheReference) {
  std::filesystem::current_path(HONE_SOURCE_DIR);  // where byo looks for its files
  std::set<std::string> keys;
  for (const std::string& name : RecipeNames()) {
    const auto recipe = Read(name, {});
    ASSERT_TRUE(recipe.ok()) << recipe.error().message();
    for (const auto& [table, value] : recipe->resolved.AsObject()) {
      // docs/environments has those of each kind of environment, docs/tools.md those of the tools.
      if (table != "environment" && table != "tools") AddKeys(value, &keys);
    }
  }
  EXPECT_GT(keys.size(), 100u);
  const std::string reference = *ReadFile(HONE_SOURCE_DIR "/docs/recipe.md");
  for (const std::string& key : keys) {
    const bool there = reference.find("`" + key + "`") != std::string::npos ||
                       reference.find("." + key + "]") != std::string::npos;  // a table
    EXPECT_TRUE(there) << key << " is missing in docs/recipe.md";
  }
}

TEST_P(RecipesTest, TrainsATinyModel) {
  const Result<TrainingRecipe> full = Read(GetParam(), {});
  ASSERT_TRUE(full.ok()) << full.error().message();
  std::vector<std::string> overrides = Overrides(*full);
  const TemporaryDirectory player;
  if (full->answers.simulator && full->answers.simulator->kind == "model") {
    MakeHuggingFaceFolder(player.path());  // the one that it names is taught first
    overrides.push_back("simulator.folder=" + player.path().string());
  }
  const Result<TrainingRecipe> recipe = Read(GetParam(), overrides);
  ASSERT_TRUE(recipe.ok()) << recipe.error().message();
  const Result<RunEstimate> plan = EstimateRun(*recipe);
  ASSERT_TRUE(plan.ok()) << plan.error().message();
  EXPECT_EQ(plan->stages.size(), recipe->stages.size());

  Watcher watcher;
  const Result<TrainReport> report = Train(*recipe, {.observer = &watcher});
  ASSERT_TRUE(report.ok()) << report.error().message();
  if (!recipe->stages.back()->traits().practice) return;
  EXPECT_GT(watcher.Sum("trajectories"), 0);
  if (recipe->environment.kind != "desk") return;
  EXPECT_GT(report->ratio_tokens, 0) << "each with a ratio of exactly 1, or it had stopped";
  EXPECT_GT(watcher.Sum("grad_norm"), 0);
  EXPECT_NE(WeightsIn(recipe->Folder() / "checkpoints/step-60"), WeightsIn(report->checkpoint));
}

std::vector<std::string> AllButOwn() {
  std::vector<std::string> names = RecipeNames();
  std::erase(names, "byo");
  return names;
}

std::string TestName(const testing::TestParamInfo<std::string>& info) {
  std::string name = info.param;
  std::replace(name.begin(), name.end(), '-', '_');
  return name;
}

INSTANTIATE_TEST_SUITE_P(All, RecipesTest, testing::ValuesIn(AllButOwn()), TestName);

// As it is: own tools and an own reward in Python, own tasks, and a simulator that is learned.
TEST(Recipes, BringYourOwn) {
  const TemporaryDirectory out;
  std::filesystem::current_path(HONE_SOURCE_DIR);
  const Result<TrainingRecipe> recipe =
      Read("byo", {"run.out=" + out.path().string(), "run.threads=1", "stage.0.steps=4",
                   "stage.0.batch=4", "stage.1.tasks=12", "stage.1.steps=4", "stage.1.batch=4",
                   "stage.2.steps=2", "stage.2.groups=3", "stage.2.group=2",
                   "evaluation={every=0, test_tasks=0}", "credit.method=grpo"});
  ASSERT_TRUE(recipe.ok()) << recipe.error().message();
  Watcher watcher;
  const Result<TrainReport> report = Train(*recipe, {.observer = &watcher});
  ASSERT_TRUE(report.ok()) << report.error().message();
  EXPECT_EQ(watcher.Sum("unscored"), 0);
  EXPECT_EQ(watcher.Sum("real_calls"), 0) << "in practice nobody asks the shop";
}

// As its comments say: a model in a folder, of which adapters are trained, and a server that plays
// the tools.
TEST(Recipes, BringYourOwnWithAModelAndAnEndpoint) {
  const TemporaryDirectory out, model;
  MakeHuggingFaceFolder(model.path());
  std::filesystem::current_path(HONE_SOURCE_DIR);
  ASSERT_EQ(::setenv("MY_API_KEY", "secret", 1), 0);
  const ChatServer server(PlayTool);
  const Result<TrainingRecipe> recipe = Read(
      "byo",
      {"model={folder='" + model.path().string() + "', dialect='hermes', lora={rank=4, alpha=8.0}}",
       "run.out=" + out.path().string(), "run.threads=1",
       "simulator={kind='endpoint', url='" + server.url() +
           "', model='any', key_variable='MY_API_KEY', completions='" +
           (out.path() / "completions.sqlite").string() + "'}",
       "rollout.turn_tokens=24", "evaluation={every=0, test_tasks=0}", "credit.method=grpo",
       "stage=[{kind='sft', demonstrator='gold', steps=4, batch=4}, "
       "{kind='rl', steps=2, groups=3, group=2}]"});
  ASSERT_TRUE(recipe.ok()) << recipe.error().message();
  Watcher watcher;
  const Result<TrainReport> report = Train(*recipe, {.observer = &watcher});
  ASSERT_TRUE(report.ok()) << report.error().message();
  EXPECT_GT(report->ratio_tokens, 0) << "GRPO counts tokens that earned nothing";
  EXPECT_GT(server.requests(), 0)
      << "the plans of the tasks are carried out there, if nothing else";
  EXPECT_TRUE(watcher.steps.back().values.contains("reward/outcome")) << "of the program in Python";
  EXPECT_EQ(watcher.Sum("unscored"), 0);
  // Adapters were trained, and nothing else.
  EXPECT_TRUE(std::filesystem::exists(report->checkpoint / "adapter/adapter_model.safetensors"));
  EXPECT_EQ(LoadModel(report->checkpoint)->config.vocab, LoadModel(model.path())->config.vocab);
}

}  // namespace
}  // namespace hone
