#include "simulate/players/model_prompt.h"

#include <fmt/format.h>

#include "simulate/result_check.h"

namespace hone {
namespace {

constexpr std::string_view kPlayersPart =
    "You stand in for a tool that a program calls. You get the tool's description and one call of "
    "it, and you write what the tool would return, and nothing else.\n"
    "- Write one JSON value that fits the output schema. No explanation, no code fence.\n"
    "- If the real tool would refuse the call (something does not exist, a value makes no sense, "
    "the "
    "state forbids it), write {\"error\": \"a short reason\"}.\n"
    "- Make up plausible, specific values where you cannot know them; never write placeholders.\n"
    "- Agree with everything below that was returned or changed before.";

std::string Line(const std::string& tool, const Json& arguments, const std::string& answer) {
  return fmt::format("{}({}) -> {}\n", tool, DumpJson(arguments), answer);
}

std::string FullPrompt(const SimulatedCall& call,
                       const std::vector<const RecordedCall*>& examples) {
  const ToolSpec& spec = *call.spec;
  std::string text = fmt::format("Tool: {}\nDescription: {}\nParameters: {}\nOutput schema: {}\n",
                                 spec.name, spec.description, DumpJson(spec.parameters),
                                 spec.output ? DumpJson(*spec.output) : "not given");
  if (!examples.empty()) {
    text += "\nCalls of this tool that were recorded, in other circumstances:\n";
    for (const RecordedCall* example : examples) {
      text += Line(example->tool, example->arguments, WrittenAnswer(example->answer));
    }
  }
  // Of the call itself it is known what it returned before the changes, of all else what it is now.
  std::string before, now;
  for (const KnownResult& known : call.known) {
    const bool itself = known.tool == spec.name && known.arguments == call.arguments;
    (itself ? before : now) += Line(known.tool, known.arguments, WrittenAnswer(known.answer));
  }
  if (!before.empty()) text += "\nWhat this call returned at first:\n" + before;
  if (!call.writes.empty()) {
    text += before.empty() ? "\nWhat was changed, in this order:\n"
                           : "\nWhat was changed since then, in this order:\n";
    for (const Sessions::EarlierWrite& write : call.writes) {
      text += Line(write.tool, write.arguments, write.content);
    }
  }
  if (!now.empty()) {
    text += (call.writes.empty() ? "\nWhat other calls return:\n"
                                 : "\nWhat other calls return now, after these changes:\n") +
            now;
  }
  text += fmt::format("\nThe call: {}({})\n", spec.name, DumpJson(call.arguments));
  if (!call.problem.empty()) {
    text +=
        fmt::format("\nYour last answer was not usable:\n{}\nWrite a better one.\n", call.problem);
  }
  return text + "\nWhat it returns:";
}

std::string BriefPrompt(const SimulatedCall& call,
                        const std::vector<const RecordedCall*>& examples) {
  std::string text = call.spec->description + "\n";
  // The nearest last: what stands right before the call is the easiest to compare it with.
  for (auto example = examples.rbegin(); example != examples.rend(); ++example) {
    text += Line((*example)->tool, (*example)->arguments, WrittenAnswer((*example)->answer));
  }
  for (const KnownResult& known : call.known) {
    text += "known: " + Line(known.tool, known.arguments, WrittenAnswer(known.answer));
  }
  for (const Sessions::EarlierWrite& write : call.writes) {
    text += "done: " + Line(write.tool, write.arguments, write.content);
  }
  if (!call.problem.empty()) text += fmt::format("not: {}\n", call.problem);
  return text + Line(call.spec->name, call.arguments, "");
}

}  // namespace

bool IsShown(const RecordedCall& call) { return call.answer.content.size() <= kMostExampleBytes; }

std::string WrittenAnswer(const PlayedResult& answer) {
  if (answer.status == CallStatus::kOk) return answer.content;
  const Json value = ValueOf(answer.content);
  if (value.Find("error") != nullptr) return answer.content;
  return DumpJson(Json::Of({{"error", answer.content}}));
}

std::vector<ChatMessage> PlayersPrompt(const SimulatedCall& call,
                                       const std::vector<const RecordedCall*>& examples,
                                       PromptStyle style) {
  if (style == PromptStyle::kBrief) {
    return {{"system", "Play the tool."}, {"user", BriefPrompt(call, examples)}};
  }
  return {{"system", std::string(kPlayersPart)}, {"user", FullPrompt(call, examples)}};
}

}  // namespace hone
