#include "app/views/completion.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

namespace hone {
namespace {

// All commands, each before those below it.
void Flatten(const CommandDescription& command, std::vector<const CommandDescription*>* all) {
  all->push_back(&command);
  for (const CommandDescription& below : command.commands) Flatten(below, all);
}

std::vector<const CommandDescription*> Flattened(const CommandDescription& program) {
  std::vector<const CommandDescription*> all;
  Flatten(program, &all);
  return all;
}

// In single quotes, for either shell.
std::string Quoted(std::string_view text) {
  std::string quoted = "'";
  for (const char c : text) quoted += c == '\'' ? "'\\''" : std::string(1, c);
  return quoted + "'";
}

std::vector<std::string> NamesBelow(const CommandDescription& command) {
  std::vector<std::string> names;
  for (const CommandDescription& below : command.commands) {
    names.push_back(below.summary.name.substr(below.summary.name.rfind(' ') + 1));
  }
  return names;
}

// Those of the program hold for every command, except what asks for the program's own.
std::vector<OptionDescription> OptionsOf(const CommandDescription& program,
                                         const CommandDescription& command) {
  std::vector<OptionDescription> options = command.options;
  if (&program == &command) return options;
  for (const OptionDescription& option : program.options) {
    const std::string& name = option.names.front();
    if (name != "--help" && name != "--version") options.push_back(option);
  }
  return options;
}

// Lines of an associative array: what stands where a command is typed so far.
std::string WordTable(const CommandDescription& program, const std::string& name,
                      std::vector<std::string> (*entries)(const CommandDescription& program,
                                                          const CommandDescription& command)) {
  std::string text = fmt::format("  local -A {}=(\n", name);
  for (const CommandDescription* command : Flattened(program)) {
    const std::vector<std::string> words = entries(program, *command);
    if (words.empty()) continue;
    text += fmt::format("    [{}]={}\n", Quoted(command->summary.name),
                        Quoted(fmt::format("{}", fmt::join(words, " "))));
  }
  return text + "  )\n";
}

std::string WordTables(const CommandDescription& program) {
  std::string text = WordTable(
      program, "commands", [](const auto&, const auto& command) { return NamesBelow(command); });
  text += WordTable(program, "options", [](const auto& whole, const auto& command) {
    std::vector<std::string> names;
    for (const OptionDescription& option : OptionsOf(whole, command)) {
      names.insert(names.end(), option.names.begin(), option.names.end());
    }
    return names;
  });
  text += WordTable(program, "valued", [](const auto& whole, const auto& command) {
    std::vector<std::string> names;
    for (const OptionDescription& option : OptionsOf(whole, command)) {
      if (!option.value.empty())
        names.insert(names.end(), option.names.begin(), option.names.end());
    }
    return names;
  });
  // What may follow an option, and what may stand as an argument.
  text += "  local -A choices=(\n";
  for (const CommandDescription* command : Flattened(program)) {
    for (const OptionDescription& option : OptionsOf(program, *command)) {
      if (option.choices.empty()) continue;
      for (const std::string& name : option.names) {
        text += fmt::format("    [{}]={}\n", Quoted(command->summary.name + " " + name),
                            Quoted(fmt::format("{}", fmt::join(option.choices, " "))));
      }
    }
    for (const OptionDescription& argument : command->arguments) {
      if (argument.choices.empty()) continue;
      text += fmt::format("    [{}]={}\n", Quoted(command->summary.name + " "),
                          Quoted(fmt::format("{}", fmt::join(argument.choices, " "))));
    }
  }
  return text + "  )\n";
}

// The command that is typed so far, as far as it is known: skips options and their values.
constexpr char kBashWalk[] = R"(  local at=hone word next i
  for ((i = 1; i < COMP_CWORD; ++i)); do
    word=${COMP_WORDS[i]}
    if [[ $word == -* ]]; then
      [[ " ${valued[$at]} " == *" $word "* ]] && ((++i))
      continue
    fi
    next="$at $word"
    [[ " ${commands[$at]} " == *" $word "* ]] && at=$next
  done
  local current=${COMP_WORDS[COMP_CWORD]} before=${COMP_WORDS[COMP_CWORD - 1]}
  COMPREPLY=()
  if [[ $COMP_CWORD -gt 1 && " ${valued[$at]} " == *" $before "* ]]; then
    COMPREPLY=($(compgen -W "${choices[$at $before]}" -- "$current"))
  elif [[ $current == -* ]]; then
    COMPREPLY=($(compgen -W "${options[$at]}" -- "$current"))
  else
    COMPREPLY=($(compgen -W "${commands[$at]} ${choices[$at ]}" -- "$current"))
  fi
}
# Where nothing is known a file is meant.
complete -o default -o bashdefault -F _hone hone
)";

constexpr char kZshWalk[] = R"(  local at=hone word i
  for ((i = 2; i < CURRENT; ++i)); do
    word=${words[i]}
    if [[ $word == -* ]]; then
      (( ${${=valued[$at]}[(Ie)$word]} )) && ((++i))
      continue
    fi
    (( ${${=commands[$at]}[(Ie)$word]} )) && at="$at $word"
  done
  local current=${words[CURRENT]} before=${words[CURRENT-1]}
  local -a found
  if (( CURRENT > 2 && ${${=valued[$at]}[(Ie)$before]} )); then
    found=(${=choices[$at $before]})
  elif [[ $current == -* ]]; then
    found=(${=options[$at]})
  else
    found=(${=commands[$at]} ${=choices[$at ]})
  fi
  local -a described
  for word in $found; do
    described+=("${word//:/\\:}${about[$at $word]:+:${about[$at $word]}}")
  done
  # Where nothing is known a file is meant.
  if (( $#described )); then _describe -t values value described || _files; else _files; fi
}
_hone "$@"
)";

}  // namespace

std::string BashCompletion(const CommandDescription& program) {
  return "# bash completion for hone. Made by: hone completion bash\n_hone() {\n" +
         WordTables(program) + kBashWalk;
}

std::string ZshCompletion(const CommandDescription& program) {
  std::string text =
      "#compdef hone\n# Made by: hone completion zsh\n_hone() {\n" + WordTables(program);
  text += "  local -A about=(\n";
  const auto add = [&](const std::string& key, const std::string& about) {
    if (!about.empty()) text += fmt::format("    [{}]={}\n", Quoted(key), Quoted(about));
  };
  for (const CommandDescription* command : Flattened(program)) {
    for (const CommandDescription& below : command->commands) {
      add(below.summary.name, below.summary.about);
    }
    for (const OptionDescription& option : OptionsOf(program, *command)) {
      for (const std::string& name : option.names) {
        add(command->summary.name + " " + name, option.about);
      }
    }
  }
  return text + "  )\n" + kZshWalk;
}

}  // namespace hone
