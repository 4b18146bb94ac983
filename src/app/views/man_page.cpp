#include "app/views/man_page.h"

#include <algorithm>

#include <fmt/format.h>
#include <fmt/ranges.h>

namespace hone {
namespace {

// Text as roff shows it: a backslash begins an escape, a line that begins with a dot or a quote is
// a request, and a bare "-" may become a hyphen that nobody can copy into a shell.
std::string Roff(std::string_view text) {
  std::string out;
  bool begins = true;
  for (const char c : text) {
    if (begins && (c == '.' || c == '\'')) out += "\\&";
    if (c == '\\') {
      out += "\\e";
    } else if (c == '-') {
      out += "\\-";
    } else {
      out += c;
    }
    begins = c == '\n';
  }
  return out;
}

// Lines as they are.
std::string Verbatim(std::string_view text) {
  while (text.ends_with('\n')) text.remove_suffix(1);
  return fmt::format(".nf\n{}\n.fi\n", Roff(text));
}

std::string PageName(const CommandDescription& command) {
  std::string name = command.summary.name;
  std::replace(name.begin(), name.end(), ' ', '-');
  return name;
}

std::string Heading(const CommandDescription& command, const std::string& version) {
  std::string title = PageName(command);
  for (char& c : title) {
    if (c >= 'a' && c <= 'z') c = static_cast<char>(c - 'a' + 'A');
  }
  // Without a date: the same program makes the same page.
  return fmt::format(".TH {} 1 \"\" \"{}\" \"Hone\"\n.SH NAME\n{} \\- {}\n", Roff(title),
                     Roff(version), Roff(PageName(command)), Roff(command.summary.about));
}

std::string Synopsis(const CommandSummary& summary) {
  return fmt::format(
      ".B {}\n{}\n", Roff(summary.name),
      Roff(summary.usage.substr(std::min(summary.usage.size(), summary.name.size() + 1))));
}

std::string Entry(const OptionDescription& option) {
  std::vector<std::string> names;
  for (const std::string& name : option.names)
    names.push_back(fmt::format("\\fB{}\\fR", Roff(name)));
  std::string head = fmt::format("{}", fmt::join(names, ", "));
  const bool dashed = option.names.front().starts_with("-");
  if (dashed && !option.value.empty()) head += fmt::format(" \\fI{}\\fR", Roff(option.value));
  if (option.list) head += "...";
  std::string about = option.about;
  if (!option.choices.empty()) {
    about += fmt::format("{}one of {}", about.empty() ? "" : "; ", fmt::join(option.choices, ", "));
  }
  if (!option.preset.empty()) about += fmt::format(" (default: {})", option.preset);
  if (option.required) about += about.empty() ? "required" : " (required)";
  return fmt::format(".TP\n{}\n{}\n", head, Roff(about.empty() ? option.names.front() : about));
}

std::string Entries(const CommandDescription& command) {
  std::string text;
  for (const OptionDescription& argument : command.arguments) text += Entry(argument);
  for (const OptionDescription& option : command.options) text += Entry(option);
  return text;
}

// A command below another one, and those below it.
std::string Below(const CommandDescription& command) {
  std::string text =
      fmt::format(".SS \"{}\"\n{}.PP\n{}.\n{}", Roff(command.summary.name),
                  Synopsis(command.summary), Roff(command.summary.about), Entries(command));
  if (!command.footer.empty()) text += ".PP\n" + Verbatim(command.footer);
  for (const CommandDescription& below : command.commands) text += Below(below);
  return text;
}

constexpr char kStatus[] =
    ".SH \"EXIT STATUS\"\n"
    "0 for success, 1 for a failure (one line on standard error says what to do), 2 for a wrong "
    "command line.\n";

}  // namespace

std::string ManPageFile(const CommandDescription& command) { return PageName(command) + ".1"; }

std::string ProgramManPage(const CommandDescription& program, const std::string& version) {
  std::string text = Heading(program, version) + ".SH SYNOPSIS\n" + Synopsis(program.summary);
  text += ".SH DESCRIPTION\n" + Roff(program.summary.about) + "\n.SH OPTIONS\n" + Entries(program);
  text += ".SH COMMANDS\n";
  std::vector<std::string> pages;
  for (const CommandDescription& command : program.commands) {
    text += fmt::format(".TP\n\\fB{}\\fR\n{}\n", Roff(command.summary.name),
                        Roff(command.summary.about));
    pages.push_back(fmt::format("\\fB{}\\fR(1)", Roff(PageName(command))));
  }
  text += kStatus;
  text +=
      ".SH FILES\n.TP\n.I share/hone\nrecipes, examples and comparisons that come with Hone; "
      "\\fBhone recipes\\fR lists and copies them\n.TP\n.I runs/NAME\nwhat a run writes, in the "
      "folder where it was begun\n";
  if (!program.footer.empty()) text += ".SH NOTES\n" + Verbatim(program.footer);
  return text + fmt::format(".SH \"SEE ALSO\"\n{}\n", fmt::join(pages, ",\n"));
}

std::string CommandManPage(const CommandDescription& program, const CommandDescription& command,
                           const std::string& version) {
  std::string text = Heading(command, version) + ".SH SYNOPSIS\n" + Synopsis(command.summary);
  text += ".SH DESCRIPTION\n" + Roff(command.summary.about) + ".\n.SH OPTIONS\n" + Entries(command);
  for (const OptionDescription& option : program.options) {
    const std::string& name = option.names.front();
    if (name != "--help" && name != "--version") text += Entry(option);
  }
  if (!command.commands.empty()) text += ".SH COMMANDS\n";
  for (const CommandDescription& below : command.commands) text += Below(below);
  if (!command.footer.empty()) text += ".SH NOTES\n" + Verbatim(command.footer);
  return text + kStatus + fmt::format(".SH \"SEE ALSO\"\n\\fB{}\\fR(1)\n", PageName(program));
}

}  // namespace hone
