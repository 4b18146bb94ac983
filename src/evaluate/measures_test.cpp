#include "evaluate/measures.h"

#include <gtest/gtest.h>

#include "support/tree_maker.h"

namespace hone {
namespace {

Json State(bool verdict) { return Json::Of({{"verdict", verdict}, {"answer", "x"}}); }

// A task whose gold is one call of weather.
TreeMaker Weather(const std::string& id) {
  TreeMaker maker;
  maker.tree.task.id = id;
  maker.tree.task.metadata = Json::Of({{"family", "B"}, {"kind", "sky"}});
  maker.tree.task.reward = *ParseJson(
      R"({"calls": [{"name": "weather", "arguments": {"city": "Oslo", "day": "Mon"}}]})");
  return maker;
}

TreeMaker NoTool(const std::string& id) {
  TreeMaker maker;
  maker.tree.task.id = id;
  maker.tree.task.metadata = Json::Of({{"family", "A"}, {"kind", "small_sum"}});
  maker.tree.task.reward = *ParseJson(R"({"calls": []})");
  return maker;
}

double Value(const std::vector<Figure>& figures, const std::string& name) {
  for (const Figure& figure : figures) {
    if (figure.name == name && figure.value) return figure.value->value;
  }
  ADD_FAILURE() << "no figure " << name;
  return -1;
}

std::vector<Measures> All() {
  TreeMaker good = Weather("a");
  good.Begin()
      .Call("weather", R"({"city": "Oslo", "day": "Mon"})")
      .End(Ending::kAnswered, State(true));
  // Wrong day, then an unreadable action, then the same wrong call again.
  good.Begin()
      .Call("weather", R"({"city": "Oslo", "day": "Tue"})")
      .Fault()
      .Call("weather", R"({"city": "Oslo", "day": "Tue"})")
      .End(Ending::kAnswered, State(false));
  TreeMaker confused = Weather("b");
  confused.Begin()
      .Call("clock", R"({"town": 3})", CallStatus::kInvalidArguments, "no", Blame::kAgent)
      .End(Ending::kAnswered, State(false));
  confused.Begin().Answer("x").End(Ending::kAnswered, State(false));
  confused.tree.leaves.erase(confused.tree.leaves.begin() + 1);  // the answer's own
  TreeMaker idle = NoTool("c");
  idle.Begin().Answer("4");
  idle.tree.leaves.back().final_state = State(true);
  idle.Begin().Call("calculator").End(Ending::kAnswered, State(true));
  idle.Begin().Call("calculator").End(Ending::kFailed, Json(), Blame::kSimulator);
  std::vector<Measures> all;
  for (const TreeMaker* maker : {&good, &confused, &idle}) {
    for (const Measures& m : MeasureTree(maker->tree).value()) all.push_back(m);
  }
  return all;
}

TEST(MeasuresTest, WhetherACallBroughtSomethingTheEnvironmentSaysWhereItDoes) {
  TreeMaker maker = Weather("a");
  Json state = State(true);
  state.Set("call_scores", *ParseJson("[0, 1]"));
  maker.Begin()
      .Call("weather", R"({"city": "Oslo", "day": "Mon"})")
      .Call("clock")
      .End(Ending::kAnswered, state);
  const Measures m = MeasureTree(maker.tree).value().at(0);
  EXPECT_EQ(m.weighed, 2);
  EXPECT_EQ(m.unused, 1);
  TreeMaker unknown;  // no labels, no scores
  unknown.Begin().Call("clock").End(Ending::kAnswered, State(true));
  EXPECT_EQ(MeasureTree(unknown.tree).value().at(0).weighed, 0);
}

TEST(MeasuresTest, SuccessIsToldApartByWhetherAToolIsNeeded) {
  const std::vector<Figure> figures = FiguresOf(All(), Rng(1));
  EXPECT_DOUBLE_EQ(Value(figures, "success_with_need"), 0.25) << "one of four";
  EXPECT_DOUBLE_EQ(Value(figures, "success_without_need"), 1);
  EXPECT_DOUBLE_EQ(Value(figures, "unaided"), 1.0 / 3) << "of three that were done";
}

TEST(MeasuresTest, CountsWhatATrajectoryShows) {
  const std::vector<Measures> all = All();
  ASSERT_EQ(all.size(), 7u);
  EXPECT_EQ(all[0].success, true);
  EXPECT_EQ(all[0].right, 1);
  EXPECT_EQ(all[1].calls, 2);
  EXPECT_EQ(all[1].matched, 1) << "one gold call: the second is waste";
  EXPECT_EQ(all[1].right, 0);
  EXPECT_DOUBLE_EQ(all[1].argument_score, 0.5);
  EXPECT_EQ(all[1].repeats, 1);
  EXPECT_EQ(all[1].unreadable, 1);
  EXPECT_EQ(all[1].turns, 3);
  EXPECT_EQ(all[1].calls_of.at("weather"), 2);
  EXPECT_EQ(all[1].weighed, 2);
  EXPECT_EQ(all[1].unused, 2) << "wrong arguments bring nothing";
  EXPECT_EQ(all[0].unused, 0);
  EXPECT_DOUBLE_EQ(all[0].entropy, 5) << "half a nat for each of ten tokens";
  EXPECT_EQ(all[2].misfits, 1);
  EXPECT_EQ(all[2].gold_tool, "weather");
  EXPECT_EQ(all[2].first_tool, "clock");
  EXPECT_FALSE(all[3].called);
  EXPECT_EQ(all[4].tool_needed, false);
  EXPECT_FALSE(all[6].counts);
  EXPECT_FALSE(all[6].success.has_value());
}

TEST(MeasuresTest, ThoughtsHaveFiguresWhereThereAreAny) {
  TreeMaker maker = NoTool("t");
  maker.Begin().Call("f").Answer("x");
  maker.Begin().Answer("x");
  for (const char* figure : {"thought_tokens", "thoughtful_turns", "closed_thoughts"}) {
    const std::vector<Measures> none = *MeasureTree(maker.tree);
    EXPECT_EQ(ValueOf(none, figure), std::nullopt) << figure;
    for (const Figure& one : FiguresOf(none, Rng(1))) {
      if (one.name == figure) {
        EXPECT_FALSE(one.value) << "not 0: nobody thinks here";
      }
    }
  }
  maker.tree.nodes[1].thoughts = {{0, 2}};          // of the call
  maker.tree.nodes[3].thoughts = {{0, 1}, {1, 4}};  // of the answer
  maker.tree.nodes[3].closed_thoughts = 1;
  const std::vector<Measures> some = *MeasureTree(maker.tree);
  const std::vector<Figure> figures = FiguresOf(some, Rng(1));
  EXPECT_EQ(Value(figures, "thought_tokens"), 3) << "six in two trajectories";
  EXPECT_NEAR(Value(figures, "thoughtful_turns"), 2.0 / 3, 1e-12);
  EXPECT_NEAR(Value(figures, "closed_thoughts"), 1.0 / 3, 1e-12);
  EXPECT_EQ(ValueOf(some, "thought_tokens"), 3);
}

TEST(MeasuresTest, FiguresLeaveOutWhatOthersSpoilt) {
  const std::vector<Figure> figures = FiguresOf(All(), Rng(1), {.resamples = 200});
  EXPECT_DOUBLE_EQ(Value(figures, "success"), 3.0 / 6);
  EXPECT_DOUBLE_EQ(Value(figures, "needless_calls"), 1.0 / 2);
  EXPECT_DOUBLE_EQ(Value(figures, "missed_calls"), 1.0 / 4);
  EXPECT_DOUBLE_EQ(Value(figures, "when_precision"), 3.0 / 4);
  EXPECT_DOUBLE_EQ(Value(figures, "which"), 2.0 / 5);
  EXPECT_DOUBLE_EQ(Value(figures, "which_recall"), 2.0 / 4);
  EXPECT_DOUBLE_EQ(Value(figures, "how"), 1.0 / 2);
  EXPECT_DOUBLE_EQ(Value(figures, "readable"), 5.0 / 6);
  EXPECT_DOUBLE_EQ(Value(figures, "fitting"), 4.0 / 5);
  EXPECT_DOUBLE_EQ(Value(figures, "calls"), 5.0 / 6);
  EXPECT_DOUBLE_EQ(Value(figures, "calls_per_success"), 5.0 / 3);
  EXPECT_DOUBLE_EQ(Value(figures, "when"), 4.0 / 6);
  EXPECT_DOUBLE_EQ(Value(figures, "wasted_calls"), 3.0 / 6);
  const Json json = ToJson(figures);
  EXPECT_EQ(json.Find("success")->Find("trajectories")->AsInteger(), 6);
}

TEST(MeasuresTest, AValueIsThatOfTheFigure) {
  const std::vector<Measures> all = All();
  for (const Figure& figure : FiguresOf(all, Rng(1), {.resamples = 2})) {
    const std::optional<double> value = ValueOf(all, figure.name);
    ASSERT_EQ(value.has_value(), figure.value.has_value()) << figure.name;
    if (!value) continue;
    EXPECT_EQ(*value, figure.value->value) << figure.name;
  }
  EXPECT_EQ(ValueOf({}, "success"), std::nullopt) << "nothing to count is not 0";
}

TEST(MeasuresTest, SuccessByFamilyAndConfusion) {
  const std::vector<Measures> all = All();
  const auto families =
      SuccessBy(all, [](const Measures& m) { return m.family; }, Rng(1), {.resamples = 50});
  ASSERT_EQ(families.size(), 2u);
  EXPECT_EQ(families[0].name, "A");
  EXPECT_DOUBLE_EQ(families[0].success->value, 1);
  EXPECT_DOUBLE_EQ(families[1].success->value, 0.25);
  const Confusion confusion = ConfusionOf(all);
  EXPECT_EQ(confusion.tools, (std::vector<std::string>{"clock", "weather"}));
  EXPECT_EQ(confusion.counts[1], (std::vector<int64_t>{1, 2, 1}));
}

TEST(MeasuresTest, LabelsThatCannotBeReadAreNamed) {
  TreeMaker maker = Weather("odd");
  maker.tree.task.reward = *ParseJson(R"({"calls": 3})");
  maker.Begin().Answer("x");
  const auto measured = MeasureTree(maker.tree);
  ASSERT_FALSE(measured.ok());
  EXPECT_NE(measured.error().message().find("odd"), std::string::npos);
}

}  // namespace
}  // namespace hone
