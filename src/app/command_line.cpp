#include "app/command_line.h"

#include <algorithm>
#include <string_view>
#include <utility>

#include <fmt/format.h>
#include <fmt/ranges.h>
#include <CLI/CLI.hpp>

#include "base/nearest.h"

namespace hone {
namespace {

std::vector<std::string> CommandsOf(const CLI::App& app) {
  std::vector<std::string> names;
  for (const CLI::App* command : app.get_subcommands(nullptr)) names.push_back(command->get_name());
  return names;
}

// The error for a word that stands where a command should, or for no word there, if that is what is
// wrong with the command line: the parser alone would only say that a command is missing.
std::optional<Error> UnknownCommand(const CLI::App& app, const std::vector<std::string>& words) {
  const CLI::App* at = &app;
  for (const std::string_view word : words) {
    if (word.starts_with("-")) continue;
    const std::vector<std::string> names = CommandsOf(*at);
    if (names.empty()) return std::nullopt;
    const CLI::App* next = nullptr;
    for (const CLI::App* command : at->get_subcommands(nullptr)) {
      if (command->get_name() == word) next = command;
    }
    if (next == nullptr) {
      return Error(ErrorCode::kInvalidArgument,
                   fmt::format("unknown command \"{}\"{}; there are: {}", word,
                               DidYouMean(word, names), fmt::join(names, ", ")));
    }
    at = next;
  }
  const std::vector<std::string> names = CommandsOf(*at);
  if (names.empty()) return std::nullopt;
  return Error(ErrorCode::kInvalidArgument,
               fmt::format("{}a command is missing; there are: {} (each has --help)",
                           at == &app ? "" : at->get_name() + ": ", fmt::join(names, ", ")));
}

// A command's name as one would type it: "hone env play".
std::string TypedName(const CLI::App& command) {
  const CLI::App* above = command.get_parent();
  return above == nullptr ? command.get_name() : TypedName(*above) + " " + command.get_name();
}

// The command that the words lead to.
const CLI::App* CommandMeant(const CLI::App& app, const std::vector<std::string>& words) {
  const CLI::App* at = &app;
  for (const std::string& word : words) {
    const std::vector<const CLI::App*> commands = at->get_subcommands(nullptr);
    const auto next = std::find_if(commands.begin(), commands.end(), [&](const CLI::App* command) {
      return command->get_name() == word;
    });
    if (next == commands.end()) continue;
    at = *next;
  }
  return at;
}

// For a word like --plann that no option has: the one that was meant, perhaps.
std::string OptionMeant(const CLI::App* command, const std::vector<std::string>& words) {
  std::vector<std::string> known;
  for (; command != nullptr; command = command->get_parent()) {
    for (const CLI::Option* option : command->get_options()) {
      for (const std::string& name : option->get_lnames()) known.push_back("--" + name);
    }
  }
  for (const std::string& word : words) {
    const std::string name = word.substr(0, word.find('='));
    if (!name.starts_with("--") || name == "--") continue;
    if (std::find(known.begin(), known.end(), name) == known.end()) return DidYouMean(name, known);
  }
  return "";
}

// Adds the commands below this one.
void Summarise(const CLI::App& app, std::vector<CommandSummary>* summaries) {
  constexpr std::string_view kLabel = "Usage: ";
  for (const CLI::App* command : app.get_subcommands(nullptr)) {
    const std::string name = TypedName(*command);
    const std::string usage = CLI::Formatter().make_usage(command, name);
    summaries->push_back({.name = name,
                          .usage = usage.substr(kLabel.size(), usage.find('\n') - kLabel.size()),
                          .about = command->get_description()});
    Summarise(*command, summaries);
  }
}

// What --help of a command says of the options that it has from the commands above it.
std::string InheritedOptions(const CLI::App* command) {
  std::string text;
  for (command = command->get_parent(); command != nullptr; command = command->get_parent()) {
    for (const CLI::Option* option : command->get_options()) {
      const std::string name = option->get_name();
      if (name == "--help" || name == "--version" || option->get_positional()) continue;
      text += fmt::format("  {:<28}{}\n", name, option->get_description());
    }
  }
  return text.empty() ? "" : "Of every command:\n" + text + "\n";
}

// What a chosen word may be, from the rule that OneOf made of it: "{plain,fancy}".
std::vector<std::string> ChoicesOf(const CLI::Option& option) {
  const std::string type = option.get_type_name();
  const size_t open = type.find('{'), close = type.rfind('}');
  if (open == std::string::npos || close == std::string::npos || close < open) return {};
  return CLI::detail::split(type.substr(open + 1, close - open - 1), ',');
}

OptionDescription DescribeOption(const CLI::Option& option) {
  OptionDescription described{.about = option.get_description(),
                              .preset = option.get_default_str(),
                              .choices = ChoicesOf(option),
                              .required = option.get_required(),
                              .list = option.get_expected_max() > 1};
  if (option.get_positional()) described.names = {option.get_name(true)};
  for (const std::string& name : option.get_lnames()) described.names.push_back("--" + name);
  for (const std::string& name : option.get_snames()) described.names.push_back("-" + name);
  if (option.get_items_expected_max() > 0) {
    const std::string type = option.get_type_name();
    described.value = type.substr(0, type.find(':'));
  }
  return described;
}

CommandDescription DescribeCommand(const CLI::App& app) {
  constexpr std::string_view kLabel = "Usage: ";
  const std::string name = TypedName(app);
  const std::string usage = CLI::Formatter().make_usage(&app, name);
  CommandDescription described{
      .summary = {.name = name,
                  .usage = usage.substr(kLabel.size(), usage.find('\n') - kLabel.size()),
                  .about = app.get_description()},
      .footer = app.get_footer()};
  if (const std::string inherited = InheritedOptions(&app);
      described.footer.starts_with(inherited)) {
    described.footer.erase(0, inherited.size());
  }
  for (const CLI::Option* option : app.get_options()) {
    (option->get_positional() ? described.arguments : described.options)
        .push_back(DescribeOption(*option));
  }
  for (const CLI::App* command : app.get_subcommands(nullptr)) {
    described.commands.push_back(DescribeCommand(*command));
  }
  return described;
}

// "environment.tasks.hard=true", and not "runs/a=b".
bool IsAssignment(std::string_view word) {
  const size_t equals = word.find('=');
  if (equals == std::string_view::npos || equals == 0) return false;
  const auto letter = [](char c) { return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z'); };
  const std::string_view key = word.substr(0, equals);
  return letter(key[0]) && std::all_of(key.begin(), key.end(), [&](char c) {
           return letter(c) || (c >= '0' && c <= '9') || c == '_' || c == '.' || c == '-';
         });
}

// Whether the word is an option of the command, or of one above it, whose value comes next.
bool WantsValue(const CLI::App* command, const std::string& word) {
  for (; command != nullptr; command = command->get_parent()) {
    if (const CLI::Option* option = command->get_option_no_throw(word)) {
      return option->get_items_expected_max() > 0;
    }
  }
  return false;
}

// Puts --set before every key=value that stands alone, where the command has it. An argument by
// position would not do: lists of files before it take all that follows.
std::vector<std::string> WithOverridesNamed(const CLI::App& app,
                                            const std::vector<std::string>& words) {
  std::vector<std::string> named;
  const CLI::App* at = &app;
  bool value = false;
  for (size_t i = 0; i < words.size(); ++i) {
    const std::string& word = words[i];
    if (word == "--") {
      named.insert(named.end(), words.begin() + static_cast<std::ptrdiff_t>(i), words.end());
      break;
    }
    if (!value && word.starts_with("-")) {
      value = WantsValue(at, word);
    } else {
      const CLI::App* next = value ? nullptr : CommandMeant(*at, {word});
      const bool alone = !value && next == at && IsAssignment(word);
      if (alone && at->get_option_no_throw("--set") != nullptr) named.emplace_back("--set");
      if (next != nullptr) at = next;
      value = false;
    }
    named.push_back(word);
  }
  return named;
}

}  // namespace

Option Option::Required() {
  option_->required();
  return *this;
}

Option Option::ShowDefault() {
  option_->capture_default_str();
  return *this;
}

Option Option::Group(std::string title) {
  option_->group(std::move(title));
  return *this;
}

Option Option::Excludes(Option other) {
  option_->excludes(other.option_);
  return *this;
}

Option Option::Between(int low, int high) {
  option_->check(CLI::Range(int64_t{low}, int64_t{high}));
  return *this;
}

Option Option::Between(double low, double high) {
  option_->check(CLI::Range(low, high));
  return *this;
}

Option Option::Positive() {
  option_->check(CLI::PositiveNumber);
  return *this;
}

Option Option::NotNegative() {
  option_->check(CLI::NonNegativeNumber);
  return *this;
}

Option Option::OneOf(std::vector<std::string> words) {
  option_->check(CLI::IsMember(std::move(words)));
  return *this;
}

Option Option::OneAtATime() {
  option_->allow_extra_args(false);
  return *this;
}

Option Option::SplitAt(char delimiter) {
  option_->delimiter(delimiter);
  return *this;
}

Command Command::AddCommand(std::string name, std::string about) {
  return Command(app_->add_subcommand(std::move(name), std::move(about)));
}

Option Command::AddOption(std::string name, OptionPlace place, std::string about) {
  return std::visit(
      [&](auto* where) {
        return Option(app_->add_option(std::move(name), *where, std::move(about)));
      },
      place);
}

Option Command::AddOption(std::string name, std::function<void(const std::string&)> take,
                          std::string about) {
  return Option(
      app_->add_option_function<std::string>(std::move(name), std::move(take), std::move(about)));
}

Option Command::AddFlag(std::string name, bool* place, std::string about) {
  return Option(app_->add_flag(std::move(name), *place, std::move(about)));
}

void Command::AddOverrides(std::vector<std::string>* place, std::string about) {
  const auto append = [place](const std::vector<std::string>& values) {
    place->insert(place->end(), values.begin(), values.end());
  };
  // What is no key=value is taken, too: whoever reads the changes says what is wrong with it.
  app_->add_option_function<std::vector<std::string>>("overrides", append, about);
  app_->add_option_function<std::vector<std::string>>("--set", append, "the same: " + about)
      ->allow_extra_args(false);
}

void Command::NeedsCommand() { app_->require_subcommand(1); }

void Command::Footer(std::string text) { app_->footer(InheritedOptions(app_) + text); }

void Command::Action(std::function<void()> action) { app_->callback(std::move(action)); }

std::vector<CommandSummary> Command::Summaries() const {
  std::vector<CommandSummary> summaries;
  Summarise(*app_, &summaries);
  return summaries;
}

CommandDescription Command::Describe() const { return DescribeCommand(*app_); }

Result<std::string> Command::HelpOf(const std::vector<std::string>& words) const {
  const CLI::App* at = app_;
  for (size_t i = 0; i < words.size(); ++i) {
    const CLI::App* next = CommandMeant(*at, {words[i]});
    if (next == at) {
      const std::optional<Error> unknown = UnknownCommand(*at, {words[i]});
      return unknown ? *unknown
                     : Error(ErrorCode::kInvalidArgument,
                             fmt::format("{} has no commands below it", TypedName(*at)));
    }
    at = next;
  }
  return at->help(at->get_parent() == nullptr ? "" : TypedName(*at->get_parent()));
}

CommandLine::CommandLine(std::string program, std::string about, std::string version)
    : app_(std::make_unique<CLI::App>(std::move(about), std::move(program))) {
  app_->set_version_flag("--version", std::move(version));
  app_->fallthrough();
}

CommandLine::~CommandLine() = default;

Command CommandLine::program() { return Command(app_.get()); }

Result<void> CommandLine::Run(std::vector<std::string> words) {
  if (words.empty()) words = {"--help"};
  const std::vector<std::string> named = WithOverridesNamed(*app_, words);
  // The parser takes them from the back, and keeps nothing of them.
  std::vector<std::string> reversed(named.rbegin(), named.rend());
  try {
    app_->parse(std::move(reversed));
  } catch (const CLI::ParseError& error) {
    if (error.get_exit_code() == 0) {
      app_->exit(error);  // prints what --help or --version asked for
      return {};
    }
    if (const std::optional<Error> unknown = UnknownCommand(*app_, words)) return *unknown;
    const CLI::App* command = CommandMeant(*app_, words);
    return Error(ErrorCode::kInvalidArgument,
                 fmt::format("{}{} (see {} --help)", error.what(), OptionMeant(command, words),
                             TypedName(*command)));
  }
  return {};
}

}  // namespace hone
