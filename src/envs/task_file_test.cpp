#include "envs/task_file.h"

#include <gtest/gtest.h>

#include <fmt/format.h>

#include "base/file.h"
#include "envs/desk/desk.h"
#include "envs/environment.h"
#include "support/shared_data.h"

namespace hone {
namespace {

std::vector<std::string> ProblemsOf(std::string_view text, bool with_tools = true) {
  const auto desk = desk::NewDesk({}).value();
  std::vector<std::string> problems;
  for (const TaskProblem& problem :
       ReadTaskFile(text, with_tools ? desk->tools().get() : nullptr).problems) {
    problems.push_back(fmt::format("{}: {}", problem.line, problem.text));
  }
  return problems;
}

using Problems = std::vector<std::string>;

TEST(TaskFileTest, EveryProblemIsListedWithItsLine) {
  constexpr char kFile[] =
      R"({"id":"a","prompt":"hi","answer":"x"})"
      "\n"
      R"({"prompt":"no id"})"
      "\n\n"
      R"({"id":"a","prompt":"twice"})"
      "\n"
      R"({"id":"b"})"
      "\n"
      "{broken\n"
      R"({"id":"c","prompt":"p","anwser":1})"
      "\n"
      R"({"id":"d","prompt":"p","reward":{"calls":[{"name":"wether","arguments":{}}]}})"
      "\n"
      R"({"id":"e","prompt":"p","reward":{"calls":[{"name":"clock","arguments":{"city":3}}]}})"
      "\n"
      R"({"id":"f","prompt":"p","reward":"number","answer":"many"})"
      "\n"
      R"({"id":"g","prompt":"p","reward":{"answer":"set"},"answer":"x"})"
      "\n"
      R"({"id":"h","prompt":"p","reward":{"answer":"nmber"},"answer":1})"
      "\n"
      R"({"id":"i","messages":[{"role":"assistant","content":"x"}]})"
      "\n"
      R"({"id":"j","prompt":"p","metadata":{"plan":{"calls":[{"name":"fly"}],"answer":"${3}"}}})"
      "\n"
      R"({"id":"k","prompt":"p","tools":[{"name":"x"},{"name":"x"}]})"
      "\n"
      "[1]\n";
  const Problems problems = ProblemsOf(kFile);
  const Problems expected = {
      "2: \"id\" is missing",
      "4: the id \"a\" is on line 1 too",
      "5: \"prompt\" or \"messages\" is missing",
      "6: not JSON",
      "7: unknown key \"anwser\" (did you mean \"answer\"?)",
      "8: reward.calls[0]: there is no tool \"wether\" (did you mean \"weather\"?)",
      "9: reward.calls[0]: ",
      "10: answer: wants a number, not \"many\"",
      "11: answer: wants a list, not a string",
      "12: reward.answer: no kind \"nmber\" (did you mean \"number\"?)",
      "13: the last message must be what the agent replies to, not assistant's",
      "14: metadata.plan: answer: refers to call 3, but there are 1 calls",
      "15: tools: ",
      "16: wants an object, not an array",
  };
  ASSERT_EQ(problems.size(), expected.size()) << fmt::format("{}", fmt::join(problems, "\n"));
  for (size_t i = 0; i < expected.size(); ++i) {
    EXPECT_TRUE(problems[i].starts_with(expected[i])) << problems[i];
  }
}

TEST(TaskFileTest, ParquetIsNamedAndHowToWriteItAsLines) {
  const Problems problems = ProblemsOf("PAR1\x15\nbytes\n");
  ASSERT_EQ(problems.size(), 1u);
  EXPECT_TRUE(problems[0].starts_with("1: this is Parquet")) << problems[0];
  EXPECT_NE(problems[0].find("lines=True"), std::string::npos);
}

TEST(TaskFileTest, OneProblemDoesNotHideAnother) {
  const Problems problems = ProblemsOf(
      R"({"prompt":"p","anwser":1,"reward":{"calls":[{"name":"wether"},{"name":"clok"}]},)"
      R"("metadata":{"plan":{"calls":[{"name":"contact","arguments":{"name":"${0.x}"}},)"
      R"({"name":"clock","arguments":{"city":"${5}"}}],"answer":"${9.a}"}}})"
      "\n"
      R"({"id":"b","prompt":"p","metadata":{"plan":{"calls":[{"name":"contact",)"
      R"("arguments":{"name":"Ana"}},{"name":"weather","arguments":{"city":"${0.citty}"}}],)"
      R"("answer":"${1.sky}"}}})"
      "\n"
      R"({"id":"c","prompt":"p","answer":"fog","metadata":{"plan":{"calls":[],"answer":"sun"}}})"
      "\n"
      R"({"id":"d","messages":[{"role":"user"}],"metadata":[]})");
  const Problems expected = {
      "1: unknown key \"anwser\"",
      "1: \"id\" is missing",
      "1: reward.calls[0]: there is no tool \"wether\"",
      "1: reward.calls[1]: there is no tool \"clok\"",
      "1: metadata.plan: calls[0]: refers to call 0, which is not before it; calls[1]: refers to "
      "call 5, which is not before it; answer: refers to call 9, but there are 2 calls",
      "2: metadata.plan.calls[1]: ",
      "2: metadata.plan.calls[1].arguments.city: ${0.citty} leads nowhere",
      "3: answer: is \"fog\", but the plan answers \"sun\"",
      "4: messages[0]: \"content\" must be a text",
      "4: metadata: wants an object, not an array",
  };
  ASSERT_EQ(problems.size(), expected.size()) << fmt::format("{}", fmt::join(problems, "\n"));
  for (size_t i = 0; i < expected.size(); ++i) {
    EXPECT_TRUE(problems[i].starts_with(expected[i])) << problems[i];
  }
}

TEST(TaskFileTest, GoodFilesHaveNone) {
  EXPECT_EQ(
      ProblemsOf(R"({"id":"a","prompt":"p","answer":"3","reward":"number",)"
                 R"("metadata":{"plan":{"calls":[{"name":"clock","arguments":{"city":"Oslo"}}]}}})"
                 "\n"),
      Problems{});
  EXPECT_EQ(ProblemsOf(""), Problems{"1: there are no tasks in it"});
  // Without tools nothing can be said of the names of calls.
  EXPECT_EQ(ProblemsOf(R"({"id":"a","prompt":"p","reward":{"calls":[{"name":"x"}]}})", false),
            Problems{});
}

TEST(TaskFileTest, AByteOrderMarkBeforeTheFirstTaskIsPassedOver) {
  EXPECT_EQ(ProblemsOf("\xef\xbb\xbf{\"id\":\"a\",\"prompt\":\"hi\",\"answer\":\"x\"}\n"),
            Problems());
}

TEST(TaskFileTest, ATasksOwnToolsCount) {
  constexpr char kOwn[] =
      R"({"id":"a","prompt":"p","tools":[{"type":"function","function":{"name":"fly",)"
      R"("parameters":{"type":"object","properties":{"to":{"type":"string"}},"required":["to"]}}}],)"
      R"("reward":{"calls":[{"name":"fly","arguments":{"to":"Oslo"}}]}})";
  EXPECT_EQ(ProblemsOf(kOwn, false), Problems{});
  std::string wrong = kOwn;
  wrong.replace(wrong.find("\"Oslo\""), 6, "5");
  EXPECT_EQ(ProblemsOf(wrong, false).size(), 1u);
}

TEST(TaskFileTest, RowsOfVerlAreRead) {
  const TaskFile file = ReadTaskFile(
      R"({"data_source":"openai/gsm8k","prompt":[{"role":"user","content":"6*7?"}],"ability":"math",)"
      R"("reward_model":{"style":"rule","ground_truth":"42"},"extra_info":{"index":7,"split":"train"}})",
      nullptr);
  ASSERT_TRUE(file.problems.empty()) << file.problems[0].text;
  EXPECT_EQ(file.shape, "verl");
  EXPECT_EQ(file.tasks[0].id, "openai/gsm8k-7");
  EXPECT_EQ(file.tasks[0].answer, Json("42"));
  EXPECT_EQ(*file.tasks[0].metadata.Find("ability"), Json("math"));
  EXPECT_EQ(ReadTaskFile(R"({"data_source":"x","prompt":"p"})", nullptr).problems[0].text,
            "\"reward_model.ground_truth\" is missing");
}

TEST(TaskFileTest, RowsOfTrlAreRead) {
  const TaskFile file =
      ReadTaskFile(R"({"prompt":[{"role":"user","content":"6*7?"}],"solution":"42","level":3})"
                   "\n"
                   R"({"prompt":"capital?","completion":[{"role":"assistant","content":"Oslo"}]})",
                   nullptr);
  ASSERT_TRUE(file.problems.empty()) << file.problems[0].text;
  EXPECT_EQ(file.shape, "trl");
  EXPECT_EQ(file.tasks[0].id, "line-1");
  EXPECT_EQ(file.tasks[0].answer, Json("42"));
  EXPECT_EQ(*file.tasks[0].metadata.Find("level"), Json(3));
  EXPECT_EQ(file.tasks[1].answer, Json("Oslo"));
}

// Verifiers' rows; beside a prompt a question is a column like others.
TEST(TaskFileTest, AQuestionIsAPrompt) {
  const TaskFile file = ReadTaskFile(
      "{\"question\":\"6*7?\",\"answer\":\"42\"}\n"
      "{\"prompt\":\"p\",\"question\":\"kept\",\"answer\":\"1\"}\n",
      nullptr);
  ASSERT_TRUE(file.problems.empty()) << file.problems[0].text;
  EXPECT_EQ(*file.tasks[0].messages.AsArray()[0].Find("content"), Json("6*7?"));
  EXPECT_TRUE(file.tasks[0].metadata.is_null());
  EXPECT_EQ(*file.tasks[1].messages.AsArray()[0].Find("content"), Json("p"));
  EXPECT_EQ(*file.tasks[1].metadata.Find("question"), Json("kept"));
}

TEST(TaskFileTest, NamedColumnsAreTakenWhereverTheyAre) {
  const TaskKeys keys{.prompt = "problem", .answer = "truth.text", .id = "uid", .after = "####"};
  const TaskFile file = ReadTaskFile(
      R"({"problem": "2 + 3?", "truth": {"text": "2 + 3 = 5\n#### 5", "by": "us"}, "uid": 7, "level": 3}
{"problem": [{"role": "user", "content": "Hi"}], "truth": {"text": "#### 1,000 "}, "uid": "b"})",
      nullptr, keys);
  ASSERT_TRUE(file.problems.empty()) << NoProblems(file, "f").error().message();
  ASSERT_EQ(file.tasks.size(), 2u);
  EXPECT_EQ(file.tasks[0].id, "7");
  EXPECT_EQ(file.tasks[0].answer, Json("5"));
  EXPECT_EQ(file.tasks[0].messages.AsArray()[0].Find("content")->AsString(), "2 + 3?");
  EXPECT_EQ(*file.tasks[0].metadata.Find("level"), Json(3));
  // The rest of a column that the answer is a part of is kept.
  EXPECT_EQ(*file.tasks[0].metadata.Find("truth")->Find("by"), Json("us"));
  EXPECT_EQ(file.tasks[0].metadata.Find("problem"), nullptr);
  EXPECT_EQ(file.tasks[1].answer, Json("1,000"));
}

TEST(TaskFileTest, ANamedColumnThatIsNotThereIsAProblemThatSaysWhatThereIs) {
  const TaskFile file = ReadTaskFile(R"({"question": "2 + 3?", "result": "5"})", nullptr,
                                     {.answer = "ground_truth", .after = "####"});
  ASSERT_EQ(file.problems.size(), 1u);
  EXPECT_NE(file.problems[0].text.find("environment.keys.answer is \"ground_truth\""),
            std::string::npos)
      << file.problems[0].text;
  EXPECT_NE(file.problems[0].text.find("question, result"), std::string::npos)
      << file.problems[0].text;
  const TaskFile cut =
      ReadTaskFile(R"({"question": "2 + 3?", "answer": "five"})", nullptr, {.after = "####"});
  ASSERT_EQ(cut.problems.size(), 1u);
  EXPECT_NE(cut.problems[0].text.find("####"), std::string::npos) << cut.problems[0].text;
}

TEST(TaskFileTest, RowsOfVerifiersKeepTheirInfo) {
  const TaskFile file = ReadTaskFile(
      R"({"question": "Capital of Peru?", "answer": "Lima", "info": {"source": "atlas"}, "task": "towns"}
{"prompt": [{"role": "system", "content": "Be brief."}, {"role": "user", "content": "And of Chile?"}], "answer": "Santiago", "info": "{}"})",
      nullptr);
  ASSERT_TRUE(file.problems.empty()) << NoProblems(file, "f").error().message();
  EXPECT_EQ(file.shape, "trl");
  EXPECT_EQ(file.tasks[0].answer, Json("Lima"));
  EXPECT_EQ(*file.tasks[0].metadata.Find("task"), Json("towns"));
  EXPECT_EQ(*file.tasks[0].metadata.Find("info")->Find("source"), Json("atlas"));
  EXPECT_EQ(file.tasks[1].messages.AsArray().size(), 2u);
}

TEST(TaskFileTest, RowsOfVerlKeepWhatBelongsToThem) {
  const TaskFile file = ReadTaskFile(
      R"({"data_source": "openai/gsm8k", "prompt": [{"role": "user", "content": "2 + 3?"}], "ability": "math", "reward_model": {"style": "rule", "ground_truth": "5"}, "extra_info": {"split": "train", "index": 0}})",
      nullptr);
  ASSERT_TRUE(file.problems.empty()) << NoProblems(file, "f").error().message();
  EXPECT_EQ(file.tasks[0].id, "openai/gsm8k-0");
  EXPECT_EQ(file.tasks[0].answer, Json("5"));
  EXPECT_EQ(*file.tasks[0].metadata.Find("ability"), Json("math"));
  EXPECT_EQ(*file.tasks[0].metadata.Find("extra_info")->Find("split"), Json("train"));
}

TEST(TaskFileTest, CasesOfSuitesAreTasks) {
  const TaskFile file = ReadTaskFile(
      R"({"prompt": "12 * 12?", "answer": "144", "scorer": "number", "category": "sums", "system": "Reckon."}
{"id": "oslo", "prompt": "Weather in Oslo?", "tools": [{"name": "weather", "parameters": {"type": "object"}}], "calls": [{"name": "weather", "arguments": {"city": "Oslo"}}]})",
      nullptr);
  ASSERT_TRUE(file.problems.empty()) << NoProblems(file, "f").error().message();
  EXPECT_EQ(file.shape, "suite");
  EXPECT_EQ(file.tasks[0].id, "line-1");
  EXPECT_EQ(file.tasks[0].reward, Json::Of({{"answer", "number"}}));
  EXPECT_EQ(file.tasks[0].messages.AsArray()[0].Find("role")->AsString(), "system");
  EXPECT_EQ(*file.tasks[0].metadata.Find("kind"), Json("sums"));
  EXPECT_EQ(file.tasks[1].id, "oslo");
  EXPECT_EQ(file.tasks[1].reward.Find("calls")->AsArray().size(), 1u);
  const TaskFile wrong =
      ReadTaskFile(R"({"prompt": "p", "answer": "a", "scorer": "nmber"})", nullptr);
  ASSERT_EQ(wrong.problems.size(), 1u);
  EXPECT_NE(wrong.problems[0].text.find("number"), std::string::npos) << wrong.problems[0].text;
}

TEST(TaskFileTest, PublicRowsAreReadWhole) {
  HONE_NEED_SHARED(folder, "data");
  const auto read = [&](const char* name, const TaskKeys& keys) {
    return ReadTaskFile(ReadFile(folder / name).value(), nullptr, keys);
  };
  const TaskFile sums = read("gsm8k/train_600.jsonl", {.after = "####"});
  EXPECT_TRUE(sums.problems.empty()) << NoProblems(sums, "f").error().message();
  ASSERT_EQ(sums.tasks.size(), 600u);
  EXPECT_EQ(sums.tasks[0].answer, Json("72"));
  const TaskFile solutions = read("gsm8k/example_model_solutions.jsonl",
                                  {.prompt = "question", .answer = "ground_truth", .after = "A:"});
  EXPECT_TRUE(solutions.problems.empty());
  ASSERT_FALSE(solutions.tasks.empty());
  EXPECT_NE(solutions.tasks[0].metadata.Find("6b_finetuning"), nullptr);
}

TEST(TaskFileTest, RowsOfGsm8kHaveTheirNumberAndKeepTheSolution) {
  const TaskFile file = ReadTaskFile(
      R"({"question": "2 + 3?", "answer": "2 + 3 = <<2+3=5>>5\n#### 5"}
{"question": "1,000 + 1?", "answer": "#### 1,001"}
{"question": "6 * 7?", "answer": "42"})",
      nullptr);
  EXPECT_EQ(file.shape, "gsm8k");
  ASSERT_EQ(file.problems.size(), 1u);
  EXPECT_EQ(file.problems[0].line, 3);
  EXPECT_NE(file.problems[0].text.find("#### "), std::string::npos);
  ASSERT_EQ(file.tasks.size(), 2u);
  EXPECT_EQ(file.tasks[0].id, "line-1");
  EXPECT_EQ(file.tasks[0].answer, Json("5"));
  EXPECT_EQ(file.tasks[0].reward, Json("gsm8k"));
  EXPECT_EQ(*file.tasks[0].metadata.Find("solution"), Json("2 + 3 = <<2+3=5>>5\n#### 5"));
  EXPECT_EQ(file.tasks[1].answer, Json("1,001"));
}

TEST(TaskFileTest, RowsOfMathAnswerWithTheLastBoxWhereNothingElseDoes) {
  const TaskFile file = ReadTaskFile(
      R"({"problem": "x?", "level": "Level 5", "solution": "\\boxed{1} or rather $\\boxed{\\frac{1}{2}}$."}
{"problem": "y?", "solution": "\\boxed{1}", "answer": "p - q", "unique_id": "test/1.json"}
{"problem": "z?", "solution": "none"})",
      nullptr);
  EXPECT_EQ(file.shape, "math");
  ASSERT_EQ(file.problems.size(), 1u);
  EXPECT_NE(file.problems[0].text.find("\\boxed{}"), std::string::npos) << file.problems[0].text;
  ASSERT_EQ(file.tasks.size(), 2u);
  EXPECT_EQ(file.tasks[0].answer, Json("\\frac{1}{2}"));
  EXPECT_EQ(file.tasks[0].reward, Json("math"));
  EXPECT_EQ(*file.tasks[0].metadata.Find("level"), Json("Level 5"));
  EXPECT_EQ(file.tasks[1].answer, Json("p - q"));
  EXPECT_EQ(file.tasks[1].id, "test/1.json");
}

TEST(TaskFileTest, QuestionsWithSeveralRightAnswersAreComparedAsTheirBenchmarksDo) {
  const TaskFile file = ReadTaskFile(
      R"({"_id": "a1", "question": "Where?", "answer": ["NYC", "New York"]}
{"question": "Who?", "answer": "Li Ye", "answer_aliases": ["Li Jie"]}
{"question": "What?", "golden_answers": ["tea"]}
{"question": "Both?", "answer": "yes", "supporting_facts": [["A", 0]], "type": "comparison"})",
      nullptr);
  ASSERT_TRUE(file.problems.empty()) << file.problems[0].text;
  EXPECT_EQ(file.shape, "qa");
  EXPECT_EQ(file.tasks[0].id, "a1");
  EXPECT_EQ(file.tasks[0].answer, (Json::Array{"NYC", "New York"}));
  EXPECT_EQ(file.tasks[0].reward, Json("qa-exact"));
  EXPECT_EQ(file.tasks[1].answer, (Json::Array{"Li Ye", "Li Jie"}));
  EXPECT_EQ(file.tasks[2].answer, Json(Json::Array{"tea"}));
  EXPECT_EQ(file.tasks[3].answer, Json(Json::Array{"yes"}));
  EXPECT_NE(file.tasks[3].metadata.Find("supporting_facts"), nullptr);
}

TEST(TaskFileTest, TheRecipeNamesTheKindOfAnswersThatRowsDoNotName) {
  const std::string_view rows = R"({"id": "a", "prompt": "p", "answer": "1"}
{"id": "b", "prompt": "p", "answer": "1", "reward": {"calls": []}}
{"id": "c", "prompt": "p", "answer": "1", "reward": "exact"}
{"id": "d", "prompt": "p", "answer": "1", "metadata": {"labels": {"answer": "text"}}}
{"id": "e", "prompt": "p"})";
  const TaskFile file = ReadTaskFile(rows, nullptr, {.kind = "math"});
  ASSERT_TRUE(file.problems.empty()) << file.problems[0].text;
  EXPECT_EQ(file.tasks[0].reward, Json("math"));
  EXPECT_EQ(*file.tasks[1].reward.Find("answer"), Json("math"));
  EXPECT_EQ(file.tasks[2].reward, Json("exact"));
  EXPECT_TRUE(file.tasks[3].reward.is_null());
  EXPECT_TRUE(file.tasks[4].reward.is_null());
  const TaskFile own =
      ReadTaskFile(R"({"question": "q", "answer": ["a"]})", nullptr, {.kind = "qa-f1"});
  EXPECT_EQ(own.tasks[0].reward, Json("qa-f1"));
}

TEST(TaskFileTest, ThoughtsStandBeforeEveryCallOfThePlanAndBeforeTheAnswer) {
  const auto problems = [](const std::string& thoughts) {
    return ProblemsOf(R"({"id": "a", "prompt": "p", "answer": "1", "metadata": {"plan": {"calls": )"
                      R"([{"name": "x", "arguments": {}}], "answer": "1"}, "thoughts": )" +
                          thoughts + "}}",
                      false);
  };
  EXPECT_EQ(problems(R"(["I look.", "It is 1."])"), Problems{});
  EXPECT_EQ(problems(R"(["I look."])").size(), 1u);
  EXPECT_EQ(problems(R"(["I look.", 1])").size(), 1u);
  EXPECT_EQ(problems(R"("I look.")").size(), 1u);
}

}  // namespace
}  // namespace hone
