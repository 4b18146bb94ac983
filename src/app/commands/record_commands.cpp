// hone show, hone pipe, hone doctor.

#include <algorithm>
#include <filesystem>
#include <iostream>

#include <fmt/format.h>

#include "app/command_line.h"
#include "app/commands.h"
#include "app/doctor.h"
#include "app/passes/passes.h"
#include "app/passes/pipe.h"
#include "app/records.h"
#include "app/report.h"
#include "app/views/text_views.h"
#include "record/record_json.h"
#include "record/store.h"

namespace hone {
namespace {

struct ShowArguments {
  std::string run, tokenizer;
  int64_t tree = 0;
  bool full = false;
};

Json SummaryJson(const RunStore::TreeSummary& tree) {
  return Json::Of({{"id", tree.id},
                   {"step", tree.step + 1},  // as checkpoints and the dashboard count
                   {"task", tree.task},
                   {"nodes", tree.nodes},
                   {"leaves", tree.leaves},
                   {"tokens", tree.tokens},
                   {"mean_reward", tree.mean_reward ? Json(*tree.mean_reward) : Json()}});
}

Result<std::string> Show(const ShowArguments& arguments, bool json) {
  HONE_ASSIGN_OR_RETURN(const Records records, Records::Open(arguments.run));
  constexpr int64_t kScreenful = 1000;  // programs get all of them
  HONE_ASSIGN_OR_RETURN(const int64_t count, records.Count());
  HONE_ASSIGN_OR_RETURN(const auto summaries, records.List(json ? count : kScreenful));
  const Terminal terminal = Terminal::Of(stdout);
  int64_t id = arguments.tree;
  if (id == 0 && count == 1) id = summaries[0].id;
  if (id == 0) {
    if (!json) {
      const std::string which = count > kScreenful
                                    ? fmt::format("the first {} of {}", kScreenful, count)
                                    : fmt::format("{}", count);
      return TreesView(summaries, terminal) +
             terminal.Dim(fmt::format("\n{} trees; hone show {} TREE shows one of them\n", which,
                                      arguments.run));
    }
    Json::Array list;
    for (const auto& summary : summaries) list.push_back(SummaryJson(summary));
    return DumpJson(Json::Of({{"trees", std::move(list)}})) + "\n";
  }
  HONE_ASSIGN_OR_RETURN(const ScoredTree record, records.Read(id));
  if (json) return DumpJson(RecordToJson(record)) + "\n";
  HONE_ASSIGN_OR_RETURN(const auto tokenizer,
                        TokenizerOfRecords(arguments.run, arguments.tokenizer));
  return TreeView(record, tokenizer.get(), terminal, {.lines_per_node = arguments.full ? 0 : 24});
}

std::string PassesView(const std::vector<Pass>& passes, const Terminal& terminal) {
  std::string out;
  for (const Pass& pass : passes) {
    out += fmt::format("{}  {}\n", terminal.Bold(pass.name), pass.about);
    for (const PassOption& option : pass.options) {
      out += fmt::format("    --{} {}{}\n", Fitted(option.name, 12), option.about,
                         option.required ? "" : terminal.Dim(" (optional)"));
    }
    out +=
        fmt::format("    in   {}\n    out  {}\n", DumpJson(pass.input_schema, JsonStyle::kSpaced),
                    DumpJson(pass.output_schema, JsonStyle::kSpaced));
  }
  return out;
}

void AddPass(Command pipe, std::shared_ptr<CommandContext> context, const Pass& pass) {
  // The first sentence says what it does; what else there is to know stands at the end of --help.
  const size_t stop = std::min(pass.about.find(". "), pass.about.size() - 1);
  const std::string more = pass.about.substr(std::min(stop + 2, pass.about.size()));
  Command command = pipe.AddCommand(pass.name, pass.about.substr(0, stop));
  auto values = std::make_shared<PassOptions>();
  for (const PassOption& option : pass.options) {
    Option added = command.AddOption(
        "--" + option.name, [=](const std::string& value) { (*values)[option.name] = value; },
        option.about);
    if (option.required) added.Required();
  }
  command.Footer(fmt::format("{}{}JSON Lines in, JSON Lines out. An example line:\n  {}\n", more,
                             more.empty() ? "" : "\n", pass.example));
  command.Action([=] {
    std::ios::sync_with_stdio(false);
    const Result<int64_t> failed = RunPipe(pass, *values, std::cin, std::cout);
    if (!failed.ok()) {
      Report(context.get(), failed.error());
    } else if (*failed > 0) {
      context->exit_status = 1;
    }
  });
}

}  // namespace

void AddShow(Command program, std::shared_ptr<CommandContext> context) {
  auto arguments = std::make_shared<ShowArguments>();
  Command command = program.AddCommand("show", "Show the trees of a run, token by token");
  command.AddOption("run", &arguments->run, "a run's folder, its store, or a file of trees")
      .Required();
  command.AddOption("tree", &arguments->tree, "number of the tree; absent: a list");
  command.AddOption("--tokenizer,-t", &arguments->tokenizer,
                    "to show tokens as text; by default the tokenizer.json beside the store");
  command.AddFlag("--full", &arguments->full, "do not cut long texts");
  command.Footer("Example:\n  hone show runs/tour 1\n");
  command.Action([=] { Finish(context.get(), Show(*arguments, context->json)); });
}

void AddPipe(Command program, std::shared_ptr<CommandContext> context) {
  Command pipe = program.AddCommand("pipe", "Run one pass of the data path over JSON Lines");
  pipe.NeedsCommand();
  pipe.Footer(
      "Example:\n  echo '{\"text\": \"hi\"}' | hone pipe tokenize --tokenizer "
      "tests/golden/tokenizer\n");
  const std::vector<Pass> passes = BuiltInPasses();
  for (const Pass& pass : passes) AddPass(pipe, context, pass);
  Command list = pipe.AddCommand("list", "List all passes with their options and schemas");
  auto markdown = std::make_shared<bool>(false);
  list.AddFlag("--markdown", markdown.get(), "as docs/pipe.md");
  list.Footer("Example:\n  hone pipe list --json\n");
  list.Action([=] {
    Print(context.get(), *markdown       ? PassesMarkdown(passes)
                         : context->json ? DumpJson(PassesJson(passes)) + "\n"
                                         : PassesView(passes, Terminal::Of(stdout)));
  });
}

void AddDoctor(Command program, std::shared_ptr<CommandContext> context) {
  Command command =
      program.AddCommand("doctor", "Check what this machine has and what Hone misses on it");
  command.Footer(
      "Exit status 1 when something needed is missing.\nExample:\n  hone doctor --json\n");
  command.Action([=] {
    const std::vector<Finding> findings = ExamineMachine();
    Print(context.get(), context->json ? DumpJson(FindingsJson(findings)) + "\n"
                                       : FindingsView(findings, Terminal::Of(stdout)));
    for (const Finding& finding : findings) {
      if (finding.state == Finding::State::kMissing) context->exit_status = 1;
    }
  });
}

}  // namespace hone
