#include "simulate/players/taught_model.h"

#include <gtest/gtest.h>

#include "base/file.h"
#include "base/rng.h"
#include "simulate/fidelity.h"
#include "simulate/simulator_options.h"
#include "support/scripted_toolkit.h"

namespace hone {
namespace {

const ToolSpec kGate{.name = "gate",
                     .description = "Opens for one colour.",
                     .parameters = ParseJson(R"({"type": "object"})").value(),
                     .output = ParseJson(R"({"type": "object", "required": ["ok"]})").value()};

std::shared_ptr<const Toolbox> Gates() {
  auto kit = std::make_shared<ScriptedToolkit>();
  kit->Add(kGate, [](const Json&, const CallLimits&) {
    return Unavailable("only described", Blame::kInfrastructure);
  });
  return ToolboxOf({kit});
}

// Gates with names of their own, each of which opens for one of three colours: drawn anew for every
// lesson, so that nothing but the lesson's own calls tells which.
Lesson GatesOf(uint64_t number) {
  Lesson lesson{Gates(), {}};
  Rng rng = Rng(number).Split("gates");
  for (int i = 0; i < 8; ++i) {
    const std::string name = {static_cast<char>('a' + rng.Below(26)),
                              static_cast<char>('a' + rng.Below(26))};
    const uint64_t open = rng.Below(3);
    for (int64_t visit = 0; visit < 3; ++visit) {
      for (uint64_t colour = 0; colour < 3; ++colour) {
        constexpr const char* kColours[] = {"red", "green", "blue"};
        lesson.calls.calls.push_back(
            {.environment_seed = number,
             .tool = "gate",
             .arguments = Json::Of({{"f", kColours[colour]}, {"n", name}, {"v", visit}}),
             .answer = colour == open
                           ? PlayedResult{CallStatus::kOk, R"({"ok":true})", ""}
                           : PlayedResult{CallStatus::kToolError, R"({"error":"closed"})", ""}});
      }
    }
  }
  return lesson;
}

std::vector<Lesson> Lessons(uint64_t count) {
  std::vector<Lesson> lessons;
  for (uint64_t i = 0; i < count; ++i) lessons.push_back(GatesOf(i));
  return lessons;
}

TeachingOptions Tiny() {
  TeachingOptions options;
  options.model = {.layers = 2,
                   .width = 32,
                   .heads = 2,
                   .vocabulary = 300,
                   .positions = 256,
                   .steps = 400,
                   .batch = 16,
                   .learning_rate = 5e-3,
                   .warmup = 10,
                   .status_weight = 1};
  options.examples = 3;
  return options;
}

// What it has learned is to read calls, not what certain gates do.
TEST(TaughtModel, PlaysToolsThatWereInNoLessonFromAFewOfTheirCalls) {
  const TemporaryDirectory directory;
  TrainingReport report;
  const TaughtModel taught = TeachModel(Lessons(40), Tiny(), &report, nullptr).value();
  EXPECT_EQ(report.calls, 40 * 72);
  ASSERT_TRUE(taught.Save(directory.path()).ok());

  const Lesson unseen = GatesOf(1000);
  JournaledCalls shown, asked;
  for (const RecordedCall& call : unseen.calls.calls) {
    const bool first = *call.arguments.Find("v") == Json(int64_t{0});
    (first ? shown : asked).calls.push_back(call);
  }
  SimulatorOptions settings{.kind = "model"};
  settings.model.folder = directory.path().string();
  settings.model_player = {
      .temperature = 0, .max_tokens = 16, .examples = 3, .prompt = PromptStyle::kBrief};
  const auto agreement = [&](std::shared_ptr<const JournaledCalls> recorded) {
    const auto player = NewPlayer(settings, std::move(recorded)).value();
    return MeasureFidelity(asked, *unseen.tools, player.get(), {}, 8)
        .ToJson()
        .Find("all")
        ->Find("error_agreement")
        ->AsDouble();
  };
  EXPECT_GT(agreement(std::make_shared<const JournaledCalls>(shown)), 0.9);
  EXPECT_LT(agreement(nullptr), 0.8) << "without their calls nobody can know";
}

TEST(TaughtModel, IsTheSameOnAnyNumberOfThreads) {
  TeachingOptions options = Tiny();
  options.model.steps = 3;
  std::vector<std::string> hashes;
  for (const int threads : {1, 3}) {
    options.model.threads = threads;
    TrainingReport report;
    ASSERT_TRUE(TeachModel(Lessons(2), options, &report, nullptr).ok());
    hashes.push_back(report.weights_hash);
  }
  EXPECT_EQ(hashes[0], hashes[1]);
}

TEST(TaughtModel, SaysWhatIsMissing) {
  TrainingReport report;
  EXPECT_FALSE(TeachModel({}, Tiny(), &report, nullptr).ok());
  Lesson other = GatesOf(1);
  other.calls.calls[0].tool = "door";
  const auto undescribed = TeachModel({other}, Tiny(), &report, nullptr);
  ASSERT_FALSE(undescribed.ok());
  EXPECT_NE(undescribed.error().message().find("door is not described"), std::string::npos);
  TeachingOptions options = Tiny();
  options.model.positions = 16;
  EXPECT_FALSE(TeachModel(Lessons(1), options, &report, nullptr).ok()) << "all are too long";
}

TEST(ModelPrompt, IsBriefForThoseWhoWereTaught) {
  const Lesson lesson = GatesOf(3);
  const RecordedCall& call = lesson.calls.calls[0];
  const SimulatedCall asked{.spec = &kGate, .arguments = call.arguments};
  const auto brief = PlayersPrompt(asked, {&call}, PromptStyle::kBrief);
  ASSERT_EQ(brief.size(), 2u);
  const std::string line = "gate(" + DumpJson(call.arguments) + ") -> ";
  EXPECT_EQ(brief[1].content,
            "Opens for one colour.\n" + line + WrittenAnswer(call.answer) + "\n" + line + "\n");
  const auto full = PlayersPrompt(asked, {&call}, PromptStyle::kFull);
  EXPECT_GT(full[0].content.size(), brief[0].content.size());
  EXPECT_NE(full[1].content.find("Output schema:"), std::string::npos);
}

}  // namespace
}  // namespace hone
