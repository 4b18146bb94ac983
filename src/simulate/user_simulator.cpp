#include "simulate/user_simulator.h"

#include <algorithm>
#include <cctype>

#include <fmt/format.h>

#include "base/hash.h"
#include "base/rng.h"
#include "base/strings.h"

namespace hone {
namespace {

constexpr size_t kLeakedWords = 8;
constexpr int64_t kPatience = 4;  // after as many useless lines anybody may leave

// Words in lower case, signs left out.
std::vector<std::string> WordsOf(std::string_view text) {
  std::vector<std::string> words(1);
  for (const char c : text) {
    const auto byte = static_cast<unsigned char>(c);
    if (std::isalnum(byte) != 0 || byte >= 0x80) {
      words.back() += static_cast<char>(std::tolower(byte));
    } else if (!words.back().empty()) {
      words.emplace_back();
    }
  }
  if (words.back().empty()) words.pop_back();
  return words;
}

bool Contains(const std::vector<std::string>& words, std::span<const std::string> part) {
  return !part.empty() &&
         std::search(words.begin(), words.end(), part.begin(), part.end()) != words.end();
}

bool Mentions(const std::vector<std::string>& words, const Json& value) {
  return Contains(words, WordsOf(value.is_string() ? value.AsString() : DumpJson(value)));
}

std::optional<std::string> Leak(const UserScript& script, const std::vector<std::string>& said) {
  const std::vector<std::string> goal = WordsOf(script.goal);
  for (size_t i = 0; i + kLeakedWords <= goal.size(); ++i) {
    if (Contains(said, std::span(goal).subspan(i, kLeakedWords))) {
      return "it recites the hidden goal";
    }
  }
  for (const char* phrase : {"my goal is", "hidden goal", "my instructions", "i am simulating",
                             "as an ai", "language model", "simulated user"}) {
    if (Contains(said, WordsOf(phrase))) {
      return fmt::format("it speaks of \"{}\", which no user would", phrase);
    }
  }
  return std::nullopt;
}

// `wanted` is one value or a list of them.
bool IsWanted(const Json* wanted, const Json& value) {
  if (wanted == nullptr) return false;
  if (!wanted->is_array()) return *wanted == value;
  const Json::Array& list = wanted->AsArray();
  return std::find(list.begin(), list.end(), value) != list.end();
}

std::optional<std::string> AgainstScript(const UserScript& script,
                                         const std::vector<ChatMessage>& conversation,
                                         const std::vector<std::string>& said) {
  if (!script.alternatives.is_object()) return std::nullopt;
  for (const auto& [name, others] : script.alternatives.AsObject()) {
    if (!others.is_array()) continue;
    for (const Json& other : others.AsArray()) {
      if (IsWanted(script.values.Find(name), other) || !Mentions(said, other)) continue;
      // What the agent brought up may be talked about.
      const bool brought_up =
          std::any_of(conversation.begin(), conversation.end(), [&](const ChatMessage& message) {
            return message.role == "assistant" && Mentions(WordsOf(message.content), other);
          });
      if (!brought_up) {
        return fmt::format("it names {}, and its goal is about another {}", DumpJson(other), name);
      }
    }
  }
  return std::nullopt;
}

// Whether the agent's line asks for something, and not only whether that was all.
bool AsksForSomething(std::string_view line) {
  if (line.find('?') == std::string_view::npos) return false;
  const std::vector<std::string> words = WordsOf(line);
  for (const char* leave : {"anything else", "something else", "anything more", "all for today"}) {
    if (Contains(words, WordsOf(leave))) return false;
  }
  return true;
}

bool IsSpokenOf(const Json& wish, const std::vector<ChatMessage>& conversation) {
  if (!wish.is_array() || wish.AsArray().empty()) return true;
  for (const ChatMessage& message : conversation) {
    const std::vector<std::string> words = WordsOf(message.content);
    for (const Json& sign : wish.AsArray()) {
      if (Mentions(words, sign)) return true;
    }
  }
  return false;
}

std::optional<std::string> EarlyEnd(const UserScript& script,
                                    const std::vector<ChatMessage>& conversation) {
  int64_t lines = 0;
  const ChatMessage* last = nullptr;
  for (const ChatMessage& message : conversation) {
    if (message.role != "assistant") continue;
    ++lines;
    last = &message;
  }
  if (lines == 0) return "it leaves before its goal could be met";
  if (script.met || lines >= kPatience) return std::nullopt;
  if (AsksForSomething(last->content)) return "it leaves when it is asked for something";
  if (!script.wishes.is_array()) return std::nullopt;
  for (const Json& wish : script.wishes.AsArray()) {
    if (!IsSpokenOf(wish, conversation)) {
      return "it leaves before it has said all that it wants";
    }
  }
  return std::nullopt;
}

std::string Prompt(const UserScript& script, const std::vector<ChatMessage>& conversation,
                   const std::string& problem) {
  std::string text = "What you want: " + script.goal + "\n";
  if (!script.persona.empty()) text += "Who you are: " + script.persona + "\n";
  text +=
      "When to leave: " +
      (script.stop.empty() ? std::string("when you have what you want, or it is refused for good")
                           : script.stop) +
      "\n\nThe conversation so far:\n";
  if (conversation.empty()) text += "(you speak first)\n";
  for (const ChatMessage& message : conversation) {
    if (message.role == "user") text += "You: " + message.content + "\n";
    if (message.role == "assistant") text += "Clerk: " + message.content + "\n";
  }
  if (!problem.empty()) text += "\nYour last line was not usable: " + problem + "\n";
  return text + "\nYour next line:";
}

constexpr std::string_view kUsersPart =
    "You play a person who talks to a clerk. Say the next thing this person would say, in their "
    "own "
    "short words. Tell things only when they are asked for or needed. Never recite what you want "
    "word "
    "for word, and never say that you play a role. Answer with one JSON object: {\"text\": what "
    "you "
    "say, \"stop\": true if you leave now, else false}.";

// {"text", "stop"}, with or without words around it; a plain text is a line too.
std::optional<UserLine> ReadLine(std::string_view text) {
  const size_t brace = text.find('{');
  if (brace != std::string_view::npos) {
    const JsonPrefix prefix = ParseJsonPrefix(text.substr(brace));
    const Json* said = prefix.value ? prefix.value->Find("text") : nullptr;
    const Json* stop = prefix.value ? prefix.value->Find("stop") : nullptr;
    if (said == nullptr || !said->is_string()) return std::nullopt;
    return UserLine{said->AsString(), stop != nullptr && *stop == Json(true)};
  }
  const std::string_view plain = Trim(text);
  if (plain.empty()) return std::nullopt;
  return UserLine{std::string(plain), false};
}

class UserToolkit final : public Toolkit {
 public:
  UserToolkit(std::shared_ptr<LanguageModel> model, UserSimulatorOptions options)
      : model_(std::move(model)), options_(options) {}

  const std::vector<ToolSpec>& tools() const override { return specs_; }
  Sharing sharing() const override { return Sharing::kNothing; }
  Result<std::unique_ptr<Session>> Open(uint64_t) override { return std::unique_ptr<Session>(); }

  ToolReply Call(std::string_view, const Json& arguments, Session*, const CallLimits&) override {
    const UserScript script = UserScript::Of(*arguments.Find("script"));
    std::vector<ChatMessage> conversation;
    for (const Json& message : arguments.Find("conversation")->AsArray()) {
      conversation.push_back(
          {message.Find("role")->AsString(), message.Find("content")->AsString()});
    }
    const Rng rng(Hash64(DumpJson(arguments, JsonStyle::kCanonical)));
    std::string problem;
    for (int64_t attempt = 0; attempt < options_.tries; ++attempt) {
      Rng stream = rng.Split(static_cast<uint64_t>(attempt));
      const Completion completion =
          model_->Complete({.messages = {{"system", std::string(kUsersPart)},
                                         {"user", Prompt(script, conversation, problem)}},
                            .temperature = options_.temperature,
                            .max_tokens = options_.max_tokens,
                            .seed = stream.NextU64(),
                            .json = true});
      if (completion.status != CompletionStatus::kOk) {
        return Unavailable("the user's language model: " + completion.problem,
                           Blame::kUserSimulator);
      }
      const std::optional<UserLine> line = ReadLine(completion.text);
      const std::optional<std::string> fault =
          line ? UserFault(script, conversation, *line) : "it is not {\"text\", \"stop\"}";
      if (!fault) {
        return Answered(DumpJson(Json::Of({{"text", line->text}, {"stop", line->stop}})));
      }
      problem = *fault;
    }
    return Unavailable(
        fmt::format("the simulated user is at fault, {} times: {}", options_.tries, problem),
        Blame::kUserSimulator);
  }

 private:
  const std::shared_ptr<LanguageModel> model_;
  const UserSimulatorOptions options_;
  const std::vector<ToolSpec> specs_ = {UserSpec()};
};

}  // namespace

ToolSpec UserSpec() {
  return {.name = "user",
          .description = "What the user says next.",
          .parameters = ParseJson(R"({"type": "object", "required": ["script", "conversation"],
              "properties": {"script": {}, "conversation": {"type": "array", "items": {
                "type": "object", "required": ["role", "content"], "properties": {
                  "role": {"type": "string"}, "content": {"type": "string"}}}}}})")
                            .value(),
          .output = ParseJson(R"({"type": "object", "required": ["text", "stop"], "properties": {
              "text": {"type": "string"}, "stop": {"type": "boolean"}}})")
                        .value(),
          .effect = Effect::kReads,
          .resource = "user"};
}

UserScript UserScript::Of(const Json& script) {
  UserScript out;
  auto text = [&](const char* name) {
    const Json* value = script.Find(name);
    return value != nullptr && value->is_string() ? value->AsString() : std::string();
  };
  out.goal = text("goal");
  out.persona = text("persona");
  out.stop = text("stop");
  if (const Json* values = script.Find("values")) out.values = *values;
  if (const Json* alternatives = script.Find("alternatives")) out.alternatives = *alternatives;
  if (const Json* wishes = script.Find("wishes")) out.wishes = *wishes;
  const Json* met = script.Find("met");
  out.met = met != nullptr && *met == Json(true);
  if (out.goal.empty()) out.goal = script.is_string() ? script.AsString() : DumpJson(script);
  return out;
}

std::optional<std::string> UserFault(const UserScript& script,
                                     const std::vector<ChatMessage>& conversation,
                                     const UserLine& line) {
  if (line.stop) {
    if (std::optional<std::string> early = EarlyEnd(script, conversation)) return early;
  }
  if (!line.stop && Trim(line.text).empty()) return "it says nothing";
  const std::vector<std::string> said = WordsOf(line.text);
  if (std::optional<std::string> leak = Leak(script, said)) return leak;
  return AgainstScript(script, conversation, said);
}

std::shared_ptr<Toolkit> NewUserToolkit(std::shared_ptr<LanguageModel> model,
                                        UserSimulatorOptions options) {
  return std::make_shared<UserToolkit>(std::move(model), options);
}

}  // namespace hone
