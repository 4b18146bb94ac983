// Conversations that clients had with hone serve, as trees that are trained on.

#include "credit/methods.h"
#include "e2e/serving.h"
#include "learn/objective.h"
#include "record/store.h"
#include "record/validate.h"
#include "serve/served_model.h"

namespace hone {
namespace {

Json User(const std::string& text) { return Json::Of({{"role", "user"}, {"content", text}}); }

// An agent loop as anybody would write it: asks, carries out calls, asks again, and says at the end
// how good it was. Returns what it was told in the end.
Json Converse(const ServedProgram& served, const std::string& request, int64_t seed,
              const std::string& task, std::vector<Json>* answers, bool rewarded = true) {
  Json::Array messages = {User(request)};
  Json last;
  for (int64_t turn = 0; turn < 4; ++turn) {
    Json body = Json::Of({{"model", served.name()},
                          {"messages", Json(messages)},
                          {"max_tokens", 24},
                          {"seed", seed * 100 + turn},
                          {"logprobs", true},
                          {"return_token_ids", true},
                          {"metadata", Json::Of({{"task", task}})}});
    if (seed % 2 == 1) body.Set("top_p", 0.95);
    last = served.Answer("/chat/completions", body);
    answers->push_back(last);
    const Json& message = *last.Find("choices")->AsArray()[0].Find("message");
    messages.push_back(message);
    if (const Json* calls = message.Find("tool_calls")) {
      for (const Json& call : calls->AsArray()) {
        messages.push_back(
            Json::Of({{"role", "tool"}, {"tool_call_id", *call.Find("id")}, {"content", "14"}}));
      }
    } else if (turn < 2) {
      messages.push_back(User("Are you sure?"));
    } else {
      break;
    }
  }
  if (rewarded) {
    served.Answer("/rewards",
                  Json::Of({{"completion", *last.Find("id")}, {"value", seed % 3 == 0 ? 1 : 0}}));
  }
  return last;
}

// What `hone learn` says of a step that succeeds.
Json Learned(std::vector<std::string> arguments) {
  arguments.insert(arguments.begin(), {"--json", "learn"});
  arguments.insert(arguments.end(), {"--loss", "grpo", "--learning-rate", "0.001"});
  const SubprocessResult result = Hone(arguments);
  EXPECT_EQ(result.exit_code, 0) << result.standard_error;
  const auto json = ParseJson(result.standard_output);
  return json.ok() ? *json : Json();
}

std::vector<ScoredTree> TreesOf(const std::string& folder) {
  const auto store = RunStore::OpenForReading(folder + "/store.sqlite").value();
  std::vector<ScoredTree> trees;
  for (const RunStore::TreeSummary& one : store->ListTrees().value()) {
    trees.push_back(store->ReadTree(one.id).value());
    EXPECT_EQ(Validate(trees.back()), std::vector<std::string>());
  }
  return trees;
}

TEST(ServeRecord, ConversationsAreTreesAndAnRlStepOnThemHasRatioExactlyOne) {
  TemporaryDirectory directory;
  const std::string run = TaughtRun(directory.path());
  const std::string recorded = (directory.path() / "recorded").string();
  std::vector<Json> answers;
  {
    ServedProgram served(run, {"--record", recorded});
    for (int64_t seed = 0; seed < 6; ++seed) {
      Converse(served, "What hour is it in Paris?", seed, "hours", &answers);
    }
    EXPECT_EQ(served.End(), 0);
  }
  std::vector<ScoredTree> trees = TreesOf(recorded);
  ASSERT_EQ(trees.size(), 1u) << "one task, one group";
  ScoredTree& group = trees[0];
  EXPECT_EQ(group.tree.task.id, "hours");
  EXPECT_EQ(group.tree.leaves.size(), 6u);
  EXPECT_EQ(group.scores.size(), 6u) << "every trajectory was rewarded";

  // Token by token and bit by bit what the clients were told.
  size_t turns = 0, calls = 0;
  for (const Json& answer : answers) {
    const Json& choice = answer.Find("choices")->AsArray()[0];
    std::vector<int64_t> ids;
    for (const Json& id : choice.Find("token_ids")->AsArray()) ids.push_back(id.AsInteger());
    const Json::Array& logprobs = choice.Find("logprobs")->Find("content")->AsArray();
    const bool found =
        std::any_of(group.tree.nodes.begin(), group.tree.nodes.end(), [&](const Node& node) {
          if (node.author != Author::kPolicy || node.tokens.size() != ids.size()) return false;
          for (size_t t = 0; t < ids.size(); ++t) {
            if (node.tokens[t] != ids[t] ||
                static_cast<double>(node.logprobs[t]) != logprobs[t].Find("logprob")->AsDouble()) {
              return false;
            }
          }
          return true;
        });
    EXPECT_TRUE(found);
  }
  for (const Node& node : group.tree.nodes) {
    turns += node.author == Author::kPolicy;
    calls += node.calls.size();
    EXPECT_EQ(node.author == Author::kTool, !node.results.empty());
  }
  EXPECT_EQ(turns, answers.size());
  EXPECT_GT(calls, 0u) << "the model calls tools";

  // The same weights, the recorded supports: every ratio is exactly 1, and there is something to
  // learn.
  const auto model = OpenServedModel({.model = run, .threads = 1}).value();
  ASSERT_TRUE(model->engine->CheckTree(group.tree).ok());
  const Credit credit = AssignCredit(NewMethod("grpo").value(), group).value();
  const std::vector<TrainingGroup> groups = {
      MakeTrainingGroup(group.tree, AdvantagesInLoss(credit))};
  ASSERT_EQ(groups[0].sequences.size(), 6u);
  const MiniBatch batch{.slices = {{{0}}}};
  const ObjectiveMetrics metrics = AccumulateObjective(
      ObjectiveNamed("grpo"), groups, batch, SharedTokens::kRepeat, Rng(1), model->engine.get());
  EXPECT_GT(metrics.tokens, 50);
  EXPECT_EQ(metrics.ratio_one, metrics.tokens);
  EXPECT_EQ(metrics.max_ratio, 1);
  EXPECT_GT(model->engine->Step({.learning_rate = 1e-3}), 0);
  EXPECT_NE(model->engine->WeightsHash(), model->weights);

  // The same by the command.
  const std::string next = (directory.path() / "next").string();
  const Json learned = Learned({recorded, "--model", run, "--method", "grpo", "--out", next});
  EXPECT_EQ(learned.Find("trees")->AsInteger(), 1);
  EXPECT_EQ(learned.Find("tokens")->AsInteger(), metrics.tokens);
  EXPECT_EQ(learned.Find("ratio_one_tokens")->AsInteger(), metrics.tokens);
  EXPECT_EQ(learned.Find("weights_before")->AsString(), model->weights);
  EXPECT_EQ(learned.Find("weights")->AsString(), model->engine->WeightsHash());
}

TEST(ServeRecord, WhatWasLearnedIsServedRecordedAndLearnedFromAgain) {
  TemporaryDirectory directory;
  const std::string run = TaughtRun(directory.path());
  const auto place = [&](const char* name) { return (directory.path() / name).string(); };
  const auto record = [&](const std::string& model, const std::string& to, bool rewarded) {
    ServedProgram served(model, {"--record", to, "--dialect", "tagged:desk"});
    std::vector<Json> answers;
    for (int64_t seed = 0; seed < 4; ++seed) {
      Converse(served, "What hour is it in Paris?", seed, "hours", &answers, rewarded);
    }
    EXPECT_EQ(served.End(), 0);
  };
  record(run, place("first"), true);
  Learned({place("first"), "-m", run, "--method", "grpo", "-o", place("second")});
  record(place("second"), place("third"), true);
  // The master weights went along: what drew is what is trained.
  const std::vector<std::string> again = {place("third"), "-m",       place("second"),
                                          "--method",     "grpo",     "--dialect",
                                          "tagged:desk",  "--epochs", "2"};
  std::vector<std::string> command = again;
  command.insert(command.end(), {"-o", place("fourth")});
  const Json learned = Learned(command);
  EXPECT_GT(learned.Find("tokens")->AsInteger(), 0);
  EXPECT_EQ(*learned.Find("ratio_one_tokens"), *learned.Find("tokens"));
  // Trees of other weights are learned from, too, and it is said.
  const Json other = Learned({place("first"), "-m", place("fourth"), "--method", "grpo",
                              "--dialect", "tagged:desk", "-o", place("fifth")});
  EXPECT_LT(other.Find("ratio_one_tokens")->AsInteger(), other.Find("tokens")->AsInteger());

  // What cannot be done leaves nothing behind.
  const auto refused = [&](std::vector<std::string> arguments, const std::string& part) {
    arguments.insert(arguments.begin(), "learn");
    const SubprocessResult result = Hone(arguments);
    EXPECT_EQ(result.exit_code, 1);
    EXPECT_NE(result.standard_error.find(part), std::string::npos) << result.standard_error;
    EXPECT_FALSE(std::filesystem::exists(place("no")));
  };
  refused(command, "is there already");
  refused({place("first"), "-m", run, "-o", place("no")}, "name a method of credit");
  refused({place("first"), "-m", run, "--method", "gripo", "-o", place("no")}, "grpo");
  record(run, place("unrewarded"), false);
  refused({place("unrewarded"), "-m", run, "--method", "grpo", "-o", place("no")},
          "nothing to learn from");
}

TEST(ServeRecord, AClientThatRewritesHistoryStartsANewTree) {
  TemporaryDirectory directory;
  const std::string recorded = (directory.path() / "recorded").string();
  ServedProgram served(FreshModel(directory.path()), {"--record", recorded});
  const auto ask = [&](const Json::Array& messages) {
    const Json answer = served.Answer(
        "/chat/completions",
        Json::Of({{"model", served.name()}, {"messages", Json(messages)}, {"max_tokens", 6}}));
    return *answer.Find("choices")->AsArray()[0].Find("message");
  };
  Json::Array said = {User("Hello")};
  said.push_back(ask(said));
  said.push_back(User("And then?"));
  const Json second = ask(said);
  Json::Array again = said;  // the same question twice: a branch
  const Json third = ask(again);
  Json::Array rewritten = said;
  rewritten[1].Set("content", "What I never said.");
  ask(rewritten);
  EXPECT_EQ(served.Ask("/rewards", Json::Of({{"completion", "chatcmpl-0"}, {"value", 1}})).status,
            404);
  EXPECT_EQ(served.End(), 0);
  const std::vector<ScoredTree> trees = TreesOf(recorded);
  ASSERT_EQ(trees.size(), 2u);
  EXPECT_EQ(trees[0].tree.leaves.size(), 2u);
  EXPECT_EQ(trees[1].tree.leaves.size(), 1u);
  EXPECT_EQ(trees[1].tree.task.metadata.Find("rewrote_tree"), nullptr)
      << "nothing before the change was the model's";
  EXPECT_EQ(trees[0].tree.task.id, "conversation-1");
}

TEST(ServeRecord, TheExampleLoopOfTheDocumentation) {
  const std::string packages = HONE_SOURCE_DIR "/build/openai-client/node_modules";
  if (!std::filesystem::exists(packages)) {
    GTEST_SKIP() << "the openai package of npm is not installed: ./dev test installs it where npm "
                    "and its registry are there";
  }
  TemporaryDirectory directory;
  const std::string recorded = (directory.path() / "recorded").string();
  ServedProgram served(TaughtRun(directory.path()), {"--record", recorded});
  // Packages are looked for beside the script.
  std::filesystem::copy(HONE_SOURCE_DIR "/examples/serve/agent.mjs",
                        directory.path() / "agent.mjs");
  std::filesystem::create_directory_symlink(packages, directory.path() / "node_modules");
  SubprocessOptions options;
  options.environment = {"HONE_URL=" + served.url(), "PATH=/usr/local/bin:/usr/bin:/bin"};
  const auto ran = RunSubprocess({"node", (directory.path() / "agent.mjs").string()}, "",
                                 std::chrono::seconds(100), options);
  ASSERT_TRUE(ran.ok()) << ran.error().message();
  EXPECT_EQ(ran->exit_code, 0) << ran->standard_error;
  EXPECT_EQ(served.End(), 0);
  const std::vector<ScoredTree> trees = TreesOf(recorded);
  ASSERT_EQ(trees.size(), 1u);
  ASSERT_EQ(trees[0].scores.size(), 1u);
  EXPECT_TRUE(Total(trees[0].scores[0]).has_value());
}

}  // namespace
}  // namespace hone
