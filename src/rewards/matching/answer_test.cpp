#include "rewards/matching/answer.h"

#include <gtest/gtest.h>

#include "base/subprocess.h"

namespace hone {
namespace {

AnswerMatch Match(AnswerKind kind, const Json& answer, const Json& gold) {
  const auto match = MatchAnswer(kind, answer, gold);
  EXPECT_TRUE(match.ok()) << (match.ok() ? "" : match.error().message());
  return match.ok() ? *match : AnswerMatch{};
}

bool Is(AnswerKind kind, const Json& answer, const Json& gold) {
  return Match(kind, answer, gold).match;
}

Json J(const char* text) { return *ParseJson(text); }

TEST(Answer, ExactIsByteForByteAndTextIsNot) {
  EXPECT_TRUE(Is(AnswerKind::kExact, "Paris", "Paris"));
  EXPECT_FALSE(Is(AnswerKind::kExact, "paris", "Paris"));
  EXPECT_TRUE(Is(AnswerKind::kExact, 3, "3"));
  EXPECT_TRUE(Is(AnswerKind::kText, " paris. ", "Paris"));
  EXPECT_FALSE(Is(AnswerKind::kText, "Paris, France", "Paris"));
}

TEST(Answer, AnyOfSeveralGoldAnswersWillDo) {
  EXPECT_TRUE(Is(AnswerKind::kText, "NYC", J(R"(["New York", "NYC"])")));
  EXPECT_DOUBLE_EQ(Match(AnswerKind::kQaF1, "new york state", J(R"(["NYC", "New York"])")).score,
                   0.8);
}

TEST(Answer, NumbersAreComparedWithinTheTolerance) {
  EXPECT_TRUE(Is(AnswerKind::kNumber, "The total is $1,234.50.", 1234.5));
  EXPECT_TRUE(Is(AnswerKind::kNumber, "\\boxed{1/2} of 7", "0.5"));
  EXPECT_FALSE(Is(AnswerKind::kNumber, "none", 3));
  EXPECT_FALSE(Is(AnswerKind::kNumber, 3.1, 3));
  AnswerOptions loose;
  loose.relative = 0.05;
  EXPECT_TRUE(MatchAnswer(AnswerKind::kNumber, 3.1, 3, loose)->match);
}

TEST(Answer, SetsHaveNoOrder) {
  EXPECT_TRUE(Is(AnswerKind::kSet, "b, a and c", J(R"(["A", "b", "c"])")));
  EXPECT_TRUE(Is(AnswerKind::kSet, J("[2, 1]"), "1, 2"));
  EXPECT_DOUBLE_EQ(Match(AnswerKind::kSet, "a, x", J(R"(["a", "b"])")).score, 0.5);
}

TEST(Answer, TheChosenLetterIsFoundWhereModelsWriteIt) {
  for (const char* answer :
       {"B", "(b)", "B.", "**B**", "B) Paris", "\\boxed{B}", "\\boxed{\\text{B}}",
        "The answer is (B).", "Answer: B", "A is wrong. The answer is B because A is a city."}) {
    EXPECT_TRUE(Is(AnswerKind::kChoice, answer, "B")) << answer;
  }
  for (const char* answer : {"", "A", "Berlin", "The answer is C", "B or C"}) {
    EXPECT_FALSE(Is(AnswerKind::kChoice, answer, "B")) << answer;
  }
}

TEST(Answer, Gsm8kReadsTheMarkedNumber) {
  EXPECT_TRUE(Is(AnswerKind::kGsm8k, "so 2+1=3\nA: $1,003.", "x\n#### 1003"));
  EXPECT_TRUE(Is(AnswerKind::kGsm8k, "72", "#### 72"));
  EXPECT_TRUE(Is(AnswerKind::kGsm8k, "\\boxed{72}", 72));
  EXPECT_FALSE(Is(AnswerKind::kGsm8k, "I once saw 72", "72"));
  EXPECT_FALSE(Is(AnswerKind::kGsm8k, "#### 72\nA: 73", "72"));
  EXPECT_TRUE(Is(AnswerKind::kGsm8k, "A: 73 is too much. A: 72", "72"));
  EXPECT_FALSE(Is(AnswerKind::kGsm8k, "of his DNA: 72", "72"));
}

TEST(Answer, JsonIsScoredByItsParts) {
  EXPECT_TRUE(Is(AnswerKind::kJson, "```json\n{\"a\": 1.0}\n```", J("{\"a\": 1}")));
  EXPECT_TRUE(Is(AnswerKind::kJson, J("[1]"), J("[1]")));
  EXPECT_DOUBLE_EQ(
      Match(AnswerKind::kJson, "{\"a\": 1, \"b\": 3}", J("{\"a\": 1, \"b\": 2}")).score, 0.5);
  EXPECT_TRUE(Is(AnswerKind::kJson, "{\"a\":1}", "{ \"a\": 1 }")) << "a gold value as text";
  EXPECT_FALSE(Is(AnswerKind::kJson, "{\"a\": ", J("{}")));
}

TEST(Answer, AVerdictIsTakenAsItIs) {
  EXPECT_EQ(Match(AnswerKind::kVerdict, true, Json()), (AnswerMatch{true, 1}));
  EXPECT_EQ(Match(AnswerKind::kVerdict, 0.25, Json()), (AnswerMatch{false, 0.25}));
  EXPECT_FALSE(MatchAnswer(AnswerKind::kVerdict, "yes", Json()).ok());
}

TEST(Answer, NoAnswerMatchesNothing) {
  for (const AnswerKindNote& note : AnswerKinds()) {
    if (note.kind == AnswerKind::kVerdict || note.kind == AnswerKind::kProgram) continue;
    EXPECT_EQ(Match(note.kind, Json(), note.kind == AnswerKind::kNumber ? Json(1) : Json("B")),
              AnswerMatch{})
        << note.name;
  }
}

TEST(Answer, AGoldThatCannotBeIsAnError) {
  EXPECT_FALSE(MatchAnswer(AnswerKind::kNumber, "3", "three").ok());
  EXPECT_FALSE(MatchAnswer(AnswerKind::kChoice, "B", "Paris").ok());
  EXPECT_FALSE(MatchAnswer(AnswerKind::kText, "x", Json()).ok());
  EXPECT_FALSE(MatchAnswer(AnswerKind::kText, "x", Json::Array()).ok());
  EXPECT_FALSE(MatchAnswer(AnswerKind::kText, "x", J("{}")).ok());
  EXPECT_FALSE(MatchAnswer(AnswerKind::kProgram, "x", J("{}")).ok());
}

TEST(Answer, KindsHaveNamesAndTheErrorHelps) {
  for (const AnswerKindNote& note : AnswerKinds()) {
    EXPECT_EQ(AnswerKindNamed(note.name).value(), note.kind);
    EXPECT_EQ(AnswerKindName(note.kind), note.name);
  }
  const auto unknown = AnswerKindNamed("mathh");
  ASSERT_FALSE(unknown.ok());
  EXPECT_NE(unknown.error().message().find("did you mean \"math\""), std::string::npos);
}

// Not a sandbox: the programs here are our own.
class PythonRunner final : public ProgramRunner {
 public:
  Result<ProgramOutput> Run(std::string_view program, std::string_view input) override {
    const auto ran = RunSubprocess({"python3", "-c", std::string(program)}, input,
                                   std::chrono::milliseconds(5000));
    if (!ran.ok() && ran.error().code() == ErrorCode::kDeadline) return ProgramOutput{};
    if (!ran.ok()) return ran.error();
    return ProgramOutput{ran->standard_output, ran->exit_code == 0};
  }
};

class BrokenRunner final : public ProgramRunner {
 public:
  Result<ProgramOutput> Run(std::string_view, std::string_view) override {
    return Error(ErrorCode::kUnavailable, "the sandbox is gone");
  }
};

TEST(Answer, AProgramIsScoredByTheTestsItPasses) {
  const Json gold =
      J(R"({"tests": [{"input": "2\n", "output": "4"}, {"input": "3\n", "output": "6\n"}]})");
  PythonRunner runner;
  AnswerOptions options;
  options.runner = &runner;
  const auto score = [&](const char* program) {
    return MatchAnswer(AnswerKind::kProgram, program, gold, options).value();
  };
  EXPECT_EQ(score("```python\nprint(2 * int(input()))\n```"), (AnswerMatch{true, 1}));
  EXPECT_EQ(score("print(4)"), (AnswerMatch{false, 0.5}));
  EXPECT_EQ(score("print(4); raise SystemExit(1)"), (AnswerMatch{false, 0}));
}

TEST(Answer, AProgramThatCannotBeRunIsNotAWrongAnswer) {
  const Json gold = J(R"({"tests": [{"output": "4"}]})");
  BrokenRunner runner;
  AnswerOptions options;
  options.runner = &runner;
  EXPECT_FALSE(MatchAnswer(AnswerKind::kProgram, "print(4)", gold, options).ok());
  EXPECT_FALSE(MatchAnswer(AnswerKind::kProgram, "print(4)", gold).ok());
}

}  // namespace
}  // namespace hone
