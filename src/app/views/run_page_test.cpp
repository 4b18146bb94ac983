#include "app/views/run_page.h"

#include <gtest/gtest.h>

#include "base/file.h"
#include "support/tree_maker.h"

namespace hone {
namespace {

Json Measured(double success) {
  return Json::Of({{"tasks", 64},
                   {"figures", Json::Of({{"success", Json::Of({{"value", success},
                                                               {"low", success - 0.1},
                                                               {"high", success + 0.1}})}})},
                   {"families", Json::Of({{"B<1>", Json::Of({{"success", success}})}})}});
}

// A run that has ended, made by hand.
RunHistory Finished() {
  RunHistory run{.folder = "runs/some", .recipe = "[run]\nname = \"<some>\"\n"};
  TrainingState& state = run.state.emplace();
  state.step = 4;
  state.evaluations.Set("before/test/sampled", Measured(0.25));
  state.evaluations.Set("after/test/sampled", Measured(0.75));
  state.totals = Json::Of({{"ratio_tokens", 1234567},
                           {"real_calls", 0},
                           {"simulated_calls", 4321},
                           {"seconds/training", 6.0},
                           {"seconds/sampling", 3.9},
                           {"wall_seconds", 10.0}});
  state.alarms.push_back(Json::Of({{"step", 1},
                                   {"name", "entropy"},
                                   {"severity", "warning"},
                                   {"message", "fell <fast>"},
                                   {"remedy", "raised"}}));
  run.result = Json::Of({{"weights", "abcdef0123"}});
  for (int64_t step = 1; step <= 4; ++step) {
    const auto x = static_cast<double>(step);
    run.steps.push_back(
        {step, {{"success", x / 4}, {"reward/mean", x}, {"reward/outcome", x / 2}}});
  }
  run.steps.back().values["dev/sampled"] = 0.7;
  TreeMaker maker;
  maker.tree.task.id = "task-7";
  maker.tree.task.messages = *ParseJson(R"([{"role": "user", "content": "How <cold> is it?"}])");
  maker.Begin().Call("weather").Answer("1");
  maker.Begin().Answer("2");
  RunHistory::Example example{.step = 3, .record = {.tree = maker.tree}, .best = 0, .worst = 1};
  for (int32_t leaf = 0; leaf < 2; ++leaf) {
    example.record.scores.push_back({leaf, {{.name = "outcome", .value = 1.0 - leaf}}});
    Advantages& advantages = example.record.advantages.emplace_back();
    advantages.leaf = leaf;
    const auto index = static_cast<size_t>(leaf);
    for (const NodeId id : WholePathTo(maker.tree, maker.tree.leaves[index].node)) {
      const Node& node = maker.tree.nodes[static_cast<size_t>(id)];
      if (node.author != Author::kPolicy) continue;
      advantages.values.insert(advantages.values.end(), node.tokens.size(), leaf == 0 ? 1.f : -1.f);
    }
  }
  run.examples.push_back(std::move(example));
  return run;
}

TEST(RunPageTest, TellsWhatTheRunDid) {
  const std::string page = RunPage(Finished());
  for (const char* part :
       {"finished: 4 steps", "25.0 % → 75.0 %", "[65.0, 85.0]", "1,234,567",
        "<b>0</b> calls of real tools", "4,321 were answered by the simulator", "abcdef0123",
        "99.0 %", "fell &lt;fast&gt;", "family B&lt;1&gt;", "How &lt;cold&gt; is it?",
        "name = &quot;&lt;some&gt;&quot;", "hone eval runs/some", "hone report runs/some",
        "dev, real tools, sampled"}) {
    EXPECT_NE(page.find(part), std::string::npos) << part;
  }
}

TEST(RunPageTest, NeedsNothingBesideIt) {
  const std::string page = RunPage(Finished());
  for (const char* part : {"<script", "<link", "<img", "@import", "url("}) {
    EXPECT_EQ(page.find(part), std::string::npos) << part;
  }
  EXPECT_EQ(RunPage(Finished()), page) << "the same run, the same bytes";
}

TEST(RunPageTest, ARunThatHasJustBegunHasAPage) {
  const TemporaryDirectory directory;
  ASSERT_TRUE(WriteFileAtomic(directory.path() / "recipe.toml", "[run]\n").ok());
  const auto file = WriteRunPage(directory.path());
  ASSERT_TRUE(file.ok()) << file.error().message();
  const std::string page = *ReadFile(*file);
  EXPECT_NE(page.find("nothing is saved yet"), std::string::npos);
  EXPECT_NE(page.find("Not measured yet"), std::string::npos);
  EXPECT_FALSE(WriteRunPage(directory.path() / "nowhere").ok());
}

}  // namespace
}  // namespace hone
