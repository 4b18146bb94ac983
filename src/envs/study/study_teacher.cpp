#include "envs/study/study_teacher.h"

#include <algorithm>
#include <utility>

#include <fmt/format.h>

#include "base/strings.h"
#include "envs/agents.h"
#include "envs/plan.h"
#include "envs/study/names.h"
#include "envs/study/question_draft.h"
#include "envs/study/readings.h"

namespace hone::study {
namespace {

// Of calls that go wrong; the rest are wrong calls.
constexpr double kTwice = 0.15, kForAll = 0.15, kEarly = 0.2;
constexpr double kRecovers = 0.5;
constexpr double kBelieves = 0.5;
// Times teacher_error.
constexpr double kOtherLine = 0.25, kGuesses = 0.6, kTakesFirst = 0.6, kMisleads = 0.2;
constexpr double kFollows = 0.5;  // a thought that misleads
constexpr int kTriesToShareAWord = 32;

// What a task says of how it is played.
struct Way {
  std::string question;
  Plan plan;
  std::string answer;
  std::vector<std::string> thoughts;  // one per call, and one before the answer
  std::vector<std::string> values;    // one per call
  // What the last search is for; null: no search comes last.
  const RelationNote* relation = nullptr;
  Sort sort = Sort::kOther;  // of an answer, also where there is none
};

Result<std::vector<std::string>> TextsUnder(const Json& metadata, std::string_view key) {
  std::vector<std::string> texts;
  const Json* list = metadata.Find(key);
  if (list == nullptr || !list->is_array()) {
    return Error(ErrorCode::kInvalidArgument, fmt::format("metadata.{} must be a list", key));
  }
  for (const Json& text : list->AsArray()) texts.push_back(PlainText(text));
  return texts;
}

Result<Way> WayOf(const Task& task) {
  HONE_ASSIGN_OR_RETURN(std::optional<Plan> plan, PlanOf(task));
  if (!plan) return Error(ErrorCode::kInvalidArgument, "there is no plan to demonstrate");
  Way way{.question = RequestOf(task), .plan = *std::move(plan), .answer = PlainText(task.answer)};
  HONE_ASSIGN_OR_RETURN(way.thoughts, TextsUnder(task.metadata, "thoughts"));
  HONE_ASSIGN_OR_RETURN(way.values, TextsUnder(task.metadata, "values"));
  if (way.values.size() != way.plan.calls.size() ||
      way.thoughts.size() != way.plan.calls.size() + 1) {
    return Error(ErrorCode::kInvalidArgument,
                 "wants one of metadata.values per call of the plan, and one of "
                 "metadata.thoughts more");
  }
  if (const Json* relation = task.metadata.Find("relation")) {
    way.relation = FindRelation(PlainText(*relation));
    if (way.relation == nullptr || way.plan.calls.empty()) {
      return Error(ErrorCode::kInvalidArgument,
                   "metadata.relation must be that of the last search");
    }
  }
  way.sort = way.relation != nullptr ? SortOf(*way.relation) : SortOf(way.answer);
  return way;
}

void ReplaceAll(std::string_view from, std::string_view to, std::string* text) {
  if (from.empty()) return;
  for (size_t at = text->find(from); at != std::string::npos; at = text->find(from, at)) {
    text->replace(at, from.size(), to);
    at += to.size();
  }
}

class StudyTeacher final : public Agent {
 public:
  // What is the same for all tasks.
  struct Manner {
    std::shared_ptr<const Library> library;
    StudyToolNames tools;
    ThoughtStyle thoughts = ThoughtStyle::kMixed;
    int64_t calls = 0;  // of a plan, at most; 0: all
  };

  StudyTeacher(Way way, Manner manner, double error, Rng rng)
      : way_(std::move(way)), manner_(std::move(manner)), error_(error), rng_(rng) {}

  AgentTurn Act(const Opening&, const std::vector<PlayedTurn>& turns) override {
    if (!turns.empty()) Observe(turns.back());
    if (surrenders_) return GuessedAnswer();
    const std::vector<PlannedCall>& calls = way_.plan.calls;
    if (calls.empty() && turns.empty() && HasTools() && Chance(error_)) return NeedlessCall();
    if (made_ == calls.size()) return LastTurn();
    if (manner_.calls > 0 && std::cmp_equal(made_, manner_.calls)) return GuessedAnswer();
    return NextCall();
  }

 private:
  // Slips, and wordy thoughts: episodes with many calls have fewer, so that they keep their size.
  int Most() const { return way_.plan.calls.size() < 2 ? 2 : 1; }

  bool HasTools() const { return manner_.tools.search || manner_.tools.python; }

  bool Chance(double probability) { return rng_.NextDouble() < probability; }

  // Of mixed thoughts few are wordy, so that an episode keeps its size.
  std::string Think(const std::string& good) {
    if (good.empty()) return "";
    ThoughtStyle style = manner_.thoughts;
    if (style == ThoughtStyle::kMixed) {
      style = AnyStyle(&rng_);
      if (style == ThoughtStyle::kWordy && wordy_++ >= Most()) style = ThoughtStyle::kGood;
    }
    return ThoughtIn(style, good, way_.question, &rng_);
  }

  // As sure of itself as a right one.
  AgentTurn GuessedAnswer() {
    const std::string guess = Guess();
    const std::string thought = ThoughtBefore(guess);
    return Answer(guess, thought);
  }

  // The good thought before the answer, as if this were right.
  std::string ThoughtBefore(const std::string& answer) const {
    std::string thought = way_.thoughts.back();
    if (thought.find(way_.answer) == std::string::npos) return fmt::format("It is {}.", answer);
    ReplaceAll(way_.answer, answer, &thought);
    return thought;
  }

  AgentTurn Answer(std::string text, const std::string& good) {
    AgentTurn turn = Says(std::move(text));
    turn.thought = Think(good);
    return turn;
  }

  // What the last call came to.
  void Observe(const PlayedTurn& turn) {
    if (turn.agent.results.empty()) return;
    const ToolResult& result = turn.agent.results[0];
    if (result.status == CallStatus::kOk) read_ = result.content;
    if (waits_for_right_) ++made_;
    if (waits_for_wrong_ && !recovers_) surrenders_ = true;
    waits_for_right_ = waits_for_wrong_ = false;
  }

  AgentTurn NextCall() {
    const PlannedCall& planned = way_.plan.calls[made_];
    // A step goes wrong once; what it recovers with is right.
    if (!std::exchange(recovers_, false)) {
      if (Chance(error_) && slips_++ < Most()) {
        const double drawn = rng_.NextDouble();
        recovers_ = true;
        if (drawn < kTwice || (drawn < kTwice + kForAll && !manner_.tools.search)) {
          return CallOf(planned, way_.thoughts[made_]);  // and not counted
        }
        if (drawn < kTwice + kForAll) return SearchForAll();
        if (drawn < kTwice + kForAll + kEarly) return GuessedAnswer();
        return WrongCall(planned);
      }
      if (Misleads()) return MisledCall(planned);
    }
    waits_for_right_ = true;
    return CallOf(planned, way_.thoughts[made_]);
  }

  AgentTurn CallOf(const PlannedCall& planned, const std::string& good) {
    AgentTurn turn;
    turn.thought = Think(good);
    turn.calls = {{planned.name, planned.arguments, {}}};
    return turn;
  }

  // Searches for all words of the question, also where there is nothing to be found.
  AgentTurn SearchForAll() {
    AgentTurn turn;
    turn.thought = Think("I should look that up.");
    turn.calls = {{"search", Json::Of({{"query", TrimRight(way_.question, "?.")}}), {}}};
    return turn;
  }

  AgentTurn WrongCall(const PlannedCall& planned) {
    waits_for_wrong_ = true;
    recovers_ = Chance(kRecovers);
    const PlannedCall wrong = Spoilt(planned);
    return CallOf(wrong, ThoughtAbout(wrong, planned));
  }

  bool Misleads() { return manner_.thoughts == ThoughtStyle::kMixed && Chance(kMisleads * error_); }

  // The thought names a wrong thing.
  AgentTurn MisledCall(const PlannedCall& planned) {
    const PlannedCall wrong = Spoilt(planned);
    const bool follows = slips_ < Most() && Chance(kFollows);
    slips_ += follows ? 1 : 0;
    AgentTurn turn;
    turn.thought = ThoughtAbout(wrong, planned);
    turn.calls = {{planned.name, follows ? wrong.arguments : planned.arguments, {}}};
    waits_for_right_ = !follows;
    waits_for_wrong_ = follows;
    recovers_ = follows && Chance(kRecovers);
    return turn;
  }

  // The good thought before `planned`, as if `wrong` were right.
  std::string ThoughtAbout(const PlannedCall& wrong, const PlannedCall& planned) {
    std::string thought = way_.thoughts[made_];
    ReplaceAll(CoreOf(planned), CoreOf(wrong), &thought);
    return thought;
  }

  static std::string ArgumentOf(const PlannedCall& call) {
    return call.arguments.AsObject()[0].second.AsString();
  }

  // What a thought says of a call: the name, or the expression inside print().
  static std::string CoreOf(const PlannedCall& call) {
    const std::string text = ArgumentOf(call);
    const size_t print = text.find("print(");
    if (print == std::string::npos) return text;
    return text.substr(print + 6, text.size() - print - 7);
  }

  // Somebody else, or another operation.
  PlannedCall Spoilt(PlannedCall call) {
    const std::string key = call.arguments.AsObject()[0].first;
    const std::string right = call.arguments.Find(key)->AsString();
    call.arguments.Set(key, key == "query" ? OtherName(right) : OtherCode(right));
    return call;
  }

  std::string OtherName(const std::string& name) {
    const Entity* entity = manner_.library->Find(name);
    const auto& others =
        manner_.library->Of(entity == nullptr ? EntityKind::kPerson : entity->kind, ShareOf(name));
    std::string other = name;  // if there is nobody else
    for (int i = 0; i < kTriesToShareAWord; ++i) {
      const std::string& drawn = others[rng_.Below(others.size())]->name;
      if (drawn == name) continue;
      other = drawn;
      if (SharesAWord(drawn, name)) break;
    }
    return other;
  }

  std::string OtherCode(std::string code) {
    constexpr std::string_view kOps = "+-*%";
    const size_t op = code.find_first_of(kOps);
    if (op == std::string::npos) {
      ReplaceAll("gcd", "lcm", &code);
      return code;
    }
    size_t end = op;
    while (end < code.size() && code[end] == code[op]) ++end;
    char other = code[op];
    while (other == code[op]) other = kOps[rng_.Below(2)];  // plus or minus: never large
    return code.replace(op, end - op, 1, other);
  }

  AgentTurn NeedlessCall() {
    waits_for_wrong_ = true;
    recovers_ = !Chance(kBelieves);
    const std::vector<std::string> numbers = NumbersIn(way_.question);
    if (!manner_.tools.python || (numbers.size() < 2 && manner_.tools.search)) {
      return SearchForAll();
    }
    const std::string code = fmt::format("print({})", fmt::join(numbers, "+"));
    return CallOf({.name = manner_.tools.python_name, .arguments = Json::Of({{"code", code}})},
                  "I should compute that.");
  }

  // All calls are made.
  AgentTurn LastTurn() {
    const std::string& good = way_.thoughts.back();
    const double wrong = way_.answer == "unknown"    ? kGuesses
                         : way_.answer == "disputed" ? kTakesFirst
                                                     : kOtherLine;
    if (!way_.plan.calls.empty() && Chance(wrong * error_)) return GuessedAnswer();
    if (Misleads()) {
      const std::string guess = Guess();
      AgentTurn turn = Says(Chance(kFollows) ? guess : way_.answer);
      turn.thought = ThoughtBefore(guess);
      return turn;
    }
    return Answer(way_.answer, good);
  }

  // Something like the answer from what was read last, which the question does not name, and not
  // the answer where that had to be read; of a disputed fact what the first document says. Else
  // out of thin air.
  std::string Guess() {
    if (way_.answer == "disputed" && !way_.values.empty()) {
      const std::string& first = way_.values.back();
      if (!first.empty() && read_.find(first) != std::string::npos) return first;
    }
    std::vector<std::string> values = ValuesOf(way_.sort, read_);
    std::erase_if(values, [&](const std::string& value) { return IsNamed(value); });
    if (!way_.plan.calls.empty()) std::erase(values, way_.answer);
    return values.empty() ? Invented() : values[rng_.Below(values.size())];
  }

  bool IsNamed(const std::string& value) const {
    const std::vector<std::string> named = ValuesOf(way_.sort, way_.question);
    return std::find(named.begin(), named.end(), value) != named.end();
  }

  // What the library says of somebody else; a number a little too large; a country.
  std::string Invented() {
    if (way_.relation != nullptr) {
      const auto& others =
          manner_.library->Of(way_.relation->of, ShareOf(ArgumentOf(way_.plan.calls.back())));
      const size_t first = others.empty() ? 0 : rng_.Below(others.size());
      for (size_t i = 0; i < others.size(); ++i) {
        const std::string* value =
            others[(first + i) % others.size()]->Find(way_.relation->relation);
        if (value != nullptr && *value != way_.answer && !IsNamed(*value)) return *value;
      }
    }
    const Json answer = ValueOf(way_.answer);
    if (!answer.is_integer()) return std::string(Countries()[rng_.Below(Countries().size())]);
    return std::to_string(answer.AsInteger() + 1 + static_cast<int64_t>(rng_.Below(9)));
  }

  const Way way_;
  const Manner manner_;
  const double error_;
  Rng rng_;
  size_t made_ = 0;  // right calls
  bool waits_for_right_ = false, waits_for_wrong_ = false;
  bool recovers_ = false;  // the next call is the right one
  bool surrenders_ = false;
  int slips_ = 0, wordy_ = 0;
  std::string read_;  // the last result
};

}  // namespace

TeacherMaker NewStudyTeacher(std::shared_ptr<const Library> library, const StudyToolNames& tools,
                             ThoughtStyle thoughts, int64_t calls) {
  return [manner = StudyTeacher::Manner{std::move(library), tools, thoughts, calls}](
             const Task& task, double error, Rng rng) -> Result<std::unique_ptr<Agent>> {
    Result<Way> way = WayOf(task);
    if (!way.ok()) return way.error().In(fmt::format("task \"{}\"", task.id));
    return std::unique_ptr<Agent>(
        std::make_unique<StudyTeacher>(*std::move(way), manner, error, rng));
  };
}

}  // namespace hone::study
