#include "envs/benchmark_rows.h"

#include <algorithm>

#include <fmt/format.h>

#include "base/strings.h"
#include "envs/plan.h"
#include "rewards/matching/plain_text.h"

namespace hone {
namespace {

const Json* TextAt(const Json& row, std::string_view key) {
  const Json* value = row.Find(key);
  return value != nullptr && value->is_string() ? value : nullptr;
}

// What stands behind the mark on the last line; empty: it does not begin with it.
std::string_view BehindMark(std::string_view solution, std::string_view mark) {
  solution = TrimRight(solution);
  const std::string_view line = Trim(solution.substr(solution.rfind('\n') + 1));
  return line.starts_with(mark) ? Trim(line.substr(mark.size())) : std::string_view();
}

std::string_view Gsm8kAnswer(const Json& row) {
  if (const Json* answer = TextAt(row, "answer")) return BehindMark(answer->AsString(), "####");
  const Json* truth = TextAt(row, "ground_truth");
  if (truth == nullptr) return {};
  const std::string_view marked = BehindMark(truth->AsString(), "####");
  return marked.empty() ? BehindMark(truth->AsString(), "A:") : marked;
}

bool IsListOfTexts(const Json* value) {
  if (value == nullptr || !value->is_array() || value->AsArray().empty()) return false;
  return std::all_of(value->AsArray().begin(), value->AsArray().end(),
                     [](const Json& one) { return one.is_string(); });
}

bool IsQuestion(const Json& row) {
  const bool several = row.Find("golden_answers") != nullptr ||
                       row.Find("answer_aliases") != nullptr || IsListOfTexts(row.Find("answer"));
  return several || (row.Find("answer") != nullptr && row.Find("supporting_facts") != nullptr);
}

class BenchmarkReader {
 public:
  BenchmarkReader(const Json& row, std::vector<std::string>* problems)
      : row_(row), problems_(problems) {}

  BenchmarkRow Read(std::string_view benchmark) {
    for (const char* key : {"id", "_id", "unique_id"}) {
      const Json* id = row_.Find(key);
      if (id == nullptr || !(id->is_string() || id->is_number())) continue;
      read_.id = PlainText(*id);
      read_.taken.insert(key);
      break;
    }
    if (benchmark == "gsm8k") {
      ReadGsm8k();
    } else if (benchmark == "math") {
      ReadMath();
    } else {
      ReadQuestion();
    }
    return std::move(read_);
  }

 private:
  void TakePrompt(const char* key) {
    read_.taken.insert(key);
    if (const Json* prompt = TextAt(row_, key)) {
      read_.prompt = *prompt;
    } else {
      problems_->push_back(fmt::format("\"{}\" is missing, or no text", key));
    }
  }

  void ReadGsm8k() {
    TakePrompt("question");
    read_.kind = "gsm8k";
    const std::string_view answer = Gsm8kAnswer(row_);
    if (answer.empty()) {
      return problems_->push_back("the last line of the answer must be \"#### \" and the result");
    }
    read_.answer = std::string(answer);
    const char* key = TextAt(row_, "answer") != nullptr ? "answer" : "ground_truth";
    read_.solution = *row_.Find(key);
    read_.taken.insert(key);
  }

  void ReadMath() {
    TakePrompt("problem");
    read_.kind = "math";
    if (const Json* answer = row_.Find("answer"); answer != nullptr && !answer->is_null()) {
      read_.answer = *answer;
      read_.taken.insert("answer");
      return;
    }
    const Json* solution = TextAt(row_, "solution");
    const std::string_view boxed =
        solution == nullptr ? std::string_view() : LastBoxed(solution->AsString());
    if (Trim(boxed).empty()) {
      return problems_->push_back("there is neither \"answer\" nor a \\boxed{} in \"solution\"");
    }
    read_.answer = std::string(Trim(boxed));
  }

  void ReadQuestion() {
    TakePrompt("question");
    read_.kind = "qa-exact";
    Json::Array answers;
    for (const char* key : {"answer", "golden_answers", "answer_aliases"}) {
      const Json* value = row_.Find(key);
      if (value == nullptr) continue;
      read_.taken.insert(key);
      if (value->is_array()) {
        answers.insert(answers.end(), value->AsArray().begin(), value->AsArray().end());
      } else if (!value->is_null()) {
        answers.push_back(*value);
      }
    }
    if (answers.empty()) return problems_->push_back("there is no answer that is right");
    read_.answer = Json(std::move(answers));
  }

  const Json& row_;
  std::vector<std::string>* problems_;
  BenchmarkRow read_;
};

}  // namespace

std::string_view BenchmarkOf(const Json& row) {
  if (TextAt(row, "problem") != nullptr) {
    const bool solved = row.Find("solution") != nullptr || row.Find("answer") != nullptr;
    return solved && row.Find("prompt") == nullptr ? "math" : "";
  }
  if (TextAt(row, "question") == nullptr || row.Find("prompt") != nullptr) return "";
  if (!Gsm8kAnswer(row).empty()) return "gsm8k";
  return IsQuestion(row) ? "qa" : "";
}

BenchmarkRow ReadBenchmarkRow(std::string_view benchmark, const Json& row,
                              std::vector<std::string>* problems) {
  return BenchmarkReader(row, problems).Read(benchmark);
}

}  // namespace hone
