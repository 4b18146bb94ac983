#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <variant>
#include <vector>

#include "base/result.h"

namespace CLI {
class App;
class Option;
}  // namespace CLI

namespace hone {

// What may be said on a command line, and the reading of it. Behind it is CLI11, whose header takes
// longer to compile than a file of commands does: command_line.cpp alone includes it.
//
// Command and Option are handles: they are copied freely and hold as long as their CommandLine.
// Not thread-safe.

// Where the value of an option goes when it is given. The place must outlive the reading; a list
// takes all that follows up to the next option, an absent optional stays empty.
using OptionPlace =
    std::variant<std::string*, int*, int64_t*, uint64_t*, float*, double*,
                 std::optional<std::string>*, std::optional<int64_t>*, std::optional<uint64_t>*,
                 std::optional<double>*, std::vector<std::string>*>;

// One option, and what else is asked of it. A value that breaks a rule is a wrong command line.
class Option {
 public:
  explicit Option(CLI::Option* option) : option_(option) {}

  Option Required();
  Option ShowDefault();             // --help says what the place holds now
  Option Group(std::string title);  // where --help lists it
  Option Excludes(Option other);    // not both

  Option Between(int low, int high);  // both included
  Option Between(double low, double high);
  Option Positive();
  Option NotNegative();
  Option OneOf(std::vector<std::string> words);

  Option OneAtATime();             // of a list: one value each time that it is given
  Option SplitAt(char delimiter);  // of a list: "a,b" are two values

 private:
  CLI::Option* option_;
};

// A command as a list of all of them has it.
struct CommandSummary {
  std::string name;   // as one would type it: "hone env play"
  std::string usage;  // with what follows it: "hone env play [OPTIONS] environment"
  std::string about;  // one line

  bool operator==(const CommandSummary&) const = default;
};

// An option or an argument, for those who describe the program elsewhere.
struct OptionDescription {
  std::vector<std::string> names;  // {"--file", "-f"}; of an argument its word: {"recipe"}
  std::string value;               // what stands for its value: "TEXT", "INT"; empty: a flag
  std::string about;
  std::string preset;                // the default that --help shows; empty: none
  std::vector<std::string> choices;  // all that may be said; empty: anything
  bool required = false;
  bool list = false;  // takes several
};

// A command with all that is below it.
struct CommandDescription {
  CommandSummary summary;
  std::vector<OptionDescription> arguments;  // by their position
  std::vector<OptionDescription> options;    // its own; those of the commands above hold, too
  std::string footer;                        // notes and examples
  std::vector<CommandDescription> commands;
};

// The program itself, a command of it, or a command of a command.
class Command {
 public:
  explicit Command(CLI::App* app) : app_(app) {}

  // A further command. `about` is one line that begins with a verb and has no full stop: "Train an
  // agent as a recipe says". It inherits the footer, unless it has its own, and takes the options
  // of the commands above it, too.
  Command AddCommand(std::string name, std::string about);

  // `name`: "--long", "--long,-l", or "word" for an argument that is known by its position.
  Option AddOption(std::string name, OptionPlace place, std::string about = "");
  // `take` gets the value while the command line is read.
  Option AddOption(std::string name, std::function<void(const std::string&)> take,
                   std::string about);
  Option AddFlag(std::string name, bool* place, std::string about);
  // Changes of what a file says: "--set key=value", and "key=value" alone wherever it stands.
  void AddOverrides(std::vector<std::string>* place, std::string about);

  void NeedsCommand();            // to be given alone is an error
  void Footer(std::string text);  // the end of --help: notes and examples
  // What it does. Runs once the whole command line has been read without fault.
  void Action(std::function<void()> action);

  // Every command below this one that was added so far, in the order in which they were added, each
  // before those that are below it.
  std::vector<CommandSummary> Summaries() const;
  CommandDescription Describe() const;
  // What --help says of the command below this one that the words lead to: {"env", "play"}. No
  // words: of this one.
  Result<std::string> HelpOf(const std::vector<std::string>& words) const;

 private:
  CLI::App* app_;
};

class CommandLine {
 public:
  // Knows --help and --version, which prints `version`.
  CommandLine(std::string program, std::string about, std::string version);
  ~CommandLine();
  CommandLine(const CommandLine&) = delete;
  CommandLine& operator=(const CommandLine&) = delete;

  // The program, which options and commands are added to.
  Command program();

  // Reads the words (without the program's name) and runs the action that they name, or prints what
  // --help or --version asks for; no words ask for --help. An error says what is wrong with the
  // words; no action has run then. What an action throws passes through.
  Result<void> Run(std::vector<std::string> words);

 private:
  std::unique_ptr<CLI::App> app_;
};

}  // namespace hone
