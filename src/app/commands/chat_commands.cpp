// hone chat.

#include <cstdlib>
#include <iostream>

#include <fmt/format.h>
#include <unistd.h>

#include "app/chat/chat_talk.h"
#include "app/chat/line_editor.h"
#include "app/command_line.h"
#include "app/commands.h"
#include "app/device_option.h"
#include "app/env_recipe.h"
#include "app/evaluation_setup.h"
#include "app/report.h"
#include "serve/served_model.h"

namespace hone {
namespace {

struct ChatArguments {
  EvaluationChoice choice;
  std::string system, tokenizer;
  double temperature = 0;
  uint64_t seed = 0;
  int64_t examples = 5, task = 0, max_tokens = 512;
  std::optional<int64_t> thought_tokens;
  bool yes = false;
};

// The last thing the user says in a task's opening, or "".
std::string RequestOf(const Json& messages) {
  std::string request;
  for (const Json& message : messages.AsArray()) {
    const Json *role = message.Find("role"), *content = message.Find("content");
    if (role != nullptr && *role == Json("user") && content != nullptr && content->is_string()) {
      request = content->AsString();
    }
  }
  return request;
}

Opening WithSystem(Opening opening, const std::string& system) {
  if (system.empty()) return opening;
  Json::Array& messages = opening.messages.AsArray();
  std::erase_if(messages, [](const Json& message) { return *message.Find("role") == "system"; });
  messages.insert(messages.begin(), Json::Of({{"role", "system"}, {"content", system}}));
  return opening;
}

Result<void> Converse(const TalkParts& parts, const ChatArguments& arguments) {
  const bool person = ::isatty(STDIN_FILENO) != 0;
  const Terminal terminal = Terminal::Of(stdout);
  TalkOptions options{.ask = !arguments.yes, .echo = !person, .seed = arguments.seed};
  std::optional<LineEditor> editor;
  if (person && ::isatty(STDOUT_FILENO) != 0) {
    editor.emplace(STDIN_FILENO, STDOUT_FILENO, ChatHistoryFile());
    options.read = [&](std::string_view prompt, bool remember) {
      return editor->Read({std::string(prompt), terminal.colour, remember});
    };
  }
  return Talk(parts, options, terminal, &std::cin, &std::cout).Run();
}

// With the tools of the run's environment, or of the one that was named.
Result<void> ChatInEnvironment(const ChatArguments& arguments) {
  HONE_ASSIGN_OR_RETURN(const auto setup, OpenForEvaluation(arguments.choice));
  const StageContext& context = *setup->context;
  const LoadedEnvironment& loaded = context.environment;
  HONE_ASSIGN_OR_RETURN(const Policy policy, context.PolicyAt(arguments.temperature, 0));
  TalkParts parts{.policy = &policy,
                  .environment = loaded.environment.get(),
                  .executor = context.real->executor()};
  // The place to talk at is that of a task: what its tools know, and what the agent is told first.
  const std::optional<uint64_t> count = loaded.tasks->count(Split::kDev);
  if (count && static_cast<uint64_t>(arguments.task) >= *count) {
    return Error(ErrorCode::kInvalidArgument,
                 fmt::format("there are only {} tasks in dev, counted from 0", *count));
  }
  const auto first = static_cast<uint64_t>(arguments.task);
  for (uint64_t i = first; i < first + static_cast<uint64_t>(arguments.examples); ++i) {
    if (count && i >= *count) break;
    const Task task = loaded.tasks->Make(Split::kDev, i);
    HONE_ASSIGN_OR_RETURN(const auto episode, loaded.environment->Open(task, arguments.seed));
    if (i == first) parts.opening = episode->opening();
    const std::string request = RequestOf(episode->opening().messages);
    if (!request.empty()) parts.examples.push_back(request);
  }
  Json::Array& messages = parts.opening.messages.AsArray();
  std::erase_if(messages, [](const Json& message) { return *message.Find("role") != "system"; });
  parts.opening = WithSystem(std::move(parts.opening), arguments.system);
  fmt::print("{} in {}\n", setup->place.folder.string(), setup->environment);
  std::fflush(stdout);
  return Converse(parts, arguments);
}

Result<void> ChatAlone(const ChatArguments& arguments) {
  HONE_ASSIGN_OR_RETURN(const auto model,
                        OpenServedModel({.model = arguments.choice.model,
                                         .checkpoint = arguments.choice.checkpoint,
                                         .dialect = arguments.choice.dialect,
                                         .tokenizer = arguments.tokenizer,
                                         .device = arguments.choice.device,
                                         .threads = arguments.choice.threads.value_or(0)}));
  PolicyOptions options;
  options.sampling.temperature = static_cast<float>(arguments.temperature);
  options.sampling.forbidden_set = model->engine->forbidden().empty() ? 0 : 1;
  options.max_turn_tokens = arguments.max_tokens;
  options.thoughts.tokens = arguments.thought_tokens;
  HONE_ASSIGN_OR_RETURN(const Policy policy, Policy::New(model->engine.get(), model->dialect.get(),
                                                         model->tokenizer.get(), options));
  TalkParts parts{.policy = &policy,
                  .opening = WithSystem({}, arguments.system),
                  .examples = {"Hello! Who are you?", "What is 17 times 23?"}};
  fmt::print("{} without tools (--env gives it some)\n", model->name);
  std::fflush(stdout);
  return Converse(parts, arguments);
}

Result<std::string> Chat(const ChatArguments& arguments) {
  HONE_ASSIGN_OR_RETURN(const ModelPlace place,
                        FindModel(arguments.choice.model, arguments.choice.checkpoint));
  bool alone = place.run.empty() && arguments.choice.environment.empty();
  if (!place.run.empty() && arguments.choice.environment.empty()) {
    HONE_ASSIGN_OR_RETURN(Recipe recipe, Recipe::Load(place.run / "recipe.toml"));
    alone = !recipe.Root().Has("environment");  // it was trained on conversations alone
  }
  HONE_RETURN_IF_ERROR(alone ? ChatAlone(arguments) : ChatInEnvironment(arguments));
  return std::string();
}

}  // namespace

void AddChat(Command program, std::shared_ptr<CommandContext> context) {
  auto arguments = std::make_shared<ChatArguments>();
  EvaluationChoice& choice = arguments->choice;
  Command chat = program.AddCommand("chat", "Talk to an agent and see what it does");
  chat.AddOption("model", &choice.model, "a run (runs/NAME), a checkpoint or a Hugging Face folder")
      .Required();
  chat.AddOption("--env", &choice.environment,
                 "whose tools it has: " + NamedEnvironments() + "; else its run's");
  chat.AddOption("--task", &arguments->task, "of the environment's dev tasks: whose place it is at")
      .NotNegative()
      .ShowDefault();
  chat.AddOption("--system", &arguments->system, "what it is told first; else as in training");
  chat.AddOption("--temperature", &arguments->temperature, "0: greedy")
      .Between(0.0, 100.0)
      .ShowDefault();
  chat.AddOption("--seed", &arguments->seed, "of what is drawn").ShowDefault();
  chat.AddOption("--max-tokens", &arguments->max_tokens, "of a turn, where no recipe says it")
      .Positive()
      .ShowDefault();
  chat.AddOption("--thought-tokens", &arguments->thought_tokens,
                 "after which a thought is closed, where no recipe says it; else none")
      .NotNegative();
  chat.AddFlag("--yes,-y", &arguments->yes, "do not ask before calls that cannot be undone");
  chat.AddOption("--checkpoint", &choice.checkpoint, "of a run: last, best or a step")
      .ShowDefault();
  chat.AddOption("--dialect", &choice.dialect, "how the model spells calls; else as its run did");
  chat.AddOption("--tokenizer,-t", &arguments->tokenizer, "when it is not in the folder");
  chat.AddOverrides(&choice.overrides, "key=value, over the recipe's: environment.tasks.hard=true");
  AddDeviceOption(chat, &choice.device);
  chat.AddOption("--threads", &choice.threads, "else as many as the machine has").Between(0, 1024);
  chat.Footer(
      "One line is one message; /examples, /tools, /new and /quit are commands. At a terminal a\n"
      "line can be edited, and Up and Down bring back what was said before.\nExamples:\n"
      "  hone chat runs/quickstart\n"
      "  echo 'What is the sky in Oslo on Mon?' | hone chat runs/quickstart\n");
  chat.Action([=] { Finish(context.get(), Chat(*arguments)); });
}

}  // namespace hone
